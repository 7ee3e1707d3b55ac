// Scheduling decisions per second with 1,000 clusters of mixed labels, taints, regions and room, on one core.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "bench/ratio_table.h"
#include "json/yaml.h"
#include "placement/assumed.h"
#include "placement/schedule.h"

namespace {

using baton::StrCat;
using baton::json::ParseYaml;
using baton::json::Value;
using namespace baton::placement;  // NOLINT(google-build-using-namespace)

constexpr int kClusters = 1000;
constexpr int kBindings = 512;
constexpr double kGoalPerSecond = 20'000;

Value ClusterObject(int i) {
  Value object = ParseYaml(StrCat(R"(
metadata: {name: member-)",
                                  1000 + i, ", labels: {tier: t", i % 3, ", site: s", i % 40, R"(}}
spec: {region: r)",
                                  i % 12, ", provider: p", i % 4, ", zones: [z", i % 36, R"(]}
status:
  apiEnablements:
  - {groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}, {name: statefulsets, kind: StatefulSet}]}
  - {groupVersion: v1, resources: [{name: services, kind: Service}]}
  resourceSummary:
    allocatable: {cpu: ")",
                                  100 + i % 57, R"(", memory: 512Gi, pods: "500"}
    allocated: {cpu: ")",
                                  i % 31, R"(", memory: )", i % 97, R"(Gi, pods: ")", i % 83, R"("})"))
                     .value();
  if (i % 10 == 0) object.Edit("spec").Set("taints", ParseYaml("[{key: maintenance, effect: NoSchedule}]").value());
  if (i % 10 == 5) object.Edit("spec").Set("taints", ParseYaml("[{key: gpu, effect: NoSchedule}]").value());
  return object;
}

std::shared_ptr<const Fleet> TheFleet() {
  static const std::shared_ptr<const Fleet> fleet = [] {
    std::vector<Cluster> clusters;
    clusters.reserve(kClusters);
    for (int i = 0; i < kClusters; ++i) clusters.push_back(ParseCluster(ClusterObject(i)).value());
    return Fleet::Make(std::move(clusters)).value();
  }();
  return fleet;
}

const std::vector<std::string_view> kPolicies = {
    // Dynamic weights over everything that matches.
    R"({clusterTolerations: [{key: gpu, operator: Exists}],
        replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted,
                            weightPreference: {dynamicWeight: AvailableReplicas}}})",
    // Spread over regions, aggregated.
    R"({clusterAffinity: {labelSelector: {matchExpressions: [{key: tier, operator: In, values: [t0, t1]}]}},
        spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 3},
                            {spreadByField: cluster, minGroups: 3, maxGroups: 10}],
        replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}})",
    // Spread over clusters, dynamic weights.
    R"({clusterAffinity: {fieldSelector: {matchExpressions: [{key: provider, operator: NotIn, values: [p3]}]}},
        spreadConstraints: [{spreadByField: cluster, minGroups: 2, maxGroups: 5}],
        replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted,
                            weightPreference: {dynamicWeight: AvailableReplicas}}})",
    // One cluster, Duplicated: the normal policy of a stateful workload.
    R"({clusterAffinity: {labelSelector: {matchLabels: {tier: t2}}},
        spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]})",
    // Static weights with fallback terms.
    R"({clusterAffinities: [{affinityName: first, labelSelector: {matchLabels: {site: nowhere}}},
                            {affinityName: second, labelSelector: {matchLabels: {site: s7}}}],
        replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted,
                            weightPreference: {staticWeightList: [{targetCluster: {labelSelector: {matchLabels: {tier: t0}}},
                                                                   weight: 3}, {targetCluster: {}, weight: 1}]}}})",
};

struct Case {
  Binding binding;
  std::shared_ptr<const PreparedPlacement> prepared;
  Estimates estimates;
};

// Half of the bindings are new, half run already and were scaled, so that every one of them is really decided.
std::vector<Case> Cases(const std::vector<std::string_view>& policies) {
  PlacementCache cache;
  Estimator estimator(TheFleet());
  std::vector<Case> cases;
  for (int i = 0; i < kBindings; ++i) {
    Case made;
    made.prepared =
        cache.Get(ParseYaml(policies[static_cast<size_t>(i) % policies.size()]).value(), TheFleet()).value();
    made.binding.api_version = "apps/v1";
    made.binding.kind = i % 2 == 0 ? "Deployment" : "StatefulSet";
    made.binding.uid = StrCat("uid-", i);
    made.binding.replicas = 5 + i % 60;
    made.binding.has_requirements = true;
    made.binding.has_placement = true;
    made.binding.request = {{"cpu", int64_t{250} * (1 + i % 4)}, {"memory", int64_t{1} << (28 + i % 3)}};
    made.estimates = estimator.For(made.binding, made.prepared->placement());
    if (i % 2 == 1) {
      const Decision decision = Schedule(made.binding, *made.prepared, made.estimates);
      made.binding.clusters = decision.clusters;
      made.binding.observed_affinity = decision.affinity;
      made.binding.applied_placement = made.prepared->text();
      made.binding.replicas += 7;
    }
    cases.push_back(std::move(made));
  }
  return cases;
}

void Run(benchmark::State& state, const std::vector<std::string_view>& policies) {
  const std::vector<Case> cases = Cases(policies);
  size_t next = 0;
  for (auto _ : state) {
    const Case& one = cases[next++ % cases.size()];
    benchmark::DoNotOptimize(Schedule(one.binding, *one.prepared, one.estimates));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

void BmMixed(benchmark::State& state) { Run(state, kPolicies); }
void BmDynamicAll(benchmark::State& state) { Run(state, {kPolicies[0]}); }
void BmRegions(benchmark::State& state) { Run(state, {kPolicies[1]}); }
void BmClusters(benchmark::State& state) { Run(state, {kPolicies[2]}); }
void BmOneCluster(benchmark::State& state) { Run(state, {kPolicies[3]}); }

// The whole loop of a controller in a burst: estimate with what was just decided, decide, remember it.
void BmBurst(benchmark::State& state) {
  const std::vector<Case> cases = Cases(kPolicies);
  Assumed assumed;
  Estimator estimator(TheFleet(), &assumed);
  size_t next = 0;
  for (auto _ : state) {
    const size_t number = next++ % cases.size();
    const Case& one = cases[number];
    const Estimates& estimates = estimator.For(one.binding, one.prepared->placement());
    const Decision decision = Schedule(one.binding, *one.prepared, estimates);
    assumed.Decided(one.binding.uid, one.binding, decision.clusters, baton::WallTime());
    benchmark::DoNotOptimize(decision);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const auto add = [](const char* name, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, function)->Repetitions(3)->ReportAggregatesOnly(false);
  };
  add("mixed", BmMixed);
  add("dynamic_all", BmDynamicAll);
  add("regions", BmRegions);
  add("clusters", BmClusters);
  add("one_cluster", BmOneCluster);
  add("burst", BmBurst);
  baton::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  bool reached = true;
  std::printf("\n%-16s %14s   with %d clusters, one core\n", "what", "bindings/s", kClusters);
  for (const char* name : {"mixed", "dynamic_all", "regions", "clusters", "one_cluster", "burst"}) {
    const double best = reporter.Best(name);
    if (best == 0) continue;
    const bool goal = std::string_view(name) == "mixed";
    const double rate = 1e9 / best;
    if (goal) reached = rate >= kGoalPerSecond;
    std::printf("%-16s %14.0f%s\n", name, rate,
                goal ? (reached ? "   goal 20,000 reached" : "   goal 20,000 MISSED") : "");
  }
  return reached ? 0 : 1;
}
