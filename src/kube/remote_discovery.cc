// Discovery documents, read.
#include "kube/remote_discovery.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "net/http.h"

namespace baton::kube {
namespace {

using json::Value;

std::vector<std::string> Strings(const Value& array) {
  std::vector<std::string> out;
  for (const Value& one : array.items()) {
    if (one.is_string()) out.emplace_back(one.str());
  }
  return out;
}

}  // namespace

std::string GroupVersionPath::Path() const {
  if (group.empty()) return StrCat("/api/", net::PercentEncode(version));
  return StrCat("/apis/", net::PercentEncode(group), "/", net::PercentEncode(version));
}

bool IsAggregated(const Value& document) { return document["kind"].str() == "APIGroupDiscoveryList"; }

void AddAggregated(const Value& document, Discovered& into) {
  for (const Value& group : document["items"].items()) {
    const std::string_view name = group["metadata"]["name"].str();
    bool preferred = true;  // the first version is
    for (const Value& version : group["versions"].items()) {
      const std::string_view version_name = version["version"].str();
      const bool of_preferred = std::exchange(preferred, false);
      if (version["freshness"].str() == "Stale") {
        into.failed_groups.push_back(name.empty() ? std::string(version_name) : StrCat(name, "/", version_name));
        continue;
      }
      for (const Value& resource : version["resources"].items()) {
        const std::string_view kind = resource["responseKind"]["kind"].str();
        if (kind.empty() || resource["resource"].str().empty()) continue;  // only its subresources can be asked for
        ResourceInfo info;
        info.resource = {.group = std::string(name),
                         .version = std::string(version_name),
                         .plural = std::string(resource["resource"].str()),
                         .kind = std::string(kind),
                         .namespaced = resource["scope"].str() == "Namespaced"};
        info.verbs = Strings(resource["verbs"]);
        info.short_names = Strings(resource["shortNames"]);
        info.categories = Strings(resource["categories"]);
        for (const Value& sub : resource["subresources"].items()) {
          info.subresources.emplace_back(sub["subresource"].str());
        }
        std::ranges::sort(info.subresources);
        info.preferred = of_preferred;
        into.resources.push_back(std::move(info));
      }
    }
  }
}

std::vector<GroupVersionPath> GroupVersionsOf(const Value& document) {
  std::vector<GroupVersionPath> out;
  for (const Value& version : document["versions"].items()) {
    if (!version.is_string()) continue;
    out.push_back({.group = {}, .version = std::string(version.str()), .preferred = out.empty()});
  }
  for (const Value& group : document["groups"].items()) {
    for (const Value& version : group["versions"].items()) {
      out.push_back({.group = std::string(group["name"].str()),
                     .version = std::string(version["version"].str()),
                     .preferred = version["version"] == group["preferredVersion"]["version"]});
    }
  }
  return out;
}

void AddResourceList(const GroupVersionPath& of, const Value& document, Discovered& into) {
  std::map<std::string, ResourceInfo, std::less<>> found;
  std::vector<std::string> order;
  for (const Value& resource : document["resources"].items()) {
    const std::string_view name = resource["name"].str();
    if (name.empty() || name.find('/') != std::string_view::npos) continue;
    ResourceInfo info;
    info.resource = {.group = of.group,
                     .version = of.version,
                     .plural = std::string(name),
                     .kind = std::string(resource["kind"].str()),
                     .namespaced = resource["namespaced"].bool_or(false)};
    info.verbs = Strings(resource["verbs"]);
    info.short_names = Strings(resource["shortNames"]);
    info.categories = Strings(resource["categories"]);
    info.preferred = of.preferred;
    if (found.emplace(name, std::move(info)).second) order.emplace_back(name);
  }
  for (const Value& resource : document["resources"].items()) {
    const std::string_view name = resource["name"].str();
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) continue;
    const auto parent = found.find(name.substr(0, slash));
    if (parent != found.end()) parent->second.subresources.emplace_back(name.substr(slash + 1));
  }
  for (const std::string& name : order) {
    ResourceInfo& info = found.find(name)->second;
    std::ranges::sort(info.subresources);
    into.resources.push_back(std::move(info));
  }
}

}  // namespace baton::kube
