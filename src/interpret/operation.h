// The eight things an interpreter can tell about a kind of object, with Karmada's names for each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace baton::interpret {

enum class Operation : uint8_t {
  kReplica,     // how many replicas, and what one of them needs
  kComponent,   // the same per component, for kinds with several pod templates
  kRevise,      // the object with another number of replicas
  kRetain,      // what of the member's object must survive an update
  kReflect,     // the part of a member's status that travels to the hub
  kAggregate,   // the template with the members' statuses made one
  kHealth,      // whether the member's object is healthy
  kDependency,  // the objects that must travel with it
};
inline constexpr size_t kOperations = 8;

struct OperationNames {
  Operation operation;
  std::string_view name;          // in webhook rules and on the command line: "InterpretHealth"
  std::string_view block;         // in a ResourceInterpreterCustomization: "healthInterpretation"
  std::string_view lua_function;  // the global function that its script defines: "InterpretHealth"
};

inline constexpr std::array<OperationNames, kOperations> kOperationNames = {{
    {Operation::kReplica, "InterpretReplica", "replicaResource", "GetReplicas"},
    {Operation::kComponent, "InterpretComponent", "componentResource", "GetComponents"},
    {Operation::kRevise, "ReviseReplica", "replicaRevision", "ReviseReplica"},
    {Operation::kRetain, "Retain", "retention", "Retain"},
    {Operation::kReflect, "InterpretStatus", "statusReflection", "ReflectStatus"},
    {Operation::kAggregate, "AggregateStatus", "statusAggregation", "AggregateStatus"},
    {Operation::kHealth, "InterpretHealth", "healthInterpretation", "InterpretHealth"},
    {Operation::kDependency, "InterpretDependency", "dependencyInterpretation", "GetDependencies"},
}};

constexpr const OperationNames& Names(Operation operation) { return kOperationNames[static_cast<size_t>(operation)]; }

// By any of its three names.
constexpr std::optional<Operation> FindOperation(std::string_view text) {
  for (const OperationNames& names : kOperationNames) {
    if (text == names.name || text == names.block || text == names.lua_function) return names.operation;
  }
  return std::nullopt;
}

}  // namespace baton::interpret
