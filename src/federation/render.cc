// Rendering manifests and keeping Works.
#include "federation/render.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/changes.h"
#include "federation/clusters.h"
#include "federation/completions.h"
#include "federation/resources.h"
#include "federation/suspension.h"
#include "overrides/apply.h"
#include "rt/when.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

// Our copy of a binding is older than the hub's: its watch wakes us when it has caught up; this is the net below that.
constexpr Duration kLookAgainForBinding = seconds(1);
constexpr Duration kUnboundFor = seconds(30);  // a Work stays without a binding
constexpr size_t kWorksAtOnce = 16;            // of one binding

// The server's own fields never travel.
constexpr std::string_view kServerFields[] = {"creationTimestamp",
                                              "deletionTimestamp",
                                              "deletionGracePeriodSeconds",
                                              "generation",
                                              "managedFields",
                                              "resourceVersion",
                                              "selfLink",
                                              "uid",
                                              "ownerReferences",
                                              "finalizers"};

std::string JoinedKeys(const json::Value& map, std::string_view also) {
  std::vector<std::string> names;
  for (const json::Member& member : map.members()) names.emplace_back(member.key());
  if (!also.empty() && !map.Has(also)) names.emplace_back(also);
  std::ranges::sort(names);
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

bool SuspendedFor(const json::Value& binding, std::string_view cluster) {
  const json::Value& suspension = binding["spec"]["suspension"];
  if (suspension["dispatching"].bool_or(false)) return true;
  for (const json::Value& name : suspension["dispatchingOnClusters"]["clusterNames"].items()) {
    if (name.str() == cluster) return true;
  }
  return false;
}

// The clusters that must have the workload: its own, then those of bindings that it depends on.
std::vector<std::pair<std::string, int64_t>> Targets(const json::Value& binding) {
  std::vector<std::pair<std::string, int64_t>> targets;
  const auto add = [&](const json::Value& cluster) {
    const std::string name(cluster["name"].str());
    const bool there = std::ranges::any_of(targets, [&](const auto& one) { return one.first == name; });
    if (!there) targets.emplace_back(name, cluster["replicas"].int_or(0));
  };
  for (const json::Value& cluster : binding["spec"]["clusters"].items()) add(cluster);
  for (const json::Value& required : binding["spec"]["requiredBy"].items()) {
    for (const json::Value& cluster : required["clusters"].items()) add(cluster);
  }
  return targets;
}

bool IsNamed(const json::Value& binding, std::string_view cluster) {
  const auto there = [&](const auto& one) { return one.first == cluster; };
  return std::ranges::any_of(Targets(binding), there);
}

}  // namespace

