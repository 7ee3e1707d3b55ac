// The runtime's primitives in nanoseconds, with the async library's own coroutines as the yardstick, both on one
// thread.
#include <benchmark/benchmark.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bench/ratio_table.h"
#include "rt/channel.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/virtual_loop.h"

namespace {

namespace asio = boost::asio;
using baton::rt::Channel;
using baton::rt::Loop;
using baton::rt::RealLoop;
using baton::rt::Scope;
using baton::rt::Task;
using baton::rt::VirtualLoop;

constexpr int kBatch = 10'000;  // operations in one pass, so that starting the loop does not show

// ---- ours ----

Task<int> Leaf(int x) { co_return x; }
Task<void> Empty() { co_return; }

Task<void> CallMany() {
  for (int i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(co_await Leaf(i));
}

Task<void> SpawnMany(Loop& loop) {
  Scope scope(loop);
  for (int i = 0; i < kBatch; ++i) scope.Spawn(Empty());
  co_await scope.Join();
}

Task<void> Produce(Channel<int>& channel) {
  for (int i = 0; i < kBatch; ++i) co_await channel.Send(i);
  channel.Close();
}

Task<void> HopMany(Loop& loop) {
  Channel<int> channel(1);
  Scope scope(loop);
  scope.Spawn(Produce(channel));
  while (const std::optional<int> got = co_await channel.Receive()) benchmark::DoNotOptimize(*got);
}

Task<void> SleepMany(Loop& loop) {
  for (int i = 0; i < kBatch; ++i) co_await loop.Sleep(baton::nanoseconds(0));
}

template <class LoopType>
void RunOurs(benchmark::State& state, LoopType& loop, Task<void> (*program)(Loop&)) {
  for (auto _ : state) loop.Run(program(loop));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kBatch);
}

void BmCallOurs(benchmark::State& state) {
  RealLoop loop;
  RunOurs(state, loop, [](Loop&) { return CallMany(); });
}
void BmSpawnOurs(benchmark::State& state) {
  RealLoop loop;
  RunOurs(state, loop, SpawnMany);
}
void BmHopOurs(benchmark::State& state) {
  RealLoop loop;
  RunOurs(state, loop, HopMany);
}
void BmTimerOurs(benchmark::State& state) {
  RealLoop loop;
  RunOurs(state, loop, SleepMany);
}
void BmSpawnVirtual(benchmark::State& state) {
  VirtualLoop loop(1);
  RunOurs(state, loop, SpawnMany);
}
void BmHopVirtual(benchmark::State& state) {
  VirtualLoop loop(1);
  RunOurs(state, loop, HopMany);
}
void BmTimerVirtual(benchmark::State& state) {
  VirtualLoop loop(1);
  RunOurs(state, loop, SleepMany);
}

// ---- Asio's own ----

asio::awaitable<int> AsioLeaf(int x) { co_return x; }
asio::awaitable<void> AsioEmpty() { co_return; }

void RunAsio(benchmark::State& state, void (*program)(asio::io_context&)) {
  asio::io_context io(1);
  for (auto _ : state) {
    program(io);
    io.run();
    io.restart();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kBatch);
}

asio::awaitable<void> AsioCallMany() {
  for (int i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(co_await AsioLeaf(i));
}

void BmCallAsio(benchmark::State& state) {
  RunAsio(state, [](asio::io_context& io) { asio::co_spawn(io, AsioCallMany(), asio::detached); });
}

void BmSpawnAsio(benchmark::State& state) {
  RunAsio(state, [](asio::io_context& io) {
    for (int i = 0; i < kBatch; ++i) asio::co_spawn(io, AsioEmpty(), asio::detached);
  });
}

using AsioChannel = asio::experimental::channel<void(boost::system::error_code, int)>;

asio::awaitable<void> AsioProduce(AsioChannel& channel) {
  for (int i = 0; i < kBatch; ++i) co_await channel.async_send({}, i, asio::use_awaitable);
}
asio::awaitable<void> AsioConsume(AsioChannel& channel) {
  for (int i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(co_await channel.async_receive(asio::use_awaitable));
}

void BmHopAsio(benchmark::State& state) {
  asio::io_context io(1);
  for (auto _ : state) {
    AsioChannel channel(io, 1);
    asio::co_spawn(io, AsioProduce(channel), asio::detached);
    asio::co_spawn(io, AsioConsume(channel), asio::detached);
    io.run();
    io.restart();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kBatch);
}

asio::awaitable<void> AsioSleepMany(asio::io_context& io) {
  asio::steady_timer timer(io);
  for (int i = 0; i < kBatch; ++i) {
    timer.expires_after(std::chrono::nanoseconds(0));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

void BmTimerAsio(benchmark::State& state) {
  RunAsio(state, [](asio::io_context& io) { asio::co_spawn(io, AsioSleepMany(io), asio::detached); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr int kRepetitions = 5;
  const auto add = [](const char* name, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, function)->Repetitions(kRepetitions);
  };
  add("call/ours", BmCallOurs);
  add("call/asio", BmCallAsio);
  add("spawn/ours", BmSpawnOurs);
  add("spawn/asio", BmSpawnAsio);
  add("spawn/virtual", BmSpawnVirtual);
  add("hop/ours", BmHopOurs);
  add("hop/asio", BmHopAsio);
  add("hop/virtual", BmHopVirtual);
  add("timer/ours", BmTimerOurs);
  add("timer/asio", BmTimerAsio);
  add("timer/virtual", BmTimerVirtual);
  baton::bench::RatioReporter reporter(kBatch);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const bool reached = reporter.PrintGoals({
      {"await a task", "call/ours", "call/asio", 1},
      {"spawn and finish", "spawn/ours", "spawn/asio", 1},
      {"channel hop", "hop/ours", "hop/asio", 1},
      {"timer", "timer/ours", "timer/asio", 1},
      {"spawn, virtual loop", "spawn/virtual", "spawn/asio", 0},
      {"channel hop, virtual", "hop/virtual", "hop/asio", 0},
      {"timer, virtual loop", "timer/virtual", "timer/asio", 0},
  });
  return reached ? 0 : 1;
}
