// Retry: tries again until it works, the error is not worth another try, or the deadline passes. Owns back-off, jitter
// and deadline; dropping the task cancels it at any point. Honours a server's retry-after.
//
//   Result<Value> v = co_await Retry(loop, RetryPolicy{}, deadline, [&](Deadline d) { return api.Get(key, d); });
//
// Only for calls that may be repeated: a lost answer does not mean that nothing happened.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/strings.h"
#include "rt/loop.h"
#include "rt/when.h"

namespace baton::rt {

struct RetryPolicy {
  Duration first_delay = milliseconds(100);
  Duration max_delay = seconds(10);
  double factor = 2.0;
  double jitter = 0.2;             // each delay is stretched by a random part of this fraction
  int max_attempts = 0;            // 0: as many as the deadline allows
  std::string what = "an answer";  // named in the error when the deadline passes
  // What is worth another try. By default: throttled, unavailable, and a deadline of the attempt's own.
  std::function<bool(const Error&)> retryable = [](const Error& error) {
    return error.kind() == ErrorKind::kThrottled || error.kind() == ErrorKind::kUnavailable ||
           error.kind() == ErrorKind::kDeadlineExceeded;
  };
};

// The delays of one series of tries: grows by `factor` up to `max_delay`, with jitter on top.
class Backoff {
 public:
  explicit Backoff(const RetryPolicy& policy)
      : next_(policy.first_delay), max_(policy.max_delay), factor_(policy.factor), jitter_(policy.jitter) {}
  Duration Next(Random& random);

 private:
  Duration next_;
  Duration max_;
  double factor_;
  double jitter_;
};

// `attempt` is called with the deadline and returns Task<Result<T>>. A try that the deadline cuts short gives
// DeadlineExceeded, which also tells how the try before it had failed.
template <class Attempt>
std::invoke_result_t<Attempt&, Deadline> Retry(Loop& loop, RetryPolicy policy, Deadline deadline, Attempt attempt) {
  Backoff backoff(policy);
  std::optional<Error> before;
  for (int64_t tries = 1;; ++tries) {
    auto result = co_await WithDeadline(deadline, policy.what, attempt(deadline));
    if (result.ok()) co_return result;
    if (deadline.Passed(loop)) {
      if (!before || result.error().kind() != ErrorKind::kDeadlineExceeded) co_return result;
      co_return DeadlineExceededError(StrCat(result.error().message(), "; the try before: ", before->ToString()));
    }
    if (!policy.retryable(result.error()) || tries == policy.max_attempts) co_return result;
    Duration delay = backoff.Next(loop.random());
    if (const auto asked = result.error().retry_after_seconds()) delay = std::max<Duration>(delay, seconds(*asked));
    // No time for another try: the last error says more than "deadline passed".
    if (delay >= deadline.Left(loop)) co_return result;
    before = result.error();
    co_await loop.Sleep(delay);
  }
}

}  // namespace baton::rt
