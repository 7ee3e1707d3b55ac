// Cluster: what it gets, and every rule.
#include <gtest/gtest.h>

#include "api/federation_for_test.h"
#include "api/federation_url.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kCluster = R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: blue}
spec: {syncMode: Push, apiEndpoint: "https://10.0.0.1:6443"}
)";

Value Spec(std::string_view patch, const Value& old = {}) {
  const Outcome outcome = Admit(json::ApplyMergePatch(FromYaml(kCluster), FromYaml(patch)), old);
  EXPECT_EQ(Join(outcome.errors, "; "), "") << patch;
  return outcome.object["spec"];
}

TEST(ClusterTest, GetsNineGradesOfNodesOnCreation) {
  const Value models = Spec("{}")["resourceModels"];
  ASSERT_EQ(models.size(), 9U);
  EXPECT_EQ(models[0], FromYaml("{grade: 0, ranges: [{name: cpu, min: '0', max: '1'}, {name: memory, min: '0', max: "
                                "4Gi}]}"));
  EXPECT_EQ(models[1], FromYaml("{grade: 1, ranges: [{name: cpu, min: '1', max: '2'}, {name: memory, min: 4Gi, max: "
                                "16Gi}]}"));
  EXPECT_EQ(models[8], FromYaml("{grade: 8, ranges: [{name: cpu, min: '128', max: '9223372036854775807'}, {name: "
                                "memory, min: 1Ti, max: '9223372036854775807'}]}"));
  EXPECT_FALSE(Spec("{}", FromYaml(kCluster)).Has("resourceModels")) << "an update takes none away and adds none";
  FederationContext without = TestContext();
  without.default_resource_models = false;
  EXPECT_FALSE(Admit(FromYaml(kCluster), {}, without).object["spec"].Has("resourceModels"));
}

TEST(ClusterTest, GetsItsOwnGradesInOrderAndWithoutGapsAtTheEnds) {
  const Value spec = Spec(R"(
spec:
  resourceModels:
  - {grade: 2, ranges: [{name: cpu, min: 1, max: 8}]}
  - {grade: 1, ranges: [{name: cpu, min: "0.5", max: 1000m}]}
)");
  EXPECT_EQ(spec["resourceModels"], FromYaml(R"(
- {grade: 1, ranges: [{name: cpu, min: "0", max: 1000m}]}
- {grade: 2, ranges: [{name: cpu, min: 1, max: "9223372036854775807"}]}
)"));
}

TEST(ClusterTest, GetsTimesOfTaintsThatEvictAndZonesForAZone) {
  const Value spec = Spec(R"(
spec:
  zone: z1
  taints:
  - {key: a, effect: NoExecute}
  - {key: b, effect: NoExecute, timeAdded: "2020-01-01T00:00:00Z"}
  - {key: c, effect: NoSchedule}
)");
  EXPECT_EQ(spec["zones"], json::Array({"z1"}));
  EXPECT_FALSE(spec.Has("zone"));
  EXPECT_EQ(spec["taints"][0]["timeAdded"].str(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(spec["taints"][1]["timeAdded"].str(), "2020-01-01T00:00:00Z");
  EXPECT_FALSE(spec["taints"][2].Has("timeAdded"));
}

constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

TEST(ClusterTest, KeepsEveryRule) {
  const std::string provider = StrCat("spec.provider: Invalid value: \"a b\": ", kLabelValueRule);
  const std::string region = StrCat("spec.region: Invalid value: \"-\": ", kLabelValueRule);
  const std::string zones = StrCat("spec.zones[1]: Invalid value: \"z 2\": ", kLabelValueRule);
  const std::string taint_value = StrCat("spec.taints[0].value: Invalid value: \"a b\": ", kLabelValueRule);
  const RuleRow rows[] = {
      {"metadata: {name: a23456789012345678901234567890123456789012345678}",
       "metadata: {name: a234567890123456789012345678901234567890123456789}",
       "metadata.name: Invalid value: \"a234567890123456789012345678901234567890123456789\": must be no more than 48 "
       "characters"},
      {"metadata: {name: a-b}", "metadata: {name: a.b}",
       "metadata.name: Invalid value: \"a.b\": must not contain dots"},
      {"spec: {syncMode: Pull}", "spec: {syncMode: null}",
       "spec.syncMode: Required value; spec.syncMode: Required value"},
      {"spec: {apiEndpoint: 'https://[::1]:6443/path'}", "spec: {apiEndpoint: '10.0.0.1:6443'}",
       "spec.apiEndpoint: Invalid value: \"10.0.0.1:6443\": must be a valid URL; desired format: https://host[:port]"},
      {"spec: {apiEndpoint: null}", "spec: {apiEndpoint: example.com}",
       "spec.apiEndpoint: Invalid value: \"\": host must be specified; desired format: https://host[:port]"},
      {"spec: {apiEndpoint: 'https://a'}", "spec: {apiEndpoint: 'https://user:secret@a?b#c'}",
       "spec.apiEndpoint: Invalid value: \"\": user information is not permitted in the URL; spec.apiEndpoint: Invalid "
       "value: \"c\": fragments are not permitted in the URL; spec.apiEndpoint: Invalid value: \"b\": query parameters "
       "are not permitted in the URL"},
      {"spec: {proxyURL: 'socks5://a:1'}", "spec: {proxyURL: 'ftp://a:1'}",
       "spec.proxyURL: Invalid value: \"ftp://a:1\": must be a URL with scheme http, https or socks5"},
      {"spec: {proxyURL: 'HTTP://a'}", "spec: {proxyURL: 'a b'}",
       "spec.proxyURL: Invalid value: \"a b\": must be a URL with scheme http, https or socks5"},
      {"spec: {secretRef: {namespace: ns, name: s}}", "spec: {secretRef: {namespace: '', name: ''}}",
       "spec.secretRef.namespace: Required value; spec.secretRef.name: Required value"},
      {"spec: {impersonatorSecretRef: {namespace: ns, name: s}}",
       "spec: {impersonatorSecretRef: {namespace: ns, name: ''}}", "spec.impersonatorSecretRef.name: Required value"},
      {"spec: {provider: aws}", "spec: {provider: a b}", provider},
      {"spec: {region: eu-1}", "spec: {region: '-'}", region},
      {"spec: {zones: [z1, z2]}", "spec: {zones: [z1, z 2]}", zones},
      {"spec: {zone: z1}", "spec: {zone: z1, zones: [z2]}",
       "spec.zone: Forbidden: may not be given together with zones"},
      {"spec: {taints: [{key: a, effect: NoSchedule}]}", "spec: {taints: [{key: a, effect: PreferNoSchedule}]}",
       "spec.taints[0].effect: Unsupported value: \"PreferNoSchedule\": supported values: \"NoSchedule\", "
       "\"NoExecute\""},
      {"spec: {taints: [{key: a, value: b, effect: NoSchedule}]}",
       "spec: {taints: [{key: a, value: a b, effect: NoSchedule}]}", taint_value},
      {"spec: {taints: [{key: a/b, effect: NoSchedule}]}", "spec: {taints: [{key: a/, effect: ''}]}",
       "spec.taints[0].key: Invalid value: \"a/\": name part must be non-empty; spec.taints[0].key: Invalid value: "
       "\"a/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'); spec.taints[0].effect: Required value"},
      {"spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]}",
       "spec: {taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]}",
       "spec.taints[1]: Duplicate value: \"a:NoSchedule\": taints must be unique by key and effect pair"},
      // Grades of nodes.
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, "
       "min: "
       "1000m, max: 2}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, "
       "min: "
       "2, max: 3}]}]}",
       "spec.resourceModels[1].ranges[0]: Invalid value: {\"max\":\"9223372036854775807\",\"min\":2,\"name\":\"cpu\"}: "
       "min must be the max of the grade before"},
      {"spec: {resourceModels: []}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 0, ranges: [{name: cpu, "
       "min: "
       "1, max: 3}]}]}",
       "spec.resourceModels[1].grade: Duplicate value: 0"},
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: []}]}",
       "spec.resourceModels[1].ranges: Invalid value: []: all grades must have the same resources"},
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 3, max: 4}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 0}]}, {grade: 1, ranges: [{name: cpu, "
       "min: "
       "0, max: 1}]}]}",
       "spec.resourceModels[0].ranges[0]: Invalid value: {\"max\":0,\"min\":\"0\",\"name\":\"cpu\"}: max must be "
       "greater "
       "than min"},
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 4}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 4}]}, {grade: 1, ranges: [{name: memory, "
       "min: 4, max: 5}]}]}",
       "spec.resourceModels[1].ranges[0]: Invalid value: "
       "{\"max\":\"9223372036854775807\",\"min\":4,\"name\":\"memory\"}: all grades must have the same resources in "
       "the "
       "same order"},
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 4}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: much}]}, {grade: 1, ranges: []}]}",
       "spec.resourceModels[0].ranges[0].max: Invalid value: \"much\": quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
  };
  CheckRules(kCluster, rows);
}

