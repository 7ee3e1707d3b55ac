// Retry: which errors are tried again, when, and what is returned when it gives up.
#include "rt/retry.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

Error Throttled(int32_t retry_after_seconds) {
  Status status;
  status.code = 429;
  status.reason = "TooManyRequests";
  status.retry_after_seconds = retry_after_seconds;
  return Error::FromStatus(status, "slow down");
}

// Fails with the given errors one after another, then succeeds; remembers when it was called.
struct Service {
  explicit Service(Loop& l, std::vector<Error> e = {}, Duration t = Duration(0))
      : loop(l), errors(std::move(e)), takes(t) {}
  Loop& loop;
  std::vector<Error> errors;
  Duration takes;
  std::vector<MonotonicTime> calls;
  std::vector<Deadline> deadlines;

  Task<Result<std::string>> Call(Deadline deadline) {
    calls.push_back(loop.Now());
    deadlines.push_back(deadline);
    const size_t index = calls.size() - 1;
    if (takes > Duration(0)) co_await loop.Sleep(takes);
    if (index < errors.size()) co_return errors[index];
    co_return "done";
  }
  auto Attempt() {
    return [this](Deadline deadline) { return Call(deadline); };
  }
};

std::vector<Error> Times(int count, const Error& error) { return std::vector<Error>(count, error); }

TEST(RetryTest, TriesAgainUntilItWorks) {
  VirtualLoop loop(1);
  Service service(loop, Times(5, UnavailableError("down")));
  const Deadline deadline = Deadline::After(loop, hours(1));
  EXPECT_EQ(loop.Run(Retry(loop, RetryPolicy{}, deadline, service.Attempt())).value(), "done");
  EXPECT_EQ(service.calls.size(), 6);
  for (const Deadline given : service.deadlines) EXPECT_EQ(given, deadline);
}

TEST(RetryTest, DelaysGrowByTheFactorUpToTheLongestWithJitterOnTop) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    VirtualLoop loop(seed);
    Service service(loop, Times(10, UnavailableError("down")));
    const RetryPolicy policy{.first_delay = milliseconds(100), .max_delay = seconds(2), .factor = 2.0, .jitter = 0.2};
    EXPECT_TRUE(loop.Run(Retry(loop, policy, Deadline::Never(), service.Attempt())).ok());
    Duration base = milliseconds(100);
    bool stretched = false;
    for (size_t n = 1; n < service.calls.size(); ++n) {
      const Duration delay = service.calls[n] - service.calls[n - 1];
      EXPECT_GE(delay, base);
      EXPECT_LT(delay, base + base / 5);
      stretched = stretched || delay > base;
      base = std::min<Duration>(base * 2, seconds(2));
    }
    EXPECT_TRUE(stretched);
  }
}

TEST(RetryTest, JitterIsSpreadOverItsWholeRange) {
  SeededRandom random(1);
  int low = 0;
  for (int n = 0; n < 10'000; ++n) {
    Backoff backoff(RetryPolicy{.first_delay = seconds(1), .jitter = 0.5});
    const Duration delay = backoff.Next(random);
    EXPECT_GE(delay, seconds(1));
    EXPECT_LT(delay, milliseconds(1500));
    low += delay < milliseconds(1250) ? 1 : 0;
  }
  EXPECT_NEAR(low, 5000, 200);
}

