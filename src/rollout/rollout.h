// Rollout: all of this module's controllers on one federation: moves, and what asks for them.
#pragma once

#include <memory>

#include "federation/federation.h"
#include "rollout/engine.h"
#include "rollout/evacuate.h"
#include "rollout/gate.h"
#include "rollout/profiles.h"
#include "rollout/relocate.h"
#include "rollout/strays.h"
#include "rollout/trigger.h"
#include "rollout/upgrade.h"
#include "rollout/writer_end.h"
#include "rt/scope.h"

namespace baton::rollout {

class Rollout {
 public:
  // All outlive this. Before federation.Run().
  Rollout(federation::Federation& federation, Gate& gate, ProfileSet& profiles, const EngineOptions& options = {},
          EvacuateOptions limits = {})
      : loop_(federation.hub().loop()),
        engine_(federation, profiles, options),
        trigger_(federation.hub(), engine_, profiles),
        evacuate_(federation, engine_, profiles,
                  {.moves_out = limits.moves_out, .moves_in = limits.moves_in, .own_hub = options.own_hub}),
        relocate_(federation, engine_, profiles, limits),
        upgrade_(federation, engine_, profiles, limits),
        writer_end_(federation, engine_, profiles),
        strays_(options.own_hub ? std::make_unique<Strays>(federation, profiles) : nullptr) {
    gate.LookIn(federation.hub().members());
  }

  rt::Task<void> UntilManagedIsKnown() { return engine_.UntilManagedIsKnown(); }
  rt::Task<void> Run() {
    rt::Scope scope(loop_);
    scope.Spawn(trigger_.Run());
    scope.Spawn(evacuate_.Run());
    scope.Spawn(relocate_.Run());
    scope.Spawn(upgrade_.Run());
    scope.Spawn(writer_end_.Run());
    if (strays_ != nullptr) scope.Spawn(strays_->Run());
    co_await engine_.Run();
  }

  Engine& engine() { return engine_; }

 private:
  rt::Loop& loop_;
  Engine engine_;
  Trigger trigger_;
  Evacuate evacuate_;
  Relocate relocate_;
  Upgrade upgrade_;
  WriterEnd writer_end_;
  std::unique_ptr<Strays> strays_;  // null: on the hub of another federation, whose objects carry no numbers of ours
};

}  // namespace baton::rollout
