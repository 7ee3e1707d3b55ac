// The registry and the text format. Written by hand rather than on prometheus-cpp: its series come in hash order, an
// observation takes a lock there, and the format is small.
#include "base/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/invariant.h"
#include "base/probe.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton {

namespace metrics_internal {

struct FamilyRep {
  std::string_view type;  // "counter", "gauge", "histogram"
  std::string name;
  std::string help;
  std::vector<std::string> labels;
  std::vector<double> bounds;

  mutable std::mutex mutex;
  std::map<std::vector<std::string>, Series> series;  // by label values; a node stays where it is
};

namespace {

std::string CleanLabelValue(std::string_view value) {
  return ReplaceInvalidUtf8(Utf8Prefix(value, kMaxLabelValueBytes));
}

}  // namespace

Series* FindOrAdd(FamilyRep& family, std::span<const std::string_view> label_values) {
  INVARIANT(label_values.size() == family.labels.size(),
            StrCat("metric ", family.name, " has ", family.labels.size(), " labels, not ", label_values.size()));
  std::vector<std::string> key;
  key.reserve(label_values.size());
  for (const std::string_view value : label_values) key.push_back(CleanLabelValue(value));

  std::lock_guard lock(family.mutex);
  auto at = family.series.find(key);
  if (at != family.series.end()) return &at->second;
  if (family.series.size() >= kMaxSeriesPerFamily) {
    SOMETIMES("metrics.series_folded");
    std::ranges::fill(key, kOtherSeries);
  }
  at = family.series.try_emplace(std::move(key)).first;
  Series& series = at->second;
  if (!family.bounds.empty() && series.buckets == nullptr) {
    series.bounds = family.bounds;
    series.buckets = std::make_unique<std::atomic<uint64_t>[]>(family.bounds.size() + 1);
  }
  return &series;
}

}  // namespace metrics_internal

namespace {

using metrics_internal::FamilyRep;
using metrics_internal::Series;

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendNumber(std::string& out, double value) {
  if (std::isfinite(value)) return StrAppend(out, value);
  out += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

// Help texts escape backslash and newline, label values the quote as well.
void AppendEscaped(std::string& out, std::string_view text, bool quote) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quote && c == '"')) out += '\\';
      out += c;
    }
  }
}

// "name{label="value",le="0.5"} "; `bound` is null where there is no le.
void AppendSeriesName(std::string& out, const FamilyRep& family, std::string_view suffix,
                      const std::vector<std::string>& values, const double* bound) {
  StrAppend(out, family.name, suffix);
  char before = '{';
  for (size_t i = 0; i < values.size(); ++i) {
    StrAppend(out, std::exchange(before, ','), family.labels[i], "=\"");
    AppendEscaped(out, values[i], true);
    out += '"';
  }
  if (bound != nullptr) {
    StrAppend(out, std::exchange(before, ','), "le=\"");
    AppendNumber(out, *bound);
    out += '"';
  }
  out += before == ',' ? "} " : " ";
}

void AppendHistogram(std::string& out, const FamilyRep& family, const std::vector<std::string>& values,
                     const Series& series) {
  // The count is the sum of the buckets read here, so that it agrees with them whatever other threads do.
  uint64_t cumulative = 0;
  for (size_t i = 0; i <= family.bounds.size(); ++i) {
    cumulative += series.buckets[i].load(std::memory_order_relaxed);
    const double bound = i < family.bounds.size() ? family.bounds[i] : HUGE_VAL;
    AppendSeriesName(out, family, "_bucket", values, &bound);
    StrAppend(out, cumulative, '\n');
  }
  AppendSeriesName(out, family, "_sum", values, nullptr);
  AppendNumber(out, series.number.load(std::memory_order_relaxed));
  out += '\n';
  AppendSeriesName(out, family, "_count", values, nullptr);
  StrAppend(out, cumulative, '\n');
}

void AppendFamily(std::string& out, const FamilyRep& family) {
  StrAppend(out, "# HELP ", family.name, " ");
  AppendEscaped(out, family.help, false);
  StrAppend(out, "\n# TYPE ", family.name, " ", family.type, "\n");
  std::lock_guard lock(family.mutex);
  for (const auto& [values, series] : family.series) {
    if (family.type == "histogram") {
      AppendHistogram(out, family, values, series);
      continue;
    }
    AppendSeriesName(out, family, "", values, nullptr);
    if (family.type == "counter") {
      StrAppend(out, series.count.load(std::memory_order_relaxed));
    } else {
      AppendNumber(out, series.number.load(std::memory_order_relaxed));
    }
    out += '\n';
  }
}

