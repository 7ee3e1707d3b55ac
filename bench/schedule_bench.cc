// Scheduling end to end: bindings that wait on the hub until each has its clusters there. A hub in this process (store
// in memory), its admission, the copies that follow it by watching, and the schedule controller share one thread.
//
//   schedule_bench [bindings, default 10000]
//
// Exit code 1 when fewer than 5,000 a second were scheduled.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "bench/embedded_server.h"
#include "federation/admission.h"
#include "federation/federation.h"
#include "federation/hub.h"
#include "federation/resources.h"
#include "federation/schedule.h"
#include "json/yaml.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)
using json::Value;

constexpr int kClusters = 100;
constexpr double kGoalPerSecond = 5'000;
constexpr std::string_view kNamespace = "default";

// Labels, regions, taints and room differ.
Value Cluster(int i) {
  Value cluster = Must(json::ParseYaml(StrCat(
      "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: member-", 100 + i,
      ", labels: {tier: t", i % 3, "}}, spec: {syncMode: Push, region: r", i % 5, ", provider: p", i % 4, "}}")));
  if (i % 10 == 0) {
    cluster.Edit("spec").Set("taints", Must(json::ParseYaml("[{key: maintenance, effect: NoSchedule}]")));
  }
  return cluster;
}

Value StatusOf(int i) {
  return Must(json::ParseYaml(StrCat(R"(
conditions: [{type: Ready, status: "True", reason: ClusterReady, message: ok, lastTransitionTime: "2026-01-01T00:00:00Z"}]
apiEnablements: [{groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}]}]
resourceSummary:
  allocatable: {cpu: "100000", memory: 512Ti, pods: "500000"}
  allocated: {cpu: ")",
                                     i % 31, R"(", memory: 1Gi, pods: ")", i % 83, R"("})")));
}

const std::vector<std::string_view> kPlacements = {
    // Dynamic weights over everything that matches.
    R"({replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted,
                            weightPreference: {dynamicWeight: AvailableReplicas}},
        clusterAffinity: {labelSelector: {matchLabels: {tier: t0}}}})",
    // Spread over regions, aggregated.
    R"({spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 3}, {spreadByField: cluster, minGroups: 3, maxGroups: 10}],
        replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}})",
    // One cluster: the normal policy of a stateful workload.
    R"({clusterAffinity: {labelSelector: {matchLabels: {tier: t2}}}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]})",
    // Two named ones.
    R"({clusterAffinity: {clusterNames: [member-101, member-102]}})",
};

Value Binding(int i) {
  Value binding = Must(json::ParseYaml(
      StrCat("{apiVersion: work.karmada.io/v1alpha2, kind: ResourceBinding, metadata: {name: web-", i,
             "-deployment, namespace: ", kNamespace, "}, spec: {replicas: ", 1 + i % 9,
             ", replicaRequirements: {resourceRequest: {cpu: 250m, memory: 64Mi}}, resource: {apiVersion: apps/v1, "
             "kind: Deployment, namespace: ",
             kNamespace, ", name: web-", i, ", uid: uid-", i, "}}}")));
  binding.Edit("spec").Set("placement",
                           Must(json::ParseYaml(kPlacements[static_cast<size_t>(i) % kPlacements.size()])));
  return binding;
}

struct Bench {
  rt::RealLoop loop;
  interpret::Interpreter interpreter;
  EmbeddedServer server;
  double per_second = 0;

  rt::Task<void> Fill(int bindings) {
    co_await server.Start(loop);
    server.backend->core().AddAdmission(federation::MakeAdmission(loop, &interpreter));
    INVARIANT((co_await federation::InstallCrds(*server.api)).ok(), "CRDs");
    for (int i = 0; i < kClusters; ++i) {
      Value made = Must(co_await server.api->Create(federation::kClusters, Cluster(i)));
      made.Set("status", StatusOf(i));
      Must(co_await server.api->UpdateStatus(federation::kClusters, made));
    }
    for (int i = 0; i < bindings; ++i) Must(co_await server.api->Create(federation::kResourceBindings, Binding(i)));
  }

  rt::Task<int> CountScheduled() {
    const kube::Listed all = Must(co_await server.api->ListAll(federation::kResourceBindings));
    int scheduled = 0;
    for (const Value& binding : all.items) scheduled += binding["spec"]["clusters"].size() > 0 ? 1 : 0;
    co_return scheduled;
  }

  rt::Task<void> Run(int bindings) {
    co_await Fill(bindings);
    INVARIANT(co_await CountScheduled() == 0, "nothing is scheduled before");
    federation::Hub hub(
        *server.api, interpreter,
        [](const Value&, const Value&) -> Result<std::unique_ptr<kube::Api>> { return UnavailableError("no members"); },
        {});
    federation::ScheduleController schedule(hub);
    rt::Scope scope(loop);
    const double begun = SecondsNow();
    scope.Spawn(hub.Run());
    co_await hub.WaitSynced();
    const double synced = SecondsNow();
    scope.Spawn(schedule.Run());
    rt::Event scheduled;
    int missing = bindings;
    hub.OnBinding([&](const Value& before, const Value& now) {
      const bool news = before["spec"]["clusters"].empty() && !now["spec"]["clusters"].empty();
      if (news && --missing == 0) scheduled.Set();
    });
    co_await scheduled.Wait();
    const double took = SecondsNow() - synced;
    const int there = co_await CountScheduled();
    INVARIANT(there == bindings, StrCat("only ", there, " have clusters on the hub"));
    per_second = bindings / took;
    std::printf(
        "%d bindings, %d clusters: read in %.2f s, each with its clusters on the hub %.2f s later: %.0f a second; ",
        bindings, kClusters, synced - begun, took, per_second);
    std::printf("goal 5,000 %s\n", per_second >= kGoalPerSecond ? "reached" : "MISSED");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int bindings = argc > 1 ? std::atoi(argv[1]) : 10'000;
  if (bindings < 1) {
    std::fprintf(stderr, "usage: schedule_bench [bindings]\n");
    return 2;
  }
  Bench bench;
  bench.loop.Run(bench.Run(bindings));
  std::fflush(stdout);
  std::_Exit(bench.per_second >= kGoalPerSecond ? 0 : 1);  // the store needs no orderly end
}
