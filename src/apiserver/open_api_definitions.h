// The schemas of an OpenAPI document: those of the kinds it serves and all that they refer to, by name.
//
// Names are Kubernetes': io.k8s.api.apps.v1.Deployment for built-in kinds, com.example.stable.v1.Foo for kind Foo of
// stable.example.com/v1. Internal to the OpenAPI documents.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource_type.h"
#include "json/value.h"

namespace baton::apiserver {

inline constexpr std::string_view kMetaTypes = "io.k8s.apimachinery.pkg.apis.meta.v1.";

class OpenApiDefinitions {
 public:
  explicit OpenApiDefinitions(bool v3) : v3_(v3) {}

  // Each adds what is not there yet, with everything it refers to, and returns the name.
  std::string Add(const api::ResourceType& type);
  std::string AddList(const api::ResourceType& type);
  // A built-in type. One that is not known is an object with any fields: every reference must lead somewhere, or
  // clients refuse the whole document.
  std::string AddNamed(std::string_view name);
  // The same, of a kind: it also tells that it is one.
  std::string AddKind(std::string_view group, std::string_view version, std::string_view kind);
  std::string AddMeta(std::string_view kind, std::string_view group, std::string_view version);

  json::Value Reference(std::string_view name) const;  // {"$ref": ...}
  json::Value Build() &&;                              // {name: schema}

 private:
  struct Definition {
    json::Value schema;
    std::vector<json::Value> kinds;  // x-kubernetes-group-version-kind
  };

  std::string NewName(std::string name) const;
  json::Value Described(std::string_view name, std::string_view text) const;
  json::Value RenderCustom(const api::ResourceType& type);
  void AddBelow(std::map<std::string, api::SchemaPtr> referenced);
  void SayKind(const std::string& name, std::string_view group, std::string_view version, std::string_view kind);

  bool v3_;
  std::map<std::string, Definition, std::less<>> definitions_;
  std::map<const api::ResourceType*, std::string> names_;
};

// "com.example.stable" for "stable.example.com".
std::string ReversedGroup(std::string_view group);

}  // namespace baton::apiserver
