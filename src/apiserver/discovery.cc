// Discovery documents, in the words of kube-apiserver 1.35: the same members, the same order of everything that has
// one.
#include "apiserver/discovery.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/hash.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::apiserver {
namespace {

using api::Subresource;
using json::ArrayBuilder;
using json::Object;
using json::ObjectBuilder;
using json::Value;

constexpr size_t kStorageHashBytes = 8;

// Tells clients whether a resource is stored in another way than before.
std::string StorageVersionHash(const ResourceType& type) {
  const std::string own = StrCat(type.group, "/", type.version);
  const Sha256::Digest digest = Sha256Of(StrCat(type.stored_as.empty() ? own : type.stored_as, "/", type.kind));
  return Base64Encode({reinterpret_cast<const char*>(digest.data()), kStorageHashBytes});
}

Value Strings(std::span<const std::string> strings) {
  ArrayBuilder out;
  for (const std::string& one : strings) out.Add(one);
  return std::move(out).Build();
}

// All of a type's subresources: by name, but status before scale for custom ones.
std::vector<Subresource> Subresources(const ResourceType& type) {
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  std::vector<Subresource> all = type.subresources;
  if (type.has_status) all.push_back({.name = "status", .verbs = verbs, .kind = {}, .group = {}, .version = {}});
  if (type.scale) {
    all.push_back({.name = "scale", .verbs = verbs, .kind = "Scale", .group = "autoscaling", .version = "v1"});
  }
  if (!type.custom) std::ranges::sort(all, {}, &Subresource::name);
  return all;
}

void AddNames(const ResourceType& type, ObjectBuilder& out) {
  if (!type.short_names.empty()) out.Add("shortNames", Strings(type.short_names));
  if (!type.categories.empty()) out.Add("categories", Strings(type.categories));
}

Value GroupVersion(std::string_view group, std::string_view version) {
  return Object({{"groupVersion", StrCat(group, "/", version)}, {"version", version}});
}

Value GroupOf(const Registry& registry, std::string_view group) {
  const std::vector<std::string> versions = registry.Versions(group);
  if (versions.empty() || group.empty()) return nullptr;
  ArrayBuilder listed;
  for (const std::string& version : versions) listed.Add(GroupVersion(group, version));
  return Object({{"name", group},
                 {"versions", std::move(listed).Build()},
                 {"preferredVersion", GroupVersion(group, versions.front())}});
}

Value ListedResource(const ResourceType& type) {
  ObjectBuilder out;
  out.Add("name", type.plural);
  out.Add("singularName", type.singular);
  out.Add("namespaced", type.namespaced);
  out.Add("kind", type.kind);
  out.Add("verbs", Strings(VerbsOf(type)));
  AddNames(type, out);
  if (type.stored) out.Add("storageVersionHash", StorageVersionHash(type));
  return std::move(out).Build();
}

Value ListedSubresource(const ResourceType& type, const Subresource& sub) {
  ObjectBuilder out;
  out.Add("name", StrCat(type.plural, "/", sub.name));
  out.Add("singularName", "");
  out.Add("namespaced", type.namespaced);
  out.Add("kind", sub.kind.empty() ? type.kind : sub.kind);
  out.Add("verbs", Strings(sub.verbs));
  if (!sub.group.empty()) out.Add("group", sub.group);
  if (!sub.version.empty()) out.Add("version", sub.version);
  return std::move(out).Build();
}

// Kubernetes leaves the group and version of its own kinds out: they are those of the list.
Value ResponseKind(const ResourceType& type) {
  return Object(
      {{"group", type.custom ? type.group : ""}, {"version", type.custom ? type.version : ""}, {"kind", type.kind}});
}

Value AggregatedResource(const ResourceType& type) {
  ObjectBuilder out;
  out.Add("resource", type.plural);
  out.Add("responseKind", ResponseKind(type));
  out.Add("scope", type.namespaced ? "Namespaced" : "Cluster");
  out.Add("singularResource", type.singular);
  out.Add("verbs", Strings(VerbsOf(type)));
  AddNames(type, out);
  ArrayBuilder below;
  for (const Subresource& sub : Subresources(type)) {
    below.Add(Object({{"subresource", sub.name},
                      {"responseKind",
                       sub.kind.empty() ? ResponseKind(type)
                                        : Object({{"group", sub.group}, {"version", sub.version}, {"kind", sub.kind}})},
                      {"verbs", Strings(sub.verbs)}}));
  }
  if (below.size() > 0) out.Add("subresources", std::move(below).Build());
  return std::move(out).Build();
}

Value AggregatedGroup(const Registry& registry, const std::string& group) {
  ArrayBuilder versions;
  for (const std::string& version : registry.Versions(group)) {
    ArrayBuilder resources;
    for (const ResourceTypePtr& type : registry.Types(group, version)) resources.Add(AggregatedResource(*type));
    versions.Add(Object({{"version", version}, {"resources", std::move(resources).Build()}, {"freshness", "Current"}}));
  }
  return Object(
      {{"metadata", group.empty() ? Object() : Object({{"name", group}})}, {"versions", std::move(versions).Build()}});
}

}  // namespace

