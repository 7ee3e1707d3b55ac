// Finding out what would be done.
#include "rollout/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rt/when.h"

namespace baton::rollout {
namespace {

using json::Value;

constexpr Duration kLookAgainSoon = milliseconds(20);

federation::Connect ReadOnly(federation::Connect connect) {
  return
      [connect = std::move(connect)](const Value& cluster, const Value& secret) -> Result<std::unique_ptr<kube::Api>> {
        return std::unique_ptr<kube::Api>(std::make_unique<kube::ReadOnlyApi>(TRY(connect(cluster, secret))));
      };
}

Value Strings(const std::vector<std::string>& texts) {
  Value list = json::Array();
  for (const std::string& text : texts) list.Push(text);
  return list;
}

std::vector<Value> All(const kube::Informer& informer) {
  std::vector<Value> all;
  informer.ForEach([&](std::string_view, const Value& one) { all.push_back(one); });
  return all;
}

// A StatefulMigration as a drain would make it, but for its name.
Value MoveOf(const ClusterPlan::Item& item, const Value& reference) {
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  migration.Edit("metadata")
      .Set("name", StrCat(WriterName(reference["kind"].str(), reference["name"].str()), "-drain-..."));
  migration.Edit("metadata").Set("namespace", reference["namespace"]);
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", reference["apiVersion"]},
                                                                 {"kind", reference["kind"]},
                                                                 {"name", reference["name"]}})},
                                      {"source", item.from},
                                      {"target", item.to}}));
  return migration;
}

// Of all that begins, round by round; nothing: of one of them nothing is known.
std::optional<Duration> Expected(const ClusterPlan& plan) {
  std::map<int, Duration> rounds;
  for (const ClusterPlan::Item& item : plan.items) {
    if (!item.plan) continue;
    if (item.plan->forecast.basis == Forecast::Basis::kNone) return std::nullopt;
    rounds[item.round] = std::max(rounds[item.round], item.plan->forecast.whole);
  }
  if (rounds.empty()) return std::nullopt;
  Duration whole{};
  for (const auto& [round, longest] : rounds) whole += longest;
  return whole;
}

}  // namespace

Planner::Planner(kube::Api& hub, federation::Connect connect, federation::PostToWebhook post, EvacuateOptions limits)
    : hub_api_(hub),
      interpreter_({.limits = {}, .now = [&hub] { return hub.loop().WallNow(); }}),
      gate_(hub_api_, profiles_),
      federation_(hub_api_, interpreter_, ReadOnly(std::move(connect)), {.gate = &gate_, .post = std::move(post)}),
      hub_(federation_.hub()),
      doors_(hub_),
      limits_(limits),
      migrations_(hub_api_, kMigrations),
      profile_objects_(hub_api_, kProfiles),
      scope_(hub.loop()) {
  profile_objects_.OnChange([this](const Value& before, const Value& now) {
    if (now.is_null()) {
      profiles_.Remove(kube::NameOf(before));
    } else {
      // One that does not compile is not used by the engine either, which says so in an event.
      [[maybe_unused]] const Result<void> taken = profiles_.Set(now);
    }
  });
}

rt::Task<Result<void>> Planner::Start() {
  scope_.Spawn(federation_.RunCopies());
  scope_.Spawn(migrations_.Run());
  scope_.Spawn(profile_objects_.Run());
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto synced = [this]() -> rt::Task<Result<void>> {
    co_await federation_.WaitSynced();
    co_await migrations_.WaitSynced();
    co_await profile_objects_.WaitSynced();
    co_return Result<void>();
  };
  CO_TRY(co_await rt::WithDeadline(rt::Deadline::After(hub_.loop(), kPlanStarts),
                                   "lists of the hub's policies, bindings, clusters and migrations", synced()));
  scope_.Spawn(doors_.Run());
  co_return Result<void>();
}

// Its Secret is read by a watch that began a moment ago.
rt::Task<bool> Planner::KnowMember(std::string cluster) {
  const MonotonicTime end = hub_.loop().Now() + kPlanMembers;
  while (!cluster.empty() && !hub_.clusters().Get(cluster).is_null() && !hub_.members().Known(cluster)) {
    if (hub_.loop().Now() >= end) co_return false;
    co_await hub_.loop().Sleep(kLookAgainSoon);
  }
  co_return true;
}

// ---- a move
// ------------------------------------------------------------------------------------------------------------

