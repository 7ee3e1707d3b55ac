// Election: never two leaders at once, always one again, whatever happens to the calls.
#include "kube/election.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/rfc3339.h"
#include "kube/faulty_api.h"
#include "kube/world_for_test.h"
#include "rt/scope.h"

namespace baton::kube {
namespace {

using json::Value;

ElectionOptions As(std::string identity) {
  ElectionOptions options;
  options.ns = "default";
  options.name = "leader";
  options.identity = std::move(identity);
  return options;
}

// Who leads now, and with which fences; counts every overlap.
struct Leaders {
  int now = 0;
  int overlaps = 0;
  std::vector<int64_t> fences;
};

rt::Task<void> LeadUntilDropped(rt::Loop& loop, Leaders& leaders, int64_t fence) {
  struct Term {
    explicit Term(Leaders& all) : leaders(all) {
      if (++leaders.now > 1) ++leaders.overlaps;
    }
    ~Term() { --leaders.now; }
    Leaders& leaders;
  };
  const Term term(leaders);
  leaders.fences.push_back(fence);
  while (true) co_await loop.Sleep(hours(1));
}

TEST(ElectionTest, ElectsOneAndWritesTheLeaseAsClientGoDoes) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    Election first(api, As("one"));
    Election second(api, As("two"));
    Leaders leaders;
    rt::Scope scope(api.loop());
    scope.Spawn(first.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    co_await api.loop().Sleep(seconds(1));
    scope.Spawn(second.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    co_await api.loop().Sleep(minutes(5));
    EXPECT_TRUE(first.leading());
    EXPECT_FALSE(second.leading());
    EXPECT_EQ(second.leader(), "one");
    const Value lease = co_await Must(api.Get(Leases(), {"default", "leader"}));
    EXPECT_EQ(lease["spec"]["holderIdentity"].str(), "one");
    EXPECT_EQ(lease["spec"]["leaseDurationSeconds"].int_or(0), 15);
    EXPECT_EQ(lease["spec"]["leaseTransitions"].int_or(-1), 0);
    EXPECT_EQ(lease["spec"]["renewTime"].str().size(), std::string_view("2006-01-02T15:04:05.000000Z").size());
    EXPECT_EQ(leaders.overlaps, 0);
  });
}

TEST(ElectionTest, HandsOverAtOnceWhenTheLeaderGivesTheLeaseBack) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    Election first(api, As("one"));
    Election second(api, As("two"));
    Leaders leaders;
    rt::Scope scope(api.loop());
    co_await first.Run([&](int64_t) -> rt::Task<void> { co_await api.loop().Sleep(seconds(3)); });
    const MonotonicTime given = api.loop().Now();
    scope.Spawn(second.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    while (!second.leading()) co_await api.loop().Sleep(milliseconds(100));
    EXPECT_LT(api.loop().Now() - given, seconds(1));
    EXPECT_EQ(second.fence(), 1);
  });
}

TEST(ElectionTest, TakesOverAfterTheLeaseRanOutWhenTheLeaderDies) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    Election first(api, As("one"));
    Election second(api, As("two"));
    Leaders leaders;
    rt::Scope scope(api.loop());
    auto killed = std::make_unique<rt::Scope>(api.loop());
    killed->Spawn(first.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    co_await api.loop().Sleep(seconds(1));
    scope.Spawn(second.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    co_await api.loop().Sleep(seconds(30));
    killed.reset();
    const MonotonicTime died = api.loop().Now();
    while (!second.leading()) co_await api.loop().Sleep(milliseconds(100));
    EXPECT_GE(api.loop().Now() - died, seconds(10));
    EXPECT_LE(api.loop().Now() - died, seconds(20));
    EXPECT_EQ(leaders.fences, (std::vector<int64_t>{0, 1}));
  });
}

