// Kubernetes' own kinds: the table, and what several of them share.
#include "interpret/native.h"

#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/status.h"

namespace baton::interpret {

using json::Value;

bool Handlers::Has(Operation operation) const {
  switch (operation) {
    case Operation::kReplica:
      return replicas != nullptr;
    case Operation::kComponent:
      return components != nullptr;
    case Operation::kRevise:
      return revise != nullptr;
    case Operation::kRetain:
      return retain != nullptr;
    case Operation::kReflect:
      return reflect != nullptr;
    case Operation::kAggregate:
      return aggregate != nullptr;
    case Operation::kHealth:
      return health != nullptr;
    case Operation::kDependency:
      return dependencies != nullptr;
  }
  return false;
}

const HandlerTable& NativeHandlers() {
  static const HandlerTable kTable = [] {
    HandlerTable table;
    AddNativeWorkloads(table);
    AddNativeBatch(table);
    AddNativePods(table);
    AddNativeServices(table);
    AddNativeStorage(table);
    AddNativePolicy(table);
    return table;
  }();
  return kTable;
}

Result<Value> ReviseSpecField(Value object, std::string_view field, int64_t replicas) {
  if (!TRY(IntAt(object, {"spec", field})).has_value()) return object;
  object.Edit("spec").Set(field, replicas);
  return object;
}

Result<Value> ReflectWhole(const Value& object) { return StatusOf(object); }

Result<std::vector<Value>> TemplateDependencies(const Value& object) {
  return PodDependencies(At(object, {"spec", "template"}), At(object, {"metadata", "namespace"}).str());
}

}  // namespace baton::interpret
