// What can happen in a World, one event at a time.
#pragma once

#include <string>

#include "rollout/testing/model_core.h"
#include "rollout/testing/model_world.h"

namespace baton::rollout::model {

class Steps {
 public:
  Steps(Core& core, int faults, uint32_t only) : core_(core), faults_(faults), only_(only) {}

  World First() const;

  // Lets the event happen. False: it cannot happen here, or changes nothing.
  bool Apply(World& world, Event event);
  // The promise that the last Apply broke; nullptr: none.
  const char* broken() const { return broken_; }

  // As Apply, for the one next event when no more faults happen; `world` is first put in order (everything answers, and
  // only the newest leader is left). False: nothing is left to do.
  bool Fair(World& world);
  static void Settle(World& world);
  // What must be true at an end when nothing moves any more; nullptr: it is.
  static const char* CheckQuietEnd(const World& world);

 private:
  bool Normal(World& world, Event event);
  bool Fault(World& world, Event event);
  bool FaultOfMachines(World& world, Event event);
  bool FaultOfPeople(World& world, Event event);
  bool IsGranted(const World& world) const;
  bool GoesBack(const World& world) const;
  bool Ends(const World& world) const;
  void NoLieAfterwards(World& world, int which) const;
  bool StartOrdered(const World& world, int which) const;
  // What is under way to the object was decided on a version that is gone.
  static void VoidOverrideWrites(World& world) { Void(world, Do::kPutOverride, Do::kRemoveOverride); }
  static void VoidBindingWrites(World& world) { Void(world, Do::kPutBinding, Do::kPutBinding); }
  static void Void(World& world, Do what, Do or_what);
  bool Look(World& world, int leader);
  bool Land(World& world, Pending& slot, bool with_status);
  bool SetPhase(World& world, Phase phase);
  void CheckEnd(const World& world);
  bool CacheWrite(World& world, int which);
  bool Rendered(const World& world, int which, Spec& spec) const;
  bool WriteMember(World& world, int which, const Spec& spec, bool may_create);
  bool Read(World& world, int which);
  bool Act(World& world, int which);
  void Start(World& world, int which, int8_t from);
  void Break(const char* promise) {
    if (broken_ == nullptr) broken_ = promise;
  }
  void CheckAlways(const World& world);

  Core& core_;
  int faults_;
  uint32_t only_;
  const char* broken_ = nullptr;
};

}  // namespace baton::rollout::model
