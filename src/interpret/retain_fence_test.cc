// The fence that a hub of others is given: its script, asked as that hub would ask it.
#include "interpret/retain_fence.h"

#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "interpret/interpreter.h"
#include "json/yaml.h"

namespace baton::interpret {
namespace {

using json::Value;

Value Yaml(std::string_view text) {
  const Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << value.error().ToString() << text;
  return value.ok() ? *value : Value();
}

std::shared_ptr<const Profile> Builtin(std::string_view name) {
  for (const Value& object : BuiltinProfiles()) {
    if (object["metadata"]["name"].str() == name) return Profile::Compile(object).value();
  }
  return nullptr;
}

TEST(RetainFenceTest, KindsWithAnOperatorOfTheirOwnHaveOneAndThoseOfKubernetesHaveNot) {
  std::map<std::string, bool> has;
  for (const Value& object : BuiltinProfiles()) {
    const std::shared_ptr<const Profile> profile = Profile::Compile(object).value();
    has[profile->name()] = RetainFence(*profile).has_value();
  }
  EXPECT_EQ(has, (std::map<std::string, bool>{{"cnpgcluster", false},  // a script knows, and it must be staged
                                              {"deployment", false},
                                              {"flinkdeployment", true},
                                              {"job", false},
                                              {"kafkaconnector", false},  // as cnpgcluster
                                              {"numaflowpipeline", true},
                                              {"rayjob", true},
                                              {"sparkapplication", true},
                                              {"statefulset", false}}));
}

// One with that epoch (-1: none), held or not.
Value FlinkJob(int epoch, bool held, std::string_view image) {
  Value object = Yaml("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: orders}}");
  object.Edit("spec").Set("image", image);
  object.Edit("spec").Edit("job").Set("state", held ? "suspended" : "running");
  if (epoch >= 0) object.Edit("spec").Edit("flinkConfiguration").Set("kubernetes.operator.baton.seq", StrCat(epoch));
  return object;
}

TEST(RetainFenceTest, AnOlderEpochIsKeptBackAndNoneFromWhatIsHeldOnly) {
  Interpreter interpreter;
  const Result<void> taken = interpreter.SetCustomization(*RetainFence(*Builtin("flinkdeployment")));
  ASSERT_TRUE(taken.ok()) << taken.error().ToString();
  struct Row {
    const char* name;
    int wanted;
    bool wanted_held;
    int there;
    bool there_held;
    bool kept;
  };
  constexpr Row kRows[] = {
      {"newer passes", 4, false, 3, true, false},
      {"equal passes", 3, false, 3, true, false},
      {"older is kept back from a held one", 2, false, 3, true, true},
      {"older is kept back from a running one", 2, true, 3, false, true},
      {"ten is newer than nine", 10, false, 9, true, false},
      {"nine is older than ten", 9, false, 10, true, true},
      {"a plain template does not start what was stopped", -1, false, 3, true, true},
      {"a plain template reaches what runs", -1, false, 3, false, false},
      {"a plain template may stop what runs", -1, true, 3, false, false},
      {"nothing of ours on either", -1, false, -1, true, false},
      {"the first epoch passes", 1, true, -1, false, false},
  };
  for (const Row& row : kRows) {
    const Value desired = FlinkJob(row.wanted, row.wanted_held, "flink:new");
    const Value observed = FlinkJob(row.there, row.there_held, "flink:old");
    const Result<Value> retained = interpreter.Retain(desired, observed);
    ASSERT_TRUE(retained.ok()) << row.name << ": " << retained.error().ToString();
    EXPECT_EQ((*retained)["spec"], (row.kept ? observed : desired)["spec"]) << row.name;
  }
}

TEST(RetainFenceTest, AnEpochInAnAnnotationIsKeptWithTheSpec) {
  Interpreter interpreter;
  ASSERT_TRUE(interpreter.SetCustomization(*RetainFence(*Builtin("rayjob"))).ok());
  const Value desired = Yaml("{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j}, spec: {suspend: false}}");
  Value observed = Yaml(
      "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: j, annotations: {rollout.karmada.io/seq: '7'}}, "
      "spec: {suspend: true}}");
  Value retained = interpreter.Retain(desired, observed).value();
  EXPECT_TRUE(retained["spec"]["suspend"].bool_or(false)) << retained;
  EXPECT_EQ(retained["metadata"]["annotations"]["rollout.karmada.io/seq"].str(), "7") << retained;
  observed.Edit("spec").Set("suspend", false);
  retained = interpreter.Retain(desired, observed).value();
  EXPECT_TRUE(retained["metadata"]["annotations"].is_null()) << "it runs: the template as it is";
}

}  // namespace
}  // namespace baton::interpret
