// What holds for the admission of every kind: errors as a Status, manifests of the seeds, and no trust in any shape.
#include "api/federation_admission.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "api/federation_for_test.h"
#include "json/merge_patch.h"

namespace baton::api {
namespace {

using json::Value;

// ---- manifests that people wrote ----

std::vector<Value> Seeds() {
  std::vector<Value> manifests;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_SOURCE_DIR "/tests/golden/seeds")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Result<std::vector<Value>> documents = json::ParseYamlStream(text);
    EXPECT_TRUE(documents.ok()) << entry.path();
    if (!documents.ok()) continue;
    for (Value& document : *documents) {
      const std::string_view api = document["apiVersion"].str();
      if (FederationType(api.substr(0, api.find('/')), document["kind"].str()) == nullptr) continue;
      document.Edit("metadata").Set("namespace", "default");
      manifests.push_back(std::move(document));
    }
  }
  return manifests;
}

TEST(FederationAdmissionTest, AcceptsTheManifestsOfTheSeeds) {
  const std::vector<Value> seeds = Seeds();
  EXPECT_GE(seeds.size(), 9U);
  for (const Value& seed : seeds) {
    Value pruned = seed;
    std::vector<std::string> unknown;
    Prune(pruned, *TypeOf(seed)->schema, &unknown);
    EXPECT_EQ(unknown, std::vector<std::string>()) << seed;
    const Outcome outcome = Admit(seed);
    EXPECT_EQ(outcome.errors, std::vector<std::string>()) << seed;
    EXPECT_EQ(outcome.object.ToString().find("Graciously"), std::string::npos);
    EXPECT_EQ(outcome.object.ToString().find("Immediately"), std::string::npos);
  }
}

// ---- errors ----

TEST(FederationAdmissionTest, TellsEveryErrorInOneStatus) {
  const Value policy = FromYaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: p}
spec: {taints: [{key: a, effect: NoExecute}, {key: a, effect: NoExecute}]}
)");
  const Result<void> checked = ValidateFederation(*TypeOf(policy), policy, {}, TestContext());
  ASSERT_FALSE(checked.ok());
  constexpr std::string_view kWhy =
      "Forbidden: a policy may set the effect NoExecute only where the administrator allows it";
  EXPECT_EQ(checked.error().message(),
            StrCat("ClusterTaintPolicy.policy.karmada.io \"p\" is invalid: [spec.taints[0]: ", kWhy,
                   ", spec.taints[1]: ", kWhy, ", spec.taints[1]: Duplicate value: \"a:NoExecute\"]"));
  ASSERT_NE(checked.error().status(), nullptr);
  const Status& status = *checked.error().status();
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.reason, "Invalid");
  EXPECT_EQ(status.group, "policy.karmada.io");
  EXPECT_EQ(status.kind, "ClusterTaintPolicy");
  EXPECT_EQ(status.name, "p");
  ASSERT_EQ(status.causes.size(), 3U);
  EXPECT_EQ(status.causes[2], (StatusCause{.reason = "FieldValueDuplicate",
                                           .message = "Duplicate value: \"a:NoExecute\"",
                                           .field = "spec.taints[1]"}));
}

TEST(FederationAdmissionTest, TellsAsManyErrorsAsAnyoneReads) {
  Value policy = FromYaml("{apiVersion: policy.karmada.io/v1alpha1, kind: ClusterTaintPolicy, metadata: {name: p}}");
  for (int i = 0; i < 1000; ++i) {
    policy.Edit("spec").Edit("taints").Push(json::Object({{"key", "a"}, {"effect", "NoExecute"}}));
  }
  EXPECT_EQ(FederationErrors(*TypeOf(policy), policy, {}, TestContext()).size(), kFieldErrorsMax);
}

