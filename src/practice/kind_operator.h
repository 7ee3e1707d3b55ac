// KindOperator: plays the operator of one kind of workload in a practice cluster, as its KindSpec says
// (practice/kind_spec.h): pods as API objects, one process that reads the workload's source and writes to its sink for
// the judge, and a status that follows what is really there.
//
//   KindLives lives;                                        // the processes: they outlive the operator
//   KindOperator spark(api, commons, "blue", faults, spec, lives);
//   scope.Spawn(spark.Run());
//
// As a real one it acts on what it READ a moment before, and its status is of the generation that it read. A pod has a
// finalizer of ours and is gone only when its process is. An image of the registry `fake` is never pulled. The
// workload's records and rows are found under its name and kind: default/orders.deployment.
//
// Annotations of the object: those of practice/wishes.h; practice.baton.io/run-time ends kinds that complete;
// practice.baton.io/checkpoint-interval. The epoch of its rows is rollout.karmada.io/seq.
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
#include "kube/events.h"
#include "kube/informer.h"
#include "practice/commons.h"
#include "practice/faults.h"
#include "practice/job.h"
#include "practice/kind_spec.h"

namespace baton::practice {

inline constexpr std::string_view kKindLabel = "practice.baton.io/kind";
inline constexpr std::string_view kTemplateAnnotation = "practice.baton.io/template";  // hash, on pods
inline constexpr std::string_view kRowEpoch = "rollout.karmada.io/seq";
inline constexpr std::string_view kOffsetsAnnotation = "strimzi.io/connector-offsets";

// One workload in this cluster.
struct KindLife {
  std::string uid;            // of the object
  std::unique_ptr<Job> job;   // null: no process
  std::string pod_uid;        // it lives in
  MonotonicTime starts_at{};  // the process, once its pod is there
  KindStep step = KindStep::kStopped;
  WallTime since{};  // of the step
  WallTime started{};
  std::string error;
  int restarts = 0;
  bool completed = false;
  // What the status keeps from one step to the next, by kinds that have such: tokens, and warnings about offsets.
  json::Value kept;
  json::Value warning;
};

struct KindLives {
  std::map<std::string, KindLife, std::less<>> lives;  // by "ns/name"
  std::function<void(const std::string& key)> on_change;
};

struct KindOperatorOptions {
  Duration pod_start = seconds(2);   // from a pod's creation to a process in it
  Duration work = milliseconds(50);  // from reading an object to acting on it
  Duration restart_after = seconds(5);
  Duration look_again = milliseconds(200);  // while something small is waited for
  Duration image_retry = seconds(5);
};

class KindOperator {
 public:
  // All outlive this.
  KindOperator(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, const KindSpec& spec,
               KindLives& lives, KindOperatorOptions options = {});
  ~KindOperator();

  // Works until it is dropped, which is what killing it means: processes go on. Waits for as long as the kind is not
  // served.
  rt::Task<void> Run();

 private:
  // One look at one object.
  struct Look {
    std::string key;
    json::Value object;  // as it was read
    WorkloadName workload;
    KindLife* life = nullptr;
    KindStep step = KindStep::kStopped;
    std::string waiting;  // why pods wait
    std::string volume;   // of the first pod
    std::optional<Duration> again;
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Work(Look& look);
  rt::Task<Result<void>> RunIt(Look& look);
  rt::Task<Result<void>> StopIt(Look& look);
  rt::Task<Result<void>> StartProcess(Look& look, std::string pod_uid);
  rt::Task<void> EndProcess(Look& look);
  rt::Task<Result<void>> Settle(Look& look);  // the step that a running process is in
  rt::Task<Result<void>> WriteStatus(Look& look);
  bool WantsToRun(const Look& look) const;

  // kind_pods.cc
  std::vector<json::Value> PodsOf(std::string_view key) const;  // by name, deleting ones too
  rt::Task<Result<void>> FitPods(Look& look, int64_t count);
  rt::Task<Result<void>> RemovePods(Look& look, bool only_outdated);
  rt::Task<Result<void>> ReleasePods(std::string key, std::string uid, KindLife* life);
  rt::Task<Result<void>> CreatePod(const Look& look, std::string name);
  rt::Task<Result<void>> SetPods(const Look& look, std::string waiting);
  std::string TemplateHash(const json::Value& object) const;
  std::string FilledPodName(std::string_view name) const;

  // kind_progress.cc
  std::string Pointer(const Look& look) const;
  std::string StateDir(const Look& look) const;
  rt::Task<Result<std::string>> RestoreFrom(Look& look);
  rt::Task<bool> IsCompleted(const Look& look);
  rt::Task<Result<void>> MarkCompleted(const Look& look);
  rt::Task<Result<void>> EnsureClaims(Look& look);

  // kind_tokens.cc
  static bool IsReplica(const json::Value& object);
  rt::Task<Result<void>> AdoptSystem(Look& look);
  rt::Task<Result<std::string>> Promote(Look& look);
  void Demoted(Look& look, std::string_view url) const;
  void ReportInstances(Look& look, json::Value& status) const;

  // kind_offsets.cc
  rt::Task<Result<void>> ServeOffsets(Look& look);
  rt::Task<Result<void>> ListOffsets(const Look& look);
  rt::Task<Result<void>> AlterOffsets(const Look& look, bool reset);

  kube::Api& api_;
  Commons& commons_;
  std::string cluster_;
  Faults& faults_;
  const KindSpec& spec_;
  KindLives& lives_;
  KindOperatorOptions options_;
  kube::Informer objects_;
  kube::Informer pods_;
  kube::EventRecorder events_;
  kube::Controller controller_;
};

}  // namespace baton::practice
