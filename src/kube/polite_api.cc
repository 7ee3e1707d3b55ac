// Limits and retries in front of an Api.
#include "kube/polite_api.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

constexpr size_t kWatchVerb = 7;  // behind those of Verb
constexpr size_t kDiscoverVerb = 8;
constexpr size_t kResults = 17;  // ok, and one for each ErrorKind
constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;

std::string_view NameOfVerb(size_t verb) {
  if (verb == kWatchVerb) return "watch";
  return verb == kDiscoverVerb ? "discover" : VerbName(static_cast<Verb>(verb));
}

// The server says that it did nothing.
bool WasRefused(const Error& error) {
  const Status* status = error.status();
  if (status == nullptr) return false;
  for (const StatusCause& cause : status->causes) {
    if (cause.reason == "DisruptionBudget") return false;
  }
  return status->code == kTooManyRequests ||
         (status->code == kServiceUnavailable && status->retry_after_seconds.has_value());
}

// Gives a turn back when it was not used.
class Turn {
 public:
  explicit Turn(TokenBucket& bucket) : bucket_(&bucket) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (bucket_ != nullptr) bucket_->GiveBack();
  }
  void Use() { bucket_ = nullptr; }

 private:
  TokenBucket* bucket_;
};

}  // namespace

PoliteMetrics::PoliteMetrics(MetricRegistry& registry)
    : calls(registry.AddCounters("baton_kube_calls_total", "Calls to Kubernetes APIs, by their last result.",
                                 {"cluster", "verb", "result"})),
      retries(registry.AddCounters("baton_kube_retries_total", "Calls to Kubernetes APIs that were made again.",
                                   {"cluster", "verb"})),
      wait(registry.AddHistograms("baton_kube_wait_seconds", "How long calls waited for our own limits.", {"cluster"},
                                  kCallSeconds)),
      seconds(registry.AddHistograms("baton_kube_call_seconds", "How long single tries of calls took.",
                                     {"cluster", "verb"}, kCallSeconds)) {}

struct PoliteApi::Counters {
  Counters(const PoliteMetrics& of, std::string_view cluster_name, std::string_view verb_name)
      : metrics(of),
        cluster(cluster_name),
        verb(verb_name),
        retries(of.retries.With({cluster_name, verb_name})),
        seconds(of.seconds.With({cluster_name, verb_name})) {
    results[0] = of.calls.With({cluster, verb, "ok"});
  }

  void Count(const Error* error) {
    const size_t index = error == nullptr ? 0 : 1 + static_cast<size_t>(error->kind());
    if (!results[index]) results[index] = metrics.calls.With({cluster, verb, ErrorKindName(error->kind())});
    results[index]->Add();
  }

  const PoliteMetrics& metrics;
  std::string cluster, verb;
  Counter retries;
  Histogram seconds;
  std::array<std::optional<Counter>, kResults> results;
};

bool MayRetryRead(const Error& error) {
  return WasRefused(error) || error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kDeadlineExceeded;
}

bool MayRetry(const Call& call, const Error& error) { return call.IsWrite() ? WasRefused(error) : MayRetryRead(error); }

PoliteApi::PoliteApi(Api& below, PoliteOptions options, const PoliteMetrics* metrics)
    : below_(below), options_(std::move(options)), bucket_(options_.qps, static_cast<double>(options_.burst)) {
  if (options_.in_flight_max > 0) in_flight_.emplace(options_.in_flight_max);
  if (metrics == nullptr) return;
  wait_ = metrics->wait.With({options_.cluster});
  for (size_t verb = 0; verb < kVerbs; ++verb) {
    counters_[verb] = std::make_unique<Counters>(*metrics, options_.cluster, NameOfVerb(verb));
  }
}

PoliteApi::~PoliteApi() = default;

rt::Task<Result<rt::Semaphore::Permit>> PoliteApi::AcquireSlot() { co_return co_await in_flight_->Acquire(); }

// A permit that is not held when there is no limit to the calls at a time.
rt::Task<Result<rt::Semaphore::Permit>> PoliteApi::Admit(rt::Deadline deadline) {
  const MonotonicTime start = loop().Now();
  const std::optional<MonotonicTime> at = bucket_.Take(start, deadline.at());
  if (!at) {
    co_return DeadlineExceededError(
        StrCat("nothing was sent: our own limit of ", options_.qps, " calls a second has no turn before the deadline"));
  }
  Turn turn(bucket_);
  if (*at > start) co_await loop().SleepUntil(*at);
  rt::Semaphore::Permit permit;
  if (in_flight_) {
    permit = in_flight_->TryAcquire();
    if (!permit.held()) {
      const std::string what =
          StrCat("one of the ", options_.in_flight_max, " calls at a time to end, nothing was sent");
      permit = CO_TRY(co_await rt::WithDeadline(deadline, what, AcquireSlot()));
    }
  }
  turn.Use();
  wait_.Observe(loop().Now() - start);
  co_return permit;
}

template <class T>
rt::Task<Result<T>> PoliteApi::Attempts(size_t verb, rt::Deadline deadline, std::function<bool(const Error&)> may_retry,
                                        std::function<rt::Task<Result<T>>()> attempt) {
  rt::Backoff backoff(options_.retry);
  Counters* counters = counters_[verb].get();
  std::optional<Error> before;
  while (true) {
    Result<rt::Semaphore::Permit> permit = co_await Admit(deadline);
    if (!permit.ok()) {
      // What the server said last tells more than that we have to wait.
      const Error error = before.value_or(permit.error());
      if (counters != nullptr) counters->Count(&error);
      co_return error;
    }
    const MonotonicTime start = loop().Now();
    Result<T> result = co_await attempt();
    permit->Release();
    if (counters != nullptr) counters->seconds.Observe(loop().Now() - start);
    if (!result.ok() && before && deadline.Passed(loop()) && result.error().kind() == ErrorKind::kDeadlineExceeded) {
      // This try's outcome is unknown, whatever the one before it was told.
      result = DeadlineExceededError(StrCat(result.error().message(), "; the try before: ", before->ToString()));
    } else if (!result.ok() && may_retry(result.error())) {
      Duration delay = backoff.Next(loop().random());
      if (const auto asked = result.error().retry_after_seconds()) delay = std::max<Duration>(delay, seconds(*asked));
      if (delay < deadline.Left(loop())) {
        if (counters != nullptr) counters->retries.Add();
        before = std::move(result).error();
        co_await loop().Sleep(delay);
        continue;
      }
    }
    if (counters != nullptr) counters->Count(result.ok() ? nullptr : &result.error());
    co_return result;
  }
}

rt::Task<Result<Answer>> PoliteApi::Do(CallBox call, rt::Deadline deadline) {
  const size_t verb = static_cast<size_t>(call->verb);
  co_return co_await Attempts<Answer>(
      verb, deadline, [&call](const Error& error) { return MayRetry(*call, error); },
      [this, &call, deadline] { return below_.Do(call, deadline); });
}

rt::Task<Result<std::unique_ptr<Watch>>> PoliteApi::OpenWatch(WatchCall call, rt::Deadline deadline) {
  co_return co_await Attempts<std::unique_ptr<Watch>>(
      kWatchVerb, deadline, MayRetryRead, [this, &call, deadline] { return below_.OpenWatch(call, deadline); });
}

rt::Task<Result<Discovered>> PoliteApi::Discover(rt::Deadline deadline) {
  co_return co_await Attempts<Discovered>(kDiscoverVerb, deadline, MayRetryRead,
                                          [this, deadline] { return below_.Discover(deadline); });
}

}  // namespace baton::kube