json::Value Pruned(json::Value object) {
  json::Value& metadata = object.Edit("metadata");
  for (const std::string_view field : kServerFields) metadata.Erase(field);
  object.Erase("status");
  const std::string_view kind = kube::KindOf(object);
  if (kind == "Deployment" && object["metadata"]["annotations"].Has("deployment.kubernetes.io/revision")) {
    object.Edit("metadata").Edit("annotations").Erase("deployment.kubernetes.io/revision");
  }
  if (kind == "Service" && kube::ApiVersionOf(object) == "v1" && object["spec"]["clusterIP"].str() != "None") {
    object.Edit("spec").Erase("clusterIP");
    object.Edit("spec").Erase("clusterIPs");
  }
  if (kind == "Job" && !object["spec"]["manualSelector"].bool_or(false)) {
    object.Edit("spec").Erase("ttlSecondsAfterFinished");
    for (const std::string_view label :
         {"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}) {
      if (object["spec"]["template"]["metadata"]["labels"].Has(label)) {
        object.Edit("spec").Edit("template").Edit("metadata").Edit("labels").Erase(label);
      }
    }
    object.Edit("spec").Erase("selector");
  }
  return object;
}

std::string ClusterOfWork(const json::Value& work) {
  const auto cluster = keys::ClusterOfExecutionNamespace(kube::NamespaceOf(work));
  return cluster ? std::string(*cluster) : std::string();
}

std::string BindingOfWork(const json::Value& work) {
  const json::Value& annotations = work["metadata"]["annotations"];
  const std::string_view name = annotations[keys::kResourceBindingName].str();
  if (!name.empty()) return StrCat(annotations[keys::kResourceBindingNamespace].str(), "/", name);
  return std::string(annotations[keys::kClusterResourceBindingName].str());
}

RenderController::RenderController(Hub& hub, Revisions& revisions)
    : hub_(hub),
      revisions_(revisions),
      controller_(hub.loop(), "render", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 8, .log = hub.options().log}) {
  // Works of no binding (namespaces have such, and people may make some) are none of ours: they share no key.
  hub_.works().AddIndex("binding", [](const json::Value& work) {
    std::string binding = BindingOfWork(work);
    return binding.empty() ? std::vector<std::string>() : std::vector<std::string>{std::move(binding)};
  });
  hub_.OnBinding([this](const json::Value& before, const json::Value& now) {
    const bool same =
        !before.is_null() && !now.is_null() && before["spec"] == now["spec"] &&
        before["metadata"]["labels"] == now["metadata"]["labels"] &&
        before["metadata"]["annotations"][kNeedsOverrides] == now["metadata"]["annotations"][kNeedsOverrides] &&
        SameReleases(before, now) && kube::IsDeleting(before) == kube::IsDeleting(now);
    if (!same) controller_.Add(kube::Name::Of(now.is_null() ? before : now).Key());
  });
  hub_.OnTemplate([this](const json::Value& before, const json::Value& now) {
    // Works that outlived their binding go with their template.
    if (now.is_null() && !hub_.works().KeysByIndex("binding", TemplateKey::Of(before).BindingKey()).empty())
      controller_.Add(TemplateKey::Of(before).BindingKey());
    if (now.is_null() || (!before.is_null() && !SpecificationChanged(before, now))) return;
    controller_.Add(TemplateKey::Of(now).BindingKey());
  });
  hub_.works().OnChange([this](const json::Value& before, const json::Value& now) {
    const std::string key = BindingOfWork(now.is_null() ? before : now);
    if (key.empty()) return;
    if (before.is_null()) {
      // One that comes to be known when its binding wants it no more (what is created is learned from the watch alone),
      // or is gone: a leader that hung makes Works for what was deleted meanwhile. Not at once: on a hub that was
      // restored without them bindings are made anew (detect), and find their Works.
      const json::Value& binding = hub_.Binding(key);
      if (binding.is_null()) {
        controller_.AddAfter(key, kUnboundFor);
      } else if (!IsNamed(binding, ClusterOfWork(now))) {
        controller_.Add(key);
      }
      return;
    }
    // Somebody changed or deleted a Work: put it right.
    const std::string work = kube::Name::Of(before).Key();
    if (now.is_null()) {
      written_.erase(work);
      controller_.Add(key);
      return;
    }
    if (before["spec"] == now["spec"]) return;
    const auto own = written_.find(work);
    if (own == written_.end() || own->second != now["spec"]) controller_.AddAfter(key, kPutRight);
  });
  const auto override_policy = [this](const json::Value& before, const json::Value& now) {
    OverrideChanged(before, now);
  };
  revisions_.OnChange([this](const std::string& key) { controller_.Add(key); });
  hub_.overrides().OnChange(override_policy);
  hub_.cluster_overrides().OnChange(override_policy);
}

// The bindings whose templates the override selects, now or before.
void RenderController::OverrideChanged(const json::Value& before, const json::Value& now) {
  if (!before.is_null() && !now.is_null() && before["spec"] == now["spec"]) return;
  for (const std::string& key : need_overrides_) controller_.Add(key);
  for (const json::Value* policy : {&before, &now}) {
    if (policy->is_null()) continue;
    const Result<overrides::Policy> compiled = overrides::CompilePolicy(*policy);
    if (!compiled.ok()) continue;
    const auto queue_if_meant = [&](const std::string& key, const json::Value& binding) {
      const json::Value& object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
      if (object.is_null()) return;
      if (compiled->Match(overrides::ObjectRef::Of(object)) != overrides::MatchLevel::kNone) controller_.Add(key);
    };
    const bool by_name = !compiled->cluster_scoped && !compiled->selectors.empty() &&
                         std::ranges::all_of(compiled->selectors, [](const auto& one) { return !one.name.empty(); });
    if (!by_name) {
      hub_.ForEachBinding(queue_if_meant);
      continue;
    }
    for (const overrides::ResourceSelector& selector : compiled->selectors) {
      const TemplateKey key{.api_version = selector.api_version,
                            .kind = selector.kind,
                            .ns = compiled->policy_namespace,
                            .name = selector.name};
      queue_if_meant(key.BindingKey(), hub_.Binding(key.BindingKey()));
    }
  }
}

