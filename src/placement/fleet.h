// Fleet: an immutable snapshot of all clusters, sorted by name, with the indexes that make 1,000 clusters fast.
//
//   std::shared_ptr<const Fleet> fleet = TRY(Fleet::Make(std::move(clusters)));
//   fleet->Serving("apps/v1", "Deployment");     // the clusters with that API
//
// A cluster's number is its place by name, so the order in which clusters were listed changes nothing. Make a new Fleet
// when a cluster changes; those who still read the old one keep it alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "placement/cluster.h"
#include "placement/cluster_set.h"

namespace baton::placement {

inline constexpr size_t kMaxClusters = size_t{1} << 20;  // a cluster's number takes 20 bits of its rank (spread.h)

class Fleet {
 public:
  // Error (kInvalid): two clusters of one name. Error (kTooLarge): more than kMaxClusters.
  static Result<std::shared_ptr<const Fleet>> Make(std::vector<Cluster> clusters);

  size_t size() const { return clusters_.size(); }
  const Cluster& operator[](size_t cluster) const { return clusters_[cluster]; }
  std::span<const Cluster> clusters() const { return clusters_; }
  std::optional<size_t> Find(std::string_view name) const;

  const ClusterSet& all() const { return all_; }
  const ClusterSet& deleting() const { return deleting_; }
  const ClusterSet& Serving(std::string_view api_version, std::string_view kind) const;

  // Each distinct taint that keeps workloads away (NoSchedule, NoExecute) with the clusters that have it.
  struct TaintedClusters {
    Taint taint;
    ClusterSet clusters;
  };
  std::span<const TaintedClusters> taints() const { return taints_; }

  // A spread group: the clusters of one region, zone or provider.
  struct Groups {
    std::vector<std::string> names;  // sorted
    std::vector<int32_t> of;         // by cluster: the group's number; kNoGroup when the cluster has none
  };
  static constexpr int32_t kNoGroup = -1;
  const Groups& regions() const { return regions_; }
  const Groups& providers() const { return providers_; }
  // A cluster with several zones counts for the first of them by name: so each cluster is in one group, and the number
  // of groups used never passes maxGroups. Its other zones are still matched by a fieldSelector.
  const Groups& zones() const { return zones_; }

 private:
  explicit Fleet(std::vector<Cluster> clusters);

  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <class V>
  using ByText = std::unordered_map<std::string, V, TextHash, std::equal_to<>>;

  std::vector<Cluster> clusters_;
  ByText<uint32_t> by_name_;
  ByText<ClusterSet> by_api_;
  std::vector<TaintedClusters> taints_;
  Groups regions_;
  Groups providers_;
  Groups zones_;
  ClusterSet all_;
  ClusterSet deleting_;
  ClusterSet none_;
};

}  // namespace baton::placement
