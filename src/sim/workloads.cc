// The manifests, and the look at the processes.
#include "sim/workloads.h"

#include <algorithm>

#include "base/strings.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "practice/kind_spec.h"
#include "rollout/records.h"
#include "sim/scene.h"

namespace baton::sim {
namespace {

constexpr std::string_view kFlink = "FlinkDeployment";

struct KindOfWorkload {
  std::string_view kind;
  std::string_view spec;
  bool exactly_once = false;
};

#define BATON_PRACTICE_PODS                                           \
  "selector: {matchLabels: {app: w}}, template: {metadata: {labels: " \
  "{app: w}}, spec: {containers: [{name: c, image: 'img:1'}]}}"

constexpr KindOfWorkload kKinds[] = {
    {"Deployment", "{replicas: 2, " BATON_PRACTICE_PODS "}"},
    {"StatefulSet",
     "{replicas: 2, serviceName: w, " BATON_PRACTICE_PODS
     ", volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: "
     "{storage: 1Gi}}}}]}",
     true},
    {"Job", "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'b:1'}]}}}"},
    {"KafkaConnector", "{class: x, tasksMax: 1}"},
    {"SparkApplication", "{image: 'spark:4', type: Java}"},
    {"RayJob", "{entrypoint: python a.py, shutdownAfterJobFinishes: true}"},
    {"Pipeline", "{vertices: []}"},
    {"Cluster", "{instances: 2, bootstrap: {initdb: {}}, externalClusters: [{name: blue}, {name: green}, {name: red}]}",
     true},
};

const KindOfWorkload* FindKind(std::string_view kind) {
  const auto* found = std::ranges::find(kKinds, kind, &KindOfWorkload::kind);
  return found == std::end(kKinds) ? nullptr : found;
}

const practice::KindSpec* SpecOf(std::string_view kind) {
  for (const practice::KindSpec& spec : practice::KindSpecs()) {
    if (spec.resource.kind == kind) return &spec;
  }
  return nullptr;
}

}  // namespace

Result<Workload> Workload::Of(std::string_view kind, std::string_view key) {
  kube::Name name = kube::Name::FromKey(key);
  if (name.ns.empty()) name.ns = "default";
  if (name.name.empty()) return InvalidError("a workload has a kind and a name: {kind: FlinkDeployment, name: orders}");
  if (kind == kFlink) return Workload{.resource = practice::FlinkDeployments(), .name = name};
  const practice::KindSpec* spec = SpecOf(kind);
  if (spec == nullptr || FindKind(kind) == nullptr) {
    std::string known(kFlink);
    for (const KindOfWorkload& one : kKinds) StrAppend(known, ", ", one.kind);
    return InvalidError(
        StrCat("practice clusters have no operator for ", kind.empty() ? "it" : kind, ": there are ", known));
  }
  return Workload{.resource = spec->resource, .name = name};
}

std::vector<std::string> Workload::Kinds() {
  std::vector<std::string> kinds = {std::string(kFlink)};
  for (const KindOfWorkload& one : kKinds) kinds.emplace_back(one.kind);
  return kinds;
}

bool Workload::IsPlayed(const kube::Resource& resource) {
  if (resource.kind == kFlink) return true;
  const practice::KindSpec* spec = SpecOf(resource.kind);
  return spec != nullptr && spec->resource.group == resource.group;
}

std::string Workload::Text() const { return StrCat(resource.kind, "/", name.ns == "default" ? name.name : Key()); }
std::string Workload::BindingName() const { return rollout::WriterName(resource.kind, name.name); }
std::string Workload::JudgeName() const {
  return resource.kind == kFlink ? name.name : StrCat(name.name, ".", ToLower(resource.kind));
}
bool Workload::ExactlyOnce() const {
  const KindOfWorkload* kind = FindKind(resource.kind);
  return kind == nullptr || kind->exactly_once;
}

Value Workload::Manifest() const {
  Value object;
  if (resource.kind == kFlink) {
    object = Yaml(kJob);
  } else {
    object =
        Yaml(StrCat("{metadata: {annotations: {rollout.karmada.io/managed: 'true', practice.baton.io/rate: '50'}}, ",
                    "spec: ", FindKind(resource.kind)->spec, "}"));
    object.Set("apiVersion", resource.ApiVersion());
    object.Set("kind", resource.kind);
    // Two of a kind must not take each other's pods for their own.
    for (const std::string_view where : {"selector", "template"}) {
      Value& spec = object.Edit("spec");
      if (!spec["selector"].is_object()) break;
      Value& labels = where == "selector" ? spec.Edit("selector").Edit("matchLabels")
                                          : spec.Edit("template").Edit("metadata").Edit("labels");
      labels.Set("app", name.name);
    }
  }
  object.Edit("metadata").Set("name", name.name);
  object.Edit("metadata").Set("namespace", name.ns);
  return object;
}

Value Workload::Policy(const std::vector<std::string>& clusters) const {
  Value names = json::Array();
  for (const std::string& cluster : clusters) names.Push(cluster);
  Value policy = Yaml(
      "{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, spec: {placement: {spreadConstraints: "
      "[{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}}}");
  policy.Set("metadata", json::Object({{"name", BindingName()}, {"namespace", name.ns}}));
  Value& spec = policy.Edit("spec");
  spec.Edit("placement").Edit("clusterAffinity").Set("clusterNames", names);
  spec.Set("resourceSelectors",
           json::Array(
               {json::Object({{"apiVersion", resource.ApiVersion()}, {"kind", resource.kind}, {"name", name.name}})}));
  return policy;
}

const practice::Job* ProcessOf(practice::PracticeCluster& cluster, std::string_view kind, std::string_view key) {
  if (kind != kFlink) return cluster.Process(kind, key);
  const practice::JobManager* manager = cluster.job_managers().Find(key);
  return manager == nullptr ? nullptr : manager->job.get();
}

bool RunsIn(practice::PracticeCluster& cluster, std::string_view kind, std::string_view key) {
  const practice::Job* job = ProcessOf(cluster, kind, key);
  return job != nullptr && job->phase() == practice::JobPhase::kRunning;
}

bool RunsIn(World& world, const Workload& workload, const std::string& cluster) {
  return RunsIn(world.practice(cluster), workload.resource.kind, workload.Key());
}

std::vector<std::string> RunningIn(World& world, const Workload& workload) {
  std::vector<std::string> where;
  for (const std::string& cluster : world.members()) {
    if (RunsIn(world, workload, cluster)) where.push_back(cluster);
  }
  return where;
}

}  // namespace baton::sim
