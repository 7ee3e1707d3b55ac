// Putting the simulated world together, and taking it apart.
#include "sim/world.h"

#include <utility>

#include "base/strings.h"
#include "federation/admission.h"
#include "federation/resources.h"
#include "kube/borrowed_api.h"
#include "practice/flink_operator.h"

namespace baton::sim {
namespace {

using json::Value;

constexpr Duration kLookEvery = milliseconds(100);

}  // namespace

Controllers::Controllers(kube::Api& hub, federation::Connect connect, int64_t fence)
    : gate(hub, profiles),
      federation(hub, interpreter, std::move(connect), {.gate = &gate}),
      rollout(federation, gate, profiles, {.fence = [fence] { return fence; }}),
      scope(hub.loop()) {
  scope.Spawn(federation.Run());
  scope.Spawn(rollout.Run());
}

World::World(rt::VirtualLoop& loop) : loop_(loop) {}
World::~World() = default;

rt::Task<Result<Server>> World::StartServer() {
  Server server;
  server.store = CO_TRY(co_await store::Store::Open(loop_, store::MakeMemoryEngine()));
  server.backend = CO_TRY(co_await apiserver::Backend::Start(loop_, *server.store));
  server.api = std::make_unique<kube::LocalApi>(*server.backend);
  co_return server;
}

rt::Task<Result<void>> World::Start(WorldOptions options) {
  files_ = std::make_unique<rt::SimulatedFiles>(loop_);
  storage_ = std::make_unique<practice::Storage>(*files_);
  commons_ = std::make_unique<practice::Commons>(loop_, *storage_);
  scope_ = std::make_unique<rt::Scope>(loop_);
  hub_ = CO_TRY(co_await StartServer());
  hub_.backend->core().AddAdmission(federation::MakeAdmission(loop_, &interpreter_));
  CO_TRY(co_await federation::InstallCrds(*hub_.api));
  if (options.kinds) CO_TRY(co_await practice::InstallPracticeKinds(*hub_.api));
  for (const std::string& name : options.clusters) {
    auto member = std::make_unique<Member>();
    member->server = CO_TRY(co_await StartServer());
    if (options.kinds) {
      CO_TRY(co_await practice::InstallPracticeKinds(*member->server.api));
    } else {
      CO_TRY(co_await practice::InstallFlinkKinds(*member->server.api));
    }
    practice::PracticeClusterOptions practice;
    practice.kinds = options.kinds;
    practice.flink = practice.flink.Faster(options.operator_speed);
    member->practice = std::make_unique<practice::PracticeCluster>(*member->server.api, *commons_, name, practice);
    scope_->Spawn(member->practice->Run());
    members_[name] = std::move(member);
    const Value cluster = json::Object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                                        {"kind", "Cluster"},
                                        {"metadata", json::Object({{"name", name}})},
                                        {"spec", json::Object({{"syncMode", "Push"}})}});
    CO_TRY(co_await hub_.api->Create(federation::kClusters, cluster));
  }
  StartController();
  co_return Result<void>();
}

void World::Tell(std::string_view what) {
  if (story_ != nullptr) story_->Tell(StrCat("leader ", fence_), what);
}

void World::KillController() {
  if (leader_ != nullptr) Tell("dies");
  leader_.reset();
}

void World::DeposeController() {
  if (leader_ != nullptr) Tell("loses its lease, and does not know it");
  deposed_.push_back(std::move(leader_));
}

void World::KillDeposed() {
  if (!deposed_.empty() && story_ != nullptr) story_->Tell("leaders", "those that lost their lease end");
  deposed_.clear();
}

void World::CutOff(const std::string& name, bool cut) {
  bool& now = members_.at(name)->cut;
  if (story_ != nullptr && now != cut) story_->Tell(StrCat("cluster ", name), cut ? "is cut off" : "is back");
  now = cut;
}

kube::FaultPlan& World::PlanFor(Leader& leader, kube::FaultPlan& scripted, const bool* cut, std::string_view whom) {
  kube::FaultPlan* plan = plan_ == nullptr ? &scripted : plan_;
  const auto wrap = [&](std::unique_ptr<kube::FaultPlan> outer) {
    plan = outer.get();
    leader.plans.push_back(std::move(outer));
  };
  if (cut != nullptr) wrap(std::make_unique<CutPlan>(*plan, *cut));
  if (story_ != nullptr) wrap(std::make_unique<ToldPlan>(*plan, *story_, StrCat("leader ", fence_, " -> ", whom)));
  return *plan;
}

void World::StartController() {
  leader_.reset();
  ++fence_;
  Tell("starts");
  leader_ = std::make_unique<Leader>();
  Leader& leader = *leader_;
  leader.hub = std::make_unique<kube::FaultyApi>(*hub_.api, PlanFor(leader, hub_faults_, nullptr, "hub"));
  for (auto& [name, member] : members_) {
    leader.members[name] =
        std::make_unique<kube::FaultyApi>(*member->server.api, PlanFor(leader, member->faults, &member->cut, name));
  }
  leader.controllers = std::make_unique<Controllers>(
      *leader.hub,
      [&leader](const Value& cluster, const Value&) -> Result<std::unique_ptr<kube::Api>> {
        const auto at = leader.members.find(std::string(kube::NameOf(cluster)));
        if (at == leader.members.end()) return NotFoundError("there is no such cluster in this world");
        return std::unique_ptr<kube::Api>(std::make_unique<kube::BorrowedApi>(*at->second));
      },
      fence_);
}

rt::Task<void> World::Stop() {
  leader_.reset();
  deposed_.clear();
  scope_.reset();
  for (auto& [name, member] : members_) member->practice.reset();
  commons_.reset();
  for (auto& [name, member] : members_) {
    member->server.api.reset();
    member->server.backend.reset();
    co_await member->server.store->Close();
  }
  members_.clear();
  hub_.api.reset();
  hub_.backend.reset();
  co_await hub_.store->Close();
}

rt::Task<Result<Value>> World::Apply(kube::Resource resource, Value object) {
  return hub_.api->Apply(std::move(resource), std::move(object), {.field_manager = "kubectl", .force = true});
}

rt::Task<Value> World::OnHub(kube::Resource resource, std::string key) {
  Result<Value> got = co_await hub_.api->Get(std::move(resource), kube::Name::FromKey(key));
  co_return got.ok() ? *std::move(got) : Value();
}

rt::Task<Value> World::OnMember(std::string cluster, kube::Resource resource, std::string key) {
  Result<Value> got = co_await members_.at(cluster)->server.api->Get(std::move(resource), kube::Name::FromKey(key));
  co_return got.ok() ? *std::move(got) : Value();
}

rt::Task<bool> World::Until(std::function<rt::Task<bool>()> holds, Duration within) {
  const MonotonicTime end = loop_.Now() + within;
  while (!co_await holds()) {
    if (loop_.Now() >= end) co_return false;
    co_await loop_.Sleep(kLookEvery);
  }
  co_return true;
}

rt::Task<Result<practice::JudgeReport>> World::Judge(std::string ns, std::string name) {
  return practice::Judge(*files_, "", std::move(ns), std::move(name));
}

}  // namespace baton::sim
