#include "api/conversion.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/builtin_types.h"
#include "api/federation_for_test.h"
#include "api/types/apiextensions_v1.h"
#include "api/types/cluster_v1alpha1.h"
#include "api/types/coordination_v1.h"
#include "api/types/policy_v1alpha1.h"
#include "api/types/rollout_v1alpha1.h"
#include "api/types/work_v1alpha1.h"
#include "api/types/work_v1alpha2.h"

namespace baton::api {
namespace {

using json::Value;
using work_v1alpha2::ResourceBinding;

constexpr std::string_view kBinding = R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web, namespace: blue, labels: {app: web}, generation: 3, newerField: 7}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: blue, fromTheFuture: [1, 2]}
  replicas: 5
  propagateDeps: false
  conflictResolution: Overwrite
  clusters:
  - {name: a, replicas: 2, weight: 1.5}
  - {name: b}
  gracefulEvictionTasks: []
  placement: null
  replicaRequirements: {resourceRequest: {cpu: 500m, memory: 2}}
  unheardOf: {deep: [{x: null}]}
status:
  aggregatedStatus: [{clusterName: a, status: {readyReplicas: 2}}]
)";

template <class T>
T Read(const Value& value) {
  Result<T> read = FromJson<T>(value);
  EXPECT_TRUE(read.ok()) << read.error().ToString();
  return read.ok() ? *read : T();
}

TEST(ConversionTest, FieldsAreWhereTheDescriptionSaysAndOfItsTypes) {
  const auto binding = Read<ResourceBinding>(FromYaml(kBinding));
  EXPECT_EQ(binding.metadata.name, "web");
  EXPECT_EQ(binding.metadata.labels.at("app"), "web");
  EXPECT_EQ(binding.metadata.generation, 3);
  EXPECT_EQ(binding.spec.resource.name, "web");
  EXPECT_EQ(binding.spec.replicas, 5);
  EXPECT_EQ(binding.spec.propagate_deps, false);
  EXPECT_EQ(binding.spec.preserve_resources_on_deletion, std::nullopt);
  EXPECT_EQ(binding.spec.conflict_resolution, work_v1alpha2::ResourceBindingSpec::kConflictResolutionOverwrite);
  ASSERT_EQ(binding.spec.clusters.size(), 2U);
  EXPECT_EQ(binding.spec.clusters[0].replicas, 2);
  EXPECT_EQ(binding.spec.clusters[1].replicas, std::nullopt);
  EXPECT_FALSE(binding.spec.placement.has_value());
  EXPECT_EQ(binding.spec.replica_requirements->resource_request.at("memory"), Value(2));
  EXPECT_EQ(binding.status->aggregated_status[0].status, FromJson(R"({"readyReplicas":2})"));
  static_assert(std::is_same_v<decltype(binding.spec.replicas), std::optional<int32_t>>);
  static_assert(std::is_same_v<decltype(binding.metadata.generation), std::optional<int64_t>>);
}

TEST(ConversionTest, WhatWasNotChangedIsGivenBackAsItWas) {
  const Value object = FromYaml(kBinding);
  EXPECT_TRUE(ToJson(Read<ResourceBinding>(object)).SharesStorageWith(object));
}

TEST(ConversionTest, AChangeChangesThatFieldAloneAndKeepsWhatNobodyDescribed) {
  const Value object = FromYaml(kBinding);
  auto binding = Read<ResourceBinding>(object);
  binding.spec.replicas = 6;
  binding.spec.propagate_deps.reset();
  binding.spec.clusters[0].replicas = 3;
  binding.spec.clusters.push_back({.components = {}, .name = "c", .replicas = 1, .raw = {}});
  binding.metadata.labels["tier"] = "1";
  Value expected = object;
  expected.Edit("spec").Set("replicas", 6);
  expected.Edit("spec").Erase("propagateDeps");
  expected.Edit("spec").Edit("clusters").Edit(0).Set("replicas", 3);
  expected.Edit("spec").Edit("clusters").Push(json::Object({{"name", "c"}, {"replicas", 1}}));
  expected.Edit("metadata").Edit("labels").Set("tier", "1");
  EXPECT_EQ(ToJson(binding), expected);
  EXPECT_EQ(object, FromYaml(kBinding));
}

