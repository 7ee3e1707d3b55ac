// World: a hub, members with practice workloads, and the control plane between them, on one virtual loop. Everything is
// the production code; only time, chance, disks and the network between the parts are simulated.
//
//   VirtualLoop loop(seed);
//   World world(loop);
//   co_await world.Start({.clusters = {"blue", "green"}});
//   co_await world.Apply(kFlinkDeployments, manifest);
//   co_await world.Until([&] { ... }, minutes(5));
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/backend.h"
#include "federation/federation.h"
#include "interpret/interpreter.h"
#include "json/value.h"
#include "kube/api.h"
#include "kube/faulty_api.h"
#include "kube/local_api.h"
#include "practice/cluster.h"
#include "practice/commons.h"
#include "practice/judge.h"
#include "practice/storage.h"
#include "rollout/gate.h"
#include "rollout/profiles.h"
#include "rollout/rollout.h"
#include "rt/scope.h"
#include "rt/simulated_files.h"
#include "rt/virtual_loop.h"
#include "sim/story.h"
#include "store/store.h"

namespace baton::sim {

struct WorldOptions {
  std::vector<std::string> clusters = {"blue", "green"};
  int operator_speed = 20;  // how many times faster than real ones the practice operators look
  bool kinds = false;       // not only Flink: all that practice clusters play
  bool operators = true;    // false: nothing runs in the members, as in stories about the federation alone
  bool claim_templates = false;
};

// One API server in memory.
struct Server {
  std::unique_ptr<store::Store> store;
  std::unique_ptr<apiserver::Backend> backend;
  std::unique_ptr<kube::LocalApi> api;
};

// An Api that passes on to one that can be changed.
class SwitchedApi final : public kube::Api {
 public:
  explicit SwitchedApi(kube::Api& below) : below_(&below) {}  // outlives this
  void Switch(kube::Api& below) { below_ = &below; }

  rt::Loop& loop() override { return below_->loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::Call call, rt::Deadline deadline) override {
    return below_->Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return below_->OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_->Discover(deadline); }

 private:
  kube::Api* below_;
};

// The control plane of one process: what a leader runs.
struct Controllers {
  Controllers(kube::Api& hub, federation::Connect connect, int64_t fence, bool claim_templates);

  interpret::Interpreter interpreter;
  rollout::ProfileSet profiles;
  rollout::Gate gate;
  federation::Federation federation;
  rollout::Rollout rollout;
  rt::Scope scope;  // last, so that it goes first
};

// A leader: its controllers, and how they reach hub and members.
struct Leader {
  std::vector<std::unique_ptr<kube::FaultPlan>> plans;
  std::unique_ptr<kube::FaultyApi> hub;
  std::map<std::string, std::unique_ptr<kube::FaultyApi>> members;
  std::unique_ptr<Controllers> controllers;  // last, so that it goes first
};

class World {
 public:
  explicit World(rt::VirtualLoop& loop);
  ~World();

  rt::Task<Result<void>> Start(WorldOptions options);
  // A further member; `more` may have labels, and a spec to be added to that of its Cluster.
  rt::Task<Result<void>> Join(std::string name, json::Value more = {});
  // Another, empty cluster answers under that name, and what was open there is cut. Only without operators.
  rt::Task<Result<void>> Replace(std::string name);
  rt::Task<void> Stop();

  // The leader dies, and another one starts (with a higher fence).
  void KillController();
  void StartController();
  bool controller_runs() const { return leader_ != nullptr; }
  // The leader does not know yet that it is none any more: it goes on until KillDeposed().
  void DeposeController();
  void KillDeposed();

  // On the hub, as kubectl apply does.
  rt::Task<Result<json::Value>> Apply(kube::Resource resource, json::Value object);
  rt::Task<json::Value> OnHub(kube::Resource resource, std::string key);
  rt::Task<json::Value> OnMember(std::string cluster, kube::Resource resource, std::string key);
  // Until it holds; false: it did not within that time. Looks whenever something happens, at least every 100 ms.
  rt::Task<bool> Until(std::function<rt::Task<bool>()> holds, Duration within);

  rt::Task<Result<practice::JudgeReport>> Judge(std::string ns, std::string name);

  rt::VirtualLoop& loop() { return loop_; }
  kube::Api& hub() { return *hub_.api; }
  bool has_member(const std::string& name) const { return members_.contains(name); }
  std::vector<std::string> members() const;
  size_t member_count() const { return members_.size(); }
  int64_t leader() const { return fence_; }  // the number of the newest one
  kube::Api& member(const std::string& name) { return *members_.at(name)->server.api; }
  practice::PracticeCluster& practice(const std::string& name) { return *members_.at(name)->practice; }
  kube::ScriptedFaults& hub_faults() { return hub_faults_; }
  kube::ScriptedFaults& member_faults(const std::string& name) { return members_.at(name)->faults; }
  // Between controllers and that member; what runs there goes on.
  void CutOff(const std::string& name, bool cut);
  // Random faults instead of scripted ones, from the next controller on; null: none.
  void SetFaultPlan(kube::FaultPlan* plan) { plan_ = plan; }
  // A plan for each leader and each that it calls ("hub", or a member), from the next controller on; they outlive it.
  using PlanOf = std::function<kube::FaultPlan&(const std::string& whom, int64_t leader)>;
  void SetFaultPlans(PlanOf plan_of) { plan_of_ = std::move(plan_of); }
  // Where what happens is told, from the next controller on; null: nowhere.
  void SetStory(Story* story) { story_ = story; }
  Controllers* controllers() { return leader_ == nullptr ? nullptr : leader_->controllers.get(); }

 private:
  struct Member {
    Server server;
    std::unique_ptr<SwitchedApi> door;  // to that server
    kube::ScriptedFaults faults;
    bool cut = false;
    std::unique_ptr<practice::PracticeCluster> practice;
  };

  rt::Task<Result<Server>> StartServer();
  rt::Task<Result<void>> AddMember(std::string name);
  void Reach(Leader& leader, const std::string& name, Member& member);
  kube::FaultPlan& PlanFor(Leader& leader, kube::FaultPlan& scripted, const bool* cut, std::string_view whom);
  void Tell(std::string_view what);

  rt::VirtualLoop& loop_;
  WorldOptions options_;
  std::unique_ptr<rt::SimulatedFiles> files_;
  std::unique_ptr<practice::Storage> storage_;
  std::unique_ptr<practice::Commons> commons_;
  interpret::Interpreter interpreter_;  // of the hub's admission
  Server hub_;
  kube::ScriptedFaults hub_faults_;
  kube::FaultPlan* plan_ = nullptr;
  PlanOf plan_of_;
  Story* story_ = nullptr;
  std::map<std::string, std::unique_ptr<Member>> members_;
  std::vector<Server> replaced_;
  int64_t fence_ = 0;
  std::unique_ptr<rt::Scope> scope_;  // practice clusters
  std::unique_ptr<Leader> leader_;
  std::vector<std::unique_ptr<Leader>> deposed_;
};

}  // namespace baton::sim
