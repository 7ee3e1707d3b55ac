// Assumed: what was decided and is not yet in the clusters' status, so that a burst of bindings does not herd onto the
// cluster that looks empty to each of them (karmada#6518).
//
//   Decision decision = Schedule(...);
//   assumed.Decided(key, binding, decision.clusters, now);      // after the write succeeded
//   assumed.Seen(key, "member1");                               // member1 reports it healthy: its status counts it now
//   assumed.Forget(key);                                        // the binding is gone
//   assumed.Expire(now);                                        // now and then: a safety net for what is never seen
//
// Only the growth is assumed: replicas that already ran before the decision are in the cluster's status. So a scale-up
// from 90 to 100 takes 10, not 100 (Karmada takes 100 until the workload is healthy again).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "placement/binding.h"
#include "placement/estimate.h"

namespace baton::placement {

inline constexpr Duration kAssumptionTtl = minutes(5);

class Assumed {
 public:
  explicit Assumed(Duration ttl = kAssumptionTtl) : ttl_(ttl) {}

  // `before` is the binding as it was decided on (its clusters are the old ones). A workload only; others take no room.
  void Decided(std::string_view key, const Binding& before, const std::vector<TargetCluster>& after, WallTime now);
  void Seen(std::string_view key, std::string_view cluster);
  void Forget(std::string_view key);
  void Expire(WallTime now);

  size_t bindings() const { return bindings_.size(); }
  const Load* Of(std::string_view cluster) const;  // null: nothing

  // Grows with every change. ForEachChanged calls use(cluster, load) for each cluster that changed after `since`, also
  // for one whose load is gone.
  uint64_t version() const { return version_; }
  template <class Use>
  void ForEachChanged(uint64_t since, const Use& use) const {
    for (const auto& [name, tracked] : clusters_) {
      if (tracked.version > since) use(std::string_view(name), tracked.load);
    }
  }

 private:
  // The replicas of one binding that one cluster does not show yet; of each component for a workload that has some.
  struct Part {
    Request request;
    int32_t replicas = 0;
  };
  struct Entry {
    std::map<std::string, std::vector<Part>, std::less<>> by_cluster;
    WallTime expires;
  };

  struct Tracked {
    Load load;
    uint64_t version = 0;
  };

  void Take(const std::string& cluster, const std::vector<Part>& parts);
  void Release(const std::string& cluster, const std::vector<Part>& parts);

  Duration ttl_;
  std::map<std::string, Entry, std::less<>> bindings_;
  std::map<std::string, Tracked, std::less<>> clusters_;  // every cluster that ever had a load
  uint64_t version_ = 0;
};

}  // namespace baton::placement