TEST(FederationAdmissionTest, LeavesOtherKindsAlone) {
  const ResourceType pod{.group = "", .version = "v1", .kind = "Pod"};
  const Value object = FromYaml("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {zone: a}}");
  EXPECT_EQ(*MutateFederation(pod, object, {}, TestContext()), object);
  EXPECT_TRUE(ValidateFederation(pod, object, {}, TestContext()).ok());
  const Value rebalancer = FromYaml(
      "{apiVersion: apps.karmada.io/v1alpha1, kind: WorkloadRebalancer, metadata: {name: a}, spec: {workloads: "
      "[{apiVersion: apps/v1, kind: Deployment, name: a}]}}");
  EXPECT_EQ(Admit(rebalancer).object, rebalancer);
  EXPECT_EQ(Admit(rebalancer).errors, std::vector<std::string>());
}

TEST(FederationAdmissionTest, NeedsASourceOfIds) {
  const Value work = FromYaml("{apiVersion: work.karmada.io/v1alpha1, kind: Work, metadata: {name: a}}");
  EXPECT_EQ(MutateFederation(*TypeOf(work), work, {}, {}).error().kind(), ErrorKind::kInternal);
}

// ---- shapes that nobody expects ----

// An object with fields of the kind's own names, and nonsense in some of them.
class Nonsense {
 public:
  explicit Nonsense(uint32_t seed) : random_(seed) {}

  Value Make(const Schema* schema, size_t depth) {
    if (schema == nullptr || depth > 12 || Chance(12)) return Junk();
    switch (schema->type) {
      case SchemaType::kObject: {
        Value made = json::Object();
        for (const auto& [key, property] : schema->properties) {
          if (Chance(2)) made.Set(key, Make(property.get(), depth + 1));
        }
        if (schema->additional_properties != nullptr)
          made.Set("a", Make(schema->additional_properties.get(), depth + 1));
        if (Chance(4)) made.Set("unknownField", Junk());
        return made;
      }
      case SchemaType::kArray: {
        Value made = json::Array();
        for (size_t i = random_() % 3; i > 0; --i) made.Push(Make(schema->items.get(), depth + 1));
        return made;
      }
      case SchemaType::kString:
        if (!schema->enum_values.empty()) return schema->enum_values[random_() % schema->enum_values.size()];
        return Chance(2) ? Value("a") : Value("");
      case SchemaType::kInteger:
      case SchemaType::kNumber:
        return static_cast<int>(random_() % 5) - 1;
      case SchemaType::kBoolean:
        return Chance(2);
      default:
        return Junk();
    }
  }

 private:
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  Value Junk() {
    switch (random_() % 7) {
      case 0:
        return nullptr;
      case 1:
        return 7;
      case 2:
        return 1.5;
      case 3:
        return "text";
      case 4:
        return json::Array({nullptr, json::Array(), "x"});
      case 5:
        return json::Object({{"x", nullptr}});
      default:
        return true;
    }
  }

  std::mt19937 random_;
};

// Every field that was there and is no rule's is still there.
void ExpectUnknownKept(const Value& before, const Value& after, size_t depth) {
  ASSERT_LT(depth, 40U);
  if (before.is_object() && after.is_object()) {
    for (const json::Member& member : before.members()) {
      if (member.key() == "unknownField") {
        EXPECT_EQ(after["unknownField"], member.value());
      } else if (after.Has(member.key())) {
        ExpectUnknownKept(member.value(), after[member.key()], depth + 1);
      }
    }
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) ExpectUnknownKept(before[i], after[i], depth + 1);
  }
}

TEST(FederationAdmissionTest, TrustsNoShapeAndLosesNothing) {
  const FederationContext context = TestContext();
  for (const ResourceTypePtr& type : FederationTypes()) {
    for (uint32_t seed = 0; seed < 300; ++seed) {
      Nonsense nonsense(seed);
      const Value object = nonsense.Make(type->schema.get(), 0);
      const Value old = seed % 2 == 0 ? Value() : nonsense.Make(type->schema.get(), 0);
      const Value once = *MutateFederation(*type, object, old, context);
      EXPECT_EQ(*MutateFederation(*type, once, old, context), once) << type->kind << " " << object;
      if (type->kind != "Cluster") ExpectUnknownKept(object, once, 0);  // which sorts its models
      (void)FederationErrors(*type, once, old, context);
      (void)FederationErrors(*type, object, once, context);
    }
  }
}

}  // namespace
}  // namespace baton::api
