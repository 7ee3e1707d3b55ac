// Book-keeping of decisions that the clusters do not show yet.
#include "placement/assumed.h"

#include <algorithm>
#include <utility>

namespace baton::placement {

void Assumed::Take(const std::string& cluster, const std::vector<Part>& parts) {
  Tracked& tracked = clusters_[cluster];
  for (const Part& part : parts) tracked.load.Add(part.request, part.replicas);
  tracked.version = ++version_;
}

void Assumed::Release(const std::string& cluster, const std::vector<Part>& parts) {
  Tracked& tracked = clusters_[cluster];
  for (const Part& part : parts) tracked.load.Add(part.request, -int64_t{part.replicas});
  if (tracked.load.empty()) tracked.load = Load();
  tracked.version = ++version_;
}

void Assumed::Decided(std::string_view key, const Binding& before, const std::vector<TargetCluster>& after,
                      WallTime now) {
  if (!before.IsWorkload()) return;
  Entry old;
  if (const auto at = bindings_.find(key); at != bindings_.end()) {
    old = std::move(at->second);
    bindings_.erase(at);
  }
  Entry entry;
  entry.expires = now + ttl_;
  for (const TargetCluster& target : after) {
    const TargetCluster* was = before.FindTarget(target.name);
    const auto unseen = old.by_cluster.find(target.name);
    std::vector<Part> parts;
    if (!before.components.empty()) {
      // A set that runs there already is not counted again; which of its components grew is not known.
      if (was != nullptr && unseen == old.by_cluster.end()) continue;
      for (const Component& component : before.components) {
        if (component.replicas > 0) parts.push_back({component.request, component.replicas});
      }
    } else {
      const int32_t hidden = unseen == old.by_cluster.end() ? 0 : unseen->second.front().replicas;
      const int32_t shown = was == nullptr ? 0 : std::max(0, was->replicas - hidden);
      if (target.replicas > shown) parts.push_back({before.request, target.replicas - shown});
    }
    if (parts.empty()) continue;
    Take(target.name, parts);
    entry.by_cluster.emplace(target.name, std::move(parts));
  }
  for (const auto& [cluster, parts] : old.by_cluster) Release(cluster, parts);
  if (!entry.by_cluster.empty()) bindings_.emplace(key, std::move(entry));
}

void Assumed::Seen(std::string_view key, std::string_view cluster) {
  const auto binding = bindings_.find(key);
  if (binding == bindings_.end()) return;
  auto& by_cluster = binding->second.by_cluster;
  const auto at = by_cluster.find(cluster);
  if (at == by_cluster.end()) return;
  Release(at->first, at->second);
  by_cluster.erase(at);
  if (by_cluster.empty()) bindings_.erase(binding);
}

void Assumed::Forget(std::string_view key) {
  const auto binding = bindings_.find(key);
  if (binding == bindings_.end()) return;
  for (const auto& [cluster, parts] : binding->second.by_cluster) Release(cluster, parts);
  bindings_.erase(binding);
}

void Assumed::Expire(WallTime now) {
  for (auto at = bindings_.begin(); at != bindings_.end();) {
    if (at->second.expires > now) {
      ++at;
      continue;
    }
    for (const auto& [cluster, parts] : at->second.by_cluster) Release(cluster, parts);
    at = bindings_.erase(at);
  }
}

const Load* Assumed::Of(std::string_view cluster) const {
  const auto at = clusters_.find(cluster);
  return at == clusters_.end() || at->second.load.empty() ? nullptr : &at->second.load;
}

}  // namespace baton::placement
