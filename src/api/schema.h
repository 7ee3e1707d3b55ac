// Schema: what the server knows about a type, described once. Everything that depends on a type's shape reads it:
// pruning, defaulting, validation, strategic merge, server-side apply, OpenAPI v2 and v3, CRD manifests and `kubectl
// explain`.
//
// A Schema is an immutable node, shared by pointer; named types are nodes with a `name`, so that a type used in ten
// places (PodSpec) is one node. Schemas come from a CRD's openAPIV3Schema (api/crd_schema.h) or from text in our own
// notation (api/type_text.h).
//
// It is Kubernetes' structural schema plus what only built-in types have (patch strategies).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/property_map.h"
#include "json/value.h"

namespace baton::api {

enum class SchemaType : uint8_t {
  kAny,  // no type: anything goes (only with preserve_unknown_fields, or in built-in raw extensions)
  kObject,
  kArray,
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kIntOrString,  // x-kubernetes-int-or-string; also quantities, with format "quantity"
};

enum class ListType : uint8_t { kAtomic, kSet, kMap };  // x-kubernetes-list-type
enum class MapType : uint8_t { kGranular, kAtomic };    // x-kubernetes-map-type

struct Schema {
  SchemaType type = SchemaType::kAny;
  std::string name;         // "io.k8s.api.core.v1.PodSpec"; empty: inline
  SchemaPtr use_of;         // a field that adds its own words, default or patch strategy to a named type: that type
  std::string description;  // one sentence or two, in our own words
  std::string format;       // "int32", "int64", "date-time", "byte", "quantity", ...
  bool nullable = false;

  // Objects. A named property, or any key when there are additional_properties; an unknown key is pruned unless
  // preserve_unknown_fields.
  PropertyMap properties;
  SchemaPtr additional_properties;
  std::vector<std::string> required;
  bool preserve_unknown_fields = false;
  bool embedded_resource = false;  // has apiVersion, kind and metadata of its own, which are never pruned
  MapType map_type = MapType::kGranular;
  std::optional<uint64_t> min_properties;
  std::optional<uint64_t> max_properties;

  // Arrays.
  SchemaPtr items;
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  std::optional<uint64_t> min_items;
  std::optional<uint64_t> max_items;
  bool unique_items = false;

  // Strings and numbers.
  std::vector<json::Value> enum_values;
  std::string pattern;  // RE2
  std::optional<uint64_t> min_length;
  std::optional<uint64_t> max_length;
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<double> multiple_of;

  // Value validations that combine others (no structure in them, as Kubernetes demands).
  std::vector<SchemaPtr> all_of;
  std::vector<SchemaPtr> any_of;
  std::vector<SchemaPtr> one_of;
  SchemaPtr negated;  // "not"

  std::optional<json::Value> default_value;

  // Strategic merge patch: built-in types only.
  bool patch_merge = false;        // patchStrategy merge
  bool patch_retain_keys = false;  // patchStrategy retainKeys
  bool patch_replace = false;      // patchStrategy replace: a map that is not merged
  std::string patch_merge_key;

  // CEL rules are kept to be reported as unsupported; they are not evaluated.
  size_t cel_rules = 0;

  // The property's schema, or the one for additional properties, or null.
  const Schema* Property(std::string_view key) const;
};

// ---- what follows from a schema; all pure ----
//
// `settled`, where it is given: a value for which the same was done, with the same schema, and nothing was found. What
// is at the same place in it and in the same storage is not looked at again, so "the same but for one field" costs one
// path.

// A field's place as Kubernetes writes it: spec.containers[0].image, metadata.labels[app.kubernetes.io/name].
struct FieldError {
  enum class Type : uint8_t {
    kRequired,
    kInvalid,
    kNotSupported,
    kTypeInvalid,
    kTooLong,
    kTooMany,
    kDuplicate,
    kForbidden,
    kNotFound,
    kInternal
  };
  Type type = Type::kInvalid;
  std::string field;
  std::string message;  // as field.Error.ErrorBody(): 'Invalid value: "x": spec.x in body should match ...'
  // metav1.StatusCause.reason: "FieldValueInvalid", ...
  std::string_view reason() const;
};

// Removes fields that the schema does not know, in place. The first removed paths (kUnknownFieldsMax of
// api/field_errors.h) are added to `unknown` when given, in the spelling of Kubernetes' strict decoding errors: unknown
// field "spec.foo". metadata is not looked into.
void Prune(json::Value& value, const Schema& schema, std::vector<std::string>* unknown = nullptr,
           const json::Value* settled = nullptr);

// Fills in defaults, in place, as Kubernetes does: only where the parent exists; null where not nullable counts as
// absent.
void ApplyDefaults(json::Value& value, const Schema& schema, const json::Value* settled = nullptr);

// Every violation, up to kFieldErrorsMax, in a stable order. `before`, where it is given: what the value was; what is
// wrong in a part that is the same at the same place in both is not told, as Kubernetes has it ("ratcheting"). The two
// are walked together, so that no key can pass for another place by its text.
inline constexpr size_t kFieldErrorsMax = 100;
std::vector<FieldError> Validate(const json::Value& value, const Schema& schema, std::string_view path = {},
                                 const json::Value* settled = nullptr, const json::Value* before = nullptr);

// OpenAPI renderings of one schema. `ref` names types: "#/components/schemas/" (v3) or "#/definitions/" (v2); named
// schemas below the top become references and are collected in `referenced`.
json::Value ToOpenApi(const Schema& schema, bool v3, std::map<std::string, SchemaPtr>* referenced);

}  // namespace baton::api
