// Discovery: what a client can ask for, as documents. Pure functions of the Registry; the server caches their bytes by
// Registry::generation().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry.h"
#include "json/value.h"

namespace baton::apiserver {

std::vector<std::string> VerbsOf(const ResourceType& type);  // of the resource itself, in Kubernetes' order

json::Value ApiVersions();  // GET /api      (APIVersions; the server's address left to clients)
json::Value ApiGroupList(const Registry& registry);                      // GET /apis     (APIGroupList)
json::Value ApiGroup(const Registry& registry, std::string_view group);  // GET /apis/GROUP; null: there is none
// GET /api/v1, /apis/GROUP/VERSION (APIResourceList with subresources, storageVersionHash); null: there is none
json::Value ApiResourceList(const Registry& registry, std::string_view group, std::string_view version);

// apidiscovery.k8s.io/v2 APIGroupDiscoveryList (and v2beta1): GET /api (core) and GET /apis (the rest) when the client
// asks for it by Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
json::Value AggregatedDiscovery(const Registry& registry, bool core, std::string_view version);

json::Value VersionInfo();  // GET /version: major, minor, gitVersion "v1.35.0+baton...", platform, ...

}  // namespace baton::apiserver
