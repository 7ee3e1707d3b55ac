// The whole pipe on real time: a hub and two members in this process (stores in memory), N ConfigMaps to both members.
// All of hub, members and controllers share one thread, so CPU seconds are of everything together.
//
//   federation_pipe_bench [templates, default 1000]
//
// Prints: the time from the first template's creation until all are in both members and the hub is quiet; CPU; hub
// writes and conflicts per template; how long one change takes from its write on the hub to the member's object; and
// what a restart of the controllers costs.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "bench/embedded_server.h"
#include "federation/admission.h"
#include "federation/federation.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "kube/borrowed_api.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)
using json::Value;

constexpr int kChanges = 200;
const kube::Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

double Cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// Passes on, and counts writes.
class Counting final : public kube::Api {
 public:
  explicit Counting(kube::Api& below) : below_(below) {}
  Counting(const Counting&) = delete;  // a copy would count for itself
  Counting& operator=(const Counting&) = delete;
  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    const bool write = call->IsWrite() && call->resource.plural != "events";
    if (write)
      ++what[StrCat(kube::VerbName(call->verb), " ", call->resource.plural, call->subresource.empty() ? "" : "/",
                    call->subresource)];
    Result<kube::Answer> answer = co_await below_.Do(std::move(call), deadline);
    if (write) ++writes;
    if (write && !answer.ok() && answer.error().kind() == ErrorKind::kConflict) ++conflicts;
    co_return answer;
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return below_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

  void Reset() {
    writes = conflicts = 0;
    what.clear();
  }
  int64_t writes = 0;
  int64_t conflicts = 0;
  std::map<std::string, int64_t> what;

 private:
  kube::Api& below_;
};

Value ConfigMap(int number, std::string_view value) {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", StrCat("c-", number)}, {"namespace", "default"}})},
                       {"data", json::Object({{"value", value}, {"more", std::string(1024, 'x')}})}});
}

struct Bench {
  rt::RealLoop loop;
  interpret::Interpreter interpreter;
  EmbeddedServer hub;
  std::map<std::string, EmbeddedServer> members;
  std::unique_ptr<Counting> counted;
  std::map<std::string, std::unique_ptr<Counting>> counted_members;
  std::unique_ptr<federation::Federation> federation;
  std::unique_ptr<rt::Scope> scope;

  void StartControllers() {
    scope.reset();
    federation.reset();
    federation = std::make_unique<federation::Federation>(
        *counted, interpreter,
        [this](const Value& cluster, const Value&) -> Result<std::unique_ptr<kube::Api>> {
          return std::unique_ptr<kube::Api>(
              std::make_unique<kube::BorrowedApi>(*counted_members.at(std::string(kube::NameOf(cluster)))));
        },
        federation::HubOptions{});
    scope = std::make_unique<rt::Scope>(loop);
    scope->Spawn(federation->Run());
  }

  rt::Task<void> Start() {
    co_await hub.Start(loop);
    hub.backend->core().AddAdmission(federation::MakeAdmission(loop, &interpreter));
    counted = std::make_unique<Counting>(*hub.api);
    INVARIANT((co_await federation::InstallCrds(*hub.api)).ok(), "CRDs");
    for (const char* name : {"blue", "green"}) {
      co_await members[name].Start(loop);
      counted_members[name] = std::make_unique<Counting>(*members[name].api);
      Must(co_await hub.api->Create(
          federation::kClusters, Must(json::ParseYaml(StrCat("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, "
                                                             "metadata: {name: ",
                                                             name, "}, spec: {syncMode: Push}}")))));
    }
    Must(co_await hub.api->Create(federation::kPropagationPolicies, Must(json::ParseYaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [blue, green]}}
)"))));
    StartControllers();
    co_await Quiet();
  }

