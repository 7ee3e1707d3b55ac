// Matching a template against 5,000 propagation policies, from the best case (each names one template) to the worst
// (all are cluster-scoped and select by label).
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "base/strings.h"
#include "bench/ratio_table.h"
#include "federation/match.h"
#include "json/value.h"

namespace {

using baton::StrCat;
using baton::json::Array;
using baton::json::Object;
using baton::json::Value;
using namespace baton::federation;  // NOLINT(google-build-using-namespace): it is what is measured

constexpr int kPolicies = 5000;

PolicySet Policies(bool by_name) {
  PolicySet set;
  for (int i = 0; i < kPolicies; ++i) {
    Value selector = Object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
    if (by_name) {
      selector.Set("name", StrCat("d", i));
    } else {
      selector.Set("labelSelector", Object({{"matchLabels", Object({{"app", StrCat("d", i)}})}}));
    }
    Value metadata = Object({{"name", StrCat("p", i)}});
    if (by_name) metadata.Set("namespace", "default");
    set.Put(CompilePropagationPolicy(Object({{"kind", by_name ? "PropagationPolicy" : "ClusterPropagationPolicy"},
                                             {"metadata", metadata},
                                             {"spec", Object({{"resourceSelectors", Array({selector})}})}}))
                .value());
  }
  return set;
}

void BmMatch(benchmark::State& state, bool by_name) {
  const PolicySet set = Policies(by_name);
  const Value object =
      Object({{"apiVersion", "apps/v1"},
              {"kind", "Deployment"},
              {"metadata", Object({{"name", "d77"}, {"namespace", "default"}, {"labels", Object({{"app", "d77"}})}})}});
  for (auto _ : state) benchmark::DoNotOptimize(Match(object, set, std::nullopt));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RegisterBenchmark("match by name/ours", BmMatch, true);
  benchmark::RegisterBenchmark("match by label/ours", BmMatch, false);
  baton::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
