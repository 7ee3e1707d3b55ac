// Putting the simulated world together, and taking it apart.
#include "sim/world.h"

#include <utility>

#include "base/invariant.h"
#include "base/strings.h"
#include "federation/admission.h"
#include "federation/resources.h"
#include "kube/borrowed_api.h"
#include "practice/flink_operator.h"

namespace baton::sim {

using json::Value;

namespace {

constexpr std::string_view kKarmadaName = "karmada";
constexpr Duration kAppendEvery = milliseconds(500);  // of records to the sources

// Writes arrive late, for as long as that is not zero; and while it hangs nothing comes or goes.
class SlowPlan final : public kube::FaultPlan {
 public:
  // All outlive this.
  SlowPlan(kube::FaultPlan& below, rt::Loop& loop, const Slowness& slow) : below_(below), loop_(loop), slow_(slow) {}

  kube::FaultDecision ForCall(const kube::Call& call) override {
    if (const Duration rest = Hangs(); rest > Duration{}) return {.fault = kube::Fault::kDelay, .delay = rest};
    const kube::FaultDecision decision = below_.ForCall(call);
    const bool late = slow_.writes > Duration{} && call.IsWrite() && decision.fault == kube::Fault::kNone;
    return late ? kube::FaultDecision{.fault = kube::Fault::kDelay, .delay = slow_.writes} : decision;
  }
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override {
    if (const Duration rest = Hangs(); rest > Duration{}) return {.fault = kube::Fault::kDelay, .delay = rest};
    return below_.ForOpen(call);
  }
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override {
    if (const Duration rest = Hangs(); rest > Duration{}) return {.fault = kube::Fault::kWatchDelay, .delay = rest};
    return below_.ForChanges(call);
  }

 private:
  Duration Hangs() const { return slow_.hangs_until - loop_.Now(); }

  kube::FaultPlan& below_;
  rt::Loop& loop_;
  const Slowness& slow_;
};

// What is scripted, and where nothing is, the other plan.
class ScriptedFirst final : public kube::FaultPlan {
 public:
  // Both outlive this.
  ScriptedFirst(kube::FaultPlan& scripted, kube::FaultPlan& below) : scripted_(scripted), below_(below) {}

  kube::FaultDecision ForCall(const kube::Call& call) override {
    const kube::FaultDecision decision = scripted_.ForCall(call);
    return decision.fault == kube::Fault::kNone ? below_.ForCall(call) : decision;
  }
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override {
    const kube::FaultDecision decision = scripted_.ForOpen(call);
    return decision.fault == kube::Fault::kNone ? below_.ForOpen(call) : decision;
  }
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override {
    const kube::FaultDecision decision = scripted_.ForChanges(call);
    return decision.fault == kube::Fault::kNone ? below_.ForChanges(call) : decision;
  }

 private:
  kube::FaultPlan& scripted_;
  kube::FaultPlan& below_;
};

}  // namespace

Controllers::Controllers(kube::Api& hub, federation::Connect connect, ControllersOptions options)
    : gate(hub, profiles),
      federation(hub, interpreter, std::move(connect), {.claim_templates = options.claim_templates, .gate = &gate}),
      rollout(federation, gate, profiles,
              {.fence = [fence = options.fence] { return fence; },
               .outranked = std::move(options.outranked),
               .own_hub = options.own_hub}),
      alongside(options.own_hub ? nullptr : std::make_unique<rollout::Alongside>(federation, gate, profiles, nullptr)),
      scope(hub.loop()) {
  scope.Spawn(rollout.Run());
  scope.Spawn(options.own_hub ? RunPipe() : alongside->Run());
}

rt::Task<void> Controllers::RunPipe() {
  co_await rollout.UntilManagedIsKnown();
  co_await federation.Run();
}

World::World(rt::VirtualLoop& loop) : loop_(loop), hub_(loop) {}
World::~World() = default;

rt::Task<Result<Server>> World::StartServer() {
  Server server;
  server.store = CO_TRY(co_await store::Store::Open(loop_, store::MakeMemoryEngine()));
  server.backend = CO_TRY(co_await apiserver::Backend::Start(loop_, *server.store));
  server.api = std::make_unique<kube::LocalApi>(*server.backend);
  co_return server;
}

// An empty cluster: its server, its kinds, its operators.
rt::Task<Result<void>> World::Furnish(Member& member, std::string name) {
  member.server = CO_TRY(co_await StartServer());
  if (options_.kinds) {
    CO_TRY(co_await practice::InstallPracticeKinds(*member.server.api));
  } else {
    CO_TRY(co_await practice::InstallFlinkKinds(*member.server.api));
  }
  practice::PracticeClusterOptions practice;
  practice.kinds = options_.kinds;
  practice.nodes = options_.nodes;
  practice.flink = practice.flink.Faster(options_.operator_speed);
  practice.flink.version = options_.flink;
  member.practice =
      std::make_unique<practice::PracticeCluster>(*member.server.api, *commons_, std::move(name), practice);
  if (options_.operators) scope_->Spawn(member.practice->Run());
  co_return Result<void>();
}

rt::Task<Result<void>> World::AddMember(std::string name) {
  auto member = std::make_unique<Member>();
  CO_TRY(co_await Furnish(*member, name));
  member->door = std::make_unique<SwitchedApi>(*member->server.api);
  if (leader_ != nullptr) Reach(*leader_, name, *member);
  if (karmada_ != nullptr) ReachAs(*karmada_, name, *member);
  members_[name] = std::move(member);
  co_return Result<void>();
}

rt::Task<Result<void>> World::Join(std::string name, Value more) {
  if (!members_.contains(name)) CO_TRY(co_await AddMember(name));
  Value cluster = json::Object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                {"kind", "Cluster"},
                                {"metadata", json::Object({{"name", name}})},
                                {"spec", json::Object({{"syncMode", "Push"}})}});
  for (const json::Member& field : more["spec"].members()) cluster.Edit("spec").Set(field.key(), field.value());
  for (const std::string_view field : {"labels", "annotations"}) {
    if (!more[field].is_null()) cluster.Edit("metadata").Set(field, more[field]);
  }
  CO_TRY(co_await hub().Create(federation::kClusters, cluster));
  co_return Result<void>();
}

