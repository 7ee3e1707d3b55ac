// Plan: what a move, or a drain, would do, found out without doing any of it.
//
//   Planner planner(hub_api, connect, post);                  // all through ReadOnlyApi: nothing can be written
//   CO_TRY(co_await planner.Start());
//   const MovePlan plan = CO_TRY(co_await planner.PlanMove(migration));   // a StatefulMigration that was not created
//   const ClusterPlan drain = CO_TRY(co_await planner.PlanDrain("member1", {}));
//
// Checks are the engine's (preflight.h), the order of writes is what Next decides in a world where all goes well
// (foresee.h), what members get is what the profile and the override of the move make of the spec, and a drain's order
// is PlanDrain's (drain_plan.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "federation/doors.h"
#include "federation/federation.h"
#include "interpret/interpreter.h"
#include "kube/informer.h"
#include "kube/read_only_api.h"
#include "rollout/drain_plan.h"
#include "rollout/evacuate.h"
#include "rollout/forecast.h"
#include "rollout/foresee.h"
#include "rollout/gate.h"
#include "rollout/preflight.h"
#include "rollout/profiles.h"
#include "rt/scope.h"

namespace baton::rollout {

inline constexpr Duration kPlanStarts = seconds(30);   // until the copies of the hub's objects are there
inline constexpr Duration kPlanMembers = seconds(10);  // until it is known how members are reached
inline constexpr size_t kPlanRoundsMax = 10'000;       // of one drain
inline constexpr size_t kPlanChecksAtOnce = 8;         // workloads of a drain that are checked at a time

struct PlannedStep {
  Phase phase = Phase::kPending;
  std::string where;    // "hub", or a cluster
  std::string verb;     // "create", "update", "delete", "dry run"; "wait": nothing is written
  std::string object;   // "Writer default/orders-flinkdeployment"
  std::string why;      // what it is for, or what is waited for
  json::Value changes;  // a JSON Patch; null: the object is new, goes, or the change is told elsewhere

  json::Value Json() const;
};

struct MovePlan {
  std::string kind, ns, name, guarantee;
  std::string source, target;
  std::vector<Check> checks;
  std::vector<std::string> waits;  // what it would wait for before the workload is stopped; no reason to refuse it
  std::vector<PlannedStep> steps;  // none when a check refuses
  Phase end = Phase::kPending;     // where it would end if nothing goes wrong
  Forecast forecast;

  std::vector<std::string> Problems() const;
  json::Value Json() const;
};

struct ClusterPlan {
  struct Item {
    std::string key;  // "FlinkDeployment/shop/orders"
    int round = 0;    // begins when those of the round before have ended; 0: it does not begin
    std::string from, to;
    bool under_way = false;        // by a move that is not of this drain
    std::string message;           // why it does not begin
    std::optional<MovePlan> plan;  // of one that begins
  };
  std::string cluster;
  std::string why_not;      // it would not be drained at all
  std::vector<Item> items;  // in the order in which they go
  size_t unmanaged = 0;     // workloads that go the ordinary way: deleted here, created elsewhere
  int rounds = 0;
  std::optional<Duration> expected;  // the whole drain; nothing: no history of one of them

  bool Refused() const;
  json::Value Json() const;
};

class Planner {
 public:
  // The hub outlives this; `post` may be null: interpreter webhooks cannot be asked then.
  Planner(kube::Api& hub, federation::Connect connect, federation::PostToWebhook post, EvacuateOptions limits = {});

  // Reads what there is. An error: the hub cannot be read.
  rt::Task<Result<void>> Start();

  // `migration`: a StatefulMigration that nobody has created, with a name, a namespace and a spec.
  rt::Task<Result<MovePlan>> PlanMove(json::Value migration);
  // `most`: moves at a time; 0: as the cluster or the controllers say.
  rt::Task<Result<ClusterPlan>> PlanDrain(std::string cluster, int most);

 private:
  rt::Task<bool> KnowMember(std::string cluster);  // or there is none of that name
  // What PlanMove has read.
  struct Known {
    MigrationSpec spec;
    json::Value writer_object;
    Writer writer;
    json::Value workload;
    json::Value binding;
    std::shared_ptr<const interpret::Profile> profile;
  };
  rt::Task<Result<Known>> Read(const json::Value& migration);
  rt::Task<Result<void>> LookAhead(MovePlan& plan, const Known& known, const Preflight& found);
  rt::Task<Result<void>> SeeSource(MovePlan& plan, const Known& known, const Preflight& found);
  rt::Task<Result<void>> SeeTarget(MovePlan& plan, const Known& known, const Preflight& found);
  rt::Task<void> WatchTemplatesIn(const std::string& cluster);
  void Order(ClusterPlan& plan, MoveLimits limits);
  rt::Task<Result<void>> PlanMovesOf(ClusterPlan& plan);

  kube::ReadOnlyApi hub_api_;
  interpret::Interpreter interpreter_;
  ProfileSet profiles_;
  Gate gate_;
  federation::Federation federation_;
  federation::Hub& hub_;
  federation::Doors doors_;
  EvacuateOptions limits_;
  kube::Informer migrations_;
  kube::Informer profile_objects_;
  rt::Scope scope_;  // last, so that it goes first
};

// The steps of one move, from its decisions: hub writes as they would be, and what members get by them. Pure.
struct StepsQuestion {
  const MigrationSpec& spec;
  const Foresight& ahead;
  const json::Value& writer_object;  // null: there is none yet
  const json::Value& workload;
  const json::Value& binding;
  const json::Value& pinned;
  const json::Value& prior;
  const interpret::Profile& profile;
};
Result<std::vector<PlannedStep>> StepsOf(const StepsQuestion& question);

}  // namespace baton::rollout
