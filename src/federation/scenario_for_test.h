// The stage for story files about the federation alone (scenario/scenario.h): a FederationWorld, in which members have
// no operators.
//
//   std::vector<std::string> failures = RunScenario(*scenario);      // empty: it went as told
#pragma once

#include <string>
#include <vector>

#include "federation/world_for_test.h"
#include "scenario/runner.h"

namespace baton::federation {

class FederationStage final : public scenario::Stage {
 public:
  explicit FederationStage(FederationWorld& world) : world_(world) {}

  rt::Loop& loop() override { return world_.loop; }
  kube::Api& hub() override { return *world_.hub_server->api; }
  kube::Api* member(const std::string& name) override {
    const auto at = world_.member_servers.find(name);
    return at == world_.member_servers.end() ? nullptr : at->second->api.get();
  }
  rt::Task<std::string> Join(json::Value cluster) override {
    const std::string name(cluster.is_string() ? cluster.str() : cluster["name"].str());
    if (!world_.member_servers.contains(name)) co_await world_.AddServer(name);
    co_await world_.Join(name, cluster.is_object() ? cluster.ToString() : "{}");
    co_return "";
  }
  rt::Task<std::string> Replace(std::string name) override {
    co_await world_.Replace(name);
    // Connections to the old one are cut.
    world_.faults[name].Add({.fault = kube::Fault::kWatchExpired, .hits = 1});
    co_return "";
  }
  void Silence(const std::string& name) override {
    world_.faults[name].Add({.fault = kube::Fault::kSilence, .hits = 1'000'000'000});
  }
  void Back(const std::string& name) override { world_.faults[name].Clear(); }
  std::string AddFault(const scenario::Step& step) override {
    const std::optional<kube::Fault> fault = kube::FaultFromName(step.what.str());
    if (!fault) return StrCat("no fault is called ", step.what.str());
    if (member(std::string(step.whole["in"].str())) == nullptr) return "in which cluster? fault needs \"in\" here";
    for (const std::string_view word : {"of", "at", "verb", "resource", "name", "subresource", "saying"}) {
      if (step.whole.Has(word)) return StrCat("\"", word, "\" goes with fault only where \"practice: true\" is said");
    }
    const Result<Duration> delay = scenario::TimeOf(step.whole["delay"], seconds(1));
    if (!delay.ok()) return delay.error().message();
    world_.faults[std::string(step.whole["in"].str())].Add(
        {.fault = *fault, .delay = *delay, .hits = static_cast<size_t>(step.whole["hits"].int_or(1))});
    return "";
  }
  void Restart() override {
    world_.Kill();
    world_.Run();
  }
  void CountFromHere() override {
    world_.hub->writes.clear();
    for (auto& [cluster, api] : world_.members) api->writes.clear();
  }
  int64_t Writes(const std::string& where, std::string& list) override {
    const CountingApi& api = where.empty() || where == "hub" ? *world_.hub : *world_.members.at(where);
    for (const auto& [what, count] : api.writes) list += StrCat(" ", what, "=", count);
    return api.Writes();
  }

 private:
  FederationWorld& world_;
};

// What did not go as told; at most one, as the rest of a story rests on it.
inline std::vector<std::string> RunScenario(const scenario::Scenario& scenario) {
  std::vector<std::string> failures;
  rt::VirtualLoop loop(scenario.seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    HubOptions options;
    options.claim_templates = scenario.options["claimTemplates"].bool_or(false);
    co_await world.Start({}, options);
    {
      FederationStage stage(world);
      for (const json::Value& cluster : scenario.clusters.items()) co_await stage.Join(cluster);
      co_await world.Settle();
      std::string wrong = co_await scenario::Runner(stage).Run(scenario);
      if (!wrong.empty()) failures.push_back(std::move(wrong));
    }
    co_await world.Stop();
  }));
  return failures;
}

}  // namespace baton::federation
