// The tables' interpreter.
#include "interpret/thirdparty.h"

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/fold.h"
#include "interpret/native.h"
#include "interpret/pod.h"
#include "interpret/status.h"

namespace baton::interpret {

using json::Value;

namespace {

using KindPointer = std::shared_ptr<const ThirdPartyKind>;

Result<Replicas> TableReplicas(const ThirdPartyKind& kind, const Value& object) {
  const std::vector<std::string_view> path = Split(kind.replicas, '.');
  const std::optional<int64_t> count = TRY(IntAt(object, path));
  if (!count && !kind.default_replicas) return InvalidError(StrCat(kind.replicas, ": must be given"));
  Replicas replicas{count ? *count : *kind.default_replicas, Value()};
  if (!kind.pods.empty()) replicas.requirements = TRY(PodRequirements(AtDotted(object, kind.pods.front())));
  return replicas;
}

Result<Value> TableRetain(const ThirdPartyKind& kind, Value desired, const Value& observed) {
  for (const std::string_view path : kind.retain) {
    const Value& value = AtDotted(observed, path);
    if (!value.is_null()) TRY(SetAt(desired, Split(path, '.'), value));
  }
  return desired;
}

Result<Value> TableReflect(const ThirdPartyKind& kind, const Value& object) {
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  Value reflected = json::Object();
  for (const std::string_view field : kind.reflect) {
    if (!status[field].is_null()) reflected.Set(field, status[field]);
  }
  if (kind.generations) TRY(AddGenerations(object, reflected));
  return reflected;
}

Result<Value> TableAggregate(const ThirdPartyKind& kind, Value object, const Items& items) {
  const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
  if (kind.single_as_is && members.size() == 1) {
    if (members[0].status != nullptr) object.Set("status", *members[0].status);
    return object;
  }
  Value status = TRY(StatusOf(object));
  if (status.is_null()) status = json::Object();
  for (const FieldFold& field : kind.aggregate) {
    Value folded = TRY(FoldField(field, members));
    if (folded.is_null()) {
      status.Erase(field.name);
    } else {
      status.Set(field.name, std::move(folded));
    }
  }
  if (kind.generations && TRY(AllObserved(object, items)))
    SetOrErase(status, "observedGeneration", TRY(CountAt(object, {"metadata", "generation"})));
  object.Set("status", std::move(status));
  return object;
}

Result<std::vector<Value>> TableDependencies(const ThirdPartyKind& kind, const Value& object) {
  std::vector<Value> all;
  for (const std::string_view path : kind.pods) {
    std::vector<Value> own = PodDependencies(AtDotted(object, path), At(object, {"metadata", "namespace"}).str());
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace

Handlers MakeHandlers(const ThirdPartyKind& description) {
  const KindPointer kind = std::make_shared<const ThirdPartyKind>(description);
  Handlers handlers;
  if (!kind->replicas.empty()) {
    handlers.replicas = [kind](const Value& object) { return TableReplicas(*kind, object); };
  }
  if (kind->revise) {
    handlers.revise = [kind](Value object, int64_t replicas) -> Result<Value> {
      TRY(SetAt(object, Split(kind->replicas, '.'), replicas));
      return object;
    };
  }
  if (!kind->retain.empty()) {
    handlers.retain = [kind](Value desired, const Value& observed) {
      return TableRetain(*kind, std::move(desired), observed);
    };
  }
  if (!kind->reflect.empty()) {
    handlers.reflect = [kind](const Value& object) { return TableReflect(*kind, object); };
  }
  if (!kind->aggregate.empty()) {
    handlers.aggregate = [kind](Value object, const Items& items, WallTime /*now*/) {
      return TableAggregate(*kind, std::move(object), items);
    };
  }
  handlers.health = kind->health;
  if (!kind->pods.empty()) {
    handlers.dependencies = [kind](const Value& object) { return TableDependencies(*kind, object); };
  }
  return handlers;
}

const Value& AtDotted(const Value& object, std::string_view path) { return At(object, Split(path, '.')); }

Result<Component> PodComponent(std::string_view name, const Value& replicas, int64_t fallback,
                               const Value& pod_template) {
  if (!replicas.is_int() && !replicas.is_null())
    return InvalidError(StrCat("replicas of ", Quote(name), ": expected an integer"));
  return Component{std::string(name), replicas.int_or(fallback), TRY(PodRequirements(pod_template).Context(name))};
}

Result<bool> IsRolledOutWorkload(const Value& observed) {
  if (!observed["status"].is_object()) return false;
  const std::optional<int64_t> replicas = TRY(IntAt(observed, {"spec", "replicas"}));
  const int64_t updated = TRY(CountAt(observed, {"status", "updatedReplicas"}));
  return TRY(CountAt(observed, {"status", "observedGeneration"})) ==
             TRY(CountAt(observed, {"metadata", "generation"})) &&
         (!replicas || updated >= *replicas) && TRY(CountAt(observed, {"status", "availableReplicas"})) >= updated;
}

Result<bool> HasNoFailedCondition(const Value& observed) {
  const Value& conditions = At(observed, {"status", "conditions"});
  return !conditions.empty() && !IsConditionTrue(conditions, "Failed");
}

std::function<Result<bool>(const Value&)> IsReadyFor(std::vector<std::string_view> reasons) {
  return [reasons = std::move(reasons)](const Value& observed) -> Result<bool> {
    const Value& ready = ConditionOf(At(observed, {"status", "conditions"}), "Ready");
    return ready["status"].str() == "True" &&
           (reasons.empty() || std::ranges::find(reasons, ready["reason"].str()) != reasons.end());
  };
}

const HandlerTable& ThirdPartyHandlers() {
  static const HandlerTable kTable = [] {
    HandlerTable table;
    AddKruise(table);
    AddFlux(table);
    AddJobs(table);
    AddRay(table);
    AddSpark(table);
    AddFlink(table);
    return table;
  }();
  return kTable;
}

}  // namespace baton::interpret
