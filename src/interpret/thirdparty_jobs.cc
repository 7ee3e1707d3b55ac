// Batch and notebooks: Volcano Job, Kubeflow PyTorchJob, TFJob, MPIJob and Notebook, Argo Workflow.
#include <algorithm>
#include <array>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/status.h"
#include "interpret/thirdparty.h"

namespace baton::interpret {

namespace {

using json::Value;

void AddVolcano(HandlerTable& table) {
  Handlers job = MakeHandlers(
      {.reflect = {"minAvailable", "pending", "running", "succeeded", "failed", "terminating", "unknown", "version",
                   "retryCount", "runningDuration", "taskStatusCount", "controlledResources", "state", "conditions"},
       .aggregate = {{"minAvailable"},
                     {"pending"},
                     {"running"},
                     {"succeeded"},
                     {"failed"},
                     {"terminating"},
                     {"unknown"},
                     {"retryCount"},
                     {"version", Fold::kMax},
                     {"taskStatusCount", Fold::kSumTree},
                     {"controlledResources", Fold::kMerge}},
       .single_as_is = true});
  // The state that needs attention most; Completed only when all are.
  job.aggregate = [sums = job.aggregate](Value object, const Items& items, WallTime now) -> Result<Value> {
    const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
    object = TRY(sums(std::move(object), items, now));
    if (members.size() <= 1) return object;
    constexpr std::array<std::string_view, 10> kMildFirst = {"Completed",  "Completing",  "Running",    "Pending",
                                                             "Restarting", "Terminating", "Terminated", "Aborting",
                                                             "Aborted",    "Failed"};
    const Value* worst = nullptr;
    ptrdiff_t worst_rank = -1;
    for (const MemberStatus& member : members) {
      if (member.status == nullptr || !(*member.status)["state"].is_object()) continue;
      const auto at = std::ranges::find(kMildFirst, At(*member.status, {"state", "phase"}).str());
      if (at - kMildFirst.begin() <= worst_rank) continue;
      worst_rank = at - kMildFirst.begin();
      worst = &(*member.status)["state"];
    }
    if (worst != nullptr) object.Edit("status").Set("state", *worst);
    return object;
  };
  job.components = [](const Value& object) -> Result<std::vector<Component>> {
    std::vector<Component> components;
    for (const Value& task : At(object, {"spec", "tasks"}).items()) {
      const std::string name =
          task["name"].str().empty() ? StrCat("task-", components.size()) : std::string(task["name"].str());
      components.push_back(TRY(PodComponent(name, task["minAvailable"], 1, task["template"])));
    }
    return components;
  };
  job.health = [](const Value& observed) -> Result<bool> {
    constexpr std::array<std::string_view, 9> kHealthy = {"Running",    "Completed",   "Pending",
                                                          "Aborting",   "Aborted",     "Restarting",
                                                          "Completing", "Terminating", "Terminated"};
    return std::ranges::find(kHealthy, At(observed, {"status", "state", "phase"}).str()) != kHealthy.end();
  };
  table[{"batch.volcano.sh/v1alpha1", "Job"}] = std::move(job);
}

struct Role {
  std::string_view key;   // in the replica specs
  std::string_view name;  // of the component
};

// Kubeflow's training jobs: one pod template per role.
Handlers TrainingJob(std::string_view specs, std::vector<Role> roles) {
  Handlers job = MakeHandlers({.aggregate = {{"startTime", Fold::kEarliest},
                                             {"completionTime", Fold::kLatest},
                                             {"lastReconcileTime", Fold::kLatest},
                                             {"replicaStatuses", Fold::kSumTree},
                                             {"conditions", Fold::kJobConditions, {"Succeeded"}}},
                               .single_as_is = true,
                               .health = HasNoFailedCondition});
  job.components = [specs, roles](const Value& object) -> Result<std::vector<Component>> {
    std::vector<Component> components;
    for (const Role& role : roles) {
      const Value& spec = At(object, {"spec", specs, role.key});
      if (spec.is_object()) components.push_back(TRY(PodComponent(role.name, spec["replicas"], 1, spec["template"])));
    }
    return components;
  };
  job.dependencies = [specs, roles](const Value& object) -> Result<std::vector<Value>> {
    std::vector<Value> all;
    for (const Role& role : roles) {
      std::vector<Value> own = PodDependencies(At(object, {"spec", specs, role.key, "template"}),
                                               At(object, {"metadata", "namespace"}).str());
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  };
  return job;
}

void AddKubeflow(HandlerTable& table) {
  table[{"kubeflow.org/v1", "PyTorchJob"}] =
      TrainingJob("pytorchReplicaSpecs", {{"Master", "master"}, {"Worker", "worker"}});
  table[{"kubeflow.org/v1", "TFJob"}] = TrainingJob(
      "tfReplicaSpecs",
      {{"PS", "ps"}, {"Worker", "worker"}, {"Chief", "chief"}, {"Master", "master"}, {"Evaluator", "evaluator"}});

  Handlers mpi = TrainingJob("mpiReplicaSpecs", {});
  mpi.reflect =
      MakeHandlers({.reflect = {"completionTime", "conditions", "lastReconcileTime", "replicaStatuses", "startTime"}})
          .reflect;
  mpi.dependencies = nullptr;
  mpi.components = [](const Value& object) -> Result<std::vector<Component>> {
    std::vector<Component> components;
    for (const json::Member& role : At(object, {"spec", "mpiReplicaSpecs"}).members()) {
      if (!role.value()["template"].is_object()) continue;
      const int64_t fallback = ToLower(role.key()) == "worker" ? 0 : 1;
      components.push_back(TRY(PodComponent(role.key(), role.value()["replicas"], fallback, role.value()["template"])));
    }
    return components;
  };
  table[{"kubeflow.org/v2beta1", "MPIJob"}] = std::move(mpi);
}

Result<bool> IsNotebookHealthy(const Value& observed) {
  const Value& state = At(observed, {"status", "containerState"});
  if (state["running"].is_object()) return true;
  if (state["waiting"].is_object()) return At(state, {"waiting", "reason"}).str() == "ContainerCreating";
  if (!state["terminated"].is_object()) return false;
  const std::string_view reason = At(state, {"terminated", "reason"}).str();
  return reason != "Error" && reason != "OOMKilled" && reason != "ContainerCannotRun" &&
         At(state, {"terminated", "exitCode"}).int_or(0) == 0;
}

// Running only when every member's is: one that waits or ended is shown instead.
Result<Value> AggregateNotebook(Value object, const Items& items, WallTime /*now*/) {
  const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
  if (members.size() == 1) {
    if (members[0].status != nullptr) object.Set("status", *members[0].status);
    return object;
  }
  int64_t ready = 0;
  Value state;
  bool trouble = false;
  for (const MemberStatus& member : members) {
    if (member.status == nullptr) continue;
    ready = SaturatingAdd(ready, TRY(CountAt(*member.status, {"readyReplicas"})));
    const Value& own = (*member.status)["containerState"];
    const bool running = own["running"].is_object();
    if (trouble || (running && !state.is_null())) continue;
    trouble = !running;
    state = own.empty() ? json::Object({{"waiting", json::Object({{"reason", "Unschedulable"}})}}) : own;
  }
  Value status = json::Object({{"readyReplicas", ready}});
  if (!state.is_null()) status.Set("containerState", std::move(state));
  object.Set("status", std::move(status));
  return object;
}

void AddNotebook(HandlerTable& table) {
  Handlers notebook = MakeHandlers({.replicas = "spec.replicas",
                                    .default_replicas = 1,
                                    .pods = {"spec.template"},
                                    .reflect = {"conditions", "containerState", "readyReplicas"},
                                    .health = IsNotebookHealthy});
  notebook.replicas = [](const Value& object) -> Result<Replicas> {
    return Replicas{1, TRY(PodRequirements(At(object, {"spec", "template"})))};
  };
  notebook.dependencies = nullptr;
  notebook.aggregate = AggregateNotebook;
  table[{"kubeflow.org/v1", "Notebook"}] = std::move(notebook);
}

void AddArgo(HandlerTable& table) {
  Handlers workflow =
      MakeHandlers({.replicas = "spec.parallelism",
                    .default_replicas = 1,
                    .revise = true,
                    .retain = {"spec.suspend", "status"}});  // the member's controller keeps its work there
  // Where its pods may run stands in the workflow's own spec; what they request is known per step only.
  workflow.replicas = [](const Value& object) -> Result<Replicas> {
    Value spec = json::Object();
    for (const std::string_view field : {"affinity", "nodeSelector", "tolerations"}) {
      if (!At(object, {"spec", field}).is_null()) spec.Set(field, At(object, {"spec", field}));
    }
    return Replicas{TRY(IntAt(object, {"spec", "parallelism"})).value_or(1),
                    TRY(PodRequirements(json::Object({{"spec", spec}})))};
  };
  workflow.health = [](const Value& observed) -> Result<bool> {
    const std::string_view phase = At(observed, {"status", "phase"}).str();
    return !phase.empty() && phase != "Error" && phase != "Failed";
  };
  // Unlike Karmada's, without the claims that the workflow makes itself from its volumeClaimTemplates.
  workflow.dependencies = [](const Value& object) -> Result<std::vector<Value>> {
    const std::string_view name_space = At(object, {"metadata", "namespace"}).str();
    std::vector<Value> references = PodDependencies(object, name_space);
    const std::string_view account = At(object, {"spec", "executor", "serviceAccountName"}).str();
    if (!account.empty()) references.push_back(Reference("v1", "ServiceAccount", name_space, account));
    return references;
  };
  table[{"argoproj.io/v1alpha1", "Workflow"}] = std::move(workflow);
}

}  // namespace

void AddJobs(HandlerTable& table) {
  AddVolcano(table);
  AddKubeflow(table);
  AddNotebook(table);
  AddArgo(table);
}

}  // namespace baton::interpret