TEST(RetryTest, StrangePoliciesGiveDelaysThatCanBeWaited) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  struct Row {
    const char* name;
    RetryPolicy policy;
    Duration third_at_least;
    Duration third_at_most;
  };
  const Row rows[] = {
      {"no jitter", {.first_delay = seconds(1), .jitter = 0}, seconds(4), seconds(4)},
      {"first above the longest",
       {.first_delay = hours(1), .max_delay = seconds(1), .jitter = 0},
       seconds(1),
       seconds(1)},
      {"the longest there is",
       {.first_delay = Duration::max(), .max_delay = Duration::max()},
       Duration::max(),
       Duration::max()},
      {"grows beyond all",
       {.first_delay = hours(1), .max_delay = Duration::max(), .factor = 1e300},
       Duration::max(),
       Duration::max()},
      {"infinite",
       {.first_delay = seconds(1), .max_delay = seconds(9), .factor = kInfinite, .jitter = 0},
       seconds(9),
       seconds(9)},
      {"shrinks", {.first_delay = seconds(4), .factor = 0.5, .jitter = 0}, seconds(1), seconds(1)},
      {"negative", {.first_delay = seconds(1), .factor = -3, .jitter = 0}, Duration(0), Duration(0)},
      {"not a number",
       {.first_delay = seconds(1), .factor = kInfinite - kInfinite, .jitter = 0},
       Duration(0),
       Duration(0)},
      {"nothing", {.first_delay = Duration(0)}, Duration(0), Duration(0)},
  };
  for (const Row& row : rows) {
    SeededRandom random(1);
    Backoff backoff(row.policy);
    backoff.Next(random);
    backoff.Next(random);
    const Duration third = backoff.Next(random);
    EXPECT_GE(third, row.third_at_least) << row.name;
    EXPECT_LE(third, row.third_at_most) << row.name;
  }
}

TEST(RetryTest, WaitsAtLeastAsLongAsTheServerAsks) {
  VirtualLoop loop(1);
  Service service(loop, {Throttled(7), Throttled(0), Throttled(-5), UnavailableError("down")});
  EXPECT_TRUE(loop.Run(Retry(loop, RetryPolicy{.jitter = 0}, Deadline::Never(), service.Attempt())).ok());
  std::vector<Duration> delays;
  for (size_t n = 1; n < service.calls.size(); ++n) delays.push_back(service.calls[n] - service.calls[n - 1]);
  EXPECT_EQ(delays, (std::vector<Duration>{seconds(7), milliseconds(200), milliseconds(400), milliseconds(800)}));
}

TEST(RetryTest, TheLongestThatAServerCanAskForDoesNotOverflow) {
  VirtualLoop loop(1);
  Service service(loop, {Throttled(std::numeric_limits<int32_t>::max())});
  EXPECT_TRUE(loop.Run(Retry(loop, RetryPolicy{}, Deadline::Never(), service.Attempt())).ok());
  EXPECT_EQ(loop.Now().time_since_epoch(), seconds(std::numeric_limits<int32_t>::max()));
}

TEST(RetryTest, ReturnsTheLastErrorAtOnceWhenThereIsNoTimeForAnotherTry) {
  VirtualLoop loop(1);
  Service service(loop, {UnavailableError("first"), Throttled(60)});
  const Result<std::string> result =
      loop.Run(Retry(loop, RetryPolicy{.jitter = 0}, Deadline::After(loop, seconds(30)), service.Attempt()));
  EXPECT_EQ(result.error().kind(), ErrorKind::kThrottled);
  EXPECT_EQ(result.error().retry_after_seconds(), 60);
  EXPECT_EQ(loop.Now().time_since_epoch(), milliseconds(100));  // it did not sleep into the deadline
}

TEST(RetryTest, ADelayThatEndsAtTheDeadlineIsTooLong) {
  VirtualLoop loop(1);
  Service service(loop, Times(9, UnavailableError("down")));
  const Result<std::string> result =
      loop.Run(Retry(loop, RetryPolicy{.jitter = 0}, Deadline::After(loop, milliseconds(100)), service.Attempt()));
  EXPECT_EQ(result.error().message(), "down");
  EXPECT_EQ(service.calls.size(), 1);
}

TEST(RetryTest, ATryThatTheDeadlineCutsShortTellsTheErrorBeforeIt) {
  VirtualLoop loop(1);
  Service service(loop, Times(9, UnavailableError("connection refused")), seconds(4));
  const RetryPolicy policy{.jitter = 0, .what = "the hub"};
  const Result<std::string> result =
      loop.Run(Retry(loop, policy, Deadline::After(loop, seconds(6)), service.Attempt()));
  EXPECT_EQ(
      result.error().ToString(),
      "deadline_exceeded: deadline passed while waiting for the hub; the try before: unavailable: connection refused");
  EXPECT_EQ(loop.Now().time_since_epoch(), seconds(6));

  Service slow(loop, {}, hours(1));
  const Result<std::string> first = loop.Run(Retry(loop, policy, Deadline::After(loop, seconds(6)), slow.Attempt()));
  EXPECT_EQ(first.error().message(), "deadline passed while waiting for the hub");
}

