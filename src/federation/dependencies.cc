// Attached bindings for what workloads need.
#include "federation/dependencies.h"

#include <algorithm>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/changes.h"
#include "federation/resources.h"
#include "json/builder.h"
#include "json/selector.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

constexpr Duration kKindRetry = seconds(5);  // a safety net for kinds that the hub does not serve yet

bool Has(const json::Value& list, std::string_view text) {
  return std::ranges::any_of(list.items(), [&](const json::Value& one) { return one.str() == text; });
}

bool IsOf(const json::Value& snapshot, const json::Value& owner) {
  return snapshot["name"].str() == kube::NameOf(owner) && snapshot["namespace"].str() == kube::NamespaceOf(owner);
}

// Where the owner is, and where it still is while it leaves.
json::Value ClustersOf(const json::Value& owner) {
  json::Value clusters = owner["spec"]["clusters"];
  if (!clusters.is_array()) clusters = json::Array();
  for (const json::Value& task : owner["spec"]["gracefulEvictionTasks"].items()) {
    const bool listed = std::ranges::any_of(clusters.items(),
                                            [&](const json::Value& one) { return one["name"] == task["fromCluster"]; });
    if (task["purgeMode"].str() != "Directly" && !listed) clusters.Push(json::Object({{"name", task["fromCluster"]}}));
  }
  return clusters;
}

}  // namespace

DependencyController::DependencyController(Hub& hub, const Revisions& revisions)
    : hub_(hub),
      revisions_(revisions),
      controller_(hub.loop(), "dependencies", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub.options().log}) {
  hub_.OnBinding([this](const json::Value& before, const json::Value& now) {
    const json::Value& binding = now.is_null() ? before : now;
    const std::string key = kube::Name::Of(binding).Key();
    if (now.is_null()) {
      ForgetAsked(key);
      if (!hub_.BindingsRequiredBy(key).empty()) controller_.Add(key);
      return;
    }
    const bool same = !before.is_null() && before["spec"] == now["spec"] &&
                      kube::IsDeleting(before) == kube::IsDeleting(now) && SameReleases(before, now);
    const bool concerned =
        now["spec"]["propagateDeps"].bool_or(false) || Has(now["metadata"]["finalizers"], keys::kDependenciesFinalizer);
    if (!same && concerned) controller_.Add(key);
    // What is required by a binding that does not ask for it any more, or is gone: seen at a restart.
    if (before.is_null()) {
      for (const json::Value& owner : now["spec"]["requiredBy"].items()) {
        controller_.Add(kube::Name{std::string(owner["namespace"].str()), std::string(owner["name"].str())}.Key(),
                        kube::Priority::kResync);
      }
    }
  });
  hub_.OnTemplate([this](const json::Value& before, const json::Value& now) {
    if (!before.is_null() && !now.is_null() && !SpecificationChanged(before, now)) return;
    TemplateChanged(now.is_null() ? before : now);
  });
}

void DependencyController::ForgetAsked(const std::string& owner) {
  const auto asks = asks_.find(owner);
  if (asks == asks_.end()) return;
  for (const std::string& one : asks->second) {
    const auto asked = asked_.find(one);
    if (asked == asked_.end()) continue;
    asked->second.erase(owner);
    if (asked->second.empty()) asked_.erase(asked);
  }
  asks_.erase(asks);
}

void DependencyController::TemplateChanged(const json::Value& object) {
  const TemplateKey key = TemplateKey::Of(object);
  if (hub_.Binding(key.BindingKey())["spec"]["propagateDeps"].bool_or(false)) controller_.Add(key.BindingKey());
  if (asked_.empty()) return;
  TemplateKey any = key;
  any.name.clear();
  for (const std::string& asked : {key.ToString(), any.ToString()}) {
    const auto at = asked_.find(asked);
    if (at == asked_.end()) continue;
    for (const std::string& owner : at->second) controller_.Add(owner);
  }
}

rt::Task<bool> DependencyController::Find(const std::string& key, const std::vector<json::Value>& references,
                                          std::vector<json::Value>& found) {
  const std::string ns = kube::Name::FromKey(key).ns;
  bool complete = true;
  for (const json::Value& reference : references) {
    TemplateKey wanted = TemplateKey::OfReference(reference);
    if (!wanted.ns.empty() && wanted.ns != ns) continue;  // only what lives beside it
    wanted.ns = ns;
    asked_[wanted.ToString()].insert(key);
    asks_[key].insert(wanted.ToString());
    const bool watched = co_await hub_.WatchTemplates(wanted.api_version, wanted.kind);
    complete = complete && watched && hub_.TemplatesKnown(wanted.api_version, wanted.kind);
    if (!watched) continue;
    if (!wanted.name.empty()) {
      const json::Value& object = hub_.Template(wanted);
      if (!object.is_null() && !kube::IsDeleting(object)) found.push_back(object);
      continue;
    }
    const Result<json::LabelSelector> selector = json::LabelSelector::FromObject(reference["labelSelector"]);
    if (!selector.ok()) continue;
    hub_.ForEachTemplate(wanted.api_version, wanted.kind, [&](const json::Value& object) {
      if (kube::NamespaceOf(object) == ns && !kube::IsDeleting(object) &&
          selector->Matches(object["metadata"]["labels"])) {
        found.push_back(object);
      }
    });
  }
  co_return complete;
}

