// Building the indexes of a fleet.
#include "placement/fleet.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"

namespace baton::placement {

namespace {

template <class NameOf>
Fleet::Groups GroupBy(std::span<const Cluster> clusters, const NameOf& name_of) {
  Fleet::Groups groups;
  for (const Cluster& cluster : clusters) {
    if (std::string_view name = name_of(cluster); !name.empty()) groups.names.emplace_back(name);
  }
  std::ranges::sort(groups.names);
  const auto repeated = std::ranges::unique(groups.names);
  groups.names.erase(repeated.begin(), repeated.end());
  for (const Cluster& cluster : clusters) {
    const std::string_view name = name_of(cluster);
    const auto at =
        std::ranges::lower_bound(groups.names, name, {}, [](const std::string& s) { return std::string_view(s); });
    groups.of.push_back(name.empty() ? Fleet::kNoGroup : static_cast<int32_t>(at - groups.names.begin()));
  }
  return groups;
}

}  // namespace

Result<std::shared_ptr<const Fleet>> Fleet::Make(std::vector<Cluster> clusters) {
  if (clusters.size() > kMaxClusters) {
    return TooLargeError(StrCat(clusters.size(), " clusters; a fleet has at most ", kMaxClusters));
  }
  std::ranges::sort(clusters, {}, &Cluster::name);
  const auto twice = std::ranges::adjacent_find(clusters, {}, &Cluster::name);
  if (twice != clusters.end()) return InvalidError(StrCat("two clusters are called '", twice->name, "'"));
  return std::shared_ptr<const Fleet>(new Fleet(std::move(clusters)));
}

Fleet::Fleet(std::vector<Cluster> clusters)
    : clusters_(std::move(clusters)),
      all_(clusters_.size(), true),
      deleting_(clusters_.size()),
      none_(clusters_.size()) {
  std::map<Taint, ClusterSet> taints;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& cluster = clusters_[i];
    by_name_.emplace(cluster.name, static_cast<uint32_t>(i));
    if (cluster.deleting) deleting_.Add(i);
    for (const std::string& api : cluster.apis) by_api_.try_emplace(api, size()).first->second.Add(i);
    for (const Taint& taint : cluster.taints) {
      if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
      taints.try_emplace(taint, size()).first->second.Add(i);
    }
  }
  for (auto& [taint, tainted] : taints) taints_.push_back({taint, std::move(tainted)});
  regions_ = GroupBy(clusters_, [](const Cluster& c) { return std::string_view(c.region); });
  providers_ = GroupBy(clusters_, [](const Cluster& c) { return std::string_view(c.provider); });
  zones_ = GroupBy(clusters_, [](const Cluster& c) {
    return c.zones.empty() ? std::string_view() : std::string_view(c.zones.front());
  });
}

std::optional<size_t> Fleet::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return std::nullopt;
  return at->second;
}

const ClusterSet& Fleet::Serving(std::string_view api_version, std::string_view kind) const {
  const auto at = by_api_.find(ApiKey(api_version, kind));
  return at == by_api_.end() ? none_ : at->second;
}

}  // namespace baton::placement
