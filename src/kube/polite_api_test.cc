// Limits and retries: what is asked again, when, and how much at a time.
#include "kube/polite_api.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "kube/api_calls_for_test.h"
#include "kube/api_for_test.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::kube {
namespace {

Error FromServer(int code, std::string reason, std::optional<int32_t> retry_after = {}) {
  Status status;
  status.code = code;
  status.reason = std::move(reason);
  status.retry_after_seconds = retry_after;
  return Error::FromStatus(std::move(status), "from the server");
}

Call Of(Verb verb) {
  Call call;
  call.verb = verb;
  call.resource = kConfigMaps;
  return call;
}

constexpr Verb kAllVerbs[] = {Verb::kGet,   Verb::kList,   Verb::kCreate,          Verb::kUpdate,
                              Verb::kPatch, Verb::kDelete, Verb::kDeleteCollection};

TEST(PoliteApiTest, RetriesOnlyWhatCanDoNoHarm) {
  Status budget;
  budget.code = 429;
  budget.reason = "TooManyRequests";
  budget.causes.push_back({.reason = "DisruptionBudget", .message = "", .field = ""});
  struct Row {
    Error error;
    bool read, write;
  };
  const std::vector<Row> rows = {
      {FromServer(429, "TooManyRequests", 1), true, true},
      {FromServer(429, "TooManyRequests"), true, true},
      {FromServer(503, "ServiceUnavailable", 1), true, true},
      {FromServer(503, "ServiceUnavailable"), true, false},  // perhaps a proxy, after it had passed the call on
      {FromServer(504, "Timeout"), true, false},
      {FromServer(500, "ServerTimeout", 2), true, false},  // etcd did not answer: perhaps it wrote
      {FromServer(500, "InternalError", 2), false, false},
      {FromServer(409, "Conflict"), false, false},
      {FromServer(404, "NotFound"), false, false},
      {FromServer(410, "Expired"), false, false},
      {FromServer(401, "Unauthorized"), false, false},
      {Error::FromStatus(budget, "no disruption now"), false, false},
      {UnavailableError("the connection broke"), true, false},
      {DeadlineExceededError("late"), true, false},
      {CancelledError("no"), false, false},
  };
  for (const Row& row : rows) {
    for (const Verb verb : kAllVerbs) {
      const Call call = Of(verb);
      EXPECT_EQ(MayRetry(call, row.error), call.IsWrite() ? row.write : row.read)
          << VerbName(verb) << " " << row.error.ToString();
    }
    EXPECT_EQ(MayRetryRead(row.error), row.read) << row.error.ToString();
  }
}

TEST(PoliteApiTest, WaitsAsLongAsTheServerAsks) {
  for (const Verb verb : kAllVerbs) {
    rt::VirtualLoop loop(1);
    ScriptedApi below(loop);
    std::vector<Result<Answer>> results = {FromServer(429, "TooManyRequests", 3),
                                           FromServer(503, "ServiceUnavailable", 4), Answer()};
    below.on_do = [&](Call, rt::Deadline) { return NextOf(results); };
    PoliteApi api(below, {});
    const MonotonicTime start = loop.Now();
    EXPECT_TRUE(loop.Run(api.Do(Of(verb), rt::Deadline::After(loop, seconds(30)))).ok());
    EXPECT_EQ(below.calls, 3u);
    EXPECT_EQ(loop.Now() - start, seconds(7));
  }
}

TEST(PoliteApiTest, AWriteWhoseOutcomeIsUnknownIsMadeOnce) {
  for (const Verb verb : kAllVerbs) {
    rt::VirtualLoop loop(1);
    ScriptedApi below(loop);
    std::vector<Result<Answer>> results = {UnavailableError("the connection broke"), Answer()};
    below.on_do = [&](Call, rt::Deadline) { return NextOf(results); };
    PoliteApi api(below, {});
    const Call call = Of(verb);
    EXPECT_EQ(loop.Run(api.Do(call, rt::Deadline::After(loop, seconds(30)))).ok(), !call.IsWrite());
    EXPECT_EQ(below.calls, call.IsWrite() ? 1u : 2u);
  }
}

TEST(PoliteApiTest, ReadsAreRetriedUntilTheDeadlineAndThenTheLastErrorIsTold) {
  rt::VirtualLoop loop(1);
  ScriptedApi below(loop);
  std::vector<Result<Answer>> results = {UnavailableError("the connection broke")};
  below.on_do = [&](Call, rt::Deadline) { return NextOf(results); };
  PoliteApi api(below, {.retry = {.first_delay = milliseconds(100), .max_delay = seconds(1), .jitter = 0}});
  const auto result = loop.Run(api.Do(Of(Verb::kGet), rt::Deadline::After(loop, seconds(10))));
  EXPECT_EQ(result.error().ToString(), "unavailable: the connection broke");
  EXPECT_EQ(below.calls, 13u);  // after 0, 0.1, 0.3, 0.7, 1.5 s, and then every second
  EXPECT_LT(loop.Now().time_since_epoch(), seconds(10));

  // What the server asks for is longer than there is time: no waiting for nothing.
  results = {FromServer(429, "TooManyRequests", 60)};
  const MonotonicTime start = loop.Now();
  EXPECT_EQ(loop.Run(api.Do(Of(Verb::kUpdate), rt::Deadline::After(loop, seconds(10)))).error().kind(),
            ErrorKind::kThrottled);
  EXPECT_EQ(loop.Now(), start);
}

rt::Task<Result<Answer>> Late(rt::Loop& loop, rt::Deadline deadline) {
  co_await loop.SleepUntil(deadline.at());
  co_return DeadlineExceededError("late");
}

// The first try was refused; of the second nothing is known. "Refused" would be a lie.
TEST(PoliteApiTest, ADeadlineInARetriedWriteSaysThatTheOutcomeIsUnknown) {
  rt::VirtualLoop loop(1);
  ScriptedApi below(loop);
  std::vector<Result<Answer>> results = {FromServer(429, "TooManyRequests", 1)};
  below.on_do = [&](Call, rt::Deadline deadline) { return below.calls == 1 ? NextOf(results) : Late(loop, deadline); };
  PoliteApi api(below, {});
  const auto result = loop.Run(api.Do(Of(Verb::kUpdate), rt::Deadline::After(loop, seconds(10))));
  EXPECT_EQ(result.error().ToString(), "deadline_exceeded: late; the try before: throttled: from the server");
}

rt::Task<void> CallInto(Api& api, std::vector<MonotonicTime>& done, rt::Deadline deadline, size_t& failed) {
  const Result<Answer> result = co_await api.Do(Of(Verb::kGet), deadline);
  if (result.ok()) {
    done.push_back(api.loop().Now());
  } else {
    ++failed;
    EXPECT_EQ(result.error().kind(), ErrorKind::kDeadlineExceeded);
    EXPECT_TRUE(result.error().message().find("nothing was sent") != std::string::npos) << result.error().message();
  }
}

rt::Task<Result<Answer>> Instantly() { co_return Answer(); }

TEST(PoliteApiTest, NoMoreCallsASecondThanAllowed) {
  rt::VirtualLoop loop(7);
  ScriptedApi below(loop);
  below.on_do = [](Call, rt::Deadline) { return Instantly(); };
  PoliteApi api(below, {.qps = 10, .burst = 5});
  std::vector<MonotonicTime> done;
  size_t failed = 0;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    const MonotonicTime start = loop.Now();
    rt::Scope scope(loop);
    for (int i = 0; i < 40; ++i) scope.Spawn(CallInto(api, done, rt::Deadline::After(loop, seconds(2)), failed));
    co_await loop.Sleep(milliseconds(1));
    EXPECT_EQ(done.size(), 5u);
    EXPECT_EQ(failed, 15u);  // told at once, not after two seconds
    co_await scope.Join();
    EXPECT_EQ(done.size(), 25u);
    for (size_t i = 5; i < done.size(); ++i) {
      const Duration early = start + milliseconds(100) * static_cast<int>(i - 4) - done[i];
      EXPECT_LT(std::chrono::abs(early), microseconds(1)) << i;
    }
    // A pause fills the bucket, but not beyond the burst.
    co_await loop.Sleep(minutes(1));
    done.clear();
    for (int i = 0; i < 10; ++i) scope.Spawn(CallInto(api, done, rt::Deadline::After(loop, minutes(1)), failed));
    co_await loop.Sleep(milliseconds(1));
    EXPECT_EQ(done.size(), 5u);
    scope.CancelAll();  // turns that were not used are given back
    co_await loop.Sleep(milliseconds(500));
    done.clear();
    for (int i = 0; i < 10; ++i) scope.Spawn(CallInto(api, done, rt::Deadline::After(loop, minutes(1)), failed));
    co_await loop.Sleep(milliseconds(1));
    EXPECT_EQ(done.size(), 5u);
    scope.CancelAll();
  }));
}