TEST(ConversionTest, ItemsThatMoveTakeTheirUnknownFieldsWithThem) {
  auto binding = Read<ResourceBinding>(FromYaml(kBinding));
  std::swap(binding.spec.clusters[0], binding.spec.clusters[1]);
  EXPECT_EQ(ToJson(binding)["spec"]["clusters"], FromJson(R"([{"name":"b"},{"name":"a","replicas":2,"weight":1.5}])"));
}

TEST(ConversionTest, WhatIsEmptiedGoesAndWhatWasEmptyStays) {
  auto binding = Read<ResourceBinding>(FromYaml(kBinding));
  binding.spec.clusters.clear();
  binding.status.reset();
  const Value written = ToJson(binding);
  EXPECT_FALSE(written["spec"].Has("clusters"));
  EXPECT_FALSE(written.Has("status"));
  EXPECT_EQ(written["spec"]["gracefulEvictionTasks"], json::Array());
  EXPECT_TRUE(written["spec"].Has("placement"));
}

TEST(ConversionTest, ANewObjectSaysItsKindAndWhatIsRequired) {
  rollout_v1alpha1::StatefulMigration migration;
  migration.metadata.name = "web-to-b";
  migration.metadata.namespace_ = "blue";
  migration.spec.workload = {.api_version = "apps/v1", .kind = "StatefulSet", .name = "web", .uid = {}, .raw = {}};
  migration.spec.target = "b";
  migration.spec.on_failure = rollout_v1alpha1::StatefulMigrationSpec::kOnFailureHold;
  const Value made = ToJson(migration);
  EXPECT_EQ(made, FromYaml(R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: StatefulMigration
metadata: {name: web-to-b, namespace: blue}
spec: {workload: {apiVersion: apps/v1, kind: StatefulSet, name: web}, target: b, onFailure: Hold}
)"));
  EXPECT_TRUE(Validate(made, *TypeOf(made)->schema).empty());
  EXPECT_EQ(ToJson(work_v1alpha1::Work()),
            FromJson(R"({"apiVersion":"work.karmada.io/v1alpha1","kind":"Work","spec":{}})"));
}

TEST(ConversionTest, KindsKnowTheirNames) {
  using rollout_v1alpha1::Writer;
  EXPECT_EQ(Writer::kGroup, "rollout.karmada.io");
  EXPECT_EQ(Writer::kPlural, "writers");
  EXPECT_TRUE(Writer::kNamespaced);
  EXPECT_FALSE(cluster_v1alpha1::Cluster::kNamespaced);
  EXPECT_EQ(policy_v1alpha1::PropagationPolicy::kPlural, "propagationpolicies");
  EXPECT_EQ(coordination_v1::Lease::kGroup, "coordination.k8s.io");
  static_assert(DescribedKind<Writer>);
  static_assert(Described<common::Condition> && !DescribedKind<common::Condition>);
}

TEST(ConversionTest, ErrorsNameTheKindAndTheField) {
  constexpr std::string_view kStart = "kind: ResourceBinding\nspec:\n  resource: {apiVersion: v1, kind: X, name: x}\n";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"  replicas: three", R"(spec.replicas: "three" is not an integer)"},
      {"  replicas: 1.5", "spec.replicas: 1.5 is not an integer"},
      {"  replicas: 3000000000", "spec.replicas: 3000000000 is not an integer of 32 bits"},
      {"  propagateDeps: yes please", R"(spec.propagateDeps: "yes please" is not true or false)"},
      {"  schedulerName: [a]", "spec.schedulerName: an array is not a string"},
      {"  clusters: {}", "spec.clusters: an object is not a list"},
      {"  clusters: [{name: a}, null]", "spec.clusters[1]: null is not an object"},
      {"  clusters: [{name: a}, {replicas: 1}]", "spec.clusters[1].name: is required"},
      {"  clusters: [{name: null}]", "spec.clusters[0].name: is required"},
      {"  suspension: 1", "spec.suspension: 1 is not an object"},
      {"  replicaRequirements: {nodeClaim: {nodeSelector: {zone: 1}}}",
       "spec.replicaRequirements.nodeClaim.nodeSelector[zone]: 1 is not a string"},
      {"metadata: 1", "metadata: 1 is not an object"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<ResourceBinding> read = FromJson<ResourceBinding>(FromYaml(StrCat(kStart, text)));
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(read.error().message(), StrCat("ResourceBinding: ", expected));
  }
  EXPECT_EQ(FromJson<ResourceBinding>(Value("x")).error().message(), R"(ResourceBinding: "x" is not an object)");
  EXPECT_EQ(FromJson<common::Condition>(json::Object()).error().message(), "lastTransitionTime: is required");
}

