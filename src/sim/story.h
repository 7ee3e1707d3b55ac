// Story: who did what in a simulated run, in virtual time, with the faults that hit it. For people who want to know how
// a seed came to its end; the same seed tells the same story, byte by byte.
//
//   Story story(Story::Detail::kWrites);
//   Play(seed, scene, {.plan = &plan, .story = &story});
//   puts(story.Text().c_str());
//
//      12.345 leader 2    hub    update writers default/orders-flinkdeployment [answer-lost]
//      12.400 cluster blue       its job stopped
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/faulty_api.h"
#include "rt/virtual_loop.h"

namespace baton::sim {

class Story {
 public:
  enum class Detail : uint8_t {
    kCounts,  // nothing is written down
    kWrites,  // what changes something, and every fault
    kAll,     // every call and watch
  };
  static constexpr size_t kTextMax = 64UL << 20U;  // of one story; then it says so and goes on counting

  explicit Story(Detail detail) : detail_(detail) {}

  // The clock that it goes by, for as long as a run lasts.
  void Begin(rt::VirtualLoop& loop) { loop_ = &loop; }
  void End();

  void Tell(std::string_view who, std::string_view what);
  void Call(std::string_view who, const kube::Call& call, kube::FaultDecision decision);
  void Watch(std::string_view who, const kube::WatchCall& call, std::string_view what, kube::FaultDecision decision);

  const std::string& Text() const { return text_; }
  uint64_t calls() const { return calls_; }
  uint64_t events() const { return events_; }  // turns of the loop
  const std::array<size_t, kube::kFaults>& faults() const { return faults_; }

 private:
  void Line(std::string_view who, std::string_view what, kube::FaultDecision decision);

  Detail detail_;
  rt::VirtualLoop* loop_ = nullptr;
  std::string text_;
  uint64_t calls_ = 0;
  uint64_t events_ = 0;
  std::array<size_t, kube::kFaults> faults_{};
};

enum class Cut : uint8_t {
  kNone,
  kBothWays,  // nothing arrives
  kAnswers,   // what is asked for is done, and nothing comes back
};

// A plan for one cluster that can be cut off.
class CutPlan final : public kube::FaultPlan {
 public:
  // Both outlive this.
  CutPlan(kube::FaultPlan& below, const Cut& cut) : below_(below), cut_(cut) {}

  kube::FaultDecision ForCall(const kube::Call& call) override;
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override;
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override;

 private:
  kube::FaultPlan& below_;
  const Cut& cut_;
};

// A plan whose decisions are told.
class ToldPlan final : public kube::FaultPlan {
 public:
  // Both outlive this.
  ToldPlan(kube::FaultPlan& below, Story& story, std::string who)
      : below_(below), story_(story), who_(std::move(who)) {}

  kube::FaultDecision ForCall(const kube::Call& call) override;
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override;
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override;

 private:
  kube::FaultPlan& below_;
  Story& story_;
  std::string who_;
};

}  // namespace baton::sim
