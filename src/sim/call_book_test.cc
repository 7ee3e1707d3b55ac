// Call sites, what can meet them, and a fault at a chosen one.
#include "sim/call_book.h"

#include <gtest/gtest.h>

#include <optional>

#include "kube/api_for_test.h"
#include "rt/random.h"
#include "rt/virtual_loop.h"
#include "sim/bad_day.h"
#include "sim/pairs.h"
#include "sim/reach.h"

namespace baton::sim {
namespace {

using kube::Fault;

kube::Call CallOf(kube::Verb verb, std::string plural, std::string version = "") {
  kube::Call call;
  call.verb = verb;
  call.resource.plural = std::move(plural);
  call.resource_version = std::move(version);
  return call;
}

kube::WatchCall WatchOf(std::string plural) {
  kube::WatchCall call;
  call.resource.plural = std::move(plural);
  return call;
}

TEST(CallBookTest, ASiteSaysWhomWhatAndToWhat) {
  kube::Call status = CallOf(kube::Verb::kUpdate, "works");
  status.subresource = "status";
  kube::Call dry = CallOf(kube::Verb::kCreate, "jobs");
  dry.dry_run = true;
  const struct {
    std::string site;
    std::string name;
    CallShape shape;
  } rows[] = {
      {SiteOf("hub", status), "hub update works/status", CallShape::kWrite},
      {SiteOf("member", dry), "member create jobs (dry run)", CallShape::kWrite},
      {SiteOf("hub", CallOf(kube::Verb::kGet, "works")), "hub get works", CallShape::kRead},
      {SiteOf("hub", CallOf(kube::Verb::kList, "works", "0")), "hub list works (cache)", CallShape::kCachedRead},
      {SiteOf("member", WatchOf("pods"), false), "member watch pods", CallShape::kWatch},
      {SiteOf("member", WatchOf("pods"), true), "member changes pods", CallShape::kChanges},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.site, row.name);
    EXPECT_EQ(ShapeOf(row.site), row.shape) << row.name;
  }
}

// The table says the same as the plan that draws faults.
TEST(CallBookTest, WhatCannotBeIsNeverDrawnAndTheRestIs) {
  rt::SeededRandom random(1);
  for (size_t i = 1; i < kube::kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    kube::FaultMix mix;
    mix[fault] = 1;
    kube::SeededFaults faults(random, mix);
    const auto check = [&](CallShape shape, Fault drawn) {
      EXPECT_EQ(drawn == fault, WhyNever(shape, fault).empty())
          << kube::FaultName(fault) << " at shape " << static_cast<int>(shape);
    };
    check(CallShape::kRead, faults.ForCall(CallOf(kube::Verb::kGet, "works")).fault);
    check(CallShape::kCachedRead, faults.ForCall(CallOf(kube::Verb::kList, "works", "0")).fault);
    check(CallShape::kWrite, faults.ForCall(CallOf(kube::Verb::kPatch, "works")).fault);
    check(CallShape::kWatch, faults.ForOpen(WatchOf("works")).fault);
    check(CallShape::kChanges, faults.ForChanges(WatchOf("works")).fault);
  }
}

TEST(CallBookTest, ADirectedFaultMeetsTheFirstSuchCallThatNothingElseMeets) {
  CallBook book;
  book.Direct({"hub get works", Fault::kDelay});
  EXPECT_EQ(book.Met("hub get jobs", {}).fault, Fault::kNone);
  EXPECT_EQ(book.Met("hub get works", {.fault = Fault::kSilence}).fault, Fault::kSilence);
  EXPECT_TRUE(book.direct_pending());
  const kube::FaultDecision met = book.Met("hub get works", {});
  EXPECT_EQ(met.fault, Fault::kDelay);
  EXPECT_EQ(met.delay, kDirectedDelay);
  EXPECT_FALSE(book.direct_pending());
  EXPECT_EQ(book.Met("hub get works", {}).fault, Fault::kNone);
  EXPECT_EQ(book.matrix().at("hub get works").at(static_cast<size_t>(Fault::kDelay)), 1U);
  EXPECT_EQ(MatrixFromJson(MatrixJson(book.matrix())), book.matrix());
}

TEST(CallBookTest, AnEmptyCellIsOneThatCanBe) {
  CallMatrix matrix;
  SiteCounts& counts = matrix["hub changes works"];
  counts.at(static_cast<size_t>(Fault::kWatchCut)) = 2;
  const std::vector<DirectedFault> empty = EmptyCells(matrix);
  ASSERT_EQ(empty.size(), 2U);
  EXPECT_EQ(empty[0], (DirectedFault{"hub changes works", Fault::kWatchExpired}));
  EXPECT_EQ(empty[1], (DirectedFault{"hub changes works", Fault::kWatchDelay}));
  EXPECT_NE(MatrixText(matrix).find("EMPTY"), std::string::npos);
}

// A discovery is a call like others, for plans.
TEST(CallBookTest, ADiscoveryAndTheOpeningOfAWatchAreMet) {
  const struct {
    Fault fault;
    std::optional<ErrorKind> error;
  } rows[] = {
      {Fault::kErrorBefore, ErrorKind::kUnavailable},
      {Fault::kAnswerLost, ErrorKind::kUnavailable},
      {Fault::kThrottled, ErrorKind::kThrottled},
      {Fault::kSilence, ErrorKind::kDeadlineExceeded},
      {Fault::kDelay, std::nullopt},
      {Fault::kNone, std::nullopt},
  };
  for (const auto& row : rows) {
    rt::VirtualLoop loop(1);
    kube::ScriptedApi below(loop);
    below.on_discover = [](rt::Deadline) -> rt::Task<Result<kube::Discovered>> { co_return kube::Discovered{}; };
    kube::ScriptedFaults faults;
    faults.Add({.fault = row.fault, .delay = seconds(1), .plural = std::string(kube::kDiscovery)});
    kube::FaultyApi api(below, faults);
    const auto found = loop.Run(api.Discover(rt::Deadline::After(loop, seconds(5))));
    EXPECT_EQ(found.ok(), !row.error) << kube::FaultName(row.fault);
    if (!found.ok()) EXPECT_EQ(found.error().kind(), row.error) << kube::FaultName(row.fault);
  }
  rt::VirtualLoop loop(1);
  kube::ScriptedApi below(loop);
  kube::ScriptedFaults faults;
  faults.Add({.fault = Fault::kSilence});
  kube::FaultyApi api(below, faults);
  const auto opened = loop.Run(api.OpenWatch(WatchOf("works"), rt::Deadline::After(loop, seconds(5))));
  EXPECT_EQ(opened.error().kind(), ErrorKind::kDeadlineExceeded);
}

TEST(DirectedDayTest, ADayHasOneFaultMoreAtThatCallAndEndsWell) {
  const DirectedFault fault{"hub update writers", Fault::kConflict};
  const Day day = PlayDirectedDay(3, fault);
  EXPECT_TRUE(day.directed_hit);
  EXPECT_EQ(day.problems, std::vector<std::string>());
  EXPECT_GT(day.matrix.at(fault.site).at(static_cast<size_t>(fault.fault)), 0U);
}

TEST(DirectedDayTest, WithoutSuchACallItIsTheSameDay) {
  const Day day = PlayDirectedDay(3, {"hub update unicorns", Fault::kConflict});
  EXPECT_FALSE(day.directed_hit);
  EXPECT_EQ(day.Json(), PlayDay(3).Json());
}

TEST(PairsTest, ANameIsReadBackAsItWas) {
  for (const std::string text :
       {"forward:before-12:deposed-soon-3", "abort:after-1", "withdraw:deposed-late-2:after-9"}) {
    const Result<PairName> name = PairName::Parse(text);
    ASSERT_TRUE(name.ok()) << text;
    EXPECT_EQ(name->Text(), text);
  }
  for (const std::string text : {"", "forward", "sideways:after-1", "forward:after", "forward:after-0",
                                 "forward:after-1x", "forward:after-1:", "forward:after-1:after-2:after-3"})
    EXPECT_FALSE(PairName::Parse(text).ok()) << text;
}

TEST(PairsTest, APairFromAForkIsThePairThatIsPlayedAlone) {
  const size_t last = WritesOf(Way::kForward);
  ASSERT_GT(last, 20U);
  const std::vector<PairResult> results = PlayPairsOf(Way::kForward, {Blow::kDiesAfter, last});
  ASSERT_FALSE(results.empty());
  for (const PairResult& result : results)
    EXPECT_EQ(result.problems, std::vector<std::string>()) << result.name << " " << result.where;
  const Result<PairName> name = PairName::Parse(results.front().name);
  ASSERT_TRUE(name.ok()) << results.front().name;
  EXPECT_EQ(PlayPair(*name).where, results.front().where);
}

TEST(PairsTest, AWriteThatIsNotThereIsTold) {
  const Result<PairName> name = PairName::Parse("forward:before-100000");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(PlayPair(*name).problems, std::vector<std::string>({"the move has no such write"}));
}

TEST(ReachTest, ASceneReachesItsProbe) {
  EXPECT_GT(PlayReach("rollout.gate_holds_another_object"), 0U);
  for (const char* probe : {"federation.binding_went_with_its_template", "rollout.late_lock_removed",
                            "rollout.record_is_older_than_the_member", "rollout.attested",
                            "rollout.deleted_before_its_finalizer", "rollout.target_is_lost"}) {
    EXPECT_GT(PlayReach(probe), 0U) << probe;
  }
  EXPECT_EQ(PlayReach("no.such_probe"), 0U);
  EXPECT_FALSE(WhyNotReached("log.line_truncated").empty());
}

}  // namespace
}  // namespace baton::sim
