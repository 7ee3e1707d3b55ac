// Any JSON as {placement, binding, clusters, estimates}: what is accepted is decided without a crash, the same twice,
// and every promise of a decision holds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/parse.h"
#include "placement/assumed.h"
#include "placement/schedule.h"

namespace baton::placement {
namespace {

std::shared_ptr<const Fleet> FleetOf(const json::Value& list) {
  std::vector<Cluster> clusters;
  for (const json::Value& object : list.items()) {
    Result<Cluster> cluster = ParseCluster(object);
    if (cluster.ok()) clusters.push_back(*std::move(cluster));
  }
  Result<std::shared_ptr<const Fleet>> fleet = Fleet::Make(std::move(clusters));
  return fleet.ok() ? *std::move(fleet) : nullptr;
}

void CheckDecision(const Binding& binding, const PreparedPlacement& prepared, const Decision& decision) {
  if (decision.action != Action::kSchedule) {
    INVARIANT(decision.clusters == binding.clusters && !decision.changed, "what runs is kept");
    return;
  }
  INVARIANT(std::ranges::is_sorted(decision.clusters, {}, &TargetCluster::name), decision.event);
  INVARIANT(binding.clusters.empty() || !decision.clusters.empty(), "a binding that runs is never emptied");
  int64_t sum = 0;
  for (const TargetCluster& target : decision.clusters) {
    const std::optional<size_t> at = prepared.fleet().Find(target.name);
    INVARIANT(at.has_value() && !prepared.fleet()[*at].deleting, target.name);
    INVARIANT(std::ranges::find(binding.evicting, target.name) == binding.evicting.end(), target.name);
    sum += target.replicas;
  }
  const bool counted = binding.components.size() <= 1 && (binding.replicas > 0 || binding.has_requirements);
  if (counted && prepared.placement().divided()) INVARIANT(sum == binding.replicas, decision.event);
}

void Check(const json::Value& world) {
  const Result<Placement> placement = CompilePlacement(world["placement"]);
  if (!placement.ok()) return;
  INVARIANT(!PlacementChanged(*placement, *CompilePlacement(world["placement"]), ""), "a placement equals itself");
  const std::shared_ptr<const Fleet> fleet = FleetOf(world["clusters"]);
  Result<Binding> binding = ParseBinding(world["binding"]);
  if (fleet == nullptr || !binding.ok()) return;
  binding->has_placement = true;
  const auto prepared = PreparedPlacement::Make(world["placement"], fleet).value();

  Assumed assumed;
  Estimator estimator(fleet, &assumed);
  const Estimates estimates = estimator.For(*binding, prepared->placement());
  const Decision decision = Schedule(*binding, *prepared, estimates);
  const Decision again = Schedule(*binding, *prepared, estimates);
  INVARIANT(decision.clusters == again.clusters && decision.message == again.message, "the same twice");
  CheckDecision(*binding, *prepared, decision);

  std::vector<int32_t> given;
  for (const json::Value& item : world["estimates"].items()) {
    given.push_back(static_cast<int32_t>(std::clamp<int64_t>(item.int_or(-1), -1, INT32_MAX)));
  }
  CheckDecision(*binding, *prepared, Schedule(*binding, *prepared, given));

  assumed.Decided("binding", *binding, decision.clusters, WallTime());
  const Estimates reduced = estimator.For(*binding, prepared->placement());
  for (size_t i = 0; i < reduced.size(); ++i) INVARIANT(reduced[i] <= estimates[i], "assuming only takes away");
  assumed.Forget("binding");
  INVARIANT(assumed.bindings() == 0 && estimator.For(*binding, prepared->placement()) == estimates, "forgotten");
}

}  // namespace
}  // namespace baton::placement

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto world = baton::json::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (world.ok()) baton::placement::Check(*world);
  return 0;
}
