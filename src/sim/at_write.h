// AtWrite: something happens exactly at the k-th write that the controllers make, so that all of them can be tried.
//
//   AtWrite plan;
//   Play(seed, [&](Scene& scene) -> rt::Task<void> {
//     co_await scene.Begin();
//     plan.Arm(7, AtWrite::Side::kBefore);
//     ... co_await plan.reached.Wait(); do it
//   }, &plan);
//
// With a deadly one nothing of the controllers comes through any more from that write on (before: that one included),
// until Revive(). Else the write waits while the test does what it wants (before), or goes on at once (after).
// Heartbeats and events do not count.
#pragma once

#include <string>

#include "base/strings.h"
#include "kube/faulty_api.h"
#include "rt/event.h"

namespace baton::sim {

class AtWrite final : public kube::FaultPlan {
 public:
  enum class Side : uint8_t { kBefore, kAfter };
  static constexpr Duration kMoment = milliseconds(20);

  rt::Event reached;

  void Arm(size_t k, Side side, bool deadly = false) {
    armed_ = true;
    k_ = k;
    side_ = side;
    deadly_ = deadly;
  }
  void Revive() { dead_ = false; }
  // From the k-th write on every write takes that long to arrive.
  void ArmSlow(size_t k, Duration delay) {
    Arm(k, Side::kBefore);
    slow_ = delay;
  }
  size_t writes() const { return writes_; }
  const std::string& which() const { return which_; }  // the k-th

  kube::FaultDecision ForCall(const kube::Call& call) override {
    if (dead_) return {.fault = kube::Fault::kSilence};
    const bool counts = armed_ && call.IsWrite() && !call.dry_run && call.resource.plural != "events" &&
                        call.resource.plural != "clusters";
    if (counts) ++writes_;
    if (counts && slow_ > Duration{} && writes_ > k_) return {.fault = kube::Fault::kDelay, .delay = slow_};
    if (!counts || writes_ != k_) return {};
    which_ = StrCat(kube::VerbName(call.verb), " ", call.resource.plural, " ",
                    call.name.empty() ? kube::NameOf(call.body) : call.name, " ", call.subresource);
    reached.Set();
    dead_ = deadly_;
    const bool before = side_ == Side::kBefore;
    if (deadly_) return {.fault = before ? kube::Fault::kSilence : kube::Fault::kSilenceAfter};
    const Duration delay = slow_ > Duration{} ? slow_ : kMoment;
    return before ? kube::FaultDecision{.fault = kube::Fault::kDelay, .delay = delay} : kube::FaultDecision{};
  }
  kube::FaultDecision ForOpen(const kube::WatchCall& /*call*/) override {
    return dead_ ? kube::FaultDecision{.fault = kube::Fault::kErrorBefore} : kube::FaultDecision{};
  }
  kube::FaultDecision ForChanges(const kube::WatchCall& /*call*/) override { return {}; }

 private:
  bool armed_ = false;
  bool deadly_ = false;
  bool dead_ = false;
  size_t k_ = 0;
  Duration slow_{};
  size_t writes_ = 0;
  Side side_ = Side::kBefore;
  std::string which_;
};

}  // namespace baton::sim
