// Timers: the heap against a model, and sleeping.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

MonotonicTime At(Duration since_start) { return MonotonicTime(since_start); }

// Writes down when it rings.
class Bell final : public TimerNode {
 public:
  Bell(VirtualLoop& loop, std::vector<int>& rung, int id) : loop_(loop), rung_(rung), id_(id) {}
  MonotonicTime due;

 private:
  void OnTimer() override {
    EXPECT_EQ(loop_.Now(), std::max(due, set_at_));
    rung_.push_back(id_);
  }
  VirtualLoop& loop_;
  std::vector<int>& rung_;
  int id_;

 public:
  MonotonicTime set_at_;
};

Task<void> SleepUntil(Loop& loop, MonotonicTime at) { co_await loop.SleepUntil(at); }

TEST(TimerTest, TheHeapDoesWhatASortedSetDoes) {
  // What rings, and when, under random sets, resets, clears and destructions, compared with a sorted set.
  for (uint64_t seed = 0; seed < 30; ++seed) {
    VirtualLoop loop(seed);
    SeededRandom random(seed);
    std::vector<int> rung;
    // (when, kind, order within its kind, id)
    using Entry = std::tuple<MonotonicTime, TimerKind, int64_t, int>;
    std::set<Entry> model;
    constexpr int kTimers = 60;
    std::vector<std::unique_ptr<Bell>> bells(kTimers);
    std::vector<std::optional<Entry>> entries(kTimers);
    int64_t sequence = 0;
    const auto forget = [&](int id) {
      if (entries[id]) model.erase(*entries[id]);
      entries[id].reset();
    };
    for (int round = 0; round < 60; ++round) {
      for (int operation = 0; operation < 50; ++operation) {
        const int id = static_cast<int>(random.Below(kTimers));
        if (!bells[id]) bells[id] = std::make_unique<Bell>(loop, rung, id);
        Bell& bell = *bells[id];
        forget(id);
        const uint64_t what = random.Below(10);
        if (what == 0) {
          bells[id].reset();
        } else if (what <= 2) {
          loop.ClearTimer(bell);
        } else if (what == 3) {
          loop.SetTimer(bell, kForever);
        } else {
          // Few instants, so that many share one; some of them past. Even, so that the sleep below is at none.
          bell.due = loop.Now() + Duration(2 * random.Between(-3, 20) - 1);
          bell.set_at_ = loop.Now();
          const TimerKind kind = random.Chance(0.4) ? TimerKind::kDeadline : TimerKind::kWake;
          loop.SetTimer(bell, bell.due, kind);
          ++sequence;
          entries[id] = Entry(bell.due, kind, kind == TimerKind::kWake ? sequence : -sequence, id);
          model.insert(*entries[id]);
        }
      }
      const MonotonicTime until = loop.Now() + Duration(2 * random.Between(1, 8));
      std::vector<int> expected;
      while (!model.empty() && std::get<0>(*model.begin()) < until) {
        expected.push_back(std::get<3>(*model.begin()));
        forget(expected.back());
      }
      rung.clear();
      loop.Run(SleepUntil(loop, until));
      ASSERT_EQ(rung, expected) << "seed " << seed << ", round " << round;
    }
  }
}

TEST(TimerTest, WakesOfOneInstantRingInTheOrderTheyWereSetThenDeadlinesTheLastSetFirst) {
  VirtualLoop loop(1);
  std::vector<int> rung;
  std::vector<std::unique_ptr<Bell>> bells;
  for (int id = 0; id < 6; ++id) {
    bells.push_back(std::make_unique<Bell>(loop, rung, id));
    bells.back()->due = At(seconds(1));
    loop.SetTimer(*bells.back(), At(seconds(1)), id % 2 == 0 ? TimerKind::kWake : TimerKind::kDeadline);
  }
  loop.SetTimer(*bells[0], At(seconds(1)));  // set again: now the last of the wakes
  loop.Run(SleepUntil(loop, At(seconds(2))));
  EXPECT_EQ(rung, (std::vector<int>{2, 4, 0, 5, 3, 1}));
}

