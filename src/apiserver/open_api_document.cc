// The OpenAPI documents: paths and definitions put together.
#include "apiserver/open_api_document.h"

#include <utility>

#include "apiserver/discovery.h"
#include "apiserver/open_api_definitions.h"
#include "apiserver/open_api_paths.h"
#include "base/hash.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/print.h"

namespace baton::apiserver {
namespace {

using json::Object;
using json::Value;

Value Info() { return Object({{"title", "Kubernetes"}, {"version", VersionInfo()["gitVersion"]}}); }

Value BearerToken() {
  return Object({{"BearerToken", Object({{"type", "apiKey"},
                                         {"name", "authorization"},
                                         {"in", "header"},
                                         {"description", "Bearer token authentication"}})}});
}

std::string PathOf(std::string_view group, std::string_view version) {
  return group.empty() ? StrCat("api/", version) : StrCat("apis/", group, "/", version);
}

Value DocumentOf(const Registry& registry, std::string_view group, std::string_view version) {
  OpenApiDefinitions definitions(true);
  OpenApiPaths paths(true, definitions);
  for (const ResourceTypePtr& type : registry.Types(group, version)) paths.Add(*type);
  return Object(
      {{"openapi", "3.0.0"},
       {"info", Info()},
       {"paths", std::move(paths).Build()},
       {"components", Object({{"schemas", std::move(definitions).Build()}, {"securitySchemes", BearerToken()}})}});
}

}  // namespace

Value OpenApiV2(const Registry& registry) {
  OpenApiDefinitions definitions(false);
  OpenApiPaths paths(false, definitions);
  const std::vector<ResourceTypePtr> types = registry.AllTypes();
  // Built-in ones first: no custom one can take one of their names.
  for (const bool custom : {false, true}) {
    for (const ResourceTypePtr& type : types) {
      if (type->custom == custom) paths.Add(*type);
    }
  }
  return Object({{"swagger", "2.0"},
                 {"info", Info()},
                 {"paths", std::move(paths).Build()},
                 {"parameters", OpenApiPaths::SharedParameters()},
                 {"definitions", std::move(definitions).Build()},
                 {"securityDefinitions", BearerToken()},
                 {"security", json::Array({Object({{"BearerToken", json::Array()}})})}});
}

Value OpenApiV3Index(const Registry& registry) {
  json::ObjectBuilder paths;
  for (const std::string& group : registry.Groups()) {
    for (const std::string& version : registry.Versions(group)) {
      const std::string path = PathOf(group, version);
      const std::string hash = Sha256Hex(json::Print(DocumentOf(registry, group, version)));
      paths.Add(path, Object({{"serverRelativeURL", StrCat("/openapi/v3/", path, "?hash=", hash)}}));
    }
  }
  return Object({{"paths", std::move(paths).Build()}});
}

Value OpenApiV3(const Registry& registry, std::string_view path) {
  const std::vector<std::string_view> parts = Split(path, '/');
  const bool core = parts.size() == 2 && parts[0] == "api";
  if (!core && (parts.size() != 3 || parts[0] != "apis" || parts[1].empty())) return nullptr;
  const std::string_view group = core ? "" : parts[1];
  if (!registry.HasGroupVersion(group, parts.back())) return nullptr;
  return DocumentOf(registry, group, parts.back());
}

}  // namespace baton::apiserver
