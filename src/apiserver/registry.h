// Registry: the resource types that the server serves now. Built-in ones are there from the start; those of
// CustomResourceDefinitions come and go.
//
// One loop. A ResourceTypePtr that somebody holds stays what it was, also when its CRD changes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource_type.h"

namespace baton::apiserver {

using api::ResourceType;
using api::ResourceTypePtr;

// Kubernetes' order of versions: GA before beta before alpha, higher numbers first; other words last, by name.
bool VersionPrecedes(std::string_view a, std::string_view b);

class Registry {
 public:
  Registry();                                                    // with api::BuiltinTypes()
  explicit Registry(std::span<const ResourceTypePtr> built_in);  // with these instead

  // Null when it is not served.
  ResourceTypePtr Find(std::string_view group, std::string_view version, std::string_view plural) const;
  ResourceTypePtr FindKind(std::string_view group, std::string_view version, std::string_view kind) const;
  // Of any version: the first of its group's preference order.
  ResourceTypePtr FindResource(std::string_view group, std::string_view plural) const;

  bool HasGroup(std::string_view group) const;
  bool HasGroupVersion(std::string_view group, std::string_view version) const;

  // Groups in Kubernetes' order (core first, its own ones by their priority, then others by name); versions of a group,
  // preferred first (v2 before v1 before v1beta1 before v1alpha1).
  std::vector<std::string> Groups() const;
  std::vector<std::string> Versions(std::string_view group) const;
  // Types of one group and version, by plural.
  std::vector<ResourceTypePtr> Types(std::string_view group, std::string_view version) const;
  std::vector<ResourceTypePtr> AllTypes() const;
  // One type for each stored resource: what the garbage collector and namespace deletion walk over.
  std::vector<ResourceTypePtr> StoredResources() const;

  // The served versions of one CustomResourceDefinition; empty takes it away. A built-in type is never replaced: a
  // custom one of the same group, version and plural is not served.
  void SetCustom(const std::string& crd_name, std::vector<ResourceTypePtr> types);

  // Grows with every change: what discovery and OpenAPI are cached by.
  uint64_t generation() const { return generation_; }

 private:
  void Rebuild();

  std::vector<ResourceTypePtr> built_in_;
  std::map<std::string, std::vector<ResourceTypePtr>, std::less<>> custom_;  // by CRD
  struct VersionOrder {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return VersionPrecedes(a, b); }
  };
  using ByPlural = std::map<std::string, ResourceTypePtr, std::less<>>;
  using ByVersion = std::map<std::string, ByPlural, VersionOrder>;  // preferred first
  std::map<std::string, ByVersion, std::less<>> types_;             // by group
  uint64_t generation_ = 0;
};

}  // namespace baton::apiserver
