// Deciding and writing spec.clusters.
#include "federation/schedule.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/karmada_keys.h"
#include "base/guard.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"

namespace baton::federation {
namespace {

constexpr Duration kExpireEvery = minutes(1);
constexpr Duration kRetryNothingFits = seconds(30);  // a safety net: clusters that change wake it sooner

std::string ClusterNames(const std::vector<placement::TargetCluster>& clusters) {
  std::string names;
  for (const placement::TargetCluster& cluster : clusters) names += (names.empty() ? "" : ", ") + cluster.name;
  return names;
}

// What of a cluster scheduling looks at.
json::Value SchedulingPart(const json::Value& cluster) {
  return json::Object({{"labels", cluster["metadata"]["labels"]},
                       {"spec", cluster["spec"]},
                       {"deleting", kube::IsDeleting(cluster)},
                       {"apis", cluster["status"]["apiEnablements"]},
                       {"summary", cluster["status"]["resourceSummary"]}});
}

}  // namespace

ScheduleController::ScheduleController(Hub& hub)
    : hub_(hub),
      controller_(hub.loop(), "schedule", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub.options().log}) {
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) { ClustersChanged(before, now); });
  hub_.OnBinding([this](const json::Value& before, const json::Value& now) {
    const std::string key = kube::Name::Of(now.is_null() ? before : now).Key();
    if (now.is_null()) {
      known_.erase(key);
      waiting_.erase(key);
      assumed_.Forget(key);
      return;
    }
    if (before.is_null() || before["spec"] != now["spec"]) controller_.Add(key);
    if (before["status"] != now["status"]) SeenRunning(key, now);
  });
  hub_.OnTemplate([this](const json::Value& before, const json::Value& now) {
    if (!before.is_null() || now.is_null() || waiting_.empty()) return;
    const std::string key = TemplateKey::Of(now).BindingKey();
    if (waiting_.erase(key) > 0) controller_.Add(key);
  });
}

void ScheduleController::ClustersChanged(const json::Value& before, const json::Value& now) {
  const bool matters = before.is_null() || now.is_null() || SchedulingPart(before) != SchedulingPart(now);
  if (!matters) return;
  fleet_.reset();
  const bool affinity_matters = before.is_null() || now.is_null() ||
                                before["metadata"]["labels"] != now["metadata"]["labels"] ||
                                before["spec"] != now["spec"] || kube::IsDeleting(before) != kube::IsDeleting(now) ||
                                before["status"]["apiEnablements"] != now["status"]["apiEnablements"];
  if (!affinity_matters) {
    LookAgain();
    return;
  }
  hub_.ForEachBinding(
      [&](const std::string& key, const json::Value& /*binding*/) { controller_.Add(key, kube::Priority::kResync); });
}

// Room came: who is more important gets it first.
void ScheduleController::LookAgain() {
  std::vector<std::pair<int64_t, std::string>> waiting;
  waiting.reserve(waiting_.size());
  for (const std::string& key : waiting_) {
    waiting.emplace_back(-hub_.Binding(key)["spec"]["schedulePriority"]["priority"].int_or(0), key);
  }
  std::ranges::sort(waiting);
  for (const auto& [priority, key] : waiting) controller_.Add(key, kube::Priority::kResync);
}

// What runs is in its cluster's own summary, and is not assumed any more; nor what has not come for a long time.
void ScheduleController::SeenRunning(const std::string& key, const json::Value& binding) {
  const uint64_t before = assumed_.version();
  if (hub_.loop().Now() - expired_at_ >= kExpireEvery) {
    expired_at_ = hub_.loop().Now();
    assumed_.Expire(hub_.loop().WallNow());
  }
  for (const json::Value& item : binding["status"]["aggregatedStatus"].items()) {
    if (item["health"].str() == "Healthy") assumed_.Seen(key, item["clusterName"].str());
  }
  if (assumed_.version() != before) LookAgain();
}

const std::shared_ptr<const placement::Fleet>& ScheduleController::Fleet() {
  if (fleet_ != nullptr) return fleet_;
  std::vector<placement::Cluster> clusters;
  hub_.clusters().ForEach([&](std::string_view, const json::Value& object) {
    Result<placement::Cluster> cluster = placement::ParseCluster(object);
    if (cluster.ok()) {
      clusters.push_back(*std::move(cluster));
    } else {
      hub_.events().Warning(object, "ClusterIgnored", cluster.error().message());
    }
  });
  Result<std::shared_ptr<const placement::Fleet>> fleet = placement::Fleet::Make(std::move(clusters));
  INVARIANT(fleet.ok(), "clusters have names of their own");
  fleet_ = *std::move(fleet);
  const placement::Assumed* assumed = GUARD_STANDS("federation.assumed_load_counts") ? &assumed_ : nullptr;
  estimator_ = std::make_unique<placement::Estimator>(fleet_, assumed);
  return fleet_;
}

