// Metrics: the text format, the checks, the limit on series, threads.
#include "base/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"

namespace baton {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(MetricsTest, PrintsAllSeriesSortedAndFromZero) {
  MetricRegistry metrics;
  const std::vector<double> bounds = {0.5, 1, 2.5};
  metrics.AddGauge("z_last", "The last.").Set(-1.5);
  const Family<Counter> calls = metrics.AddCounters("calls_total", "Calls by outcome.", {"cluster", "outcome"});
  calls.With({"green", "ok"}).Add(3);
  calls.With({"blue", "error"});
  calls.With({"blue", "ok"}).Add();
  metrics.AddCounter("a_total", "The first.");
  const Histogram seconds_taken = metrics.AddHistogram("m_seconds", "Time.", bounds);
  for (const double value : {0.1, 0.5, 0.6, 2.5, 100.0}) seconds_taken.Observe(value);
  metrics.AddGauges("no_series_yet", "Nobody asked.", {"cluster"});
  EXPECT_EQ(metrics.Text(),
            "# HELP a_total The first.\n"
            "# TYPE a_total counter\n"
            "a_total 0\n"
            "# HELP calls_total Calls by outcome.\n"
            "# TYPE calls_total counter\n"
            "calls_total{cluster=\"blue\",outcome=\"error\"} 0\n"
            "calls_total{cluster=\"blue\",outcome=\"ok\"} 1\n"
            "calls_total{cluster=\"green\",outcome=\"ok\"} 3\n"
            "# HELP m_seconds Time.\n"
            "# TYPE m_seconds histogram\n"
            "m_seconds_bucket{le=\"0.5\"} 2\n"
            "m_seconds_bucket{le=\"1\"} 3\n"
            "m_seconds_bucket{le=\"2.5\"} 4\n"
            "m_seconds_bucket{le=\"+Inf\"} 5\n"
            "m_seconds_sum 103.7\n"
            "m_seconds_count 5\n"
            "# HELP no_series_yet Nobody asked.\n"
            "# TYPE no_series_yet gauge\n"
            "# HELP z_last The last.\n"
            "# TYPE z_last gauge\n"
            "z_last -1.5\n");
}

TEST(MetricsTest, PrintsAHistogramWithLabels) {
  MetricRegistry metrics;
  const std::vector<double> bounds = {1e-05, 1};
  metrics.AddHistograms("h_seconds", "H.", {"cluster"}, bounds).With({"blue"}).Observe(milliseconds(250));
  EXPECT_EQ(metrics.Text(),
            "# HELP h_seconds H.\n"
            "# TYPE h_seconds histogram\n"
            "h_seconds_bucket{cluster=\"blue\",le=\"1e-05\"} 0\n"
            "h_seconds_bucket{cluster=\"blue\",le=\"1\"} 1\n"
            "h_seconds_bucket{cluster=\"blue\",le=\"+Inf\"} 1\n"
            "h_seconds_sum{cluster=\"blue\"} 0.25\n"
            "h_seconds_count{cluster=\"blue\"} 1\n");
}

TEST(MetricsTest, AnEmptyRegistryPrintsNothing) { EXPECT_EQ(MetricRegistry().Text(), ""); }

TEST(MetricsTest, EscapesHelpAndLabelValues) {
  MetricRegistry metrics;
  metrics.AddGauges("g", "a \"b\" \\ c\nd", {"l"}).With({"a \"b\" \\ c\nd \xff \xc3\xa9"});
  EXPECT_EQ(metrics.Text(),
            "# HELP g a \"b\" \\\\ c\\nd\n"
            "# TYPE g gauge\n"
            "g{l=\"a \\\"b\\\" \\\\ c\\nd \xef\xbf\xbd \xc3\xa9\"} 0\n");
}

TEST(MetricsTest, PrintsNumbersAsPrometheusReadsThem) {
  const std::vector<std::pair<double, std::string>> cases = {
      {0, "0"},
      {1, "1"},
      {0.1, "0.1"},
      {-2.5, "-2.5"},
      {1e100, "1e+100"},
      {kInfinity, "+Inf"},
      {-kInfinity, "-Inf"},
      {kNan, "NaN"},
  };
  for (const auto& [value, text] : cases) {
    MetricRegistry metrics;
    metrics.AddGauge("g", "G.").Set(value);
    EXPECT_TRUE(metrics.Text().ends_with(StrCat("\ng ", text, "\n"))) << metrics.Text();
  }
  MetricRegistry metrics;
  metrics.AddCounter("c_total", "C.").Add(UINT64_MAX);
  EXPECT_TRUE(metrics.Text().ends_with("c_total 18446744073709551615\n"));
}

TEST(MetricsTest, AHandleReadsBackItsValue) {
  MetricRegistry metrics;
  const Counter counter = metrics.AddCounter("c_total", "C.");
  counter.Add();
  counter.Add(2);
  EXPECT_EQ(counter.value(), 3U);
  const Gauge gauge = metrics.AddGauge("g", "G.");
  gauge.Set(5);
  gauge.Add(-1.5);
  EXPECT_EQ(gauge.value(), 3.5);
  const Histogram histogram = metrics.AddHistogram("h", "H.", kCallSeconds);
  histogram.Observe(0.5);
  histogram.Observe(seconds(2));
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.sum(), 2.5);
}

