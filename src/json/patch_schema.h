// PatchSchema: how the lists and maps of a type are merged by a strategic merge patch.
//
// It says only what differs from the rule for everything unknown (maps merge, lists are replaced), so a type has few
// fields here and most types have none. Types form a graph, may refer to each other in cycles, and never change once
// made: any thread may read them. They are written as text, one line a field:
//
//   PodTemplateSpec
//     metadata  ObjectMeta                          # no strategy of its own, but its type has fields with one
//     spec      PodSpec
//   PodSpec
//     containers  merge(name)             Container # a list, merged by its items' member "name"
//     volumes     merge(name),retainKeys
//   ObjectMeta
//     finalizers  merge                             # a list of primitives
//
// A type stands at the beginning of a line, its fields below it and indented. After a field's name come strategies
// (lower case) and the type (upper case) of the field's value, or of its items when it is a list; both may be absent.
//
//   const PatchSchemas schemas = TRY(PatchSchemas::Parse(text));
//   const PatchSchema* pod_spec = schemas.Find("PodSpec");
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::json {

class PatchSchema;

struct PatchField {
  std::string name;
  bool merge = false;        // a list: its items are merged, by merge_key or (without one) as a set of primitives
  bool replace = false;      // a map: replaced, never merged
  bool retain_keys = false;  // a union: who makes a patch says with $retainKeys which members stay
  std::string merge_key;
  const PatchSchema* type = nullptr;  // of the value or of the list's items; null: nothing is known about it
};

class PatchSchema {
 public:
  const std::string& name() const { return name_; }

  // Null when nothing is known about the field.
  const PatchField* Find(std::string_view field) const;

  const std::vector<PatchField>& fields() const { return fields_; }  // sorted by name

 private:
  friend class PatchSchemas;
  explicit PatchSchema(std::string_view name) : name_(name) {}

  std::string name_;
  std::vector<PatchField> fields_;
};

// Owns a graph of types. Moving it leaves pointers to its types valid.
class PatchSchemas {
 public:
  // An error names the line: unknown strategy, unknown type, a field or a type given twice.
  static Result<PatchSchemas> Parse(std::string_view text);

  const PatchSchema* Find(std::string_view type) const;  // null when there is none

  size_t size() const { return types_.size(); }

 private:
  std::vector<std::unique_ptr<PatchSchema>> types_;  // sorted by name
};

// The schema of a built-in Kubernetes kind ("apps/v1", "Deployment"), as of Kubernetes 1.32. Null for every other kind:
// for these kube-apiserver refuses strategic merge patches.
const PatchSchema* KubernetesPatchSchema(std::string_view api_version, std::string_view kind);

}  // namespace baton::json
