// CallRules: what a story does to single calls of the controllers, exactly: one fault at the n-th call that is meant,
// the leader's death at a write, a leader that hangs from a write on.
//
//   CallRules rules(loop);
//   world.SetFaultPlans([&](const std::string& whom, int64_t leader) -> kube::FaultPlan& {
//     return rules.PlanFor(whom, leader); });
//   rules.Add({.pick = {.place = "hub", .verb = kube::Verb::kUpdate, .plural = "writers"},
//              .fault = kube::Fault::kAnswerLost});
//
// A rule that never met a call is told by Unused(): a story that says a fault hits and it does not is a wrong story.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "kube/faulty_api.h"
#include "rt/loop.h"
#include "scenario/scenario.h"

namespace baton::sim {

// Which calls of the controllers are meant.
struct CallPick {
  std::string place;  // "hub", or a member; "": any
  std::optional<kube::Verb> verb;
  std::string plural;  // "": any
  std::string name;
  std::string subresource;
  std::vector<std::pair<std::string, json::Value>> saying;  // of the body: JSONPath and value
  bool karmada = false;                                     // those of the other federation, and none of ours
  bool writes = false;  // only writes that matter: no events, no heartbeats of clusters, no dry runs
  size_t skip = 0;      // so many are let pass

  bool Means(const std::string& whom, const kube::Call& call) const;
  // From the words beside a step: by, in, at, verb, resource, name, subresource, saying.
  static Result<CallPick> Of(const scenario::Step& step);
};

struct CallRule {
  enum class Action : uint8_t { kFault, kCrash, kHang, kHubDies };

  CallPick pick;
  Action action = Action::kFault;
  kube::Fault fault = kube::Fault::kNone;
  Duration delay{};     // of the fault; how long it hangs; how long nobody leads
  bool before = false;  // kCrash, kHubDies: the write is not done any more
  bool alone = false;   // kHubDies: without the controllers
  size_t hits = 1;
  std::string place;  // in the story
  size_t met = 0;
};

class CallRules {
 public:
  explicit CallRules(rt::Loop& loop) : loop_(loop) {}
  CallRules(const CallRules&) = delete;
  CallRules& operator=(const CallRules&) = delete;
  ~CallRules() = default;

  kube::FaultPlan& PlanFor(const std::string& whom, int64_t leader);

  void Add(CallRule rule) { rules_.push_back(std::move(rule)); }
  // No rule of that place ("": of any) counts any more.
  void Clear(const std::string& place = "");
  std::vector<std::string> Unused() const;
  bool IsDead(int64_t leader) const { return dead_.contains(leader); }

  // Writes that leaders have made, or tried: by whom they call, then "create works"; events do not count.
  std::map<std::string, std::map<std::string, int64_t>> writes;

  // From now on nothing of that leader comes through; or not before that time.
  void Kill(int64_t leader) { dead_.insert(leader); }
  void Hang(int64_t leader, Duration time) { hangs_[leader] = loop_.Now() + time; }
  // A rule killed a leader, or had it hang: it stands still inside a call. Not to be ended from here.
  std::function<void(const CallRule& rule, std::string call)> on_reached;

 private:
  class Plan;

  kube::FaultDecision ForCall(const std::string& whom, int64_t leader, const kube::Call& call);
  kube::FaultDecision ForWatch(const std::string& whom, int64_t leader, const kube::WatchCall& call, bool changes);
  kube::FaultDecision Reached(CallRule& rule, int64_t leader, const kube::Call& call);
  Duration HangsFor(int64_t leader) const;

  rt::Loop& loop_;
  std::vector<CallRule> rules_;
  std::vector<CallRule> cleared_;
  std::set<int64_t> dead_;
  std::map<int64_t, MonotonicTime> hangs_;
  std::vector<std::unique_ptr<kube::FaultPlan>> plans_;
};

}  // namespace baton::sim
