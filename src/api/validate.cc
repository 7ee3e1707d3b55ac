// Validation against the keywords of JSON schema. As in kube-openapi a keyword applies to the values it can apply to,
// whatever the schema's type is: a minimum to numbers, a pattern to strings.
#include "api/validate.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "api/field_errors.h"
#include "api/formats.h"
#include "api/patterns.h"
#include "api/validate_number.h"
#include "base/strings.h"
#include "json/beside.h"
#include "json/measure.h"
#include "json/parse.h"

namespace baton::api {
namespace validate_internal {

using json::Member;
using json::Value;

void Found::Add(FieldError error, bool unchanged) {
  if (full() || (forgives && unchanged)) return;
  const auto known = std::ranges::find_if(findings, [&](const Finding& one) {
    return one.error.field == error.field && one.error.message == error.message;
  });
  if (known == findings.end()) {
    findings.push_back({.error = std::move(error), .unchanged = unchanged});
  } else {
    known->unchanged &= unchanged;  // the same words may be about two places
  }
}

void Found::Merge(Found&& other) {
  for (Finding& finding : other.findings) Add(std::move(finding.error), finding.unchanged);
  matches += other.matches;
}

bool Comparison::Same(const Value& value, const Value* before) {
  if (before == nullptr) return false;
  if (before->SharesStorageWith(value)) return true;
  const size_t bytes = json::Measure(value, bytes_left_).bytes;
  if (bytes > bytes_left_) return false;
  bytes_left_ -= bytes;
  return *before == value;
}

namespace {

std::string_view TypeNames(SchemaType type) {
  switch (type) {
    case SchemaType::kAny:
      return "";
    case SchemaType::kObject:
      return "object";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kString:
      return "string";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kIntOrString:
      return "integer,string";
  }
  return "";
}

// A value's type in JSON schema, and the format that kube-openapi takes it to have. Integers above int64 are floats
// in Go.
struct ValueType {
  std::string_view type;
  std::string_view format;
};

ValueType TypeOf(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return {"null", ""};
    case json::Kind::kBool:
      return {"boolean", ""};
    case json::Kind::kInt:
      return {"integer", "int64"};
    case json::Kind::kUint:
    case json::Kind::kDouble:
      return {"number", "float64"};
    case json::Kind::kString:
      return {"string", ""};
    case json::Kind::kArray:
      return {"array", ""};
    case json::Kind::kObject:
      return {"object", ""};
  }
  return {"", ""};
}

bool TypeFits(const Value& value, SchemaType type) {
  switch (type) {
    case SchemaType::kAny:
      return true;
    case SchemaType::kObject:
      return value.is_object();
    case SchemaType::kArray:
      return value.is_array();
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kInteger:
      return value.is_int() || (value.is_number() && IsWhole(value.number_or(0)));
    case SchemaType::kNumber:
      return value.is_number();
    case SchemaType::kBoolean:
      return value.is_bool();
    case SchemaType::kIntOrString:
      return value.is_string() || TypeFits(value, SchemaType::kInteger);
  }
  return false;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

class Checker {
 public:
  Checker(std::string_view path, Comparison& comparison) : path_(path), comparison_(comparison) {}

  void Check(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    const Value& value = part.value;
    if (part.settled != nullptr && part.settled->SharesStorageWith(value)) return;
    if (found.full() || !Enter(name, found)) return;
    const Part* const above = std::exchange(part_, &part);
    ++depth_;
    CheckType(value, schema, name, found);
    if (!value.is_null()) {
      CheckCombined(part, schema, name, found);
      if (value.is_string()) CheckString(value, schema, name, found);
      if (value.is_number()) CheckNumber(value, schema, name, found);
      if (value.is_array()) CheckArray(part, schema, name, found);
    }
    CheckEnum(value, schema, name, found);
    if (value.is_object()) CheckObject(part, schema, name, found);
    ++found.matches;
    --depth_;
    part_ = above;
  }

  // Set when something was not looked at, and why.
  const std::optional<FieldError>& passed_limit() const { return passed_limit_; }

 private:
  // False when the limits do not allow to go on. Kept apart from what was found, because an error inside `not` would
  // make an unchecked value a valid one.
  bool Enter(const FieldName& name, Found& found) {
    if (depth_ < json::kMaxDepth && ++steps_ <= kStepsMax) return true;
    if (!passed_limit_) {
      passed_limit_ = depth_ < json::kMaxDepth
                          ? InternalFieldError(std::string(path_), "too large to be validated against this schema")
                          : InternalFieldError(Field(name.Text()), StrCat("nested deeper than ", json::kMaxDepth));
    }
    found.Add(*passed_limit_);
    return false;
  }

  // The place of `name` in the object as a whole.
  std::string Field(std::string_view name) const {
    if (name.starts_with('.')) name.remove_prefix(1);
    return name.empty() ? std::string(path_) : ChildPath(path_, name);
  }

  // About the part that is being checked, and nothing else.
  void Add(FieldError error, Found& found) const {
    found.Add(std::move(error), comparison_.Same(part_->value, part_->before));
  }

  void AddInvalid(const FieldName& name, const Value& value, std::string_view what, Found& found) const {
    const std::string text = name.Text();
    Add(InvalidError(Field(text), value, StrCat(text, " in body ", what)), found);
  }

  void AddWrongType(const FieldName& name, std::string_view wanted, std::string_view got, Found& found) const {
    const std::string text = name.Text();
    Add(TypeInvalidError(Field(text), got, StrCat(text, " in body must be of type ", wanted, ": ", Quote(got))), found);
  }

  // Names no field, so it is told whatever was there before.
  void AddPlain(std::string_view message, Found& found) const {
    found.Add(InvalidError(std::string(path_), "", message));
  }

  void CheckType(const Value& value, const Schema& schema, const FieldName& name, Found& found) const {
    if (schema.type == SchemaType::kAny) return;
    ++found.matches;
    const bool quantity =  // the named type: a CRD has none
        schema.type == SchemaType::kIntOrString && schema.format == "quantity" && !schema.name.empty();
    const bool fits = TypeFits(value, schema.type) || (quantity && value.is_number());  // cpu: 0.5
    if (value.is_null() ? schema.nullable : fits) {
      ++found.matches;
      return;
    }
    const ValueType got = TypeOf(value);
    const std::string_view format = CheckedFormat(schema);
    const bool by_format = !format.empty() && !value.is_null() && !value.is_string() && !value.is_array();
    if (by_format) {
      AddWrongType(name, format, got.format, found);
    } else {
      AddWrongType(name, TypeNames(schema.type), got.type, found);
    }
  }

  void CheckString(const Value& value, const Schema& schema, const FieldName& name, Found& found) const {
    const std::string_view text = value.str();
    ++found.matches;
    if (schema.max_length && text.size() > *schema.max_length && CountCharacters(text) > *schema.max_length) {
      Add(TooLongError(Field(name.Text()), *schema.max_length), found);
    } else if (schema.min_length && CountCharacters(text) < *schema.min_length) {
      AddInvalid(name, value, StrCat("should be at least ", *schema.min_length, " chars long"), found);
    } else if (!schema.pattern.empty() && !PatternMatches(schema.pattern, text)) {
      std::string shown = schema.pattern;
      if (const auto why = PatternError(schema.pattern)) StrAppend(shown, ", but pattern is invalid: ", *why);
      AddInvalid(name, value, StrCat("should match '", shown, "'"), found);
    }
    const std::string_view format = CheckedFormat(schema);
    if (format.empty()) return;
    ++found.matches;
    if (!HasFormat(format, text)) AddWrongType(name, format, text, found);
  }

  void CheckNumber(const Value& value, const Schema& schema, const FieldName& name, Found& found) const {
    ++found.matches;
    // Errors of range name no field in Kubernetes, only in their text.
    if (const auto why = RangeError(value, schema)) AddPlain(StrCat(*why, " in ", name.Text()), found);
    if (const auto why = MultipleError(value, schema)) {
      if (*schema.multiple_of > 0) {
        AddInvalid(name, value, *why, found);
      } else {
        AddInvalid(name, value, "has a schema whose multipleOf is negative", found);
      }
    }
    if (const auto why = MaximumError(value, schema)) AddInvalid(name, value, *why, found);
    if (const auto why = MinimumError(value, schema)) AddInvalid(name, value, *why, found);
  }

  void CheckArray(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    const Value& array = part.value;
    const size_t size = array.size();
    ++found.matches;
    if (schema.items != nullptr) {
      for (size_t i = 0; i < size && !found.full(); ++i) {
        Check({array[i], json::ItemBeside(part.settled, i), json::ItemBeside(part.before, i)}, *schema.items,
              FieldName(name, i), found);
      }
    }
    if (schema.min_items && size < *schema.min_items) {
      AddInvalid(name, size, StrCat("should have at least ", *schema.min_items, " items"), found);
    }
    if (schema.max_items && size > *schema.max_items) {
      Add(TooManyError(Field(name.Text()), size, *schema.max_items), found);
    }
    if (schema.unique_items && HasEqualItems(array)) AddInvalid(name, "", "shouldn't contain duplicates", found);
  }

  static bool HasEqualItems(const Value& array) {
    const auto less = [](const Value* a, const Value* b) { return Value::Compare(*a, *b) < 0; };
    std::set<const Value*, decltype(less)> seen(less);
    return std::ranges::any_of(array.items(), [&](const Value& item) { return !seen.insert(&item).second; });
  }

  void CheckEnum(const Value& value, const Schema& schema, const FieldName& name, Found& found) const {
    ++found.matches;
    if (schema.enum_values.empty()) return;
    const auto same = [&](const Value& one) {
      return one == value || (one.is_number() && value.is_number() && CompareNumbers(value, one.number_or(0)) == 0);
    };
    if (std::ranges::any_of(schema.enum_values, same)) return;
    Add(NotSupportedError(Field(name.Text()), value, schema.enum_values), found);
  }

  void CheckObject(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    const Value& object = part.value;
    const size_t size = object.size();
    ++found.matches;
    if (schema.min_properties && size < *schema.min_properties) {
      AddInvalid(name, size, StrCat("should have at least ", *schema.min_properties, " properties"), found);
      return;
    }
    if (schema.max_properties && size > *schema.max_properties) {
      Add(TooManyError(Field(name.Text()), size, *schema.max_properties), found);
      return;
    }
    json::Beside settled(part.settled);
    json::Beside before(part.before);
    for (const Member& member : object.members()) {
      if (found.full()) return;
      const Part child{member.value(), settled.At(member.key()), before.At(member.key())};
      if (child.settled != nullptr && child.settled->SharesStorageWith(member.value())) continue;
      const auto property = schema.properties.find(member.key());
      if (property != schema.properties.end()) {
        Check(child, *property->second, FieldName(name, FieldName::Step::kField, member.key()), found);
      } else if (schema.additional_properties != nullptr) {
        Check(child, *schema.additional_properties, FieldName(name, FieldName::Step::kDotKey, member.key()), found);
      }
    }
    for (const std::string& key : schema.required) {
      if (object.Has(key)) continue;
      found.Add(RequiredError(Field(FieldName(name, FieldName::Step::kDotKey, key).Text()), ""));
    }
  }

  // Alternatives are checked whole, whatever is settled in them.
  void CheckCombined(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    const Part whole{.value = part.value, .before = part.before};
    found.matches += 2;
    if (!schema.any_of.empty()) CheckAnyOf(whole, schema, name, found);
    if (!schema.one_of.empty()) CheckOneOf(whole, schema, name, found);
    if (!schema.all_of.empty()) CheckAllOf(whole, schema, name, found);
    if (schema.negated == nullptr) return;
    Found inner;
    Check(whole, *schema.negated, name, inner);
    if (inner.findings.empty()) AddPlain(StrCat(Quote(name.Text()), " must not validate the schema (not)"), found);
  }

  void CheckAnyOf(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    Found best;
    for (size_t i = 0; i < schema.any_of.size(); ++i) {
      Found inner;
      Check(part, *schema.any_of[i], name, inner);
      if (inner.findings.empty()) {
        found.matches += inner.matches;
        return;
      }
      if (i == 0 || inner.matches > best.matches) best = std::move(inner);
    }
    AddPlain(StrCat(Quote(name.Text()), " must validate at least one schema (anyOf)"), found);
    found.Merge(std::move(best));
  }

  void CheckOneOf(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    Found best;
    size_t valid = 0;
    for (size_t i = 0; i < schema.one_of.size(); ++i) {
      Found inner;
      Check(part, *schema.one_of[i], name, inner);
      if (inner.findings.empty()) {
        if (++valid == 1) best = std::move(inner);
      } else if (valid == 0 && (i == 0 || inner.matches > best.matches)) {
        best = std::move(inner);
      }
    }
    if (valid != 1) {
      const std::string how_many =
          valid == 0 ? std::string("Found none valid") : StrCat("Found ", valid, " valid alternatives");
      AddPlain(StrCat(Quote(name.Text()), " must validate one and only one schema (oneOf). ", how_many), found);
    }
    if (valid <= 1) found.Merge(std::move(best));
  }

  void CheckAllOf(const Part& part, const Schema& schema, const FieldName& name, Found& found) {
    size_t valid = 0;
    for (const SchemaPtr& one : schema.all_of) {
      Found inner;
      Check(part, *one, name, inner);
      if (inner.findings.empty()) ++valid;
      found.Merge(std::move(inner));
    }
    if (valid == schema.all_of.size()) return;
    AddPlain(StrCat(Quote(name.Text()), " must validate all the schemas (allOf)", valid == 0 ? ". None validated" : ""),
             found);
  }

  std::string_view path_;
  Comparison& comparison_;
  const Part* part_ = nullptr;  // that is being checked
  size_t depth_ = 0;
  size_t steps_ = 0;
  std::optional<FieldError> passed_limit_;
};

}  // namespace

void CheckKeywords(const Part& part, const Schema& schema, std::string_view path, Comparison& comparison,
                   Found& found) {
  Checker checker(path, comparison);
  checker.Check(part, schema, FieldName(), found);
  if (checker.passed_limit()) found.Add(*checker.passed_limit());
}

}  // namespace validate_internal

std::vector<FieldError> Validate(const json::Value& value, const Schema& schema, std::string_view path,
                                 const json::Value* settled, const json::Value* before) {
  const validate_internal::Part part{.value = value, .settled = settled, .before = before};
  validate_internal::Comparison comparison;
  validate_internal::Found found{.forgives = true};
  validate_internal::CheckKeywords(part, schema, path, comparison, found);
  validate_internal::CheckLists(part, schema, path, comparison, found);
  std::vector<FieldError> errors;
  errors.reserve(found.findings.size());
  for (validate_internal::Found::Finding& finding : found.findings) errors.push_back(std::move(finding.error));
  return errors;
}

}  // namespace baton::api
