// One operation by name, its answer as JSON: for the command line and for tables of tests.
#pragma once

#include "base/result.h"
#include "interpret/interpreter.h"
#include "interpret/operation.h"
#include "json/value.h"

namespace baton::interpret {

struct InterpretQuestion {
  Operation operation = Operation::kHealth;
  json::Value object;    // the template for kReplica, kComponent, kRevise, kRetain (desired), kAggregate, kDependency;
                         // the member's object for kReflect and kHealth
  json::Value observed;  // kRetain: the member's object
  Items items;           // kAggregate
  int64_t replicas = 0;  // kRevise
};

// kReplica: {replicas, requirements}; kComponent: a list of {name, replicas, requirements}; kHealth: a boolean;
// kDependency: a list; all others: the object or status itself.
Result<json::Value> Answer(const Interpreter& interpreter, const InterpretQuestion& question);

}  // namespace baton::interpret