TEST(MetricsTest, ADefaultMadeHandleCountsNothing) {
  const Counter counter;
  const Gauge gauge;
  const Histogram histogram;
  counter.Add();
  gauge.Set(1);
  gauge.Add(1);
  histogram.Observe(1.0);
  Family<Counter>().With({"any"}).Add();
  EXPECT_EQ(counter.value(), 0U);
  EXPECT_EQ(gauge.value(), 0);
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.sum(), 0);
}

TEST(MetricsTest, TheSameLabelsAreTheSameSeries) {
  MetricRegistry metrics;
  const Family<Counter> family = metrics.AddCounters("c_total", "C.", {"a", "b"});
  family.With({"x", "y"}).Add();
  family.With({"x", "y"}).Add();
  EXPECT_EQ(family.With({"x", "y"}).value(), 2U);
  EXPECT_EQ(family.With({"y", "x"}).value(), 0U);
}

TEST(MetricsTest, AHistogramTakesInfinityAndLeavesOutNan) {
  MetricRegistry metrics;
  const Histogram histogram = metrics.AddHistogram("h", "H.", kCallSeconds);
  histogram.Observe(kNan);
  EXPECT_EQ(histogram.count(), 0U);
  histogram.Observe(-kInfinity);
  EXPECT_NE(metrics.Text().find("h_bucket{le=\"0.001\"} 1\n"), std::string::npos);
  histogram.Observe(1e300);
  EXPECT_NE(metrics.Text().find("h_bucket{le=\"10\"} 1\nh_bucket{le=\"+Inf\"} 2\n"), std::string::npos);
}

TEST(MetricsTest, FoldsSeriesBeyondTheLimitIntoOther) {
  MetricRegistry metrics;
  const Family<Histogram> family = metrics.AddHistograms("h", "H.", {"a", "b"}, kCallSeconds);
  for (size_t i = 0; i < kMaxSeriesPerFamily + 50; ++i) family.With({StrCat(i), "x"}).Observe(1.0);
  EXPECT_EQ(family.With({kOtherSeries, kOtherSeries}).count(), 50U);
  EXPECT_EQ(family.With({"7", "x"}).count(), 1U);  // those that were there stay themselves
  const std::string text = metrics.Text();
  EXPECT_NE(text.find("h_count{a=\"other\",b=\"other\"} 50\n"), std::string::npos);
  size_t series = 0;
  for (const std::string_view line : Split(text, '\n')) series += line.starts_with("h_count{") ? 1 : 0;
  EXPECT_EQ(series, kMaxSeriesPerFamily + 1);
  EXPECT_EQ(metrics.AddCounter("c_total", "Another family has its own limit.").value(), 0U);
}

TEST(MetricsTest, CutsLongLabelValuesBetweenCharacters) {
  MetricRegistry metrics;
  const Family<Gauge> family = metrics.AddGauges("g", "G.", {"l"});
  family.With({std::string(kMaxLabelValueBytes - 1, 'x') + "\xc3\xa9"}).Set(1);
  EXPECT_EQ(family.With({std::string(kMaxLabelValueBytes - 1, 'x')}).value(), 1);
}

