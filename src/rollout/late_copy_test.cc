// Which held copy in a cluster counts as one that never ran, so that it may be removed unasked.
#include "rollout/late_copy.h"

#include <gtest/gtest.h>

#include "json/yaml.h"
#include "rollout/profiles.h"

namespace baton::rollout {
namespace {

using json::Value;

constexpr int64_t kWriterSeq = 4;

Value Made() {
  return json::ParseYaml(R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: shop
  generation: 1
  creationTimestamp: "2030-01-01T10:00:00Z"
  finalizers: [flinkdeployments.flink.apache.org/finalizer]
  managedFields:
  - {manager: baton, operation: Update, time: "2030-01-01T10:00:00Z"}
  - {manager: operator, operation: Update, time: "2030-01-01T10:00:20Z", subresource: status}
spec:
  flinkConfiguration: {kubernetes.operator.baton.seq: "3"}
  job: {state: suspended}
)")
      .value();
}

bool OfThisWriter(const Value& object) {
  const ProfileSet profiles;
  return NeverRan(*profiles.ForKind("flink.apache.org/v1beta1", "FlinkDeployment"), object, kWriterSeq);
}

TEST(LateCopyTest, WhatWasMadeOnHoldByUsAndNotChangedSinceNeverRan) { EXPECT_TRUE(OfThisWriter(Made())); }

TEST(LateCopyTest, WhatMayHaveRunOrWasMadeByAnotherIsLeftForAPerson) {
  struct Row {
    std::string_view what;
    std::string_view merged;  // into the metadata
    bool never_ran;
  };
  const Row rows[] = {
      {"its server made it a moment after it noted the fields", R"({creationTimestamp: "2030-01-01T10:00:01Z"})", true},
      {"its spec was changed since", "{generation: 2}", false},
      {"it was restored from a backup, with its fields as they were then",
       R"({creationTimestamp: "2030-01-02T08:00:00Z"})", false},
      {"it was restored by another client",
       R"({managedFields: [{manager: velero-server, operation: Update, time: "2030-01-01T10:00:00Z"}]})", false},
      {"its fields were changed by us later",
       R"({managedFields: [{manager: baton, operation: Update, time: "2030-01-01T10:01:00Z"}]})", false},
      {"only its status is ours",
       R"({managedFields: [{manager: baton, operation: Update, time: "2030-01-01T10:00:00Z", subresource: status}]})",
       false},
      {"nothing tells who made it", "{managedFields: []}", false},
      {"nothing tells when it was made", R"({creationTimestamp: ""})", false},
  };
  for (const Row& row : rows) {
    Value object = Made();
    const Value merged = json::ParseYaml(row.merged).value();
    for (const json::Member& member : merged.members()) object.Edit("metadata").Set(member.key(), member.value());
    EXPECT_EQ(OfThisWriter(object), row.never_ran) << row.what;
  }
}

TEST(LateCopyTest, WhatRunsOrIsNewerThanTheWriterIsLeft) {
  Value running = Made();
  running.Edit("spec").Edit("job").Set("state", "running");
  EXPECT_FALSE(OfThisWriter(running));
  Value newer = Made();
  newer.Edit("spec").Edit("flinkConfiguration").Set("kubernetes.operator.baton.seq", "5");
  EXPECT_FALSE(OfThisWriter(newer));
}

TEST(LateCopyTest, AHoldThatIsOnlyAnAnnotationMayHaveComeLater) {
  ProfileSet profiles;
  const Value profile = json::ParseYaml(R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: MigrationProfile
metadata: {name: feed}
spec:
  target: {apiVersion: example.com/v1, kind: Feed}
  guarantee: FencedOnly
  epoch: /metadata/annotations/rollout.karmada.io~1seq
  hold: [{path: /metadata/annotations/example.com~1paused, value: "true"}]
  run: [{path: /metadata/annotations/example.com~1paused, value: "false"}]
  stop: [{path: /metadata/annotations/example.com~1paused, value: "true"}]
  inert: [/metadata/annotations/example.com~1paused, /metadata/annotations/rollout.karmada.io~1seq]
  script: function Judge(object, related, question) return {} end
)")
                            .value();
  const auto set = profiles.Set(profile);
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  Value feed = Made();
  feed.Set("apiVersion", "example.com/v1");
  feed.Set("kind", "Feed");
  feed.Edit("metadata")
      .Set("annotations", json::ParseYaml(R"({example.com/paused: "true", rollout.karmada.io/seq: "3"})").value());
  const auto by_annotation = profiles.ForKind("example.com/v1", "Feed");
  ASSERT_TRUE(by_annotation->IsHeld(feed));
  EXPECT_FALSE(NeverRan(*by_annotation, feed, kWriterSeq));
}

}  // namespace
}  // namespace baton::rollout
