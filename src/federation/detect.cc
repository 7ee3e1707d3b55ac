// From templates and policies to bindings.
#include "federation/detect.h"

#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/changes.h"
#include "federation/claim.h"
#include "federation/match.h"
#include "federation/render.h"
#include "federation/resources.h"
#include "federation/suspension.h"
#include "rt/when.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

// A binding that is gone is not made anew at once, nor before the hub has said that the template is there. It may have
// gone with its template, which our copy does not know yet: what was deleted would run again until it does.
constexpr Duration kMadeAnewAfter = seconds(1);
constexpr Duration kKindRetry = seconds(5);  // a safety net for kinds that the hub does not serve yet

// Copied from the policy to the binding as they are.
constexpr std::string_view kCopied[] = {"schedulerName", "placement", "failover", "conflictResolution",
                                        "preserveResourcesOnDeletion"};

constexpr std::string_view kPriorityClassVersion = "scheduling.k8s.io/v1";

bool HasFinalizer(const json::Value& object, std::string_view finalizer) {
  for (const json::Value& one : object["metadata"]["finalizers"].items()) {
    if (one.str() == finalizer) return true;
  }
  return false;
}

json::Value OwnerReference(const json::Value& object) {
  return json::Object({{"apiVersion", kube::ApiVersionOf(object)},
                       {"kind", kube::KindOf(object)},
                       {"name", kube::NameOf(object)},
                       {"uid", kube::UidOf(object)},
                       {"controller", true},
                       {"blockOwnerDeletion", true}});
}

void AddFinalizer(json::Value& object, std::string_view finalizer) {
  if (!HasFinalizer(object, finalizer)) object.Edit("metadata").Edit("finalizers").Push(finalizer);
}

}  // namespace

DetectController::DetectController(Hub& hub, ScheduleController& schedule)
    : hub_(hub),
      schedule_(schedule),
      controller_(hub.loop(), "detect", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 8, .log = hub.options().log}),
      policies_(hub.loop(), "policies", [this](std::string key) { return ReconcilePolicy(std::move(key)); },
                {.workers = 1, .log = hub.options().log}) {
  const auto policy = [this](const json::Value& before, const json::Value& now) { PolicyChanged(before, now); };
  hub_.policies().OnChange(policy);
  hub_.cluster_policies().OnChange(policy);
  hub_.OnTemplate([this](const json::Value& before, const json::Value& now) {
    if (!before.is_null() && !now.is_null() && !SpecificationChanged(before, now)) return;
    const std::string key = TemplateKey::Of(now.is_null() ? before : now).ToString();
    if (before.is_null() || now.is_null() || !ChangedByFederation(before, now)) changed_by_federation_.erase(key);
    if (now.is_null()) lost_bindings_.erase(key);
    controller_.Add(key);
  });
  hub_.OnBinding([this](const json::Value& before, const json::Value& now) {
    // Bindings of kinds that no policy selects any more still belong to templates that may go.
    const json::Value& binding = now.is_null() ? before : now;
    const TemplateKey key = TemplateKey::OfReference(binding["spec"]["resource"]);
    if (before.is_null() && !key.kind.empty()) {
      if (wanted_kinds_.emplace(key.api_version, key.kind).second) kinds_wanted_.Set();
    }
    // Somebody deleted or changed what detect wrote: put it right.
    const bool ours_changed = !before.is_null() && !now.is_null() && before["spec"] != now["spec"];
    if (ours_changed) controller_.Add(key.ToString());
    if (now.is_null() && !hub_.Template(key).is_null()) {
      lost_bindings_.insert(key.ToString());
      controller_.AddAfter(key.ToString(), kMadeAnewAfter);
    }
  });
}

rt::Task<void> DetectController::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(WatchKinds());
  scope.Spawn(policies_.Run());
  scope.Spawn(controller_.Run());
  co_await scope.Join();
}

rt::Task<void> DetectController::WatchKinds() {
  while (true) {
    kinds_wanted_.Reset();
    std::set<std::pair<std::string, std::string>> later;
    while (!wanted_kinds_.empty()) {
      auto kind = *wanted_kinds_.begin();
      wanted_kinds_.erase(wanted_kinds_.begin());
      if (!co_await hub_.WatchTemplates(kind.first, kind.second)) later.insert(std::move(kind));
    }
    wanted_kinds_.merge(later);
    if (wanted_kinds_.empty()) {
      co_await kinds_wanted_.Wait();
    } else {
      [[maybe_unused]] const auto woken = co_await rt::WithDeadline(
          rt::Deadline::After(hub_.loop(), kKindRetry), "a new kind", [](rt::Event& event) -> rt::Task<Result<void>> {
            co_await event.Wait();
            co_return Result<void>();
          }(kinds_wanted_));
    }
  }
}