TEST(MetricsTest, KnowsNamesThatPrometheusTakes) {
  for (const std::string_view name : {"a", "_a", "A9_:z", "baton_calls_total", "a:b"}) EXPECT_TRUE(IsMetricName(name));
  for (const std::string_view name : {"", "9a", "a-b", "a b", "a.b", "a\n", "\xc3\xa9"})
    EXPECT_FALSE(IsMetricName(name));
  for (const std::string_view name : {"a", "_a", "cluster9"}) EXPECT_TRUE(IsLabelName(name));
  for (const std::string_view name : {"", "9", "a:b", "__a", "a-b"}) EXPECT_FALSE(IsLabelName(name));
}

TEST(MetricsDeathTest, AWrongDefinitionEndsTheProcess) {
  const std::vector<double> descending = {2, 1};
  const std::vector<double> infinite = {1, kInfinity};
  MetricRegistry metrics;
  metrics.AddCounter("c_total", "C.");
  metrics.AddHistogram("h", "H.", kCallSeconds);
  EXPECT_DEATH(metrics.AddGauge("a-b", "A."), "is not a metric name");
  EXPECT_DEATH(metrics.AddGauge("a", ""), "metric a has no proper help text");
  EXPECT_DEATH(metrics.AddGauge("a", "\xff"), "metric a has no proper help text");
  EXPECT_DEATH(metrics.AddCounter("a", "A."), "counter a does not end in _total");
  EXPECT_DEATH(metrics.AddCounter("c_total", "C."), "metric c_total is registered twice");
  EXPECT_DEATH(metrics.AddGauge("h_sum", "S."), "metric h_sum is registered twice");
  EXPECT_DEATH(metrics.AddGauges("a", "A.", {"__b"}), "is not a label name");
  EXPECT_DEATH(metrics.AddGauges("a", "A.", {"b", "b"}), "metric a has label b twice");
  EXPECT_DEATH(metrics.AddHistograms("a", "A.", {"le"}, kCallSeconds), "label le of metric a is for its buckets");
  EXPECT_DEATH(metrics.AddHistogram("a", "A.", {}), "metric a has 0 buckets");
  EXPECT_DEATH(metrics.AddHistogram("a", "A.", descending), "do not ascend");
  EXPECT_DEATH(metrics.AddHistogram("a", "A.", infinite), "do not ascend");
  EXPECT_DEATH(metrics.AddGauges("a", "A.", {"b"}).With({"x", "y"}), "metric a has 1 labels, not 2");
}

TEST(MetricsTest, TheBucketSetsAreProper) {
  MetricRegistry metrics;
  metrics.AddHistogram("a", "A.", kLocalSeconds);
  metrics.AddHistogram("b", "B.", kCallSeconds);
  metrics.AddHistogram("c", "C.", kRolloutSeconds);
}

TEST(MetricsTest, ThreadsLoseNoUpdate) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  constexpr uint64_t kUpdates = uint64_t{kThreads} * kRounds;
  MetricRegistry metrics;
  const Counter counter = metrics.AddCounter("c_total", "C.");
  const Gauge gauge = metrics.AddGauge("g", "G.");
  const Histogram histogram = metrics.AddHistogram("h", "H.", kCallSeconds);
  const Family<Counter> family = metrics.AddCounters("f_total", "F.", {"l"});
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i) {
          counter.Add();
          gauge.Add(1);
          histogram.Observe(1.0);
          family.With({StrCat(i % 10)}).Add();
          if (i % 500 == 0) EXPECT_FALSE(metrics.Text().empty());
        }
      });
    }
  }
  EXPECT_EQ(counter.value(), kUpdates);
  EXPECT_EQ(gauge.value(), double{kUpdates});
  EXPECT_EQ(histogram.count(), kUpdates);
  EXPECT_EQ(histogram.sum(), double{kUpdates});
  EXPECT_EQ(family.With({"3"}).value(), kUpdates / 10);
}

}  // namespace
}  // namespace baton
