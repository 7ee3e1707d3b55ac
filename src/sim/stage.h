// SimStage: the simulated world as the stage of a story file (scenario/scenario.h): the steps that need moves,
// processes and faults, and the expectations about them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "rt/event.h"
#include "rt/scope.h"
#include "scenario/runner.h"
#include "scenario/stage.h"
#include "sim/call_rules.h"
#include "sim/checkers.h"
#include "sim/story.h"
#include "sim/world.h"

namespace baton::sim {

class SimStage final : public scenario::Stage {
 public:
  // All outlive this; `story` may be null.
  SimStage(World& world, CallRules& rules, Checkers& checkers, Story* story, bool practice);
  SimStage(const SimStage&) = delete;
  SimStage& operator=(const SimStage&) = delete;
  ~SimStage() override { rules_.on_reached = nullptr; }

  rt::Loop& loop() override { return world_.loop(); }
  kube::Api& hub() override { return world_.hub(); }
  kube::Api* member(const std::string& name) override {
    return world_.has_member(name) ? &world_.member(name) : nullptr;
  }
  rt::Task<std::string> Join(json::Value cluster) override;
  rt::Task<std::string> Replace(std::string name) override;
  void Silence(const std::string& name) override { world_.CutOff(name, Cut::kBothWays); }
  void Back(const std::string& name) override;
  std::string AddFault(const scenario::Step& step) override;
  void Restart() override;
  void CountFromHere() override { rules_.writes.clear(); }
  int64_t Writes(const std::string& where, std::string& list) override;
  rt::Task<std::string> Other(const scenario::Step& step) override;
  void Wrote(const std::string& where, const kube::Resource& resource, const kube::Name& name,
             const json::Value& object) override;
  void Begins(const scenario::Step& step) override;

  // The story is over: nothing goes wrong any more, and somebody leads.
  rt::Task<void> StopFaults();

 private:
  using Step = scenario::Step;
  struct Reached {
    CallRule::Action action;
    Duration time;
    std::string call;
    bool alone;
  };

  // ---- stage.cc: what goes wrong ----
  std::string AddPracticeFault(const Step& step);
  std::string Crash(const Step& step);
  std::string CrashHub(const Step& step);
  std::string Restore(const Step& step);
  std::string ChangeLeader(const Step& step);
  rt::Task<void> CarryOut();
  rt::Task<void> LeadAgain(Duration after);
  rt::Task<void> HubAgain(Duration after);
  rt::Task<void> EndDeposed(Duration after);
  void Tell(std::string_view who, std::string_view what) {
    if (story_ != nullptr) story_->Tell(who, what);
  }

  // ---- stage_steps.cc: what people do ----
  rt::Task<std::string> Start(const Step& step);
  rt::Task<std::string> Migrate(const Step& step);
  rt::Task<std::string> Steer(const Step& step);  // abort, pause, resume, approve
  rt::Task<std::string> Drain(const Step& step);  // drain, uncordon, undrain
  rt::Task<Result<void>> Taint(std::string cluster, bool tainted);
  rt::Task<Result<void>> Evacuate(std::string cluster, bool home, json::Value most);

  // ---- stage_expect.cc: what is expected ----
  rt::Task<std::string> Expectation(const Step& step);
  rt::Task<std::string> UntilPhase(const Step& step);
  rt::Task<std::string> Phase(const Step& step);
  rt::Task<std::string> Blocked(const Step& step);
  rt::Task<std::string> Runs(const Step& step);
  rt::Task<std::string> Writer(const Step& step);
  rt::Task<std::string> Receipts(const Step& step);
  rt::Task<std::string> Judge(const Step& step);
  rt::Task<std::string> Moves(const Step& step);
  std::string Down(const Step& step);
  // The move of that name, or the newest of {kind, name}.
  rt::Task<Result<json::Value>> MoveOf(json::Value of);

  World& world_;
  CallRules& rules_;
  Checkers& checkers_;
  Story* story_;
  bool practice_;
  std::shared_ptr<const HubDisk::Backup> backup_;
  std::deque<Reached> reached_;
  rt::Event something_;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::sim