rt::Task<Result<Planner::Known>> Planner::Read(const Value& migration) {
  Known known;
  Value object = migration;
  object.Edit("metadata").Set("uid", "UID");
  known.spec = CO_TRY(ReadMigration(object, hub_.loop().WallNow()));
  const std::string ns(kube::NamespaceOf(migration));
  known.writer_object =
      CO_TRY(co_await GetOrNull(hub_api_, kWriters, {ns, WriterName(known.spec.kind, known.spec.workload)}));
  known.writer = ReadWriter(known.writer_object);
  Result<kube::Resource> resource = co_await hub_.ResourceOf(known.spec.api_version, known.spec.kind);
  if (!resource.ok() && resource.error().kind() != ErrorKind::kNotFound) co_return resource.error();
  if (resource.ok()) known.workload = CO_TRY(co_await GetOrNull(hub_api_, *resource, {ns, known.spec.workload}));
  known.binding = CO_TRY(co_await GetOrNull(hub_api_, federation::kResourceBindings,
                                            {ns, api::karmada::BindingName(known.spec.kind, known.spec.workload)}));
  if (!known.workload.is_null()) known.profile = profiles_.Managing(known.workload);
  co_return known;
}

rt::Task<Result<MovePlan>> Planner::PlanMove(Value migration) {
  const Known known = CO_TRY(co_await Read(migration));
  MovePlan plan{.kind = known.spec.kind,
                .ns = std::string(kube::NamespaceOf(migration)),
                .name = known.spec.workload,
                .guarantee = known.profile == nullptr ? "" : known.profile->guarantee(),
                .source = known.writer.holder.cluster,
                .target = known.spec.target};
  plan.forecast = MakeForecast(All(migrations_), plan.kind, plan.ns, plan.name);
  if (known.writer.claim) {
    plan.checks.push_back({.side = Check::Side::kHub,
                           .what = "no other move of it is under way",
                           .problem = StrCat("migration ", known.writer.claim->migration, " is moving this workload")});
  } else if (known.writer.exists) {
    plan.checks.push_back({.side = Check::Side::kHub, .what = "no other move of it is under way", .problem = ""});
  }
  for (const std::string& cluster :
       {std::string(known.binding["spec"]["clusters"][0]["name"].str()), known.spec.target}) {
    if (co_await KnowMember(cluster)) continue;
    plan.checks.push_back({.side = Check::Side::kHub,
                           .what = StrCat("it is known how cluster ", cluster, " is reached"),
                           .problem = StrCat("how cluster ", cluster, " is reached cannot be read from the hub: the ",
                                             "Secrets of namespace ", api::karmada::kClusterNamespace)});
    co_return plan;
  }
  Result<Preflight> found = co_await CheckBefore(federation_, profiles_,
                                                 {.spec = known.spec,
                                                  .writer = known.writer,
                                                  .workload = known.workload,
                                                  .binding = known.binding,
                                                  .profile = known.profile});
  if (!found.ok()) {
    plan.checks.push_back({.side = Check::Side::kHub,
                           .what = "the checks can be made from here",
                           .problem = std::string(found.error().message())});
    co_return plan;
  }
  plan.checks.insert(plan.checks.end(), found->checks.begin(), found->checks.end());
  if (!found->source.empty()) plan.source = found->source;
  if (!found->target.empty()) plan.target = found->target;
  if (found->proposal) CO_TRY(co_await LookAhead(plan, known, *found));
  co_return plan;
}

rt::Task<Result<void>> Planner::LookAhead(MovePlan& plan, const Known& known, const Preflight& found) {
  CO_TRY(co_await SeeSource(plan, known, found));
  CO_TRY(co_await SeeTarget(plan, known, found));
  if (!plan.Problems().empty()) co_return Result<void>();
  Observation seen;
  seen.fence = 1;
  seen.preflight_done = true;
  seen.proposal = found.proposal;
  const Foresight ahead = Foresee(known.writer, known.spec.migration, std::move(seen));
  plan.end = ahead.end;
  plan.steps = CO_TRY(StepsOf({.spec = known.spec,
                               .ahead = ahead,
                               .writer_object = known.writer_object,
                               .workload = known.workload,
                               .binding = known.binding,
                               .pinned = found.pinned,
                               .prior = found.prior,
                               .profile = *known.profile}));
  co_return Result<void>();
}

