// The registry: a map by group, version and plural, made anew with every change.
#include "apiserver/registry.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "api/builtin_types.h"

namespace baton::apiserver {
namespace {

// Kubernetes' own groups by their priority, as kube-apiserver 1.35 lists them.
constexpr std::array<std::string_view, 23> kGroupOrder = {"",
                                                          "apiregistration.k8s.io",
                                                          "apps",
                                                          "events.k8s.io",
                                                          "authentication.k8s.io",
                                                          "authorization.k8s.io",
                                                          "autoscaling",
                                                          "batch",
                                                          "certificates.k8s.io",
                                                          "networking.k8s.io",
                                                          "policy",
                                                          "rbac.authorization.k8s.io",
                                                          "storage.k8s.io",
                                                          "admissionregistration.k8s.io",
                                                          "apiextensions.k8s.io",
                                                          "scheduling.k8s.io",
                                                          "coordination.k8s.io",
                                                          "node.k8s.io",
                                                          "discovery.k8s.io",
                                                          "resource.k8s.io",
                                                          "flowcontrol.apiserver.k8s.io",
                                                          "internal.apiserver.k8s.io",
                                                          "storagemigration.k8s.io"};

// What a version says of itself: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else.
struct Rank {
  int stability = 0;  // 3 GA, 2 beta, 1 alpha, 0 not of the form
  std::string_view major;
  std::string_view minor;
};

// The digits at the front of `text`, taken off it; none when they begin with 0 (Kubernetes has no v0 and no v01).
std::string_view TakeNumber(std::string_view& text) {
  if (text.starts_with('0')) return {};
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

Rank RankOf(std::string_view version) {
  if (!version.starts_with('v')) return {};
  version.remove_prefix(1);
  const std::string_view major = TakeNumber(version);
  if (major.empty()) return {};
  if (version.empty()) return {.stability = 3, .major = major, .minor = {}};
  int stability = 0;
  if (version.starts_with("beta")) {
    stability = 2;
    version.remove_prefix(4);
  } else if (version.starts_with("alpha")) {
    stability = 1;
    version.remove_prefix(5);
  }
  const std::string_view minor = TakeNumber(version);
  if (stability == 0 || minor.empty() || !version.empty()) return {};
  return {.stability = stability, .major = major, .minor = minor};
}

// Numbers of any length without leading zeros.
bool GreaterNumber(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

}  // namespace

bool VersionPrecedes(std::string_view a, std::string_view b) {
  const Rank left = RankOf(a);
  const Rank right = RankOf(b);
  if (left.stability != right.stability) return left.stability > right.stability;
  if (left.stability == 0) return a < b;
  if (left.major != right.major) return GreaterNumber(left.major, right.major);
  return GreaterNumber(left.minor, right.minor);
}

Registry::Registry() : Registry(api::BuiltinTypes()) {}

Registry::Registry(std::span<const ResourceTypePtr> built_in) : built_in_(built_in.begin(), built_in.end()) {
  Rebuild();
}

ResourceTypePtr Registry::Find(std::string_view group, std::string_view version, std::string_view plural) const {
  const auto of_group = types_.find(group);
  if (of_group == types_.end()) return nullptr;
  const auto of_version = of_group->second.find(version);
  if (of_version == of_group->second.end()) return nullptr;
  const auto found = of_version->second.find(plural);
  return found == of_version->second.end() ? nullptr : found->second;
}

ResourceTypePtr Registry::FindKind(std::string_view group, std::string_view version, std::string_view kind) const {
  const auto of_group = types_.find(group);
  if (of_group == types_.end()) return nullptr;
  const auto of_version = of_group->second.find(version);
  if (of_version == of_group->second.end()) return nullptr;
  for (const auto& [plural, type] : of_version->second) {
    if (type->kind == kind) return type;
  }
  return nullptr;
}

ResourceTypePtr Registry::FindResource(std::string_view group, std::string_view plural) const {
  const auto of_group = types_.find(group);
  if (of_group == types_.end()) return nullptr;
  for (const auto& [version, types] : of_group->second) {
    if (const auto found = types.find(plural); found != types.end()) return found->second;
  }
  return nullptr;
}

bool Registry::HasGroup(std::string_view group) const { return types_.contains(group); }

bool Registry::HasGroupVersion(std::string_view group, std::string_view version) const {
  const auto of_group = types_.find(group);
  return of_group != types_.end() && of_group->second.contains(version);
}

std::vector<std::string> Registry::Groups() const {
  std::vector<std::string> groups;
  groups.reserve(types_.size());
  for (const std::string_view known : kGroupOrder) {
    if (types_.contains(known)) groups.emplace_back(known);
  }
  for (const auto& [group, versions] : types_) {
    if (std::ranges::find(kGroupOrder, group) == kGroupOrder.end()) groups.push_back(group);
  }
  return groups;
}

std::vector<std::string> Registry::Versions(std::string_view group) const {
  std::vector<std::string> versions;
  if (const auto of_group = types_.find(group); of_group != types_.end()) {
    for (const auto& [version, types] : of_group->second) versions.push_back(version);
  }
  return versions;
}

std::vector<ResourceTypePtr> Registry::Types(std::string_view group, std::string_view version) const {
  std::vector<ResourceTypePtr> types;
  const auto of_group = types_.find(group);
  if (of_group == types_.end()) return types;
  const auto of_version = of_group->second.find(version);
  if (of_version == of_group->second.end()) return types;
  for (const auto& [plural, type] : of_version->second) types.push_back(type);
  return types;
}

std::vector<ResourceTypePtr> Registry::AllTypes() const {
  std::vector<ResourceTypePtr> all;
  for (const std::string& group : Groups()) {
    for (const auto& [version, types] : types_.find(group)->second) {
      for (const auto& [plural, type] : types) all.push_back(type);
    }
  }
  return all;
}

std::vector<ResourceTypePtr> Registry::StoredResources() const {
  std::vector<ResourceTypePtr> stored;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const std::vector<ResourceTypePtr> all = AllTypes();
  for (const ResourceTypePtr& type : all) {
    if (!type->stored || type->storage_group) continue;  // kept by another group
    if (seen.emplace(type->group, type->plural).second) stored.push_back(type);
  }
  return stored;
}

void Registry::SetCustom(const std::string& crd_name, std::vector<ResourceTypePtr> types) {
  if (types.empty()) {
    if (custom_.erase(crd_name) == 0) return;
  } else {
    custom_.insert_or_assign(crd_name, std::move(types));
  }
  Rebuild();
}

void Registry::Rebuild() {
  types_.clear();
  const auto add = [this](const ResourceTypePtr& type) {
    types_[type->group][type->version].emplace(type->plural, type);  // the first one stays
  };
  for (const ResourceTypePtr& type : built_in_) add(type);
  for (const auto& [name, types] : custom_) {
    for (const ResourceTypePtr& type : types) add(type);
  }
  ++generation_;
}

}  // namespace baton::apiserver
