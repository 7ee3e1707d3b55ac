// PodDisruptionBudget and HorizontalPodAutoscaler.
#include <array>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/status.h"

namespace baton::interpret {

namespace {

using json::Value;

constexpr std::array<std::string_view, 4> kBudgetCounts = {"currentHealthy", "desiredHealthy", "disruptionsAllowed",
                                                           "expectedPods"};

Result<Value> ReflectBudget(const Value& object) {
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  Value reflected = json::Object();
  for (const std::string_view count : kBudgetCounts) reflected.Set(count, TRY(CountAt(status, {count})));
  if (!status["disruptedPods"].empty()) reflected.Set("disruptedPods", status["disruptedPods"]);
  return reflected;
}

Result<Value> AggregateBudget(Value object, const Items& items, WallTime /*now*/) {
  Value status = json::Object();
  Value disrupted = json::Object();
  const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
  for (const std::string_view count : kBudgetCounts) {
    int64_t sum = 0;
    for (const MemberStatus& member : members) {
      if (member.status != nullptr) sum = SaturatingAdd(sum, TRY(CountAt(*member.status, {count})));
    }
    status.Set(count, sum);
  }
  for (const MemberStatus& member : members) {
    if (member.status == nullptr) continue;
    for (const json::Member& pod : (*member.status)["disruptedPods"].members())
      disrupted.Set(StrCat(member.cluster, "/", pod.key()), pod.value());
  }
  if (!disrupted.empty()) status.Set("disruptedPods", std::move(disrupted));
  object.Set("status", std::move(status));
  return object;
}

Result<bool> IsBudgetHealthy(const Value& object) {
  return TRY(CountAt(object, {"status", "currentHealthy"})) >= TRY(CountAt(object, {"status", "desiredHealthy"}));
}

Result<Value> ReflectAutoscaler(const Value& object) {
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  Value reflected = json::Object({{"desiredReplicas", TRY(CountAt(status, {"desiredReplicas"}))}});
  SetOrErase(reflected, "currentReplicas", TRY(CountAt(status, {"currentReplicas"})));
  return reflected;
}

Result<Value> AggregateAutoscaler(Value object, const Items& items, WallTime /*now*/) {
  constexpr std::array<CountField, 2> kCounts = {{{"desiredReplicas", true}, {"currentReplicas"}}};
  object.Erase("status");
  return SumStatuses(std::move(object), items, kCounts, false);
}

}  // namespace

void AddNativePolicy(HandlerTable& table) {
  Handlers budget;
  budget.reflect = ReflectBudget;
  budget.aggregate = AggregateBudget;
  budget.health = IsBudgetHealthy;
  table[{"policy/v1", "PodDisruptionBudget"}] = std::move(budget);

  Handlers autoscaler;
  autoscaler.reflect = ReflectAutoscaler;
  autoscaler.aggregate = AggregateAutoscaler;
  table[{"autoscaling/v2", "HorizontalPodAutoscaler"}] = std::move(autoscaler);
}

}  // namespace baton::interpret
