// Revisions as values: names, what counts as another version, and the records on a binding.
#include "federation/revision.h"

#include <gtest/gtest.h>

#include <functional>

#include "api/karmada_keys.h"
#include "base/strings.h"
#include "federation/hub.h"
#include "json/yaml.h"

namespace baton::federation {
namespace {

json::Value Yaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

const json::Value kBinding = Yaml(
    "{metadata: {name: web-deployment, namespace: shop, labels: {resourcebinding.karmada.io/permanent-id: id-1}}}");

json::Value Deployment() {
  return Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u, generation: 3, resourceVersion: "9", labels: {app: web}}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "i:1"}]}}}
status: {replicas: 2}
)");
}

json::Value Made(const json::Value& object, int64_t number = 1) {
  const interpret::Interpreter interpreter;
  Result<json::Value> made = MakeRevision(interpreter, object, kBinding, number);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return made.ok() ? *made : json::Value();
}

TEST(RevisionTest, TheTemplatesWordCountsMoreThanThePolicys) {
  struct Row {
    std::string_view object;
    std::string_view policy;
    bool keeps;
  };
  for (const Row& row : {Row{"", "", false}, Row{"BlueGreen", "", true}, Row{"", "BlueGreen", true},
                         Row{"Rolling", "BlueGreen", false}, Row{"BlueGreen", "Rolling", true}}) {
    json::Value object = Deployment();
    json::Value policy;
    if (!row.object.empty()) object.Edit("metadata").Edit("annotations").Set(kStrategy, row.object);
    if (!row.policy.empty()) policy.Edit("metadata").Edit("annotations").Set(kStrategy, row.policy);
    EXPECT_EQ(KeepsRevisions(object, policy), row.keeps) << row.object << " " << row.policy;
  }
}

TEST(RevisionTest, WhatMakesAnotherRevisionAndWhatDoesNot) {
  struct Row {
    std::string_view what;
    bool another;
    std::function<void(json::Value& object)> edit;
  };
  const std::string name(kube::NameOf(Made(Deployment())));
  EXPECT_TRUE(name.starts_with("web-deployment-")) << name;
  const std::vector<Row> rows = {
      {"the image", true,
       [](json::Value& o) {
         o.Edit("spec").Edit("template").Edit("spec").Edit("containers").Edit(0).Set("image", "i:2");
       }},
      {"a label", true, [](json::Value& o) { o.Edit("metadata").Edit("labels").Set("tier", "a"); }},
      {"the replicas", false, [](json::Value& o) { o.Edit("spec").Set("replicas", 7); }},
      {"the status", false, [](json::Value& o) { o.Edit("status").Set("replicas", 7); }},
      {"the server's fields", false,
       [](json::Value& o) {
         o.Edit("metadata").Set("resourceVersion", "10");
         o.Edit("metadata").Set("generation", 4);
         o.Edit("metadata").Set("managedFields", json::Array({json::Object()}));
       }},
      {"a mark of the federation", false,
       [](json::Value& o) { o.Edit("metadata").Edit("annotations").Set("karmada.io/migration-target", "green"); }},
      {"kubectl's record", false,
       [](json::Value& o) {
         o.Edit("metadata").Edit("annotations").Set("kubectl.kubernetes.io/last-applied-configuration", "{}");
       }},
  };
  for (const Row& row : rows) {
    json::Value object = Deployment();
    row.edit(object);
    EXPECT_EQ(kube::NameOf(Made(object)) != name, row.another) << row.what;
  }
}

