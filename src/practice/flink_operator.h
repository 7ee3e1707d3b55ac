// FlinkOperator: a simulated flink-kubernetes-operator. It follows the FlinkDeployments of one practice cluster and
// keeps the real operator's contract with whoever reads their status (facts/flink.md section 1), traps included: what
// it decides is FlinkNext (practice/flink_next.h), what it acts on are the Deployments of JobManagers.
//
//   validate -> observe -> decide -> act -> write the status, then look again after an interval
//
// As the real one it reads an object from its cache, works for a while on what it READ, and then writes the status by
// retrying onto whatever version is there by then. It knows of jobs only what it sees when it looks. Its status lives
// in its own memory, and in the object for its next life.
//
// Any jar is replaced by the practice job; an event says so. Annotations of the FlinkDeployment (practice.baton.io/...)
// set rate, keys, partitions, sink (exactly-once, at-least-once), start-from (earliest, latest), state-size,
// state-speed, start-time, stop-time. Session clusters (no spec.job) get a JobManager that runs nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/api.h"
#include "kube/controller.h"
#include "kube/events.h"
#include "kube/informer.h"
#include "practice/commons.h"
#include "practice/faults.h"
#include "practice/flink_next.h"
#include "practice/flink_spec.h"
#include "practice/job_manager.h"
#include "rt/scope.h"

namespace baton::practice {

inline constexpr std::string_view kFlinkFinalizer = "flinkdeployments.flink.apache.org/finalizer";
inline constexpr std::string_view kGenerationAnnotation = "flinkdeployment.flink.apache.org/generation";
inline constexpr std::string_view kEpochKey = "kubernetes.operator.baton.seq";  // becomes the rows' epoch

const kube::Resource& FlinkDeployments();
const kube::Resource& FlinkStateSnapshots();

struct FlinkOperatorOptions {
  OperatorVersion version = OperatorVersion::kV1x15;
  Duration reconcile_interval = seconds(60);
  Duration progress_interval = seconds(10);
  Duration rest_ready_delay = seconds(10);
  Duration work = milliseconds(50);  // from reading an object to acting on it
  Duration cleanup_timeout = minutes(5);

  // All intervals that many times shorter: for demonstrations.
  FlinkOperatorOptions Faster(int times) const;
};

class FlinkOperator {
 public:
  // All outlive this.
  FlinkOperator(kube::Api& api, Commons& commons, JobManagers& managers, std::string cluster, Faults& faults,
                FlinkOperatorOptions options = {});

  // Works until it is dropped, which is what killing it means: jobs go on.
  rt::Task<void> Run();

 private:
  // One look at one object.
  struct Look {
    std::string key;
    WorkloadName workload;
    json::Value object;  // as it was read
    FlinkSpec spec;      // to go by: the object's, or the last valid one
    int64_t generation = 0;
    json::Value status;
    FlinkObserved seen;
  };
  struct Cached {
    std::string uid;
    json::Value status;
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Work(Look& look);
  rt::Task<Result<void>> WriteStatus(Look& look);
  rt::Task<Result<void>> EnsureFinalizer(Look& look);
  rt::Task<kube::Outcome> CleanUp(Look look);
  Duration NextLook(const Look& look) const;
  rt::Task<void> SetFault(const Look& look);
  void Complain(Look& look, std::string_view type, std::string_view message);
  void FinishStatus(Look& look) const;

  // flink_observe.cc
  rt::Task<Result<void>> Observe(Look& look);
  void ObserveJobManager(Look& look, const json::Value& deployment);
  void ObserveJob(Look& look);
  void SetJobState(Look& look, std::string_view state);
  rt::Task<void> CompleteSeen(Look& look);

  // flink_savepoints.cc
  // A snapshot that was asked for the legacy way.
  struct Trigger {
    json::Value nonce;
    bool done = false;
    Result<std::string> url = UnavailableError("it is under way");
  };
  void ObserveTriggers(Look& look);
  rt::Task<Result<void>> TriggerSnapshots(Look& look);
  std::string TriggerDue(const Look& look, std::string_view nonce, std::string_view periodic, int64_t last_ms) const;
  rt::Task<void> Await(rt::Task<Result<std::string>> made, std::shared_ptr<Trigger> trigger, std::string key);
  rt::Task<bool> MakeSnapshotObject(const Look& look, std::string name, std::string type);

  // flink_act.cc
  rt::Task<Result<void>> Act(Look& look, FlinkAction action);
  rt::Task<Result<void>> DeployFirst(Look& look);
  rt::Task<Result<void>> Restore(Look& look, UpgradeMode mode);
  rt::Task<Result<void>> Redeploy(Look& look);
  rt::Task<Result<void>> StopJob(Look& look, FlinkAction action);
  rt::Task<Result<void>> StopWithSavepoint(Look& look);
  rt::Task<Result<void>> RecordSnapshot(Look& look, std::string url);
  // The look's spec becomes the recorded one, and its generation the observed one.
  void Record(Look& look, bool suspended, UpgradeMode mode, std::string_view state, bool first = false) const;
  static void RecordSpec(json::Value& status, const FlinkSpec& spec, bool suspended, UpgradeMode mode,
                         std::string_view state, bool first);
  void MarkSuspended(Look& look, UpgradeMode mode) const;

  // flink_deploy.cc
  rt::Task<Result<void>> Deploy(Look& look, std::string restore_from, std::string job_id, bool last_state = false);
  rt::Task<Result<void>> DeleteJobManager(Look& look, bool forget);
  json::Value DeploymentFor(const Look& look, const JobConfig& config) const;
  JobConfig ConfigFor(const Look& look, std::string restore_from, std::string job_id) const;
  std::string NewJobId(const Look& look);

  kube::Api& api_;
  Commons& commons_;
  JobManagers& managers_;
  std::string cluster_;
  Faults& faults_;
  FlinkOperatorOptions options_;
  kube::Informer objects_;
  kube::Informer deployments_;
  kube::EventRecorder events_;
  kube::Controller controller_;
  std::map<std::string, Cached, std::less<>> cache_;
  std::map<std::string, std::shared_ptr<Trigger>, std::less<>> triggers_;  // by id
  rt::Scope trigger_scope_;                                                // last, so that it goes first
};

}  // namespace baton::practice
