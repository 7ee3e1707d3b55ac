#include "api/federation_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "api/crd_schema.h"
#include "api/federation_for_test.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Value;

constexpr size_t kDepthMax = 30;  // no type of ours contains itself

TEST(FederationTypesTest, AreTheKindsThatAHubServes) {
  std::vector<std::string> lines;
  for (const ResourceTypePtr& type : FederationTypes()) {
    lines.push_back(StrCat(type->ApiVersion(), " ", type->kind, " ", type->plural, "(", Join(type->short_names, ","),
                           ") ", type->namespaced ? "namespaced" : "cluster", type->has_status ? " status" : "",
                           type->scale ? " scale" : ""));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "apps.karmada.io/v1alpha1 WorkloadRebalancer workloadrebalancers() cluster status",
                       "cluster.karmada.io/v1alpha1 Cluster clusters() cluster status",
                       "config.karmada.io/v1alpha1 ResourceInterpreterCustomization "
                       "resourceinterpretercustomizations(ric) cluster",
                       "config.karmada.io/v1alpha1 ResourceInterpreterWebhookConfiguration "
                       "resourceinterpreterwebhookconfigurations() cluster",
                       "flink.apache.org/v1beta1 FlinkDeployment flinkdeployments(flinkdep) namespaced status scale",
                       "flink.apache.org/v1beta1 FlinkStateSnapshot flinkstatesnapshots(flinksnp) namespaced status",
                       "policy.karmada.io/v1alpha1 ClusterOverridePolicy clusteroverridepolicies(cop) cluster",
                       "policy.karmada.io/v1alpha1 ClusterPropagationPolicy clusterpropagationpolicies(cpp) cluster",
                       "policy.karmada.io/v1alpha1 ClusterTaintPolicy clustertaintpolicies() cluster",
                       "policy.karmada.io/v1alpha1 OverridePolicy overridepolicies(op) namespaced",
                       "policy.karmada.io/v1alpha1 PropagationPolicy propagationpolicies(pp) namespaced",
                       "rollout.karmada.io/v1alpha1 ClusterEvacuation clusterevacuations(evac) cluster status",
                       "rollout.karmada.io/v1alpha1 MigrationProfile migrationprofiles() cluster",
                       "rollout.karmada.io/v1alpha1 StatefulMigration statefulmigrations(smig) namespaced status",
                       "rollout.karmada.io/v1alpha1 Writer writers() namespaced",
                       "work.karmada.io/v1alpha1 Work works(wk) namespaced status",
                       "work.karmada.io/v1alpha2 ClusterResourceBinding clusterresourcebindings(crb) cluster status",
                       "work.karmada.io/v1alpha2 ResourceBinding resourcebindings(rb) namespaced status",
                   }));
}

TEST(FederationTypesTest, ShowTheColumnsOfAMigration) {
  std::vector<std::string> columns;
  for (const Column& column : FederationType("rollout.karmada.io", "StatefulMigration")->columns) {
    columns.push_back(StrCat(column.name, column.priority > 0 ? "+" : ""));
  }
  EXPECT_EQ(Join(columns, " "), "WORKLOAD SOURCE TARGET PHASE STEP WRITER DOWNTIME AGE MESSAGE+");
}

TEST(FederationTypesTest, HaveSchemasThatADefinitionMayHave) {
  for (const Value& crd : FederationCrds()) {
    const std::string name(crd["metadata"]["name"].str());
    const CrdSchemaResult read = ReadCrdSchema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], "schema");
    EXPECT_EQ(Lines(read.errors), std::vector<std::string>()) << name;
    EXPECT_EQ(read.not_structural, std::vector<std::string>()) << name;
    ASSERT_NE(read.schema, nullptr) << name;
    EXPECT_EQ(ToCrdSchema(*read.schema), crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]) << name;
  }
}

void ExpectWords(const Schema& schema, const std::string& path, size_t depth) {
  ASSERT_LT(depth, kDepthMax) << path;
  for (const auto& [key, property] : schema.properties) {
    const std::string at = StrCat(path, ".", key);
    if (depth == 0 && key == "metadata") continue;  // a definition may not say anything about it
    EXPECT_TRUE(property->description.ends_with('.')) << at << " has no sentence: '" << property->description << "'";
    ExpectWords(*property, at, depth + 1);
  }
  if (schema.items != nullptr) ExpectWords(*schema.items, path, depth + 1);
  if (schema.additional_properties != nullptr) ExpectWords(*schema.additional_properties, path, depth + 1);
}

TEST(FederationTypesTest, ExplainEveryField) {
  for (const ResourceTypePtr& type : FederationTypes()) {
    EXPECT_TRUE(type->schema->description.ends_with('.')) << type->kind;
    ExpectWords(*type->schema, type->kind, 0);
  }
}

// ---- against Karmada's own definitions (tests/golden/gen_karmada_crds.py) ----

