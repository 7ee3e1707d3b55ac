// Is a schema structural? Every value has a type, and the logical combinations (allOf, anyOf, oneOf, not) only restrict
// what the structure around them has declared.
#include <algorithm>
#include <utility>

#include "api/crd_check.h"
#include "api/field_errors.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

enum class Level : uint8_t { kRoot, kItem, kField };

bool Flag(const Value& schema, std::string_view key) { return schema[key].bool_or(false); }

// anyOf with an integer and a string, which x-kubernetes-int-or-string may carry along.
bool IsIntOrStringPair(const Value& any_of) {
  return any_of == json::Array({json::Object({{"type", "integer"}}), json::Object({{"type", "string"}})});
}

class StructureChecker {
 public:
  explicit StructureChecker(FirstErrors& errors) : errors_(errors) {}

  void CheckStructure(const Value& schema, Level level, const std::string& path) {
    if (schema["type"].str() == "array" && !schema["items"].is_object()) {
      errors_.push_back(RequiredError(ChildPath(path, "items"), "must be specified"));
    }
    if (schema["items"].is_object()) CheckStructure(schema["items"], Level::kItem, ChildPath(path, "items"));
    for (const Member& member : schema["properties"].members()) {
      CheckStructure(member.value(), Level::kField, KeyPath(ChildPath(path, "properties"), member.key()));
    }
    const Value& additional = schema["additionalProperties"];
    const std::string additional_path = ChildPath(path, "additionalProperties");
    if (!additional.is_null() && level == Level::kRoot) {
      errors_.push_back(ForbiddenError(additional_path, "must not be used at the root"));
    }
    if (additional.is_object()) CheckStructure(additional, Level::kField, additional_path);
    CheckIntOrString(schema, path);
    CheckRestrictions(schema, IsIntOrStringPair(schema["anyOf"]), IsIntOrStringPair(schema["allOf"][0]["anyOf"]), path);
    CheckType(schema, level, path);
    CheckResource(schema, level, path);
  }

  // Every field that a combination speaks of is declared in the structure `declared` (null: it is not).
  void CheckComplete(const Value& restricted, const Value* declared, const std::string& declared_path,
                     const std::string& path) {
    if (declared == nullptr) {
      errors_.push_back(RequiredError(declared_path, StrCat("because it is defined in ", path)));
      return;
    }
    CheckCombinationsComplete(restricted, *declared, declared_path, path);
    if (restricted["items"].is_object()) {
      const Value& items = (*declared)["items"];
      CheckComplete(restricted["items"], items.is_object() ? &items : nullptr, ChildPath(declared_path, "items"),
                    ChildPath(path, "items"));
    }
    for (const Member& member : restricted["properties"].members()) {
      CheckComplete(member.value(), (*declared)["properties"].Find(member.key()),
                    KeyPath(ChildPath(declared_path, "properties"), member.key()),
                    KeyPath(ChildPath(path, "properties"), member.key()));
    }
  }

  void CheckCombinationsComplete(const Value& schema, const Value& declared, const std::string& declared_path,
                                 const std::string& path) {
    if (schema["not"].is_object()) CheckComplete(schema["not"], &declared, declared_path, ChildPath(path, "not"));
    for (const std::string_view many : {"allOf", "anyOf", "oneOf"}) {
      const Value& list = schema[many];
      for (size_t i = 0; i < list.size(); ++i) {
        CheckComplete(list[i], &declared, declared_path, IndexPath(ChildPath(path, many), i));
      }
    }
  }