void CheckFamily(const FamilyRep& family) {
  INVARIANT(IsMetricName(family.name), StrCat(Quote(family.name), " is not a metric name"));
  INVARIANT(!family.help.empty() && IsUtf8(family.help), StrCat("metric ", family.name, " has no proper help text"));
  INVARIANT(family.type != "counter" || family.name.ends_with("_total"),
            StrCat("the name of counter ", family.name, " does not end in _total"));
  for (size_t i = 0; i < family.labels.size(); ++i) {
    const std::string& label = family.labels[i];
    INVARIANT(IsLabelName(label), StrCat(Quote(label), " of metric ", family.name, " is not a label name"));
    INVARIANT(std::count(family.labels.begin(), family.labels.end(), label) == 1,
              StrCat("metric ", family.name, " has label ", label, " twice"));
    INVARIANT(label != "le" || family.type != "histogram",
              StrCat("label le of metric ", family.name, " is for its buckets"));
  }
  if (family.type != "histogram") return;
  INVARIANT(
      !family.bounds.empty() && family.bounds.size() <= kMaxBuckets,
      StrCat("metric ", family.name, " has ", family.bounds.size(), " buckets; 1 to ", kMaxBuckets, " are right"));
  INVARIANT(std::ranges::all_of(family.bounds, [](double bound) { return std::isfinite(bound); }) &&
                std::ranges::adjacent_find(family.bounds, std::greater_equal()) == family.bounds.end(),
            StrCat("the buckets of metric ", family.name, " do not ascend"));
}

}  // namespace

bool IsMetricName(std::string_view name) {
  return !name.empty() && !IsDigit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c) || c == ':'; });
}

bool IsLabelName(std::string_view name) {
  return IsMetricName(name) && name.find(':') == std::string_view::npos && !name.starts_with("__");
}

uint64_t Histogram::count() const {
  uint64_t count = 0;
  for (size_t i = 0; series_ != nullptr && i <= series_->bounds.size(); ++i) {
    count += series_->buckets[i].load(std::memory_order_relaxed);
  }
  return count;
}

MetricRegistry::MetricRegistry() = default;
MetricRegistry::~MetricRegistry() = default;

FamilyRep* MetricRegistry::Add(std::string_view type, std::string_view name, std::string_view help, LabelNames labels,
                               std::span<const double> bounds) {
  auto family = std::make_unique<FamilyRep>();
  family->type = type;
  family->name = name;
  family->help = help;
  family->labels.assign(labels.begin(), labels.end());
  family->bounds.assign(bounds.begin(), bounds.end());
  CheckFamily(*family);

  std::vector<std::string> names = {family->name};
  if (type == "histogram") {
    for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) names.push_back(StrCat(name, suffix));
  }
  std::lock_guard lock(mutex_);
  for (const std::string& taken : names) {
    INVARIANT(taken_names_.insert(taken).second, StrCat("metric ", taken, " is registered twice"));
  }
  return families_.emplace(family->name, std::move(family)).first->second.get();
}

Counter MetricRegistry::AddCounter(std::string_view name, std::string_view help) {
  return AddCounters(name, help, {}).With({});
}

Gauge MetricRegistry::AddGauge(std::string_view name, std::string_view help) {
  return AddGauges(name, help, {}).With({});
}

Histogram MetricRegistry::AddHistogram(std::string_view name, std::string_view help, std::span<const double> bounds) {
  return AddHistograms(name, help, {}, bounds).With({});
}

Family<Counter> MetricRegistry::AddCounters(std::string_view name, std::string_view help, LabelNames labels) {
  return Family<Counter>(Add("counter", name, help, labels, {}));
}

Family<Gauge> MetricRegistry::AddGauges(std::string_view name, std::string_view help, LabelNames labels) {
  return Family<Gauge>(Add("gauge", name, help, labels, {}));
}

Family<Histogram> MetricRegistry::AddHistograms(std::string_view name, std::string_view help, LabelNames labels,
                                                std::span<const double> bounds) {
  return Family<Histogram>(Add("histogram", name, help, labels, bounds));
}

std::string MetricRegistry::Text() const {
  std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) AppendFamily(out, *family);
  return out;
}

}  // namespace baton
