// PoliteApi: in front of another Api: does not ask too much of its server, and asks again what may be asked again.
//
//   PoliteMetrics metrics(registry);                                     // one for all clusters
//   PoliteApi polite(*remote, {.cluster = "member-1", .qps = 50, .burst = 100}, &metrics);
//
// Limits: calls a second (with a burst), and calls at a time. Who has to wait longer than until the deadline is told so
// at once, and nothing was sent. Watches count while they are opened only.
//
// Retries, all within the caller's deadline:
//   - what the server refused unprocessed (429; 503 with Retry-After): every verb, after what the server asks for
//   - reads that got no answer (kUnavailable, the server's own timeout): with back-off
//   - nothing else. A write whose outcome is unknown is the caller's to decide about: read, and decide again. A 429 for
//     a disruption budget is a decision of the server's and no overload, and is the caller's, too.
// When there is no time for another try, the last one's error is the answer.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "kube/api.h"
#include "kube/token_bucket.h"
#include "rt/retry.h"
#include "rt/semaphore.h"

namespace baton::kube {

struct PoliteOptions {
  std::string cluster;       // for metrics
  double qps = 0;            // calls a second; 0: any number
  size_t burst = 1;          // at once after a pause
  size_t in_flight_max = 0;  // at a time; 0: any number
  rt::RetryPolicy retry = {.first_delay = milliseconds(50), .max_delay = seconds(5)};
};

// The families; one registry can have them only once. Outlives the PoliteApis.
struct PoliteMetrics {
  explicit PoliteMetrics(MetricRegistry& registry);

  Family<Counter> calls;      // by cluster, verb, result
  Family<Counter> retries;    // by cluster, verb
  Family<Histogram> wait;     // for our own limits, by cluster
  Family<Histogram> seconds;  // of single tries, by cluster, verb
};

// Whether the same call may be made again after this error: see above.
bool MayRetry(const Call& call, const Error& error);
bool MayRetryRead(const Error& error);

class PoliteApi final : public Api {
 public:
  // `below` outlives this, `metrics` (may be null) too.
  PoliteApi(Api& below, PoliteOptions options, const PoliteMetrics* metrics = nullptr);
  ~PoliteApi() override;

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override;
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override;
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override;

 private:
  struct Counters;  // of one verb
  static constexpr size_t kVerbs = 9;

  // One attempt after the other until one is answered for good.
  template <class T>
  rt::Task<Result<T>> Attempts(size_t verb, rt::Deadline deadline, std::function<bool(const Error&)> may_retry,
                               std::function<rt::Task<Result<T>>()> attempt);
  rt::Task<Result<rt::Semaphore::Permit>> Admit(rt::Deadline deadline);
  rt::Task<Result<rt::Semaphore::Permit>> AcquireSlot();

  Api& below_;
  PoliteOptions options_;
  TokenBucket bucket_;
  std::optional<rt::Semaphore> in_flight_;
  Histogram wait_;
  std::array<std::unique_ptr<Counters>, kVerbs> counters_;
};

}  // namespace baton::kube
