// Interpreter customizations and webhooks, migrations and writers: every rule.
#include <gtest/gtest.h>

#include "api/federation_for_test.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kCustomization = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: mine}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    retention: {luaScript: "good"}
    dependencyInterpretation: {luaScript: "good"}
)";

TEST(CustomizationTest, MayNotDefineWhatAnotherDefines) {
  const std::vector<Value> others = {FromYaml(kCustomization),  // itself, as it is stored
                                     FromYaml(R"(
metadata: {name: other}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations: {replicaResource: {luaScript: "x"}, dependencyInterpretation: {luaScript: "x"}}
)"),
                                     FromYaml(R"(
metadata: {name: elsewhere}
spec:
  target: {apiVersion: apps/v1, kind: StatefulSet}
  customizations: {retention: {luaScript: "x"}}
)")};
  FederationContext context = TestContext();
  context.customizations = others;
  const RuleRow rows[] = {
      {"spec: {customizations: {statusReflection: {luaScript: a}}}",
       "spec: {customizations: {replicaResource: {luaScript: a}}}",
       "spec.customizations.replicaResource: Forbidden: ResourceInterpreterCustomization \"other\" has it for the same "
       "kind already"},
      {"spec: {target: {kind: ReplicaSet}}", "spec: {target: {kind: StatefulSet}}",
       "spec.customizations.retention: Forbidden: ResourceInterpreterCustomization \"elsewhere\" has it for the same "
       "kind "
       "already"},
  };
  CheckRules(kCustomization, rows, context);
}

TEST(CustomizationTest, MustHaveScriptsThatCanBeRead) {
  FederationContext context = TestContext();
  context.check_script = [](std::string_view script) -> Result<void> {
    if (script == "good") return {};
    return InvalidError("line 1: what is this");
  };
  const RuleRow rows[] = {
      {"spec: {customizations: {healthInterpretation: {luaScript: good}}}",
       "spec: {customizations: {healthInterpretation: {luaScript: bad}}}",
       "spec.customizations.healthInterpretation.luaScript: Invalid value: the script: line 1: what is this"},
      {"spec: {customizations: {statusAggregation: {luaScript: ''}}}",
       "spec: {customizations: {retention: {luaScript: no}}}",
       "spec.customizations.retention.luaScript: Invalid value: \"boolean\": spec.customizations.retention.luaScript "
       "in "
       "body must be of type string: \"boolean\""},
  };
  CheckRules(kCustomization, rows, context);
}

constexpr std::string_view kWebhooks = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: a.example.com
  clientConfig: {url: "https://a/b"}
  interpreterContextVersions: [v1alpha1]
  rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], kinds: [Pod]}]
)";

