// JobManagers: what turns the JobManager Deployments of one practice cluster into running jobs: its scheduler, kubelets
// and Flink processes in one. It follows Deployments and pods as they are in the API, so that `kubectl delete pod` or
// `kubectl delete deployment` do what they do in a real cluster:
//
//   Deployment comes    a pod, then a JobManager process in it, then its job (config: the annotation kJobAnnotation)
//   Deployment goes     the process is killed, then the pods go
//   JobManager's pod goes   the process is killed; a new pod runs the job again: with high availability from its last
//                       checkpoint, or not at all when it had ended; without, from where it was first started, even
//                       when it had finished (FLINK-41262)
//
// Jobs belong here, not to the operator: they go on when that is killed, and when the hub cannot reach the cluster.
// A pod has a finalizer of ours: it is gone only when its process is.
//
// A restart of the whole program is treated as a restart of all JobManagers with high availability, whatever they are
// configured to: running jobs go on from their last checkpoint, so that nothing is lost; and a job that had stopped is
// told as its JobManager would have told it, had it lived on: with its savepoint.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "practice/commons.h"
#include "practice/faults.h"
#include "practice/job.h"

namespace baton::practice {

inline constexpr std::string_view kJobAnnotation = "practice.baton.io/job";
inline constexpr std::string_view kPodFinalizer = "practice.baton.io/process";
inline constexpr std::string_view kLastStateSentinel = "KUBERNETES_OPERATOR_LAST_STATE";
inline constexpr Duration kImageRetry = seconds(5);  // how often a pod without image looks again

const kube::Resource& Deployments();
const kube::Resource& Pods();
const kube::Resource& Nodes();

// What was remembered of a JobManager outside of its process.
struct JobMemory {
  std::string job_id;
  std::string checkpoint;  // URL of its newest state; "" before the first
  bool finished = false;
};

// One JobManager process.
struct JobManager {
  std::string deployment_uid;
  std::string pod_uid;
  MonotonicTime starts_at{};
  bool up = false;  // answers REST calls
  int restarts = 0;
  std::unique_ptr<Job> job;      // null in a session cluster, and when
  bool finished_before = false;  // with high availability: the job was over when this process started
  std::string finished_with;     // then, after a restart of the whole program: the savepoint it had stopped with
};

class JobManagers {
 public:
  struct Options {
    Duration pod_start = seconds(2);  // from a pod's creation to an answering JobManager
  };

  // All outlive this.
  JobManagers(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, Options options);
  ~JobManagers();

  rt::Task<void> Run();

  // ---- as the operator sees it: REST of a JobManager by the FlinkDeployment's "ns/name" ----
  JobManager* Find(std::string_view key);  // null when no process answers
  // Called when a job changes its phase, or a JobManager comes or goes.
  std::function<void(const std::string& key)> on_change;
  uint64_t changes() const { return changes_; }  // how often on_change had reason to be called
  // Why its pod waits, as the container status says; "" when it does not.
  std::string WaitingReason(std::string_view key) const;
  bool HasPods(const std::string& key) const;

  rt::Task<std::optional<JobMemory>> Memory(WorkloadName workload) const;
  rt::Task<void> Forget(WorkloadName workload) const;

  // ---- faults ----
  // Its process ends and starts again in the same pod. kNotFound: there is none.
  Result<void> Restart(std::string_view key);

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<kube::Outcome>> Serve(std::string key, json::Value deployment);
  // Kills and lets go of the pods that are being deleted or belong to another Deployment than `uid`.
  rt::Task<Result<void>> ReleasePods(std::string key, std::string uid);
  rt::Task<Result<json::Value>> CreatePod(json::Value deployment, std::string role);
  // How the only container of a pod is: it runs, unless it waits for a reason or the last one has ended.
  struct ContainerState {
    std::string waiting;
    bool terminated = false;
    int restarts = 0;
  };
  rt::Task<Result<void>> SetPodStatus(json::Value pod, ContainerState is);
  rt::Task<Result<void>> SetReady(json::Value deployment, bool ready);
  rt::Task<Result<void>> FitTaskManagers(std::string key, json::Value deployment);
  rt::Task<void> StartJob(std::string key, JobConfig config);
  void Kill(std::string_view key);
  void Changed(const std::string& key);
  std::vector<json::Value> PodsOf(std::string_view key, std::string_view role) const;

  kube::Api& api_;
  Commons& commons_;
  std::string cluster_;
  Faults& faults_;
  Options options_;
  kube::Informer deployments_;
  kube::Informer pods_;
  kube::Controller controller_;
  std::map<std::string, JobManager, std::less<>> managers_;
  uint64_t changes_ = 0;
  std::set<std::string, std::less<>> recovered_;  // Deployments, by uid, that were there when the program began
};

}  // namespace baton::practice
