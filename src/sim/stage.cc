// The stage itself, and what goes wrong on it.
#include "sim/stage.h"

#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "sim/scene.h"

namespace baton::sim {
namespace {

constexpr Duration kNobodyLeads = seconds(1);
constexpr Duration kHangs = seconds(30);
constexpr Duration kBeside = seconds(10);       // an old leader that hung goes on so long beside the new one
constexpr Duration kMoment = milliseconds(20);  // in which a write that was on its way is done
constexpr Duration kOperatorAway = seconds(5);
constexpr size_t kAllHits = 1'000'000'000;

bool PicksACall(const json::Value& words) {
  for (const std::string_view word : {"at", "verb", "resource", "name", "subresource", "saying"}) {
    if (words.Has(word)) return true;
  }
  return false;
}

std::string WhatIsWrong(const Result<void>& result) { return result.ok() ? "" : result.error().message(); }

}  // namespace

SimStage::SimStage(World& world, CallRules& rules, Checkers& checkers, Story* story, bool practice)
    : world_(world), rules_(rules), checkers_(checkers), story_(story), practice_(practice), scope_(world.loop()) {
  rules_.on_reached = [this](const CallRule& rule, std::string call) {
    if (rule.action == CallRule::Action::kHubDies) world_.HoldNextWrite(!rule.before);
    reached_.push_back({.action = rule.action, .time = rule.delay, .call = std::move(call), .alone = rule.alone});
    something_.Set();
  };
  scope_.Spawn(CarryOut());
}

void SimStage::Begins(const Step& step) {
  // "a.yaml: line 3, column 5"
  const size_t line = step.place.find("line ");
  const std::string where =
      line == std::string::npos ? "story" : step.place.substr(line, step.place.find(',', line) - line);
  Tell(where, step.Text());
}

rt::Task<std::string> SimStage::Join(json::Value cluster) {
  const std::string name(cluster.is_string() ? cluster.str() : cluster["name"].str());
  co_return WhatIsWrong(co_await world_.Join(name, cluster.is_object() ? cluster : json::Value()));
}

rt::Task<std::string> SimStage::Replace(std::string name) {
  const Result<void> replaced = co_await world_.Replace(name);
  // Connections to the old one are cut.
  if (replaced.ok()) rules_.Add({.pick = {.place = name}, .fault = kube::Fault::kWatchExpired, .met = 1});
  co_return WhatIsWrong(replaced);
}

void SimStage::Back(const std::string& name) {
  world_.CutOff(name, Cut::kNone);
  rules_.Clear(name);
}

void SimStage::Restart() {
  world_.KillController();
  world_.StartController();
}

int64_t SimStage::Writes(const std::string& where, std::string& list) {
  int64_t count = 0;
  for (const auto& [what, times] : rules_.writes[where.empty() ? "hub" : where]) {
    count += times;
    StrAppend(list, " ", what, "=", times);
  }
  return count;
}

void SimStage::Wrote(const std::string& where, const kube::Resource& resource, const kube::Name& name,
                     const json::Value& object) {
  if (where != "hub" || !practice_) return;
  if (resource.kind == federation::kResourceBindings.kind || resource.kind == federation::kOverridePolicies.kind)
    checkers_.MeddlesWithBindings();
  if (Workload::IsPlayed(resource)) checkers_.Owns({.resource = resource, .name = name}, object);
  if (resource.kind == federation::kNamespaces.kind && object.is_null()) checkers_.DeletesNamespace(name.name);
}

// ---- what goes wrong ----

std::string SimStage::AddFault(const Step& step) {
  const std::optional<kube::Fault> fault = kube::FaultFromName(step.what.str());
  if (!fault) return AddPracticeFault(step);
  if (step.whole.Has("of")) return "\"of\" goes only with faults of a workload's own cluster";
  const Result<CallPick> pick = CallPick::Of(step);
  if (!pick.ok()) return pick.error().message();
  const Result<Duration> delay = scenario::TimeOf(step.whole["delay"], seconds(1));
  if (!delay.ok()) return delay.error().message();
  const json::Value& hits = step.whole["hits"];
  if (!hits.is_null() && hits.str() != "all" && hits.int_or(0) < 1) return "hits is a number from 1 on, or all";
  rules_.Add({.pick = *pick,
              .fault = *fault,
              .delay = *delay,
              .hits = hits.str() == "all" ? kAllHits : static_cast<size_t>(hits.int_or(1)),
              .place = step.place});
  return "";
}

std::string SimStage::AddPracticeFault(const Step& step) {
  const std::string name(step.whole["in"].str());
  if (!practice_) return StrCat("no fault is called ", step.what.str());
  if (PicksACall(step.whole) || step.whole.Has("hits") || step.whole.Has("delay"))
    return StrCat("no fault of a call is called ", step.what.str());
  if (!world_.has_member(name)) return StrCat("in which cluster? ", step.what.str(), " needs \"in\"");
  practice::PracticeCluster& practice = world_.practice(name);
  Tell(StrCat("cluster ", name), StrCat("has the fault ", step.what.str()));
  if (step.what.str() == "kill-operator") {
    practice.KillOperator(kOperatorAway);
    return "";
  }
  if (step.what.str() != "fail-job" && step.what.str() != "restart-jobmanager")
    return WhatIsWrong(practice.SetFault(step.what.str()));
  const Result<Workload> workload = Workload::Of(step.whole["of"]["kind"].str(), step.whole["of"]["name"].str());
  if (!workload.ok()) return StrCat("of which workload? ", workload.error().message());
  return WhatIsWrong(step.what.str() == "fail-job" ? practice.FailJob(workload->Key())
                                                   : practice.RestartJobManager(workload->Key()));
}

std::string SimStage::Crash(const Step& step) {
  if (step.what.str() == "hub") return CrashHub(step);
  if (step.what.str() != "controllers")
    return "what can crash is \"controllers\" or \"hub\"; operators: fault: kill-operator";
  if (step.whole.Has("alone")) return "\"alone\" goes with the hub: without the controllers";
  const Result<Duration> time = scenario::TimeOf(step.whole["for"], kNobodyLeads);
  if (!time.ok()) return time.error().message();
  const std::string_view side = step.whole["side"].str_or("after");
  if (side != "before" && side != "after") return "side is before or after: whether the write is still done";
  if (!PicksACall(step.whole)) {
    world_.KillController();
    scope_.Spawn(LeadAgain(*time));
    return "";
  }
  Result<CallPick> pick = CallPick::Of(step);
  if (!pick.ok()) return pick.error().message();
  pick->writes = true;
  rules_.Add({.pick = *pick,
              .action = CallRule::Action::kCrash,
              .delay = *time,
              .before = side == "before",
              .place = step.place});
  return "";
}

std::string SimStage::CrashHub(const Step& step) {
  const Result<Duration> time = scenario::TimeOf(step.whole["for"], kNobodyLeads);
  if (!time.ok()) return time.error().message();
  const std::string_view side = step.whole["side"].str_or("after");
  if (side != "before" && side != "after") return "side is before or after: whether the hub's disk has the write";
  const bool alone = step.whole["alone"].bool_or(false);
  if (!PicksACall(step.whole)) {
    world_.CrashHub(!alone);
    scope_.Spawn(HubAgain(*time));
    return "";
  }
  Result<CallPick> pick = CallPick::Of(step);
  if (!pick.ok()) return pick.error().message();
  if (pick->place != "hub") return "the hub's disk takes writes to the hub: in: hub";
  pick->writes = true;
  rules_.Add({.pick = *pick,
              .action = CallRule::Action::kHubDies,
              .delay = *time,
              .before = side == "before",
              .alone = alone,
              .place = step.place});
  return "";
}

std::string SimStage::Restore(const Step& step) {
  if (backup_ == nullptr) return "there is no backup: \"backup: hub\" comes before";
  const Result<Duration> time = scenario::TimeOf(step.whole["for"], kNobodyLeads);
  if (!time.ok()) return time.error().message();
  checkers_.HubForgets();
  world_.CrashHub(true);
  world_.RestoreHub(*backup_);
  scope_.Spawn(HubAgain(*time));
  return "";
}

std::string SimStage::ChangeLeader(const Step& step) {
  const bool hangs = step.what.str() == "paused";
  if (!hangs && step.what.str() != "deposed") return "a leader is paused or deposed";
  const Result<Duration> time = scenario::TimeOf(step.whole["for"], kHangs);
  if (!time.ok()) return time.error().message();
  if (!PicksACall(step.whole)) {
    if (hangs) rules_.Hang(world_.leader(), *time);
    world_.DeposeController();
    world_.StartController();
    scope_.Spawn(EndDeposed(hangs ? *time + kBeside : *time));
    return "";
  }
  Result<CallPick> pick = CallPick::Of(step);
  if (!pick.ok()) return pick.error().message();
  if (!hangs) return "only a paused leader can be picked by its write";
  pick->writes = true;
  rules_.Add({.pick = *pick, .action = CallRule::Action::kHang, .delay = *time, .place = step.place});
  return "";
}

// A leader cannot be ended from inside its own call.
rt::Task<void> SimStage::CarryOut() {
  while (true) {
    co_await something_.Wait();
    something_.Reset();
    while (!reached_.empty()) {
      const Reached next = reached_.front();
      reached_.pop_front();
      if (next.action == CallRule::Action::kCrash) {
        Tell("fault", StrCat("the leader dies at ", next.call));
        co_await world_.loop().Sleep(kMoment);
        world_.KillController();
        scope_.Spawn(LeadAgain(next.time));
      } else if (next.action == CallRule::Action::kHubDies) {
        Tell("fault", StrCat("the hub dies at ", next.call));
        co_await world_.loop().Sleep(kMoment);
        world_.CrashHub(!next.alone);
        scope_.Spawn(HubAgain(next.time));
      } else {
        Tell("fault", StrCat("the leader hangs from here on: ", next.call));
        co_await world_.loop().Sleep(kMoment);
        world_.DeposeController();
        world_.StartController();
        scope_.Spawn(EndDeposed(next.time + kBeside));
      }
    }
  }
}

rt::Task<void> SimStage::LeadAgain(Duration after) {
  co_await world_.loop().Sleep(after);
  if (!world_.controller_runs()) world_.StartController();
}

rt::Task<void> SimStage::HubAgain(Duration after) {
  co_await world_.loop().Sleep(after);
  co_await world_.ReviveHub();
}

rt::Task<void> SimStage::EndDeposed(Duration after) {
  co_await world_.loop().Sleep(after);
  world_.KillDeposed();
}

rt::Task<void> SimStage::StopFaults() {
  scope_.CancelAll();
  co_await world_.ReviveHub();
  rules_.Clear();
  world_.KillDeposed();
  for (const std::string& name : world_.members()) {
    world_.CutOff(name, Cut::kNone);
    practice::Faults& faults = world_.practice(name).faults();
    faults = {.by_annotation = faults.by_annotation};
  }
  if (world_.controller_runs() && rules_.IsDead(world_.leader())) world_.KillController();
  if (!world_.controller_runs()) world_.StartController();
}

}  // namespace baton::sim
