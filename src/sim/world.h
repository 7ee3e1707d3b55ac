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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/backend.h"
#include "federation/federation.h"
#include "interpret/interpreter.h"
#include "json/value.h"
#include "kube/api.h"
#include "kube/election.h"
#include "kube/faulty_api.h"
#include "kube/local_api.h"
#include "practice/cluster.h"
#include "practice/commons.h"
#include "practice/judge.h"
#include "practice/storage.h"
#include "rollout/alongside.h"
#include "rollout/gate.h"
#include "rollout/profiles.h"
#include "rollout/rollout.h"
#include "rt/scope.h"
#include "rt/simulated_files.h"
#include "rt/virtual_loop.h"
#include "sim/call_book.h"
#include "sim/hub_process.h"
#include "sim/karmada_failover.h"
#include "sim/lies.h"
#include "sim/story.h"
#include "store/store.h"

namespace baton::sim {

// More turns of the loop without time moving on are a livelock: somebody goes round and round. (The busiest instants of
// whole days have some thousands.)
inline constexpr uint64_t kStepsPerInstant = 1'000'000;

struct WorldOptions {
  std::vector<std::string> clusters = {"blue", "green"};
  int operator_speed = 20;  // how many times faster than real ones the practice operators look
  bool kinds = false;       // not only Flink: all that practice clusters play
  bool operators = true;    // false: nothing runs in the members, as in stories about the federation alone
  bool claim_templates = false;
  bool controllers = true;  // false: StartController() (and StartKarmada()) are called when all is put
  int nodes = 2;            // of each cluster
  bool own_hub = true;      // false: another federation places and carries (ForeignPipe), and we are beside it
  practice::OperatorVersion flink = practice::OperatorVersion::kV1x15;  // of the practice operators
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
  // From now on none of that resource can be created, also not tentatively; "": all can.
  void SpendQuota(std::string plural) { spent_ = std::move(plural); }
  // From now on what operators say of their workloads are lies (sim/lies.h), or the truth again.
  void Lie(bool lies) { lies_ = lies; }
  bool lies() const { return lies_; }

  rt::Loop& loop() override { return below_->loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    if (call->verb == kube::Verb::kCreate && call->resource.plural == spent_) return Refused(call->resource.plural);
    if (lies_) return LyingAnswer(below_->Do(std::move(call), deadline));
    return below_->Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    std::unique_ptr<kube::Watch> watch = CO_TRY(co_await below_->OpenWatch(std::move(call), deadline));
    co_return LyingWatch(std::move(watch), lies_);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return below_->Discover(deadline); }

 private:
  static rt::Task<Result<kube::Answer>> Refused(std::string plural) {
    co_return Error(ErrorKind::kForbidden, StrCat("exceeded quota: baton-practice, requested: count/", plural, "=1"));
  }

  kube::Api* below_;
  std::string spent_;
  bool lies_ = false;
};

struct ControllersOptions {
  int64_t fence = 1;
  bool claim_templates = false;
  bool own_hub = true;
  std::function<void(int64_t fence)> outranked;
};

// The control plane of one process: what a leader runs.
struct Controllers {
  Controllers(kube::Api& hub, federation::Connect connect, ControllersOptions options);

  interpret::Interpreter interpreter;
  rollout::ProfileSet profiles;
  rollout::Gate gate;
  federation::Federation federation;
  rollout::Rollout rollout;
  std::unique_ptr<rollout::Alongside> alongside;  // on a hub of others
  rt::Scope scope;                                // last, so that it goes first

