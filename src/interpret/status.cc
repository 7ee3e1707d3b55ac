// Member statuses: read, reflected, summed.
#include "interpret/status.h"

#include <charconv>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"

namespace baton::interpret {

namespace {
using json::Value;
}  // namespace

Result<std::vector<MemberStatus>> MemberStatuses(const Items& items) {
  if (!items.is_array() && !items.is_null()) return InvalidError("aggregatedStatus: expected a list");
  std::vector<MemberStatus> statuses;
  for (const Value& item : items.items()) {
    if (!item.is_object()) return InvalidError("aggregatedStatus: expected objects in the list");
    const Value& status = item["status"];
    if (!status.is_object() && !status.is_null())
      return InvalidError(StrCat("aggregatedStatus of cluster ", Quote(item["clusterName"].str()),
                                 ": status: expected an object, and it is ", json::KindName(status.kind())));
    statuses.push_back({item["clusterName"].str(), status.is_null() ? nullptr : &status});
  }
  return statuses;
}

Result<Value> StatusOf(const Value& object) {
  const Value& status = object["status"];
  if (!status.is_object() && !status.is_null())
    return InvalidError(StrCat("status: expected an object, and it is ", json::KindName(status.kind())));
  return status;
}

Result<void> AddGenerations(const Value& object, Value& status) {
  SetOrErase(status, "generation", TRY(CountAt(object, {"metadata", "generation"})));
  const Value& annotation = At(object, {"metadata", "annotations", kTemplateGenerationAnnotation});
  if (annotation.is_null()) return {};
  const std::string_view text = annotation.str();
  int64_t generation = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), generation);
  if (error != std::errc() || end != text.data() + text.size())
    return InvalidError(StrCat("annotation ", kTemplateGenerationAnnotation, ": ", Quote(text), " is no number"));
  SetOrErase(status, "resourceTemplateGeneration", generation);
  return {};
}

Result<Value> ReflectFields(const Value& object, std::span<const std::string_view> fields) {
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  Value reflected = json::Object();
  for (const std::string_view field : fields) {
    const Value& value = status[field];
    const bool zero = value.is_null() || (value.is_int() && value.int_or(0) == 0) ||
                      (value.is_string() && value.str().empty()) ||
                      ((value.is_array() || value.is_object()) && value.empty());
    if (!zero) reflected.Set(field, value);
  }
  return reflected;
}

Result<bool> AllObserved(const Value& object, const Items& items) {
  const int64_t generation = TRY(CountAt(object, {"metadata", "generation"}));
  for (const MemberStatus& member : TRY(MemberStatuses(items))) {
    if (member.status == nullptr) return false;
    const int64_t member_generation = TRY(CountAt(*member.status, {"generation"}));
    if (TRY(CountAt(*member.status, {"observedGeneration"})) < member_generation) return false;
    if (TRY(CountAt(*member.status, {"resourceTemplateGeneration"})) < generation) return false;
  }
  return true;
}

Result<Value> SumStatuses(Value object, const Items& items, std::span<const CountField> fields, bool generations) {
  Value status = TRY(StatusOf(object));
  if (status.is_null()) status = json::Object();
  const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
  for (const CountField& field : fields) {
    int64_t sum = 0;
    for (const MemberStatus& member : members) {
      if (member.status != nullptr) sum = SaturatingAdd(sum, TRY(CountAt(*member.status, {field.name})));
    }
    if (field.always) {
      status.Set(field.name, sum);
    } else {
      SetOrErase(status, field.name, sum);
    }
  }
  if (generations && TRY(AllObserved(object, items)))
    SetOrErase(status, "observedGeneration", TRY(CountAt(object, {"metadata", "generation"})));
  object.Set("status", std::move(status));
  return object;
}

}  // namespace baton::interpret