 private:
  void CheckIntOrString(const Value& schema, const std::string& path) {
    if (!Flag(schema, "x-kubernetes-int-or-string")) return;
    for (const std::string_view key : {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (!Flag(schema, key)) continue;
      errors_.push_back(
          InvalidError(ChildPath(path, key), true, "must be false if x-kubernetes-int-or-string is true"));
    }
  }

  void CheckType(const Value& schema, Level level, const std::string& path) {
    const std::string at = ChildPath(path, "type");
    const Value& type = schema["type"];
    const bool untyped = type.str().empty();
    if (Flag(schema, "x-kubernetes-embedded-resource") && type.str() != "object") {
      constexpr std::string_view kWhy = "must be object if x-kubernetes-embedded-resource is true";
      errors_.push_back(untyped ? RequiredError(at, kWhy) : InvalidError(at, type, kWhy));
    } else if (untyped && !Flag(schema, "x-kubernetes-int-or-string") &&
               !Flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      errors_.push_back(RequiredError(at, level == Level::kRoot   ? "must not be empty at the root"
                                          : level == Level::kItem ? "must not be empty for specified array items"
                                                                  : "must not be empty for specified object fields"));
    }
    if (level == Level::kRoot && !untyped && type.str() != "object") {
      errors_.push_back(InvalidError(at, type, "must be object at the root"));
    }
  }

  void CheckResource(const Value& schema, Level level, const std::string& path) {
    const bool embedded = Flag(schema, "x-kubernetes-embedded-resource");
    const Value& properties = schema["properties"];
    const std::string properties_path = ChildPath(path, "properties");
    if (embedded && !schema["additionalProperties"].is_null()) {
      errors_.push_back(ForbiddenError(ChildPath(path, "additionalProperties"),
                                       "must not be used if x-kubernetes-embedded-resource is set"));
    }
    if (embedded && !Flag(schema, "x-kubernetes-preserve-unknown-fields") && properties.empty()) {
      errors_.push_back(RequiredError(properties_path,
                                      "must not be empty if x-kubernetes-embedded-resource is true without "
                                      "x-kubernetes-preserve-unknown-fields"));
    }
    if (!embedded && level != Level::kRoot) return;
    for (const std::string_view key : {"kind", "apiVersion"}) {
      const Value* property = properties.Find(key);
      if (property == nullptr || (*property)["type"].str() == "string") continue;
      errors_.push_back(
          InvalidError(ChildPath(KeyPath(properties_path, key), "type"), (*property)["type"].str(), "must be string"));
    }
    if (const Value* metadata = properties.Find("metadata")) {
      CheckMetadata(*metadata, level, KeyPath(properties_path, "metadata"));
    }
  }

  void CheckMetadata(const Value& metadata, Level level, const std::string& path) {
    if (metadata["type"].str() != "object") {
      errors_.push_back(InvalidError(ChildPath(path, "type"), metadata["type"].str(), "must be object"));
    }
    if (level != Level::kRoot) return;
    // The keywords that Kubernetes' own ObjectMeta has an answer for already.
    const auto allowed = [](const Member& member) {
      const std::string_view key = member.key();
      return key == "type" || key == "default" || member.value().is_null() || member.value() == Value(false);
    };
    bool only_names = true;
    for (const Member& member : metadata["properties"].members()) {
      only_names = only_names && (member.key() == "name" || member.key() == "generateName");
    }
    for (const Member& member : metadata.members()) {
      only_names = only_names && (allowed(member) || member.key() == "properties");
    }
    if (only_names) return;
    errors_.push_back(ForbiddenError(path,
                                     "must not specify anything other than name and generateName, but metadata is "
                                     "implicitly specified"));
  }

  // The combinations of one schema. The int-or-string pair may stand there once, as anyOf or in the first allOf.
  void CheckRestrictions(const Value& schema, bool skip_any_of, bool skip_first_all_of, const std::string& path) {
    for (const std::string_view many : {"anyOf", "allOf", "oneOf"}) {
      if (many == "anyOf" && skip_any_of) continue;
      const Value& list = schema[many];
      for (size_t i = 0; i < list.size(); ++i) {
        CheckRestriction(list[i], many == "allOf" && skip_first_all_of && i == 0, IndexPath(ChildPath(path, many), i));
      }
    }
    if (schema["not"].is_object()) CheckRestriction(schema["not"], false, ChildPath(path, "not"));
  }

  void CheckRestriction(const Value& schema, bool skip_any_of, const std::string& path) {
    CheckRestrictions(schema, skip_any_of, false, path);
    if (schema["items"].is_object()) CheckRestriction(schema["items"], false, ChildPath(path, "items"));
    const std::string properties_path = ChildPath(path, "properties");
    for (const Member& member : schema["properties"].members()) {
      CheckRestriction(member.value(), false, KeyPath(properties_path, member.key()));
    }
    struct Rule {
      std::string_view key;
      std::string_view why;
    };
    constexpr Rule kRules[] = {
        {"type", "must be empty to be structural"},
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"externalDocs", "must be undefined to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"},
    };
    for (const Rule& rule : kRules) {
      const Value& value = schema[rule.key];
      const bool undefined = rule.why == "must be undefined to be structural";
      const bool unset =
          value.is_null() ||
          (!undefined && (value == Value(false) || value == Value("") || (value.is_array() && value.empty())));
      if (!unset) errors_.push_back(ForbiddenError(ChildPath(path, rule.key), rule.why));
    }
    if (schema["properties"].Has("metadata")) {
      errors_.push_back(
          ForbiddenError(KeyPath(properties_path, "metadata"), "must not be specified in a nested context"));
    }
  }

  FirstErrors& errors_;
};

}  // namespace

std::vector<FieldError> CheckStructural(const Value& schema, std::string_view path) {
  FirstErrors found;
  StructureChecker checker(found);
  checker.CheckStructure(schema, Level::kRoot, std::string(path));
  checker.CheckCombinationsComplete(schema, schema, std::string(path), std::string(path));
  std::vector<FieldError> errors = std::move(found).Take();
  std::ranges::sort(errors, [](const FieldError& a, const FieldError& b) {
    return StrCat(a.field, ": ", a.message) < StrCat(b.field, ": ", b.message);
  });
  return errors;
}

}  // namespace baton::api