// What the engine would wait for before it orders the stop.
rt::Task<Result<void>> Planner::SeeSource(MovePlan& plan, const Known& known, const Preflight& found) {
  const Claim& claim = *found.proposal;
  const std::shared_ptr<federation::Member> member = hub_.members().Find(claim.source.cluster);
  if (member == nullptr) co_return UnavailableError(hub_.members().WhyNot(claim.source.cluster));
  const kube::Resource resource = CO_TRY(co_await member->mapper().ForObject(known.workload));
  const Value pinned = json::Object({{"spec", found.pinned["source"]}});
  const Value related = CO_TRY(co_await RelatedIn(*member, *known.profile, plan.ns, plan.name, pinned));
  const Value object = CO_TRY(co_await GetOrNull(member->api(), resource, kube::Name::Of(known.workload)));
  const interpret::Judgement judged = CO_TRY(known.profile->Judge(
      object, related, {.seq = known.writer.seq, .cluster = claim.source.cluster, .peer = claim.target.cluster}));
  if (known.writer.exists && known.profile->EpochOf(object) != known.writer.seq)
    plan.waits.push_back(StrCat("cluster ", claim.source.cluster, " to show epoch ", known.writer.seq));
  if (!judged.runs) {
    plan.waits.push_back(
        StrCat("the workload in ", claim.source.cluster, " to run, so that its state can be captured"));
  }
  co_return Result<void>();
}

rt::Task<Result<void>> Planner::SeeTarget(MovePlan& plan, const Known& known, const Preflight& found) {
  const Claim& claim = *found.proposal;
  const std::shared_ptr<federation::Member> member = hub_.members().Find(claim.target.cluster);
  if (member == nullptr) co_return UnavailableError(hub_.members().WhyNot(claim.target.cluster));
  const int64_t seq = known.writer.exists ? known.writer.seq : 1;
  const Result<std::string> refused =
      co_await WouldTake(*member, known.workload, found.pinned["target"], *known.profile, claim, seq);
  if (!refused.ok()) {
    plan.waits.push_back(
        StrCat("cluster ", claim.target.cluster, " to accept the workload: ", refused.error().message()));
    co_return Result<void>();
  }
  plan.checks.push_back(
      {.side = Check::Side::kTarget,
       .what = StrCat("the API server of ", claim.target.cluster, " takes the held workload (dry run)"),
       .problem = refused->empty() ? "" : StrCat(claim.target.cluster, " would refuse the workload: ", *refused)});
  co_return Result<void>();
}

std::vector<std::string> MovePlan::Problems() const {
  std::vector<std::string> problems;
  for (const Check& check : checks) {
    if (!check.problem.empty()) problems.push_back(check.problem);
  }
  return problems;
}

Value MovePlan::Json() const {
  Value asked = json::Array();
  for (const Check& check : checks) {
    Value one = json::Object({{"side", SideName(check.side)}, {"check", check.what}, {"ok", check.problem.empty()}});
    if (!check.problem.empty()) one.Set("problem", check.problem);
    asked.Push(one);
  }
  Value numbered = json::Array();
  for (const PlannedStep& step : steps) numbered.Push(step.Json());
  return json::Object({{"kind", kind},
                       {"namespace", ns},
                       {"name", name},
                       {"source", source},
                       {"target", target},
                       {"guarantee", guarantee},
                       {"ok", Problems().empty()},
                       {"checks", asked},
                       {"waitsFor", Strings(waits)},
                       {"steps", numbered},
                       {"end", PhaseName(end)},
                       {"expected", forecast.Json()}});
}

// ---- a drain
// -----------------------------------------------------------------------------------------------------------

rt::Task<void> Planner::WatchTemplatesIn(const std::string& cluster) {
  const MonotonicTime end = hub_.loop().Now() + kPlanMembers;
  for (const std::string& key : hub_.BindingsIn(cluster)) {
    const federation::TemplateKey of = federation::TemplateKey::OfReference(hub_.Binding(key)["spec"]["resource"]);
    const bool watched = co_await hub_.WatchTemplates(of.api_version, of.kind);
    while (watched && !hub_.TemplatesKnown(of.api_version, of.kind) && hub_.loop().Now() < end)
      co_await hub_.loop().Sleep(kLookAgainSoon);
  }
}

