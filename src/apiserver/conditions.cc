// Conditions by type.
#include "apiserver/conditions.h"

namespace baton::apiserver {

namespace {

using json::Value;

size_t IndexOf(const Value& conditions, std::string_view type) {
  size_t i = 0;
  while (i < conditions.size() && conditions[i]["type"].str() != type) ++i;
  return i;
}

}  // namespace

const Value& FindCondition(const Value& conditions, std::string_view type) {
  return conditions[IndexOf(conditions, type)];
}

void SetCondition(Value& conditions, const Condition& condition, std::string_view now) {
  const size_t at = IndexOf(conditions, condition.type);
  if (at == conditions.size()) conditions.Push(json::Object({{"type", condition.type}}));
  Value& entry = conditions.Edit(at);
  const std::string_view status = condition.status ? "True" : "False";
  if (entry["status"].str() != status) entry.Set("lastTransitionTime", now);
  entry.Set("status", status);
  entry.Set("reason", condition.reason);
  entry.Set("message", condition.message);
}

void RemoveCondition(Value& conditions, std::string_view type) {
  const size_t at = IndexOf(conditions, type);
  if (at < conditions.size()) conditions.EraseAt(at);
}

}  // namespace baton::apiserver
