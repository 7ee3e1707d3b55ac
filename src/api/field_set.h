// FieldSet: a set of field paths, Kubernetes' fieldsV1. What server-side apply keeps per manager.
//
//   {"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}
//
// A path is a list of elements: a field name (f:), a key of an associative list (k:{...}), a value of a set (v:...), or
// an index (i:). A set holds leaves and, where an item or a map itself is owned, inner nodes (".").
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api {

struct PathElement {
  enum class Kind : uint8_t { kField, kKey, kValue, kIndex };
  Kind kind = Kind::kField;
  std::string field;  // kField
  json::Value value;  // kKey: an object of the key fields; kValue: the value
  int64_t index = 0;  // kIndex

  // "f:image", "k:{\"name\":\"app\"}", "v:\"x\"", "i:3", and back.
  std::string ToFieldsV1() const;
  static Result<PathElement> FromFieldsV1(std::string_view text);
  // ".image", "[name=\"app\"]", "[=\"x\"]", "[3]": as conflicts are shown to people.
  std::string ToText() const;

  // The order that Kubernetes serializes in.
  friend bool operator==(const PathElement& a, const PathElement& b);
  friend std::strong_ordering operator<=>(const PathElement& a, const PathElement& b);
};

class FieldSet {
 public:
  static Result<FieldSet> FromFieldsV1(const json::Value& fields);
  json::Value ToFieldsV1() const;

  bool empty() const;
  void Insert(const std::vector<PathElement>& path);
  bool Has(const std::vector<PathElement>& path) const;

  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  FieldSet Difference(const FieldSet& other) const;           // exactly these paths
  FieldSet RecursiveDifference(const FieldSet& other) const;  // these paths and everything below them

  // Every member, in order.
  std::vector<std::vector<PathElement>> Paths() const;
  friend bool operator==(const FieldSet&, const FieldSet&);

 private:
  // A node's members and its children; both sorted.
  struct Node;
  std::shared_ptr<const Node> root_;  // null: empty; shared: sets are copied freely
};

// ".spec.containers[name=\"app\"].image"
std::string PathText(const std::vector<PathElement>& path);

// All fields that `object` sets, as an apply of it would own them: leaves, list items by key, set members, atomic lists
// and maps as one.
Result<FieldSet> FieldsOf(const json::Value& object, const Schema& schema);

}  // namespace baton::api
