// The built-in Kubernetes types as schemas, from one table: names, fields, types, merge keys, list types, required
// fields, enums, and the defaults that clients depend on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"

namespace baton::api {

// Everything that discovery, routing and storage need to know of a resource.
struct ResourceType {
  std::string group;  // "" for core
  std::string version;
  std::string kind;    // "Deployment"
  std::string plural;  // "deployments"
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;  // "all"
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  // Kinds whose metadata.generation grows with spec changes.
  bool has_generation = false;
  SchemaPtr schema;  // of the whole object

  struct Column {
    std::string name;
    std::string type;  // "string", "integer", "date", ...
    std::string format;
    std::string description;
    std::string json_path;  // empty: made by code (api/printers.h)
    int priority = 0;       // > 0: only with -o wide
  };
  std::vector<Column> columns;  // beside Name and Age

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// All built-in resources, in discovery order. Made once.
std::span<const ResourceType> BuiltinTypes();
const ResourceType* FindBuiltin(std::string_view api_version, std::string_view kind);

// A named built-in schema ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), or null.
SchemaPtr BuiltinSchema(std::string_view name);

}  // namespace baton::api
