// The eight operations as a script answers them: arguments in, results checked and made JSON again, as Karmada does.
#pragma once

#include <memory>
#include <vector>

#include "interpret/handlers.h"
#include "interpret/lua_vm.h"

namespace baton::interpret {

// Handlers with this one operation, answered by the script. Several scripts may answer kDependency: what they name is
// joined. The pool must outlive the handlers.
void AddScript(Handlers& handlers, Operation operation, std::vector<std::shared_ptr<const LuaScript>> scripts,
               LuaPool& pool);

// Each has apiVersion, kind, and a name or a valid labelSelector.
Result<void> CheckDependencies(const std::vector<json::Value>& references);

// Each once, sorted by apiVersion, kind, namespace, name.
std::vector<json::Value> SortedDependencies(std::vector<json::Value> references);

// A ReplicaRequirements with canonical quantities. Error: not an object, a quantity that is none.
Result<json::Value> CheckRequirements(json::Value requirements);

}  // namespace baton::interpret
