// Shared by the built-in interpreters: reading member statuses, reflecting fields, summing counts.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interpret/handlers.h"
#include "json/value.h"

namespace baton::interpret {

// The annotation on a member's object that says which generation of the template it was made from.
inline constexpr std::string_view kTemplateGenerationAnnotation = "resourcetemplate.karmada.io/generation";
inline constexpr std::string_view kRetainReplicasLabel = "resourcetemplate.karmada.io/retain-replicas";

struct MemberStatus {
  std::string_view cluster;
  const json::Value* status = nullptr;  // null pointer: that cluster has reported none
};

// One for each item. They live as long as `items`. Error: items that are no list of objects, a status that is no
// object.
Result<std::vector<MemberStatus>> MemberStatuses(const Items& items);

// The object's status: null when absent. Error: it is there and no object.
Result<json::Value> StatusOf(const json::Value& object);

// Adds metadata.generation as `generation` and the annotation above as `resourceTemplateGeneration`, each unless 0.
// Error: an annotation that is no number.
Result<void> AddGenerations(const json::Value& object, json::Value& status);

// The named fields of the status, with those that are zero or absent left out; null when there is no status.
Result<json::Value> ReflectFields(const json::Value& object, std::span<const std::string_view> fields);

// A count in a status, and whether Kubernetes writes it when it is zero.
struct CountField {
  std::string_view name;
  bool always = false;
};

// Sums the fields over all members into the object's status; its other fields stay. With `generations`,
// observedGeneration becomes the template's when every member has seen it, and otherwise stays.
Result<json::Value> SumStatuses(json::Value object, const Items& items, std::span<const CountField> fields,
                                bool generations);

// True when every item's member has acted on the object's generation. No items: true.
Result<bool> AllObserved(const json::Value& object, const Items& items);

}  // namespace baton::interpret
