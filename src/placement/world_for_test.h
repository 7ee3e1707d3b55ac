// What the tests of this module build their worlds from.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/yaml.h"
#include "placement/schedule.h"

namespace baton::placement {

inline json::Value Yaml(std::string_view text) { return json::ParseYaml(text).value(); }

// A cluster with what a test says about it, serving apps/v1 Deployment.
struct ClusterText {
  std::string name;
  std::string region;
  std::vector<std::string> zones;
  std::string provider;
  json::Value labels;
  json::Value taints;
  bool deleting = false;
  bool serves = true;

  json::Value Object() const {
    json::Value object = json::Object({{"metadata", json::Object({{"name", name}})}});
    if (!labels.is_null()) object.Edit("metadata").Set("labels", labels);
    if (deleting) object.Edit("metadata").Set("deletionTimestamp", "2026-01-01T00:00:00Z");
    json::Value& spec = object.Edit("spec");
    if (!region.empty()) spec.Set("region", region);
    if (!provider.empty()) spec.Set("provider", provider);
    for (const std::string& zone : zones) spec.Edit("zones").Push(zone);
    if (!taints.is_null()) spec.Set("taints", taints);
    if (serves) {
      object.Edit("status").Edit("apiEnablements") =
          Yaml("[{groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}]}]");
    }
    return object;
  }
};

inline std::shared_ptr<const Fleet> MakeFleet(const std::vector<ClusterText>& texts) {
  std::vector<Cluster> clusters;
  for (const ClusterText& text : texts) clusters.push_back(ParseCluster(text.Object()).value());
  return Fleet::Make(std::move(clusters)).value();
}

// member1 ... memberN without any property.
inline std::shared_ptr<const Fleet> Members(int count) {
  std::vector<ClusterText> texts;
  for (int i = 1; i <= count; ++i) texts.push_back({.name = StrCat("member", i)});
  return MakeFleet(texts);
}

inline std::shared_ptr<const PreparedPlacement> Prepare(const std::shared_ptr<const Fleet>& fleet,
                                                        std::string_view placement) {
  return PreparedPlacement::Make(Yaml(placement), fleet).value();
}

using Counts = std::map<std::string, int32_t>;

inline Counts AsCounts(const std::vector<TargetCluster>& targets) {
  Counts counts;
  for (const TargetCluster& target : targets) counts[target.name] = target.replicas;
  return counts;
}

inline std::vector<TargetCluster> AsTargets(const Counts& counts) {
  std::vector<TargetCluster> targets;
  for (const auto& [name, replicas] : counts) targets.push_back({name, replicas, {}});
  return targets;
}

// A Deployment of that many replicas, never scheduled before unless `current` says so.
inline Binding Deployment(int32_t replicas, const Counts& current = {}) {
  Binding binding;
  binding.api_version = "apps/v1";
  binding.kind = "Deployment";
  binding.replicas = replicas;
  binding.has_requirements = true;
  binding.has_placement = true;
  binding.clusters = AsTargets(current);
  return binding;
}

// Estimates by name; clusters not named take nothing.
inline Estimates Rooms(const Fleet& fleet, const Counts& rooms) {
  Estimates estimates(fleet.size(), 0);
  for (const auto& [name, replicas] : rooms) estimates[fleet.Find(name).value()] = replicas;
  return estimates;
}

inline constexpr std::string_view kDuplicated = "replicaScheduling: {replicaSchedulingType: Duplicated}";
inline constexpr std::string_view kAggregated =
    "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}";
inline constexpr std::string_view kDynamic =
    "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: "
    "{dynamicWeight: AvailableReplicas}}";

}  // namespace baton::placement
