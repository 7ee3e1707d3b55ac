// When a process counts as begun anew.
#include "rollout/restarts.h"

#include <gtest/gtest.h>

#include "base/strings.h"
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

TEST(RestartsTest, ALifeThatHasEndedCountsBeforeTheNextOneBeginsAndNotTwice) {
  struct Row {
    std::string_view what;
    std::string_view pod;
    std::string_view container;
    int64_t ended;
    bool between;
  };
  const Row rows[] = {
      {"it is being pulled", "{}", "{restartCount: 0, state: {waiting: {reason: ContainerCreating}}}", 0, false},
      {"its first life", "{}", "{restartCount: 0, state: {running: {}}}", 0, false},
      {"which has ended", "{}", "{restartCount: 0, state: {terminated: {exitCode: 137}}}", 1, true},
      {"its second", "{}", "{restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 137}}}", 1,
       false},
      {"which has ended", "{}", "{restartCount: 1, state: {terminated: {exitCode: 1}}, lastState: {terminated: {}}}", 2,
       true},
      {"the third is put off", "{}",
       "{restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}", 2,
       true},
      {"its third", "{}", "{restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 1}}}", 2, false},
      {"it always begins again", "{restartPolicy: Always}", "{restartCount: 0, state: {terminated: {exitCode: 0}}}", 1,
       true},
      {"its work is done", "{restartPolicy: OnFailure}", "{restartCount: 0, state: {terminated: {exitCode: 0}}}", 0,
       false},
      {"it is tried again", "{restartPolicy: OnFailure}", "{restartCount: 0, state: {terminated: {exitCode: 1}}}", 1,
       true},
      {"it has one life only", "{restartPolicy: Never}", "{restartCount: 0, state: {terminated: {exitCode: 1}}}", 0,
       false},
  };
  for (const Row& row : rows) {
    const Result<json::Value> pods = json::ParseYaml(StrCat("[{kind: Pod, metadata: {uid: a}, spec: ", row.pod,
                                                            ", status: {containerStatuses: [", row.container, "]}}]"));
    ASSERT_TRUE(pods.ok()) << pods.error().ToString();
    EXPECT_EQ(RestartsOf(*pods), (Restarts{{"a", row.ended}})) << row.what;
    EXPECT_EQ(IsBetweenLives(*pods), row.between) << row.what;
  }
}

TEST(RestartsTest, APodThatIsDoneBeginsNoOtherLife) {
  for (const std::string_view phase : {"Succeeded", "Failed"}) {
    const Result<json::Value> pods =
        json::ParseYaml(StrCat("[{kind: Pod, metadata: {uid: a}, status: {phase: ", phase,
                               ", containerStatuses: [{restartCount: 0, state: {terminated: {exitCode: 1}}}]}}]"));
    ASSERT_TRUE(pods.ok());
    EXPECT_EQ(RestartsOf(*pods), (Restarts{{"a", 0}})) << phase;
    EXPECT_FALSE(IsBetweenLives(*pods)) << phase;
  }
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
