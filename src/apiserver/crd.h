// CustomResourceDefinitions: their rules, and the resource types they stand for. Pure; the controller that keeps the
// registry up to date is apiserver/crd_controller.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry.h"
#include "json/value.h"

namespace baton::apiserver {

inline constexpr std::string_view kCrdGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kCrdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// What is wrong with a CRD, in Kubernetes' words. `old` is null for a new one.
std::vector<api::FieldError> ValidateCrd(const json::Value& crd, const json::Value* old);

// The types of its served versions. CEL rules are counted: they are kept, told in a condition, and not evaluated.
struct CrdTypes {
  std::vector<ResourceTypePtr> types;
  size_t cel_rules = 0;
};
// `revision` is the newest that objects may have been stored at before this CRD was served.
CrdTypes TypesOfCrd(const json::Value& crd, int64_t revision = 0);

// Why the names of this CRD cannot be accepted beside what is served already; empty when they can.
struct NameConflict {
  std::string reason;   // "PluralConflict"
  std::string message;  // "\"foos\" is already in use"
};
std::vector<NameConflict> NameConflicts(const json::Value& crd, const Registry& registry);

// The CRD with status.acceptedNames, storedVersions and its conditions brought up to date.
json::Value WithCrdStatus(json::Value crd, const std::vector<NameConflict>& conflicts, size_t cel_rules,
                          std::string_view now);

}  // namespace baton::apiserver
