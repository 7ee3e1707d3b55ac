// Reading a hub, and what of it goes into a copy.
#include "sim/fleet.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/render.h"
#include "federation/resources.h"
#include "practice/flink_operator.h"
#include "practice/kind_spec.h"
#include "rollout/evacuate.h"
#include "rollout/profiles.h"
#include "rollout/records.h"

namespace baton::sim {
namespace {

using json::Value;

constexpr std::string_view kRecordRate = "20";  // records a second of each practice job: enough to be judged
constexpr std::string_view kRateAnnotation = "practice.baton.io/rate";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kRevisionPrefix = "revision.rollout.karmada.io/";
constexpr std::string_view kStrategyAnnotation = "rollout.karmada.io/strategy";
constexpr std::string_view kIll = "cluster.karmada.io/";  // taints that Baton or Karmada set because a cluster is ill

// Name, labels and annotations: what a person would have written.
Value Metadata(const Value& object) {
  const Value& from = object["metadata"];
  Value metadata = json::Object({{"name", from["name"]}});
  if (!from["namespace"].is_null()) metadata.Set("namespace", from["namespace"]);
  if (!from["labels"].is_null()) metadata.Set("labels", from["labels"]);
  if (from["annotations"].is_object()) {
    Value annotations = from["annotations"];
    annotations.Erase(kLastApplied);
    annotations.Erase(rollout::kTriggerAnnotation);
    metadata.Set("annotations", annotations);
  }
  return metadata;
}

Value Plain(const Value& object) {
  Value plain = json::Object({{"apiVersion", object["apiVersion"]}, {"kind", object["kind"]}});
  plain.Set("metadata", Metadata(object));
  plain.Set("spec", object["spec"]);
  // Customizations and profiles of old hubs may have more beside the spec.
  return plain;
}

// All of a kind; none where the hub does not serve it.
rt::Task<Result<std::vector<Value>>> ListOrNone(kube::Api& hub, kube::Resource resource) {
  Result<kube::Listed> listed = co_await hub.ListAll(std::move(resource));
  if (!listed.ok() && listed.error().kind() == ErrorKind::kNotFound) co_return std::vector<Value>();
  if (!listed.ok()) co_return listed.error();
  co_return std::move(listed->items);
}

Value ClusterLike(const Value& cluster, std::vector<std::string>& left) {
  Value plain = json::Object({{"metadata", Metadata(cluster)}, {"spec", json::Object({})}});
  for (const std::string_view field : {"provider", "region", "zone", "zones"}) {
    if (!cluster["spec"][field].is_null()) plain.Edit("spec").Set(field, cluster["spec"][field]);
  }
  Value taints = json::Array();
  bool ill = false;
  for (const Value& taint : cluster["spec"]["taints"].items()) {
    if (taint["key"].str().starts_with(kIll)) {
      ill = true;
    } else {
      taints.Push(taint);
    }
  }
  if (!taints.empty()) plain.Edit("spec").Set("taints", taints);
  const bool ready = federation::FindCondition(cluster["status"], "Ready")["status"].str() == "True";
  if (ill || !ready)
    left.push_back(StrCat("cluster ", kube::NameOf(cluster), " is not ready on the hub; in the copy it answers"));
  return plain;
}

// Where it is, and where its policy has it; without what only means something on the hub that it came from.
Value BindingLike(const Value& binding) {
  Value plain = json::Object({{"apiVersion", binding["apiVersion"]}, {"kind", binding["kind"]}});
  plain.Set("metadata", Metadata(binding));
  Value annotations = plain["metadata"]["annotations"];
  if (annotations.is_object()) {
    for (const json::Member& one : binding["metadata"]["annotations"].members()) {
      if (one.key().starts_with(kRevisionPrefix) || one.key() == rollout::kFenceAnnotation)
        annotations.Erase(one.key());
    }
    plain.Edit("metadata").Set("annotations", annotations);
  }
  Value spec = binding["spec"];
  for (const std::string_view field :
       {"gracefulEvictionTasks", "suspension", "rescheduleTriggeredAt", "requiredBy", "schedulePriority"}) {
    spec.Erase(field);
  }
  plain.Set("spec", spec);
  const Value& affinity = binding["status"]["schedulerObservingAffinityName"];
  if (!affinity.is_null()) plain.Set("status", json::Object({{"schedulerObservingAffinityName", affinity}}));
  return plain;
}

struct Reading {
  kube::Api& hub;
  const rollout::ProfileSet& profiles;
  Fleet& fleet;
};

// Adds it, or says why it is not in the copy.
rt::Task<Result<void>> AddWorkload(Reading reading, Value writer) {
  const Value& reference = writer["spec"]["workload"];
  const std::string ns(kube::NamespaceOf(writer));
  const std::string kind(reference["kind"].str());
  const std::string name(reference["name"].str());
  const std::string told = StrCat(ToLower(kind), "/", name, " -n ", ns);
  std::vector<std::string>& left = reading.fleet.left;
  const kube::Resource* resource = PlayedKind(reference["apiVersion"].str(), kind);
  if (resource == nullptr) {
    left.push_back(StrCat(told, ": practice clusters do not play ", kind));
    co_return Result<void>();
  }
  Result<Value> object = co_await reading.hub.Get(*resource, {ns, name});
  if (!object.ok() && object.error().kind() != ErrorKind::kNotFound) co_return object.error();
  Result<Value> binding =
      co_await reading.hub.Get(federation::kResourceBindings, {ns, api::karmada::BindingName(kind, name)});
  if (!binding.ok() && binding.error().kind() != ErrorKind::kNotFound) co_return binding.error();
  if (!object.ok() || !binding.ok() || reading.profiles.Managing(*object) == nullptr) {
    left.push_back(StrCat(told, ": it has a Writer, and no template, no binding, or is not managed any more"));
    co_return Result<void>();
  }
  FleetWorkload workload{.object = Plain(federation::Pruned(*object)),
                         .binding = BindingLike(*binding),
                         .cluster = std::string(writer["spec"]["holder"]["cluster"].str())};
  Value holder = json::Object({{"name", workload.cluster}});
  const Value& replicas = (*binding)["spec"]["clusters"][0]["replicas"];
  if (!replicas.is_null()) holder.Set("replicas", replicas);
  workload.binding.Edit("spec").Set("clusters", json::Array({holder}));
  workload.object.Edit("metadata").Edit("annotations").Set(kRateAnnotation, kRecordRate);
  if (writer["spec"]["claim"].is_object()) {
    left.push_back(StrCat(told, ": migration ", writer["spec"]["claim"]["migration"].str(),
                          " is moving it; in the copy it is in ", workload.cluster, " and nothing moves it"));
  }
  if (!(*object)["metadata"]["annotations"][kStrategyAnnotation].is_null())
    left.push_back(StrCat(told, ": its older revisions; in the copy it runs the newest"));
  reading.fleet.workloads.push_back(std::move(workload));
  co_return Result<void>();
}

bool Meant(const Value& writer, const FleetQuestion& question) {
  if (!question.cluster.empty()) return writer["spec"]["holder"]["cluster"].str() == question.cluster;
  const Value& workload = writer["spec"]["workload"];
  return kube::NamespaceOf(writer) == question.ns && workload["kind"].str() == question.kind &&
         workload["name"].str() == question.name;
}

rt::Task<Result<void>> CopyClusters(kube::Api& hub, const FleetQuestion& question, Fleet& fleet) {
  const std::vector<Value> clusters = CO_TRY(co_await ListOrNone(hub, federation::kClusters));
  bool found = question.cluster.empty();
  for (const Value& cluster : clusters) {
    const bool meant = kube::NameOf(cluster) == question.cluster;
    found = found || meant;
    Value like = ClusterLike(cluster, fleet.left);
    if (meant) {
      // It is what the rehearsal does.
      Value taints = json::Array();
      for (const Value& taint : like["spec"]["taints"].items()) {
        if (taint["key"].str() != rollout::kDrainTaint) taints.Push(taint);
      }
      like.Edit("spec").Set("taints", taints);
    }
    fleet.clusters.push_back(std::move(like));
  }
  if (!found)
    co_return NotFoundError(StrCat("there is no cluster '", question.cluster, "': `baton get clusters` lists them"));
  if (fleet.clusters.size() > kFleetClustersMax) {
    co_return TooLargeError(
        StrCat("the hub has ", fleet.clusters.size(), " clusters, and a copy at most ", kFleetClustersMax));
  }
  co_return Result<void>();
}

rt::Task<Result<void>> CopyPolicies(kube::Api& hub, Fleet& fleet, rollout::ProfileSet& profiles) {
  for (const kube::Resource& resource :
       {federation::kPropagationPolicies, federation::kClusterPropagationPolicies, federation::kOverridePolicies,
        federation::kClusterOverridePolicies, federation::kClusterTaintPolicies, federation::kCustomizations,
        rollout::kProfiles}) {
    for (const Value& object : CO_TRY(co_await ListOrNone(hub, resource))) {
      // Those of moves that are under way are not a person's.
      if (kube::NameOf(object).starts_with(rollout::OverrideName(""))) continue;
      if (kube::IsDeleting(object)) continue;
      if (resource == rollout::kProfiles) {
        [[maybe_unused]] const Result<void> taken = profiles.Set(object);
      }
      fleet.objects.push_back(Plain(object));
    }
  }
  if (!CO_TRY(co_await ListOrNone(hub, federation::kInterpreterWebhooks)).empty())
    fleet.left.emplace_back("interpreter webhooks: the copy cannot call them");
  co_return Result<void>();
}

}  // namespace

const kube::Resource* PlayedKind(std::string_view api_version, std::string_view kind) {
  const auto same = [&](const kube::Resource& one) { return one.kind == kind && one.ApiVersion() == api_version; };
  if (same(practice::FlinkDeployments())) return &practice::FlinkDeployments();
  const auto at =
      std::ranges::find_if(practice::KindSpecs(), [&](const practice::KindSpec& spec) { return same(spec.resource); });
  return at == practice::KindSpecs().end() ? nullptr : &at->resource;
}

std::string FleetWorkload::Key() const { return kube::Name::Of(object).Key(); }
std::string FleetWorkload::Name() const {
  return StrCat(ToLower(kube::KindOf(object)), "/", kube::NameOf(object), " -n ", kube::NamespaceOf(object));
}

rt::Task<Result<Fleet>> CopyFleet(kube::Api& hub, FleetQuestion question) {
  Fleet fleet;
  CO_TRY(co_await CopyClusters(hub, question, fleet));
  rollout::ProfileSet profiles;
  CO_TRY(co_await CopyPolicies(hub, fleet, profiles));
  const std::vector<Value> writers = CO_TRY(co_await ListOrNone(hub, rollout::kWriters));
  size_t more = 0;
  for (const Value& writer : writers) {
    if (!Meant(writer, question)) continue;
    if (fleet.workloads.size() >= kFleetWorkloadsMax) {
      ++more;
      continue;
    }
    CO_TRY(co_await AddWorkload({hub, profiles, fleet}, writer));
  }
  if (more > 0)
    fleet.left.push_back(StrCat(more, " more workloads of that cluster: a copy has at most ", kFleetWorkloadsMax));
  fleet.left.emplace_back("what else runs in the clusters, and their capacity: practice clusters have room for all");
  fleet.left.emplace_back(
      "the workloads' own programs, data and dependencies (ConfigMaps, Secrets): practice jobs run");
  co_return fleet;
}

Value Fleet::Json() const {
  const auto list = [](const std::vector<Value>& values) {
    Value array = json::Array();
    for (const Value& value : values) array.Push(value);
    return array;
  };
  Value moved = json::Array();
  for (const FleetWorkload& workload : workloads) {
    moved.Push(
        json::Object({{"object", workload.object}, {"binding", workload.binding}, {"cluster", workload.cluster}}));
  }
  Value not_there = json::Array();
  for (const std::string& text : left) not_there.Push(text);
  return json::Object({{"batonFleetCopy", int64_t{1}},
                       {"clusters", list(clusters)},
                       {"objects", list(objects)},
                       {"workloads", moved},
                       {"left", not_there}});
}

Result<Fleet> Fleet::FromJson(const Value& value) {
  if (value["batonFleetCopy"].int_or(0) != 1)
    return InvalidError("this is no copy of a fleet: `baton simulate ... --from-hub --save FILE` writes one");
  Fleet fleet;
  for (const Value& cluster : value["clusters"].items()) {
    if (kube::NameOf(cluster).empty()) return InvalidError("a cluster in the copy has no name");
    fleet.clusters.push_back(cluster);
  }
  for (const Value& object : value["objects"].items()) fleet.objects.push_back(object);
  for (const Value& one : value["workloads"].items()) {
    FleetWorkload workload{
        .object = one["object"], .binding = one["binding"], .cluster = std::string(one["cluster"].str())};
    const Value& object = workload.object;
    if (PlayedKind(kube::ApiVersionOf(object), kube::KindOf(object)) == nullptr || kube::NameOf(object).empty() ||
        kube::NamespaceOf(object).empty()) {
      return InvalidError("a workload in the copy has no name or a kind that practice clusters do not play");
    }
    if (std::ranges::none_of(fleet.clusters, [&](const Value& c) { return kube::NameOf(c) == workload.cluster; }))
      return InvalidError(StrCat("workload ", workload.Key(), " is in a cluster that is not in the copy"));
    fleet.workloads.push_back(std::move(workload));
  }
  for (const Value& text : value["left"].items()) fleet.left.emplace_back(text.str());
  return fleet;
}

}  // namespace baton::sim
