// Levels, customizations, and what scripts may answer.
#include "interpret/interpreter.h"

#include <gtest/gtest.h>

#include "interpret/empty_tables.h"
#include "interpret/rows_for_test.h"

namespace baton::interpret {
namespace {

using enum Operation;
using json::Value;

Value Ric(std::string_view name, std::string_view api_version, std::string_view kind,
          std::initializer_list<std::pair<std::string_view, std::string_view>> blocks) {
  Value customizations = json::Object();
  for (const auto& [block, script] : blocks) customizations.Set(block, json::Object({{"luaScript", script}}));
  return json::Object({{"apiVersion", "config.karmada.io/v1alpha1"},
                       {"kind", "ResourceInterpreterCustomization"},
                       {"metadata", json::Object({{"name", name}})},
                       {"spec", json::Object({{"target", json::Object({{"apiVersion", api_version}, {"kind", kind}})},
                                              {"customizations", customizations}})}});
}

Value Thing(std::string_view flow = "{}") {
  Value object = Flow(flow);
  object.Set("apiVersion", "example.io/v1");
  object.Set("kind", "Thing");
  return object;
}

constexpr std::string_view kHealthy = "function InterpretHealth(o) return true end";

TEST(InterpreterTest, AsksEachLevelInTurn) {
  Interpreter interpreter;
  ASSERT_TRUE(interpreter
                  .SetWebhooks(Flow("{metadata: {name: c}, webhooks: [{name: h.example.com, rules: [{operations: "
                                    "[InterpretHealth], apiGroups: [flink.apache.org], apiVersions: ['*'], kinds: "
                                    "[FlinkDeployment]}]}]}"))
                  .ok());
  const KindName flink{"flink.apache.org/v1beta1", "FlinkDeployment"};
  EXPECT_EQ(interpreter.LevelOf({"apps/v1", "Deployment"}, kHealth), Level::kNative);
  EXPECT_EQ(interpreter.LevelOf({"apps/v1beta1", "Deployment"}, kHealth), Level::kNone);
  EXPECT_EQ(interpreter.LevelOf(flink, kReflect), Level::kThirdParty);
  EXPECT_EQ(interpreter.LevelOf(flink, kHealth), Level::kWebhook);
  EXPECT_FALSE(interpreter.Has(flink, kRetain));
  const Value object = json::Object({{"apiVersion", flink.api_version}, {"kind", flink.kind}});
  // It does not fall through to a level that would answer at once.
  EXPECT_NE(interpreter.InterpretHealth(object).error().message().find("webhook c/h.example.com"), std::string::npos);
  EXPECT_EQ(interpreter.WebhookFor(object, kHealth)->id, "c/h.example.com");
  EXPECT_EQ(interpreter.WebhookFor(object, kReflect), nullptr);

  ASSERT_TRUE(
      interpreter.SetCustomization(Ric("a", flink.api_version, flink.kind, {{"healthInterpretation", kHealthy}})).ok());
  EXPECT_EQ(interpreter.LevelOf(flink, kHealth), Level::kCustomization);
  EXPECT_EQ(interpreter.LevelOf(flink, kReflect), Level::kThirdParty);  // the other operations stay
  EXPECT_TRUE(interpreter.InterpretHealth(object).value());
  EXPECT_EQ(interpreter.WebhookFor(object, kHealth), nullptr);
  interpreter.RemoveCustomization("a");
  EXPECT_EQ(interpreter.LevelOf(flink, kHealth), Level::kWebhook);
  interpreter.RemoveWebhooks("c");
  EXPECT_EQ(interpreter.LevelOf(flink, kHealth), Level::kThirdParty);
}

TEST(InterpreterTest, AnswersAsKarmadaWhereNobodyHasAHook) {
  const Interpreter interpreter;
  const Value object = Thing("{spec: {replicas: 3}, status: {x: 1}}");
  EXPECT_EQ(interpreter.GetReplicas(object).value(), Replicas{});
  EXPECT_TRUE(interpreter.GetComponents(object)->empty());
  EXPECT_EQ(interpreter.ReviseReplica(object, 5).value(), object);
  EXPECT_EQ(interpreter.Retain(object, Thing()).value(), object);
  EXPECT_EQ(interpreter.ReflectStatus(object).value(), object["status"]);
  EXPECT_EQ(interpreter.AggregateStatus(object, json::Array()).value(), object);
  EXPECT_TRUE(interpreter.InterpretHealth(object).value());
  EXPECT_TRUE(interpreter.GetDependencies(object)->empty());
  EXPECT_FALSE(interpreter.InterpretHealth(json::Object()).ok());
  EXPECT_FALSE(interpreter.InterpretHealth(Value(1)).ok());
}

TEST(InterpreterTest, RunsEveryOperationInLua) {
  Interpreter interpreter({.now = TestNow});
  ASSERT_TRUE(
      interpreter
          .SetCustomization(
              Ric("thing", "example.io/v1", "Thing",
                  {{"replicaResource",
                    "local kube = require('kube') function GetReplicas(o) return o.spec.size, "
                    "kube.accuratePodRequirements(o.spec.pod) end"},
                   {"componentResource",
                    "function GetComponents(o) return {{name = 'a', replicas = 2, replicaRequirements = "
                    "{resourceRequest = {memory = 1073741824, cpu = 0.5}}}, {name = 'b'}} end"},
                   {"replicaRevision", "function ReviseReplica(o, n) o.spec.size = n return o end"},
                   {"retention", "function Retain(d, o) d.spec.path = o.spec.path return d end"},
                   {"statusReflection", "function ReflectStatus(o) return {phase = o.status.phase, extra = {}} end"},
                   {"statusAggregation",
                    "function AggregateStatus(d, items) d.status = {ready = 0} if items == nil then return d end "
                    "for i = 1, #items do d.status.ready = d.status.ready + items[i].status.ready "
                    "d.status[items[i].clusterName] = items[i].health end return d end"},
                   {"healthInterpretation",
                    "function InterpretHealth(o) return o.status ~= nil and o.status.phase == 'Ready' end"},
                   {"dependencyInterpretation",
                    "function GetDependencies(o) return {{apiVersion = 'v1', kind = 'Secret', namespace = 'x', name = "
                    "'s'}} end"}}))
          .ok());
  const char* kThing = "Thing";
  const char* kApi = "example.io/v1";
  const Row rows[] = {
      {kApi, kThing, kReplica, "{spec: {size: 3, pod: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}}", "",
       "{replicas: 3, requirements: {resourceRequest: {cpu: '1'}}}"},
      {kApi, kThing, kReplica, "{spec: {size: 3.7, pod: {spec: {}}}}", "", "{replicas: 3}"},
      {kApi, kThing, kReplica, "{spec: {pod: {}}}", "", "error: the replica count: expected a number, got nil"},
      {kApi, kThing, kReplica, "{spec: {size: 1e12, pod: {}}}", "", "error: outside the range of int32"},
      {kApi, kThing, kComponent, "{}", "",
       "[{name: a, replicas: 2, requirements: {resourceRequest: {cpu: 500m, memory: '1073741824'}}}, {name: b, "
       "replicas: 0}]"},
      {kApi, kThing, kRevise, "{spec: {size: 1, empty: {}, list: [], deep: [{gone: {}}, {kept: 1}]}}", "4",
       "{spec: {size: 4, empty: {}, list: [], deep: [{gone: {}}, {kept: 1}]}}"},
      {kApi, kThing, kRetain, "{spec: {a: 1, labels: {}}}", "{spec: {path: p, labels: {x: y2}}}",
       "{spec: {a: 1, labels: {}, path: p}}"},
      {kApi, kThing, kReflect, "{status: {phase: Ready}}", "", "{phase: Ready}"},
      {kApi, kThing, kReflect, "{spec: {}}", "",
       "error: statusReflection: line 1: attempt to index field 'status' (a nil value)"},
      {kApi, kThing, kAggregate, "{spec: {a: 1}}", "{m1: {ready: 1}, m2: {ready: 2}}",
       "{spec: {a: 1}, status: {ready: 3, m1: Healthy, m2: Healthy}}"},
      {kApi, kThing, kAggregate, "{spec: {a: 1}}", "{}", "{spec: {a: 1}, status: {ready: 0}}"},
      {kApi, kThing, kHealth, "{status: {phase: Ready}}", "", "true"},
      {kApi, kThing, kHealth, "{}", "", "false"},
      {kApi, kThing, kDependency, "{}", "", "[{apiVersion: v1, kind: Secret, namespace: x, name: s}]"},
  };
  CheckRows(interpreter, rows);
}

TEST(InterpreterTest, RefusesAnswersOfTheWrongType) {
  const struct {
    const char* block;
    const char* script;
    Operation operation;
    const char* error;
  } kCases[] = {
      {"healthInterpretation", "function InterpretHealth(o) return 'yes' end", kHealth,
       "expected a boolean, got string"},
      {"healthInterpretation", "function InterpretHealth(o) end", kHealth, "expected a boolean, got nil"},
      {"healthInterpretation", "function Other(o) return true end", kHealth, "not found function InterpretHealth"},
      {"healthInterpretation", "while true do end", kHealth, "endless loop"},
      {"retention", "function Retain(d, o) return nil end", kRetain, "expected a table, got nil"},
      {"retention", "function Retain(d, o) return {1, 2} end", kRetain, "expected an object, got a list"},
      {"replicaRevision", "function ReviseReplica(o) return 1 end", kRevise, "expected a table, got number"},
      {"statusReflection", "function ReflectStatus(o) return true end", kReflect, "expected a table, got boolean"},
      {"statusAggregation", "function AggregateStatus(d) end", kAggregate, "expected a table, got nil"},
      {"replicaResource", "function GetReplicas(o) return 1, 'x' end", kReplica, "expected a table or nil, got string"},
      {"replicaResource", "function GetReplicas(o) return 1, {resourceRequest = {cpu = 'x'}} end", kReplica,
       "resourceRequest.cpu"},
      {"componentResource", "function GetComponents(o) return {a = 1} end", kComponent,
       "expected a list, got an object"},
      {"componentResource", "function GetComponents(o) return {{name = 'a', replicas = 'x'}} end", kComponent,
       "replicas: expected a number"},
      {"dependencyInterpretation", "function GetDependencies(o) return nil end", kDependency,
       "expected a table, got nil"},
      {"dependencyInterpretation", "function GetDependencies(o) return {1} end", kDependency, "a list of objects"},
      {"dependencyInterpretation", "function GetDependencies(o) return {{kind = 'A', name = 'x'}} end", kDependency,
       "missing required apiVersion"},
      {"dependencyInterpretation", "function GetDependencies(o) return {{apiVersion = 'v1', name = 'x'}} end",
       kDependency, "missing required kind"},
      {"dependencyInterpretation", "function GetDependencies(o) return {{apiVersion = 'v1', kind = 'A'}} end",
       kDependency, "name and labelSelector all empty"},
      {"dependencyInterpretation",
       "function GetDependencies(o) return {{apiVersion = 'v1', kind = 'A', labelSelector = {matchLabels = {['/'] = "
       "'x'}}}} end",
       kDependency, "labelSelector"},
  };
  for (const auto& c : kCases) {
    Interpreter interpreter({.limits = {.steps = 1'000'000}});
    ASSERT_TRUE(interpreter.SetCustomization(Ric("a", "example.io/v1", "Thing", {{c.block, c.script}})).ok())
        << c.script;
    const std::string got = AnswerText(interpreter, {"example.io/v1", "Thing", c.operation, "{}", "{}"});
    EXPECT_TRUE(got.starts_with("error: ") && got.find(c.error) != std::string::npos) << c.script << ": " << got;
  }
}

TEST(InterpreterTest, JoinsDependenciesOfSeveralCustomizations) {
  Interpreter interpreter;
  const auto deps = [](std::string_view names) {
    return StrCat("function GetDependencies(o) local t = {} for _, n in ipairs({", names,
                  "}) do t[#t + 1] = {apiVersion = 'v1', kind = 'Secret', name = n} end return t end");
  };
  ASSERT_TRUE(
      interpreter.SetCustomization(Ric("b", "example.io/v1", "Thing", {{"dependencyInterpretation", deps("'c', 'a'")}}))
          .ok());
  const Value second = Ric("a", "example.io/v1", "Thing", {{"dependencyInterpretation", deps("'b', 'a'")}});
  EXPECT_TRUE(interpreter.CheckCustomization(second).ok());
  ASSERT_TRUE(interpreter.SetCustomization(second).ok());
  std::string names;
  for (const Value& reference : interpreter.GetDependencies(Thing()).value()) names += reference["name"].str();
  EXPECT_EQ(names, "abc");
}

TEST(InterpreterTest, TakesTheFirstByNameWhenTwoDefineTheSame) {
  Interpreter interpreter;
  ASSERT_TRUE(
      interpreter.SetCustomization(Ric("b", "example.io/v1", "Thing", {{"healthInterpretation", kHealthy}})).ok());
  const Value other =
      Ric("a", "example.io/v1", "Thing", {{"healthInterpretation", "function InterpretHealth(o) return false end"}});
  EXPECT_EQ(interpreter.CheckCustomization(other).error().message(),
            "spec.customizations.healthInterpretation: customization \"b\" already defines it for example.io/v1 Thing");
  ASSERT_TRUE(interpreter.SetCustomization(other).ok());
  EXPECT_FALSE(interpreter.InterpretHealth(Thing()).value());
  interpreter.RemoveCustomization("a");
  interpreter.RemoveCustomization("nobody");
  EXPECT_TRUE(interpreter.InterpretHealth(Thing()).value());
  // Replacing one's own is no conflict.
  EXPECT_TRUE(
      interpreter.CheckCustomization(Ric("b", "example.io/v1", "Thing", {{"healthInterpretation", kHealthy}})).ok());
}

TEST(InterpreterTest, RefusesBadCustomizationsWithTheirPlace) {
  const Interpreter interpreter;
  const struct {
    Value object;
    const char* error;
  } kCases[] = {
      {Ric("a", "v1", "Thing", {{"retention", "function Retain(d, o)\n  return d\n  end end"}}),
       "spec.customizations.retention.luaScript: line 3: '<eof>' expected near 'end'"},
      {Ric("a", "v1", "Thing", {{"healthInterpretation", "x ="}}),
       "spec.customizations.healthInterpretation.luaScript: line 1: unexpected symbol near '<eof>'"},
      {Ric("a", "", "Thing", {}), "spec.target.apiVersion: must be given"},
      {Ric("a", "v1", "", {}), "spec.target.kind: must be given"},
      {json::Object({{"kind", "ConfigMap"}, {"apiVersion", "v1"}}),
       "expected a ResourceInterpreterCustomization of config.karmada.io/v1alpha1, got kind \"ConfigMap\" of \"v1\""},
      {Flow("{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, spec: {target: "
            "{apiVersion: v1, kind: A}, customizations: {retention: {luaScript: 1}}}}"),
       "spec.customizations.retention.luaScript: expected a string, and it is int"},
  };
  for (const auto& c : kCases) EXPECT_EQ(interpreter.CheckCustomization(c.object).error().message(), c.error);
  EXPECT_TRUE(
      interpreter.CheckCustomization(Ric("a", "v1", "Thing", {{"retention", ""}})).ok());  // an empty one is none
}

TEST(EmptyTablesTest, LooksAtTheReferences) {
  const struct {
    const char* result;
    const char* reference;
    const char* expected;
  } kCases[] = {
      {"{a: []}", "{a: {}}", "{a: {}}"},
      {"{a: []}", "{a: []}", "{a: []}"},
      {"{a: [], b: 1}", "{b: 1}", "{b: 1}"},
      {"{a: {b: []}}", "{}", "{a: {}}"},                                               // what holds it stays
      {"{l: [{e: []}, {f: 1}]}", "{l: [{f: 1}, {e: {}}]}", "{l: [{e: {}}, {f: 1}]}"},  // indexes do not count
      {"{l: [[], 1]}", "{l: [2]}", "{l: [1]}"},
      {"{l: [[], 1]}", "{l: [{}]}", "{l: [{}, 1]}"},
      {"{a.b: []}", "{a: {b: {}}}", "{}"},  // a dot in a key is no path
      {"{a/b: []}", "{a/b: {}}", "{a/b: {}}"},
      {"[]", "{}", "{}"},
      {"{a: 0, b: '', c: false}", "{}", "{a: 0, b: '', c: false}"},
  };
  for (const auto& c : kCases) {
    const Value references[] = {Flow(c.reference)};
    EXPECT_EQ(WithEmptyTables(Flow(c.result), references, true), Flow(c.expected)) << c.result << " by " << c.reference;
  }
  EXPECT_EQ(WithEmptyTables(json::Array(), {}, false), json::Array());
}

}  // namespace
}  // namespace baton::interpret
