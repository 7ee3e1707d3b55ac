// Which webhook answers, what it is sent, and what its answer means.
#include "interpret/webhook.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/strings.h"
#include "interpret/question.h"
#include "json/yaml.h"

namespace baton::interpret {
namespace {

using json::Value;

Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

TEST(WebhookTest, TheFirstByNameWhoseRulesMatchAnswers) {
  Webhooks webhooks;
  ASSERT_TRUE(webhooks
                  .Set(Yaml(R"(
metadata: {name: b}
webhooks:
- {name: any.example.com, rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], kinds: ["*"]}]}
)"))
                  .ok());
  ASSERT_TRUE(webhooks
                  .Set(Yaml(R"(
metadata: {name: a}
webhooks:
- name: one.example.com
  timeoutSeconds: 3
  interpreterContextVersions: [v1alpha1]
  rules:
  - {operations: [InterpretHealth, Retain], apiGroups: [example.com], apiVersions: [v1], kinds: [Thing]}
  - {operations: [InterpretReplica], apiGroups: [""], apiVersions: [v1], kinds: [Pod]}
)"))
                  .ok());
  struct Row {
    std::string_view api_version;
    std::string_view kind;
    Operation operation;
    std::string_view id;
  };
  for (const Row& row : {Row{"example.com/v1", "Thing", Operation::kHealth, "a/one.example.com"},
                         Row{"example.com/v1", "Thing", Operation::kRetain, "a/one.example.com"},
                         Row{"example.com/v1", "Thing", Operation::kRevise, "b/any.example.com"},
                         Row{"example.com/v2", "Thing", Operation::kHealth, "b/any.example.com"},
                         Row{"v1", "Pod", Operation::kReplica, "a/one.example.com"},
                         Row{"v1", "Service", Operation::kReplica, "b/any.example.com"}}) {
    const auto hook = webhooks.Find({std::string(row.api_version), std::string(row.kind)}, row.operation);
    ASSERT_NE(hook, nullptr);
    EXPECT_EQ(hook->id, row.id) << row.api_version << " " << row.kind;
  }
  const auto one = webhooks.Find({"v1", "Pod"}, Operation::kReplica);
  EXPECT_EQ(one->timeout, seconds(3));
  EXPECT_TRUE(one->speaks);
  EXPECT_EQ(webhooks.Find({"v1", "Service"}, Operation::kReplica)->timeout, kWebhookTimeoutDefault);
  EXPECT_FALSE(webhooks.Find({"v1", "Service"}, Operation::kReplica)->speaks);
  webhooks.Remove("b");
  EXPECT_EQ(webhooks.Find({"v1", "Service"}, Operation::kReplica), nullptr);
  for (const std::string_view bad : {"{}", "{metadata: {name: x}}", "[]", "1"})
    EXPECT_FALSE(webhooks.Set(Yaml(bad)).ok());
}

TEST(WebhookTest, WhereItIs) {
  struct Row {
    std::string_view config;
    std::string_view url;
    std::string_view service;
  };
  for (const Row& row :
       {Row{"{url: 'https://a:8443/x', caBundle: Q0E=}", "https://a:8443/x?timeout=10s", ""},
        Row{"{url: 'https://a/x?y=1', caBundle: Q0E=}", "https://a/x?y=1&timeout=10s", ""},
        Row{"{service: {namespace: ns, name: s}, caBundle: Q0E=}", "https://s.ns.svc:443/?timeout=10s", "s"},
        Row{"{service: {namespace: ns, name: s, port: 8443, path: p/q}, caBundle: Q0E=}",
            "https://s.ns.svc:8443/p/q?timeout=10s", "s"}}) {
    const Result<WebhookPlace> place = PlaceOf({.id = "a/b", .client_config = Yaml(row.config)});
    ASSERT_TRUE(place.ok()) << row.config;
    EXPECT_EQ(place->url, row.url);
    EXPECT_EQ(place->service_name, row.service);
    EXPECT_EQ(place->ca_pem, "CA");
  }
  for (const std::string_view bad : {"{}", "{service: {name: s}}", "{service: {namespace: ns, name: s, port: 70000}}",
                                     "{url: x, caBundle: '***'}"}) {
    EXPECT_FALSE(PlaceOf({.id = "a/b", .client_config = Yaml(bad)}).ok()) << bad;
  }
}

TEST(WebhookTest, WhatItIsSent) {
  InterpretQuestion question{
      .operation = Operation::kRevise,
      .object = Yaml("{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: ns}}"),
      .replicas = 3};
  EXPECT_EQ(WebhookContext("u-1", question), Yaml(R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterContext
request:
  uid: u-1
  kind: {group: example.com, version: v1, kind: Thing}
  name: a
  namespace: ns
  operation: ReviseReplica
  object: {apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: ns}}
  replicas: 3
)"));
  question = {.operation = Operation::kRetain,
              .object = Yaml("{apiVersion: v1, kind: Pod, metadata: {name: a}}"),
              .observed = Yaml("{x: 1}"),
              .items = Yaml("[{clusterName: blue}]")};
  const Value request = WebhookContext("u-2", question)["request"];
  EXPECT_EQ(request["kind"], Yaml("{group: '', version: v1, kind: Pod}"));
  EXPECT_EQ(request["observedObject"], Yaml("{x: 1}"));
  EXPECT_EQ(request["aggregatedStatus"], Yaml("[{clusterName: blue}]"));
  EXPECT_FALSE(request.Has("namespace"));
}

TEST(WebhookTest, WhatItsAnswerMeans) {
  struct Row {
    Operation operation;
    std::string_view response;
    std::string_view answer;  // "": refused
    std::string_view says = "";
  };
  const std::string patch = Base64Encode(R"([{"op":"replace","path":"/spec","value":{"x":2}}])");
  const std::string text = Base64Encode(R"([{"op":"replace","path":"","value":"no"}])");
  const std::string good = StrCat("{patchType: JSONPatch, patch: ", patch, "}");
  const std::string untyped = StrCat("{patch: ", patch, "}");
  const std::string merge = StrCat("{patchType: Merge, patch: ", patch, "}");
  const std::string no_object = StrCat("{patchType: JSONPatch, patch: ", text, "}");
  using enum Operation;
  const std::vector<Row> rows = {
      {kReplica, "{replicas: 2}", "{replicas: 2}"},
      {kReplica, "{replicas: 2, replicaRequirements: {resourceRequest: {cpu: 500m}}}",
       "{replicas: 2, requirements: {resourceRequest: {cpu: 500m}}}"},
      {kReplica, "{}", "", "no replicas"},
      {kReplica, "{replicas: -1}", "", "not a number of replicas"},
      {kReplica, "{replicas: 4294967296}", "", "not a number of replicas"},
      {kComponent, "{components: [{name: jm, replicas: 1}]}", "[{name: jm, replicas: 1}]"},
      {kComponent, "{}", "[]"},
      {kComponent, "{components: [{replicas: 1}]}", "", "no name"},
      {kRevise, good, "{spec: {x: 2}}"},
      {kRetain, good, "{spec: {x: 2}}"},
      {kAggregate, good, "{spec: {x: 2}}"},
      {kRevise, "{}", "{spec: {x: 1}}"},
      {kRevise, untyped, "", "without patchType"},
      {kRevise, merge, "", "not JSONPatch"},
      {kRevise, no_object, "", "no object"},
      {kRevise, "{patchType: JSONPatch}", "", "without a patch"},
      {kRevise, "{patchType: JSONPatch, patch: '%%'}", "", "patch"},
      {kReflect, "{rawStatus: {a: 1}}", "{a: 1}"},
      {kReflect, "{}", "", "no rawStatus"},
      {kHealth, "{healthy: false}", "false"},
      {kHealth, "{}", "", "no healthy"},
      {kDependency, "{dependencies: [{apiVersion: v1, kind: Secret, namespace: ns, name: b}]}",
       "[{apiVersion: v1, kind: Secret, namespace: ns, name: b}]"},
      {kDependency, "{}", "[]"},
      {kDependency, "{dependencies: [{kind: Secret}]}", "", "dependencies[0]"},
  };
  for (const Row& row : rows) {
    Value response = Yaml(row.response);
    response.Set("uid", "u");
    response.Set("successful", true);
    const InterpretQuestion question{.operation = row.operation, .object = Yaml("{spec: {x: 1}}")};
    const Result<Value> answer = ReadWebhookAnswer("u", question, json::Object({{"response", response}}).ToString());
    if (row.answer.empty()) {
      ASSERT_FALSE(answer.ok()) << row.response;
      EXPECT_NE(answer.error().message().find(row.says), std::string::npos) << answer.error().message();
    } else {
      ASSERT_TRUE(answer.ok()) << row.response << answer.error().message();
      EXPECT_EQ(*answer, Yaml(row.answer)) << row.response;
    }
  }
}

TEST(WebhookTest, WhatIsNoAnswer) {
  const InterpretQuestion question{.operation = Operation::kHealth, .object = Yaml("{}")};
  struct Row {
    std::string_view body;
    std::string_view says;
  };
  for (const Row& row :
       {Row{"", "its answer"}, Row{"<html>", "its answer"}, Row{"{}", "no response"}, Row{"[]", "no response"},
        Row{R"({"response":{"uid":"v","successful":true,"healthy":true}})", "is for uid \"v\""},
        Row{R"({"response":{"uid":"u","successful":false}})", "no status"},
        Row{R"({"response":{"uid":"u","successful":false,"status":{"code":500,"message":"why"}}})", "code 500, why"}}) {
    const Result<Value> answer = ReadWebhookAnswer("u", question, row.body);
    ASSERT_FALSE(answer.ok()) << row.body;
    EXPECT_NE(answer.error().message().find(row.says), std::string::npos) << answer.error().message();
  }
}

}  // namespace
}  // namespace baton::interpret
