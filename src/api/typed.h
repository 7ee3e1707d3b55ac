// Objects seen through their schema as server-side apply sees them. Internal to api.
//
// Kubernetes' structured-merge-diff gives every place in an object a type: a scalar, a list (atomic, set or keyed), a
// map (atomic or granular), or, where the schema says nothing, whatever the value turns out to be ("deduced": maps are
// granular, lists atomic). TypeRef is a place's type; Shape is what it allows.
//
// All functions here walk objects that CheckTyped() has passed; what does not fit is skipped, never a crash.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/field_set.h"
#include "api/field_set_node.h"
#include "api/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api {

struct TypeRef {
  enum class Kind : uint8_t {
    kNone,     // no such field
    kSchema,   // as `schema` says
    kDeduced,  // anything: maps granular, lists atomic
    kUntyped,  // anything, as one
  };
  Kind kind = Kind::kNone;
  const Schema* schema = nullptr;
  bool preserve = false;  // unknown fields are kept here, by this schema or one around it
  bool root = false;      // the whole object: has apiVersion, kind and metadata whatever the schema says

  // The type of a whole object. A schema that allows anything makes everything deduced, metadata too.
  static TypeRef Root(const Schema& schema);
};

// What a type allows. Several of map, scalar and list only where the schema leaves it open.
struct Shape {
  enum class Scalar : uint8_t { kNone, kString, kNumeric, kBoolean, kUntyped };
  enum class List : uint8_t { kNone, kAtomic, kSet, kKeyed };
  enum class Map : uint8_t { kNone, kAtomic, kGranular };
  Scalar scalar = Scalar::kNone;
  List list = List::kNone;
  Map map = Map::kNone;

  TypeRef self;
  TypeRef item;                       // of lists
  std::span<const std::string> keys;  // of keyed lists: the schema's
  TypeRef additional;                 // of maps: fields without a name in the schema

  bool SameKindsAs(const Shape& other) const {
    return scalar == other.scalar && list == other.list && map == other.map;
  }
  // A map's field: its type, and whether the schema names it.
  std::pair<TypeRef, bool> Field(std::string_view key) const;
};

Shape ShapeOf(const TypeRef& type);
// Only what `value` is, when the type allows that; otherwise (and for null and absence) all of it.
Shape ShapeFor(const TypeRef& type, const json::Value* value);

// The element of an item of a set or keyed list; missing keys take their defaults.
Result<PathElement> ItemElement(const Shape& list, const json::Value& item);

// An error when `object` does not fit, worded as kube-apiserver: '.spec.foo: field not declared in schema'.
inline constexpr size_t kTypedErrorsMax = 20;
Result<void> CheckTyped(const json::Value& object, const TypeRef& type, bool allow_duplicates);
// Whether `object` fits, duplicates allowed, when `checked` does: what they share is not looked at again.
bool CheckTypedBeside(const json::Value& object, const json::Value& checked, const TypeRef& type);

// What an apply of `object` would own.
FieldSet TypedFields(const json::Value& object, const TypeRef& type);

// `base` with everything that `config` says: config's leaves win, nothing is removed, new list items take config's
// order.
json::Value TypedMerge(const json::Value& base, const json::Value& config, const TypeRef& type);

struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;
};
Comparison TypedCompare(const json::Value& before, const json::Value& after, const TypeRef& type);

// Without the items and fields in `remove`. A list or map of which nothing is left becomes null.
json::Value TypedRemove(const json::Value& object, const FieldSet& remove, const TypeRef& type);

// The set, and every named field that has something below it.
FieldSet WithNamedFields(const FieldSet& set, const TypeRef& type);

// The set as it is after lists and maps that it looks into became atomic in the schema.
FieldSet ReconcileWithSchema(const FieldSet& set, const TypeRef& type);

// Equal as Kubernetes compares: 1 is 1.0.
inline bool SameFieldValue(const json::Value& a, const json::Value& b) { return CompareFieldValues(a, b) == 0; }

}  // namespace baton::api
