// Which clusters a rule means: Karmada's ClusterAffinity.
//
//   {clusterNames: [...], labelSelector: {...}, fieldSelector: {matchExpressions: [{key: region, ...}]}, exclude:
//   [...]}
//
// A cluster matches when it is not excluded and every part that is given matches; an empty affinity matches every
// cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/selector.h"
#include "json/value.h"

namespace baton::overrides {

// What affinities look at.
struct Target {
  std::string name;
  json::Value labels = {};
  std::string provider = {};
  std::string region = {};
  std::vector<std::string> zones = {};

  // From a Cluster object; the deprecated spec.zone counts when spec.zones is empty.
  static Target FromCluster(const json::Value& cluster);
};

class ClusterAffinity {
 public:
  static Result<ClusterAffinity> Compile(const json::Value& affinity);
  bool Matches(const Target& cluster) const;

 private:
  struct FieldRequirement {
    enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist };
    std::string key;  // "provider", "region", "zone"; a cluster has no other field
    Operator op;
    std::vector<std::string> values;

    static Result<FieldRequirement> Compile(const json::Value& expression);
    bool Matches(const Target& cluster) const;
  };

  std::vector<std::string> names_;
  std::vector<std::string> exclude_;
  std::optional<json::LabelSelector> labels_;
  std::vector<FieldRequirement> fields_;
};

}  // namespace baton::overrides