TEST(RetryTest, AnErrorThatIsNotWorthAnotherTryIsReturnedAtOnce) {
  for (const Error& error :
       {InvalidError("x"), NotFoundError("x"), AlreadyExistsError("x"), ConflictError("x"), TooLargeError("x"),
        CancelledError("x"), UnsupportedError("x"), CorruptError("x"), InternalError("x")}) {
    VirtualLoop loop(1);
    Service service(loop, Times(3, error));
    const Result<std::string> result = loop.Run(Retry(loop, RetryPolicy{}, Deadline::Never(), service.Attempt()));
    EXPECT_EQ(result.error(), error);
    EXPECT_EQ(service.calls.size(), 1) << error.ToString();
    EXPECT_EQ(loop.Now(), MonotonicTime());
  }
  for (const Error& error : {Throttled(1), UnavailableError("x"), DeadlineExceededError("its own")}) {
    VirtualLoop loop(1);
    Service service(loop, Times(3, error));
    EXPECT_TRUE(loop.Run(Retry(loop, RetryPolicy{}, Deadline::Never(), service.Attempt())).ok()) << error.ToString();
  }
}

TEST(RetryTest, WhatIsWorthAnotherTryCanBeChosen) {
  VirtualLoop loop(1);
  Service service(loop, {ConflictError("again"), ConflictError("again"), UnavailableError("no")});
  const RetryPolicy policy{.retryable = [](const Error& error) { return error.kind() == ErrorKind::kConflict; }};
  EXPECT_EQ(loop.Run(Retry(loop, policy, Deadline::Never(), service.Attempt())).error().message(), "no");
  EXPECT_EQ(service.calls.size(), 3);
}

TEST(RetryTest, StopsAfterSoManyAttempts) {
  for (const int most : {1, 2, 5}) {
    VirtualLoop loop(1);
    Service service(loop, Times(100, UnavailableError("down")));
    const RetryPolicy policy{.max_attempts = most};
    EXPECT_EQ(loop.Run(Retry(loop, policy, Deadline::Never(), service.Attempt())).error().message(), "down");
    EXPECT_EQ(service.calls.size(), static_cast<size_t>(most));
  }
}

TEST(RetryTest, ADeadlineThatHasPassedTriesNothing) {
  VirtualLoop loop(1);
  Service service(loop, {});
  const Result<std::string> result =
      loop.Run(Retry(loop, RetryPolicy{.what = "it"}, Deadline::At(loop.Now()), service.Attempt()));
  EXPECT_EQ(result.error().ToString(), "deadline_exceeded: deadline passed before waiting for it");
  EXPECT_TRUE(service.calls.empty());
}

TEST(RetryTest, CancelledWhileSleepingOrTryingItTriesNoMore) {
  for (const Duration cancel_at : {Duration(milliseconds(1050)), Duration(milliseconds(500))}) {
    VirtualLoop loop(1);
    Service service(loop, Times(100, UnavailableError("down")), seconds(1));
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      scope.Spawn(Do([&]() -> Task<void> {
        (void)co_await Retry(loop, RetryPolicy{}, Deadline::Never(),
                             [&service, held = Counted()](Deadline deadline) { return service.Call(deadline); });
      }));
      co_await loop.Sleep(cancel_at);
      EXPECT_GT(Counted::alive(), 0);
      scope.CancelAll();
      EXPECT_EQ(Counted::alive(), 0);
      co_await loop.Sleep(hours(1));
      EXPECT_EQ(service.calls.size(), 1);
    };
    loop.Run(program());
  }
}

}  // namespace
}  // namespace baton::rt
