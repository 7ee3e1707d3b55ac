// Calls per second through kube::Api: RemoteApi over TLS and one HTTP/2 connection to a server in this process, and
// LocalApi to the same server. Both ends share one thread, so a remote call's time is the client's and the server's.
//
//   kube_bench                              all, each with 1 and with 64 calls at a time
//   kube_bench --benchmark_filter=get
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/server.h"
#include "base/strings.h"
#include "bench/ratio_table.h"
#include "kube/kubeconfig.h"
#include "kube/local_api.h"
#include "kube/remote_api.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace {

using namespace baton;        // NOLINT(google-build-using-namespace)
using namespace baton::kube;  // NOLINT(google-build-using-namespace)

constexpr int kCallsAtATime = 64;
constexpr size_t kListed = 500;
const Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

template <class T>
T Must(Result<T> result) {
  INVARIANT(result.ok(), result.error().ToString());
  return *std::move(result);
}

json::Value Map(std::string_view name) {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", name}, {"namespace", "default"}})},
                       {"data", json::Object({{"k", std::string(1024, 'x')}})}});
}

// A server with 500 ConfigMaps of 1 KiB, in memory.
struct World {
  rt::RealLoop loop;
  std::unique_ptr<apiserver::ApiServer> server;
  std::unique_ptr<LocalApi> local;
  std::unique_ptr<RemoteApi> remote;

  World() { loop.Run(Start()); }
  ~World() {
    remote.reset();
    local.reset();
    loop.Run(server->Stop(rt::Deadline::After(loop, seconds(5))));
  }
  rt::Task<void> Start() {
    server = Must(co_await apiserver::ApiServer::Start(loop, {.ephemeral = true}));
    local = std::make_unique<LocalApi>(server->backend());
    remote = Must(RemoteApi::Make(loop, Must(Must(Kubeconfig::Parse(server->Kubeconfig(), "")).Access(""))));
    for (size_t i = 0; i < kListed; ++i) Must(co_await local->Create(kConfigMaps, Map(StrCat("m-", i))));
  }
  Api& Of(bool is_remote) {
    if (is_remote) return *remote;
    return *local;
  }
};

World& TheWorld() {
  static World world;
  return world;
}

rt::Task<void> Get(Api& api) { Must(co_await api.Get(kConfigMaps, {"default", "m-7"})); }
// Each another object: patches of one at a time would meet each other.
rt::Task<void> Patch(Api& api) {
  static size_t patches = 0;
  const size_t n = patches++;
  Must(co_await api.Patch(kConfigMaps, {"default", StrCat("m-", n % kListed)}, PatchType::kMerge,
                          json::Object({{"data", json::Object({{"n", StrCat(n)}})}})));
}
rt::Task<void> List(Api& api) {
  INVARIANT(Must(co_await api.ListAll(kConfigMaps, {.ns = "default"})).items.size() == kListed, "all are there");
}

rt::Task<void> AtATime(Api& api, rt::Task<void> (*call)(Api&), int count) {
  rt::Scope scope(api.loop());
  for (int i = 0; i < count; ++i) scope.Spawn(call(api));
  co_await scope.Join();
}

void Run(benchmark::State& state, rt::Task<void> (*call)(Api&), bool is_remote, int at_a_time) {
  World& world = TheWorld();
  Api& api = world.Of(is_remote);
  for (auto _ : state) world.loop.Run(AtATime(api, call, at_a_time));
  state.SetItemsProcessed(state.iterations() * at_a_time);
}

void Register(const std::string& what, rt::Task<void> (*call)(Api&), int at_a_time) {
  for (const bool is_remote : {true, false}) {
    benchmark::RegisterBenchmark((what + (is_remote ? "/remote" : "/local")).c_str(),
                                 [=](benchmark::State& state) { Run(state, call, is_remote, at_a_time); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Register("get one at a time", Get, 1);
  Register("get 64 at a time", Get, kCallsAtATime);
  Register("patch one at a time", Patch, 1);
  Register("patch 64 at a time", Patch, kCallsAtATime);
  Register("list 500", List, 1);
  benchmark::Initialize(&argc, argv);
  bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
