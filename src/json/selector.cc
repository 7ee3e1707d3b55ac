// Label selectors: what a requirement may be, matching and printing.
#include "json/selector.h"

#include <charconv>
#include <functional>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "json/names.h"
#include "json/selector_internal.h"

namespace baton::json {
namespace {

using selector_internal::Shown;

constexpr size_t kMaxFaultsShown = 16;  // in one message

std::optional<int64_t> ReadInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A list of strings as Go's %#v shows it.
std::string GoStrings(const std::vector<std::string>& values) {
  if (values.empty()) return "[]string(nil)";
  std::vector<std::string> quoted;
  quoted.reserve(values.size());
  for (const std::string& value : values) quoted.push_back(Quote(value));
  return StrCat("[]string{", Join(quoted, ", "), "}");
}

// What is wrong with the number of values, "" when nothing is.
std::string_view CountFault(LabelOperator op, size_t count) {
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      return count == 0 ? "for 'in', 'notin' operators, values set can't be empty" : "";
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
    case LabelOperator::kNotEquals:
      return count != 1 ? "exact-match compatibility requires one single value" : "";
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      return count != 0 ? "values set must be empty for exists and does not exist" : "";
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      return count != 1 ? "for 'Gt', 'Lt' operators, exactly one value is required" : "";
  }
  return "";
}

}  // namespace

namespace selector_internal {

std::string LabelKeyFault(std::string_view key) { return Join(CheckQualifiedName(key), "; "); }

}  // namespace selector_internal

Result<LabelRequirement> LabelRequirement::Make(std::string_view key, LabelOperator op,
                                                std::vector<std::string> values) {
  if (values.size() > kMaxSelectorValues)
    return TooLargeError(StrCat("a label selector's requirement may have ", kMaxSelectorValues, " values"));
  std::vector<std::string> faults;
  const auto fault = [&](std::string_view where, std::string_view value, std::string_view what) {
    faults.push_back(StrCat(where, ": Invalid value: ", value, ": ", what));
  };
  if (const std::string what = selector_internal::LabelKeyFault(key); !what.empty())
    fault("key", Quote(Shown(key)), what);
  if (const std::string_view what = CountFault(op, values.size()); !what.empty())
    fault("values", Shown(GoStrings(values)), what);

  LabelRequirement made;
  made.key_ = key;
  made.op_ = op;
  const bool numeric = op == LabelOperator::kGreaterThan || op == LabelOperator::kLessThan;
  for (size_t i = 0; numeric && i < values.size() && faults.size() < kMaxFaultsShown; ++i) {
    const std::optional<int64_t> bound = ReadInt(values[i]);
    made.bound_ = bound.value_or(0);
    if (!bound) {
      fault(StrCat("values[", i, "]"), Quote(Shown(values[i])),
            "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (size_t i = 0; i < values.size() && faults.size() < kMaxFaultsShown; ++i) {
    if (const std::string what = Join(CheckLabelValue(values[i]), "; "); !what.empty())
      fault(StrCat("values[", i, "][", Shown(key), "]"), Quote(Shown(values[i])), what);
  }
  if (faults.size() == 1) return InvalidError(std::move(faults[0]));
  if (!faults.empty()) return InvalidError(StrCat("[", Join(faults, ", "), "]"));
  std::ranges::sort(values);
  made.values_ = std::move(values);
  return made;
}

bool LabelRequirement::HasValue(std::string_view value) const {
  return values_.size() == 1 ? values_[0] == value : std::ranges::binary_search(values_, value, std::less<>());
}

bool LabelRequirement::Matches(const Value& labels) const {
  const Value* label = labels.Find(key_);
  if (label != nullptr && !label->is_string()) label = nullptr;
  switch (op_) {
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
    case LabelOperator::kIn:
      return label != nullptr && HasValue(label->str());
    case LabelOperator::kNotEquals:
    case LabelOperator::kNotIn:
      return label == nullptr || !HasValue(label->str());
    case LabelOperator::kExists:
      return label != nullptr;
    case LabelOperator::kDoesNotExist:
      return label == nullptr;
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan: {
      const std::optional<int64_t> number = label == nullptr ? std::nullopt : ReadInt(label->str());
      return number && (op_ == LabelOperator::kGreaterThan ? *number > bound_ : *number < bound_);
    }
  }
  return false;
}

std::string LabelRequirement::ToString() const {
  switch (op_) {
    case LabelOperator::kEquals:
      return StrCat(key_, "=", values_[0]);
    case LabelOperator::kDoubleEquals:
      return StrCat(key_, "==", values_[0]);
    case LabelOperator::kNotEquals:
      return StrCat(key_, "!=", values_[0]);
    case LabelOperator::kIn:
      return StrCat(key_, " in (", Join(values_, ","), ")");
    case LabelOperator::kNotIn:
      return StrCat(key_, " notin (", Join(values_, ","), ")");
    case LabelOperator::kExists:
      return key_;
    case LabelOperator::kDoesNotExist:
      return StrCat("!", key_);
    case LabelOperator::kGreaterThan:
      return StrCat(key_, ">", values_[0]);
    case LabelOperator::kLessThan:
      return StrCat(key_, "<", values_[0]);
  }
  return "";
}

LabelSelector LabelSelector::Nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

Result<LabelSelector> LabelSelector::FromRequirements(std::vector<LabelRequirement> requirements) {
  if (requirements.size() > kMaxSelectorRequirements)
    return TooLargeError(StrCat("a label selector may have ", kMaxSelectorRequirements, " requirements"));
  std::vector<size_t> order(requirements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(std::string_view(requirements[i].key()), i); });
  LabelSelector selector;
  selector.requirements_.reserve(order.size());
  for (const size_t i : order) selector.requirements_.push_back(std::move(requirements[i]));
  return selector;
}

bool LabelSelector::Matches(const Value& labels) const {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const LabelRequirement& r) { return r.Matches(labels); });
}

std::optional<std::string_view> LabelSelector::ExactMatch(std::string_view key) const {
  for (const LabelRequirement& requirement : requirements_) {
    if (requirement.key() != key) continue;
    const LabelOperator op = requirement.op();
    if (op != LabelOperator::kEquals && op != LabelOperator::kDoubleEquals && op != LabelOperator::kIn) return {};
    if (requirement.values().size() != 1) return {};
    return requirement.values()[0];
  }
  return {};
}

std::string LabelSelector::ToString() const {
  std::string out;
  for (const LabelRequirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    out += requirement.ToString();
  }
  return out;
}

}  // namespace baton::json
