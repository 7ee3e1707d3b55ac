// Relocate: what the scheduler would do with a managed workload by deleting and creating it (a policy was edited, a
// cluster's labels changed, a WorkloadRebalancer asked) is done by a move. The wish is on the binding (federation's
// schedule, condition MigrationWanted); it becomes a StatefulMigration when it has stood for a while.
//
// One that its policy had put on several clusters has no Writer: its owner wanted several writers. When the policy
// wants it in fewer of them, it is taken out of the others; nothing is moved.
//
// A wish whose move failed is not tried again until it is another one: another target, another placement, an edited
// policy, or asked for anew. One that was refused is tried a few times more (ask.h). Clusters that are being drained
// are left to evacuate.h.
#pragma once

#include <map>
#include <string>

#include "federation/federation.h"
#include "kube/controller.h"
#include "rollout/engine.h"
#include "rollout/evacuate.h"
#include "rollout/profiles.h"

namespace baton::rollout {

inline constexpr Duration kWishSettles = seconds(5);                      // so that an edit in two steps is one move
inline constexpr std::string_view kWishMark = "rollout.karmada.io/wish";  // on a migration: which one it carries out

class Relocate {
 public:
  // All outlive this.
  Relocate(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options = {});
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  struct Wish {
    std::string mark;
    MonotonicTime since;
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<kube::Outcome> Shrink(std::string key, std::string wish);

  federation::Hub& hub_;
  federation::Federation& federation_;
  Engine& engine_;
  ProfileSet& profiles_;
  EvacuateOptions options_;
  std::map<std::string, Wish, std::less<>> wishes_;  // by binding; what may be lost
  kube::Controller controller_;
};

}  // namespace baton::rollout