struct Load {
  size_t now = 0, most = 0;
};

rt::Task<Result<Answer>> Busy(rt::Loop& loop, Load& load) {
  load.most = std::max(load.most, ++load.now);
  co_await loop.Sleep(seconds(1));
  --load.now;
  co_return Answer();
}

TEST(PoliteApiTest, NoMoreCallsAtATimeThanAllowed) {
  rt::VirtualLoop loop(7);
  ScriptedApi below(loop);
  Load load;
  below.on_do = [&](Call, rt::Deadline) { return Busy(loop, load); };
  PoliteApi api(below, {.in_flight_max = 3});
  std::vector<MonotonicTime> done;
  size_t failed = 0;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    rt::Scope scope(loop);
    for (int i = 0; i < 20; ++i)
      scope.Spawn(CallInto(api, done, rt::Deadline::After(loop, milliseconds(4500)), failed));
    co_await scope.Join();
  }));
  EXPECT_EQ(load.most, 3u);
  EXPECT_EQ(done.size(), 15u);
  EXPECT_EQ(failed, 5u);
}

TEST(PoliteApiTest, CountsCallsRetriesAndWaits) {
  rt::VirtualLoop loop(1);
  MetricRegistry registry;
  const PoliteMetrics metrics(registry);
  ScriptedApi below(loop);
  std::vector<Result<Answer>> results = {UnavailableError("x"), UnavailableError("x"), Answer(),
                                         FromServer(404, "NotFound")};
  below.on_do = [&](Call, rt::Deadline) { return NextOf(results); };
  PoliteApi api(below, {.cluster = "blue", .qps = 1}, &metrics);
  EXPECT_TRUE(loop.Run(api.Do(Of(Verb::kGet), rt::Deadline::After(loop, seconds(30)))).ok());
  EXPECT_FALSE(loop.Run(api.Do(Of(Verb::kDelete), rt::Deadline::After(loop, seconds(30)))).ok());
  EXPECT_EQ(metrics.calls.With({"blue", "get", "ok"}).value(), 1u);
  EXPECT_EQ(metrics.calls.With({"blue", "delete", "not_found"}).value(), 1u);
  EXPECT_EQ(metrics.retries.With({"blue", "get"}).value(), 2u);
  EXPECT_EQ(metrics.retries.With({"blue", "delete"}).value(), 0u);
  EXPECT_EQ(metrics.wait.With({"blue"}).count(), 4u);
  EXPECT_NEAR(metrics.wait.With({"blue"}).sum(), 2.85, 0.1);  // three turns, less the two back-offs
  EXPECT_EQ(metrics.seconds.With({"blue", "get"}).count(), 3u);
}

