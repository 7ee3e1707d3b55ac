// Practice workloads of every kind that has a built-in profile, as a test or a story starts them; and where their
// processes run.
//
//   Workload orders = TRY(Workload::Of("FlinkDeployment", "default/orders"));
//   co_await world.Apply(orders.resource, orders.Manifest());
//   RunningIn(world, orders)      // {"blue"}: the processes themselves, not what anyone says of them
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/api.h"
#include "sim/world.h"

namespace baton::sim {

struct Workload {
  kube::Resource resource;
  kube::Name name;

  // An error: practice clusters do not play that kind.
  static Result<Workload> Of(std::string_view kind, std::string_view key);
  static bool IsPlayed(const kube::Resource& resource);
  static std::vector<std::string> Kinds();  // all that there are

  std::string Key() const { return name.Key(); }
  std::string Text() const;         // "FlinkDeployment/orders"
  std::string BindingName() const;  // and the Writer's
  std::string JudgeName() const;    // what the judge knows it by
  bool ExactlyOnce() const;         // nothing comes twice either
  // One that can be moved, with 50 records a second.
  json::Value Manifest() const;
  // A policy for it alone, in one cluster of these.
  json::Value Policy(const std::vector<std::string>& clusters) const;

  friend auto operator<=>(const Workload&, const Workload&) = default;
};

// Its process there; null: it has none.
const practice::Job* ProcessOf(practice::PracticeCluster& cluster, std::string_view kind, std::string_view key);
bool RunsIn(practice::PracticeCluster& cluster, std::string_view kind, std::string_view key);
bool RunsIn(World& world, const Workload& workload, const std::string& cluster);
std::vector<std::string> RunningIn(World& world, const Workload& workload);

}  // namespace baton::sim
