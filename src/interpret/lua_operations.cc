// Scripts as handlers.
#include "interpret/lua_operations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/strings.h"
#include "interpret/empty_tables.h"
#include "interpret/fields.h"
#include "json/quantity.h"
#include "json/selector.h"

namespace baton::interpret {

namespace {

using json::Value;
using Script = std::shared_ptr<const LuaScript>;

Error WrongResult(const LuaScript& script, std::string_view what, std::string_view wanted, const LuaResult& result) {
  return InvalidError(StrCat(script.name(), ": ", what, ": expected ", wanted, ", got ", result.type_name));
}

Result<std::vector<LuaResult>> Run(LuaPool& pool, const LuaScript& script, Operation operation,
                                   std::span<const Value> arguments, size_t count) {
  return TRY(pool.Call(script, Names(operation).lua_function, arguments, count)).results;
}

// The result as an object; its empty tables by the references.
Result<Value> RunForObject(LuaPool& pool, const LuaScript& script, Operation operation,
                           std::span<const Value> arguments, std::span<const Value> references) {
  const std::vector<LuaResult> results = TRY(Run(pool, script, operation, arguments, 1));
  if (results[0].kind != LuaResult::Kind::kTable) return WrongResult(script, "the result", "a table", results[0]);
  Value object = WithEmptyTables(results[0].value, references, true);
  if (!object.is_object()) return InvalidError(StrCat(script.name(), ": the result: expected an object, got a list"));
  return object;
}

// Replica counts are int32 in the API; fractions are cut off, as Karmada does.
Result<int64_t> ReplicaCount(const LuaScript& script, const Value& number) {
  const double count = std::trunc(number.number_or(0));
  if (!(count >= INT32_MIN && count <= INT32_MAX))
    return InvalidError(StrCat(script.name(), ": a replica count outside the range of int32"));
  return static_cast<int64_t>(count);
}

Result<Replicas> RunReplicas(LuaPool& pool, const LuaScript& script, const Value& object) {
  const std::array<Value, 1> arguments = {object};
  const std::vector<LuaResult> results = TRY(Run(pool, script, Operation::kReplica, arguments, 2));
  if (results[0].kind != LuaResult::Kind::kNumber)
    return WrongResult(script, "the replica count", "a number", results[0]);
  Replicas replicas{TRY(ReplicaCount(script, results[0].value)), Value()};
  if (results[1].kind == LuaResult::Kind::kTable) {
    replicas.requirements = TRY(CheckRequirements(WithEmptyTables(results[1].value, {}, true)).Context(script.name()));
  } else if (results[1].kind != LuaResult::Kind::kNil) {
    return WrongResult(script, "the requirements", "a table or nil", results[1]);
  }
  return replicas;
}

// A list; nil only where Karmada allows it.
Result<Value> RunForList(LuaPool& pool, const LuaScript& script, Operation operation, const Value& object,
                         bool nil_too) {
  const std::array<Value, 1> arguments = {object};
  const std::vector<LuaResult> results = TRY(Run(pool, script, operation, arguments, 1));
  if (nil_too && results[0].kind == LuaResult::Kind::kNil) return json::Array();
  if (results[0].kind != LuaResult::Kind::kTable)
    return WrongResult(script, "the result", nil_too ? "a table or nil" : "a table", results[0]);
  Value list = WithEmptyTables(results[0].value, {}, false);
  if (!list.is_array()) return InvalidError(StrCat(script.name(), ": the result: expected a list, got an object"));
  for (const Value& item : list.items()) {
    if (!item.is_object()) return InvalidError(StrCat(script.name(), ": the result: expected a list of objects"));
  }
  return list;
}

Result<std::vector<Component>> RunComponents(LuaPool& pool, const LuaScript& script, const Value& object) {
  std::vector<Component> components;
  const Value list = TRY(RunForList(pool, script, Operation::kComponent, object, true));
  for (const Value& item : list.items()) {
    const Value& replicas = item["replicas"];
    if (!replicas.is_number() && !replicas.is_null())
      return InvalidError(
          StrCat(script.name(), ": replicas: expected a number, got ", json::KindName(replicas.kind())));
    Component component{std::string(TRY(StringAt(item, {"name"}).Context(script.name()))),
                        TRY(ReplicaCount(script, replicas)), Value()};
    if (!item["replicaRequirements"].is_null())
      component.requirements = TRY(CheckRequirements(item["replicaRequirements"]).Context(script.name()));
    components.push_back(std::move(component));
  }
  return components;
}

Result<std::vector<Value>> RunDependencies(LuaPool& pool, std::span<const Script> scripts, const Value& object) {
  std::vector<Value> all;
  for (const Script& script : scripts) {
    const Value list = TRY(RunForList(pool, *script, Operation::kDependency, object, false));
    std::vector<Value> references(list.items().begin(), list.items().end());
    TRY(CheckDependencies(references).Context(script->name()));
    all.insert(all.end(), references.begin(), references.end());
  }
  return all;
}

Result<bool> RunHealth(LuaPool& pool, const LuaScript& script, const Value& object) {
  const std::array<Value, 1> arguments = {object};
  const std::vector<LuaResult> results = TRY(Run(pool, script, Operation::kHealth, arguments, 1));
  if (results[0].kind != LuaResult::Kind::kBool) return WrongResult(script, "the result", "a boolean", results[0]);
  return results[0].value.bool_or(false);
}

}  // namespace

void AddScript(Handlers& handlers, Operation operation, std::vector<Script> scripts, LuaPool& pool) {
  const Script script = scripts.front();
  LuaPool* vms = &pool;
  switch (operation) {
    case Operation::kReplica:
      handlers.replicas = [=](const Value& object) { return RunReplicas(*vms, *script, object); };
      return;
    case Operation::kComponent:
      handlers.components = [=](const Value& object) { return RunComponents(*vms, *script, object); };
      return;
    case Operation::kRevise:
      handlers.revise = [=](Value object, int64_t replicas) {
        const std::array<Value, 2> arguments = {object, Value(replicas)};
        return RunForObject(*vms, *script, operation, arguments, std::span(arguments).first(1));
      };
      return;
    case Operation::kRetain:
      handlers.retain = [=](Value desired, const Value& observed) {
        const std::array<Value, 2> arguments = {desired, observed};
        return RunForObject(*vms, *script, operation, arguments, arguments);
      };
      return;
    case Operation::kReflect:
      handlers.reflect = [=](const Value& object) {
        const std::array<Value, 1> arguments = {object};
        return RunForObject(*vms, *script, operation, arguments, {});
      };
      return;
    case Operation::kAggregate:
      handlers.aggregate = [=](Value object, const Items& items, WallTime /*now*/) {
        const std::array<Value, 2> arguments = {object, items.empty() ? Value() : items};
        return RunForObject(*vms, *script, operation, arguments, {});
      };
      return;
    case Operation::kHealth:
      handlers.health = [=](const Value& object) { return RunHealth(*vms, *script, object); };
      return;
    case Operation::kDependency:
      handlers.dependencies = [=, all = std::move(scripts)](const Value& object) {
        return RunDependencies(*vms, all, object);
      };
      return;
  }
}

Result<void> CheckDependencies(const std::vector<Value>& references) {
  for (size_t i = 0; i < references.size(); ++i) {
    const Value& reference = references[i];
    const std::string where = StrCat("dependencies[", i, "]");
    if (TRY(StringAt(reference, {"apiVersion"}).Context(where)).empty())
      return InvalidError(StrCat(where, ".apiVersion: missing required apiVersion"));
    if (TRY(StringAt(reference, {"kind"}).Context(where)).empty())
      return InvalidError(StrCat(where, ".kind: missing required kind"));
    TRY(StringAt(reference, {"namespace"}).Context(where));
    const Value& selector = reference["labelSelector"];
    if (TRY(StringAt(reference, {"name"}).Context(where)).empty() && selector.is_null())
      return InvalidError(StrCat(where, ": dependency can not leave name and labelSelector all empty"));
    if (!selector.is_null()) {
      const Result<json::LabelSelector> parsed = json::LabelSelector::FromObject(selector);
      if (!parsed.ok()) return parsed.error().Context(StrCat(where, ".labelSelector"));
    }
  }
  return {};
}

std::vector<Value> SortedDependencies(std::vector<Value> references) {
  const auto key = [](const Value& reference) {
    return std::tuple(reference["apiVersion"].str(), reference["kind"].str(), reference["namespace"].str(),
                      reference["name"].str());
  };
  std::ranges::sort(references, [&](const Value& a, const Value& b) {
    if (key(a) != key(b)) return key(a) < key(b);
    return Value::Compare(a["labelSelector"], b["labelSelector"]) < 0;
  });
  const auto same = std::ranges::unique(references);
  references.erase(same.begin(), same.end());
  return references;
}

Result<Value> CheckRequirements(Value requirements) {
  if (!requirements.is_object()) {
    if (requirements.is_array() && requirements.empty()) return json::Object();
    return InvalidError("replicaRequirements: expected an object");
  }
  const Value& request = requirements["resourceRequest"];
  if (request.is_null()) return requirements;
  if (!request.is_object()) return InvalidError("resourceRequest: expected an object");
  Value canonical = json::Object();
  for (const json::Member& member : request.members()) {
    const json::Quantity quantity =
        TRY(json::Quantity::FromJson(member.value()).Context(StrCat("resourceRequest.", member.key())));
    canonical.Set(member.key(), quantity.ToJson());
  }
  requirements.Set("resourceRequest", std::move(canonical));
  return requirements;
}

}  // namespace baton::interpret
