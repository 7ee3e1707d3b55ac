// Fleet: as much of a hub as a rehearsal needs: its clusters, policies and profiles, and the workloads that are to be
// moved, each with where it is. Read from a live hub, which is only read; kept as one JSON document, so that a seed can
// be played again when the hub has gone on.
//
//   const Fleet fleet = CO_TRY(co_await CopyFleet(hub, {.cluster = "member1"}));     // what a drain of it would move
//   fleet.left              // what is not in the copy, in words
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/api.h"
#include "rt/task.h"

namespace baton::sim {

inline constexpr size_t kFleetClustersMax = 30;
inline constexpr size_t kFleetWorkloadsMax = 40;

struct FleetWorkload {
  json::Value object;   // the template, as a person would apply it
  json::Value binding;  // metadata and spec; no status but for the affinity in use
  std::string cluster;  // where it is

  std::string Key() const;   // "shop/orders"
  std::string Name() const;  // "flinkdeployment/orders -n shop"
};

struct Fleet {
  std::vector<json::Value> clusters;  // Cluster objects: name, labels, taints, region; nothing of how they are reached
  std::vector<json::Value> objects;   // policies, overrides, profiles, customizations
  std::vector<FleetWorkload> workloads;
  std::vector<std::string> left;

  json::Value Json() const;
  static Result<Fleet> FromJson(const json::Value& value);
};

// Either one workload, or all that are in one cluster.
struct FleetQuestion {
  std::string kind, ns, name;
  std::string cluster;
};

rt::Task<Result<Fleet>> CopyFleet(kube::Api& hub, FleetQuestion question);

// The resource of a kind that practice clusters play; nothing: they do not.
const kube::Resource* PlayedKind(std::string_view api_version, std::string_view kind);

}  // namespace baton::sim
