// Binding status and template status.
#include "federation/aggregate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"
#include "federation/execute.h"
#include "federation/resources.h"
#include "json/builder.h"

namespace baton::federation {

AggregateController::AggregateController(Hub& hub, ScheduleController& schedule, RenderController& render,
                                         const ExecuteController& execute)
    : hub_(hub),
      schedule_(schedule),
      render_(render),
      execute_(execute),
      controller_(hub.loop(), "aggregate", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 8, .log = hub.options().log}) {
  hub_.works().OnChange([this](const json::Value& before, const json::Value& now) {
    const std::string key = BindingOfWork(now.is_null() ? before : now);
    if (!key.empty() && (before.is_null() || now.is_null() || before["status"] != now["status"])) controller_.Add(key);
  });
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) {
    if (before.is_null() || now.is_null()) return;
    const std::string_view was = FindCondition(before["status"], "Ready")["status"].str();
    if (was.empty() || was == FindCondition(now["status"], "Ready")["status"].str()) return;
    for (const std::string& key : hub_.BindingsIn(kube::NameOf(now))) controller_.Add(key, kube::Priority::kResync);
  });
  schedule_.OnDecision([this](const std::string& key) { controller_.Add(key); });
  render_.OnTrouble([this](const std::string& key) { controller_.Add(key); });
  hub_.OnTemplate([this](const json::Value& before, const json::Value& now) {
    // A user's edit may have taken the status away.
    if (before.is_null() || now.is_null() || before["status"] == now["status"]) return;
    const std::string key = TemplateKey::Of(now).BindingKey();
    const auto told = told_.find(key);
    if (told == told_.end() || told->second != now["status"]) controller_.AddAfter(key, kPutRight);
  });
}

rt::Task<Result<void>> AggregateController::WriteTemplateStatus(const json::Value& binding, const json::Value& items) {
  const TemplateKey key = TemplateKey::OfReference(binding["spec"]["resource"]);
  const json::Value object = hub_.Template(key);
  if (object.is_null() || kube::IsDeleting(object)) co_return Result<void>();
  if (!hub_.interpretation().Has(object, interpret::Operation::kAggregate)) co_return Result<void>();
  Result<json::Value> aggregated = co_await hub_.interpretation().AggregateStatus(object, items);
  if (!aggregated.ok()) {
    hub_.events().Warning(object, "AggregateStatusFailed", aggregated.error().message());
    if (aggregated.error().kind() == ErrorKind::kUnavailable) co_return aggregated.error();
    co_return Result<void>();
  }
  if ((*aggregated)["status"] == object["status"]) co_return Result<void>();
  Result<kube::Resource> resource = co_await hub_.ResourceOf(key.api_version, key.kind);
  if (!resource.ok()) co_return resource.error();
  json::Value next = object;
  next.Set("status", (*aggregated)["status"]);
  told_.insert_or_assign(key.BindingKey(), (*aggregated)["status"]);
  const Result<json::Value> written = co_await hub_.api().UpdateStatus(*resource, next);
  // No status subresource: nothing to write it to.
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  co_return Result<void>();
}

// What comes from clusters that do not answer is old: the status says so, and since when.
void AggregateController::FillStale(const std::map<std::string, json::Value>& items, json::Value& status) const {
  std::string stale;
  for (const auto& [cluster, item] : items) {
    const json::Value& ready = FindCondition(hub_.clusters().Get(cluster)["status"], "Ready");
    if (ready.is_null() || ready["status"].str() == "True") continue;
    stale += StrCat(stale.empty() ? "" : "; ", "cluster ", cluster, " is not ready since ",
                    ready["lastTransitionTime"].str(), ": what is said of it is as it was then");
  }
  const WallTime now = hub_.loop().WallNow();
  if (!stale.empty()) {
    SetCondition(status, "StatusCurrent", "False", "ClusterNotReady", stale, now);
  } else if (!FindCondition(status, "StatusCurrent").is_null()) {
    SetCondition(status, "StatusCurrent", "True", "ClustersReady", "all clusters answer", now);
  }
}

// A cluster that does not answer is not waited for: what is due there may stay so for long.
bool AggregateController::Behind(const std::set<std::string>& unanswered,
                                 const std::map<std::string, json::Value>& items) {
  return std::ranges::any_of(unanswered, [&](const std::string& cluster) {
    if (FindCondition(hub_.clusters().Get(cluster)["status"], "Ready")["status"].str() != "True") return false;
    if (!items.contains(cluster)) return render_.controller().queue().waiting() > 0;
    return execute_.waiting(cluster) > 0;
  });
}