  // Until nothing is written for a moment; returns when the last write was.
  rt::Task<double> Quiet() {
    int64_t last = -1;
    double since = SecondsNow();
    while (true) {
      const int64_t sum = counted->writes + counted_members["blue"]->writes + counted_members["green"]->writes;
      if (sum != last) since = SecondsNow();
      last = sum;
      if (SecondsNow() - since > 0.7 && federation->idle()) co_return since;
      co_await loop.Sleep(milliseconds(5));
    }
  }

  rt::Task<void> Changes(int templates) {
    std::vector<double> took;
    const double cpu = Cpu();
    for (int i = 0; i < kChanges; ++i) {
      const int number = static_cast<int>((static_cast<int64_t>(i) * 7919) % templates);
      const std::string value = StrCat("changed-", i);
      Value object = Must(co_await hub.api->Get(kConfigMaps, {"default", StrCat("c-", number)}));
      object.Edit("data").Set("value", value);
      const double begin = SecondsNow();
      Must(co_await hub.api->Update(kConfigMaps, object));
      for (const char* member : {"blue", "green"}) {
        while (Must(co_await members[member].api->Get(kConfigMaps, {"default", StrCat("c-", number)}))["data"]["value"]
                   .str() != value) {
          co_await loop.Sleep(microseconds(50));
        }
      }
      took.push_back((SecondsNow() - begin) * 1e3);
    }
    std::ranges::sort(took);
    std::printf("one change to both members: p50 %.2f ms, p99 %.2f ms; %.2f CPU-ms\n", took[took.size() / 2],
                took[took.size() * 99 / 100], (Cpu() - cpu) * 1e3 / kChanges);
  }

  rt::Task<void> Run(int templates) {
    co_await Start();
    counted->Reset();
    const double begin = SecondsNow();
    const double cpu = Cpu();
    for (int i = 0; i < templates; ++i) Must(co_await hub.api->Create(kConfigMaps, ConfigMap(i, "1")));
    const double created = SecondsNow() - begin;
    const double last = co_await Quiet();
    std::printf("%d templates to 2 members: %.2f s, %.2f CPU-s; hub writes per template %.2f, conflicts %lld\n",
                templates, last - begin, Cpu() - cpu, static_cast<double>(counted->writes) / templates,
                static_cast<long long>(counted->conflicts));
    std::printf("  (creating the templates took %.2f s of it)\n", created);
    for (const auto& [what, count] : counted->what) {
      std::printf("  %-32s %.2f per template\n", what.c_str(), static_cast<double>(count) / templates);
    }
    co_await Changes(templates);
    co_await Quiet();
    counted->Reset();
    for (auto& [name, member] : counted_members) member->Reset();
    const double restart = SecondsNow();
    const double restart_cpu = Cpu();
    StartControllers();
    Must(co_await hub.api->Create(kConfigMaps, ConfigMap(templates, "new")));
    for (const char* member : {"blue", "green"}) {
      while (!(co_await members[member].api->Get(kConfigMaps, {"default", StrCat("c-", templates)})).ok()) {
        co_await loop.Sleep(milliseconds(1));
      }
    }
    const double there = SecondsNow() - restart;
    co_await Quiet();
    std::printf("restart with %d placed: a new template is in both members after %.2f s, steady with %.2f CPU-s\n",
                templates, there, Cpu() - restart_cpu);
    std::printf("  hub writes %lld (6 or 7 are the new one's), member writes %lld (2 are)\n",
                static_cast<long long>(counted->writes),
                static_cast<long long>(counted_members["blue"]->writes) +
                    static_cast<long long>(counted_members["green"]->writes));
    for (const auto& [what, count] : counted->what) {
      std::printf("  %-32s %lld\n", what.c_str(), static_cast<long long>(count));
    }
    scope.reset();
    federation.reset();
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int templates = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (templates < 1) {
    std::fprintf(stderr, "usage: federation_pipe_bench [templates]\n");
    return 2;
  }
  Bench bench;
  bench.loop.Run(bench.Run(templates));
  std::fflush(stdout);
  std::_Exit(0);  // the stores need no orderly end
}
