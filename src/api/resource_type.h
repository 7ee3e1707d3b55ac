// ResourceType: one kind of object as the API serves it at one version: its names, its scope, its shape, and what is
// particular about it. The server asks this and nothing else; it has no code that names a kind.
//
// Built-in kinds are listed in api/builtin_types.h; a CustomResourceDefinition gives one for each served version.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "base/time.h"
#include "json/patch_schema.h"
#include "json/value.h"

namespace baton::api {

// A column of `kubectl get`, as in metav1.TableColumnDefinition and a CRD's additionalPrinterColumns.
struct Column {
  std::string name;             // "Ready"
  std::string type = "string";  // string, integer, number, boolean, date
  std::string format;           // "name" for the first column
  std::string description;
  int priority = 0;       // above 0: with -o wide only
  std::string json_path;  // custom resources: where the cell is, ".status.phase"; built-in kinds have cells() instead
};

// Where /scale finds its numbers: simple JSON paths, ".spec.replicas".
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas;
  std::string label_selector;  // empty: none
};

// A subresource beyond status and scale, as discovery and OpenAPI list it: pods/log, serviceaccounts/token.
struct Subresource {
  std::string name;                // "token"
  std::vector<std::string> verbs;  // by name
  std::string kind;                // what it takes and gives: "TokenRequest"; empty: the resource's own kind
  std::string group;               // of that kind, when it is not the resource's own: "authentication.k8s.io"
  std::string version;

  friend bool operator==(const Subresource&, const Subresource&) = default;
};

enum class NameRule : uint8_t {
  kDnsSubdomain,  // most kinds
  kDnsLabel,      // Namespace
  kDns1035Label,  // Service
  kPathSegment,   // RBAC: anything that can stand in a path
};

struct ResourceType;
using ResourceTypePtr = std::shared_ptr<const ResourceType>;

struct ResourceType {
  std::string group;  // "" is core
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool custom = false;              // from a CustomResourceDefinition
  bool terminating = false;         // its CRD is being deleted: no new objects
  std::string deprecation_warning;  // told to whoever asks for this version; empty: it is not deprecated
  NameRule name_rule = NameRule::kDnsSubdomain;

  bool has_status = false;          // a status subresource: the main resource cannot change status, /status only status
  std::optional<ScalePaths> scale;  // a scale subresource
  std::string storage_version;      // the version objects are stored in; empty: this one
  bool counts_generations = true;   // metadata.generation grows with every change beyond metadata and status
  bool stored = true;               // false: a request that is answered and not kept (SubjectAccessReview): create only

  // What discovery says of it. No verbs: all of them, or create alone for what is not stored.
  std::vector<std::string> verbs;
  std::vector<Subresource> subresources;  // by name, without status and scale
  std::string stored_as;  // "autoscaling/v2", "/v1": group and version that objects are kept in; empty: its own

  // Objects of two groups may be one and the same (events): which group keeps them, and how they look there.
  std::optional<std::string> storage_group;  // none: its own
  json::Value (*to_storage)(json::Value object) = nullptr;
  json::Value (*from_storage)(json::Value stored) = nullptr;

  // Custom resources with defaults: objects whose revision is not above this were stored before these defaults were,
  // and get them when they are read. Zero: none.
  int64_t defaults_missing_until = 0;

  SchemaPtr schema;
  const json::PatchSchema* patch_schema = nullptr;  // strategic merge; null: the kind does not take it (415)

  // Columns of its table; none: Name and Age. `cells` gives one row, a cell per column; null: json_path does.
  std::vector<Column> columns;
  std::vector<json::Value> (*cells)(const json::Value& object, WallTime now) = nullptr;

  // What is particular about a built-in kind; each may be null. All are pure.
  // Fills in what clients depend on, after the schema's own defaults.
  void (*default_fields)(json::Value& object) = nullptr;
  // Before validation, on create (old is null) and update: drops what a client may not set, folds write-only fields in.
  void (*prepare)(json::Value& object, const json::Value* old) = nullptr;
  // What the schema cannot say: rules between fields, immutable fields (old is null on create).
  std::vector<FieldError> (*validate)(const json::Value& object, const json::Value* old) = nullptr;
  // Fields that field selectors may name beyond metadata.name and metadata.namespace: "status.phase".
  std::vector<std::string> selectable_fields;

  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  std::string GroupResource() const { return group.empty() ? plural : plural + "." + group; }  // as in error messages
};

}  // namespace baton::api