std::vector<std::string> VerbsOf(const ResourceType& type) {
  if (!type.verbs.empty()) return type.verbs;
  if (!type.stored) return {"create"};
  // Kubernetes has one order for its own kinds and another one for custom ones.
  if (type.custom) return {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

Value ApiVersions() {
  return Object(
      {{"kind", "APIVersions"}, {"versions", json::Array({"v1"})}, {"serverAddressByClientCIDRs", json::Array()}});
}

Value ApiGroupList(const Registry& registry) {
  ArrayBuilder groups;
  for (const std::string& group : registry.Groups()) {
    if (!group.empty()) groups.Add(GroupOf(registry, group));
  }
  return Object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups).Build()}});
}

Value ApiGroup(const Registry& registry, std::string_view group) {
  Value out = GroupOf(registry, group);
  if (out.is_null()) return out;
  out.Set("kind", "APIGroup");
  out.Set("apiVersion", "v1");
  return out;
}

Value ApiResourceList(const Registry& registry, std::string_view group, std::string_view version) {
  if (!registry.HasGroupVersion(group, version)) return nullptr;
  ArrayBuilder resources;
  for (const ResourceTypePtr& type : registry.Types(group, version)) {
    resources.Add(ListedResource(*type));
    for (const Subresource& sub : Subresources(*type)) resources.Add(ListedSubresource(*type, sub));
  }
  Value out = Object({{"kind", "APIResourceList"},
                      {"groupVersion", group.empty() ? std::string(version) : StrCat(group, "/", version)},
                      {"resources", std::move(resources).Build()}});
  if (!group.empty()) out.Set("apiVersion", "v1");  // Kubernetes' core group is older than this member
  return out;
}

Value AggregatedDiscovery(const Registry& registry, bool core, std::string_view version) {
  ArrayBuilder groups;
  for (const std::string& group : registry.Groups()) {
    if (group.empty() == core) groups.Add(AggregatedGroup(registry, group));
  }
  return Object({{"kind", "APIGroupDiscoveryList"},
                 {"apiVersion", StrCat("apidiscovery.k8s.io/", version)},
                 {"metadata", Object()},
                 {"items", std::move(groups).Build()}});
}

Value VersionInfo() {
#if defined(__aarch64__)
  constexpr std::string_view kPlatform = "linux/arm64";
#else
  constexpr std::string_view kPlatform = "linux/amd64";
#endif
  // The versions are those of the API that is served. Clients read the members; a release has no date of its own, so
  // that the same sources give the same bytes.
  return Object({{"major", "1"},
                 {"minor", "35"},
                 {"emulationMajor", "1"},
                 {"emulationMinor", "35"},
                 {"minCompatibilityMajor", "1"},
                 {"minCompatibilityMinor", "34"},
                 {"gitVersion", "v1.35.0+baton"},
                 {"gitCommit", ""},
                 {"gitTreeState", "clean"},
                 {"buildDate", "1970-01-01T00:00:00Z"},
                 {"goVersion", ""},
                 {"compiler", "clang"},
                 {"platform", kPlatform}});
}

}  // namespace baton::apiserver