void DetectController::WatchKindsOf(const json::Value& policy) {
  for (const json::Value& selector : policy["spec"]["resourceSelectors"].items()) {
    if (wanted_kinds_.emplace(selector["apiVersion"].str(), selector["kind"].str()).second) kinds_wanted_.Set();
  }
}

// Templates that the policy selects, or had claimed, are looked at again.
void DetectController::QueueSelected(const json::Value& policy) {
  const std::string_view ns = kube::NamespaceOf(policy);
  const auto queue = [&](const json::Value& object) {
    if (object.is_null() || (!ns.empty() && kube::NamespaceOf(object) != ns)) return;
    const std::string key = TemplateKey::Of(object).ToString();
    changed_by_federation_.insert(key);
    controller_.Add(key, kube::Priority::kResync);
  };
  for (const json::Value& selector : policy["spec"]["resourceSelectors"].items()) {
    const std::string_view where = ns.empty() ? selector["namespace"].str() : ns;
    if (!selector["name"].str().empty() && !where.empty()) {
      queue(hub_.Template({.api_version = std::string(selector["apiVersion"].str()),
                           .kind = std::string(selector["kind"].str()),
                           .ns = std::string(where),
                           .name = std::string(selector["name"].str())}));
      continue;
    }
    hub_.ForEachTemplate(selector["apiVersion"].str(), selector["kind"].str(), queue);
  }
}

void DetectController::PolicyChanged(const json::Value& before, const json::Value& now) {
  if (!now.is_null()) WatchKindsOf(now);
  // Labels, too: where admission comes late a policy gets its permanent id after its first event, and matches from then
  // on.
  const bool same = !before.is_null() && !now.is_null() && before["spec"] == now["spec"] &&
                    before["metadata"]["labels"] == now["metadata"]["labels"] &&
                    kube::IsDeleting(before) == kube::IsDeleting(now);
  if (same) return;
  if (!before.is_null()) QueueSelected(before);
  if (!now.is_null()) QueueSelected(now);
  if (!now.is_null() && kube::IsDeleting(now)) policies_.Add(kube::Name::Of(now).Key());
}

