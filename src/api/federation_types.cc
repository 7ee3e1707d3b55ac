// The table of the federation's kinds: names, scopes, subresources and columns.
#include "api/federation_types.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>

#include "api/crd_manifest.h"
#include "api/federation_texts.h"
#include "api/type_text.h"
#include "base/invariant.h"
#include "base/strings.h"

namespace baton::api {
namespace {

constexpr unsigned kCluster = 1;  // not namespaced
constexpr unsigned kStatus = 2;   // a status subresource
constexpr unsigned kFlink = 4;    // not ours: no category; the scale subresource of a FlinkDeployment
constexpr unsigned kScale = 8;

constexpr std::string_view kCategory = "karmada-io";

struct ColumnText {
  std::string_view name;
  std::string_view json_path;
  std::string_view type = "string";
  int priority = 0;
};

struct Kind {
  std::string_view kind;
  std::string_view plural;
  std::string_view short_name;
  unsigned flags = 0;
  std::span<const ColumnText> columns = {};
};

struct GroupVersion {
  std::string_view group;
  std::string_view version;
  std::string_view package;  // of its types
  std::span<const Kind> kinds;
};

constexpr ColumnText kAge{"AGE", ".metadata.creationTimestamp", "date"};

constexpr auto kPolicyColumns = std::to_array<ColumnText>(
    {{"CONFLICT-RESOLUTION", ".spec.conflictResolution"}, {"PRIORITY", ".spec.priority"}, kAge});

constexpr auto kBindingColumns =
    std::to_array<ColumnText>({{"SCHEDULED", R"(.status.conditions[?(@.type=="Scheduled")].status)"},
                               {"FULLYAPPLIED", R"(.status.conditions[?(@.type=="FullyApplied")].status)"},
                               kAge});

constexpr auto kWorkColumns =
    std::to_array<ColumnText>({{"WORKLOAD-KIND", ".spec.workload.manifests[*].kind"},
                               {"APPLIED", R"(.status.conditions[?(@.type=="Applied")].status)"},
                               kAge});

constexpr auto kClusterColumns =
    std::to_array<ColumnText>({{"Version", ".status.kubernetesVersion"},
                               {"Mode", ".spec.syncMode"},
                               {"Ready", R"(.status.conditions[?(@.type=="Ready")].status)"},
                               {"Age", ".metadata.creationTimestamp", "date"},
                               {"Zones", ".spec.zones", "string", 1},
                               {"Region", ".spec.region", "string", 1},
                               {"Provider", ".spec.provider", "string", 1},
                               {"API-Endpoint", ".spec.apiEndpoint", "string", 1},
                               {"Proxy-URL", ".spec.proxyURL", "string", 1}});

constexpr auto kCustomizationColumns = std::to_array<ColumnText>(
    {{"TARGET-API-VERSION", ".spec.target.apiVersion"}, {"TARGET-KIND", ".spec.target.kind"}, kAge});

constexpr auto kFlinkColumns = std::to_array<ColumnText>(
    {{"Job Status", ".status.jobStatus.state"}, {"Lifecycle State", ".status.lifecycleState"}});

constexpr auto kSnapshotColumns = std::to_array<ColumnText>(
    {{"Path", ".status.path"}, {"Result Timestamp", ".status.resultTimestamp"}, {"Snapshot State", ".status.state"}});

constexpr auto kWriterColumns = std::to_array<ColumnText>({{"WORKLOAD", ".spec.workload.name"},
                                                           {"HOLDER", ".spec.holder.cluster"},
                                                           {"SEQ", ".spec.seq", "integer"},
                                                           {"CLAIM", ".spec.claim.migration"},
                                                           kAge});

constexpr auto kMigrationColumns = std::to_array<ColumnText>({{"WORKLOAD", ".spec.workload.name"},
                                                              {"SOURCE", ".status.source"},
                                                              {"TARGET", ".status.target"},
                                                              {"PHASE", ".status.phase"},
                                                              {"STEP", ".status.step"},
                                                              {"WRITER", ".status.writer"},
                                                              {"DOWNTIME", ".status.downtime"},
                                                              kAge,
                                                              {"MESSAGE", ".status.message", "string", 1}});

constexpr auto kEvacuationColumns = std::to_array<ColumnText>({{"CLUSTER", ".spec.cluster"},
                                                               {"PHASE", ".status.phase"},
                                                               {"DONE", ".status.done", "integer"},
                                                               {"TOTAL", ".status.total", "integer"},
                                                               {"MOVING", ".status.moving", "integer"},
                                                               kAge,
                                                               {"MESSAGE", ".status.message", "string", 1}});

constexpr auto kPolicy = std::to_array<Kind>({
    {"PropagationPolicy", "propagationpolicies", "pp", 0, kPolicyColumns},
    {"ClusterPropagationPolicy", "clusterpropagationpolicies", "cpp", kCluster, kPolicyColumns},
    {"OverridePolicy", "overridepolicies", "op"},
    {"ClusterOverridePolicy", "clusteroverridepolicies", "cop", kCluster},
    {"ClusterTaintPolicy", "clustertaintpolicies", "", kCluster},
});
constexpr auto kBindings = std::to_array<Kind>({
    {"ResourceBinding", "resourcebindings", "rb", kStatus, kBindingColumns},
    {"ClusterResourceBinding", "clusterresourcebindings", "crb", kCluster | kStatus, kBindingColumns},
});
constexpr auto kWork = std::to_array<Kind>({{"Work", "works", "wk", kStatus, kWorkColumns}});
constexpr auto kClusters = std::to_array<Kind>({{"Cluster", "clusters", "", kCluster | kStatus, kClusterColumns}});
constexpr auto kConfig = std::to_array<Kind>({
    {"ResourceInterpreterCustomization", "resourceinterpretercustomizations", "ric", kCluster, kCustomizationColumns},
    {"ResourceInterpreterWebhookConfiguration", "resourceinterpreterwebhookconfigurations", "", kCluster},
});
constexpr auto kApps = std::to_array<Kind>({{"WorkloadRebalancer", "workloadrebalancers", "", kCluster | kStatus}});
constexpr auto kFlinkKinds = std::to_array<Kind>({
    {"FlinkDeployment", "flinkdeployments", "flinkdep", kFlink | kStatus | kScale, kFlinkColumns},
    {"FlinkStateSnapshot", "flinkstatesnapshots", "flinksnp", kFlink | kStatus, kSnapshotColumns},
});
constexpr auto kRollout = std::to_array<Kind>({
    {"Writer", "writers", "", 0, kWriterColumns},  // no status subresource: everything is in spec
    {"StatefulMigration", "statefulmigrations", "smig", kStatus, kMigrationColumns},
    {"MigrationProfile", "migrationprofiles", "", kCluster},
    {"ClusterEvacuation", "clusterevacuations", "evac", kCluster | kStatus, kEvacuationColumns},
});

constexpr auto kGroups = std::to_array<GroupVersion>({
    {"apps.karmada.io", "v1alpha1", "io.karmada.apps.v1alpha1", kApps},
    {"cluster.karmada.io", "v1alpha1", "io.karmada.cluster.v1alpha1", kClusters},
    {"config.karmada.io", "v1alpha1", "io.karmada.config.v1alpha1", kConfig},
    {"flink.apache.org", "v1beta1", "org.apache.flink.v1beta1", kFlinkKinds},
    {"policy.karmada.io", "v1alpha1", "io.karmada.policy.v1alpha1", kPolicy},
    {"rollout.karmada.io", "v1alpha1", "io.karmada.rollout.v1alpha1", kRollout},
    {"work.karmada.io", "v1alpha1", "io.karmada.work.v1alpha1", kWork},
    {"work.karmada.io", "v1alpha2", "io.karmada.work.v1alpha2", kBindings},
});

// Text of ours that does not parse is a broken build, so it may end the process.
const TypeTable& Table() {
  static const TypeTable* const table = [] {
    Result<TypeTable> parsed = TypeTable::Parse(FederationTexts());
    INVARIANT(parsed.ok(), parsed.error().ToString());
    return new TypeTable(*std::move(parsed));
  }();
  return *table;
}

ResourceTypePtr MakeType(const GroupVersion& group, const Kind& kind) {
  auto type = std::make_shared<ResourceType>();
  type->group = group.group;
  type->version = group.version;
  type->kind = kind.kind;
  type->list_kind = StrCat(kind.kind, "List");
  type->plural = kind.plural;
  type->singular = ToLower(kind.kind);
  if (!kind.short_name.empty()) type->short_names.emplace_back(kind.short_name);
  if ((kind.flags & kFlink) == 0) type->categories.emplace_back(kCategory);
  type->namespaced = (kind.flags & kCluster) == 0;
  type->custom = true;
  type->has_status = (kind.flags & kStatus) != 0;
  if ((kind.flags & kScale) != 0) {
    type->scale = {".spec.taskManager.replicas", ".status.taskManager.replicas", ".status.taskManager.labelSelector"};
  }
  for (const ColumnText& column : kind.columns) {
    type->columns.push_back({.name = std::string(column.name),
                             .type = std::string(column.type),
                             .format = {},
                             .description = {},
                             .priority = column.priority,
                             .json_path = std::string(column.json_path)});
  }
  type->schema = Table().Find(StrCat(group.package, ".", kind.kind));
  INVARIANT(type->schema != nullptr, StrCat("no schema for ", type->GroupResource()));
  return type;
}

}  // namespace

std::span<const ResourceTypePtr> FederationTypes() {
  static const std::vector<ResourceTypePtr>* const types = [] {
    auto* made = new std::vector<ResourceTypePtr>();
    for (const GroupVersion& group : kGroups) {
      for (const Kind& kind : group.kinds) made->push_back(MakeType(group, kind));
    }
    const auto key = [](const ResourceTypePtr& type) { return std::tie(type->group, type->version, type->plural); };
    std::ranges::sort(*made, {}, key);
    return made;
  }();
  return *types;
}

ResourceTypePtr FederationType(std::string_view group, std::string_view kind) {
  for (const ResourceTypePtr& type : FederationTypes()) {
    if (type->group == group && type->kind == kind) return type;
  }
  return nullptr;
}

std::vector<json::Value> FederationCrds() {
  std::vector<json::Value> manifests;
  for (const ResourceTypePtr& type : FederationTypes()) manifests.push_back(CrdManifest(std::span(&type, 1)));
  return manifests;
}

}  // namespace baton::api
