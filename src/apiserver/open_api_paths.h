// The paths of an OpenAPI document: where each resource is, and what can be done there. Internal to the OpenAPI
// documents.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "api/resource_type.h"
#include "apiserver/open_api_definitions.h"
#include "json/builder.h"
#include "json/value.h"

namespace baton::apiserver {

// Paths of the types that are added; their schemas go to the definitions, which must outlive this.
class OpenApiPaths {
 public:
  OpenApiPaths(bool v3, OpenApiDefinitions& definitions);

  void Add(const api::ResourceType& type);

  // v2 only: {name: parameter}, what "$ref": "#/parameters/NAME" leads to.
  static json::Value SharedParameters();
  json::Value Build() &&;  // {path: path item}

 private:
  struct Target;
  struct Verb;
  static std::span<const Verb> Verbs();

  json::Value Operation(const Target& target, const Verb& verb) const;
  json::Value Parameters(const Target& target, const Verb& verb) const;
  json::Value RequestBody(const Target& target, const Verb& verb) const;  // v3 only; null: none
  json::Value Responses(const Target& target, const Verb& verb) const;
  void AddPath(std::string_view path, const Target& target, std::span<const std::string> verbs, bool of_items);

  bool v3_;
  OpenApiDefinitions& definitions_;
  std::map<std::string, json::Value, std::less<>> parameters_;  // as operations mention them
  json::ObjectBuilder paths_;
};

}  // namespace baton::apiserver
