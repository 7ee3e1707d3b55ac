// Answers as JSON.
#include "interpret/question.h"

#include <utility>

namespace baton::interpret {

using json::Value;

Result<Value> Answer(const Interpreter& interpreter, const InterpretQuestion& question) {
  switch (question.operation) {
    case Operation::kReplica: {
      Replicas replicas = TRY(interpreter.GetReplicas(question.object));
      Value answer = json::Object({{"replicas", replicas.count}});
      if (!replicas.requirements.is_null()) answer.Set("requirements", std::move(replicas.requirements));
      return answer;
    }
    case Operation::kComponent: {
      Value answer = json::Array();
      for (Component& component : TRY(interpreter.GetComponents(question.object))) {
        Value one = json::Object({{"name", component.name}, {"replicas", component.replicas}});
        if (!component.requirements.is_null()) one.Set("requirements", std::move(component.requirements));
        answer.Push(std::move(one));
      }
      return answer;
    }
    case Operation::kRevise:
      return interpreter.ReviseReplica(question.object, question.replicas);
    case Operation::kRetain:
      return interpreter.Retain(question.object, question.observed);
    case Operation::kReflect:
      return interpreter.ReflectStatus(question.object);
    case Operation::kAggregate:
      return interpreter.AggregateStatus(question.object, question.items);
    case Operation::kHealth:
      return Value(TRY(interpreter.InterpretHealth(question.object)));
    case Operation::kDependency: {
      Value answer = json::Array();
      for (Value& reference : TRY(interpreter.GetDependencies(question.object))) answer.Push(std::move(reference));
      return answer;
    }
  }
  return InternalError("unknown operation");
}

}  // namespace baton::interpret
