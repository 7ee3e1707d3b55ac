// Sums of quantities, exactly.
#include "federation/resource_summary.h"

#include <map>
#include <string>

#include "json/builder.h"
#include "json/quantity.h"

namespace baton::federation {
namespace {

using Sums = std::map<std::string, json::Quantity, std::less<>>;

void Add(Sums& sums, std::string_view name, const json::Value& value) {
  const Result<json::Quantity> quantity = json::Quantity::FromJson(value);
  if (!quantity.ok()) return;  // the server would not have taken it
  const auto at = sums.find(name);
  if (at == sums.end()) {
    sums.emplace(name, *quantity);
    return;
  }
  const Result<json::Quantity> sum = at->second.Add(*quantity);
  if (sum.ok()) at->second = *sum;
}

json::Value ToJson(const Sums& sums) {
  json::ObjectBuilder object;
  for (const auto& [name, quantity] : sums) object.Add(name, quantity.ToString());
  return std::move(object).Build();
}

bool NodeReady(const json::Value& node) {
  for (const json::Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].str() == "Ready") return condition["status"].str() == "True";
  }
  return false;
}

}  // namespace

void FillResourceSummary(const kube::Informer& nodes, const kube::Informer& pods, json::Value& status) {
  Sums allocatable;
  Sums allocated;
  Sums allocating;
  int64_t total = 0;
  int64_t ready = 0;
  nodes.ForEach([&](std::string_view, const json::Value& node) {
    ++total;
    ready += NodeReady(node) ? 1 : 0;
    for (const json::Member& member : node["status"]["allocatable"].members())
      Add(allocatable, member.key(), member.value());
  });
  pods.ForEach([&](std::string_view, const json::Value& pod) {
    const std::string_view phase = pod["status"]["phase"].str();
    if (phase == "Succeeded" || phase == "Failed") return;
    Sums& into = pod["spec"]["nodeName"].str().empty() ? allocating : allocated;
    for (const json::Value& container : pod["spec"]["containers"].items()) {
      for (const json::Member& member : container["resources"]["requests"].members()) {
        Add(into, member.key(), member.value());
      }
    }
    Add(into, "pods", json::Value(1));
  });
  status.Set("nodeSummary", json::Object({{"totalNum", total}, {"readyNum", ready}}));
  json::Value summary = json::Object({{"allocatable", ToJson(allocatable)}});
  if (!allocated.empty()) summary.Set("allocated", ToJson(allocated));
  if (!allocating.empty()) summary.Set("allocating", ToJson(allocating));
  status.Set("resourceSummary", summary);
}

}  // namespace baton::federation
