// What one cluster's version of a template costs: replicas set, three override policies applied (image, plaintext,
// labels) to the Deployment of bench/data (6.6 KB). bench/karmada_overrides does the same with Karmada's own code.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/ratio_table.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/value.h"
#include "json/yaml.h"
#include "overrides/apply.h"

namespace {

using baton::json::Value;
using namespace baton::overrides;  // NOLINT(google-build-using-namespace): it is what is measured

constexpr double kGoalMicroseconds = 20;

const Value& Deployment() {
  static const Value deployment = [] {
    std::ifstream file(BATON_SOURCE_DIR "/bench/data/deployment.json");
    std::stringstream text;
    text << file.rdbuf();
    return baton::json::Parse(text.str()).value();
  }();
  return deployment;
}

std::vector<Value> PolicyObjects() {
  const std::string space(Deployment()["metadata"]["namespace"].str());
  std::vector<Value> policies;
  for (const char* text :
       {"{kind: ClusterOverridePolicy, metadata: {name: mirror}, spec: {overrideRules: [{overriders: {imageOverrider: "
        "[{component: Registry, operator: replace, value: 'mirror.example:5000'}]}}]}}",
        "{kind: OverridePolicy, metadata: {name: site}, spec: {resourceSelectors: [{apiVersion: apps/v1, kind: "
        "Deployment}], overrideRules: [{targetCluster: {clusterNames: [member1]}, overriders: {plaintext: [{path: "
        "/spec/template/spec/nodeSelector, operator: add, value: {zone: a}}, {path: /spec/paused, operator: add, "
        "value: "
        "false}]}}]}}",
        "{kind: OverridePolicy, metadata: {name: labels}, spec: {overrideRules: [{targetCluster: {labelSelector: "
        "{matchLabels: {env: prod}}}, overriders: {labelsOverrider: [{operator: add, value: {site: member1, env: "
        "prod}}]}}]}}"}) {
    policies.push_back(baton::json::ParseYaml(text).value());
    if (policies.back()["kind"].str() == "OverridePolicy") policies.back().Edit("metadata").Set("namespace", space);
  }
  return policies;
}

std::vector<Policy> Policies() {
  std::vector<Policy> compiled;
  for (const Value& policy : PolicyObjects()) compiled.push_back(CompilePolicy(policy).value());
  return compiled;
}

Target Member() {
  return {.name = "member1", .labels = baton::json::Object({{"env", "prod"}}), .provider = "acme", .region = "eu"};
}

void BmRender(benchmark::State& state) {
  const std::vector<Policy> policies = Policies();
  const Target member = Member();
  const Value& deployment = Deployment();
  for (auto _ : state) {
    Value revised = deployment;
    revised.Edit("spec").Set("replicas", 3);
    benchmark::DoNotOptimize(Apply(revised, member, policies).value());
  }
}

void BmRenderAndPrint(benchmark::State& state) {
  const std::vector<Policy> policies = Policies();
  const Target member = Member();
  for (auto _ : state) {
    Value revised = Deployment();
    revised.Edit("spec").Set("replicas", 3);
    benchmark::DoNotOptimize(baton::json::Print(Apply(revised, member, policies).value().object));
  }
}

void BmCompile(benchmark::State& state) {
  const std::vector<Value> objects = PolicyObjects();
  for (auto _ : state) {
    for (const Value& object : objects) benchmark::DoNotOptimize(CompilePolicy(object).value());
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RegisterBenchmark("render/ours", BmRender);
  benchmark::RegisterBenchmark("render and print/ours", BmRenderAndPrint);
  benchmark::RegisterBenchmark("compile 3 policies/ours", BmCompile);
  baton::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const double microseconds = reporter.Best("render/ours") / 1e3;
  std::printf("render %.2f us of a %zu byte Deployment; goal under %.0f us %s\n", microseconds,
              baton::json::Print(Deployment()).size(), kGoalMicroseconds,
              microseconds < kGoalMicroseconds ? "reached" : "MISSED");
  return microseconds < kGoalMicroseconds ? 0 : 1;
}
