// Cluster: what Karmada's own API server does to it.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/federation_kinds.h"
#include "api/federation_url.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/names.h"
#include "json/quantity.h"
#include "json/rfc3339.h"

namespace baton::api::federation {

using builtin::AddInvalid;
using builtin::EditEach;
using builtin::EditObjectIfThere;

namespace {

constexpr size_t kClusterNameMax = 48;                           // the namespace karmada-es-NAME must be a label too
constexpr std::string_view kWithoutEnd = "9223372036854775807";  // the largest int64

// ---- mutation ----

// Bounds between the default grades of nodes; the last grade has no upper bound.
constexpr auto kCpuBounds = std::to_array<std::string_view>({"0", "1", "2", "4", "8", "16", "32", "64", "128"});
constexpr auto kMemoryBounds =
    std::to_array<std::string_view>({"0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti"});
static_assert(kCpuBounds.size() == kMemoryBounds.size());

Value DefaultModels() {
  const auto range = [](std::string_view name, const auto& bounds, size_t grade) {
    const std::string_view max = grade + 1 < bounds.size() ? bounds[grade + 1] : kWithoutEnd;
    return json::Object({{"name", name}, {"min", bounds[grade]}, {"max", max}});
  };
  Value models = json::Array();
  for (size_t grade = 0; grade < kCpuBounds.size(); ++grade) {
    models.Push(json::Object(
        {{"grade", grade},
         {"ranges", json::Array({range("cpu", kCpuBounds, grade), range("memory", kMemoryBounds, grade)})}}));
  }
  return models;
}

// In the order of their grades, from 0 to without end, whatever the first and the last one say.
Value StandardModels(const Value& models) {
  std::vector<std::pair<int64_t, size_t>> order;  // grade, place
  for (size_t i = 0; i < models.size(); ++i) {
    if (!models[i].is_object()) return models;
    order.emplace_back(models[i]["grade"].int_or(0), i);
  }
  std::ranges::sort(order);
  std::vector<Value> sorted;
  sorted.reserve(order.size());
  for (const auto& [grade, place] : order) sorted.push_back(models[place]);
  EditEach(sorted.front(), "ranges", [](Value& range) { range.Set("min", "0"); });
  EditEach(sorted.back(), "ranges", [](Value& range) { range.Set("max", kWithoutEnd); });
  return json::ArrayBuilder::FromRange(sorted);
}

void MutateModels(Value& spec, const Admitted& admitted) {
  if (!admitted.context.default_resource_models) return;
  const Value& models = spec["resourceModels"];
  if (!models.empty()) {
    if (models.is_array()) spec.Set("resourceModels", StandardModels(models));
  } else if (admitted.creating() && (models.is_null() || models.is_array())) {
    spec.Set("resourceModels", DefaultModels());
  }
}

// ---- validation ----

void CheckName(Errors& errors, const Value& name) {
  if (name.str().size() > kClusterNameMax) {
    errors.push_back(
        InvalidError("metadata.name", name, StrCat("must be no more than ", kClusterNameMax, " characters")));
  } else if (!name.is_null()) {
    AddInvalid(errors, "metadata.name", name, json::CheckDns1123Label(name.str()));
  }
}

void CheckAddresses(Errors& errors, const Value& spec) {
  constexpr std::string_view kForm = "; desired format: https://host[:port]";
  if (const Value& endpoint = spec["apiEndpoint"]; !endpoint.str().empty()) {
    if (const auto url = ReadUrl(endpoint.str())) {
      CheckServerUrl(errors, "spec.apiEndpoint", *url, kForm);
    } else {
      errors.push_back(InvalidError("spec.apiEndpoint", endpoint, StrCat("must be a valid URL", kForm)));
    }
  }
  const Value& proxy = spec["proxyURL"];
  if (proxy.str().empty()) return;
  const auto url = ReadUrl(proxy.str());
  const std::string scheme = url ? ToLower(url->scheme) : "";
  if (scheme != "http" && scheme != "https" && scheme != "socks5") {
    errors.push_back(InvalidError("spec.proxyURL", proxy, "must be a URL with scheme http, https or socks5"));
  }
}

void CheckSecretRef(Errors& errors, const std::string& field, const Value& ref) {
  if (!ref.is_object()) return;
  for (std::string_view key : {"namespace", "name"}) {
    if (ref[key].str().empty()) errors.push_back(RequiredError(ChildPath(field, key), ""));
  }
}

void CheckPlace(Errors& errors, const Value& spec) {
  const auto label_value = [&](const std::string& field, const Value& value) {
    AddInvalid(errors, field, value, json::CheckLabelValue(value.str()));
  };
  label_value("spec.provider", spec["provider"]);
  label_value("spec.region", spec["region"]);
  if (!spec["zone"].str().empty() && !spec["zones"].empty()) {
    errors.push_back(ForbiddenError("spec.zone", "may not be given together with zones"));
    return;
  }
  label_value("spec.zone", spec["zone"]);
  for (size_t i = 0; i < spec["zones"].size(); ++i) label_value(IndexPath("spec.zones", i), spec["zones"][i]);
}

void CheckTaints(Errors& errors, const Value& taints) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string at = IndexPath("spec.taints", i);
    const Value& key = taints[i]["key"];
    const Value& effect = taints[i]["effect"];
    AddInvalid(errors, ChildPath(at, "key"), key.str(), json::CheckQualifiedName(key.str()));
    AddInvalid(errors, ChildPath(at, "value"), taints[i]["value"], json::CheckLabelValue(taints[i]["value"].str()));
    builtin::CheckEnum(errors, ChildPath(at, "effect"), effect, {"NoSchedule", "NoExecute"}, true);
    if (!seen.emplace(key.str(), effect.str()).second) {
      FieldError duplicate = DuplicateError(at, StrCat(key.str(), ":", effect.str()));
      duplicate.message += ": taints must be unique by key and effect pair";
      errors.push_back(std::move(duplicate));
    }
  }
}

