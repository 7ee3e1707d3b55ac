// How a Job's completions are divided.
#include "federation/completions.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::federation {
namespace {

json::Value Yaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

constexpr std::string_view kDivided = "placement: {replicaScheduling: {replicaSchedulingType: Divided}}";

TEST(CompletionsTest, FollowTheReplicas) {
  struct Row {
    std::string_view object;
    std::string binding;
    std::optional<int32_t> blue;
    std::optional<int32_t> green;
  };
  const std::string divided(kDivided);
  const std::string two =
      "{spec: {" + divided + ", clusters: [{name: green, replicas: 1}, {name: blue, replicas: 2}]}}";
  constexpr std::string_view kJob = "{apiVersion: batch/v1, kind: Job, spec: {completions: 9, parallelism: 3}}";
  for (const Row& row : {
           Row{kJob, two, 6, 3},
           Row{kJob, "{spec: {" + divided + ", clusters: [{name: blue, replicas: 3}]}}", 9, std::nullopt},
           Row{kJob, "{spec: {" + divided + ", clusters: [{name: blue, replicas: 0}, {name: green, replicas: 1}]}}", 0,
               9},
           Row{kJob, "{spec: {" + divided + "}}", std::nullopt, std::nullopt},
           Row{kJob, "{spec: {clusters: [{name: blue, replicas: 3}, {name: green, replicas: 3}]}}", std::nullopt,
               std::nullopt},
           Row{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 3}}", two, std::nullopt, std::nullopt},
           Row{"{apiVersion: batch/v1, kind: Job, spec: {completions: -1}}", two, std::nullopt, std::nullopt},
           Row{"{apiVersion: batch/v1, kind: Job, spec: {completions: 99999999999}}", two, std::nullopt, std::nullopt},
           Row{"{apiVersion: other/v1, kind: Job, spec: {completions: 9}}", two, std::nullopt, std::nullopt},
       }) {
    EXPECT_EQ(CompletionsFor(Yaml(row.binding), Yaml(row.object), "blue"), row.blue) << row.binding << row.object;
    EXPECT_EQ(CompletionsFor(Yaml(row.binding), Yaml(row.object), "green"), row.green) << row.binding << row.object;
  }
}

}  // namespace
}  // namespace baton::federation
