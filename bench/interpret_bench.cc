// The resource interpreter: a Lua health script on a Deployment of 4 KiB, with its parts, beside what is built in.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/ratio_table.h"
#include "interpret/interpreter.h"
#include "interpret/lua_vm.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

using baton::interpret::Interpreter;
using baton::interpret::LuaPool;
using baton::interpret::LuaScript;
using baton::json::Value;

constexpr double kGoalMicroseconds = 30;

constexpr const char* kHealth = R"lua(
function InterpretHealth(o)
  if o.status == nil or o.status.observedGeneration ~= o.metadata.generation then return false end
  if o.spec.replicas ~= nil and (o.status.updatedReplicas or 0) < o.spec.replicas then return false end
  for _, c in ipairs(o.status.conditions or {}) do
    if c.type == 'Available' and c.status ~= 'True' then return false end
  end
  return (o.status.availableReplicas or 0) >= (o.status.updatedReplicas or 0)
end
)lua";

// bench/data/deployment.json with fewer containers, and annotations until it has 4 KiB as text.
const Value& Deployment() {
  static const Value object = [] {
    std::ifstream file(BATON_SOURCE_DIR "/bench/data/deployment.json");
    std::stringstream text;
    text << file.rdbuf();
    Value value = baton::json::Parse(text.str()).value();
    value.Set("apiVersion", "example.io/v1");
    constexpr size_t kBytes = 4096;
    Value& pod = value.Edit("spec").Edit("template").Edit("spec");
    for (const char* list : {"initContainers", "containers"}) {
      while (pod[list].size() > 1 && baton::json::Print(value).size() > kBytes) {
        pod.Edit(list).EraseAt(pod[list].size() - 1);
      }
    }
    if (baton::json::Print(value).size() > kBytes) pod.Erase("initContainers");
    for (int i = 0; baton::json::Print(value).size() < kBytes; ++i) {
      const std::string name = "example.io/note-" + std::to_string(i);
      value.Edit("metadata").Edit("annotations").Set(name, "some text of an annotation");
    }
    return value;
  }();
  return object;
}

Value Customization() {
  using baton::json::Object;
  return Object(
      {{"apiVersion", "config.karmada.io/v1alpha1"},
       {"kind", "ResourceInterpreterCustomization"},
       {"metadata", Object({{"name", "bench"}})},
       {"spec", Object({{"target", Object({{"apiVersion", "example.io/v1"}, {"kind", "Deployment"}})},
                        {"customizations",
                         Object({{"healthInterpretation", Object({{"luaScript", kHealth}})},
                                 {"replicaRevision",
                                  Object({{"luaScript",
                                           "function ReviseReplica(o, n) o.spec.replicas = n return o end"}})}})}})}});
}

Interpreter& Customized() {
  static Interpreter interpreter;
  static const bool set = interpreter.SetCustomization(Customization()).ok();
  if (!set) std::abort();
  return interpreter;
}

void LuaHealth(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Customized().InterpretHealth(Deployment()).value());
  state.counters["bytes"] = static_cast<double>(baton::json::Print(Deployment()).size());
}
BENCHMARK(LuaHealth)->Name("lua health");

void LuaRevise(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Customized().ReviseReplica(Deployment(), 5).value());
}
BENCHMARK(LuaRevise)->Name("lua revise");

void LuaEmptyCall(benchmark::State& state) {
  LuaPool pool;
  const auto script = LuaScript::Compile("empty", "function F() return true end").value();
  for (auto _ : state) benchmark::DoNotOptimize(pool.Call(*script, "F", {}, 1).value());
}
BENCHMARK(LuaEmptyCall)->Name("lua call without an object");

void NewState(benchmark::State& state) {
  const auto script = LuaScript::Compile("empty", "function F() return true end").value();
  for (auto _ : state) {
    LuaPool pool;
    benchmark::DoNotOptimize(pool.Call(*script, "F", {}, 1).value());
  }
}
BENCHMARK(NewState)->Name("new lua state and one call");

void NativeHealth(benchmark::State& state) {
  const Interpreter interpreter;
  Value object = Deployment();
  object.Set("apiVersion", "apps/v1");
  for (auto _ : state) benchmark::DoNotOptimize(interpreter.InterpretHealth(object).value());
}
BENCHMARK(NativeHealth)->Name("native health");

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  baton::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const double microseconds = reporter.Best("lua health") / 1e3;
  const bool reached = microseconds < kGoalMicroseconds;
  std::printf("a Lua health script %.2f us on %zu bytes; goal under %.0f us %s\n", microseconds,
              baton::json::Print(Deployment()).size(), kGoalMicroseconds, reached ? "reached" : "MISSED");
  return reached ? 0 : 1;
}