 private:
  rt::Task<void> RunPipe();
};

using Plans = std::vector<std::unique_ptr<kube::FaultPlan>>;

// The federation of a hub that is not ours. It stands in for a Karmada: our own pipe without the RunGate, with
// calls of its own that faults may meet (who: "karmada"). It knows nothing of moves, and writes what it finds.
struct ForeignPipe {
  kube::ScriptedFaults no_faults;
  Plans plans;
  std::unique_ptr<kube::FaultyApi> hub;
  std::map<std::string, std::unique_ptr<kube::FaultyApi>> members;
  interpret::Interpreter interpreter;
  std::unique_ptr<federation::Federation> federation;
  std::unique_ptr<KarmadaFailover> failover;
  std::unique_ptr<rt::Scope> failover_scope;
  std::unique_ptr<rt::Scope> scope;  // last, so that it goes first
};

struct Slowness {
  Duration writes{};            // what they take to arrive
  MonotonicTime hangs_until{};  // nothing comes or goes before
};

// A leader: its controllers, and how they reach hub and members.
struct Leader {
  Plans plans;
  Slowness slow;
  std::unique_ptr<kube::FaultyApi> hub;
  std::map<std::string, std::unique_ptr<kube::FaultyApi>> members;
  std::unique_ptr<Controllers> controllers;  // last, so that it goes first
};

// How a replica reaches hub and members. Stays when the replica dies: what it sent is still under way.
struct Ways {
  Plans plans;
  std::vector<std::unique_ptr<kube::Api>> apis;
  bool lease_cut = false;  // calls for the lease fail
  kube::Api* hub = nullptr;
  std::map<std::string, kube::Api*> members;
};

// One of several control planes of one hub, in a simulated process of its own (rt/virtual_loop.h): it waits to be
// elected (kube/election.h), leads, and begins again when it lost the lease.
struct Replica {
  std::string name;
  rt::VirtualLoop::ProcessId process = 0;
  Ways* ways = nullptr;
  std::unique_ptr<kube::Election> election;
  std::optional<int64_t> leads;      // as it thinks; its fence
  MonotonicTime thawed{};            // when it last went on after a pause
  std::unique_ptr<rt::Scope> scope;  // last, so that it goes first
};

class World {
 public:
  explicit World(rt::VirtualLoop& loop);
  ~World();

  rt::Task<Result<void>> Start(WorldOptions options);
  // A further member; `more` may have labels, annotations, and a spec to be added to that of its Cluster.
  rt::Task<Result<void>> Join(std::string name, json::Value more = {});
  // Another, empty cluster answers under that name. What runs in the old one goes on, and nobody reaches it.
  rt::Task<Result<void>> Replace(std::string name);
  rt::Task<void> Stop();

  // The leader dies, and another one starts (with a higher fence).
  void KillController();
  void StartController();
  bool controller_runs() const { return leader_ != nullptr; }
  // The leader does not know yet that it is none any more: it goes on until KillDeposed().
  // Slow: from here on its writes take that long to arrive. Hangs: for so long nothing that it sends arrives, nor does
  // it hear anything.
  void DeposeController(Duration slow = {}, Duration hangs = {});
  void KillDeposed();
  // From the next call on nothing that the leader sends arrives for so long, nor does it hear anything.
  void HangController(Duration hangs);

  // The hub's process dies. `with_controllers`: they are in the same process, as in `baton up`; otherwise they see that
  // it is gone.
  void CrashHub(bool with_controllers);
  // It begins again with what its disk has, and the controllers that died with it; nothing to do when it is up.
  rt::Task<void> ReviveHub();
  bool hub_runs() const { return hub_.up(); }
  // From here on a write to the hub's disk takes up to that long, so that a crash can come before it has ended.
  void SetSlowestSync(Duration slowest) { hub_.disk().SetSlowestSync(slowest); }
  // The hub's disk as it is; put back while the hub is down, it forgets all that came since.
  std::shared_ptr<const HubDisk::Backup> BackUpHub() { return hub_.disk().BackUp(); }
  void RestoreHub(const HubDisk::Backup& backup);
  void OnHubRestored(std::function<void()> restored) { on_hub_restored_ = std::move(restored); }
  void HoldNextWrite(bool keeps) { hub_.disk().Hold(keeps); }
  rt::Task<void> WriteUnderWay() { return hub_.disk().WriteUnderWay(); }
  const HubDisk& hub_disk() { return hub_.disk(); }