// What a wish is about: of a workload that is elsewhere by now it says nothing any more.
std::string ScheduleController::WhichOf(const json::Value& binding) {
  std::string which(kube::UidOf(binding));
  for (const json::Value& cluster : binding["spec"]["clusters"].items()) StrAppend(which, " ", cluster["name"].str());
  return which;
}

bool ScheduleController::RunsAndMustStay(const json::Value& binding,
                                         const std::vector<placement::TargetCluster>& wanted) const {
  if (hub_.gate() == nullptr) return false;
  const json::Value& object = hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"]));
  if (object.is_null() || !hub_.gate()->Manages(object)) return false;
  std::set<std::string_view> names;
  for (const placement::TargetCluster& cluster : wanted) names.insert(cluster.name);
  for (const json::Value& cluster : binding["spec"]["clusters"].items()) {
    if (!names.contains(cluster["name"].str())) return true;
  }
  // One writer: a second cluster is as wrong as another one.
  return !binding["spec"]["clusters"].empty() && names.size() > binding["spec"]["clusters"].size();
}

// After a start the templates are read when the bindings are there: until then nobody knows whether the workload runs
// with one writer, and where it runs it stays.
bool ScheduleController::MayBeManaged(const json::Value& binding) const {
  return hub_.gate() != nullptr && !binding["spec"]["clusters"].empty() &&
         hub_.Template(TemplateKey::OfReference(binding["spec"]["resource"])).is_null();
}

json::Value ScheduleController::Decide(const std::string& key, json::Value binding) {
  Known& known = known_[key];
  const auto fail = [&](std::string_view reason, std::string message) {
    known.scheduled = false;
    waiting_.insert(key);
    known.reason = reason;
    known.message = std::move(message);
    return binding;
  };
  if (binding["spec"]["placement"].is_null()) return binding;  // a dependency: it follows others
  Result<std::shared_ptr<const placement::PreparedPlacement>> prepared =
      cache_.Get(binding["spec"]["placement"], Fleet());
  if (!prepared.ok()) return fail(placement::kReasonSchedulerError, prepared.error().message());
  Result<placement::Binding> parsed = placement::ParseBinding(binding);
  if (!parsed.ok()) return fail(placement::kReasonSchedulerError, parsed.error().message());
  const placement::Estimates& estimates = estimator_->For(*parsed, (*prepared)->placement());
  const placement::Decision decision = placement::Schedule(*parsed, **prepared, estimates);
  if (decision.changed && MayBeManaged(binding)) {
    waiting_.insert(key);
    return binding;
  }
  switch (decision.action) {
    case placement::Action::kKeep:
      return binding;
    case placement::Action::kNothingFits:
      if (known.message != decision.message) hub_.events().Warning(binding, decision.event_reason, decision.event);
      if (decision.changed && !RunsAndMustStay(binding, decision.clusters)) {
        binding.Edit("spec").Set("clusters", placement::TargetsToJson(decision.clusters));
      }
      return fail(decision.reason, decision.message);
    case placement::Action::kSchedule:
      break;
  }
  known.wish.clear();
  const bool news = decision.changed || decision.trigger == placement::Trigger::kRescheduleRequested ||
                    binding["status"]["lastScheduledTime"].is_null();
  if (news) known.at = hub_.loop().WallNow();
  known.scheduled = true;
  waiting_.erase(key);
  known.reason = decision.reason;
  known.message = decision.message;
  known.affinity = decision.affinity;
  known.applied = (*prepared)->text();
  const bool stay = decision.changed && RunsAndMustStay(binding, decision.clusters);
  if (stay) {
    known.wish = ClusterNames(decision.clusters);
    known.wished_for = WhichOf(binding);
    hub_.events().Normal(binding, "MigrationWanted",
                         StrCat("the policy wants the workload in ", known.wish,
                                "; it has one writer and is not moved by deleting it: `baton migrate` moves it"));
  } else if (decision.changed) {
    assumed_.Decided(key, *parsed, decision.clusters, hub_.loop().WallNow());
    binding.Edit("spec").Set("clusters", placement::TargetsToJson(decision.clusters));
  }
  binding.Edit("metadata").Edit("annotations").Set(api::karmada::kAppliedPlacement, (*prepared)->text());
  return binding;
}

bool ScheduleController::Allows(const json::Value& binding, std::string_view cluster) {
  const Result<std::shared_ptr<const placement::PreparedPlacement>> prepared =
      cache_.Get(binding["spec"]["placement"], Fleet());
  if (!prepared.ok()) return false;
  const std::optional<size_t> number = Fleet()->Find(cluster);
  if (!number || !(*prepared)->tolerated().Has(*number)) return false;
  return std::ranges::any_of((*prepared)->terms(), [&](const auto& term) { return term.any.Has(*number); });
}

bool ScheduleController::Keeps(const json::Value& binding, std::string_view cluster) {
  const Result<std::shared_ptr<const placement::PreparedPlacement>> prepared =
      cache_.Get(binding["spec"]["placement"], Fleet());
  const std::optional<size_t> number = Fleet()->Find(cluster);
  if (!prepared.ok() || !number) return false;
  return std::ranges::any_of((*prepared)->terms(), [&](const auto& term) { return term.any.Has(*number); });
}

