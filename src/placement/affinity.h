// ClusterAffinity: which clusters a policy means, parsed once. Also OverridePolicy's targetCluster and the targets of
// static weights have this form.
//
// A cluster matches when it is not excluded and every part that is given matches:
//   clusterNames   its name is one of them
//   labelSelector  its labels match
//   fieldSelector  provider, region and zone, each In or NotIn. A zone expression looks at all zones of the cluster:
//                  In is any overlap, NotIn is none. NotIn also matches a cluster without the field.
// An affinity without parts matches every cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/selector.h"
#include "json/value.h"
#include "placement/cluster.h"

namespace baton::placement {

inline constexpr size_t kMaxAffinityNames = 100'000;  // clusterNames, exclude, values of one expression
inline constexpr size_t kMaxFieldExpressions = 256;

enum class ClusterField : uint8_t { kProvider, kRegion, kZone };

struct FieldExpression {
  ClusterField field = ClusterField::kProvider;
  bool in = true;                   // else NotIn
  std::vector<std::string> values;  // sorted

  friend bool operator==(const FieldExpression&, const FieldExpression&) = default;
};

struct ClusterAffinity {
  std::vector<std::string> cluster_names;  // sorted
  std::vector<std::string> excluded;       // sorted
  std::optional<json::LabelSelector> label_selector;
  std::vector<FieldExpression> fields;

  bool Matches(const Cluster& cluster) const;
  bool MatchesEverything() const;
  friend bool operator==(const ClusterAffinity&, const ClusterAffinity&) = default;
};

// `where` names the affinity in errors: "clusterAffinity", "clusterAffinities[2]".
Result<ClusterAffinity> ParseClusterAffinity(const json::Value& object, std::string_view where);

}  // namespace baton::placement