TEST(ConversionTest, AnotherKindIsRefused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"kind":"Work","apiVersion":"work.karmada.io/v1alpha2"})",
       R"(Work: the object is of kind "Work" of "work.karmada.io/v1alpha2", not of "Work" of "work.karmada.io/v1alpha1")"},
      {R"({"kind":1})", R"(Work: the object is of kind 1 of null, not of "Work" of "work.karmada.io/v1alpha1")"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(FromJson<work_v1alpha1::Work>(FromJson(text)).error().message(), expected);
}

TEST(ConversionTest, NumbersStayWhatTheyWere) {
  using apiextensions_v1::CustomResourceDefinition;
  const Value crd = FederationCrds().front();
  auto read = Read<CustomResourceDefinition>(crd);
  EXPECT_TRUE(read.spec.versions[0].schema->open_apiv3_schema.has_value());  // it contains itself: a json::Value
  EXPECT_EQ(ToJson(read), crd);
  EXPECT_EQ(WriteValue(1.0, Value(1)), Value(1));
  EXPECT_EQ(WriteValue(2.0, Value(1)), Value(2.0));
  EXPECT_TRUE(WriteValue(std::numeric_limits<double>::infinity(), Value()).is_null());
}

TEST(ConversionTest, NullIsAValueWhereAnythingMayStand) {
  using policy_v1alpha1::PlaintextOverrider;
  const Value with_null = FromJson(R"({"operator":"replace","path":"/a","value":null})");
  auto read = Read<PlaintextOverrider>(with_null);
  ASSERT_TRUE(read.value.has_value());
  EXPECT_EQ(ToJson(read), with_null);
  read.value.reset();
  EXPECT_FALSE(ToJson(read).Has("value"));
  read.value = Value();
  EXPECT_TRUE(ToJson(read).Has("value"));
}

// A value of that shape with everything in it: each field of the description is read and written under its own name.
Value Full(const Schema& schema, int depth) {
  switch (schema.type) {
    case SchemaType::kString:
      return schema.enum_values.empty() ? Value("some text") : schema.enum_values.back();
    case SchemaType::kInteger:
      return 7;
    case SchemaType::kNumber:
      return 7.5;
    case SchemaType::kBoolean:
      return true;
    case SchemaType::kArray: {
      Value items = json::Array();
      items.Push(Full(*schema.items, depth + 1));
      return items;
    }
    case SchemaType::kObject:
      break;
    case SchemaType::kAny:
    case SchemaType::kIntOrString:
      return "any";
  }
  Value made = json::Object({{"notDescribed", depth}});
  if (depth > 20) return made;
  if (schema.additional_properties != nullptr) {
    made = json::Object();
    made.Set("key", Full(*schema.additional_properties, depth + 1));
  }
  for (const auto& [name, field] : schema.properties) made.Set(name, Full(*field, depth + 1));
  return made;
}

template <DescribedKind T>
void ExpectWholeRoundTrip() {
  Value object = Full(*FederationType(T::kGroup, T::kKind)->schema, 0);
  object.Set("apiVersion", StrCat(T::kGroup, "/", T::kVersion));
  object.Set("kind", T::kKind);
  object.Set("metadata", Full(*ObjectMetaSchema(), 0));
  const Result<T> read = FromJson<T>(object);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(ToJson(*read), object);
  // Without what it was read from only the undescribed is gone.
  T bare = *read;
  bare.raw = Value();
  Value without = object;
  without.Erase("notDescribed");
  EXPECT_EQ(ToJson(bare), without);
}

TEST(ConversionTest, EveryFieldOfAKindGoesThereAndBack) {
  ExpectWholeRoundTrip<policy_v1alpha1::PropagationPolicy>();
  ExpectWholeRoundTrip<policy_v1alpha1::ClusterOverridePolicy>();
  ExpectWholeRoundTrip<work_v1alpha2::ResourceBinding>();
  ExpectWholeRoundTrip<work_v1alpha1::Work>();
  ExpectWholeRoundTrip<cluster_v1alpha1::Cluster>();
  ExpectWholeRoundTrip<rollout_v1alpha1::StatefulMigration>();
  ExpectWholeRoundTrip<rollout_v1alpha1::Writer>();
}

}  // namespace
}  // namespace baton::api