  // The other federation dies and begins again (WorldOptions::own_hub is false).
  void StartKarmada();
  bool KarmadaKnows(const std::string& override_policy) const;  // of the namespace "default"
  // From now on it also evicts by taints, and what has been unhealthy for so long (sim/karmada_failover.h); nothing: it
  // does not.
  void KarmadaFailsOver(std::optional<Duration> tolerates);
  uint64_t evictions() const { return evictions_; }
  // A quota of a cluster's for what the controllers create there; "": it is not spent.
  void SpendQuota(const std::string& cluster, std::string plural);
  // What a cluster's operator says to the controllers is as the specs want it (sim/lies.h), or the truth again.
  void Lie(const std::string& cluster, bool lies);
  // Somebody may still decide on what was read while it lied.
  bool LiedWithin(const std::string& cluster, Duration past) const;

  // ---- several control planes, with the election that is in the product, in place of one ----
  // Number `which` starts, and is elected when nobody else is.
  void StartReplica(size_t which);
  void KillReplica(size_t which);
  void PauseReplica(size_t which);  // as SIGSTOP: it goes on later, and believes what it believed
  void ResumeReplica(size_t which);
  void CutLease(size_t which, bool cut);  // its calls for the lease fail
  // From here on, for as long as a lease lasts, two may lead: no election can know of a lease that somebody deleted.
  // The fence and the Writer's version must do.
  void LeaseDeleted() { lease_deleted_ = loop_.Now(); }
  void SkewReplica(size_t which, Duration skew);           // its wall clock
  void DriftReplica(size_t which, Duration skew);          // the same, in small steps that nobody is told of
  Duration longest_skew() const { return longest_skew_; }  // that any of them had
  Replica* replica(size_t which) { return which < replicas_.size() ? replicas_[which].get() : nullptr; }
  // The one that leads and is not paused; the newest when an older one does not know yet that it was deposed.
  std::optional<size_t> LeadingReplica() const;
  // What went wrong that only the world can see: two that lead.
  const std::vector<std::string>& problems() const { return problems_; }

  // On the hub, as kubectl apply does.
  rt::Task<Result<json::Value>> Apply(kube::Resource resource, json::Value object);
  rt::Task<json::Value> OnHub(kube::Resource resource, std::string key);
  rt::Task<json::Value> OnMember(std::string cluster, kube::Resource resource, std::string key);
  // Until it holds; false: it did not within that time.
  static constexpr Duration kLookEvery = milliseconds(100);
  rt::Task<bool> Until(std::function<rt::Task<bool>()> holds, Duration within, Duration look_every = kLookEvery);

  rt::Task<Result<practice::JudgeReport>> Judge(std::string ns, std::string name);

  rt::VirtualLoop& loop() { return loop_; }
  bool own_hub() const { return options_.own_hub; }
  kube::Api& hub() { return hub_.patient(); }  // for people and checkers
  bool has_member(const std::string& name) const { return members_.contains(name); }
  std::vector<std::string> members() const;
  size_t member_count() const { return members_.size(); }
  int64_t leader() const { return fence_; }  // the number of the newest one
  kube::Api& member(const std::string& name) { return *members_.at(name)->server.api; }
  practice::PracticeCluster& practice(const std::string& name) { return *members_.at(name)->practice; }
  kube::ScriptedFaults& hub_faults() { return hub_faults_; }
  kube::ScriptedFaults& member_faults(const std::string& name) { return members_.at(name)->faults; }
  // Between controllers and that member; what runs there goes on.
  void CutOff(const std::string& name, Cut cut);
  // Random faults where none are scripted, from the next controller on; null: none.
  void SetFaultPlan(kube::FaultPlan* plan) { plan_ = plan; }
  // The same for the other federation; null: nothing goes wrong there.
  void SetKarmadaPlan(kube::FaultPlan* plan) { karmada_plan_ = plan; }
  // A plan for each leader (kKarmada: the other federation) and each that it calls ("hub", or a member), from the next
  // controller on; they outlive it.
  static constexpr int64_t kKarmada = 0;
  using PlanOf = std::function<kube::FaultPlan&(const std::string& whom, int64_t leader)>;
  void SetFaultPlans(PlanOf plan_of) { plan_of_ = std::move(plan_of); }
  // Where what happens is told, from the next controller on; null: nowhere.
  void SetStory(Story* story) { story_ = story; }
  void TellStory(std::string_view who, std::string_view what) {
    if (story_ != nullptr) story_->Tell(who, what);
  }
  // Where calls and what met them are counted, from the next controller on; null: nowhere.
  void SetBook(CallBook* book) { book_ = book; }
  Controllers* controllers() { return leader_ == nullptr ? nullptr : leader_->controllers.get(); }

