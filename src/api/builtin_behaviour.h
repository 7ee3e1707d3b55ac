// What is particular about built-in kinds: defaults, rules between fields, columns. Pure functions on JSON values, one
// file per group of kinds (builtin_workloads.cc, builtin_core.cc, ...); BuiltinTypes() hangs them into its types.
//
// Everything here is held against a real kube-apiserver by golden files (tests/golden/builtin.json: object in, object
// as stored, table row, or the field errors).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource_type.h"

namespace baton::api {

// The parts of a ResourceType that are code. A null function: nothing particular.
struct BuiltinBehaviour {
  std::vector<Column> columns;
  std::vector<json::Value> (*cells)(const json::Value& object, WallTime now) = nullptr;
  void (*default_fields)(json::Value& object) = nullptr;
  void (*prepare)(json::Value& object, const json::Value* old) = nullptr;
  std::vector<FieldError> (*validate)(const json::Value& object, const json::Value* old) = nullptr;
  std::vector<std::string> selectable_fields;
};

// Of a kind ("apps", "Deployment"; "" is core). A kind that is not known here has none.
BuiltinBehaviour BehaviourOf(std::string_view group, std::string_view kind);

// "5m", "3d4h", "2y10d": how long ago, as kubectl's AGE column says it.
std::string HumanAge(WallTime then, WallTime now);

}  // namespace baton::api