// A list is replaced whole by a merge patch, so these rows say what is changed in the first webhook.
TEST(InterpreterWebhookTest, KeepsEveryRule) {
  const RuleRow rows[] = {
      {"name: b.example.com", "name: ''", "webhooks[0].name: Required value"},
      {"name: b.example.com", "name: b",
       "webhooks[0].name: Invalid value: \"b\": should be a domain with at least two segments separated by dots"},
      {"timeoutSeconds: 30", "timeoutSeconds: 31",
       "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"},
      {"timeoutSeconds: 1", "timeoutSeconds: 0",
       "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"},
      {"clientConfig: {url: null, service: {name: s, namespace: ns}}",
       "clientConfig: {service: {name: s, namespace: ns}}",
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
      {"clientConfig: {url: 'https://a:443'}", "clientConfig: {url: 'http://a'}",
       "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: "
       "https://host[/path]"},
      {"clientConfig: {url: 'https://a'}", "clientConfig: {url: 'https:///a'}",
       "webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; desired format: "
       "https://host[/path]"},
      {"clientConfig: {url: 'https://a'}", "clientConfig: {url: 'https://a b'}",
       "webhooks[0].clientConfig.url: Required value: url must be a valid URL; desired format: https://host[/path]"},
      {"clientConfig: {url: null, service: {name: s, namespace: ns, port: 8443, path: /a/b/}}",
       "clientConfig: {url: null, service: {name: '', namespace: '', port: 0, path: a}}",
       "webhooks[0].clientConfig.service.name: Required value: service name is required; "
       "webhooks[0].clientConfig.service.namespace: Required value: service namespace is required; "
       "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
       "inclusive; webhooks[0].clientConfig.service.path: Invalid value: \"a\": must start with a '/'"},
      {"clientConfig: {url: null, service: {name: s, namespace: ns, path: /}}",
       "clientConfig: {url: null, service: {name: s, namespace: ns, path: /a//b}}",
       "webhooks[0].clientConfig.service.path: Invalid value: \"/a//b\": segment[1] may not be empty"},
      {"clientConfig: {url: null, service: {name: s, namespace: ns, path: /a.b}}",
       "clientConfig: {url: null, service: {name: s, namespace: ns, path: /a/B}}",
       "webhooks[0].clientConfig.service.path: Invalid value: \"/a/B\": segment[1]: a lowercase RFC 1123 subdomain "
       "must "
       "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
       "character "
       "(e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {"rules: [{operations: [InterpretHealth, Retain], apiGroups: [a, b], apiVersions: [v1, v2], kinds: [A, B]}]",
       "rules: [{operations: [], apiGroups: [], apiVersions: [], kinds: []}]",
       "webhooks[0].rules[0].operations: Required value; webhooks[0].rules[0].apiGroups: Required value; "
       "webhooks[0].rules[0].apiVersions: Required value; webhooks[0].rules[0].kinds: Required value"},
      {"rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*']}]",
       "rules: [{operations: ['*', Retain], apiGroups: ['*', a], apiVersions: ['*', v1], kinds: ['*', A]}]",
       "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"Retain\"]: if '*' is present, must not specify other "
       "operations; webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present, must not specify "
       "other API groups; webhooks[0].rules[0].apiVersions: Invalid value: [\"*\",\"v1\"]: if '*' is present, must not "
       "specify other API versions; webhooks[0].rules[0].kinds: Invalid value: [\"*\",\"A\"]: if '*' is present, must "
       "not specify other kinds"},
      {"rules: [{operations: [InterpretComponent], apiGroups: [''], apiVersions: [v1], kinds: [A]}]",
       "rules: [{operations: [Prune], apiGroups: [''], apiVersions: [''], kinds: ['']}]",
       "webhooks[0].rules[0].apiVersions[0]: Required value; webhooks[0].rules[0].kinds[0]: Required value; "
       "webhooks[0].rules[0].operations[0]: Unsupported value: \"Prune\": supported values: \"*\", "
       "\"AggregateStatus\", "
       "\"InterpretComponent\", \"InterpretDependency\", \"InterpretHealth\", \"InterpretReplica\", "
       "\"InterpretStatus\", \"Retain\", \"ReviseReplica\""},
      {"interpreterContextVersions: [v2, v1alpha1]", "interpreterContextVersions: []",
       "webhooks[0].interpreterContextVersions: Required value: must specify one of v1alpha1"},
      {"interpreterContextVersions: [v1alpha1, v9]", "interpreterContextVersions: [v1alpha1, '9']",
       "webhooks[0].interpreterContextVersions[1]: Invalid value: \"9\": a DNS-1035 label must consist of lower case "
       "alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character "
       "(e.g. "
       "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"},
      {"interpreterContextVersions: [v1alpha1]", "interpreterContextVersions: [v2, v2]",
       "webhooks[0].interpreterContextVersions[1]: Invalid value: \"v2\": duplicate version; "
       "webhooks[0].interpreterContextVersions: Invalid value: [\"v2\",\"v2\"]: must include at least one of v1alpha1"},
  };
  const Value base = FromYaml(kWebhooks);
  EXPECT_EQ(Admit(base).errors, std::vector<std::string>());
  const auto with = [&](std::string_view patch) {
    Value changed = base;
    changed.Edit("webhooks").Edit(0) = json::ApplyMergePatch(base["webhooks"][0], FromYaml(patch));
    return changed;
  };
  for (const RuleRow& row : rows) {
    EXPECT_EQ(Join(Admit(with(row.good)).errors, "; "), "") << row.good;
    EXPECT_EQ(Join(Admit(with(row.bad)).errors, "; "), row.error) << row.bad;
    RecordRule(with(row.good), with(row.bad), row.error);
  }
  Value twice = base;
  twice.Edit("webhooks").Push(base["webhooks"][0]);
  constexpr std::string_view kTwice = "webhooks[1].name: Duplicate value: \"a.example.com\"";
  EXPECT_EQ(Join(Admit(twice).errors, "; "), kTwice);
  RecordRule(base, twice, kTwice);
}

// ---- the rollout's kinds ----

TEST(StatefulMigrationTest, KeepsEveryRule) {
  constexpr std::string_view kMigration = R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: StatefulMigration
metadata: {name: m, namespace: team}
spec: {workload: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: a}, target: green}
)";
  const Value spec = Admit(FromYaml(kMigration)).object["spec"];
  EXPECT_EQ(spec["stabilizationSeconds"], Value(10));
  EXPECT_EQ(spec["onFailure"].str(), "Rollback");
  const RuleRow rows[] = {
      {"spec: {source: blue}", "spec: {source: green}",
       "spec.target: Invalid value: \"green\": must not be the source"},
      {"spec: {onFailure: Hold}", "spec: {onFailure: Panic}",
       "spec.onFailure: Unsupported value: \"Panic\": supported values: \"Rollback\", \"Hold\""},
      {"spec: {target: null}", "spec: {workload: null}", "spec.workload: Required value"},
  };
  CheckRules(kMigration, rows);
  const RuleRow updates[] = {
      {"spec: {abort: true}", "spec: {workload: {name: b}}",
       "spec.workload: Invalid value: "
       "{\"apiVersion\":\"flink.apache.org/v1beta1\",\"kind\":\"FlinkDeployment\",\"name\":\"b\"}: field is immutable"},
  };
  CheckUpdateRules(kMigration, updates);
}

