// FaultyApi: a kube::Api with a bad day. Stands in front of another Api and does to calls and watches what networks,
// proxies, overloaded servers and crashes do. Which fault hits which call is decided by a FaultPlan: by script (exact)
// or by seed (a random subset of kinds with random intensity: swarm).
//
//   SeededFaults plan(loop.random(), FaultMix::Swarm(loop.random()));
//   FaultyApi hub(real_hub, plan);
//
// It keeps to what can happen: a read without resourceVersion is never stale (only a read that allows it by "0" is), a
// change is never told twice within one watch nor left out of it. What is lost is an answer, time, or the watch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api.h"
#include "rt/random.h"

namespace baton::kube {

enum class Fault : uint8_t {
  kNone,
  kErrorBefore,   // kUnavailable, the server never saw it
  kAnswerLost,    // done, and then kUnavailable
  kDuplicate,     // done twice, as by a proxy that tries again; the second answer is given
  kDelay,         // the server sees it later
  kLateAnswer,    // done at once, the answer comes later
  kConflict,      // 409 on a write, nothing is done
  kThrottled,     // 429 with Retry-After
  kServerError,   // 500, nothing is done
  kSilence,       // nothing comes back until the deadline; the server never saw it
  kSilenceAfter,  // done, and nothing comes back until the deadline
  kStaleRead,     // a read that allows it gets the answer before the last
  kWatchCut,      // the watch ends
  kWatchExpired,  // the watch ends with 410
  kWatchDelay,    // changes come later
};
inline constexpr size_t kFaults = 15;
std::string_view FaultName(Fault fault);  // "answer-lost", as in scenario files
std::optional<Fault> FaultFromName(std::string_view name);

struct FaultDecision {
  Fault fault = Fault::kNone;
  Duration delay = {};
};

// What the call of a discovery reads, for plans.
inline constexpr std::string_view kDiscovery = "discovery";

// Asked once for each call (a discovery is a get of kDiscovery), each opening of a watch and each batch of changes.
// What does not fit is ignored.
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  virtual FaultDecision ForCall(const Call& call) = 0;
  virtual FaultDecision ForOpen(const WatchCall& call) = 0;
  virtual FaultDecision ForChanges(const WatchCall& call) = 0;
};

// How likely each fault is for one call; and how long delays are at most.
struct FaultMix {
  std::array<double, kFaults> chance{};
  Duration delay_max = seconds(5);

  double& operator[](Fault fault) { return chance.at(static_cast<size_t>(fault)); }
  static FaultMix None() { return {}; }
  // Each kind is in with one half, with a chance between a thousandth and a fifth, small ones as likely as large ones.
  static FaultMix Swarm(rt::Random& random);
};

class SeededFaults final : public FaultPlan {
 public:
  SeededFaults(rt::Random& random, FaultMix mix) : random_(random), mix_(mix) {}

  FaultDecision ForCall(const Call& call) override;
  FaultDecision ForOpen(const WatchCall& call) override;
  FaultDecision ForChanges(const WatchCall& call) override;

  void Stop() { mix_ = FaultMix::None(); }  // from here on all goes well
  const std::array<size_t, kFaults>& counts() const { return counts_; }

 private:
  FaultDecision Draw(const std::vector<Fault>& possible);

  rt::Random& random_;
  FaultMix mix_;
  std::array<size_t, kFaults> counts_{};
};

// Exactly these: the first rule that matches and has hits left.
class ScriptedFaults final : public FaultPlan {
 public:
  struct Rule {
    Fault fault = Fault::kNone;
    Duration delay = {};
    std::optional<Verb> verb;  // none: any, and watches
    std::string plural;        // "": any
    std::string name;          // "": any
    std::string subresource;   // "": any
    size_t skip = 0;           // lets so many pass first
    size_t hits = 1;
    std::function<bool(const Call& call)> when;  // a further condition; null: none
  };
  void Add(Rule rule) { rules_.push_back(std::move(rule)); }
  void Clear() { rules_.clear(); }
  size_t pending() const;  // rules that have hits left

  FaultDecision ForCall(const Call& call) override;
  FaultDecision ForOpen(const WatchCall& call) override;
  FaultDecision ForChanges(const WatchCall& call) override;

 private:
  FaultDecision ForWatch(const WatchCall& call, bool changes);
  std::vector<Rule> rules_;
};

class FaultyApi final : public Api {
 public:
  // Both outlive this.
  FaultyApi(Api& below, FaultPlan& plan) : below_(below), plan_(plan) {}

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override;
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override;
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override;

 private:
  rt::Task<Result<Answer>> Silent(rt::Deadline deadline);
  rt::Task<Result<Answer>> Stale(CallBox call, rt::Deadline deadline);

  Api& below_;
  FaultPlan& plan_;
  std::map<std::string, Answer> last_answers_;  // of reads that may be stale, by what they asked
};

}  // namespace baton::kube