TEST(RevisionTest, AnOldRevisionHasTheLiveTemplatesIdentityReplicasAndMarks) {
  const interpret::Interpreter interpreter;
  const json::Value old = Made(Deployment());
  json::Value live = Deployment();
  live.Edit("metadata").Set("generation", 8);
  live.Edit("metadata").Edit("labels").Set("tier", "new");
  live.Edit("metadata").Edit("annotations").Set("karmada.io/migration-target", "green");
  live.Edit("spec").Set("replicas", 5);
  live.Edit("spec").Edit("template").Edit("spec").Edit("containers").Edit(0).Set("image", "i:2");
  const Result<json::Value> at = TemplateAt(interpreter, live, old, 6);
  ASSERT_TRUE(at.ok()) << at.error().message();
  EXPECT_EQ(kube::UidOf(*at), "u");
  EXPECT_EQ((*at)["metadata"]["generation"].int_or(0), 6);
  EXPECT_EQ((*at)["metadata"]["labels"], Yaml("{app: web}"));
  EXPECT_EQ((*at)["metadata"]["annotations"], Yaml("{karmada.io/migration-target: green}"));
  EXPECT_EQ((*at)["spec"]["replicas"].int_or(0), 5);
  EXPECT_EQ((*at)["spec"]["template"]["spec"]["containers"][0]["image"].str(), "i:1");
  EXPECT_FALSE(TemplateAt(interpreter, live, Yaml("{metadata: {name: r}}"), 1).ok());
}

TEST(RevisionTest, AReleaseIsRecordedPerClusterAndItsGenerationNeverGoesDown) {
  const json::Value first = Made(Deployment());
  json::Value edited = Deployment();
  edited.Edit("metadata").Set("generation", 5);
  edited.Edit("metadata").Edit("labels").Set("tier", "a");
  const json::Value second = Made(edited, 2);
  json::Value binding = WithRelease(kBinding, "blue", second);
  binding = WithRelease(binding, "green", first);
  EXPECT_EQ(ReleasedTo(binding, "blue"), (Release{std::string(kube::NameOf(second)), 5}));
  EXPECT_EQ(ReleasedTo(binding, "green"), (Release{std::string(kube::NameOf(first)), 3}));
  EXPECT_EQ(WithRelease(binding, "green", first), binding);
  EXPECT_EQ(ReleasedTo(WithRelease(binding, "blue", first), "blue"), (Release{std::string(kube::NameOf(first)), 5}));
  EXPECT_EQ(ClustersWithRelease(binding), (std::vector<std::string>{"blue", "green"}));
  EXPECT_EQ(ClustersWithRelease(WithoutRelease(binding, "blue")), std::vector<std::string>{"green"});
  EXPECT_EQ(WithoutRelease(binding, "red"), binding);
  EXPECT_FALSE(SameReleases(binding, WithoutRelease(binding, "blue")));
  json::Value other = binding;
  other.Edit("metadata").Edit("annotations").Set("a", "b");
  EXPECT_TRUE(SameReleases(binding, other));
}

TEST(RevisionTest, ARecordThatCannotBeReadIsNone) {
  for (const std::string_view text :
       {"", "@", "@3", "name", "name@", "name@x", "name@3x", "name@99999999999999999999"}) {
    json::Value binding = kBinding;
    binding.Edit("metadata").Edit("annotations").Set(StrCat(kReleasedPrefix, "blue"), text);
    EXPECT_EQ(ReleasedTo(binding, "blue"), std::nullopt) << text;
  }
}

TEST(RevisionTest, TheOldestThatAreNowhereReleasedMayGo) {
  std::vector<json::Value> revisions;
  for (int64_t i = 0; i < static_cast<int64_t>(kRevisionHistory) + 4; ++i) {
    json::Value revision = Yaml("{metadata: {}}");
    revision.Edit("metadata").Set("name", StrCat("r", i));
    revision.Set("revision", i + 1);
    revisions.push_back(revision);
  }
  const json::Value binding = WithRelease(kBinding, "blue", revisions[0]);
  const std::string newest(kube::NameOf(revisions.back()));
  EXPECT_EQ(Superseded(revisions, binding, newest), (std::vector<std::string>{"r1", "r2"}));
  revisions.resize(5);
  EXPECT_TRUE(Superseded(revisions, binding, "r4").empty());
}

}  // namespace
}  // namespace baton::federation
