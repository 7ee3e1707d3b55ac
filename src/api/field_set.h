// FieldSet: a set of field paths, Kubernetes' fieldsV1. What server-side apply keeps per manager.
//
//   {"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}
//
// A path is a list of elements: a field name (f:), a key of an associative list (k:{...}), a value of a set (v:...), or
// an index (i:). A set holds leaves and, where an item or a map itself is owned, inner nodes (".").
//
//   FieldSet mine = TRY(FieldSet::FromFieldsV1(entry["fieldsV1"]));
//   FieldSet lost = mine.Intersection(changed);
//   for (const FieldPath& path : lost.Paths()) Report(PathText(path));
//
// Sets are values: copies share their nodes and cost nothing. Numbers in keys and values are compared as numbers, so
// that 1 and 1.0 are the same key, as in Kubernetes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "json/parse.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kPathElementsMax = json::kMaxDepth;      // of one path: as deep as a document may be
inline constexpr size_t kTrackedBytesMax = size_t{64} << 20;     // of an object whose fields are looked at
inline constexpr size_t kFieldSetMembersMax = size_t{4} << 20;   // of one fieldsV1
inline constexpr size_t kElementTextBytesMax = size_t{1} << 20;  // of one "k:{...}" or "v:..."

struct PathElement {
  enum class Kind : uint8_t { kField, kKey, kValue, kIndex };  // in Kubernetes' order
  Kind kind = Kind::kField;
  std::string field;  // kField
  json::Value value;  // kKey: an object of the key fields; kValue: the value
  int64_t index = 0;  // kIndex

  static PathElement Field(std::string_view name);
  static PathElement Key(json::Value fields);
  static PathElement OfValue(json::Value value);
  static PathElement Index(int64_t index);

  // "f:image", "k:{\"name\":\"app\"}", "v:\"x\"", "i:3", and back. An error for everything else; an element of a kind
  // that we do not know ("x:...") is an error of kind kUnsupported.
  std::string ToFieldsV1() const;
  static Result<PathElement> FromFieldsV1(std::string_view text);
  // ".image", "[name=\"app\"]", "[=\"x\"]", "[3]": as conflicts are shown to people.
  std::string ToText() const;

  // The order that Kubernetes serializes in.
  friend bool operator==(const PathElement& a, const PathElement& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const PathElement& a, const PathElement& b);
};

using FieldPath = std::vector<PathElement>;

// The order of values inside path elements: numbers (by value, whatever their kind), strings, bools, arrays, objects,
// null.
std::strong_ordering CompareFieldValues(const json::Value& a, const json::Value& b);

class FieldSet {
 public:
  // Kinds of path elements that we do not know are left out, as Kubernetes does.
  static Result<FieldSet> FromFieldsV1(const json::Value& fields);
  json::Value ToFieldsV1() const;

  bool empty() const { return root_ == nullptr; }
  // The empty path is never a member. A path has at most kPathElementsMax elements, or the process ends.
  void Insert(const FieldPath& path);
  bool Has(const FieldPath& path) const;

  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;           // exactly these paths
  FieldSet RecursiveDifference(const FieldSet& other) const;  // these paths and everything below them

  // Every member, in order: of one level first the members, then what is below each.
  std::vector<FieldPath> Paths() const;
  friend bool operator==(const FieldSet& a, const FieldSet& b);

  // For this module (api/field_set_node.h): one level of a set.
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  explicit FieldSet(NodePtr root) : root_(std::move(root)) {}
  FieldSet() = default;
  const NodePtr& root() const { return root_; }

 private:
  NodePtr root_;  // null: empty, and only then
};

// ".spec.containers[name=\"app\"].image"
std::string PathText(const FieldPath& path);

// All fields that `object` sets, as an apply of it would own them: leaves, list items by key, set members, atomic lists
// and maps as one. An error when the object does not fit the schema.
Result<FieldSet> FieldsOf(const json::Value& object, const Schema& schema);

}  // namespace baton::api
