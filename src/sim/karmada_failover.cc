// Evicting as a Karmada does.
#include "sim/karmada_failover.h"

#include <algorithm>

#include "base/strings.h"
#include "federation/resources.h"

namespace baton::sim {

using json::Value;

namespace {

constexpr Duration kLooksEvery = milliseconds(500);
constexpr Duration kTaintsEvery = seconds(10);

std::string PlaceOf(const Value& binding, const std::string& cluster) {
  return StrCat(kube::Name::Of(binding).Key(), " ", cluster);
}

bool HasTask(const Value& binding, const std::string& cluster) {
  return std::ranges::any_of(binding["spec"]["gracefulEvictionTasks"].items(),
                             [&](const Value& task) { return task["fromCluster"].str() == cluster; });
}

bool IsUnhealthy(const Value& binding, const std::string& cluster) {
  return std::ranges::any_of(binding["status"]["aggregatedStatus"].items(), [&](const Value& item) {
    return item["clusterName"].str() == cluster && item["health"].str() == "Unhealthy";
  });
}

bool HasNoExecute(const Value& clusters, const std::string& name) {
  for (const Value& cluster : clusters.items()) {
    if (kube::NameOf(cluster) != name) continue;
    return std::ranges::any_of(cluster["spec"]["taints"].items(),
                               [](const Value& taint) { return taint["effect"].str() == "NoExecute"; });
  }
  return false;
}

}  // namespace

rt::Task<void> KarmadaFailover::Run() {
  while (true) {
    co_await hub_.loop().Sleep(kLooksEvery);
    co_await Look();
  }
}

rt::Task<void> KarmadaFailover::Look() {
  const auto bindings = co_await hub_.ListAll(federation::kResourceBindings);
  const auto clusters = co_await hub_.ListAll(federation::kClusters);
  if (!bindings.ok() || !clusters.ok()) co_return;
  Value all = json::Array();
  for (const Value& cluster : clusters->items) all.Push(cluster);
  for (const Value& binding : bindings->items) {
    if (binding["spec"]["suspension"]["scheduling"].bool_or(false)) co_await LookAt(binding, all);
  }
}

bool KarmadaFailover::IsOverdue(const Value& binding, const std::string& cluster) {
  const std::string key = PlaceOf(binding, cluster);
  if (!IsUnhealthy(binding, cluster) || HasTask(binding, cluster)) {
    unhealthy_since_.erase(key);
    return false;
  }
  const MonotonicTime now = hub_.loop().Now();
  return now - unhealthy_since_.try_emplace(key, now).first->second >= tolerates_;
}

// At once when the taint comes, and then from time to time.
bool KarmadaFailover::IsTainted(const Value& binding, const std::string& cluster, const Value& clusters) {
  const std::string key = PlaceOf(binding, cluster);
  if (!HasNoExecute(clusters, cluster)) {
    tainted_until_.erase(key);
    return false;
  }
  const MonotonicTime now = hub_.loop().Now();
  const auto known = tainted_until_.find(key);
  if (known != tainted_until_.end() && now < known->second) return false;
  tainted_until_[key] = now + kTaintsEvery;
  return true;
}

rt::Task<void> KarmadaFailover::LookAt(Value binding, const Value& clusters) {
  for (const Value& entry : binding["spec"]["clusters"].items()) {
    const std::string cluster(entry["name"].str());
    if (IsOverdue(binding, cluster)) {
      co_return co_await Evict(binding, cluster, "ApplicationFailure",
                               "resource-binding-application-failover-controller");
    }
    if (IsTainted(binding, cluster, clusters))
      co_return co_await Evict(binding, cluster, "TaintUntolerated", "TaintManager");
  }
}

// On the version that was looked at: one that lost a race is looked at again.
rt::Task<void> KarmadaFailover::Evict(Value binding, std::string cluster, std::string reason, std::string producer) {
  Value left = json::Array();
  for (const Value& entry : binding["spec"]["clusters"].items()) {
    if (entry["name"].str() != cluster) left.Push(entry);
  }
  const bool has_task = HasTask(binding, cluster);
  Value& spec = binding.Edit("spec");
  spec.Set("clusters", left);
  if (!has_task) {
    Value tasks = spec["gracefulEvictionTasks"].is_array() ? spec["gracefulEvictionTasks"] : json::Array();
    tasks.Push(json::Object(
        {{"fromCluster", cluster}, {"purgeMode", "Directly"}, {"reason", reason}, {"producer", producer}}));
    spec.Set("gracefulEvictionTasks", tasks);
  }
  const auto evicted = co_await hub_.Update(federation::kResourceBindings, std::move(binding));
  if (evicted.ok()) ++evictions_;
}

}  // namespace baton::sim