TEST(TimerTest, ATimerMaySetItselfAgainWhenItRings) {
  class Ticker final : public TimerNode {
   public:
    explicit Ticker(Loop& loop) : loop_(loop) { loop.SetTimer(*this, loop.Now()); }
    int ticks = 0;

   private:
    void OnTimer() override {
      if (++ticks < 10) loop_.SetTimer(*this, loop_.Now() + (ticks % 2 == 0 ? Duration(seconds(1)) : Duration(0)));
    }
    Loop& loop_;
  };
  VirtualLoop loop(1);
  Ticker ticker(loop);
  loop.Run(SleepUntil(loop, At(milliseconds(1))));
  EXPECT_EQ(ticker.ticks, 2);
  loop.Run(SleepUntil(loop, At(seconds(20))));
  EXPECT_EQ(ticker.ticks, 10);
}

TEST(TimerTest, ATimerThatIsNotSetMayBeClearedAndDestroyed) {
  VirtualLoop loop(1);
  std::vector<int> rung;
  Bell bell(loop, rung, 1);
  loop.ClearTimer(bell);
  loop.SetTimer(bell, At(seconds(1)));
  loop.ClearTimer(bell);
  loop.ClearTimer(bell);
  loop.Run(SleepUntil(loop, At(seconds(2))));
  EXPECT_TRUE(rung.empty());
}

TEST(TimerTest, SleepingAlwaysSuspendsAndNeverGoesBackInTime) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    co_await loop.Sleep(seconds(5));
    for (const Duration duration : {Duration(0), Duration(-1), Duration::min()}) {
      const uint64_t steps = loop.steps();
      co_await loop.Sleep(duration);
      EXPECT_EQ(loop.steps(), steps + 1);
      EXPECT_EQ(loop.Now(), At(seconds(5)));
    }
    co_await loop.SleepUntil(At(seconds(1)));
    co_await loop.SleepUntil(MonotonicTime::min());
    EXPECT_EQ(loop.Now(), At(seconds(5)));
    co_await loop.SleepUntil(At(seconds(6)));
    EXPECT_EQ(loop.Now(), At(seconds(6)));
    co_await loop.Sleep(Duration(1));
    EXPECT_EQ(loop.Now(), At(seconds(6) + nanoseconds(1)));
  };
  loop.Run(program());
}

TEST(TimerTest, ManySleepersWakeInTheOrderOfTheirTimes) {
  VirtualLoop loop(3);
  auto program = [&]() -> Task<void> {
    std::vector<MonotonicTime> woken;
    auto sleeper = [&](Duration duration) -> Task<void> {
      const MonotonicTime due = loop.Now() + duration;
      co_await loop.Sleep(duration);
      EXPECT_EQ(loop.Now(), due);
      woken.push_back(due);
    };
    Scope scope(loop);
    for (int n = 0; n < 5000; ++n) scope.Spawn(sleeper(Duration(loop.random().Below(100'000))));
    co_await scope.Join();
    EXPECT_EQ(woken.size(), 5000);
    EXPECT_TRUE(std::is_sorted(woken.begin(), woken.end()));
  };
  loop.Run(program());
}

TEST(TimerTest, ASleepOfForeverNeverEnds) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    auto sleeper = [&](Duration duration) -> Task<void> {
      co_await loop.Sleep(duration);
      ADD_FAILURE() << "forever has passed";
    };
    scope.Spawn(sleeper(Duration::max()));
    co_await loop.Sleep(seconds(1));
    scope.Spawn(sleeper(Duration::max() - Duration(1)));
    co_await loop.Sleep(hours(24 * 365 * 100));
  };
  loop.Run(program());
}

}  // namespace
}  // namespace baton::rt
