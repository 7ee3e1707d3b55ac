// Draining clusters.
#include "rollout/evacuate.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/builder.h"
#include "rollout/ask.h"
#include "rollout/records.h"

namespace baton::rollout {
namespace {

constexpr Duration kTemplatesWithin = minutes(5);  // of a start, lists that fail included

using json::Value;

constexpr size_t kItemsMax = 5000;  // of one status
constexpr Duration kSafetyNet = seconds(30);
// A plan, and the status that tells it, is about all workloads at once: the more there are, the longer it waits for
// what else happens, so that a drain of thousands is not planned and told anew at every step of every move.
constexpr Duration kGatherForEach = milliseconds(1);
constexpr Duration kGatherMax = seconds(1);

std::string MarkOf(const Value& evacuation) {
  const Value& spec = evacuation["spec"];
  return StrCat(kube::UidOf(evacuation), spec["return"].bool_or(false) ? "/home/" : "/away/", spec["round"].int_or(0));
}

}  // namespace

Evacuate::Evacuate(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options)
    : hub_(federation.hub()),
      federation_(federation),
      engine_(engine),
      profiles_(profiles),
      options_(options),
      evacuations_(hub_.api(), kEvacuations),
      // One at a time: two drains share the clusters that they go to.
      controller_(hub_.loop(), "evacuate", [this](std::string name) { return Reconcile(std::move(name)); },
                  {.workers = 1, .log = hub_.options().log}),
      taints_(hub_.loop(), "evacuate-taints",
              [this](std::string cluster) -> rt::Task<kube::Outcome> {  // NOLINT: lives as long as the controller
                co_return kube::Outcome::Of(co_await FollowTaint(std::move(cluster)));
              },
              {.workers = 1, .log = hub_.options().log}) {
  evacuations_.OnChange([this](const Value& before, const Value& now) {
    const bool only_status = !before.is_null() && !now.is_null() && before["spec"] == now["spec"];
    if (!only_status) controller_.Add(kube::NameOf(now.is_null() ? before : now));
  });
  const auto all = [this] {
    evacuations_.ForEach([this](std::string_view, const Value& one) { controller_.Add(kube::NameOf(one)); });
  };
  engine_.migrations().OnChange([this](const Value& before, const Value& now) {
    if (evacuations_.size() == 0 || before["status"]["phase"] == now["status"]["phase"]) return;
    evacuations_.ForEach([this](std::string_view, const Value& one) {
      const Duration gather = kGatherForEach * static_cast<int64_t>(one["status"]["items"].size());
      controller_.AddAfter(kube::NameOf(one), std::min(Duration(gather), kGatherMax));
    });
  });
  hub_.clusters().OnChange([this, all](const Value& before, const Value& now) {
    const bool news = before.is_null() || now.is_null() || before["spec"]["taints"] != now["spec"]["taints"] ||
                      IsReady(before) != IsReady(now);
    if (!news) return;
    if (!now.is_null()) taints_.Add(kube::NameOf(now));
    all();
  });
}

rt::Task<void> Evacuate::Run() {
  begun_ = hub_.loop().Now();
  rt::Scope scope(hub_.loop());
  scope.Spawn(evacuations_.Run());
  co_await evacuations_.WaitSynced();
  co_await hub_.WaitSynced();
  co_await engine_.migrations().WaitSynced();
  scope.Spawn(taints_.Run());
  co_await controller_.Run();
}

// A taint that a person or a policy set is a wish to empty the cluster, also without `baton drain`.
rt::Task<Result<void>> Evacuate::FollowTaint(std::string cluster) {
  const Value object = hub_.clusters().Get(cluster);
  if (object.is_null() || !AsksForDrain(object, options_.own_hub)) co_return Result<void>();
  bool there = false;
  evacuations_.ForEach([&](std::string_view, const Value& one) {
    there = there || (one["spec"]["cluster"].str() == cluster && !one["spec"]["dryRun"].bool_or(false));
  });
  if (there) co_return Result<void>();
  Value evacuation = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"},
                                   {"kind", "ClusterEvacuation"},
                                   {"metadata", json::Object({{"name", cluster}})},
                                   {"spec", json::Object({{"cluster", cluster}})}});
  const Result<Value> made = co_await hub_.api().Create(kEvacuations, evacuation);
  if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  co_return Result<void>();
}

// All was brought home, and then a taint came: as if `baton drain` had asked for it. The copy may still show the taint
// that was taken away for the way home: it is read again.
rt::Task<Result<void>> Evacuate::DrainAnew(Value evacuation) {
  const std::string cluster(evacuation["spec"]["cluster"].str());
  const bool paused = evacuation["spec"]["paused"].bool_or(false);
  if (paused || !AsksForDrain(hub_.clusters().Get(cluster), options_.own_hub)) co_return Result<void>();
  const Result<Value> live = co_await hub_.api().Get(federation::kClusters, {"", cluster});
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  if (!live.ok() || !AsksForDrain(*live, options_.own_hub)) co_return Result<void>();
  Value& spec = evacuation.Edit("spec");
  spec.Erase("return");
  spec.Set("round", spec["round"].int_or(0) + 1);
  CO_TRY(co_await hub_.api().Update(kEvacuations, evacuation));
  co_return Result<void>();
}

