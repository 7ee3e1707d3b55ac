// Scene: a Flink job under a policy in the simulated world, a move of it, and what must hold whenever one has ended,
// whatever happened on the way.
//
//   std::vector<std::string> problems = Play(seed, [](Scene& scene) -> rt::Task<void> {
//     co_await scene.Begin();
//     co_await scene.Ask();            // a migration from where it runs to another cluster
//     co_await scene.Settled();        // an end, or a person is asked
//     co_await scene.CheckAll();
//   });
//
// What must hold is checked from outside: the practice clusters' jobs after every step of anything (one writer), their
// source and sink (the judge), the members' objects, and what a user sees on the hub. What is said of Baton's own
// record (the Writer) begins with kOfTheRecord, so that it can be told apart.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "federation/resources.h"
#include "practice/flink_operator.h"
#include "rollout/records.h"
#include "sim/story.h"
#include "sim/world.h"

namespace baton::sim {

using json::Value;
using practice::FlinkDeployments;
using rollout::kMigrations;
using rollout::kWriters;

inline constexpr Duration kWithin = minutes(30);  // in which a move must end once faults have stopped
// What a job that runs has read shows in its sink: two checkpoints, and a bit.
inline constexpr Duration kCommitted = seconds(10);
inline const std::vector<std::string> kClusters3 = {"blue", "green", "red"};
inline constexpr std::string_view kWorkload = "default/orders";
inline constexpr std::string_view kBindingKey = "default/orders-flinkdeployment";  // and the Writer's
inline constexpr std::string_view kOfTheRecord = "record: ";

extern const std::string_view kPolicy;
extern const std::string_view kJob;

// Of a text in the program itself: what is no YAML ends it.
Value Yaml(std::string_view text);
// The job with another upgradeMode; "last-state" also has high availability.
Value JobWith(std::string_view mode);
std::string MigrationTo(std::string_view target, std::string_view name = "move", std::string_view more = "",
                        int stabilization = 2);

class Checkers;

class Scene {
 public:
  explicit Scene(World& world, Story* story = nullptr) : world(world), story_(story) {}

  World& world;
  Value job;         // as it was applied
  std::string from;  // where the job ran when the move was asked for
  std::string to;
  std::string move = "move";  // the migration that is meant where no name is given
  std::vector<std::string> problems;
  bool template_edited = false;    // by the scene itself
  bool operator_forgot = false;    // a status; what it does then to a job that runs is its own doing
  bool operator_lied = false;      // that a job runs which it had not started yet: what it was to start from is gone
  bool deleted_in_member = false;  // somebody deleted the workload in a cluster, where it is made anew, and held
  bool paused_by_a_user = false;   // the binding's scheduling, before the move
  Checkers* checkers = nullptr;    // of what must hold all the time, while the scene is played

  // It goes on from its last checkpoint when its JobManager ends; others begin anew, which is their owner's wish.
  bool outlives_its_manager() const { return job["spec"]["job"]["upgradeMode"].str() == "last-state"; }
  bool is_stateless() const { return job["spec"]["job"]["upgradeMode"].str() == "stateless"; }

  void Expect(bool holds, std::string what) {
    if (!holds) problems.push_back(std::move(what));
  }
  void Tell(std::string_view who, std::string_view what) {
    if (story_ != nullptr) story_->Tell(who, what);
  }

  // ---- looking ----
  rt::Task<std::string> WhereItRuns();  // "green", "blue+green", ""
  rt::Task<bool> RunsIn(std::string cluster);
  rt::Task<Value> OnMember(std::string cluster);
  rt::Task<Value> SpecIn(std::string cluster);  // without what is the move's
  rt::Task<Value> Template();
  rt::Task<Value> Binding();
  rt::Task<Value> Writer();
  rt::Task<Value> Migration(std::string name = "");
  rt::Task<std::vector<Value>> Overrides();
  // Of the clusters where it was stopped with its state, and can run, the one that was told so last; from when there is
  // none.
  rt::Task<std::string> StoppedLast();
  rt::Task<bool> StrayIsTold();              // a Work says that what is there is not the object that may write
  rt::Task<std::string> WhyNotApplied();     // what Works say that their member did not take; "": nothing
  std::string Third() const;                 // neither from nor to
  bool JobRuns(const std::string& cluster);  // the process itself, not what anyone says of it
  rt::Task<std::string> Dump();              // for messages: what the pipe has of the workload

  // ---- doing ----
  rt::Task<void> Begin();
  rt::Task<void> Begin(Value with);
  rt::Task<void> Ask(std::string more = "", std::string name = "", int stabilization = 2);
  rt::Task<void> Abort(std::string name = "");
  rt::Task<void> PatchMigration(std::string patch, std::string name = "");
  rt::Task<void> PatchTemplate(std::string patch);
  rt::Task<void> DeleteTemplate();
  // What a person does whose hub has forgotten a move (docs/ROLLOUT.md): the workload in that cluster runs, or has the
  // state that it was stopped with. Writer and binding say so, and the copies elsewhere go.
  rt::Task<void> TakeUpTheRecord(std::string cluster);

  // ---- waiting ----
  rt::Task<bool> UntilPhase(std::string phase, Duration within = minutes(5), std::string name = "");
  rt::Task<void> UntilStopIsOrdered();
  rt::Task<void> UntilAllReady();  // the clusters, so that one can be moved to
  // Until it ended, or has asked a person for a minute; gone counts as ended.
  rt::Task<Value> Settled(std::string name = "", Duration within = kWithin);
  rt::Task<Value> Ended(std::string name = "");

  static bool IsOver(const Value& migration);
  static bool IsBlocked(const Value& migration);
  static std::string Said(const Value& migration);

  // ---- what must hold ----
  rt::Task<void> ExpectPhase(std::string phase, std::string name = "");
  rt::Task<void> ExpectClean();
  // Nothing of ours but the records, and the user's template as it was.
  rt::Task<void> ExpectNoResidue();
  // It runs there, alone, as the template says.
  rt::Task<void> ExpectRunsAlone(std::string cluster);
  // Everything that follows from where the migration says it ended.
  rt::Task<void> CheckAll(std::string name = "");

 private:
  rt::Task<bool> NothingMoves();
  rt::Task<std::string> ProbeThatIsLeft();  // "": none
  void OwnsTemplate(const Value& object);   // as its owner wrote it; null: they deleted it

  Story* story_;
  Value template_before_;
};

using ScenePlay = std::function<rt::Task<void>(Scene& scene)>;

// Whose hub a scene is on.
enum class HubOf : uint8_t {
  kBaton,
  kKarmada,         // another federation places and carries (sim/world.h)
  kFailingKarmada,  // and the plan is for its calls, too
};

// Runs a scene from a seed; gives what was wrong. The plan, the story and the book outlive it.
std::vector<std::string> Play(uint64_t seed, const ScenePlay& play, kube::FaultPlan* plan = nullptr,
                              Story* story = nullptr, CallBook* book = nullptr, HubOf hub = HubOf::kBaton,
                              practice::OperatorVersion flink = practice::OperatorVersion::kV1x15);

}  // namespace baton::sim