// Round by round, as if the moves of each had ended well before the next is planned.
void Planner::Order(ClusterPlan& plan, MoveLimits limits) {
  const Value evacuation = json::Object({{"spec", json::Object({{"cluster", plan.cluster}})}});
  std::vector<DrainWorkload> workloads = WorkloadsOf(hub_, profiles_, evacuation);
  std::vector<DrainMove> moves = MovesOf(migrations_, "a mark that no drain has");
  std::map<std::string, size_t> at;
  const std::set<std::string> drained = DrainedClusters(hub_.clusters(), limits_.own_hub);
  const auto choose = [&](const DrainWorkload& workload, const std::set<std::string>& full) {
    return ChooseElsewhere(federation_, workload, full, drained);
  };
  for (size_t round = 1; round <= kPlanRoundsMax; ++round) {
    const DrainPlan now = rollout::PlanDrain(workloads, moves, limits, hub_.loop().WallNow(), choose);
    std::set<std::string> leave;
    for (const DrainItem& item : now.items) {
      const auto [known, fresh] = at.try_emplace(item.key, plan.items.size());
      if (fresh) plan.items.push_back({.key = item.key, .from = item.from, .to = item.to, .message = item.message});
      ClusterPlan::Item& told = plan.items[known->second];
      if (item.state != DrainState::kDone) told.message = item.message;
      if (item.state == DrainState::kMoving) leave.insert(item.key);
      if (item.state == DrainState::kMoving) told.under_way = true;  // unless it is a start
    }
    for (const DrainStart& start : now.starts) {
      ClusterPlan::Item& item = plan.items[at.at(start.key)];
      item.round = plan.rounds + 1;
      item.to = start.to;
      item.under_way = false;
    }
    if (!now.starts.empty()) ++plan.rounds;
    const bool others = !moves.empty();
    if (now.starts.empty() && !others) return;
    for (DrainWorkload& workload : workloads) workload.done = workload.done || leave.contains(workload.key);
    moves.clear();
  }
}

rt::Task<Result<void>> Planner::PlanMovesOf(ClusterPlan& plan) {
  std::vector<ClusterPlan::Item*> begin;
  for (ClusterPlan::Item& item : plan.items) {
    if (item.round > 0) begin.push_back(&item);
  }
  for (size_t from = 0; from < begin.size(); from += kPlanChecksAtOnce) {
    std::vector<rt::Task<Result<MovePlan>>> some;
    const size_t until = std::min(begin.size(), from + kPlanChecksAtOnce);
    for (size_t i = from; i < until; ++i) {
      const auto words = Split(begin[i]->key, '/');
      const std::string binding = StrCat(words[1], "/", WriterName(words[0], words[2]));
      some.push_back(PlanMove(MoveOf(*begin[i], hub_.Binding(binding)["spec"]["resource"])));
    }
    std::vector<Result<MovePlan>> plans = co_await rt::WhenAll(std::move(some));
    for (size_t i = from; i < until; ++i) begin[i]->plan = CO_TRY(std::move(plans[i - from]));
  }
  co_return Result<void>();
}

rt::Task<Result<ClusterPlan>> Planner::PlanDrain(std::string cluster, int most) {
  ClusterPlan plan{.cluster = cluster};
  plan.why_not = WhyNotDrained(cluster, hub_.clusters().Get(cluster));
  co_await WatchTemplatesIn(cluster);
  for (const std::string& key : hub_.BindingsIn(cluster)) {
    const Value& spec = hub_.Binding(key)["spec"];
    const Value& object = hub_.Template(federation::TemplateKey::OfReference(spec["resource"]));
    const bool managed = !object.is_null() && profiles_.Managing(object) != nullptr;
    if (!managed && !spec["placement"].is_null()) ++plan.unmanaged;
  }
  if (!plan.why_not.empty()) co_return plan;
  MoveLimits limits = LimitsOf(hub_.clusters(), limits_);
  if (most > 0) limits.out_of[cluster] = most;
  Order(plan, limits);
  CO_TRY(co_await PlanMovesOf(plan));
  plan.expected = Expected(plan);
  co_return plan;
}

bool ClusterPlan::Refused() const {
  return !why_not.empty() || std::ranges::any_of(items, [](const Item& item) {
    return (item.round == 0 && !item.under_way) || (item.plan && !item.plan->Problems().empty());
  });
}

Value ClusterPlan::Json() const {
  Value list = json::Array();
  for (const Item& item : items) {
    Value one = item.plan ? item.plan->Json() : json::Object({});
    const auto words = Split(item.key, '/');
    one.Set("kind", words[0]);
    one.Set("namespace", words[1]);
    one.Set("name", words[2]);
    one.Set("round", static_cast<int64_t>(item.round));
    if (item.round == 0) one.Set("message", item.message);
    list.Push(one);
  }
  Value value = json::Object({{"cluster", cluster},
                              {"ok", !Refused()},
                              {"rounds", static_cast<int64_t>(rounds)},
                              {"moves", list},
                              {"unmanaged", static_cast<int64_t>(unmanaged)}});
  if (!why_not.empty()) value.Set("problem", why_not);
  if (expected) value.Set("expectedSeconds", static_cast<int64_t>(*expected / seconds(1)));
  return value;
}

}  // namespace baton::rollout