std::string RenderController::MissingOverrides(const json::Value& binding) const {
  std::string missing;
  std::string_view list = binding["metadata"]["annotations"][kNeedsOverrides].str();
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view one = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const size_t at = one.rfind('@');
    int64_t wanted = 0;
    const char* digits = at == std::string_view::npos ? one.data() + one.size() : one.data() + at + 1;
    const bool number = std::from_chars(digits, one.data() + one.size(), wanted).ptr == one.data() + one.size();
    std::string_view name = one.substr(0, at);
    const bool clustered = name.starts_with('/');
    if (clustered) name.remove_prefix(1);
    const int64_t seen = hub_.OverrideGeneration(clustered ? "" : kube::NamespaceOf(binding), name);
    const bool there = at != std::string_view::npos && number && seen >= wanted;
    if (!there) missing += StrCat(missing.empty() ? "" : ", ", one);
  }
  return missing;
}

std::string RenderController::Trouble(const std::string& key) const {
  const auto at = trouble_.find(key);
  return at == trouble_.end() ? std::string() : at->second;
}

void RenderController::SetTrouble(const std::string& key, std::string trouble) {
  if (Trouble(key) == trouble) return;
  if (trouble.empty()) {
    trouble_.erase(key);
  } else {
    trouble_[key] = std::move(trouble);
  }
  if (on_trouble_) on_trouble_(key);
}

rt::Task<Result<json::Value>> RenderController::Render(json::Value binding, json::Value object, std::string cluster,
                                                       json::Value* work_annotations, OverrideFilter counts) const {
  json::Value manifest = Pruned(object);
  const json::Value& spec = binding["spec"];
  const bool workload = spec["replicas"].int_or(0) > 0 || spec.Has("replicaRequirements") || spec.Has("components");
  if (workload && hub_.interpretation().Has(object, interpret::Operation::kRevise)) {
    for (const auto& [name, replicas] : Targets(binding)) {
      if (name != cluster) continue;
      // A cluster that was listed without a number (a move, a hand) has the whole workload.
      const bool listed = std::ranges::any_of(spec["clusters"].items(), [&](const json::Value& one) {
        return one["name"].str() == cluster && one.Has("replicas");
      });
      manifest = CO_TRY(
          co_await hub_.interpretation().ReviseReplica(manifest, listed ? replicas : spec["replicas"].int_or(0)));
    }
  }
  if (const std::optional<int32_t> completions = CompletionsFor(binding, object, cluster)) {
    manifest.Edit("spec").Set("completions", *completions);
  }
  std::vector<overrides::Policy> policies = hub_.OverridesFor(object);
  if (counts != nullptr) std::erase_if(policies, std::not_fn(counts));
  if (!policies.empty()) {
    const json::Value& target = hub_.clusters().Get(cluster);
    overrides::Applied applied = CO_TRY(overrides::Apply(
        manifest, target.is_null() ? overrides::Target{.name = cluster} : overrides::Target::FromCluster(target),
        policies));
    manifest = std::move(applied.object);
    if (work_annotations != nullptr && !applied.overrides.empty()) {
      work_annotations->Set(keys::kAppliedOverrides, applied.overrides);
    }
    if (work_annotations != nullptr && !applied.cluster_overrides.empty()) {
      work_annotations->Set(keys::kAppliedClusterOverrides, applied.cluster_overrides);
    }
  }
  co_return manifest;
}

