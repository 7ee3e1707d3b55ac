// A table of attributes: which types take them, and what they set.
#include "api/type_text_attributes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "api/patterns.h"
#include "api/type_text.h"
#include "base/strings.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Value;

// Who takes an attribute, as bits.
constexpr unsigned kOfString = 1;
constexpr unsigned kOfNumber = 2;
constexpr unsigned kOfList = 4;
constexpr unsigned kOfMap = 8;
constexpr unsigned kOfAny = 16;
constexpr unsigned kOfNamed = 32;
constexpr unsigned kOfAll = 63;

unsigned Takes(SchemaType type, bool named) {
  if (named) return kOfNamed;
  switch (type) {
    case SchemaType::kString:
      return kOfString;
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return kOfNumber;
    case SchemaType::kIntOrString:
      return kOfString | kOfNumber;
    case SchemaType::kArray:
      return kOfList;
    case SchemaType::kObject:
      return kOfMap;
    case SchemaType::kAny:
      return kOfAny;
    case SchemaType::kBoolean:
      return 0;
  }
  return 0;
}

enum class Argument : uint8_t { kNone, kValue, kKeys, kPerhapsKeys };  // nothing, "=v", "(a,b)"

// One attribute as it stands in the text.
struct Attribute {
  const TypeLine& line;
  std::string_view name;
  std::string_view argument;  // without '=' or parentheses
  bool named = false;
  Schema& schema;
  TypeAttributes& all;

  Error Wrong(std::string_view what) const { return line.Wrong(StrCat(name, ": ", what)); }
};

// ---- arguments ----

Result<Value> ReadValue(const Attribute& at, std::string_view text) {
  const bool bare = at.schema.type == SchemaType::kString && !at.named && !text.starts_with('"');
  if (bare && !text.empty()) return Value(text);
  Result<Value> value = json::Parse(text);
  if (!value.ok()) return at.Wrong(StrCat("not JSON: ", Quote(text)));
  return value;
}

Result<void> CheckKind(const Attribute& at, const Value& value) {
  bool fits = true;
  switch (at.schema.type) {
    case SchemaType::kAny:
      break;
    case SchemaType::kObject:
      fits = value.is_object();
      break;
    case SchemaType::kArray:
      fits = value.is_array();
      break;
    case SchemaType::kString:
      fits = value.is_string();
      break;
    case SchemaType::kInteger:
      fits = value.is_int();
      break;
    case SchemaType::kNumber:
      fits = value.is_number();
      break;
    case SchemaType::kBoolean:
      fits = value.is_bool();
      break;
    case SchemaType::kIntOrString:
      fits = value.is_int() || value.is_string();
      break;
  }
  if (at.named || fits || (value.is_null() && at.schema.nullable)) return {};
  return at.Wrong(StrCat(value.ToString(), " is not of the field's type"));
}

