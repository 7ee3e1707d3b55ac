// Metrics: counters, gauges and histograms, printed as Prometheus text.
//
//   MetricRegistry metrics;
//   Counter grants = metrics.AddCounter("baton_grants_total", "Grants of the right to run.");
//   Family<Histogram> calls = metrics.AddHistograms("baton_member_call_seconds", "Calls to members, by outcome.",
//                                                   {"cluster", "outcome"}, kCallSeconds);
//   Histogram ok = calls.With({name, "ok"});       // look up once, keep the handle
//   grants.Add();
//   ok.Observe(elapsed);
//   Answer(kMetricsContentType, metrics.Text());
//
// A handle is a pointer: copy it, keep it, use it from any thread; an update takes a few nanoseconds. A default-made
// handle counts nothing. The registry must outlive its handles.
//
// A series is printed from the moment its handle exists, with zero: ask for the handles at the start, so that a rate is
// right from the first event on. Families, names and help texts come from code, so that a wrong one is a bug and ends
// the process at once (INVARIANT): not of the form Prometheus asks for, registered twice, a counter without "_total".
// Label values may come from anywhere: they are cut, made UTF-8 and escaped, and there is a limit to how many there
// are.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace baton {

// Beyond this many series a family adds new label values to one series whose labels are all "other".
inline constexpr size_t kMaxSeriesPerFamily = 1000;
inline constexpr std::string_view kOtherSeries = "other";
inline constexpr size_t kMaxLabelValueBytes = 256;
inline constexpr size_t kMaxBuckets = 64;

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Bounds for histograms of seconds: work in this process and on its disk; calls over a network; moves of workloads.
inline constexpr std::array<double, 13> kLocalSeconds = {0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001,
                                                         0.0025,  0.005,    0.01,    0.025,  0.1,     1};
inline constexpr std::array<double, 13> kCallSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                        0.25,  0.5,    1,     2.5,  5,     10};
inline constexpr std::array<double, 13> kRolloutSeconds = {1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400};

// Whether Prometheus takes the name: [a-zA-Z_:][a-zA-Z0-9_:]*, for labels without ':' and not starting with "__".
bool IsMetricName(std::string_view name);
bool IsLabelName(std::string_view name);

namespace metrics_internal {

// One series of any type, on a cache line of its own, so that two busy counters do not slow each other down.
struct alignas(64) Series {
  std::atomic<uint64_t> count = 0;                   // a counter's value
  std::atomic<double> number = 0;                    // a gauge's value, a histogram's sum
  std::span<const double> bounds;                    // a histogram's, in the family
  std::unique_ptr<std::atomic<uint64_t>[]> buckets;  // one more than bounds; not cumulative
};

struct FamilyRep;
Series* FindOrAdd(FamilyRep& family, std::span<const std::string_view> label_values);

}  // namespace metrics_internal

// Only grows. The value wraps at 2^64, which Prometheus takes for a restart.
class Counter {
 public:
  Counter() = default;
  void Add(uint64_t n = 1) const {
    if (series_ != nullptr) series_->count.fetch_add(n, std::memory_order_relaxed);
  }
  uint64_t value() const { return series_ == nullptr ? 0 : series_->count.load(std::memory_order_relaxed); }

 private:
  friend class MetricRegistry;
  template <class Handle>
  friend class Family;
  explicit Counter(metrics_internal::Series* series) : series_(series) {}
  metrics_internal::Series* series_ = nullptr;
};

// Goes up and down.
class Gauge {
 public:
  Gauge() = default;
  void Set(double value) const {
    if (series_ != nullptr) series_->number.store(value, std::memory_order_relaxed);
  }
  void Add(double delta) const {
    if (series_ != nullptr) series_->number.fetch_add(delta, std::memory_order_relaxed);
  }
  double value() const { return series_ == nullptr ? 0 : series_->number.load(std::memory_order_relaxed); }

 private:
  friend class MetricRegistry;
  template <class Handle>
  friend class Family;
  explicit Gauge(metrics_internal::Series* series) : series_(series) {}
  metrics_internal::Series* series_ = nullptr;
};

// Counts observations by size. A NaN is left out: it would make the sum NaN for ever.
class Histogram {
 public:
  Histogram() = default;
  void Observe(double value) const {
    if (series_ == nullptr || value != value) return;
    size_t bucket = 0;
    while (bucket < series_->bounds.size() && value > series_->bounds[bucket]) ++bucket;
    series_->buckets[bucket].fetch_add(1, std::memory_order_relaxed);
    series_->number.fetch_add(value, std::memory_order_relaxed);
  }
  void Observe(Duration duration) const { Observe(std::chrono::duration<double>(duration).count()); }
  uint64_t count() const;
  double sum() const { return series_ == nullptr ? 0 : series_->number.load(std::memory_order_relaxed); }

 private:
  friend class MetricRegistry;
  template <class Handle>
  friend class Family;
  explicit Histogram(metrics_internal::Series* series) : series_(series) {}
  metrics_internal::Series* series_ = nullptr;
};

// The series of one name, told apart by labels. A pointer, as the handles are.
template <class Handle>
class Family {
 public:
  Family() = default;

  // The series with these values, one for each label of the family and in its order; new series start at zero. Takes a
  // lock: keep the handle instead of asking for each event.
  Handle With(std::initializer_list<std::string_view> label_values) const {
    return rep_ == nullptr ? Handle() : Handle(metrics_internal::FindOrAdd(*rep_, label_values));
  }

 private:
  friend class MetricRegistry;
  explicit Family(metrics_internal::FamilyRep* rep) : rep_(rep) {}
  metrics_internal::FamilyRep* rep_ = nullptr;
};

class MetricRegistry {
 public:
  MetricRegistry();
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  using LabelNames = std::initializer_list<std::string_view>;

  Counter AddCounter(std::string_view name, std::string_view help);
  Gauge AddGauge(std::string_view name, std::string_view help);
  Histogram AddHistogram(std::string_view name, std::string_view help, std::span<const double> bounds);

  Family<Counter> AddCounters(std::string_view name, std::string_view help, LabelNames labels);
  Family<Gauge> AddGauges(std::string_view name, std::string_view help, LabelNames labels);
  Family<Histogram> AddHistograms(std::string_view name, std::string_view help, LabelNames labels,
                                  std::span<const double> bounds);

  // All series in Prometheus' text format 0.0.4; families sorted by name, series by label values.
  std::string Text() const;

 private:
  metrics_internal::FamilyRep* Add(std::string_view type, std::string_view name, std::string_view help,
                                   LabelNames labels, std::span<const double> bounds);

  mutable std::mutex mutex_;  // guards the two below
  std::map<std::string, std::unique_ptr<metrics_internal::FamilyRep>, std::less<>> families_;
  std::set<std::string, std::less<>> taken_names_;  // the families', and those their series print under
};

}  // namespace baton
