// The hub's copies, and what is compiled from them.
#include "federation/hub.h"

#include <utility>

#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"

namespace baton::federation {
namespace {

const json::Value kNothing;

std::vector<std::string> KindOfTemplate(const json::Value& binding) {
  const json::Value& resource = binding["spec"]["resource"];
  return {StrCat(resource["apiVersion"].str(), "|", resource["kind"].str())};
}

std::vector<std::string> RequiredBy(const json::Value& binding) {
  std::vector<std::string> keys;
  for (const json::Value& owner : binding["spec"]["requiredBy"].items()) {
    keys.push_back(kube::Name{std::string(owner["namespace"].str()), std::string(owner["name"].str())}.Key());
  }
  return keys;
}

std::vector<std::string> ClustersOf(const json::Value& binding) {
  std::set<std::string> names;
  for (const json::Value& cluster : binding["spec"]["clusters"].items()) names.emplace(cluster["name"].str());
  for (const json::Value& owner : binding["spec"]["requiredBy"].items()) {
    for (const json::Value& cluster : owner["clusters"].items()) names.emplace(cluster["name"].str());
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::string TemplateKey::ToString() const { return StrCat(api_version, "|", kind, "|", ObjectKey()); }

TemplateKey TemplateKey::FromString(std::string_view text) {
  const size_t first = text.find('|');
  const size_t second = text.find('|', first + 1);
  const kube::Name name = kube::Name::FromKey(text.substr(second + 1));
  return {.api_version = std::string(text.substr(0, first)),
          .kind = std::string(text.substr(first + 1, second - first - 1)),
          .ns = name.ns,
          .name = name.name};
}

TemplateKey TemplateKey::Of(const json::Value& object) {
  return {.api_version = std::string(kube::ApiVersionOf(object)),
          .kind = std::string(kube::KindOf(object)),
          .ns = std::string(kube::NamespaceOf(object)),
          .name = std::string(kube::NameOf(object))};
}

TemplateKey TemplateKey::OfReference(const json::Value& reference) {
  return {.api_version = std::string(reference["apiVersion"].str()),
          .kind = std::string(reference["kind"].str()),
          .ns = std::string(reference["namespace"].str()),
          .name = std::string(reference["name"].str())};
}

std::string TemplateKey::BindingKey() const {
  const std::string binding = api::karmada::BindingName(kind, name);
  return ns.empty() ? binding : StrCat(ns, "/", binding);
}

Hub::Hub(kube::Api& api, interpret::Interpreter& interpreter, Connect connect, HubOptions options)
    : api_(api),
      interpreter_(interpreter),
      options_(std::move(options)),
      interpretation_(interpreter, api.loop(), options_.post),
      events_(api, "baton"),
      mapper_(api),
      clusters_(api, kClusters),
      works_(api, kWorks),
      policies_(api, kPropagationPolicies),
      cluster_policies_(api, kClusterPropagationPolicies),
      overrides_(api, kOverridePolicies),
      cluster_overrides_(api, kClusterOverridePolicies),
      bindings_(api, kResourceBindings),
      cluster_bindings_(api, kClusterResourceBindings),
      customizations_(api, kCustomizations),
      webhooks_(api, kInterpreterWebhooks),
      members_(std::move(connect),
               [this](const std::string& cluster, const json::Value& before, const json::Value& now) {
                 for (const Member::Handler& handler : member_handlers_) handler(cluster, before, now);
               }),
      scope_(api.loop()) {
  const auto policy = [this](const json::Value& before, const json::Value& now) { PolicyChanged(before, now); };
  policies_.OnChange(policy);
  cluster_policies_.OnChange(policy);
  const auto override_policy = [this](const json::Value& before, const json::Value& now) {
    OverrideChanged(before, now);
  };
  overrides_.OnChange(override_policy);
  cluster_overrides_.OnChange(override_policy);
  for (kube::Informer* informer : {&bindings_, &cluster_bindings_}) {
    informer->AddIndex("kind", KindOfTemplate);
    informer->AddIndex("requiredBy", RequiredBy);
    informer->AddIndex("cluster", ClustersOf);
  }
  customizations_.OnChange([this](const json::Value& before, const json::Value& now) {
    if (now.is_null()) {
      interpreter_.RemoveCustomization(kube::NameOf(before));
      return;
    }
    const Result<void> taken = interpreter_.SetCustomization(now);
    if (!taken.ok()) events_.Warning(now, "CustomizationIgnored", taken.error().message());
  });
  webhooks_.OnChange([this](const json::Value& before, const json::Value& now) {
    if (now.is_null()) {
      interpreter_.RemoveWebhooks(kube::NameOf(before));
      return;
    }
    const Result<void> taken = interpreter_.SetWebhooks(now);
    if (!taken.ok()) events_.Warning(now, "WebhookConfigurationIgnored", taken.error().message());
  });
}

Hub::~Hub() = default;

rt::Task<void> Hub::Run() {
  for (kube::Informer* informer : {&clusters_, &works_, &policies_, &cluster_policies_, &overrides_,
                                   &cluster_overrides_, &bindings_, &cluster_bindings_, &customizations_, &webhooks_}) {
    scope_.Spawn(informer->Run());
  }
  scope_.Spawn(events_.Run());
  co_await scope_.Join();
}

rt::Task<void> Hub::WaitSynced() {
  for (kube::Informer* informer : {&clusters_, &works_, &policies_, &cluster_policies_, &overrides_,
                                   &cluster_overrides_, &bindings_, &cluster_bindings_, &customizations_, &webhooks_}) {
    co_await informer->WaitSynced();
  }
}

void Hub::PolicyChanged(const json::Value& before, const json::Value& now) {
  if (now.is_null()) {
    policy_set_.Erase(
        {.policy_namespace = std::string(kube::NamespaceOf(before)), .name = std::string(kube::NameOf(before))});
    return;
  }
  Result<PropagationPolicy> compiled = CompilePropagationPolicy(now);
  if (compiled.ok()) {
    policy_set_.Put(*std::move(compiled));
  } else {
    events_.Warning(now, "PolicyIgnored", compiled.error().message());
  }
}

std::vector<std::string> Hub::ObjectsNamedBy(const overrides::Policy& policy) {
  std::vector<std::string> names;
  for (const overrides::ResourceSelector& selector : policy.selectors) {
    if (selector.name.empty()) return {};
    names.push_back(selector.name);
  }
  return names;
}

void Hub::ForgetOverride(OverridesOf& among, const std::string& name) {
  const auto at = among.all.find(name);
  if (at == among.all.end()) return;
  for (const std::string& object : ObjectsNamedBy(at->second.policy)) {
    const auto named = among.by_object.find(object);
    if (named == among.by_object.end()) continue;
    named->second.erase(name);
    if (named->second.empty()) among.by_object.erase(named);
  }
  among.others.erase(name);
  among.all.erase(at);
}

void Hub::OverrideChanged(const json::Value& before, const json::Value& now) {
  const json::Value& object = now.is_null() ? before : now;
  OverridesOf& among = compiled_overrides_[std::string(kube::NamespaceOf(object))];
  const std::string name(kube::NameOf(object));
  if (now.is_null()) {
    ForgetOverride(among, name);
    return;
  }
  Result<overrides::Policy> compiled = overrides::CompilePolicy(now);
  if (!compiled.ok()) {
    // The last one that could be read stays: a broken edit does not take an override away.
    events_.Warning(now, "OverrideIgnored", compiled.error().message());
    return;
  }
  ForgetOverride(among, name);
  const std::vector<std::string> objects = ObjectsNamedBy(*compiled);
  for (const std::string& one : objects) among.by_object[one].insert(name);
  if (objects.empty()) among.others.insert(name);
  among.all.emplace(name, CompiledOverride{*std::move(compiled), now["metadata"]["generation"].int_or(0)});
}

int64_t Hub::OverrideGeneration(std::string_view ns, std::string_view name) const {
  const auto among = compiled_overrides_.find(ns);
  if (among == compiled_overrides_.end()) return -1;
  const auto at = among->second.all.find(name);
  return at == among->second.all.end() ? -1 : at->second.generation;
}

std::vector<overrides::Policy> Hub::OverridesFor(const json::Value& object) const {
  std::vector<overrides::Policy> found;
  const overrides::ObjectRef reference = overrides::ObjectRef::Of(object);
  const auto take = [&](const OverridesOf& among, const std::set<std::string>& names) {
    for (const std::string& name : names) {
      const overrides::Policy& policy = among.all.find(name)->second.policy;
      if (policy.Match(reference) != overrides::MatchLevel::kNone) found.push_back(policy);
    }
  };
  const auto look = [&](std::string_view ns) {
    const auto among = compiled_overrides_.find(ns);
    if (among == compiled_overrides_.end()) return;
    take(among->second, among->second.others);
    const auto named = among->second.by_object.find(kube::NameOf(object));
    if (named != among->second.by_object.end()) take(among->second, named->second);
  };
  look("");
  if (!kube::NamespaceOf(object).empty()) look(kube::NamespaceOf(object));
  return found;
}

const json::Value& Hub::Binding(std::string_view key) const {
  return key.find('/') == std::string_view::npos ? cluster_bindings_.Get(key) : bindings_.Get(key);
}

void Hub::OnBinding(const kube::Informer::Handler& handler) {
  bindings_.OnChange(handler);
  cluster_bindings_.OnChange(handler);
}

void Hub::ForEachBinding(const std::function<void(const std::string& key, const json::Value& binding)>& visit) const {
  const auto each = [&](std::string_view key, const json::Value& binding) { visit(std::string(key), binding); };
  bindings_.ForEach(each);
  cluster_bindings_.ForEach(each);
}

std::vector<std::string> Hub::BindingsRequiredBy(std::string_view key) const {
  std::vector<std::string> keys = bindings_.KeysByIndex("requiredBy", key);
  for (std::string& one : cluster_bindings_.KeysByIndex("requiredBy", key)) keys.push_back(std::move(one));
  return keys;
}

std::vector<std::string> Hub::BindingsIn(std::string_view cluster) const {
  std::vector<std::string> keys = bindings_.KeysByIndex("cluster", cluster);
  for (std::string& one : cluster_bindings_.KeysByIndex("cluster", cluster)) keys.push_back(std::move(one));
  return keys;
}

std::vector<std::string> Hub::BindingsOfKind(std::string_view api_version, std::string_view kind) const {
  const std::string value = StrCat(api_version, "|", kind);
  std::vector<std::string> keys = bindings_.KeysByIndex("kind", value);
  for (std::string& key : cluster_bindings_.KeysByIndex("kind", value)) keys.push_back(std::move(key));
  return keys;
}

rt::Task<Result<bool>> Hub::TemplateStands(TemplateKey key, std::string uid) {
  const kube::Resource resource = CO_TRY(co_await ResourceOf(key.api_version, key.kind));
  const Result<json::Value> live = co_await api().Get(resource, {key.ns, key.name});
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  co_return live.ok() && !kube::IsDeleting(*live) && kube::UidOf(*live) == uid;
}

rt::Task<Result<kube::Resource>> Hub::ResourceOf(std::string api_version, std::string kind) {
  const size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  co_return co_await mapper_.ForKind(group, version, std::move(kind));
}

rt::Task<bool> Hub::WatchTemplates(std::string api_version, std::string kind) {
  const std::pair<std::string, std::string> key(api_version, kind);
  if (templates_.contains(key)) co_return true;
  Result<kube::Resource> resource = co_await ResourceOf(api_version, kind);
  if (!resource.ok()) co_return false;
  std::unique_ptr<kube::Informer>& informer = templates_[key];
  if (informer != nullptr) co_return true;  // another was faster
  informer = std::make_unique<kube::Informer>(api_, *resource);
  informer->OnChange([this](const json::Value& before, const json::Value& now) {
    for (const TemplateHandler& handler : template_handlers_) handler(before, now);
  });
  scope_.Spawn(informer->Run());
  co_return true;
}

const json::Value& Hub::Template(const TemplateKey& key) const {
  const auto at = templates_.find({key.api_version, key.kind});
  return at == templates_.end() ? kNothing : at->second->Get(key.ObjectKey());
}

bool Hub::TemplatesKnown(std::string_view api_version, std::string_view kind) const {
  const auto at = templates_.find({std::string(api_version), std::string(kind)});
  return at != templates_.end() && at->second->synced();
}

void Hub::ForEachTemplate(std::string_view api_version, std::string_view kind,
                          const std::function<void(const json::Value& object)>& visit) const {
  const auto at = templates_.find({std::string(api_version), std::string(kind)});
  if (at == templates_.end()) return;
  at->second->ForEach([&](std::string_view, const json::Value& object) { visit(object); });
}

void Hub::Learn(const kube::Resource& resource, const json::Value& written) {
  if (resource == kResourceBindings) bindings_.Learn(written);
  if (resource == kClusterResourceBindings) cluster_bindings_.Learn(written);
  if (resource == kWorks) works_.Learn(written);
  if (resource == kClusters) clusters_.Learn(written);
  if (resource == kOverridePolicies) overrides_.Learn(written);
}

void SetCondition(json::Value& status, std::string_view type, std::string_view value, std::string_view reason,
                  std::string_view message, WallTime now) {
  json::Value condition = json::Object({{"type", type},
                                        {"status", value},
                                        {"reason", reason},
                                        {"message", message},
                                        {"lastTransitionTime", json::FormatTime(now)}});
  json::Value& conditions = status.Edit("conditions");
  for (size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]["type"].str() != type) continue;
    if (conditions[i]["status"].str() == value)
      condition.Set("lastTransitionTime", conditions[i]["lastTransitionTime"]);
    conditions.Edit(i) = std::move(condition);
    return;
  }
  conditions.Push(std::move(condition));
}

const json::Value& FindCondition(const json::Value& status, std::string_view type) {
  for (const json::Value& condition : status["conditions"].items()) {
    if (condition["type"].str() == type) return condition;
  }
  return kNothing;
}

}  // namespace baton::federation