rt::Task<Result<void>> DependencyController::Mark(const std::string& key, const json::Value& binding,
                                                  const json::Value& dependencies) {
  json::Value next = binding;
  json::Value& metadata = next.Edit("metadata");
  if (!Has(metadata["finalizers"], keys::kDependenciesFinalizer))
    metadata.Edit("finalizers").Push(keys::kDependenciesFinalizer);
  metadata.Edit("annotations").Set(keys::kDependencies, dependencies.ToString());
  if (next == binding) co_return Result<void>();
  const json::Value written = CO_TRY(co_await hub_.api().Update(BindingResource(key), next));
  hub_.Learn(BindingResource(key), written);
  co_return Result<void>();
}

rt::Task<Result<void>> DependencyController::Unmark(const std::string& key, const json::Value& binding) {
  if (binding.is_null() || !Has(binding["metadata"]["finalizers"], keys::kDependenciesFinalizer))
    co_return Result<void>();
  json::Value next = binding;
  json::Value rest = json::Array();
  for (const json::Value& one : binding["metadata"]["finalizers"].items()) {
    if (one.str() != keys::kDependenciesFinalizer) rest.Push(one);
  }
  next.Edit("metadata").Set("finalizers", rest);
  if (next["metadata"]["annotations"].Has(keys::kDependencies))
    next.Edit("metadata").Edit("annotations").Erase(keys::kDependencies);
  const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  if (written.ok()) hub_.Learn(BindingResource(key), *written);
  co_return Result<void>();
}

// conflictResolution and preserveResourcesOnDeletion of what only follows others: the strongest wish counts.
void DependencyController::Unifies(json::Value& attached) {
  if (!attached["spec"]["placement"].is_null()) return;
  size_t overwrite = 0;
  size_t preserve = 0;
  const size_t owners = attached["spec"]["requiredBy"].size();
  for (const json::Value& snapshot : attached["spec"]["requiredBy"].items()) {
    const json::Value& owner =
        hub_.Binding(kube::Name{std::string(snapshot["namespace"].str()), std::string(snapshot["name"].str())}.Key());
    overwrite += owner["spec"]["conflictResolution"].str() == "Overwrite" ? 1 : 0;
    preserve += owner["spec"]["preserveResourcesOnDeletion"].bool_or(false) ? 1 : 0;
  }
  json::Value& spec = attached.Edit("spec");
  spec.Set("conflictResolution", overwrite > 0 ? "Overwrite" : "Abort");
  if (preserve > 0) {
    spec.Set("preserveResourcesOnDeletion", true);
  } else {
    spec.Erase("preserveResourcesOnDeletion");
  }
  const bool differ = (overwrite > 0 && overwrite < owners) || (preserve > 0 && preserve < owners);
  if (differ) {
    hub_.events().Warning(attached, "DependencyPolicyConflict",
                          "who needs it does not agree on conflictResolution or preserveResourcesOnDeletion: Overwrite "
                          "and true count");
  }
}

rt::Task<Result<void>> DependencyController::Attach(const json::Value& owner, const json::Value& dependency) {
  const TemplateKey template_key = TemplateKey::Of(dependency);
  const std::string key = template_key.BindingKey();
  const json::Value current = hub_.Binding(key);
  if (kube::IsDeleting(current)) co_return UnavailableError(StrCat("binding ", key, " is being deleted"));
  json::Value next = current;
  if (current.is_null()) {
    next.Set("apiVersion", "work.karmada.io/v1alpha2");
    next.Set("kind", "ResourceBinding");
    json::Value& metadata = next.Edit("metadata");
    metadata.Set("name", keys::BindingName(template_key.kind, template_key.name));
    metadata.Set("namespace", template_key.ns);
    metadata.Set("finalizers", json::Array({keys::kBindingFinalizer}));
    metadata.Edit("labels").Set(keys::kResourceBindingId, hub_.loop().random().NewUid().str());
    metadata.Set("ownerReferences", json::Array({json::Object({{"apiVersion", template_key.api_version},
                                                               {"kind", template_key.kind},
                                                               {"name", template_key.name},
                                                               {"uid", kube::UidOf(dependency)},
                                                               {"controller", true},
                                                               {"blockOwnerDeletion", true}})}));
    next.Edit("spec").Set("resource", json::Object({{"apiVersion", template_key.api_version},
                                                    {"kind", template_key.kind},
                                                    {"namespace", template_key.ns},
                                                    {"name", template_key.name},
                                                    {"uid", kube::UidOf(dependency)},
                                                    {"resourceVersion", kube::VersionOf(dependency)}}));
  }
  next.Edit("metadata")
      .Edit("labels")
      .Set(keys::DependedByLabel(kube::NamespaceOf(owner), kube::NameOf(owner)),
           owner["metadata"]["labels"][keys::kResourceBindingId]);
  const json::Value snapshot = json::Object(
      {{"namespace", kube::NamespaceOf(owner)}, {"name", kube::NameOf(owner)}, {"clusters", ClustersOf(owner)}});
  json::Value snapshots = json::Array();
  bool placed = false;
  for (const json::Value& one : current["spec"]["requiredBy"].items()) {
    snapshots.Push(IsOf(one, owner) ? snapshot : one);
    placed = placed || IsOf(one, owner);
  }
  if (!placed) snapshots.Push(snapshot);
  next.Edit("spec").Set("requiredBy", snapshots);
  if (next["spec"] != current["spec"]) Unifies(next);
  if (next == current) co_return Result<void>();
  Result<json::Value> written = InternalError("not written");
  if (current.is_null()) {
    written = co_await hub_.api().Create(kResourceBindings, next);
  } else {
    written = co_await hub_.api().Update(kResourceBindings, next);
  }
  if (!written.ok()) co_return std::move(written).error();
  hub_.Learn(kResourceBindings, *written);
  co_return Result<void>();
}

