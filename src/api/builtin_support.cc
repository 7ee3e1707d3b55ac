// Helpers for built-in kinds: edits, checks, cells.
#include "api/builtin_support.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/builtin_behaviour.h"
#include "base/strings.h"
#include "json/quantity.h"
#include "json/rfc3339.h"
#include "json/selector.h"

namespace baton::api {

std::string HumanAge(WallTime then, WallTime now) {
  const int64_t a = now.time_since_epoch().count();
  const int64_t b = then.time_since_epoch().count();
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) difference = a > b ? INT64_MAX : INT64_MIN;
  return builtin::HumanDuration(Duration(difference));
}

}  // namespace baton::api

namespace baton::api::builtin {
namespace {

constexpr std::string_view kImmutable = "field is immutable";

// Resources that have no domain in their name.
bool IsStandardResource(std::string_view name) {
  static constexpr std::string_view kNames[] = {"cpu",
                                                "memory",
                                                "ephemeral-storage",
                                                "storage",
                                                "requests.cpu",
                                                "requests.memory",
                                                "requests.storage",
                                                "requests.ephemeral-storage",
                                                "limits.cpu",
                                                "limits.memory",
                                                "limits.ephemeral-storage",
                                                "pods",
                                                "services",
                                                "secrets",
                                                "resourcequotas",
                                                "replicationcontrollers",
                                                "configmaps",
                                                "services.nodeports",
                                                "services.loadbalancers",
                                                "persistentvolumeclaims"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("hugepages-") ||
         name.starts_with("requests.hugepages-");
}

}  // namespace

void DefaultTo(Value& object, std::string_view key, Value value) {
  if (object.is_object() && object[key].is_null()) object.Set(key, std::move(value));
}

void DefaultText(Value& object, std::string_view key, std::string_view text) {
  if (object.is_object() && IsUnset(object[key])) object.Set(key, text);
}

void DefaultNumber(Value& object, std::string_view key, int64_t number) {
  if (!object.is_object()) return;
  if (object[key].is_null() || object[key].int_or(1) == 0) object.Set(key, number);
}

Value* EditObject(Value& parent, std::string_view key) {
  if (!parent.is_object()) return nullptr;
  if (parent[key].is_null()) parent.Set(key, json::Object());
  return EditObjectIfThere(parent, key);
}

Value* EditObjectIfThere(Value& parent, std::string_view key) {
  return parent[key].is_object() ? &parent.Edit(key) : nullptr;
}

bool IsUnset(const Value& value) { return value.is_null() || (value.is_string() && value.str().empty()); }

void Append(Errors& errors, Errors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void AddInvalid(Errors& errors, const std::string& field, const Value& value, std::span<const std::string> messages) {
  for (const std::string& message : messages) errors.push_back(InvalidError(field, value, message));
}

void CheckEnum(Errors& errors, const std::string& field, const Value& value,
               std::initializer_list<std::string_view> allowed, bool required) {
  if (IsUnset(value)) {
    if (required) errors.push_back(RequiredError(field, ""));
    return;
  }
  if (std::ranges::find(allowed, value.str()) != allowed.end()) return;
  std::vector<Value> supported(allowed.begin(), allowed.end());
  errors.push_back(NotSupportedError(field, value, supported));
}

void CheckPortOrName(Errors& errors, const std::string& field, const Value& port) {
  if (port.is_string()) {
    AddInvalid(errors, field, port, json::CheckPortName(port.str()));
  } else {
    AddInvalid(errors, field, port.int_or(0), json::CheckPortNumber(port.int_or(0)));
  }
}

void CheckNotNegative(Errors& errors, const std::string& field, const Value& value) {
  if (value.int_or(0) < 0) errors.push_back(InvalidError(field, value, "must be greater than or equal to 0"));
}

void CheckImmutable(Errors& errors, const std::string& field, const Value& now, const Value& before) {
  if (now == before) return;
  const bool selector = field.ends_with("selector");
  errors.push_back(selector ? InvalidSelectorError(field, now, kImmutable) : InvalidError(field, now, kImmutable));
}

FieldError InvalidTextError(std::string field, std::string_view text, std::string_view detail) {
  FieldError error = InvalidError(std::move(field), nullptr, "");
  error.message = StrCat("Invalid value: ", text, detail.empty() ? "" : ": ", detail);
  return error;
}

FieldError InvalidSelectorError(std::string field, const Value& selector, std::string_view detail) {
  std::string text;
  for (std::string_view key : {"matchLabels", "matchExpressions"}) {
    if (selector[key].empty()) continue;
    StrAppend(text, text.empty() ? "" : ",", "\"", key, "\":", selector[key].ToString());
  }
  return InvalidTextError(std::move(field), selector.is_null() ? "null" : StrCat("{", text, "}"), detail);
}

void CheckResourceList(Errors& errors, const std::string& field, const Value& list) {
  for (const json::Member& member : list.members()) {
    const std::string path = KeyPath(field, member.key());
    const json::Messages wrong = json::CheckQualifiedName(member.key());
    AddInvalid(errors, path, member.key(), wrong);
    if (wrong.empty() && member.key().find('/') == std::string_view::npos && !IsStandardResource(member.key())) {
      errors.push_back(InvalidError(path, member.key(), "must be a standard resource type or fully qualified"));
    }
    Result<json::Quantity> quantity = json::Quantity::FromJson(member.value());
    if (!quantity.ok()) {
      errors.push_back(InvalidError(path, member.value(), quantity.error().message()));
    } else if (quantity->Sign() < 0) {
      errors.push_back(InvalidError(path, quantity->ToString(), "must be greater than or equal to 0"));
    }
  }
}

bool IsQuotaResource(std::string_view name) { return name != "storage" && IsStandardResource(name); }

void CheckLabels(Errors& errors, const std::string& field, const Value& labels) {
  for (const json::Member& label : labels.members()) {
    AddInvalid(errors, field, label.key(), json::CheckQualifiedName(label.key()));
    AddInvalid(errors, field, label.value(), json::CheckLabelValue(label.value().str()));
  }
}

namespace {

void CheckSelectorRequirement(Errors& errors, const std::string& field, const Value& requirement) {
  const std::string_view op = requirement["operator"].str();
  const Value& values = requirement["values"];
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors.push_back(
          RequiredError(ChildPath(field, "values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors.push_back(ForbiddenError(ChildPath(field, "values"),
                                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.push_back(InvalidError(ChildPath(field, "operator"), op, "not a valid selector operator"));
  }
  AddInvalid(errors, ChildPath(field, "key"), requirement["key"], json::CheckQualifiedName(requirement["key"].str()));
  for (size_t i = 0; i < values.size(); ++i) {
    AddInvalid(errors, IndexPath(ChildPath(field, "values"), i), values[i], json::CheckLabelValue(values[i].str()));
  }
}

}  // namespace

void CheckLabelSelector(Errors& errors, const std::string& field, const Value& selector) {
  CheckLabels(errors, ChildPath(field, "matchLabels"), selector["matchLabels"]);
  const Value& expressions = selector["matchExpressions"];
  for (size_t i = 0; i < expressions.size(); ++i) {
    CheckSelectorRequirement(errors, IndexPath(ChildPath(field, "matchExpressions"), i), expressions[i]);
  }
}

std::vector<Column> Columns(std::string_view text) {
  std::vector<Column> columns;
  for (std::string_view name : Split(text, '|')) {
    Column column;
    if (name.ends_with('+')) {
      column.priority = 1;
      name.remove_suffix(1);
    }
    if (name.ends_with('#') || name.ends_with('?') || name.ends_with('@')) {
      column.type = name.ends_with('#') ? "integer" : name.ends_with('?') ? "boolean" : "date";
      name.remove_suffix(1);
    }
    const bool is_name = name.ends_with('!');
    if (is_name) name.remove_suffix(1);
    if (is_name || name == "Name") column.format = "name";
    column.name = name;
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string NameOf(const Value& object) { return std::string(object["metadata"]["name"].str()); }

std::string Age(const Value& object, WallTime now) { return AgeOf(object["metadata"]["creationTimestamp"], now); }

std::string AgeOf(const Value& time, WallTime now) {
  Result<WallTime> then = json::ParseTime(time.str());
  return then.ok() ? HumanAge(*then, now) : "<unknown>";
}

std::string HumanDuration(Duration duration) {
  const int64_t seconds = duration.count() / 1'000'000'000;  // towards zero, as Go
  if (seconds < -1) return "<invalid>";                      // clocks may differ by less than two seconds
  if (seconds < 0) return "0s";
  // The first number, then the second unless it is 0.
  const auto two = [](int64_t big, char unit, int64_t small, char small_unit) {
    return small == 0 ? StrCat(big, unit) : StrCat(big, unit, small, small_unit);
  };
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  const int64_t years = days / 365;
  if (seconds < 120) return StrCat(seconds, "s");
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return StrCat(minutes, "m");
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return StrCat(hours, "h");
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (years < 2) return StrCat(days, "d");
  if (years < 8) return two(years, 'y', days % 365, 'd');
  return StrCat(years, "y");
}

std::string TextOr(const Value& value, std::string_view otherwise) {
  return std::string(value.str().empty() ? otherwise : value.str());
}

std::string FormatLabels(const Value& labels) {
  if (labels.empty()) return "<none>";
  std::string text;
  for (const json::Member& label : labels.members()) {
    StrAppend(text, text.empty() ? "" : ",", label.key(), "=", label.value().str());
  }
  return text;
}

std::string FormatSelector(const Value& selector) {
  Result<json::LabelSelector> parsed = json::LabelSelector::FromObject(selector);
  if (!parsed.ok()) return "<error>";
  const std::string text = parsed->ToString();
  return text.empty() ? "<none>" : text;
}

std::string QuantityText(const Value& quantity) {
  Result<json::Quantity> parsed = json::Quantity::FromJson(quantity);
  return parsed.ok() ? parsed->ToString() : std::string(quantity.str());
}

std::string JoinField(const Value& list, std::string_view key, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) StrAppend(text, i == 0 ? "" : separator, list[i][key].str());
  return text;
}

std::string JoinText(const Value& list, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) StrAppend(text, i == 0 ? "" : separator, list[i].str());
  return text;
}

}  // namespace baton::api::builtin
