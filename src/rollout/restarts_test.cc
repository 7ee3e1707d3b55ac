// When a process counts as begun anew.
#include "rollout/restarts.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::rollout {
namespace {

TEST(RestartsTest, OnlyPodsThatStayAreCountedWithAllTheirContainers) {
  const Result<json::Value> objects = json::ParseYaml(R"(
- {kind: Deployment, metadata: {uid: d}}
- {kind: Pod, metadata: {uid: a}, status: {containerStatuses: [{restartCount: 1}, {restartCount: 2}]}}
- {kind: Pod, metadata: {uid: b}}
- {kind: Pod, metadata: {uid: c, deletionTimestamp: "2030-01-01T00:00:00Z"}, status: {containerStatuses: [{restartCount: 9}]}}
)");
  ASSERT_TRUE(objects.ok());
  EXPECT_EQ(RestartsOf(*objects), (Restarts{{"a", 3}, {"b", 0}}));
}

TEST(RestartsTest, AProcessHasBegunAnewWhenAPodOfItRestartedOrNoneOfThemIsLeft) {
  struct Row {
    std::string_view what;
    Restarts before;
    Restarts now;
    bool restarted;
  };
  const Row rows[] = {
      {"as it was", {{"a", 1}}, {{"a", 1}}, false},
      {"a container began anew", {{"a", 1}}, {{"a", 2}}, true},
      {"one of two began anew", {{"a", 1}, {"b", 0}}, {{"a", 1}, {"b", 1}}, true},
      {"another pod in its place", {{"a", 0}}, {{"b", 0}}, true},
      {"no pod at all", {{"a", 0}}, {}, true},
      {"scaled up", {{"a", 0}}, {{"a", 0}, {"b", 3}}, false},
      {"scaled down", {{"a", 0}, {"b", 0}}, {{"a", 0}}, false},
      {"nothing is known from before", {}, {{"a", 5}}, false},
      {"a kind without pods", {}, {}, false},
      {"what counted higher before", {{"a", 2}}, {{"a", 0}}, false},
  };
  for (const Row& row : rows) EXPECT_EQ(HasRestarted(row.before, row.now), row.restarted) << row.what;
}

}  // namespace
}  // namespace baton::rollout