std::optional<Duration> AggregateController::WaitFor(const std::string& key, const std::set<std::string>& unanswered,
                                                     const std::map<std::string, json::Value>& items) {
  if (unanswered.empty()) {
    unsettled_.erase(key);
    return std::nullopt;
  }
  const MonotonicTime now = hub_.loop().Now();
  Unsettled& state = unsettled_.try_emplace(key, Unsettled{.since = now, .behind = now}).first->second;
  const bool behind = Behind(unanswered, items);
  if (behind) state.behind = now;
  // As long as nobody has answered there is nothing to tell but where it goes, and its turn comes: the time begins with
  // the first answer.
  const bool none = std::ranges::all_of(items, [&](const auto& item) { return unanswered.contains(item.first); });
  if (behind && none) state.since = now;
  const MonotonicTime last = state.since + kSettleBehind;
  const MonotonicTime until = behind ? last : std::min(last, state.behind + kSettle);
  if (now >= until) return std::nullopt;
  return std::min(until - now, kLookAgain);
}

rt::Task<kube::Outcome> AggregateController::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null() || kube::IsDeleting(binding)) {
    unsettled_.erase(key);
    told_.erase(key);
    co_return kube::Outcome::Done();
  }
  std::set<std::string> expected;
  for (const json::Value& cluster : binding["spec"]["clusters"].items()) expected.emplace(cluster["name"].str());
  for (const json::Value& required : binding["spec"]["requiredBy"].items()) {
    for (const json::Value& cluster : required["clusters"].items()) expected.emplace(cluster["name"].str());
  }
  std::map<std::string, json::Value> items;
  std::set<std::string> applied;
  std::string strays;
  std::set<std::string> unanswered;
  for (const json::Value& work : hub_.works().ByIndex("binding", key)) {
    if (kube::IsDeleting(work)) continue;
    const std::string cluster = ClusterOfWork(work);
    const json::Value& condition = FindCondition(work["status"], "Applied");
    json::Value item = json::Object({{"clusterName", cluster}, {"health", "Unknown"}});
    if (condition["status"].str() == "True") {
      const json::Value& reflected = work["status"]["manifestStatuses"][0];
      item.Set("applied", true);
      if (!reflected["status"].is_null()) item.Set("status", reflected["status"]);
      item.Set("health", reflected["health"].str_or("Unknown"));
      applied.insert(cluster);
    } else {
      item.Set("applied", false);
      if (!condition.is_null()) item.Set("appliedMessage", condition["message"]);
      if (condition.is_null() && !work["spec"]["suspendDispatching"].bool_or(false)) unanswered.insert(cluster);
    }
    const json::Value& stray = FindCondition(work["status"], kStrayWriter);
    if (stray["status"].str() == "True") strays += StrCat(strays.empty() ? "" : "; ", stray["message"].str());
    items.emplace(cluster, std::move(item));
  }
  for (const std::string& cluster : expected) {
    if (!items.contains(cluster)) unanswered.insert(cluster);
  }
  if (const std::optional<Duration> wait = WaitFor(key, unanswered, items)) co_return kube::Outcome::WaitFor(*wait);
  json::ArrayBuilder list;
  for (auto& [cluster, item] : items) list.Add(item);
  const json::Value aggregated = std::move(list).Build();
  json::Value next = binding;
  json::Value& status = next.Edit("status");
  schedule_.FillStatus(key, binding, status);
  if (!aggregated.empty() || status.Has("aggregatedStatus")) status.Set("aggregatedStatus", aggregated);
  const WallTime now = hub_.loop().WallNow();
  const std::string trouble = render_.Trouble(key);
  const bool full = !expected.empty() && applied == expected && trouble.empty();
  if (full) {
    SetCondition(status, "FullyApplied", "True", "FullyAppliedSuccess", "All works have been successfully applied",
                 now);
  } else if (!expected.empty() || status.Has("aggregatedStatus")) {
    SetCondition(status, "FullyApplied", "False", "FullyAppliedFailed",
                 trouble.empty() ? "Failed to apply all works, see status.aggregatedStatus for details" : trouble, now);
  }
  FillStale(items, status);
  if (!strays.empty()) {
    SetCondition(status, kStrayWriter, "True", "NotTheRecordedObject", strays, now);
  } else if (FindCondition(status, kStrayWriter)["status"].str() == "True") {
    SetCondition(status, kStrayWriter, "False", "RecordedObject", "the object that is on record is there", now);
  }
  if (status != binding["status"]) {
    const Result<json::Value> written = co_await hub_.api().UpdateStatus(BindingResource(key), next);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(BindingResource(key), *written);
  }
  const Result<void> told = co_await WriteTemplateStatus(binding, aggregated);
  co_return kube::Outcome::Of(told);
}

}  // namespace baton::federation
