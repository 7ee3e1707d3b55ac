// RehearsalStage: one copy of a fleet in one world (rehearsal.h): it is put there and comes to run (rehearsal_copy.cc),
// a move, a drain, new versions (rehearsal_upgrades.cc) or other clusters (rehearsal_wishes.cc) are wished for, with
// faults (rehearsal_faults.cc) or people who act by hand (rehearsal_plots.cc), and all must have gone well
// (rehearsal_end.cc).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "practice/flink_operator.h"
#include "rollout/profiles.h"
#include "sim/bad_calls.h"
#include "sim/checkers.h"
#include "sim/rehearsal.h"
#include "sim/scene.h"
#include "sim/world.h"

namespace baton::sim {

inline constexpr std::string_view kRehearsedMove = "rehearsal";
inline constexpr size_t kStatusShown = 400;  // characters of a status in a message

// Of a kind that practice clusters play.
const kube::Resource& ResourceOf(const FleetWorkload& workload);

// Endings of one beginning.
struct Branches {
  std::span<const uint64_t> seeds;
  const std::function<std::string(Rehearsal& played)>& report;
  const DayDone& done;
};

class RehearsalStage {
 public:
  // All outlive this.
  RehearsalStage(World& world, const Fleet& fleet, const RehearsalWish& wish, Rehearsal& result, BadCalls& chance,
                 Story& story);

  // `branches`: null: one seed, that of the result.
  rt::Task<void> Play(const RehearsalOptions& options, const Branches* branches);
  // The copy did not come to run: that is the end of every seed.
  void TellAll(const Branches& branches);

 private:
  rt::Task<void> PlayEach(const RehearsalOptions& options, const Branches& branches);
  rt::Task<void> PlayOn(const RehearsalOptions& options);  // what follows on the beginning
  void Expect(bool holds, std::string what);
  bool Runs(const std::string& cluster, const FleetWorkload& workload);  // its process itself
  void Watch();                                                          // what must hold at every step
  static constexpr int64_t kStabilization = 5;                           // seconds of each move
  rt::Task<void> Ask(int64_t stabilization = kStabilization);
  rt::Task<void> AskDrain();

  // ---- the copy ----
  rt::Task<void> Create(kube::Resource resource, Value object);
  rt::Task<void> Namespaces();
  rt::Task<void> Put();
  rt::Task<void> Settle();
  rt::Task<Value> BindingOf(const FleetWorkload& workload);

  // ---- faults ----
  rt::Task<void> Aborts();
  rt::Task<void> GitOps();
  rt::Task<void> Troubles();
  rt::Task<void> Partitions();
  rt::Task<void> Disturb(bool gitops);

  // ---- what people do by hand (rehearsal_plots.cc) ----
  rt::Task<bool> PlayPlot();  // false: this day has none
  rt::Task<bool> UntilPhase(std::string phase);
  rt::Task<void> PatchInSource(std::string patch);
  rt::Task<void> ScaledDownByHand(rt::SeededRandom& random);
  rt::Task<void> ResumedWhileItStops(rt::SeededRandom& random);
  rt::Task<void> DeletedAndAppliedAgain(rt::SeededRandom& random);

  // ---- new versions (rehearsal_upgrades.cc) ----
  rt::Task<void> PlayUpgrades(const RehearsalOptions& options, bool gitops);
  const Value& TemplateOf(const FleetWorkload& workload) const;  // as its owner wants it now
  rt::Task<void> Edit(const FleetWorkload& workload, std::string patch);
  rt::Task<void> NewVersion(const FleetWorkload& workload, bool back);
  rt::Task<void> UntilOneVerifies();
  rt::Task<void> Edits();
  rt::Task<void> AbortsOne();
  void VersionSeen(const std::string& cluster, const Value& object);
  rt::Task<void> FollowVersions(std::string cluster, kube::Resource resource);
  rt::Task<void> FollowUpgrades();
  std::string WhereItRuns(const FleetWorkload& workload);
  rt::Task<bool> IsUpgraded(const FleetWorkload& workload, bool& newest);
  rt::Task<void> SettleTemplate(const FleetWorkload& workload, bool gitops);
  rt::Task<void> UpgradesEnded();
  rt::Task<void> ExpectUpgraded(const FleetWorkload& workload);
  rt::Task<void> LastUpgrade();

  // ---- where its owner wants it (rehearsal_wishes.cc) ----
  rt::Task<void> PlayWishes(const RehearsalOptions& options, bool gitops);
  const std::vector<std::string>& AllowedFor(const FleetWorkload& workload) const;
  rt::Task<void> Allow(const FleetWorkload& workload, std::vector<std::string> clusters);
  rt::Task<void> EditPolicy(const FleetWorkload& workload);
  rt::Task<void> SettlePolicies();
  rt::Task<void> PlaceAfresh(const FleetWorkload& workload);
  std::vector<std::string> SomeClusters(const std::string& but);
  rt::Task<void> Wishes();
  rt::Task<bool> IsWhereWanted(const FleetWorkload& workload, bool& wanted);
  rt::Task<void> WishesEnded();
  rt::Task<void> ExpectNothingMoves();
  rt::Task<void> LastWish();

  // ---- the end ----
  rt::Task<std::string> MovesByPhase();
  rt::Task<std::vector<Value>> Moves();
  rt::Task<bool> Held();
  rt::Task<void> Ended();
  rt::Task<void> CheckAll();
  rt::Task<void> ExpectNothingIsLeft();
  rt::Task<void> Restore(const FleetWorkload& workload, Value before);
  rt::Task<void> GoHome();
  rt::Task<void> ExpectRunsAlone(const FleetWorkload& workload, std::string end);
  // In one cluster, and in that one; "": in any. Gives where.
  rt::Task<std::string> ExpectAlone(const FleetWorkload& workload, std::string meant, std::string end);
  rt::Task<void> ExpectJudge(const FleetWorkload& workload);

  World& world_;
  Checkers checkers_;
  const Fleet& fleet_;
  const RehearsalWish& wish_;
  Rehearsal& result_;
  BadCalls& chance_;
  Story& story_;
  std::vector<std::string> names_;
  std::vector<const FleetWorkload*> workloads_;          // that run
  std::set<const FleetWorkload*> doubled_;               // told once
  std::map<const FleetWorkload*, std::string> running_;  // where, at the last step
  std::optional<MonotonicTime> blocked_;
  std::optional<MonotonicTime> stuck_;
  bool checking_ = true;  // what must hold at every step
  rollout::ProfileSet profiles_;
  std::map<const FleetWorkload*, Value> templates_;                   // that were edited
  std::map<const FleetWorkload*, std::string> versions_before_;       // the last edit
  std::map<std::string, std::string> ran_as_;                         // the version of what has run, by uid
  int64_t versions_ = 0;                                              // that were made up
  std::map<const FleetWorkload*, std::vector<std::string>> allowed_;  // by policies that were edited
  std::map<const FleetWorkload*, WallTime> wished_at_;                // the last time that it was asked for
};

}  // namespace baton::sim
