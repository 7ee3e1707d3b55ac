// Which moves of a drain begin, and why the others wait.
#include "rollout/drain_plan.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace baton::rollout {
namespace {

const WallTime kNow = WallTime{} + hours(1000);

DrainWorkload In(std::string cluster, std::string name, int64_t priority = 0) {
  return {.key = "FlinkDeployment/shop/" + name, .from = std::move(cluster), .priority = priority};
}

DrainMove Ended(std::string name, int number, bool succeeded, Duration ago) {
  return {.workload = "FlinkDeployment/shop/" + name,
          .name = StrCat(name, "-", number),
          .from = "blue",
          .to = "green",
          .of_this_drain = true,
          .number = number,
          .ended = true,
          .succeeded = succeeded,
          .phase = succeeded ? "Succeeded" : "RolledBack",
          .message = "as it was",
          .ended_at = kNow - ago};
}

DrainMove FailedAt(std::string name, int number, std::string target) {
  DrainMove move = Ended(std::move(name), number, false, hours(1));
  move.to = std::move(target);
  return move;
}

DrainMove Active(std::string name, std::string from, std::string to) {
  return {.workload = "FlinkDeployment/shop/" + name,
          .name = name,
          .from = std::move(from),
          .to = std::move(to),
          .of_this_drain = false,
          .phase = "Quiescing"};
}

// The first of green and red that takes somebody.
Result<std::string> GreenThenRed(const DrainWorkload&, const std::set<std::string>& full) {
  for (const std::string cluster : {"green", "red"}) {
    if (!full.contains(cluster)) return std::string(cluster);
  }
  return NotFoundError("no other cluster fits");
}

// "a>green b>red | c:Waiting d:Stuck"
std::string Text(const DrainPlan& plan) {
  std::string text;
  for (const DrainStart& start : plan.starts) {
    text += StrCat(start.key.substr(start.key.rfind('/') + 1), ">", start.to,
                   start.number == 1 ? "" : StrCat("#", start.number), " ");
  }
  text += "|";
  for (const DrainItem& item : plan.items) {
    const bool starts = item.message == "begins";
    if (!starts) text += StrCat(" ", item.key.substr(item.key.rfind('/') + 1), ":", DrainStateName(item.state));
  }
  if (plan.finished) text += " finished";
  if (plan.stuck) text += " stuck";
  return text;
}

std::string Planned(std::vector<DrainWorkload> workloads, const std::vector<DrainMove>& moves, MoveLimits limits = {}) {
  return Text(PlanDrain(std::move(workloads), moves, limits, kNow, GreenThenRed));
}

TEST(DrainPlanTest, BeginsWithWhatHasTheHighestPriority) {
  EXPECT_EQ(Planned({In("blue", "a"), In("blue", "b", 5), In("blue", "c")}, {}, {.out = 2}),
            "b>green a>green | c:Waiting");
}

TEST(DrainPlanTest, CountsAllMovesWhoeverAskedForThem) {
  EXPECT_EQ(Planned({In("blue", "a"), In("blue", "b")}, {Active("x", "blue", "green")}, {.out = 2}),
            "a>green | b:Waiting");
  EXPECT_EQ(Planned({In("blue", "a"), In("blue", "b")}, {Active("x", "red", "green")}, {.in = 1}), "a>red | b:Waiting");
}

TEST(DrainPlanTest, KeepsTheLimitsOfSingleClusters) {
  const MoveLimits limits{.out = 5, .in = 5, .out_of = {{"blue", 3}}, .in_to = {{"green", 1}}};
  EXPECT_EQ(Planned({In("blue", "a"), In("blue", "b"), In("blue", "c"), In("blue", "d")}, {}, limits),
            "a>green b>red c>red | d:Waiting");
}

TEST(DrainPlanTest, LeavesAloneWhatMovesAlready) {
  EXPECT_EQ(Planned({In("blue", "a")}, {Active("a", "blue", "red")}), "| a:Moving");
}

TEST(DrainPlanTest, TriesAgainLaterEachTimeAndThenAsksAPerson) {
  EXPECT_EQ(Planned({In("blue", "a")}, {Ended("a", 1, false, seconds(29))}), "| a:Failed");
  EXPECT_EQ(Planned({In("blue", "a")}, {Ended("a", 1, false, seconds(30))}), "a>red#2 |");
  EXPECT_EQ(Planned({In("blue", "a")}, {Ended("a", 1, false, hours(1)), Ended("a", 2, false, seconds(59))}),
            "| a:Failed");
  EXPECT_EQ(Planned({In("blue", "a")}, {Ended("a", 1, false, hours(1)), Ended("a", 2, false, seconds(60))}),
            "a>red#3 |");
  EXPECT_EQ(Planned({In("blue", "a")},
                    {Ended("a", 1, false, hours(3)), Ended("a", 2, false, hours(2)), Ended("a", 3, false, hours(1))}),
            "| a:Stuck stuck");
}

TEST(DrainPlanTest, SaysWhenTheNextTryIsDue) {
  const DrainPlan plan =
      PlanDrain({In("blue", "a"), In("blue", "b")},
                {Ended("a", 1, false, seconds(10)), Ended("b", 1, false, seconds(20))}, {}, kNow, GreenThenRed);
  ASSERT_TRUE(plan.look_again);
  EXPECT_EQ(*plan.look_again - kNow, Duration(seconds(10)));
}

TEST(DrainPlanTest, IsFinishedWhenNothingIsLeft) {
  DrainWorkload done = In("blue", "a");
  done.done = true;
  EXPECT_EQ(Planned({done, In("", "gone")}, {Ended("a", 1, true, seconds(1))}), "| a:Done gone:Gone finished");
  EXPECT_EQ(Planned({}, {}), "| finished");
}

TEST(DrainPlanTest, IsNotFinishedWhileAMoveCleansUp) {
  DrainWorkload done = In("blue", "a");
  done.done = true;
  EXPECT_EQ(Planned({done}, {Active("a", "blue", "green")}), "| a:Moving");
}

TEST(DrainPlanTest, IsStuckOnlyWhenNothingElseCanHelp) {
  const auto nowhere = [](const DrainWorkload&, const std::set<std::string>&) -> Result<std::string> {
    return NotFoundError("no other cluster fits");
  };
  EXPECT_EQ(Text(PlanDrain({In("blue", "a")}, {}, {}, kNow, nowhere)), "| a:Waiting stuck");
  // Room may come when the one that is on its way has arrived.
  EXPECT_EQ(Text(PlanDrain({In("blue", "a")}, {Active("x", "blue", "green")}, {.in = 1}, kNow, nowhere)),
            "| a:Waiting");
}

TEST(DrainPlanTest, BringsHomeWhatNamesItsTarget) {
  DrainWorkload away = In("green", "a");
  away.to = "blue";
  DrainWorkload other = In("red", "b");
  other.to = "blue";
  EXPECT_EQ(Planned({away, other}, {}, {.in = 1}), "a>blue | b:Waiting");
}

TEST(DrainPlanTest, BeginsNothingWhenTheLimitIsZero) {
  EXPECT_EQ(Planned({In("blue", "a")}, {}, {.out = 0, .in = 0}), "| a:Waiting");
}

TEST(DrainPlanTest, AfterAFailureItGoesElsewhere) {
  struct Row {
    const char* what;
    std::vector<DrainMove> moves;
    MoveLimits limits;
    const char* planned;
  };
  const Row rows[] = {
      {"to the other that is allowed", {FailedAt("a", 1, "green")}, {}, "a>red#2 |"},
      {"when both have failed, not to the last",
       {FailedAt("a", 1, "green"), FailedAt("a", 2, "red")},
       {},
       "a>green#3 |"},
      {"in whatever order they are listed", {FailedAt("a", 2, "red"), FailedAt("a", 1, "green")}, {}, "a>green#3 |"},
      {"it rather waits for room in the other",
       {FailedAt("a", 1, "green"), Active("x", "blue", "red")},
       {.in = 1},
       "| a:Waiting"},
      {"another workload's failure says nothing", {FailedAt("b", 1, "green")}, {}, "a>green |"},
      {"nor does a success", {Ended("a", 1, true, hours(1))}, {}, "a>green#2 |"},
  };
  for (const Row& row : rows) EXPECT_EQ(Planned({In("blue", "a")}, row.moves, row.limits), row.planned) << row.what;
}

TEST(DrainPlanTest, AfterAFailureItGoesToTheSameWhenThereIsNoOther) {
  const auto only_green = [](const DrainWorkload&, const std::set<std::string>& full) -> Result<std::string> {
    if (full.contains("green")) return NotFoundError("no other cluster fits");
    return std::string("green");
  };
  EXPECT_EQ(Text(PlanDrain({In("blue", "a")}, {FailedAt("a", 1, "green")}, {}, kNow, only_green)), "a>green#2 |");
}

TEST(DrainPlanTest, WhatGoesHomeGoesHome) {
  DrainWorkload home = In("green", "a");
  home.to = "blue";
  EXPECT_EQ(Planned({home}, {FailedAt("a", 1, "blue")}), "a>blue#2 |");
}

TEST(DrainPlanTest, WhatWasBroughtHomeAndTakenAwayBySomebodyStaysAway) {
  DrainWorkload taken = In("green", "a");
  taken.to = "blue";
  EXPECT_EQ(Planned({taken}, {Ended("a", 1, true, hours(1))}), "| a:Done finished");
  EXPECT_EQ(Planned({In("blue", "a")}, {Ended("a", 1, true, hours(1))}), "a>green#2 |") << "drained, and came again";
}

}  // namespace
}  // namespace baton::rollout