rt::Task<Result<void>> DependencyController::Detach(const std::string& owner_key, const std::string& binding_key) {
  const json::Value current = hub_.Binding(binding_key);
  if (current.is_null() || kube::IsDeleting(current)) co_return Result<void>();
  const kube::Name owner = kube::Name::FromKey(owner_key);
  json::Value next = current;
  json::Value snapshots = json::Array();
  for (const json::Value& one : current["spec"]["requiredBy"].items()) {
    if (one["name"].str() != owner.name || one["namespace"].str() != owner.ns) snapshots.Push(one);
  }
  if (snapshots.empty()) {
    next.Edit("spec").Erase("requiredBy");
  } else {
    next.Edit("spec").Set("requiredBy", snapshots);
    Unifies(next);
  }
  next.Edit("metadata").Edit("labels").Erase(keys::DependedByLabel(owner.ns, owner.name));
  if (next == current) co_return Result<void>();
  const Result<json::Value> written = co_await hub_.api().Update(BindingResource(binding_key), next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  if (written.ok()) hub_.Learn(BindingResource(binding_key), *written);
  co_return Result<void>();
}

// Of the template as it is, and as it is released to some cluster still.
rt::Task<Result<std::vector<json::Value>>> DependencyController::ReferencesOf(json::Value binding, json::Value object,
                                                                              bool& complete) const {
  std::vector<json::Value> references = CO_TRY(co_await hub_.interpretation().GetDependencies(object));
  for (const json::Value& released : revisions_.ReleasedTemplates(binding, object, complete)) {
    for (json::Value& one : CO_TRY(co_await hub_.interpretation().GetDependencies(released))) {
      if (std::ranges::find(references, one) == references.end()) references.push_back(std::move(one));
    }
  }
  co_return references;
}

rt::Task<kube::Outcome> DependencyController::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (key.find('/') == std::string::npos) co_return kube::Outcome::Done();  // as Karmada: of namespaced workloads only
  const bool wanted =
      !binding.is_null() && !kube::IsDeleting(binding) && binding["spec"]["propagateDeps"].bool_or(false);
  std::vector<json::Value> found;
  bool complete = true;
  ForgetAsked(key);
  if (wanted) {
    const json::Value object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
    if (object.is_null()) co_return kube::Outcome::Done();
    bool known = true;
    const Result<std::vector<json::Value>> references = co_await ReferencesOf(binding, object, known);
    if (!references.ok()) {
      hub_.events().Warning(binding, "GetDependenciesFailed", references.error().message());
      if (references.error().kind() == ErrorKind::kUnavailable) co_return kube::Outcome::Retry(references.error());
      co_return kube::Outcome::Terminal(references.error());
    }
    json::ArrayBuilder list;
    for (const json::Value& reference : *references) list.Add(reference);
    const Result<void> marked = co_await Mark(key, binding, std::move(list).Build());
    if (!marked.ok()) co_return kube::Outcome::Retry(marked.error());
    complete = co_await Find(key, *references, found) && known;
  }
  std::set<std::string> needed;
  for (const json::Value& dependency : found) needed.insert(TemplateKey::Of(dependency).BindingKey());
  needed.erase(key);
  for (const std::string& attached : hub_.BindingsRequiredBy(key)) {
    // What is not known is not gone.
    if (needed.contains(attached) || (wanted && !complete)) continue;
    const Result<void> detached = co_await Detach(key, attached);
    if (!detached.ok()) co_return kube::Outcome::Retry(detached.error());
  }
  if (!wanted) {
    const Result<void> unmarked = co_await Unmark(key, hub_.Binding(key));
    co_return kube::Outcome::Of(unmarked);
  }
  for (const json::Value& dependency : found) {
    if (TemplateKey::Of(dependency).BindingKey() == key) continue;
    const Result<void> attached = co_await Attach(binding, dependency);
    if (!attached.ok()) co_return kube::Outcome::Retry(attached.error());
  }
  if (!complete) co_return kube::Outcome::WaitFor(kKindRetry);
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