// Of a leader whose clock is years behind or ahead only that it renews is seen, and that it no longer does.
TEST(ElectionTest, TheWallClockOfAnotherDoesNotMatter) {
  for (const std::string_view begun : {"1999-01-01T00:00:00Z", "2199-01-01T00:00:00Z"}) {
    WithServer(1, [&](Api& api) -> rt::Task<void> {
      const WallTime theirs = json::ParseTime(begun).value() - api.loop().WallNow().time_since_epoch();
      const auto now = [&] { return json::FormatMicroTime(theirs + api.loop().WallNow().time_since_epoch()); };
      Value lease = FromYaml(
          "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {namespace: default, name: leader}, spec: "
          "{holderIdentity: other, leaseDurationSeconds: 15, leaseTransitions: 4}}");
      lease.Edit("spec").Set("renewTime", now());
      co_await Must(api.Create(Leases(), lease));
      Election mine(api, As("mine"));
      Leaders leaders;
      rt::Scope scope(api.loop());
      scope.Spawn(mine.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
      for (int i = 0; i < 60; ++i) {
        co_await api.loop().Sleep(seconds(2));
        EXPECT_FALSE(mine.leading()) << begun;
        co_await Must(api.Patch(Leases(), {"default", "leader"}, PatchType::kMerge,
                                json::Object({{"spec", json::Object({{"renewTime", now()}})}})));
      }
      const MonotonicTime died = api.loop().Now();
      while (!mine.leading() && api.loop().Now() - died < minutes(5)) co_await api.loop().Sleep(milliseconds(100));
      EXPECT_GE(api.loop().Now() - died, seconds(13)) << begun;
      EXPECT_LE(api.loop().Now() - died, seconds(20)) << begun;
      EXPECT_EQ(leaders.fences, std::vector<int64_t>{5}) << begun;
    });
  }
}

TEST(ElectionTest, AFenceThatIsTooLowIsRaisedInTheLeaseAndLeadingBeginsAnew) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    Election first(api, As("one"));
    Election second(api, As("two"));
    Leaders leaders;
    rt::Scope scope(api.loop());
    scope.Spawn(first.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    co_await api.loop().Sleep(seconds(1));
    scope.Spawn(second.Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
    second.RaiseFence(90);  // of one that does not lead: nobody is disturbed
    co_await api.loop().Sleep(seconds(30));
    EXPECT_EQ(leaders.fences, std::vector<int64_t>{0});
    first.RaiseFence(7);
    first.RaiseFence(Election::kFenceMax);
    first.RaiseFence(3);
    co_await api.loop().Sleep(seconds(5));
    EXPECT_EQ(leaders.fences, (std::vector<int64_t>{0, 8}));
    EXPECT_EQ(leaders.overlaps, 0);
    EXPECT_TRUE(first.leading());
    const Value lease = co_await Must(api.Get(Leases(), {"default", "leader"}));
    EXPECT_EQ(lease["spec"]["leaseTransitions"].int_or(-1), 8);
    EXPECT_EQ(lease["spec"]["holderIdentity"].str(), "one");
  });
}

TEST(ElectionTest, NeverHasTwoLeadersAndAlwaysOneAgain) {
  size_t changes = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    WithServer(seed, [&](Api& api) -> rt::Task<void> {
      rt::SeededRandom chance(seed);
      FaultMix mix = FaultMix::Swarm(chance);
      mix.delay_max = seconds(20);
      SeededFaults faults(chance, mix);
      // Each has its own bad network: one may be cut off while the others are not.
      FaultyApi bad(api, faults);
      Leaders leaders;
      std::vector<std::unique_ptr<Election>> elections;
      rt::Scope scope(api.loop());
      for (const char* name : {"one", "two", "three"}) {
        elections.push_back(std::make_unique<Election>(bad, As(name)));
        scope.Spawn(elections.back()->Run([&](int64_t fence) { return LeadUntilDropped(api.loop(), leaders, fence); }));
      }
      co_await api.loop().Sleep(minutes(10));
      faults.Stop();
      co_await api.loop().Sleep(minutes(2));
      EXPECT_EQ(leaders.now, 1) << "seed " << seed;
      EXPECT_EQ(leaders.overlaps, 0) << "seed " << seed;
      for (size_t i = 1; i < leaders.fences.size(); ++i) {
        EXPECT_GE(leaders.fences[i], leaders.fences[i - 1]) << "seed " << seed;
      }
      changes += leaders.fences.size() - 1;
    });
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(changes, 100U) << "the faults no longer cost anybody the lease: the test shows nothing";
}

}  // namespace
}  // namespace baton::kube
