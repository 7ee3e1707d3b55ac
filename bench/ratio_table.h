// A google-benchmark reporter that ends with a table of ratios: what one run says, whatever the machine's mood.
//
// Benchmarks are named "<what>/<who>" ("parse/ours", "parse/nlohmann"). A Goal names two of them and how many times
// faster the first must be. Repetitions: the fastest counts, because noise only ever adds time.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace baton::bench {

struct Goal {
  std::string what;
  std::string ours;
  std::string other;
  double at_least;  // other's time divided by ours; 0: shown for information only
};

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  // `operations`: how many of what is measured one iteration does.
  explicit RatioReporter(double operations = 1) : ConsoleReporter(OO_Tabular), operations_(operations) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double nanoseconds = run.cpu_accumulated_time / static_cast<double>(run.iterations) * 1e9 / operations_;
      auto [at, added] = best_.try_emplace(
          run.run_name.function_name + (run.run_name.args.empty() ? "" : "/" + run.run_name.args), nanoseconds);
      if (!added && nanoseconds < at->second) at->second = nanoseconds;
    }
    ConsoleReporter::ReportRuns(runs);
  }

  double Best(const std::string& name) const {
    const auto at = best_.find(name);
    return at == best_.end() ? 0 : at->second;
  }

  // Prints the table; false when a goal was missed.
  bool PrintGoals(const std::vector<Goal>& goals) const {
    std::printf("\n%-24s %14s %14s %10s %10s\n", "what", "ours ns", "other ns", "ratio", "goal");
    bool reached = true;
    for (const Goal& goal : goals) {
      const double ours = Best(goal.ours);
      const double other = Best(goal.other);
      if (ours == 0 || other == 0) continue;  // filtered out on the command line
      const double ratio = other / ours;
      const bool ok = ratio >= goal.at_least;
      reached = reached && ok;
      std::printf("%-24s %14.1f %14.1f %9.2fx %9.2fx %s\n", goal.what.c_str(), ours, other, ratio, goal.at_least,
                  goal.at_least == 0 ? ""
                  : ok               ? "reached"
                                     : "MISSED");
    }
    return reached;
  }

 private:
  double operations_;
  std::map<std::string, double> best_;
};

}  // namespace baton::bench
