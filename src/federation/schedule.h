// schedule: where a binding goes. Decides with placement::Schedule and writes spec.clusters by compare-and-swap; a
// binding that detect is about to create is decided before it is written, so that it is born scheduled.
//
// suspension.scheduling is honoured strictly, also for keys that are already queued. A workload that must have one
// writer and runs is never moved from here: the wish is recorded (condition MigrationWanted, event), and stays.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "federation/hub.h"
#include "kube/controller.h"
#include "placement/assumed.h"
#include "placement/estimate.h"
#include "placement/fleet.h"
#include "placement/prepared.h"
#include "placement/schedule.h"

namespace baton::federation {

class ScheduleController {
 public:
  explicit ScheduleController(Hub& hub);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

  // What the binding should be: spec.clusters and the applied placement filled in. The same value when nothing is to be
  // decided. Remembers what the condition Scheduled is to say.
  json::Value Decide(const std::string& key, json::Value binding);

  // Whether the binding's placement reaches that cluster: its affinity and its tolerations allow it.
  bool Allows(const json::Value& binding, std::string_view cluster);
  // Whether its placement would leave it in that cluster, where it is: taints keep newcomers away only.
  bool Keeps(const json::Value& binding, std::string_view cluster);

  // The one cluster to which the placement would send the workload if it could not be in those; an error says why there
  // is none. What is chosen counts as decided: the next question sees less room there.
  Result<std::string> Elsewhere(const std::string& key, const json::Value& binding,
                                const std::set<std::string>& barred);

  // A move ended in that cluster, which was somebody's decision: the affinity group in use is from now on one that the
  // cluster is in, so that the scheduler does not wish the workload back into the group that it was taken from. On
  // record before the scheduler may decide again. Gives the binding as it is then.
  rt::Task<Result<json::Value>> SettleIn(std::string key, json::Value binding, std::string cluster);

  // Where a workload that must stay would go; "": nowhere else, or nothing is known yet. Several are joined by ",".
  std::string Wish(const std::string& key) const;

  // Puts the scheduling part into a binding's status, as of its generation.
  void FillStatus(const std::string& key, const json::Value& binding, json::Value& status);
  // Called when a status should be written because the decision changed.
  void OnDecision(std::function<void(const std::string& key)> handler) { on_decision_ = std::move(handler); }

 private:
  struct Known {
    bool scheduled = false;  // Scheduled: True
    std::string reason;
    std::string message;
    std::string affinity;
    std::string applied;  // the placement that was decided on
    std::optional<WallTime> at;
    std::string wish;        // where it would go if it were not managed; "": nowhere else
    std::string wished_for;  // the binding that was, and where it was placed
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  void ClustersChanged(const json::Value& before, const json::Value& now);
  void LookAgain();  // at what fits nowhere
  void SeenRunning(const std::string& key, const json::Value& binding);
  const std::shared_ptr<const placement::Fleet>& Fleet();
  static std::string WhichOf(const json::Value& binding);
  bool RunsAndMustStay(const json::Value& binding, const std::vector<placement::TargetCluster>& wanted) const;
  bool MayBeManaged(const json::Value& binding) const;

  Hub& hub_;
  std::shared_ptr<const placement::Fleet> fleet_;  // null: to be made
  placement::Assumed assumed_;
  MonotonicTime expired_at_{};  // when what was assumed too long was last looked for
  std::unique_ptr<placement::Estimator> estimator_;
  placement::PlacementCache cache_;
  std::map<std::string, Known, std::less<>> known_;
  std::set<std::string> waiting_;  // those that fit nowhere, and those whose template is not known yet
  std::function<void(const std::string& key)> on_decision_;
  kube::Controller controller_;
};

}  // namespace baton::federation
