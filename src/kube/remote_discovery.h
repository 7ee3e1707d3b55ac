// Internal to kube: discovery documents as ResourceInfos, in both their forms. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/api.h"

namespace baton::kube {

// Asks for the aggregated form first; a server that does not know it answers in the old one.
inline constexpr std::string_view kDiscoveryAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

bool IsAggregated(const json::Value& document);  // an APIGroupDiscoveryList

// An APIGroupDiscoveryList, added to `into`. A version that is marked stale is a failed one.
void AddAggregated(const json::Value& document, Discovered& into);

// One version of one group that has still to be asked for.
struct GroupVersionPath {
  std::string group, version;
  bool preferred = false;

  std::string Path() const;  // "/apis/apps/v1"
  std::string ToString() const { return group.empty() ? version : group + "/" + version; }
};
// Of /api (APIVersions) and of /apis (APIGroupList).
std::vector<GroupVersionPath> GroupVersionsOf(const json::Value& document);
// An APIResourceList, added to `into`.
void AddResourceList(const GroupVersionPath& of, const json::Value& document, Discovered& into);

}  // namespace baton::kube
