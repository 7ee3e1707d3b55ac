// Trimming eviction tasks.
#include "federation/evictions.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"

namespace baton::federation {
namespace {

constexpr std::string_view kOwnProducer = "baton";

// In every cluster that it has now, as seen after the last decision.
bool HealthyElsewhere(const json::Value& binding) {
  const json::Value& clusters = binding["spec"]["clusters"];
  if (clusters.empty()) return false;  // nowhere is not everywhere
  if (binding["status"]["schedulerObservedGeneration"].int_or(-1) != binding["metadata"]["generation"].int_or(0))
    return false;
  return std::ranges::all_of(clusters.items(), [&](const json::Value& cluster) {
    return std::ranges::any_of(binding["status"]["aggregatedStatus"].items(), [&](const json::Value& item) {
      return item["clusterName"] == cluster["name"] && item["health"].str() == "Healthy";
    });
  });
}

}  // namespace

EvictionDecision TrimTasks(const json::Value& binding, bool by_clock, WallTime now) {
  EvictionDecision decision{.tasks = json::Array(), .wait = {}};
  const bool healthy = HealthyElsewhere(binding);
  const bool elsewhere = !binding["spec"]["clusters"].empty();
  for (const json::Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
    if (task["producer"].str() == kOwnProducer) {
      decision.tasks.Push(task);
      continue;
    }
    json::Value kept = task;
    const Result<WallTime> since = json::ParseTime(task["creationTimestamp"].str());
    if (!since.ok()) kept.Set("creationTimestamp", json::FormatTime(now));
    if (task["suppressDeletion"].is_bool()) {
      if (task["suppressDeletion"].bool_or(true)) decision.tasks.Push(kept);
      continue;
    }
    if (healthy && since.ok()) continue;
    const json::Value& grace = task["gracePeriodSeconds"];
    const Duration allowed = grace.is_int() ? Duration(seconds(grace.int_or(0))) : kEvictionTimeout;
    const Duration left = (since.ok() ? *since : now) + allowed - now;
    if (by_clock && elsewhere && left <= Duration{}) continue;
    if (by_clock && elsewhere) decision.wait = std::min(decision.wait.value_or(left), left);
    decision.tasks.Push(kept);
  }
  return decision;
}

EvictionController::EvictionController(Hub& hub)
    : hub_(hub),
      controller_(hub.loop(), "evictions", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub.options().log}) {
  hub_.OnBinding([this](const json::Value&, const json::Value& now) {
    if (!now["spec"]["gracefulEvictionTasks"].empty()) controller_.Add(kube::Name::Of(now).Key());
  });
}

rt::Task<kube::Outcome> EvictionController::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null() || kube::IsDeleting(binding)) co_return kube::Outcome::Done();
  const json::Value& object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
  const bool one_writer = hub_.gate() != nullptr && (object.is_null() || hub_.gate()->Manages(object));
  const EvictionDecision decision = TrimTasks(binding, !one_writer, hub_.loop().WallNow());
  if (decision.tasks != binding["spec"]["gracefulEvictionTasks"]) {
    json::Value next = binding;
    if (decision.tasks.empty()) {
      next.Edit("spec").Erase("gracefulEvictionTasks");
    } else {
      next.Edit("spec").Set("gracefulEvictionTasks", decision.tasks);
    }
    const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), next);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(BindingResource(key), *written);
  }
  if (decision.wait) co_return kube::Outcome::WaitFor(*decision.wait + milliseconds(1));
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
