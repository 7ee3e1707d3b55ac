// Values of the handoff as objects, and back.
#include "rollout/records.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::rollout {
namespace {

TEST(RecordsTest, ABindingTellsWhoLockedItAndForWhichAttempt) {
  const Claim claim{.migration = "move", .source = {"blue", "b", ""}, .target = {"green", "g", ""}};
  const json::Value binding = *json::ParseYaml("{metadata: {name: orders}, spec: {clusters: [{name: blue}]}}");
  for (const auto& [fence, attempt, said] :
       {std::tuple(7, 1, "7"), std::tuple(7, 2, "7/2"), std::tuple(12, 30, "12/30")}) {
    const BindingState locked{.clusters = {"blue", "green"}, .locked = true, .fence = fence, .attempt = attempt};
    const json::Value written = WriteBinding(locked, binding, claim, json::Value());
    EXPECT_EQ(written["metadata"]["annotations"][kFenceAnnotation].str(), said);
    EXPECT_EQ(ReadBinding(written, claim), locked);
    const BindingState free{.clusters = {"blue"}, .locked = false, .fence = 0};
    EXPECT_EQ(ReadBinding(WriteBinding(free, written, claim, json::Value()), claim), free);
  }
}

TEST(RecordsTest, AWordForALostClusterIsKeptInTheWriter) {
  const json::Value workload = *json::ParseYaml("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}");
  Writer writer{.exists = true, .seq = 3, .holder = {"blue", "b", "u"}};
  EXPECT_FALSE(ReadWriter(WriteWriter(writer, json::Value(), workload)).lost);
  writer.lost = LostCluster{.cluster = "blue", .word = "ann attested that blue is stopped: burnt"};
  const json::Value written = WriteWriter(writer, json::Value(), workload);
  EXPECT_EQ(ReadWriter(written).lost, writer.lost);
  writer.lost.reset();
  EXPECT_FALSE(ReadWriter(WriteWriter(writer, written, workload)).lost);
}

TEST(RecordsTest, AWordOfAnAbortNamesItsAttempt) {
  const auto word = [](std::string_view more) {
    const std::string text = "{spec: {attestation: {by: ann, reason: burnt, stateRef: r" + std::string(more) + "}}}";
    return ReadMigration(*json::ParseYaml(text), WallTime{})->migration.attestation->aborted_attempt;
  };
  EXPECT_EQ(word(""), 0);
  EXPECT_EQ(word(", abortedAttempt: 3"), 3);
}

}  // namespace
}  // namespace baton::rollout
