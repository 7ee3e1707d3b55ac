// BadCalls: faults in every call and watch of the controllers, in a mix of its own for every seed, for a while.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "kube/faulty_api.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/random.h"
#include "rt/task.h"

namespace baton::sim {

// Nothing until Begin, nothing after End.
class BadCalls final : public kube::FaultPlan {
 public:
  explicit BadCalls(uint64_t seed) : random_(seed) { Reseed(seed); }
  BadCalls(const BadCalls&) = delete;  // its faults draw from its own numbers
  BadCalls& operator=(const BadCalls&) = delete;
  ~BadCalls() override = default;

  // From here on as one that was made with that seed: for days that go on from one beginning.
  void Reseed(uint64_t seed) {
    random_ = rt::SeededRandom(seed);
    faults_.emplace(random_, Mix(random_));
  }
  // `faults` false: from here on writes are counted, and nothing goes wrong.
  void Begin(bool faults = true) {
    on_ = true;
    if (!faults) faults_->Stop();
  }
  void End() { on_ = false; }
  kube::FaultDecision ForCall(const kube::Call& call) override;
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override {
    return on_ ? faults_->ForOpen(call) : kube::FaultDecision{};
  }
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override {
    return on_ ? faults_->ForChanges(call) : kube::FaultDecision{};
  }
  rt::SeededRandom& random() { return random_; }
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  Duration UpTo(int64_t ms) { return milliseconds(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(ms)))); }
  uint64_t Below(uint64_t n) { return random_.Below(n); }
  // When something is to happen: after up to that time or, as often, right at one of the controllers' next writes. A
  // move is made in bursts in which no time passes, and nothing that goes by the clock would ever come between them.
  rt::Task<void> Moment(rt::Loop& loop, int64_t ms);

 private:
  rt::Task<Result<void>> UntilWrite(uint64_t number);
  // Calls that take half a minute to fail would leave a day with little in it.
  static kube::FaultMix Mix(rt::Random& random) {
    kube::FaultMix mix = kube::FaultMix::Swarm(random);
    for (const kube::Fault fault : {kube::Fault::kSilence, kube::Fault::kSilenceAfter}) mix[fault] /= 10;
    return mix;
  }
  rt::SeededRandom random_;
  std::optional<kube::SeededFaults> faults_;
  bool on_ = false;
  uint64_t writes_ = 0;  // of all controllers, while it is on
  rt::Event written_;    // whenever there is one more
};

}  // namespace baton::sim