TEST(WriterTest, NeverGoesBack) {
  constexpr std::string_view kWriter = R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: Writer
metadata: {name: w, namespace: team}
spec: {workload: {apiVersion: apps/v1, kind: StatefulSet, name: a}, seq: 3, fieldOfANewerOne: kept}
)";
  const RuleRow rows[] = {
      {"spec: {seq: 4, holder: {cluster: blue}}", "spec: {seq: 2}",
       "spec.seq: Invalid value: 2: must not become smaller"},
      {"spec: {claim: {intent: Abort}}", "spec: {claim: {intent: Panic}}",
       "spec.claim.intent: Unsupported value: \"Panic\": supported values: \"Forward\", \"Abort\", \"Withdraw\""},
      {"spec: {seq: 3}", "spec: {workload: {name: b}}",
       "spec.workload: Invalid value: {\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"b\"}: field is "
       "immutable"},
  };
  CheckUpdateRules(kWriter, rows);
  const Value old = Admit(FromYaml(kWriter)).object;
  const Value going =
      json::ApplyMergePatch(old, FromYaml("{metadata: {deletionTimestamp: '2024-01-01T00:00:00Z'}, spec: {seq: 2}}"));
  EXPECT_EQ(Join(Admit(going, old).errors, "; "), rows[0].error) << "not while it is being deleted, either";
  Value pruned = FromYaml(kWriter);
  Prune(pruned, *TypeOf(pruned)->schema);
  EXPECT_EQ(pruned, FromYaml(kWriter));
}

}  // namespace
}  // namespace baton::api