// A policy that is being deleted: its bindings are set free, then it may go.
rt::Task<kube::Outcome> DetectController::ReconcilePolicy(std::string key) {
  const bool clustered = key.find('/') == std::string::npos;
  const json::Value policy = clustered ? hub_.cluster_policies().Get(key) : hub_.policies().Get(key);
  if (policy.is_null() || !kube::IsDeleting(policy)) co_return kube::Outcome::Done();
  const std::string_view finalizer =
      clustered ? keys::kClusterPropagationPolicyFinalizer : keys::kPropagationPolicyFinalizer;
  const std::string_view label = clustered ? keys::kClusterPropagationPolicyId : keys::kPropagationPolicyId;
  const std::string_view id = policy["metadata"]["labels"][label].str();
  std::vector<std::string> claimed;
  hub_.ForEachBinding([&](const std::string& binding_key, const json::Value& binding) {
    const std::optional<Claim> claim = ClaimOf(binding);
    if (claim && claim->policy.name == kube::NameOf(policy) &&
        claim->policy.policy_namespace == kube::NamespaceOf(policy) && (id.empty() || claim->permanent_id == id)) {
      claimed.push_back(binding_key);
    }
  });
  for (const std::string& binding_key : claimed) {
    const json::Value binding = hub_.Binding(binding_key);
    const json::Value object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
    const kube::Outcome released = co_await Release(binding_key, binding, object);
    if (released.kind() != kube::Outcome::Kind::kDone) co_return released;
  }
  if (!HasFinalizer(policy, finalizer)) co_return kube::Outcome::Done();
  json::Value rest = json::Array();
  for (const json::Value& one : policy["metadata"]["finalizers"].items()) {
    if (one.str() != finalizer) rest.Push(one);
  }
  json::Value next = policy;
  next.Edit("metadata").Set("finalizers", rest);
  const Result<json::Value> written =
      co_await hub_.api().Update(clustered ? kClusterPropagationPolicies : kPropagationPolicies, next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

const json::Value& DetectController::PolicyObject(const PolicyKey& key) const {
  return key.cluster_scoped() ? hub_.cluster_policies().Get(key.name)
                              : hub_.policies().Get(StrCat(key.policy_namespace, "/", key.name));
}

// Karmada's claim marks on the template itself, or their removal.
rt::Task<Result<void>> DetectController::MarkTemplate(json::Value marked) {
  const kube::Resource resource =
      CO_TRY(co_await hub_.ResourceOf(std::string(kube::ApiVersionOf(marked)), std::string(kube::KindOf(marked))));
  const Result<json::Value> written = co_await hub_.api().Update(resource, marked);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  co_return Result<void>();
}

rt::Task<kube::Outcome> DetectController::Release(const std::string& binding_key, json::Value binding,
                                                  json::Value object) {
  const json::Value free = WithoutClaims(binding);
  if (hub_.options().claim_templates && ClaimOf(object)) {
    const Result<void> unmarked = co_await MarkTemplate(WithoutClaims(object));
    if (!unmarked.ok()) co_return kube::Outcome::Retry(unmarked.error());
  }
  if (free == binding) co_return kube::Outcome::Done();
  const Result<json::Value> written = co_await hub_.api().Update(BindingResource(binding_key), free);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  hub_.Learn(BindingResource(binding_key), *written);
  co_return kube::Outcome::Done();
}

rt::Task<kube::Outcome> DetectController::TemplateGone(const TemplateKey& key) {
  if (!hub_.TemplatesKnown(key.api_version, key.kind)) co_return kube::Outcome::Done();
  const std::string binding_key = key.BindingKey();
  const json::Value binding = hub_.Binding(binding_key);
  if (binding.is_null() || kube::IsDeleting(binding)) co_return kube::Outcome::Done();
  if (TemplateKey::OfReference(binding["spec"]["resource"]).ToString() != key.ToString()) {
    co_return kube::Outcome::Done();  // a binding of another template of that name
  }
  // The copy may be old: only the server knows that it is gone.
  Result<kube::Resource> resource = co_await hub_.ResourceOf(key.api_version, key.kind);
  if (!resource.ok()) co_return kube::Outcome::Retry(resource.error());
  const Result<json::Value> live = co_await hub_.api().Get(*resource, {key.ns, key.name});
  if (live.ok() && kube::UidOf(*live) == binding["spec"]["resource"]["uid"].str()) co_return kube::Outcome::Done();
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(live.error());
  const Result<json::Value> gone = co_await hub_.api().Delete(BindingResource(binding_key), kube::Name::Of(binding),
                                                              {.uid = std::string(kube::UidOf(binding))});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(gone.error());
  co_return kube::Outcome::Done();
}

const json::Value& DetectController::PriorityClassOf(const json::Value& policy) const {
  return hub_.Template({.api_version = std::string(kPriorityClassVersion),
                        .kind = "PriorityClass",
                        .ns = "",
                        .name = std::string(policy["spec"]["schedulePriority"]["priorityClassName"].str())});
}

json::Value DetectController::SpecFromPolicy(const json::Value& object, const json::Value& policy,
                                             const json::Value& current) {
  json::Value spec = current["spec"];  // clusters, eviction tasks, requiredBy and what we do not know stay
  json::Value resource = json::Object({{"apiVersion", kube::ApiVersionOf(object)},
                                       {"kind", kube::KindOf(object)},
                                       {"name", kube::NameOf(object)},
                                       {"uid", kube::UidOf(object)},
                                       {"resourceVersion", kube::VersionOf(object)}});
  if (!kube::NamespaceOf(object).empty()) resource.Set("namespace", kube::NamespaceOf(object));
  // Render watches templates itself: a new version of the template alone is no reason to write the binding.
  json::Value before = spec["resource"];
  before.Set("resourceVersion", resource["resourceVersion"]);
  if (before != resource) spec.Set("resource", resource);
  for (const std::string_view field : kCopied) {
    if (policy["spec"].Has(field)) {
      spec.Set(field, policy["spec"][field]);
    } else {
      spec.Erase(field);
    }
  }
  if (spec["placement"].is_null()) spec.Set("placement", json::Object());
  // The number, as the class has it now (PriorityClassOf); where the policy names none, there is none.
  if (policy["spec"].Has("schedulePriority")) {
    const json::Value& priority_class = PriorityClassOf(policy);
    spec.Set("schedulePriority", json::Object({{"priority", priority_class["value"].int_or(0)}}));
  } else {
    spec.Erase("schedulePriority");
  }
  if (policy["spec"]["propagateDeps"].bool_or(false)) {
    spec.Set("propagateDeps", true);
  } else {
    spec.Erase("propagateDeps");
  }
  return spec;
}

rt::Task<Result<json::Value>> DetectController::Desired(json::Value object, json::Value policy,
                                                        PropagationPolicy compiled, json::Value current) {
  json::Value binding = current;
  const TemplateKey key = TemplateKey::Of(object);
  const bool clustered = key.ns.empty();
  binding.Set("apiVersion", "work.karmada.io/v1alpha2");
  binding.Set("kind", clustered ? "ClusterResourceBinding" : "ResourceBinding");
  json::Value& metadata = binding.Edit("metadata");
  metadata.Set("name", keys::BindingName(key.kind, key.name));
  if (!clustered) metadata.Set("namespace", key.ns);
  metadata.Set("ownerReferences", json::Array({OwnerReference(object)}));
  AddFinalizer(binding, clustered ? keys::kClusterBindingFinalizer : keys::kBindingFinalizer);
  const std::string_view id = clustered ? keys::kClusterResourceBindingId : keys::kResourceBindingId;
  if (binding["metadata"]["labels"][id].str().empty()) {
    binding.Edit("metadata").Edit("labels").Set(id, hub_.loop().random().NewUid().str());
  }
  binding = WithClaim(std::move(binding), compiled);
  binding.Set("spec", SpecFromPolicy(object, policy, current));
  TakeSuspension(binding, policy["spec"]["suspension"]);
  if (hub_.interpretation().Has(object, interpret::Operation::kReplica)) {
    const interpret::Replicas replicas = CO_TRY(co_await hub_.interpretation().GetReplicas(object));
    json::Value& spec = binding.Edit("spec");
    spec.Set("replicas", replicas.count);
    if (replicas.requirements.is_null()) {
      spec.Erase("replicaRequirements");
    } else {
      spec.Set("replicaRequirements", replicas.requirements);
    }
  }
  co_return binding;
}

// A binding that was deleted and is made anew: what must have one writer stays in the cluster where it is. A leader
// that is none any more may have made a Work for another one since.
rt::Task<Result<json::Value>> DetectController::WithClustersOfWorks(std::string binding_key, json::Value binding,
                                                                    json::Value object) {
  if (hub_.gate() == nullptr || !hub_.gate()->Manages(object)) co_return binding;
  std::vector<std::string> all;
  for (const json::Value& work : hub_.works().ByIndex("binding", binding_key)) {
    const json::Value& made_from = work["spec"]["workload"]["manifests"][0]["metadata"]["annotations"];
    if (kube::IsDeleting(work) || made_from[keys::kTemplateUid].str() != kube::UidOf(object)) continue;
    all.push_back(ClusterOfWork(work));
  }
  std::vector<std::string> bound;
  for (const std::string& cluster : all) {
    if (all.size() == 1 || !CO_TRY(co_await hub_.gate()->MayRemove(cluster, object))) bound.push_back(cluster);
  }
  json::Value clusters = json::Array();
  for (const std::string& cluster : bound.empty() ? all : bound) clusters.Push(json::Object({{"name", cluster}}));
  if (!clusters.empty()) binding.Edit("spec").Set("clusters", clusters);
  co_return binding;
}

// Whether the hub has it now, and it is the one that we know.
rt::Task<Result<bool>> DetectController::IsThere(const TemplateKey& key, std::string uid) {
  const kube::Resource resource = CO_TRY(co_await hub_.ResourceOf(key.api_version, key.kind));
  const Result<json::Value> live = co_await hub_.api().Get(resource, {key.ns, key.name});
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  co_return live.ok() && kube::UidOf(*live) == uid && !kube::IsDeleting(*live);
}

rt::Task<kube::Outcome> DetectController::Reconcile(std::string key_text) {
  const TemplateKey key = TemplateKey::FromString(key_text);
  const json::Value object = hub_.Template(key);
  if (object.is_null() || kube::IsDeleting(object)) co_return co_await TemplateGone(key);
  const std::string binding_key = key.BindingKey();
  const json::Value current = hub_.Binding(binding_key);
  MatchOptions options;
  options.preemption = hub_.options().preemption;
  options.changed_by_federation = changed_by_federation_.contains(key_text);
  // The claim is the binding's. Where templates carry Karmada's marks, one without a binding yet is claimed by those.
  std::optional<Claim> claim = ClaimOf(current);
  if (!claim && hub_.options().claim_templates) claim = ClaimOf(object);
  const Decision decision = Match(object, hub_.policy_set(), claim, options);
  if (decision.outcome == Outcome::kReleased) {
    const kube::Outcome released = co_await Release(binding_key, current, object);
    if (released.kind() == kube::Outcome::Kind::kDone) controller_.Add(key_text);
    co_return released;
  }
  if (decision.policy == nullptr) co_return kube::Outcome::Done();
  const PropagationPolicy policy = *decision.policy;  // the set may change while we wait
  const json::Value policy_object = PolicyObject(policy.key);
  if (policy.permanent_id.empty()) co_return kube::Outcome::Done();  // admission is not through with it
  for (const std::string& name : policy.dependent_overrides) {
    const bool there = policy.key.cluster_scoped()
                           ? !hub_.cluster_overrides().Get(name).is_null()
                           : !hub_.overrides().Get(StrCat(policy.key.policy_namespace, "/", name)).is_null();
    if (!there) co_return kube::Outcome::WaitFor(kKindRetry);
  }
  if (policy_object["spec"].Has("schedulePriority")) {
    const bool watched = co_await hub_.WatchTemplates(std::string(kPriorityClassVersion), "PriorityClass");
    if (!watched || PriorityClassOf(policy_object).is_null()) {
      // As Karmada: no binding without its priority.
      if (watched && hub_.TemplatesKnown(kPriorityClassVersion, "PriorityClass")) {
        hub_.events().Warning(
            object, "PriorityClassNotFound",
            StrCat("the policy names PriorityClass ",
                   policy_object["spec"]["schedulePriority"]["priorityClassName"].str(), ", which is not there"));
      }
      co_return kube::Outcome::WaitFor(kKindRetry);
    }
  }
  if (hub_.options().claim_templates && WithClaim(object, policy) != object) {
    // First, so that render does not see the template twice. Its change comes back by the watch and wakes us.
    co_return kube::Outcome::Of(co_await MarkTemplate(WithClaim(object, policy)));
  }
  if (!decision.refresh_binding) co_return kube::Outcome::Done();
  if (!current.is_null() && current["spec"]["resource"]["uid"].str() != kube::UidOf(object)) {
    // The binding of an earlier template of this name: it goes first.
    co_return co_await TemplateGone(key);
  }
  if (kube::IsDeleting(current)) co_return kube::Outcome::Done();  // its end will wake us
  if (current.is_null() && lost_bindings_.contains(key_text)) {
    const Result<bool> there = co_await IsThere(key, std::string(kube::UidOf(object)));
    if (!there.ok()) co_return kube::Outcome::Retry(there.error());
    if (!*there) {
      SOMETIMES("federation.binding_went_with_its_template");
      co_return kube::Outcome::WaitFor(kMadeAnewAfter);  // the watch will tell, and take this from our list
    }
    lost_bindings_.erase(key_text);
  }
  Result<json::Value> desired = co_await Desired(object, policy_object, policy, current);
  if (!desired.ok()) {
    hub_.events().Warning(object, "GetReplicasFailed", desired.error().message());
    if (desired.error().kind() == ErrorKind::kUnavailable) co_return kube::Outcome::Retry(desired.error());
    co_return kube::Outcome::Terminal(desired.error());
  }
  json::Value wanted = *std::move(desired);
  if (current.is_null()) {
    Result<json::Value> with = co_await WithClustersOfWorks(binding_key, std::move(wanted), object);
    if (!with.ok()) co_return kube::Outcome::Retry(with.error());
    wanted = *std::move(with);
  }
  const bool suspended = wanted["spec"]["suspension"]["scheduling"].bool_or(false);
  if (!suspended) wanted = schedule_.Decide(binding_key, std::move(wanted));
  if (wanted == current) co_return kube::Outcome::Done();
  const kube::Resource& resource = BindingResource(binding_key);
  Result<json::Value> written = InternalError("not written");
  if (current.is_null()) {
    written = co_await hub_.api().Create(resource, wanted);
  } else {
    written = co_await hub_.api().Update(resource, wanted);
  }
  if (!written.ok()) {
    if (written.error().kind() == ErrorKind::kAlreadyExists) co_return kube::Outcome::WaitFor(seconds(1));
    co_return kube::Outcome::Retry(written.error());
  }
  hub_.Learn(resource, *written);
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