rt::Task<Result<void>> World::Replace(std::string name) {
  Member& member = *members_.at(name);
  replaced_.push_back({.server = std::move(member.server), .practice = std::move(member.practice)});
  // Only the control plane knows it by the old one's name.
  CO_TRY(co_await Furnish(member, StrCat(name, "-", replaced_.size() + 1)));
  member.door->Switch(*member.server.api);
  co_return Result<void>();
}

std::vector<std::string> World::members() const {
  std::vector<std::string> names;
  names.reserve(members_.size());
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

rt::Task<Result<void>> World::Start(WorldOptions options) {
  options_ = options;
  files_ = std::make_unique<rt::SimulatedFiles>(loop_);
  storage_ = std::make_unique<practice::Storage>(*files_);
  commons_ = std::make_unique<practice::Commons>(loop_, *storage_);
  commons_->SetAppendEvery(kAppendEvery);
  scope_ = std::make_unique<rt::Scope>(loop_);
  CO_TRY(co_await StartHub());
  CO_TRY(co_await federation::InstallCrds(hub_.api()));
  if (options.kinds) CO_TRY(co_await practice::InstallPracticeKinds(hub_.api()));
  for (const std::string& name : options.clusters) CO_TRY(co_await Join(name));
  if (!options.own_hub && options.controllers) StartKarmada();
  if (options.controllers) StartController();
  co_return Result<void>();
}

rt::Task<Result<void>> World::StartHub() {
  return hub_.Start([this](apiserver::Backend& backend) {
    backend.core().AddAdmission(federation::MakeAdmission(loop_, &interpreter_));
  });
}

void World::CrashHub(bool with_controllers) {
  if (!hub_.up()) return;
  leader_died_with_hub_ = with_controllers && leader_ != nullptr;
  if (story_ != nullptr)
    story_->Tell("hub", leader_died_with_hub_ ? "dies, and the controllers with it" : "dies; the controllers go on");
  if (leader_died_with_hub_) leader_.reset();
  hub_.Crash();
}

void World::RestoreHub(const HubDisk::Backup& backup) {
  INVARIANT(!hub_.up(), "a backup is put back while the hub is down");
  if (story_ != nullptr) story_->Tell("person", "puts a backup back on the hub's disk");
  hub_.disk().Restore(backup);
  if (on_hub_restored_ != nullptr) on_hub_restored_();
}

rt::Task<void> World::ReviveHub() {
  if (hub_.up()) co_return;
  const Result<void> started = co_await StartHub();
  INVARIANT(started.ok(), started.error().message());
  if (story_ != nullptr) story_->Tell("hub", "is back with what its disk has");
  if (std::exchange(leader_died_with_hub_, false) && leader_ == nullptr) StartController();
}

void World::Tell(std::string_view what) {
  if (story_ != nullptr) story_->Tell(StrCat("leader ", fence_), what);
}

void World::KillController() {
  if (leader_ != nullptr) Tell("dies");
  leader_.reset();
}

void World::DeposeController(Duration slow, Duration hangs) {
  if (leader_ != nullptr) Tell("loses its lease, and does not know it");
  if (leader_ != nullptr && slow > Duration{}) {
    leader_->slow.writes = slow;
    Tell(StrCat("its writes take ", slow / milliseconds(1), " ms from here on"));
  }
  if (hangs > Duration{}) HangController(hangs);
  deposed_.push_back(std::move(leader_));
}

void World::HangController(Duration hangs) {
  if (leader_ == nullptr) return;
  leader_->slow.hangs_until = loop_.Now() + hangs;
  Tell(StrCat("hangs for ", hangs / milliseconds(1), " ms"));
}

void World::KillDeposed() {
  if (!deposed_.empty() && story_ != nullptr) story_->Tell("leaders", "those that lost their lease end");
  deposed_.clear();
}

void World::CutOff(const std::string& name, Cut cut) {
  Cut& now = members_.at(name)->cut;
  constexpr std::string_view kTold[] = {"is back", "is cut off", "is cut off one way: it hears, and is not heard"};
  if (story_ != nullptr && now != cut) story_->Tell(StrCat("cluster ", name), kTold[static_cast<size_t>(cut)]);
  now = cut;
}

kube::FaultPlan& World::PlanFor(Plans& plans, kube::FaultPlan& scripted, const Cut* cut, const Slowness* slow,
                                std::string_view who, std::string_view whom) {
  kube::FaultPlan* plan = &scripted;
  if (plan_ != nullptr) {
    plans.push_back(std::make_unique<ScriptedFirst>(scripted, *plan_));
    plan = plans.back().get();
  }
  if (plan_of_) plan = &plan_of_(std::string(whom), fence_);
  if (slow != nullptr) {
    plans.push_back(std::make_unique<SlowPlan>(*plan, loop_, *slow));
    plan = plans.back().get();
  }
  return Told(plans, *plan, cut, book_, who, whom);
}

kube::FaultPlan& World::Told(Plans& plans, kube::FaultPlan& below, const Cut* cut, CallBook* book, std::string_view who,
                             std::string_view whom) {
  kube::FaultPlan* plan = &below;
  const auto wrap = [&](std::unique_ptr<kube::FaultPlan> outer) {
    plan = outer.get();
    plans.push_back(std::move(outer));
  };
  if (cut != nullptr) wrap(std::make_unique<CutPlan>(*plan, *cut));
  if (book != nullptr) wrap(std::make_unique<BookedPlan>(*plan, *book, whom));
  if (story_ != nullptr) wrap(std::make_unique<ToldPlan>(*plan, *story_, StrCat(who, " -> ", whom)));
  return *plan;
}

void World::Reach(Leader& leader, const std::string& name, Member& member) {
  leader.members[name] = std::make_unique<kube::FaultyApi>(
      *member.door, PlanFor(leader.plans, member.faults, &member.cut, &leader.slow, StrCat("leader ", fence_), name));
}

void World::StartController() {
  leader_.reset();
  ++fence_;
  Tell("starts");
  leader_ = std::make_unique<Leader>();
  Leader& leader = *leader_;
  leader.hub = std::make_unique<kube::FaultyApi>(
      hub_.api(), PlanFor(leader.plans, hub_faults_, nullptr, &leader.slow, StrCat("leader ", fence_), "hub"));
  for (auto& [name, member] : members_) Reach(leader, name, *member);
  leader.controllers = std::make_unique<Controllers>(
      *leader.hub,
      [&leader](const Value& cluster, const Value&) -> Result<std::unique_ptr<kube::Api>> {
        const auto at = leader.members.find(std::string(kube::NameOf(cluster)));
        if (at == leader.members.end()) return NotFoundError("there is no such cluster in this world");
        return std::unique_ptr<kube::Api>(std::make_unique<kube::BorrowedApi>(*at->second));
      },
      ControllersOptions{.fence = fence_, .claim_templates = options_.claim_templates, .own_hub = options_.own_hub});
}

kube::FaultPlan& World::PlanOfKarmada(ForeignPipe& pipe, const Cut* cut, const std::string& whom) {
  kube::FaultPlan* plan = karmada_plan_ != nullptr ? karmada_plan_ : &pipe.no_faults;
  if (plan_of_) plan = &plan_of_(whom, kKarmada);
  return Told(pipe.plans, *plan, cut, nullptr, kKarmadaName, whom);
}

void World::ReachAs(ForeignPipe& pipe, const std::string& name, Member& member) {
  pipe.members[name] = std::make_unique<kube::FaultyApi>(*member.door, PlanOfKarmada(pipe, &member.cut, name));
}

void World::StartKarmada() {
  if (story_ != nullptr) story_->Tell(kKarmadaName, karmada_ == nullptr ? "starts" : "dies and begins again");
  karmada_.reset();
  karmada_ = std::make_unique<ForeignPipe>();
  ForeignPipe& pipe = *karmada_;
  pipe.hub = std::make_unique<kube::FaultyApi>(hub_.api(), PlanOfKarmada(pipe, nullptr, "hub"));
  for (auto& [name, member] : members_) ReachAs(pipe, name, *member);
  pipe.federation = std::make_unique<federation::Federation>(
      *pipe.hub, pipe.interpreter,
      [&pipe](const Value& cluster, const Value&) -> Result<std::unique_ptr<kube::Api>> {
        const auto at = pipe.members.find(std::string(kube::NameOf(cluster)));
        if (at == pipe.members.end()) return NotFoundError("there is no such cluster in this world");
        return std::unique_ptr<kube::Api>(std::make_unique<kube::BorrowedApi>(*at->second));
      },
      federation::HubOptions{.claim_templates = options_.claim_templates});
  pipe.scope = std::make_unique<rt::Scope>(loop_);
  pipe.scope->Spawn(pipe.federation->Run());
  KarmadaFailsOver(karmada_tolerates_);
}

bool World::KarmadaKnows(const std::string& override_policy) const {
  return karmada_ != nullptr && karmada_->federation->hub().OverrideGeneration("default", override_policy) >= 0;
}

void World::SpendQuota(const std::string& cluster, std::string plural) {
  members_.at(cluster)->door->SpendQuota(std::move(plural));
}

void World::Lie(const std::string& cluster, bool lies) {
  TellStory(StrCat("cluster ", cluster), lies ? "its operator lies from here on" : "its operator says the truth again");
  Member& member = *members_.at(cluster);
  if (member.door->lies()) member.lied_until = loop_.Now();
  member.door->Lie(lies);
}

bool World::LiedWithin(const std::string& cluster, Duration past) const {
  const Member& member = *members_.at(cluster);
  return member.door->lies() || (member.lied_until && loop_.Now() - *member.lied_until <= past);
}

void World::KarmadaFailsOver(std::optional<Duration> tolerates) {
  karmada_tolerates_ = tolerates;
  if (karmada_ == nullptr) return;
  karmada_->failover_scope.reset();
  if (!tolerates) return;
  karmada_->failover = std::make_unique<KarmadaFailover>(*karmada_->hub, *tolerates, evictions_);
  karmada_->failover_scope = std::make_unique<rt::Scope>(loop_);
  karmada_->failover_scope->Spawn(karmada_->failover->Run());
}

rt::Task<void> World::Stop() {
  leader_.reset();
  karmada_.reset();
  deposed_.clear();
  replicas_.clear();
  network_.reset();
  ways_.clear();
  scope_.reset();
  for (auto& [name, member] : members_)
    replaced_.push_back({.server = std::move(member->server), .practice = std::move(member->practice)});
  for (Replaced& one : replaced_) one.practice.reset();
  commons_.reset();
  for (auto& [server, practice] : replaced_) {
    server.api.reset();
    server.backend.reset();
    co_await server.store->Close();
  }
  members_.clear();
  replaced_.clear();
  co_await hub_.Stop();
}

rt::Task<Result<Value>> World::Apply(kube::Resource resource, Value object) {
  return hub().Apply(std::move(resource), std::move(object), {.field_manager = "kubectl", .force = true});
}

rt::Task<Value> World::OnHub(kube::Resource resource, std::string key) {
  Result<Value> got = co_await hub().Get(std::move(resource), kube::Name::FromKey(key));
  co_return got.ok() ? *std::move(got) : Value();
}

rt::Task<Value> World::OnMember(std::string cluster, kube::Resource resource, std::string key) {
  Result<Value> got = co_await members_.at(cluster)->server.api->Get(std::move(resource), kube::Name::FromKey(key));
  co_return got.ok() ? *std::move(got) : Value();
}

rt::Task<bool> World::Until(std::function<rt::Task<bool>()> holds, Duration within, Duration look_every) {
  const MonotonicTime end = loop_.Now() + within;
  while (!co_await holds()) {
    if (loop_.Now() >= end) co_return false;
    co_await loop_.Sleep(look_every);
  }
  co_return true;
}

rt::Task<Result<practice::JudgeReport>> World::Judge(std::string ns, std::string name) {
  return practice::Judge(*files_, "", std::move(ns), std::move(name));
}

}  // namespace baton::sim