Result<std::string> ScheduleController::Elsewhere(const std::string& key, const json::Value& binding,
                                                  const std::set<std::string>& barred) {
  if (binding["spec"]["placement"].is_null()) return NotFoundError("no policy places it");
  // As if it had never been placed, and was being evicted from all that are barred.
  json::Value fresh = binding;
  json::Value& spec = fresh.Edit("spec");
  spec.Set("clusters", json::Array());
  json::Value tasks = json::Array();
  for (const std::string& cluster : barred) tasks.Push(json::Object({{"fromCluster", cluster}}));
  spec.Set("gracefulEvictionTasks", tasks);
  spec.Erase("suspension");
  fresh.Edit("metadata").Edit("annotations").Erase(api::karmada::kAppliedPlacement);
  const std::shared_ptr<const placement::PreparedPlacement> prepared =
      TRY(cache_.Get(binding["spec"]["placement"], Fleet()));
  const placement::Binding parsed = TRY(placement::ParseBinding(fresh));
  const placement::Decision decision =
      placement::Schedule(parsed, *prepared, estimator_->For(parsed, prepared->placement()));
  if (decision.action != placement::Action::kSchedule || decision.clusters.empty()) {
    return NotFoundError(StrCat("no other cluster fits: ", decision.message.empty() ? decision.why : decision.message));
  }
  if (decision.clusters.size() > 1) {
    return InvalidError(StrCat("its policy wants it in several clusters at once (", ClusterNames(decision.clusters),
                               "): it has one writer; add a spread constraint with maxGroups 1"));
  }
  assumed_.Decided(key, parsed, decision.clusters, hub_.loop().WallNow());
  return decision.clusters[0].name;
}

rt::Task<Result<json::Value>> ScheduleController::SettleIn(std::string key, json::Value binding, std::string cluster) {
  const Result<std::shared_ptr<const placement::PreparedPlacement>> prepared =
      cache_.Get(binding["spec"]["placement"], Fleet());
  const std::optional<size_t> number = Fleet()->Find(cluster);
  if (!prepared.ok() || !number || !(*prepared)->placement().has_affinities) co_return binding;
  const std::string_view in_use = binding["status"]["schedulerObservingAffinityName"].str();
  const std::vector<placement::AffinityTerm>& groups = (*prepared)->placement().terms;
  std::optional<std::string> settled;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!(*prepared)->terms()[i].any.Has(*number)) continue;
    if (groups[i].name == in_use) co_return binding;
    if (!settled) settled = groups[i].name;
  }
  if (!settled) co_return binding;
  binding.Edit("status").Set("schedulerObservingAffinityName", *settled);
  json::Value written = CO_TRY(co_await hub_.api().UpdateStatus(BindingResource(key), binding));
  if (const auto known = known_.find(key); known != known_.end()) known->second.affinity = *settled;
  hub_.Learn(BindingResource(key), written);
  co_return written;
}

std::string ScheduleController::Wish(const std::string& key) const {
  const auto at = known_.find(key);
  const bool known = at != known_.end() && at->second.wished_for == WhichOf(hub_.Binding(key));
  return known ? at->second.wish : std::string();
}

void ScheduleController::FillStatus(const std::string& key, const json::Value& binding, json::Value& status) {
  const auto at = known_.find(key);
  if (at == known_.end()) return;
  const Known& known = at->second;
  if (known.reason.empty()) return;
  const bool suspended = binding["spec"]["suspension"]["scheduling"].bool_or(false);
  if (!suspended) status.Set("schedulerObservedGeneration", binding["metadata"]["generation"].int_or(0));
  if (!known.affinity.empty()) status.Set("schedulerObservingAffinityName", known.affinity);
  if (known.at) status.Set("lastScheduledTime", json::FormatTime(*known.at));
  const WallTime now = hub_.loop().WallNow();
  SetCondition(status, "Scheduled", known.scheduled ? "True" : "False", known.reason, known.message, now);
  if (!known.wish.empty()) {
    SetCondition(status, "MigrationWanted", "True", "PlacementChanged",
                 StrCat("the policy wants the workload in ", known.wish), now);
  } else if (FindCondition(status, "MigrationWanted")["status"].str() == "True") {
    SetCondition(status, "MigrationWanted", "False", "PlacementKept", "the workload is where the policy wants it", now);
  }
}

rt::Task<kube::Outcome> ScheduleController::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null() || kube::IsDeleting(binding)) co_return kube::Outcome::Done();
  // Strictly, and here: a key that was queued before the suspension is not scheduled either.
  if (binding["spec"]["suspension"]["scheduling"].bool_or(false)) co_return kube::Outcome::Done();
  const json::Value decided = Decide(key, binding);
  if (decided != binding) {
    const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), decided);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(BindingResource(key), *written);
  }
  if (on_decision_) on_decision_(key);
  if (!known_[key].scheduled && !known_[key].reason.empty()) co_return kube::Outcome::WaitFor(kRetryNothingFits);
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