 private:
  struct Member {
    Server server;
    std::unique_ptr<SwitchedApi> door;  // to that server
    kube::ScriptedFaults faults;
    Cut cut = Cut::kNone;
    std::optional<MonotonicTime> lied_until;
    std::unique_ptr<practice::PracticeCluster> practice;
  };

  // A cluster that the control plane does not reach any more. It goes on.
  struct Replaced {
    Server server;
    std::unique_ptr<practice::PracticeCluster> practice;
  };

  rt::Task<Result<Server>> StartServer();
  rt::Task<Result<void>> StartHub();
  rt::Task<Result<void>> Furnish(Member& member, std::string name);
  rt::Task<Result<void>> AddMember(std::string name);
  void Reach(Leader& leader, const std::string& name, Member& member);
  kube::FaultPlan& PlanFor(Plans& plans, kube::FaultPlan& scripted, const Cut* cut, const Slowness* slow,
                           std::string_view who, std::string_view whom);
  kube::FaultPlan& Told(Plans& plans, kube::FaultPlan& below, const Cut* cut, CallBook* book, std::string_view who,
                        std::string_view whom);
  kube::FaultPlan& PlanOfKarmada(ForeignPipe& pipe, const Cut* cut, const std::string& whom);
  void ReachAs(ForeignPipe& pipe, const std::string& name, Member& member);
  void Tell(std::string_view what);
  void TellOf(const Replica& replica, std::string_view what);
  Ways& MakeWays(const std::string& who);
  rt::Task<void> Lead(Replica& replica, int64_t base, int64_t transitions);

  rt::VirtualLoop& loop_;
  std::optional<MonotonicTime> lease_deleted_;
  WorldOptions options_;
  std::unique_ptr<rt::SimulatedFiles> files_;
  std::unique_ptr<practice::Storage> storage_;
  std::unique_ptr<practice::Commons> commons_;
  interpret::Interpreter interpreter_;  // of the hub's admission
  HubProcess hub_;
  kube::ScriptedFaults hub_faults_;
  kube::FaultPlan* plan_ = nullptr;
  kube::FaultPlan* karmada_plan_ = nullptr;
  PlanOf plan_of_;
  Story* story_ = nullptr;
  CallBook* book_ = nullptr;
  std::map<std::string, std::unique_ptr<Member>> members_;
  std::vector<Replaced> replaced_;
  int64_t fence_ = 0;
  std::unique_ptr<rt::Scope> scope_;  // practice clusters
  std::unique_ptr<ForeignPipe> karmada_;
  std::optional<Duration> karmada_tolerates_;
  std::function<void()> on_hub_restored_;
  uint64_t evictions_ = 0;
  std::unique_ptr<Leader> leader_;
  bool leader_died_with_hub_ = false;
  std::vector<std::unique_ptr<Leader>> deposed_;
  // Of replicas. What is under way needs the ways, and the ways the members.
  std::vector<std::unique_ptr<Ways>> ways_;
  std::unique_ptr<rt::Scope> network_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  uint64_t replica_lives_ = 0;
  Duration longest_skew_{};
  std::vector<std::string> problems_;
};

}  // namespace baton::sim
