// Reading a Cluster object.
#include "placement/cluster.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "json/quantity.h"

namespace baton::placement {

namespace {

using json::Quantity;
using json::Value;

// A string field: absent is "", anything but a string is an error.
Result<std::string> Text(const Value& value, std::string_view where) {
  if (value.is_null()) return std::string();
  if (!value.is_string()) return InvalidError(StrCat(where, " must be a string, not ", json::KindName(value.kind())));
  return std::string(value.str());
}

Result<void> CheckArray(const Value& value, std::string_view where, size_t limit) {
  if (!value.is_null() && !value.is_array()) return InvalidError(StrCat(where, " must be a list"));
  if (value.size() > limit) return TooLargeError(StrCat(where, " has ", value.size(), " items; at most ", limit));
  return {};
}

bool ConditionTrue(const Value& status, std::string_view type) {
  return std::ranges::any_of(status["conditions"].items(), [&](const Value& condition) {
    return condition["type"].str() == type && condition["status"].str() == "True";
  });
}

Result<void> ParseTaints(const Value& list, Cluster& cluster) {
  TRY(CheckArray(list, "spec.taints", kMaxTaints));
  for (const Value& item : list.items()) {
    Taint taint;
    taint.key = TRY(Text(item["key"], "spec.taints[].key"));
    taint.value = TRY(Text(item["value"], "spec.taints[].value"));
    taint.effect = TRY(Text(item["effect"], "spec.taints[].effect"));
    cluster.taints.push_back(std::move(taint));
  }
  return {};
}

Result<void> ParseZones(const Value& spec, Cluster& cluster) {
  TRY(CheckArray(spec["zones"], "spec.zones", kMaxZones));
  for (const Value& zone : spec["zones"].items()) {
    std::string name = TRY(Text(zone, "spec.zones[]"));
    if (!name.empty()) cluster.zones.push_back(std::move(name));
  }
  std::string old = TRY(Text(spec["zone"], "spec.zone"));
  if (cluster.zones.empty() && !old.empty()) cluster.zones.push_back(std::move(old));
  std::ranges::sort(cluster.zones);
  const auto repeated = std::ranges::unique(cluster.zones);
  cluster.zones.erase(repeated.begin(), repeated.end());
  return {};
}

Result<void> ParseApis(const Value& list, Cluster& cluster) {
  TRY(CheckArray(list, "status.apiEnablements", kMaxApiKinds));
  for (const Value& group : list.items()) {
    TRY(CheckArray(group["resources"], "status.apiEnablements[].resources", kMaxApiKinds));
    for (const Value& resource : group["resources"].items()) {
      cluster.apis.push_back(ApiKey(group["groupVersion"].str(), resource["kind"].str()));
      if (cluster.apis.size() > kMaxApiKinds) {
        return TooLargeError(StrCat("status.apiEnablements lists more than ", kMaxApiKinds, " kinds"));
      }
    }
  }
  std::ranges::sort(cluster.apis);
  const auto repeated = std::ranges::unique(cluster.apis);
  cluster.apis.erase(repeated.begin(), repeated.end());
  return {};
}

Result<Quantity> QuantityIn(const Value& resources, std::string_view name, std::string_view where) {
  return Quantity::FromJson(resources[name]).Context(StrCat("status.resourceSummary.", where, ".", name));
}

Result<void> ParseSummary(const Value& summary, Capacity& capacity) {
  if (summary.is_null()) return {};
  if (!summary.is_object()) return InvalidError("status.resourceSummary must be an object");
  capacity.known = true;
  const Value& allocatable = summary["allocatable"];
  TRY(allocatable.size() > kMaxResourceNames
          ? Result<void>(TooLargeError(StrCat("status.resourceSummary.allocatable has ", allocatable.size(),
                                              " resources; at most ", kMaxResourceNames)))
          : Result<void>());
  for (const json::Member& member : allocatable.members()) {
    const std::string_view name = member.key();
    Quantity left = TRY(QuantityIn(allocatable, name, "allocatable"));
    left = TRY(left.Sub(TRY(QuantityIn(summary["allocated"], name, "allocated"))));
    left = TRY(left.Sub(TRY(QuantityIn(summary["allocating"], name, "allocating"))));
    capacity.available.push_back({std::string(name), AmountOf(name, left, Rounding::kDown)});
  }
  const Amount* pods = FindAmount(capacity.available, "pods");
  capacity.pods = pods == nullptr ? 0 : std::max<int64_t>(pods->value, 0);
  return {};
}

// spec.resourceModels says what a node of each grade has at least, status counts the nodes of each grade. Without both,
// or with a negative count, there is no model, as in Karmada.
Result<void> ParseModels(const Value& models, const Value& counts, Capacity& capacity) {
  TRY(CheckArray(models, "spec.resourceModels", kMaxNodeGrades));
  TRY(CheckArray(counts, "status.resourceSummary.allocatableModelings", kMaxNodeGrades));
  if (models.empty() || counts.empty()) return {};
  std::map<int64_t, int64_t> nodes;
  for (const Value& item : counts.items()) {
    const int64_t count = item["count"].int_or(0);
    if (count < 0) return {};
    int64_t& sum = nodes[item["grade"].int_or(0)];
    if (__builtin_add_overflow(sum, count, &sum)) sum = INT64_MAX;
  }
  for (const Value& model : models.items()) {
    TRY(CheckArray(model["ranges"], "spec.resourceModels[].ranges", kMaxResourceNames));
    NodeGrade grade;
    const auto at = nodes.find(model["grade"].int_or(0));
    grade.count = at == nodes.end() ? 0 : at->second;
    for (const Value& range : model["ranges"].items()) {
      const std::string_view name = range["name"].str();
      const Quantity minimum = TRY(Quantity::FromJson(range["min"]).Context("spec.resourceModels[].ranges[].min"));
      grade.minimum.push_back({std::string(name), AmountOf(name, minimum, Rounding::kDown)});
    }
    std::ranges::sort(grade.minimum, {}, &Amount::name);
    capacity.grades.push_back(std::move(grade));
  }
  return {};
}

}  // namespace

std::string Taint::ToString() const {
  if (effect.empty()) return value.empty() ? key : StrCat(key, "=", value, ":");
  return value.empty() ? StrCat(key, ":", effect) : StrCat(key, "=", value, ":", effect);
}

std::string ApiKey(std::string_view api_version, std::string_view kind) { return StrCat(api_version, " ", kind); }

Result<Cluster> ParseCluster(const Value& object) {
  Cluster cluster;
  const Value& metadata = object["metadata"];
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  cluster.name = TRY(Text(metadata["name"], "metadata.name"));
  if (cluster.name.empty()) return InvalidError("a cluster without metadata.name");
  const auto read = [&]() -> Result<void> {
    cluster.labels = metadata["labels"];
    cluster.deleting = !metadata["deletionTimestamp"].is_null();
    cluster.provider = TRY(Text(spec["provider"], "spec.provider"));
    cluster.region = TRY(Text(spec["region"], "spec.region"));
    TRY(ParseZones(spec, cluster));
    TRY(ParseTaints(spec["taints"], cluster));
    TRY(ParseApis(status["apiEnablements"], cluster));
    TRY(ParseSummary(status["resourceSummary"], cluster.capacity));
    TRY(ParseModels(spec["resourceModels"], status["resourceSummary"]["allocatableModelings"], cluster.capacity));
    cluster.ready = ConditionTrue(status, "Ready");
    cluster.apis_complete = ConditionTrue(status, "CompleteAPIEnablements");
    return {};
  };
  TRY(read().Context(StrCat("cluster '", cluster.name, "'")));
  return cluster;
}

}  // namespace baton::placement