json::Value RenderController::WorkFor(const json::Value& binding, const json::Value& object, const std::string& cluster,
                                      json::Value manifest, const json::Value& annotations,
                                      const json::Value& current) const {
  const std::string ns = keys::ExecutionNamespace(cluster);
  const std::string name = keys::WorkName(kube::KindOf(object), kube::NamespaceOf(object), kube::NameOf(object));
  const bool clustered = kube::NamespaceOf(binding).empty();
  const std::string_view id_label = clustered ? keys::kClusterResourceBindingId : keys::kResourceBindingId;
  const json::Value& binding_id = binding["metadata"]["labels"][id_label];
  std::string work_id(current["metadata"]["labels"][keys::kWorkId].str());
  if (work_id.empty()) work_id = hub_.loop().random().NewUid().str();

  json::Value own = annotations;
  if (clustered) {
    own.Set(keys::kClusterResourceBindingName, kube::NameOf(binding));
  } else {
    own.Set(keys::kResourceBindingNamespace, kube::NamespaceOf(binding));
    own.Set(keys::kResourceBindingName, kube::NameOf(binding));
  }
  // The manifest's own marks, and the list of keys that we manage.
  json::Value marks = manifest["metadata"]["annotations"];
  marks.Erase("kubectl.kubernetes.io/last-applied-configuration");
  for (const json::Member& member : own.members()) {
    if (!member.key().starts_with("policy.karmada.io/")) marks.Set(member.key(), member.value());
  }
  marks.Set(keys::kWorkNamespace, ns);
  marks.Set(keys::kWorkName, name);
  marks.Set(keys::kTemplateUid, kube::UidOf(object));
  if (object["metadata"]["generation"].int_or(0) > 0) {
    marks.Set(keys::kTemplateGeneration, std::to_string(object["metadata"]["generation"].int_or(0)));
  }
  const std::string_view asked = object["metadata"]["annotations"][keys::kConflictResolution].str();
  const bool overwrite = binding["spec"]["conflictResolution"].str() == "Overwrite";
  marks.Set(keys::kConflictResolution, !asked.empty() ? asked : (overwrite ? "overwrite" : "abort"));
  json::Value labels = manifest["metadata"]["labels"];
  labels.Set(keys::kManaged, keys::kTrue);
  if (!binding_id.is_null()) labels.Set(id_label, binding_id);
  labels.Set(keys::kWorkId, work_id);
  marks.Set(keys::kManagedLabels, JoinedKeys(labels, ""));
  marks.Set(keys::kManagedAnnotations, JoinedKeys(marks, keys::kManagedAnnotations));
  manifest.Edit("metadata").Set("labels", labels);
  manifest.Edit("metadata").Set("annotations", marks);

  json::Value work = current;
  work.Set("apiVersion", "work.karmada.io/v1alpha1");
  work.Set("kind", "Work");
  json::Value& metadata = work.Edit("metadata");
  metadata.Set("name", name);
  metadata.Set("namespace", ns);
  json::Value& finalizers = metadata.Edit("finalizers");
  const bool has = std::ranges::any_of(finalizers.items(),
                                       [](const json::Value& one) { return one.str() == keys::kExecutionFinalizer; });
  if (!has) finalizers.Push(keys::kExecutionFinalizer);
  json::Value& work_labels = metadata.Edit("labels");
  work_labels.Set(keys::kWorkId, work_id);
  if (!binding_id.is_null()) work_labels.Set(id_label, binding_id);
  json::Value& work_annotations = metadata.Edit("annotations");
  for (const std::string_view applied : {keys::kAppliedOverrides, keys::kAppliedClusterOverrides})
    work_annotations.Erase(applied);
  for (const json::Member& member : own.members()) work_annotations.Set(member.key(), member.value());
  work_annotations.Set(keys::kConflictResolution, marks[keys::kConflictResolution]);
  work.Edit("spec").Edit("workload").Set("manifests", json::Array({std::move(manifest)}));
  TakeSuspensionOfBinding(work, SuspendedFor(binding, cluster));
  if (binding["spec"]["preserveResourcesOnDeletion"].bool_or(false)) {
    work.Edit("spec").Set("preserveResourcesOnDeletion", true);
  } else {
    work.Edit("spec").Erase("preserveResourcesOnDeletion");
  }
  return work;
}

