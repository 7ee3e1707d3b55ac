// Informers and controllers on a server in this process, through LocalApi and through RemoteApi (TLS, HTTP/2): the time
// until an informer of many objects is synced and what it keeps of each, and how long a committed change takes to reach
// a reconcile.
//
//   informer_bench                 100,000 objects, 2,000 changes
//   informer_bench 10000 500       as many as you like
#include <malloc.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/server.h"
#include "base/strings.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "kube/kubeconfig.h"
#include "kube/local_api.h"
#include "kube/remote_api.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace {

using namespace baton;        // NOLINT(google-build-using-namespace)
using namespace baton::kube;  // NOLINT(google-build-using-namespace)

constexpr size_t kObjects = 100'000;
constexpr size_t kChanges = 2'000;
constexpr size_t kWriters = 64;
constexpr Duration kLocalGoal = milliseconds(1);  // of 99 in 100 reactions
constexpr Duration kRemoteGoal = milliseconds(3);
const Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

template <class T>
T Must(Result<T> result) {
  INVARIANT(result.ok(), result.error().ToString());
  return *std::move(result);
}

json::Value Map(size_t number) {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", StrCat("m-", number)}, {"namespace", "default"}})},
                       {"data", json::Object({{"k", std::string(1024, 'x')}})}});
}

size_t HeapBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

double Milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// Of all threads: answers are parsed on the pool.
double CpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct World {
  rt::RealLoop& loop;
  std::unique_ptr<apiserver::ApiServer> server;
  std::unique_ptr<LocalApi> local;
  std::unique_ptr<RemoteApi> remote;
};

rt::Task<void> Fill(World& world, size_t objects) {
  const auto write = [](Api& api, size_t from, size_t count) -> rt::Task<void> {
    for (size_t i = from; i < count; i += kWriters) Must(co_await api.Create(kConfigMaps, Map(i)));
  };
  rt::Scope scope(world.loop);
  for (size_t i = 0; i < kWriters; ++i) scope.Spawn(write(*world.local, i, objects));
  co_await scope.Join();
}

rt::Task<void> MeasureSync(World& world, Api& api, const char* who, size_t objects) {
  const size_t heap_before = HeapBytes();
  const MonotonicTime begun = world.loop.Now();
  const double cpu_begun = CpuSeconds();
  Informer informer(api, kConfigMaps);
  rt::Scope scope(world.loop);
  scope.Spawn(informer.Run());
  co_await informer.WaitSynced();
  const Duration took = world.loop.Now() - begun;
  const double cpu = CpuSeconds() - cpu_begun;
  INVARIANT(informer.size() >= objects, "all are there");
  // What the list itself took is given back by then.
  co_await world.loop.Sleep(milliseconds(100));
  std::printf(
      "%-7s informer of %zu objects: synced in %.2f s (%.2f s of CPU, server included), %.0f bytes of heap an object\n",
      who, objects, Milliseconds(took) / 1000, cpu,
      static_cast<double>(HeapBytes() - heap_before) / static_cast<double>(objects));
}

// One change at a time, from the moment before the server is asked for it to the reconcile that it leads to: the write
// itself is in it (in process, on a store in memory, some 70 us).
rt::Task<bool> MeasureReaction(World& world, Api& api, const char* who, size_t changes, Duration goal) {
  std::vector<Duration> delays;
  std::optional<MonotonicTime> committed;
  bool reconciled = false;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): the controller keeps it
  Controller controller(world.loop, "bench", [&](std::string) -> rt::Task<Outcome> {
    reconciled = true;
    delays.push_back(world.loop.Now() - *committed);
    co_return Outcome::Done();
  });
  Informer informer(api, kConfigMaps, {.field_selector = "metadata.name=m-7"});
  bool ready = false;
  informer.OnChange([&](const json::Value&, const json::Value& now) {
    if (ready) controller.Add(Name::Of(now).Key());
  });
  rt::Scope scope(world.loop);
  scope.Spawn(informer.Run());
  scope.Spawn(controller.Run());
  co_await informer.WaitSynced();
  ready = true;
  for (size_t i = 0; i < changes; ++i) {
    reconciled = false;
    committed = world.loop.Now();
    Must(co_await world.local->Patch(kConfigMaps, {"default", "m-7"}, PatchType::kMerge,
                                     json::Object({{"data", json::Object({{"n", StrCat(who, i)}})}})));
    while (!reconciled) co_await world.loop.Sleep(microseconds(20));
  }
  std::ranges::sort(delays);
  const Duration p99 = delays[delays.size() * 99 / 100];
  std::printf(
      "%-7s from a change to its reconcile: p50 %.3f ms, p99 %.3f ms (%zu changes), goal p99 under %.0f ms %s\n", who,
      Milliseconds(delays[delays.size() / 2]), Milliseconds(p99), delays.size(), Milliseconds(goal),
      p99 < goal ? "reached" : "MISSED");
  co_return p99 < goal;
}

rt::Task<bool> Run(rt::RealLoop& loop, size_t objects, size_t changes) {
  bool reached = true;
  World world{.loop = loop, .server = nullptr, .local = nullptr, .remote = nullptr};
  world.server = Must(co_await apiserver::ApiServer::Start(loop, {.ephemeral = true}));
  world.local = std::make_unique<LocalApi>(world.server->backend());
  world.remote = Must(RemoteApi::Make(loop, Must(Must(Kubeconfig::Parse(world.server->Kubeconfig(), "")).Access(""))));
  co_await Fill(world, objects);
  for (Api* api : {static_cast<Api*>(world.local.get()), static_cast<Api*>(world.remote.get())}) {
    const char* who = api == world.local.get() ? "local" : "remote";
    const bool local = api == world.local.get();
    reached &= co_await MeasureReaction(world, *api, who, changes, local ? kLocalGoal : kRemoteGoal);
    co_await MeasureSync(world, *api, who, objects);
  }
  world.remote.reset();
  world.local.reset();
  co_await world.server->Stop(rt::Deadline::After(loop, seconds(5)));
  co_return reached;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, size_t otherwise) {
    return argc > at ? static_cast<size_t>(std::strtoull(argv[at], nullptr, 10)) : otherwise;
  };
  rt::RealLoop loop;
  return loop.Run(Run(loop, number(1, kObjects), number(2, kChanges))) ? 0 : 1;
}
