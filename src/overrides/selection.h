// Which objects a policy means: its resourceSelectors, in Karmada's reading.
//
// A selector has an apiVersion and a kind, perhaps a namespace, and then a name, or else a labelSelector, or neither.
// How closely a policy matches is the best of its selectors and decides between policies: by name beats by label beats
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/selector.h"
#include "json/value.h"

namespace baton::overrides {

enum class MatchLevel : uint8_t { kNone = 0, kAll = 1, kLabel = 2, kName = 3 };

std::string_view MatchLevelName(MatchLevel level);  // "none", "all", "labelSelector", "name"

// What selectors look at, taken from an object once.
struct ObjectRef {
  std::string_view api_version;
  std::string_view kind;
  std::string_view object_namespace;  // "" for cluster-scoped objects
  std::string_view name;
  const json::Value* labels;  // never null; anything but an object has no labels

  // Views into `object`, which must outlive this.
  static ObjectRef Of(const json::Value& object);
};

struct ResourceSelector {
  std::string api_version;
  std::string kind;
  std::string object_namespace;                    // "": any
  std::string name;                                // when set, the labels do not count
  std::optional<json::LabelSelector> labels = {};  // {} matches everything, but as a label selector

  static Result<ResourceSelector> Compile(const json::Value& selector);
  MatchLevel Match(const ObjectRef& object) const;
};

// The best level of all; kNone when there are none.
MatchLevel MatchAny(std::span<const ResourceSelector> selectors, const ObjectRef& object);

// The list at spec.resourceSelectors.
Result<std::vector<ResourceSelector>> CompileSelectors(const json::Value& spec);

}  // namespace baton::overrides
