// The filters, as set operations; and once more cluster by cluster when somebody asks why.
#include "placement/filter.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace baton::placement {

namespace {

ClusterSet SetOf(const Fleet& fleet, std::span<const std::string> names) {
  ClusterSet set(fleet.size());
  for (const std::string& name : names) {
    if (const std::optional<size_t> at = fleet.Find(name)) set.Add(*at);
  }
  return set;
}

ClusterSet CurrentOf(const Binding& binding, const Fleet& fleet) {
  ClusterSet set(fleet.size());
  for (const TargetCluster& target : binding.clusters) {
    if (const std::optional<size_t> at = fleet.Find(target.name)) set.Add(*at);
  }
  return set;
}

// Overflow is for replicas that need room. What has none (a Service) stays with the clusters of the term itself.
const ClusterSet& Matched(const Binding& binding, const PreparedPlacement::Term& term) {
  return binding.IsWorkload() ? term.any : term.tiers[0];
}

// Clusters where every peer of the affinity group that is placed at all runs too.
ClusterSet WithPeers(const Peers& peers, const Fleet& fleet) {
  ClusterSet set = fleet.all();
  for (const std::vector<std::string>& clusters : peers.together) {
    if (!clusters.empty()) set &= SetOf(fleet, clusters);
  }
  return set;
}

const Taint* Untolerated(const Cluster& cluster, const Placement& placement) {
  for (const Taint& taint : cluster.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const bool tolerated =
        std::ranges::any_of(placement.tolerations, [&](const Toleration& t) { return t.Tolerates(taint); });
    if (!tolerated) return &taint;
  }
  return nullptr;
}

std::string_view MissingProperty(const Cluster& cluster, const Placement& placement) {
  if (placement.Spread(SpreadField::kProvider).has_value() && cluster.provider.empty()) return "provider";
  if (placement.Spread(SpreadField::kRegion).has_value() && cluster.region.empty()) return "region";
  if (placement.Spread(SpreadField::kZone).has_value() && cluster.zones.empty()) return "zones";
  return "";
}

}  // namespace

ClusterSet Feasible(const Binding& binding, const PreparedPlacement& prepared, size_t term) {
  const Fleet& fleet = prepared.fleet();
  const ClusterSet current = CurrentOf(binding, fleet);
  ClusterSet fits = fleet.Serving(binding.api_version, binding.kind);
  fits &= prepared.tolerated();
  if (!binding.peers.together.empty()) fits &= WithPeers(binding.peers, fleet);
  if (!binding.peers.apart.empty()) fits.Subtract(SetOf(fleet, binding.peers.apart));
  fits |= current;
  fits &= Matched(binding, prepared.terms()[term]);
  fits &= prepared.spreadable();
  fits.Subtract(fleet.deleting());
  for (const std::string& name : binding.evicting) {
    if (const std::optional<size_t> at = fleet.Find(name)) fits.Remove(*at);
  }
  return fits;
}

std::vector<Rejection> Explain(const Binding& binding, const PreparedPlacement& prepared, size_t term) {
  const Fleet& fleet = prepared.fleet();
  const ClusterSet current = CurrentOf(binding, fleet);
  const ClusterSet evicting = SetOf(fleet, binding.evicting);
  const ClusterSet together = WithPeers(binding.peers, fleet);
  const ClusterSet apart = SetOf(fleet, binding.peers.apart);
  const ClusterSet& serving = fleet.Serving(binding.api_version, binding.kind);
  const ClusterSet& matched = Matched(binding, prepared.terms()[term]);
  std::vector<Rejection> rejections;
  for (size_t i = 0; i < fleet.size(); ++i) {
    const Cluster& cluster = fleet[i];
    const auto reject = [&](std::string reason) { rejections.push_back({cluster.name, std::move(reason)}); };
    const bool fresh = !current.Has(i);
    const Taint* taint = fresh ? Untolerated(cluster, prepared.placement()) : nullptr;
    if (cluster.deleting) {
      reject("cluster(s) are being deleted");
    } else if (!matched.Has(i)) {
      reject("cluster(s) did not match the placement cluster affinity constraint");
    } else if (fresh && !serving.Has(i)) {
      reject("cluster(s) did not have the API resource");
    } else if (taint != nullptr) {
      reject(StrCat("cluster(s) had untolerated taint {", taint->ToString(), "}"));
    } else if (const std::string_view missing = MissingProperty(cluster, prepared.placement()); !missing.empty()) {
      reject(StrCat("cluster(s) did not have ", missing, " property"));
    } else if (evicting.Has(i)) {
      reject("cluster(s) is in the process of eviction");
    } else if (fresh && !together.Has(i)) {
      reject("ResourceBinding with the same affinity group does not target this cluster");
    } else if (fresh && apart.Has(i)) {
      reject("cluster already has workload with the same anti-affinity group");
    }
  }
  return rejections;
}

std::string Summarize(std::span<const Rejection> rejections, size_t all_clusters) {
  if (all_clusters == 0 || rejections.empty()) {
    return StrCat("0/", all_clusters, " clusters are available: no cluster exists.");
  }
  std::map<std::string_view, size_t> counts;
  for (const Rejection& rejection : rejections) ++counts[rejection.reason];
  std::vector<std::string> lines;
  lines.reserve(counts.size());
  for (const auto& [reason, count] : counts) lines.push_back(StrCat(count, " ", reason));
  std::ranges::sort(lines);
  return StrCat("0/", all_clusters, " clusters are available: ", Join(lines, ", "), ".");
}

}  // namespace baton::placement