Value Shape(const Value& schema, size_t depth = 0) {
  if (depth > kDepthMax || !schema.is_object()) return schema;
  Value made = schema;
  made.Erase("description");
  for (std::string_view key : {"items", "additionalProperties"}) {
    if (made[key].is_object()) made.Set(key, Shape(made[key], depth + 1));
  }
  if (made.Has("properties")) {
    Value properties = json::Object();
    for (const json::Member& member : made["properties"].members()) {
      properties.Set(member.key(), Shape(member.value(), depth + 1));
    }
    made.Set("properties", properties);
  }
  if (made.Has("required")) {
    std::vector<std::string> keys;
    for (const Value& key : made["required"].items()) keys.emplace_back(key.str());
    std::ranges::sort(keys);
    Value sorted = json::Array();
    for (const std::string& key : keys) sorted.Push(key);
    made.Set("required", sorted);
  }
  return made;
}

// Where we differ on purpose: purge modes keep their old names.
void DropOldPurgeModes(Value& schema) {
  if (!schema.is_object()) return;
  for (const json::Member& member : Value(schema["properties"]).members()) {
    Value property = member.value();
    if (member.key() == "purgeMode") {
      Value modes = json::Array();
      for (const Value& mode : property["enum"].items()) {
        if (mode.str() != "Immediately" && mode.str() != "Graciously") modes.Push(mode);
      }
      property.Set("enum", modes);
    }
    DropOldPurgeModes(property);
    schema.Edit("properties").Set(member.key(), property);
  }
  if (schema["items"].is_object()) {
    Value items = schema["items"];
    DropOldPurgeModes(items);
    schema.Set("items", items);
  }
}

TEST(FederationTypesTest, HaveTheShapeOfKarmadasDefinitions) {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/karmada_crds.json");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::map<std::string, Value> theirs;
  for (const Value& row : FromJson(text).items()) theirs.emplace(row["name"].str(), row);
  ASSERT_GE(theirs.size(), 10U);
  size_t compared = 0;
  for (const Value& crd : FederationCrds()) {
    const auto found = theirs.find(std::string(crd["metadata"]["name"].str()));
    if (found == theirs.end()) continue;  // Cluster is no definition there; Flink's and ours are not Karmada's
    ++compared;
    const Value& version = crd["spec"]["versions"][0];
    Value names = crd["spec"]["names"];
    if (!found->second["names"].Has("categories")) names.Erase("categories");  // theirs has none by oversight
    Value schema = Shape(version["schema"]["openAPIV3Schema"]);
    DropOldPurgeModes(schema);
    EXPECT_EQ(names, found->second["names"]);
    EXPECT_EQ(crd["spec"]["scope"], found->second["scope"]);
    EXPECT_EQ(version["name"], found->second["version"]);
    EXPECT_EQ(version["subresources"].is_null() ? json::Object() : version["subresources"],
              found->second["subresources"]);
    EXPECT_EQ(version["additionalPrinterColumns"].is_null() ? json::Array() : version["additionalPrinterColumns"],
              found->second["columns"]);
    EXPECT_EQ(schema, found->second["schema"]) << found->first;
  }
  EXPECT_EQ(compared, 11U);
}

// ---- unknown fields ----

TEST(FederationTypesTest, KeepWhateverFlinkAdds) {
  const Value sent = FromYaml(R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: a}
new: 1
spec:
  new: 1
  job: {new: 1, args: [a]}
  jobManager: {new: 1, resource: {new: 1, cpu: 0.5}, podTemplate: {spec: {new: 1}}}
  taskManager: {new: 1, resource: {new: 1}}
  flinkConfiguration: {nested: {key: 1}}
status:
  new: 1
  jobStatus: {new: 1, savepointInfo: {new: 1}, checkpointInfo: {new: 1}}
  reconciliationStatus: {new: 1}
  taskManager: {new: 1}
  conditions: [{new: 1}]
)");
  Value kept = sent;
  const ResourceTypePtr type = TypeOf(sent);
  Prune(kept, *type->schema);
  ApplyDefaults(kept, *type->schema);
  EXPECT_EQ(kept, sent);
  EXPECT_EQ(Lines(Validate(kept, *type->schema)), std::vector<std::string>());
}

TEST(FederationTypesTest, PruneWhatTheSchemasDoNotKnow) {
  Value policy = FromYaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, typo: 1}]
  placement: {clusterAffinity: {clusterNames: [a], typo: 1}}
  typo: 1
)");
  std::vector<std::string> unknown;
  Prune(policy, *TypeOf(policy)->schema, &unknown);
  EXPECT_EQ(unknown, (std::vector<std::string>{"spec.placement.clusterAffinity.typo", "spec.resourceSelectors[0].typo",
                                               "spec.typo"}));
}

TEST(FederationTypesTest, KeepEmbeddedObjectsWhole) {
  const Value sent = FromYaml(R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: a}
spec: {workload: {manifests: [{apiVersion: x/v1, kind: Thing, metadata: {name: a}, any: [{b: null}]}]}}
status: {manifestStatuses: [{identifier: {kind: Thing, name: a, ordinal: 0, resource: "", version: v1}, status: {any: 1}}]}
)");
  Value kept = sent;
  Prune(kept, *TypeOf(sent)->schema);
  EXPECT_EQ(kept, sent);
  EXPECT_EQ(Lines(Validate(kept, *TypeOf(sent)->schema)), std::vector<std::string>());
}

}  // namespace
}  // namespace baton::api