TEST(ClusterTest, MustHaveModelsFromZeroToTheEndAlsoWhereNobodyStandardizesThem) {
  FederationContext without = TestContext();
  without.default_resource_models = false;
  const RuleRow rows[] = {
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: '9223372036854775807'}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 1, max: '9223372036854775807'}]}]}",
       "spec.resourceModels[0].ranges[0]: Invalid value: {\"max\":\"9223372036854775807\",\"min\":1,\"name\":\"cpu\"}: "
       "min must be 0 in the first grade"},
      {"spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: '9223372036854775807'}]}]}",
       "spec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 5}]}]}",
       "spec.resourceModels[0].ranges[0]: Invalid value: {\"max\":5,\"min\":0,\"name\":\"cpu\"}: max must be "
       "9223372036854775807 in the last grade"},
  };
  CheckRules(kCluster, rows, without);
}

TEST(UrlTest, IsReadInParts) {
  struct Row {
    std::string_view url;
    std::string_view parts;  // scheme|user|host|query|fragment, or "no"
  };
  const Row rows[] = {
      {"https://a:6443/b/c", "https||a:6443||"},
      {"https://u:p@a?q=1#f", "https|u:p|a|q=1|f"},
      {"https://[::1]:80", "https||[::1]:80||"},
      {"https://[::1]", "https||[::1]||"},
      {"https://[::1", "no"},
      {"https://[::1]x", "no"},
      {"https://a:b", "no"},
      {"https://", "https||||"},
      {"a.b", "||||"},
      {"a.b:80", "a.b||||"},  // a scheme and no host, as Go reads it
      {"1.2.3.4:80", "no"},
      {"/a:b", "||||"},
      {"", "||||"},
      {"https://a b", "no"},
      {"https://a\x01", "no"},
      {"https://a/%zz", "no"},
      {"https://a/%41", "https||a||"},
      {"https://a/%4", "no"},
  };
  for (const Row& row : rows) {
    const auto url = federation::ReadUrl(row.url);
    const std::string parts =
        url ? StrCat(url->scheme, "|", url->user, "|", url->host, "|", url->query, "|", url->fragment) : "no";
    EXPECT_EQ(parts, row.parts) << row.url;
  }
}

}  // namespace
}  // namespace baton::api