rt::Task<Result<void>> RenderController::PutWork(const json::Value& binding, const json::Value& object,
                                                 const std::string& cluster, json::Value manifest,
                                                 const json::Value& annotations) {
  const std::string name = keys::WorkName(kube::KindOf(object), kube::NamespaceOf(object), kube::NameOf(object));
  const std::string key = StrCat(keys::ExecutionNamespace(cluster), "/", name);
  const json::Value current = hub_.works().Get(key);
  if (kube::IsDeleting(current))
    co_return UnavailableError(StrCat("Work ", key, " is being deleted: it is made anew when it is gone"));
  const json::Value work = WorkFor(binding, object, cluster, std::move(manifest), annotations, current);
  if (work == current) co_return Result<void>();
  written_.insert_or_assign(key, work["spec"]);
  Result<json::Value> written = InternalError("not written");
  if (current.is_null()) {
    written = co_await hub_.api().Create(kWorks, work);
  } else {
    written = co_await hub_.api().Update(kWorks, work);
  }
  if (!written.ok()) co_return std::move(written).error();
  hub_.Learn(kWorks, *written);
  co_return Result<void>();
}

rt::Task<Result<bool>> RenderController::IsCurrent(std::string key, json::Value binding) {
  const Result<json::Value> live = co_await hub_.api().Get(BindingResource(key), kube::Name::FromKey(key));
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  if (!live.ok() || binding.is_null()) co_return !live.ok() && binding.is_null();
  co_return kube::UidOf(*live) == kube::UidOf(binding) &&
      (*live)["metadata"]["generation"] == binding["metadata"]["generation"];
}

rt::Task<Result<void>> RenderController::RemoveWorks(const std::string& key, const json::Value& binding,
                                                     const std::set<std::string, std::less<>>& keep) {
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    if (keep.contains(ClusterOfWork(work))) continue;
    // A pause that came from the binding ends with it, or what is to be removed would stay for ever.
    json::Value freed = work;
    TakeSuspensionOfBinding(freed, SuspendedFor(binding, ClusterOfWork(work)));
    if (freed != work) {
      const Result<json::Value> written = co_await hub_.api().Update(kWorks, freed);
      if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
      if (written.ok()) hub_.Learn(kWorks, *written);
    }
    if (kube::IsDeleting(work)) continue;
    const Result<json::Value> gone =
        co_await hub_.api().Delete(kWorks, kube::Name::Of(work), {.uid = std::string(kube::UidOf(work))});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  co_return Result<void>();
}

// A writer is not taken out of its cluster by an edited binding: what runs there stays, and is told.
rt::Task<Result<void>> RenderController::KeepWriter(const std::string& key, const json::Value& binding,
                                                    const json::Value& object,
                                                    std::set<std::string, std::less<>>& keep) {
  if (hub_.gate() == nullptr || !hub_.gate()->Manages(object)) co_return Result<void>();
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    const std::string cluster = ClusterOfWork(work);
    if (keep.contains(cluster) || kube::IsDeleting(work)) continue;
    if (CO_TRY(co_await hub_.gate()->MayRemove(cluster, object))) continue;
    keep.insert(cluster);
    hub_.events().Warning(
        binding, "WriterKept",
        StrCat("the binding no longer names ", cluster,
               ", where the one writer of this workload runs: it is not removed; `baton migrate` moves it"));
  }
  co_return Result<void>();
}

// A writer ends with its template, or by a move, not by whoever deletes a binding: that is made anew (detect), with the
// clusters whose Works it finds.
rt::Task<Result<std::set<std::string, std::less<>>>> RenderController::WritersWithout(const std::string& key,
                                                                                      const json::Value& binding) {
  std::set<std::string, std::less<>> keep;
  if (hub_.gate() == nullptr) co_return keep;
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    const json::Value manifest = work["spec"]["workload"]["manifests"][0];
    if (kube::IsDeleting(work) || !hub_.gate()->Manages(manifest)) continue;
    // A template that was made anew may have been rendered already: the binding is of the one before.
    const json::Value& made_from = manifest["metadata"]["annotations"][keys::kTemplateUid];
    const std::string uid((binding.is_null() ? made_from : binding["spec"]["resource"]["uid"]).str());
    if (!CO_TRY(co_await hub_.TemplateStands(TemplateKey::Of(manifest), uid))) continue;
    const std::string cluster = ClusterOfWork(work);
    if (CO_TRY(co_await hub_.gate()->MayRemove(cluster, manifest))) continue;
    SOMETIMES("federation.writer_outlives_its_binding");
    keep.insert(cluster);
  }
  co_return keep;
}