// Pieces between commas that stand outside quotes and brackets.
std::vector<std::string_view> Pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{' || c == '(')) {
      ++depth;
    } else if (!quoted && (c == ']' || c == '}' || c == ')')) {
      --depth;
    } else if (c == ',' && !quoted && depth == 0) {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

Result<uint64_t> ReadCount(const Attribute& at) {
  const Result<Value> value = json::Parse(at.argument);
  if (value.ok() && value->is_int() && value->int_or(-1) >= 0) return static_cast<uint64_t>(value->int_or(0));
  return at.Wrong(StrCat("must be a whole number from 0, not ", Quote(at.argument)));
}

Result<double> ReadNumber(const Attribute& at) {
  const Result<Value> value = json::Parse(at.argument);
  if (value.ok() && value->is_number()) return value->number_or(0);
  return at.Wrong(StrCat("must be a number, not ", Quote(at.argument)));
}

// ---- what attributes do ----

using Apply = Result<void> (*)(const Attribute& at);

template <bool Schema::* kFlag>
Result<void> Set(const Attribute& at) {
  at.schema.*kFlag = true;
  return {};
}

template <std::optional<uint64_t> Schema::* kCount>
Result<void> SetCount(const Attribute& at) {
  at.schema.*kCount = TRY(ReadCount(at));
  return {};
}

template <std::optional<double> Schema::* kNumber, bool Schema::* kExclusive = nullptr>
Result<void> SetNumber(const Attribute& at) {
  if (at.schema.*kNumber) return at.Wrong("there is a bound on this side already");
  at.schema.*kNumber = TRY(ReadNumber(at));
  if constexpr (kExclusive != nullptr) at.schema.*kExclusive = true;
  return {};
}

template <MapType kMapType>
Result<void> SetMapType(const Attribute& at) {
  at.schema.map_type = kMapType;
  at.all.map_type = kMapType;
  return {};
}

// Lists are atomic anyway; saying so is allowed.
Result<void> SetAtomic(const Attribute& at) {
  if (at.schema.type == SchemaType::kArray && !at.named) return {};
  return SetMapType<MapType::kAtomic>(at);
}

Result<void> SetRequired(const Attribute& at) {
  at.all.required = true;
  return {};
}

Result<void> SetDefault(const Attribute& at) {
  Value value = TRY(ReadValue(at, at.argument));
  TRY(CheckKind(at, value));
  at.schema.default_value = std::move(value);
  return {};
}

Result<void> SetEnum(const Attribute& at) {
  for (const std::string_view piece : Pieces(at.argument)) {
    Value value = TRY(ReadValue(at, piece));
    TRY(CheckKind(at, value));
    if (std::ranges::find(at.schema.enum_values, value) != at.schema.enum_values.end()) {
      return at.Wrong(StrCat(value.ToString(), " is given twice"));
    }
    if (at.schema.enum_values.size() >= kEnumValuesMax)
      return at.Wrong(StrCat("more than ", kEnumValuesMax, " values"));
    at.schema.enum_values.push_back(std::move(value));
  }
  return {};
}

Result<void> SetPattern(const Attribute& at) {
  at.schema.pattern = TRY(ReadValue(at, at.argument)).str();
  if (at.schema.pattern.empty()) return at.Wrong("must be a string that is not empty");
  if (const auto why = PatternError(at.schema.pattern)) return at.Wrong(*why);
  return {};
}

Result<void> SetFormat(const Attribute& at) {
  if (!at.schema.format.empty()) return at.Wrong(StrCat("the type has the format ", at.schema.format, " already"));
  at.schema.format = at.argument;
  return {};
}

Result<void> SetListSet(const Attribute& at) {
  if (at.schema.list_type != ListType::kAtomic) return at.Wrong("the list has a type already");
  at.schema.list_type = ListType::kSet;
  return {};
}

Result<void> SetListMap(const Attribute& at) {
  if (at.schema.list_type != ListType::kAtomic) return at.Wrong("the list has a type already");
  at.schema.list_type = ListType::kMap;
  for (const std::string_view key : Split(at.argument, ',')) {
    if (Trim(key).empty()) return at.Wrong("keys are written map(key,key)");
    at.schema.list_map_keys.emplace_back(Trim(key));
  }
  return {};
}

Result<void> SetMerge(const Attribute& at) {
  at.schema.patch_merge = true;
  at.schema.patch_merge_key = Trim(at.argument);
  return {};
}

struct Known {
  std::string_view name;
  unsigned of;
  Argument argument;
  Apply apply;
};

constexpr Known kAttributes[] = {
    {"required", kOfAll, Argument::kNone, SetRequired},
    {"nullable", kOfAll, Argument::kNone, Set<&Schema::nullable>},
    {"default", kOfAll, Argument::kValue, SetDefault},
    {"enum", kOfString | kOfNumber, Argument::kValue, SetEnum},
    {"pattern", kOfString, Argument::kValue, SetPattern},
    {"format", kOfString | kOfNumber, Argument::kValue, SetFormat},
    {"minLength", kOfString, Argument::kValue, SetCount<&Schema::min_length>},
    {"maxLength", kOfString, Argument::kValue, SetCount<&Schema::max_length>},
    {"min", kOfNumber, Argument::kValue, SetNumber<&Schema::minimum>},
    {"max", kOfNumber, Argument::kValue, SetNumber<&Schema::maximum>},
    {"above", kOfNumber, Argument::kValue, SetNumber<&Schema::minimum, &Schema::exclusive_minimum>},
    {"below", kOfNumber, Argument::kValue, SetNumber<&Schema::maximum, &Schema::exclusive_maximum>},
    {"multipleOf", kOfNumber, Argument::kValue, SetNumber<&Schema::multiple_of>},
    {"minItems", kOfList, Argument::kValue, SetCount<&Schema::min_items>},
    {"maxItems", kOfList, Argument::kValue, SetCount<&Schema::max_items>},
    {"unique", kOfList, Argument::kNone, Set<&Schema::unique_items>},
    {"set", kOfList, Argument::kNone, SetListSet},
    {"map", kOfList, Argument::kKeys, SetListMap},
    {"merge", kOfList, Argument::kPerhapsKeys, SetMerge},
    {"minProperties", kOfMap, Argument::kValue, SetCount<&Schema::min_properties>},
    {"maxProperties", kOfMap, Argument::kValue, SetCount<&Schema::max_properties>},
    {"preserve", kOfMap | kOfAny, Argument::kNone, Set<&Schema::preserve_unknown_fields>},
    {"embedded", kOfMap, Argument::kNone, Set<&Schema::embedded_resource>},
    {"atomic", kOfMap | kOfList | kOfNamed, Argument::kNone, SetAtomic},
    {"granular", kOfMap | kOfNamed, Argument::kNone, SetMapType<MapType::kGranular>},
    {"retainKeys", kOfMap | kOfList | kOfNamed, Argument::kNone, Set<&Schema::patch_retain_keys>},
    {"replace", kOfMap | kOfNamed, Argument::kNone, Set<&Schema::patch_replace>},
};

}  // namespace

Result<void> ApplyTypeAttribute(const TypeLine& line, std::string_view word, bool named, Schema& schema,
                                TypeAttributes& attributes) {
  const std::string_view name = word.substr(0, word.find_first_of("=("));
  const auto* known = std::ranges::find(kAttributes, name, &Known::name);
  if (known == std::end(kAttributes)) return line.Wrong(StrCat("there is no attribute ", Quote(word)));
  std::string_view argument = word.substr(name.size());
  const char begins = argument.empty() ? '\0' : argument.front();
  const bool keys = begins == '(' && argument.ends_with(')') && argument.size() > 2;
  const bool fits = (known->argument == Argument::kNone && begins == 0) ||
                    (known->argument == Argument::kValue && begins == '=' && argument.size() > 1) ||
                    (known->argument == Argument::kKeys && keys) ||
                    (known->argument == Argument::kPerhapsKeys && (keys || begins == 0));
  if (!fits) return line.Wrong(StrCat("the attribute ", name, " is not written ", Quote(word)));
  if ((known->of & (Takes(schema.type, named) | (known->of == kOfAll ? kOfAll : 0))) == 0) {
    return line.Wrong(StrCat("the attribute ", name, " does not go with ", named ? "a named type" : "this type"));
  }
  if (std::ranges::find(attributes.seen, name) != attributes.seen.end()) {
    return line.Wrong(StrCat("the attribute ", name, " is given twice"));
  }
  attributes.seen.push_back(name);
  if (name != "required") attributes.any = true;
  if (begins == '=') argument.remove_prefix(1);
  if (keys) argument = argument.substr(1, argument.size() - 2);
  return known->apply({line, name, argument, named, schema, attributes});
}

}  // namespace baton::api
