// Any text as a selector: what is read prints as something that reads the same and selects the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "json/builder.h"
#include "json/selector.h"

namespace baton::json {
namespace {

// Labels near what the selector asks for: the first, the second ... value of each key, or no such key.
std::vector<Value> Candidates(const LabelSelector& selector) {
  std::vector<Value> candidates = {Value(), Object(), Object({{"a", "b"}})};
  for (size_t pick = 0; pick < 4; ++pick) {
    Value labels = Object();
    for (const LabelRequirement& requirement : selector.requirements()) {
      if (pick < requirement.values().size())
        labels.Set(requirement.key(), requirement.values()[pick]);
      else if (pick == 2)
        labels.Set(requirement.key(), "9");
    }
    candidates.push_back(std::move(labels));
  }
  return candidates;
}

// The same selector as metav1.LabelSelector; null when that cannot say it.
Value AsObject(const LabelSelector& selector) {
  ArrayBuilder expressions;
  for (const LabelRequirement& requirement : selector.requirements()) {
    std::string_view op;
    switch (requirement.op()) {
      case LabelOperator::kEquals:
      case LabelOperator::kDoubleEquals:
      case LabelOperator::kIn:
        op = "In";
        break;
      case LabelOperator::kNotEquals:
      case LabelOperator::kNotIn:
        op = "NotIn";
        break;
      case LabelOperator::kExists:
        op = "Exists";
        break;
      case LabelOperator::kDoesNotExist:
        op = "DoesNotExist";
        break;
      default:
        return Value();
    }
    Value values = Array();
    for (const std::string& value : requirement.values()) values.Push(value);
    expressions.Add(Object({{"key", requirement.key()}, {"operator", op}, {"values", values}}));
  }
  return Object({{"matchExpressions", std::move(expressions).Build()}});
}

void CheckLabels(std::string_view text) {
  const Result<LabelSelector> selector = LabelSelector::Parse(text);
  if (!selector.ok()) return;
  const std::string printed = selector->ToString();
  if (printed.size() > kMaxSelectorBytes) return;
  const Result<LabelSelector> again = LabelSelector::Parse(printed);
  INVARIANT(again.ok(), again.error().ToString());
  INVARIANT(*again == *selector && again->ToString() == printed, printed);
  const Value object = AsObject(*selector);
  for (const Value& labels : Candidates(*selector)) {
    bool all = true;
    for (const LabelRequirement& requirement : selector->requirements()) all = all && requirement.Matches(labels);
    INVARIANT(selector->Matches(labels) == all && again->Matches(labels) == all, printed);
    if (!object.is_null()) INVARIANT(LabelSelector::FromObject(object)->Matches(labels) == all, printed);
  }
}

void CheckFields(std::string_view text) {
  const Result<FieldSelector> selector = FieldSelector::Parse(text);
  if (!selector.ok()) return;
  const std::string printed = selector->ToString();
  if (printed.size() > kMaxSelectorBytes) return;
  // Terms are sorted as they were written ("a==z" before "a=b"), so the order settles with the second reading.
  const Result<FieldSelector> again = FieldSelector::Parse(printed);
  INVARIANT(again.ok(), again.error().ToString());
  const std::string settled = again->ToString();
  INVARIANT(*FieldSelector::Parse(settled) == *again, settled);
  INVARIANT(again->requirements().size() == selector->requirements().size(), printed);
  for (const FieldRequirement& wanted : selector->requirements()) {
    const auto lookup = [&](std::string_view field) { return field == wanted.field ? wanted.value : std::string(); };
    INVARIANT(selector->Matches(lookup) == again->Matches(lookup), printed);
  }
  if (selector->requirements().size() == 1) INVARIANT(*again == *selector, printed);
}

}  // namespace
}  // namespace baton::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  baton::json::CheckLabels(text);
  baton::json::CheckFields(text);
  return 0;
}