// The binding is being deleted: its Works go first.
rt::Task<kube::Outcome> RenderController::Finish(const std::string& key, const json::Value& binding) {
  const Result<std::set<std::string, std::less<>>> keep = co_await WritersWithout(key, binding);
  if (!keep.ok()) co_return kube::Outcome::Retry(keep.error());
  const Result<void> removed = co_await RemoveWorks(key, binding, *keep);
  if (!removed.ok()) co_return kube::Outcome::Retry(removed.error());
  const bool goes_on = std::ranges::any_of(hub_.works().ByIndex("binding", key), [&](const json::Value& work) {
    return !keep->contains(ClusterOfWork(work));
  });
  if (goes_on) co_return kube::Outcome::Done();  // the last one's end wakes us
  const json::Value& object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
  for (const std::string& cluster : *keep) {
    hub_.events().Warning(object.is_null() ? binding : object, "WriterKept",
                          StrCat("its binding was deleted, and ", cluster,
                                 " keeps the one writer of this workload: the binding is made anew; to remove the "
                                 "workload, delete it, not its binding"));
  }
  const bool clustered = key.find('/') == std::string::npos;
  const std::string_view ours = clustered ? keys::kClusterBindingFinalizer : keys::kBindingFinalizer;
  json::Value rest = json::Array();
  for (const json::Value& one : binding["metadata"]["finalizers"].items()) {
    if (one.str() != ours) rest.Push(one);
  }
  if (rest.size() == binding["metadata"]["finalizers"].size()) co_return kube::Outcome::Done();
  json::Value next = binding;
  next.Edit("metadata").Set("finalizers", rest);
  const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

// A cluster that leaves gets nothing more; what it has goes with it. But it waits for the workloads that have one
// writer to be moved away, which is done by rendering their stop.
bool RenderController::Leaves(const std::string& cluster, const json::Value& object) const {
  const json::Value& there = hub_.clusters().Get(cluster);
  if (!kube::IsDeleting(there)) return false;
  const bool waits = hub_.gate() != nullptr && hub_.gate()->Manages(object);
  return !waits || there["metadata"]["annotations"][kLeaveByForce].str() == keys::kTrue;
}

// What one cluster gets. All arguments outlive the task.
rt::Task<RenderController::PutResult> RenderController::PutIn(const std::string& cluster, const Revisions::Plan& plan,
                                                              const json::Value& object, const std::string& missing) {
  const auto tell = [&](std::string_view what) { return PutResult{.trouble = StrCat(cluster, ": ", what)}; };
  if (const auto unknown = plan.unknown.find(cluster); unknown != plan.unknown.end()) co_return tell(unknown->second);
  const std::string work =
      StrCat(keys::ExecutionNamespace(cluster), "/",
             keys::WorkName(kube::KindOf(object), kube::NamespaceOf(object), kube::NameOf(object)));
  if (!missing.empty() && hub_.works().Get(work).is_null())
    co_return tell(StrCat("its first Work waits for override ", missing));
  json::Value annotations;
  Result<json::Value> manifest = co_await Render(plan.binding, plan.For(cluster), cluster, &annotations);
  if (!manifest.ok()) {
    PutResult result = tell(manifest.error().message());
    if (manifest.error().kind() == ErrorKind::kUnavailable) result.failed = manifest.error();
    co_return result;
  }
  const Result<void> put =
      co_await PutWork(plan.binding, plan.For(cluster), cluster, *std::move(manifest), annotations);
  if (put.ok()) co_return PutResult{};
  if (put.error().kind() == ErrorKind::kInvalid) co_return tell(put.error().message());
  co_return PutResult{.failed = put.error()};
}

rt::Task<Result<void>> RenderController::PutWorks(const std::string& key, const json::Value& binding,
                                                  const json::Value& object) {
  std::vector<std::string> targets;
  for (const auto& [cluster, replicas] : Targets(binding)) targets.push_back(cluster);
  std::vector<std::string> occupied;
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) occupied.push_back(ClusterOfWork(work));
  const Revisions::Plan plan = CO_TRY(co_await revisions_.Prepare(key, binding, object, targets, occupied));
  std::string trouble;
  std::optional<Error> failed;
  const std::string missing = MissingOverrides(binding);
  if (missing.empty()) {
    need_overrides_.erase(key);
  } else {
    need_overrides_.insert(key);
  }
  // Each is a write that waits for the hub: some at a time, in the binding's order.
  for (size_t from = 0; from < targets.size(); from += kWorksAtOnce) {
    std::vector<rt::Task<PutResult>> some;
    for (size_t i = from; i < std::min(targets.size(), from + kWorksAtOnce); ++i) {
      if (!Leaves(targets[i], object)) some.push_back(PutIn(targets[i], plan, object, missing));
    }
    for (const PutResult& put : co_await rt::WhenAll(std::move(some))) {
      if (!put.trouble.empty()) trouble += StrCat(trouble.empty() ? "" : "; ", put.trouble);
      if (put.failed) failed = put.failed;
    }
  }
  const bool news = !trouble.empty() && missing.empty() && Trouble(key) != trouble;
  if (news) {
    hub_.events().Warning(binding, plan.unknown.empty() ? "ApplyOverridePolicyFailed" : "RevisionGone", trouble);
  }
  SetTrouble(key, trouble);
  if (failed) co_return *failed;
  co_return Result<void>();
}

