// Dividing a Job's completions.
#include "federation/completions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kube/api.h"
#include "placement/webster.h"

namespace baton::federation {

std::optional<int32_t> CompletionsFor(const json::Value& binding, const json::Value& object, std::string_view cluster) {
  if (kube::KindOf(object) != "Job" || kube::ApiVersionOf(object) != "batch/v1") return std::nullopt;
  const json::Value& completions = object["spec"]["completions"];
  const int64_t total = completions.int_or(-1);
  if (!completions.is_int() || total < 0 || total > std::numeric_limits<int32_t>::max()) return std::nullopt;
  const json::Value& spec = binding["spec"];
  if (spec["placement"]["replicaScheduling"]["replicaSchedulingType"].str() != "Divided") return std::nullopt;
  struct Party {
    std::string_view name;
    int64_t weight;
  };
  std::vector<Party> parties;
  for (const json::Value& one : spec["clusters"].items()) {
    parties.push_back({one["name"].str(), std::max<int64_t>(one["replicas"].int_or(0), 0)});
  }
  std::ranges::sort(parties, {}, &Party::name);  // ties are by name
  std::vector<int64_t> weights;
  weights.reserve(parties.size());
  for (const Party& party : parties) weights.push_back(party.weight);
  const bool descending = placement::TiesDescending(spec["resource"]["uid"].str());
  const std::vector<int32_t> shares = placement::Webster(weights, static_cast<int32_t>(total), descending);
  for (size_t i = 0; i < parties.size(); ++i) {
    if (parties[i].name == cluster) return shares[i];
  }
  return std::nullopt;
}

}  // namespace baton::federation