// Where nothing is moved to: what somebody drains by hand beside another federation counts, too.
std::set<std::string> Evacuate::Drained() const {
  std::set<std::string> drained = DrainedClusters(hub_.clusters(), options_.own_hub);
  evacuations_.ForEach([&](std::string_view, const Value& one) {
    const Value& spec = one["spec"];
    if (spec["return"].bool_or(false) || spec["dryRun"].bool_or(false)) return;
    if (WantsEmpty(hub_.clusters().Get(spec["cluster"].str()))) drained.emplace(spec["cluster"].str());
  });
  return drained;
}

// The name follows from the drain, the workload with its kind, and the try: a second try to create it finds it.
rt::Task<Result<void>> Evacuate::Start(const Value& evacuation, const DrainStart& start) {
  const Value& reference = hub_.Binding(BindingKeyOf(start.key))["spec"]["resource"];
  const Value& spec = evacuation["spec"];
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  const std::string uid(kube::UidOf(evacuation).substr(0, 8));
  Value& metadata = migration.Edit("metadata");
  metadata.Set("name", StrCat(WriterName(reference["kind"].str(), reference["name"].str()),
                              spec["return"].bool_or(false) ? "-home-" : "-drain-", uid, "-", spec["round"].int_or(0),
                              "-", start.number));
  metadata.Set("namespace", reference["namespace"]);
  // The engine would put it there first thing: one write less.
  metadata.Set("finalizers", json::Array({kFinalizer}));
  metadata.Set("labels", json::Object({{kDrainLabel, kube::NameOf(evacuation)}}));
  metadata.Set("annotations", json::Object({{kDrainMark, MarkOf(evacuation)}, {kDrainNumber, StrCat(start.number)}}));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", reference["apiVersion"]},
                                                                 {"kind", reference["kind"]},
                                                                 {"name", reference["name"]}})},
                                      {"source", start.from},
                                      {"target", start.to}}));
  if (!spec["stabilizationSeconds"].is_null())
    migration.Edit("spec").Set("stabilizationSeconds", spec["stabilizationSeconds"]);
  CO_TRY(co_await MakeOnce(hub_, engine_.migrations(), std::move(migration), std::string(kDrainMark)));
  co_return Result<void>();
}

bool Evacuate::TemplatesKnownIn(const std::string& cluster) const {
  return std::ranges::all_of(hub_.BindingsIn(cluster), [&](const std::string& key) {
    const Value& reference = hub_.Binding(key)["spec"]["resource"];
    const std::string_view api_version = reference["apiVersion"].str();
    const std::string_view kind = reference["kind"].str();
    if (profiles_.ForKind(api_version, kind) == nullptr) return true;
    return !hub_.Template(federation::TemplateKey::OfReference(reference)).is_null() ||
           hub_.TemplatesKnown(api_version, kind);
  });
}

Value Evacuate::Status(const Value& evacuation, const DrainPlan& plan, std::string why_not) const {
  Value status = evacuation["status"];
  const bool home = evacuation["spec"]["return"].bool_or(false);
  const bool dry = evacuation["spec"]["dryRun"].bool_or(false);
  std::map<DrainState, int64_t> counts;
  json::ArrayBuilder items;
  size_t listed = 0;
  for (const DrainItem& item : plan.items) {
    ++counts[item.state];
    if (++listed > kItemsMax) continue;
    const Value& reference = hub_.Binding(BindingKeyOf(item.key))["spec"]["resource"];
    const auto words = Split(item.key, '/');
    Value entry = json::Object({{"kind", words[0]}, {"namespace", words[1]}, {"name", words[2]}});
    if (!reference.is_null()) entry.Set("apiVersion", reference["apiVersion"]);
    entry.Set("state", DrainStateName(item.state));
    if (!item.to.empty()) entry.Set("target", item.to);
    if (!item.move.empty()) entry.Set("migration", item.move);
    if (!item.message.empty()) entry.Set("message", item.message);
    items.Add(entry);
  }
  status.Set("items", std::move(items).Build());
  const int64_t done = counts[DrainState::kDone] + counts[DrainState::kGone];
  const auto total = static_cast<int64_t>(plan.items.size());
  status.Set("total", total);
  status.Set("done", done);
  status.Set("moving", counts[DrainState::kMoving]);
  status.Set("observedGeneration", evacuation["metadata"]["generation"].int_or(0));
  std::string phase = home ? "Returning" : "Draining";
  std::string message = StrCat(done, " of ", total, home ? " are home" : " are elsewhere");
  if (!why_not.empty()) {
    phase = "Waiting";
    message = std::move(why_not);
  } else if (dry) {
    phase = "Planned";
    message = StrCat(plan.starts.size(), " of ", total, " would begin at once");
  } else if (plan.finished) {
    phase = home ? "Returned" : "Drained";
  } else if (plan.stuck) {
    phase = "Stuck";
    message += "; what is left needs a person: see items";
  }
  const bool over = plan.finished && !dry && phase != "Waiting";
  status.Set("phase", phase);
  status.Set("message", message);
  federation::SetCondition(status, home ? "Returned" : "Drained", over ? "True" : "False", phase, message,
                           hub_.loop().WallNow());
  return status;
}