struct Range {
  std::string_view name;
  json::Quantity min;
  json::Quantity max;
};

// None, and an error, when one of them is no range.
std::vector<Range> ReadRanges(Errors& errors, const std::string& field, const Value& ranges) {
  std::vector<Range> read;
  for (size_t i = 0; i < ranges.size(); ++i) {
    Range range{.name = ranges[i]["name"].str(), .min = {}, .max = {}};
    for (const auto& [key, to] : {std::pair("min", &range.min), std::pair("max", &range.max)}) {
      Result<json::Quantity> quantity = json::Quantity::FromJson(ranges[i][key]);
      if (!quantity.ok()) {
        errors.push_back(InvalidError(ChildPath(IndexPath(field, i), key), ranges[i][key], quantity.error().message()));
        return {};
      }
      *to = *quantity;
    }
    read.push_back(range);
  }
  return read;
}

// What is wrong with one range, seen beside that of the grade before (null for the first).
std::string_view RangeProblem(const Range& range, const Range* before, bool last) {
  if (range.max <= range.min) return "max must be greater than min";
  if (before == nullptr && !range.min.IsZero()) return "min must be 0 in the first grade";
  if (before != nullptr && before->name != range.name)
    return "all grades must have the same resources in the same order";
  if (before != nullptr && before->max != range.min) return "min must be the max of the grade before";
  if (last && range.max != json::Quantity::FromInt(std::numeric_limits<int64_t>::max())) {
    return "max must be 9223372036854775807 in the last grade";
  }
  return {};
}

void CheckModels(Errors& errors, const Value& models) {
  std::vector<Range> before;
  for (size_t i = 0; i < models.size(); ++i) {
    const std::string at = IndexPath("spec.resourceModels", i);
    const std::string path = ChildPath(at, "ranges");
    const size_t errors_before = errors.size();
    const std::vector<Range> ranges = ReadRanges(errors, path, models[i]["ranges"]);
    if (i > 0 && models[i]["grade"] == models[i - 1]["grade"]) {
      errors.push_back(DuplicateError(ChildPath(at, "grade"), models[i]["grade"]));
    }
    if (i > 0 && ranges.size() != before.size()) {
      errors.push_back(InvalidError(path, models[i]["ranges"], "all grades must have the same resources"));
    }
    if (errors.size() != errors_before) return;  // what follows would only repeat it
    for (size_t j = 0; j < ranges.size(); ++j) {
      const std::string_view problem = RangeProblem(ranges[j], i == 0 ? nullptr : &before[j], i + 1 == models.size());
      if (problem.empty()) continue;
      errors.push_back(InvalidError(IndexPath(path, j), models[i]["ranges"][j], problem));
      return;
    }
    before = ranges;
  }
}

}  // namespace

void MutateCluster(Value& object, const Admitted& admitted) {
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr) return;
  EditEach(*spec, "taints", [&](Value& taint) {
    if (taint["effect"].str() == "NoExecute" && taint["timeAdded"].is_null()) {
      taint.Set("timeAdded", json::FormatTime(admitted.context.now));
    }
  });
  const Value& zones = (*spec)["zones"];
  if (!(*spec)["zone"].str().empty() && zones.empty() && (zones.is_null() || zones.is_array())) {
    Value zone = spec->Take("zone");
    spec->Set("zones", json::Array({std::move(zone)}));
  }
  MutateModels(*spec, admitted);
}

void CheckCluster(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  const Value& spec = object["spec"];
  CheckName(errors, object["metadata"]["name"]);
  builtin::CheckEnum(errors, "spec.syncMode", spec["syncMode"], {"Pull", "Push"}, true);
  CheckAddresses(errors, spec);
  CheckSecretRef(errors, "spec.secretRef", spec["secretRef"]);
  CheckSecretRef(errors, "spec.impersonatorSecretRef", spec["impersonatorSecretRef"]);
  CheckPlace(errors, spec);
  CheckTaints(errors, spec["taints"]);
  CheckModels(errors, spec["resourceModels"]);
}

}  // namespace baton::api::federation