rt::Task<kube::Outcome> RenderController::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null()) {
    SetTrouble(key, "");
    need_overrides_.erase(key);
    if (hub_.works().KeysByIndex("binding", key).empty()) co_return kube::Outcome::Done();
    const Result<bool> gone = co_await IsCurrent(key, binding);
    if (!gone.ok()) co_return kube::Outcome::Retry(gone.error());
    if (!*gone) co_return kube::Outcome::WaitFor(kLookAgainForBinding);
    const Result<std::set<std::string, std::less<>>> keep = co_await WritersWithout(key, binding);
    if (!keep.ok()) co_return kube::Outcome::Retry(keep.error());
    co_return kube::Outcome::Of(co_await RemoveWorks(key, binding, *keep));
  }
  if (kube::IsDeleting(binding)) co_return co_await Finish(key, binding);
  const TemplateKey template_key = TemplateKey::OfReference(binding["spec"]["resource"]);
  const json::Value object = hub_.Template(template_key);
  if (object.is_null() || kube::IsDeleting(object)) co_return kube::Outcome::Done();  // detect ends the binding
  std::set<std::string, std::less<>> keep;
  std::set<std::string, std::less<>> directly;
  for (const json::Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
    (task["purgeMode"].str() == "Directly" ? directly : keep).insert(std::string(task["fromCluster"].str()));
  }
  const std::vector<std::pair<std::string, int64_t>> targets = Targets(binding);
  for (const auto& [cluster, replicas] : targets) keep.insert(cluster);
  // A pause is total: nothing is removed from a cluster that is not dispatched to.
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    if (SuspendedFor(binding, ClusterOfWork(work))) keep.insert(ClusterOfWork(work));
  }
  const Result<void> kept = co_await KeepWriter(key, binding, object, keep);
  if (!kept.ok()) co_return kube::Outcome::Retry(kept.error());
  const bool removes = std::ranges::any_of(hub_.works().ByIndex("binding", key), [&](const json::Value& work) {
    return !keep.contains(ClusterOfWork(work)) && !kube::IsDeleting(work);
  });
  if (removes) {
    const Result<bool> current = co_await IsCurrent(key, binding);
    if (!current.ok()) co_return kube::Outcome::Retry(current.error());
    if (!*current) co_return kube::Outcome::WaitFor(kLookAgainForBinding);
  }
  Result<void> removed = co_await RemoveWorks(key, binding, keep);
  if (!removed.ok()) co_return kube::Outcome::Retry(removed.error());
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    // What must go first, goes first: its end wakes us.
    if (directly.contains(ClusterOfWork(work)) && !keep.contains(ClusterOfWork(work))) co_return kube::Outcome::Done();
  }
  co_return kube::Outcome::Of(co_await PutWorks(key, binding, object));
}

}  // namespace baton::federation