rt::Task<Result<void>> Evacuate::Tell(const Value& evacuation, Value status) {
  if (status == evacuation["status"]) co_return Result<void>();
  Value next = evacuation;
  next.Set("status", std::move(status));
  const Result<Value> written = co_await hub_.api().UpdateStatus(kEvacuations, next);
  if (!written.ok()) co_return written.error();
  evacuations_.Learn(*written);
  if (evacuation["status"]["phase"] == (*written)["status"]["phase"]) co_return Result<void>();
  const std::string_view phase = (*written)["status"]["phase"].str();
  if (phase == "Stuck" || phase == "Waiting") {
    hub_.events().Warning(*written, phase, (*written)["status"]["message"].str());
  } else {
    hub_.events().Normal(*written, phase, (*written)["status"]["message"].str());
  }
  co_return Result<void>();
}

rt::Task<kube::Outcome> Evacuate::Reconcile(std::string name) {
  const Value evacuation = evacuations_.Get(name);
  if (evacuation.is_null() || kube::IsDeleting(evacuation)) co_return kube::Outcome::Done();
  const Value& spec = evacuation["spec"];
  const std::string cluster(spec["cluster"].str());
  const Value cluster_object = hub_.clusters().Get(cluster);
  const bool home = spec["return"].bool_or(false);
  const bool dry = spec["dryRun"].bool_or(false);
  // What was brought home and is moved away later stays where somebody took it: this wish is fulfilled, once.
  const Value& status = evacuation["status"];
  const bool seen = status["observedGeneration"].int_or(-1) == evacuation["metadata"]["generation"].int_or(0);
  if (home && !dry && seen && status["phase"].str() == "Returned")
    co_return kube::Outcome::Of(co_await DrainAnew(evacuation));
  std::string why_not = WhyNotDrained(cluster, cluster_object);
  if (!why_not.empty()) {
    // Nothing else matters then.
  } else if (spec["paused"].bool_or(false)) {
    why_not = "paused";
  } else if (!home && !dry && !WantsEmpty(cluster_object)) {
    why_not = StrCat("cluster ", cluster, " has no NoExecute taint any more: no further move is begun");
  } else if (home && WantsEmpty(cluster_object)) {
    why_not = StrCat("cluster ", cluster, " has a NoExecute taint: `baton uncordon ", cluster,
                     "` goes on, `baton drain ", cluster, "` empties it again");
  }
  // Of a template that is not read yet nobody knows whether it is managed: what is not seen is not drained.
  // A kind that is watched by nobody any more is not waited for.
  if (!TemplatesKnownIn(cluster) && hub_.loop().Now() - begun_ < kTemplatesWithin)
    co_return kube::Outcome::WaitFor(kLookAgain);
  MoveLimits limits = LimitsOf(hub_.clusters(), options_);
  if (spec["maxConcurrent"].is_int()) {
    const auto most = static_cast<int>(spec["maxConcurrent"].int_or(1));
    (home ? limits.in_to : limits.out_of)[cluster] = most;
  }
  if (!why_not.empty()) limits = {.out = 0, .in = 0, .out_of = {}, .in_to = {}};
  const std::set<std::string> drained = Drained();
  const DrainPlan plan =
      PlanDrain(WorkloadsOf(hub_, profiles_, evacuation), MovesOf(engine_.migrations(), MarkOf(evacuation)), limits,
                hub_.loop().WallNow(), [&](const DrainWorkload& workload, const std::set<std::string>& full) {
                  return ChooseElsewhere(federation_, workload, full, drained);
                });
  // What it is about is on record before it is begun: the way home is remembered.
  const Result<void> told = co_await Tell(evacuation, Status(evacuation, plan, why_not));
  if (!told.ok()) co_return kube::Outcome::Retry(told.error());
  if (dry) co_return kube::Outcome::Done();
  for (const DrainStart& start : plan.starts) {
    const Result<void> begun = co_await Start(evacuation, start);
    if (!begun.ok()) co_return kube::Outcome::Retry(begun.error());
  }
  if (plan.look_again) {
    co_return kube::Outcome::WaitFor(std::max(*plan.look_again - hub_.loop().WallNow(), Duration(milliseconds(1))));
  }
  co_return plan.finished ? kube::Outcome::Done() : kube::Outcome::WaitFor(kSafetyNet);
}

}  // namespace baton::rollout