rt::Task<Result<std::unique_ptr<Watch>>> NoWatch(size_t calls) {
  if (calls < 3) co_return UnavailableError("x");
  co_return FromServer(410, "Expired");
}
rt::Task<Result<Discovered>> NoDiscovery(size_t calls) {
  if (calls < 6) co_return FromServer(429, "TooManyRequests", 1);
  co_return Discovered{.server_version = "v1"};
}

TEST(PoliteApiTest, OpeningAWatchAndDiscoveryAreReads) {
  rt::VirtualLoop loop(1);
  ScriptedApi below(loop);
  below.on_watch = [&](WatchCall, rt::Deadline) { return NoWatch(below.calls); };
  below.on_discover = [&](rt::Deadline) { return NoDiscovery(below.calls); };
  PoliteApi api(below, {.in_flight_max = 1});
  EXPECT_EQ(loop.Run(api.OpenWatch({}, rt::Deadline::After(loop, seconds(30)))).error().kind(), ErrorKind::kGone);
  EXPECT_EQ(below.calls, 3u);
  EXPECT_EQ(loop.Run(api.Discover(rt::Deadline::After(loop, seconds(30))))->server_version, "v1");
  EXPECT_EQ(below.calls, 6u);
}

TEST(TokenBucketTest, OddNumbersAreHarmless) {
  const MonotonicTime now{};
  EXPECT_EQ(TokenBucket(0, 0).Take(now, now), now);
  EXPECT_EQ(TokenBucket(-1, 0).Take(now, now), now);
  TokenBucket slow(1e-300, 0);
  EXPECT_EQ(slow.Take(now, kForever), now);
  EXPECT_EQ(slow.Take(now, kForever), std::nullopt);
  slow.GiveBack();
  EXPECT_EQ(slow.Take(now, now), now);
}

}  // namespace
}  // namespace baton::kube
