// From Deployments to processes.
#include "practice/job_manager.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"
#include "rt/scope.h"

namespace baton::practice {

using json::Value;
using kube::Outcome;

namespace {

constexpr std::string_view kByWorkload = "workload";
constexpr size_t kPodSuffix = 5;
constexpr size_t kWorkers = 16;
constexpr Duration kBackoffMax = seconds(30);  // as a kubelet is: stubborn

std::string KeyOf(const Value& object) {
  return StrCat(kube::NamespaceOf(object), "/", object["metadata"]["labels"]["app"].str());
}

std::string_view OwnerUid(const Value& pod) { return pod["metadata"]["ownerReferences"][0]["uid"].str(); }

}  // namespace

const kube::Resource& Deployments() {
  static const kube::Resource resource{
      .group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment", .namespaced = true};
  return resource;
}

const kube::Resource& Pods() {
  static const kube::Resource resource{
      .group = "", .version = "v1", .plural = "pods", .kind = "Pod", .namespaced = true};
  return resource;
}

const kube::Resource& Nodes() {
  static const kube::Resource resource{
      .group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false};
  return resource;
}

JobManagers::JobManagers(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, Options options)
    : api_(api),
      commons_(commons),
      cluster_(std::move(cluster)),
      faults_(faults),
      options_(options),
      deployments_(api, Deployments(), {.label_selector = "component=jobmanager"}),
      pods_(api, Pods(), {.label_selector = StrCat("practice.baton.io/cluster=", cluster_)}),
      controller_(api.loop(), "practice-job-managers", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = kWorkers, .queue = {.backoff_max = kBackoffMax}}) {
  const auto changed = [this](const Value& before, const Value& now) {
    controller_.Add(KeyOf(now.is_null() ? before : now));
  };
  deployments_.OnChange(changed);
  pods_.AddIndex(std::string(kByWorkload), [](const Value& pod) { return std::vector<std::string>{KeyOf(pod)}; });
  pods_.OnChange(changed);
}

JobManagers::~JobManagers() = default;

rt::Task<void> JobManagers::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(deployments_.Run());
  scope.Spawn(pods_.Run());
  co_await deployments_.WaitSynced();
  co_await pods_.WaitSynced();
  deployments_.ForEach([this](std::string_view, const Value& deployment) {
    if (managers_.find(KeyOf(deployment)) == managers_.end()) recovered_.emplace(kube::UidOf(deployment));
  });
  co_await controller_.Run();
}

JobManager* JobManagers::Find(std::string_view key) {
  const auto at = managers_.find(key);
  return at == managers_.end() || !at->second.up ? nullptr : &at->second;
}

std::vector<Value> JobManagers::PodsOf(std::string_view key, std::string_view role) const {
  std::vector<Value> pods = pods_.ByIndex(kByWorkload, key);
  if (!role.empty()) {
    std::erase_if(pods, [&](const Value& pod) { return pod["metadata"]["labels"]["component"].str() != role; });
  }
  return pods;
}

bool JobManagers::HasPods(const std::string& key) const { return !PodsOf(key, "").empty(); }

std::string JobManagers::WaitingReason(std::string_view key) const {
  for (const Value& pod : PodsOf(key, "jobmanager")) {
    const Value& waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"];
    if (!waiting.is_null()) return std::string(waiting["reason"].str());
  }
  return "";
}

void JobManagers::Kill(std::string_view key) {
  const auto at = managers_.find(key);
  if (at == managers_.end()) return;
  JobManager gone = std::move(at->second);
  managers_.erase(at);
  if (gone.job != nullptr) {
    gone.job->on_change = nullptr;
    gone.job->End(JobPhase::kFailed, "KILLED", "its JobManager is gone");
  }
  ++changes_;
  if (on_change) on_change(std::string(key));
}

void JobManagers::Changed(const std::string& key) {
  ++changes_;
  controller_.Add(key);
  if (on_change) on_change(key);
}

Result<void> JobManagers::Restart(std::string_view key) {
  const auto at = managers_.find(key);
  if (at == managers_.end()) return NotFoundError(StrCat("no JobManager runs for '", key, "'"));
  JobManager& manager = at->second;
  if (manager.job != nullptr) {
    manager.job->on_change = nullptr;
    manager.job->End(JobPhase::kFailed, "KILLED", "its JobManager restarts");
    manager.job = nullptr;
  }
  manager.up = false;
  manager.finished_before = false;
  ++manager.restarts;
  manager.starts_at = api_.loop().Now() + faults_.Slowed(options_.pod_start);
  Changed(std::string(key));
  return {};
}

rt::Task<std::optional<JobMemory>> JobManagers::Memory(WorkloadName workload) const {
  const Result<std::string> text =
      co_await commons_.storage().files().ReadAll(MemoryPath(commons_.storage(), cluster_, workload));
  if (!text.ok()) co_return std::nullopt;
  const std::vector<std::string_view> lines = Split(*text, '\n');
  JobMemory memory;
  memory.job_id = lines[0];
  const std::string_view second = lines.size() > 1 ? lines[1] : "";
  memory.finished = second == "FINISHED";
  memory.checkpoint = !memory.finished ? second : lines.size() > 2 ? lines[2] : "";
  co_return memory;
}

rt::Task<void> JobManagers::Forget(WorkloadName workload) const {
  (void)co_await commons_.storage().files().Remove(MemoryPath(commons_.storage(), cluster_, workload));
}

rt::Task<Outcome> JobManagers::Reconcile(std::string key) {
  const Value deployment = deployments_.Get(key);
  const bool wanted = !deployment.is_null() && !kube::IsDeleting(deployment) &&
                      deployment["metadata"]["annotations"].Has(kJobAnnotation);
  const std::string uid(wanted ? kube::UidOf(deployment) : "");
  const auto at = managers_.find(key);
  if (at != managers_.end() && at->second.deployment_uid != uid) Kill(key);
  Result<void> released = co_await ReleasePods(key, uid);
  if (!released.ok()) co_return Outcome::Retry(released.error());
  if (!wanted) co_return Outcome::Done();
  const Result<Outcome> served = co_await Serve(key, deployment);
  co_return served.ok() ? *served : Outcome::Retry(served.error());
}

// As a kubelet does when the processes have ended: without time of grace, for which a kube-apiserver would keep the pod
// of a node (and for ever, as nobody answers for it here).
static rt::Task<Result<void>> EndPod(kube::Api& api, Value pod) {
  kube::Call call;
  call.verb = kube::Verb::kDelete;
  call.resource = Pods();
  call.ns = kube::NamespaceOf(pod);
  call.name = kube::NameOf(pod);
  call.precondition_uid = kube::UidOf(pod);
  call.grace_seconds = 0;
  const auto gone = co_await api.Do(std::move(call), rt::Deadline::After(api.loop(), kube::kCallTimeout));
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  co_return Result<void>();
}

rt::Task<Result<void>> JobManagers::ReleasePods(std::string key, std::string uid) {
  for (const Value& pod : PodsOf(key, "")) {
    const bool deleting = kube::IsDeleting(pod);
    if (!deleting && OwnerUid(pod) == uid) continue;
    const auto at = managers_.find(key);
    if (at != managers_.end() && at->second.pod_uid == kube::UidOf(pod)) Kill(key);
    CO_TRY(co_await EndPod(api_, pod));
    // Its process is gone: now it may go.
    const auto released = co_await api_.Patch(Pods(), kube::Name::Of(pod), kube::PatchType::kMerge,
                                              json::Object({{"metadata", json::Object({{"finalizers", nullptr}})}}));
    if (!released.ok() && released.error().kind() != ErrorKind::kNotFound) co_return released.error();
  }
  co_return Result<void>();
}

rt::Task<Result<Outcome>> JobManagers::Serve(std::string key, Value deployment) {
  rt::Loop& loop = api_.loop();
  std::vector<Value> pods = PodsOf(key, "jobmanager");
  if (pods.empty()) pods.push_back(CO_TRY(co_await CreatePod(deployment, "jobmanager")));
  if (kube::IsDeleting(pods[0])) co_return Outcome::Done();
  JobManager& manager = managers_[key];
  if (manager.pod_uid != kube::UidOf(pods[0])) {
    manager.deployment_uid = kube::UidOf(deployment);
    manager.pod_uid = kube::UidOf(pods[0]);
    manager.restarts = 0;
    manager.starts_at = loop.Now() + faults_.Slowed(options_.pod_start);
  }
  if (!manager.up) {
    const int restarts = manager.restarts;
    if (faults_.fail_image) {
      CO_TRY(co_await SetPodStatus(pods[0], {.waiting = "ImagePullBackOff", .restarts = restarts}));
      co_return Outcome::WaitFor(kImageRetry);
    }
    if (loop.Now() < manager.starts_at) {
      const Duration left = manager.starts_at - loop.Now();
      // The one that ended is shown until the next one is there, which counts as a restart.
      if (restarts > 0) CO_TRY(co_await SetPodStatus(pods[0], {.terminated = true, .restarts = restarts - 1}));
      CO_TRY(co_await SetReady(deployment, false));
      co_return Outcome::WaitFor(left);
    }
    const Result<Value> text = json::Parse(deployment["metadata"]["annotations"][kJobAnnotation].str());
    if (!text.ok()) co_return Outcome::Terminal(text.error());
    co_await StartJob(key, JobConfig::FromJson(*text));
  }
  if (Find(key) == nullptr) co_return Outcome::Done();  // it was killed meanwhile: there is an event for that
  CO_TRY(co_await SetPodStatus(pods[0], {.restarts = managers_[key].restarts}));
  CO_TRY(co_await SetReady(deployment, true));
  CO_TRY(co_await FitTaskManagers(key, deployment));
  co_return Outcome::Done();
}

rt::Task<void> JobManagers::StartJob(std::string key, JobConfig config) {
  const std::optional<JobMemory> memory = co_await Memory(config.workload);
  const auto at = managers_.find(key);
  if (at == managers_.end() || at->second.up) co_return;  // it was killed meanwhile
  JobManager& manager = at->second;
  const bool recovered = recovered_.erase(manager.deployment_uid) > 0;
  if ((recovered || config.high_availability) && memory && memory->job_id == config.job_id) {
    manager.finished_before = memory->finished;
    if (recovered && memory->finished) manager.finished_with = memory->checkpoint;
    if (!memory->checkpoint.empty()) config.restore_from = memory->checkpoint;
  }
  manager.up = true;
  if (!manager.finished_before && !config.job_id.empty()) {
    manager.job = std::make_unique<Job>(commons_, std::move(config), faults_);
    manager.job->on_change = [this, key] { Changed(key); };
    manager.job->Start();
  }
  Changed(key);
}

rt::Task<Result<Value>> JobManagers::CreatePod(Value deployment, std::string role) {
  std::string suffix;
  for (size_t i = 0; i < kPodSuffix; ++i) suffix += "bcdfghjklmnpqrstvwxz2456789"[api_.loop().random().Below(27)];
  const std::string_view app = kube::NameOf(deployment);
  const Value& image = deployment["spec"]["template"]["spec"]["containers"][0]["image"];
  Value pod = json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", json::Object({{"name", StrCat(app, role == "taskmanager" ? "-taskmanager-" : "-", suffix)},
                                  {"namespace", kube::NamespaceOf(deployment)},
                                  {"labels", json::Object({{"app", app},
                                                           {"component", role},
                                                           {"practice.baton.io/cluster", cluster_},
                                                           {"type", "flink-native-kubernetes"}})},
                                  {"finalizers", json::Array({kPodFinalizer})},
                                  {"ownerReferences", json::Array({json::Object({{"apiVersion", "apps/v1"},
                                                                                 {"kind", "Deployment"},
                                                                                 {"name", app},
                                                                                 {"uid", kube::UidOf(deployment)},
                                                                                 {"blockOwnerDeletion", true},
                                                                                 {"controller", true}})})}})},
       {"spec",
        json::Object(
            {{"nodeName", StrCat(cluster_, "-node-1")},
             {"containers", json::Array({json::Object({{"name", "flink-main-container"},
                                                       {"image", image.is_string() ? image : Value("flink")}})})}})}});
  Value made = CO_TRY(co_await api_.Create(Pods(), std::move(pod)));
  pods_.Learn(made);
  co_return made;
}

rt::Task<Result<void>> JobManagers::SetPodStatus(Value pod, ContainerState is) {
  const bool ready = is.waiting.empty() && !is.terminated;
  const std::string now = json::FormatTime(api_.loop().WallNow());
  const Value& before = pod["status"]["containerStatuses"][0];
  if (before["ready"].bool_or(false) == ready && before["restartCount"].int_or(-1) == is.restarts &&
      before["state"]["waiting"]["reason"].str() == is.waiting && before["state"].Has("terminated") == is.terminated) {
    co_return Result<void>();
  }
  Value state = json::Object({{"running", json::Object({{"startedAt", now}})}});
  if (is.terminated) {
    state = json::Object({{"terminated", json::Object({{"exitCode", 1}, {"reason", "Error"}, {"finishedAt", now}})}});
  } else if (!is.waiting.empty()) {
    state = json::Object({{"waiting", json::Object({{"reason", is.waiting}})}});
  }
  const Value& image = pod["spec"]["containers"][0]["image"];
  Value& status = pod.Edit("status");
  status.Set("phase", is.waiting.empty() ? "Running" : "Pending");
  status.Set("conditions", json::Array({json::Object({{"type", "Ready"}, {"status", ready ? "True" : "False"}})}));
  status.Set("containerStatuses", json::Array({json::Object({{"name", "flink-main-container"},
                                                             {"ready", ready},
                                                             {"image", image},
                                                             {"imageID", ""},
                                                             {"restartCount", is.restarts},
                                                             {"state", state}})}));
  pods_.Learn(CO_TRY(co_await api_.UpdateStatus(Pods(), std::move(pod))));
  co_return Result<void>();
}

rt::Task<Result<void>> JobManagers::SetReady(Value deployment, bool ready) {
  if (deployment["status"]["readyReplicas"].int_or(0) == (ready ? 1 : 0)) co_return Result<void>();
  // The operator tells by this whether it was ever up.
  Value conditions = json::Array();
  if (ready || deployment["status"]["conditions"].size() > 0) {
    conditions.Push(json::Object({{"type", "Available"},
                                  {"status", ready ? "True" : "False"},
                                  {"reason", ready ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable"},
                                  {"lastTransitionTime", json::FormatTime(api_.loop().WallNow())}}));
  }
  deployment.Set("status", json::Object({{"observedGeneration", deployment["metadata"]["generation"]},
                                         {"conditions", conditions},
                                         {"replicas", 1},
                                         {"updatedReplicas", 1},
                                         {"readyReplicas", ready ? 1 : 0},
                                         {"availableReplicas", ready ? 1 : 0},
                                         {"unavailableReplicas", ready ? 0 : 1}}));
  deployments_.Learn(CO_TRY(co_await api_.UpdateStatus(Deployments(), std::move(deployment))));
  co_return Result<void>();
}

// TaskManagers are there while the job runs; Flink itself lets idle ones go.
rt::Task<Result<void>> JobManagers::FitTaskManagers(std::string key, Value deployment) {
  const auto at = managers_.find(key);
  const Job* job = at == managers_.end() ? nullptr : at->second.job.get();
  const size_t wanted =
      job == nullptr || IsTerminal(job->phase()) ? 0 : static_cast<size_t>(std::max(0, job->config().task_managers));
  std::vector<Value> pods = PodsOf(key, "taskmanager");
  for (size_t i = pods.size(); i < wanted; ++i) {
    const Value made = CO_TRY(co_await CreatePod(deployment, "taskmanager"));
    CO_TRY(co_await SetPodStatus(made, {}));
  }
  for (size_t i = wanted; i < pods.size(); ++i) CO_TRY(co_await EndPod(api_, pods[i]));
  co_return Result<void>();
}

}  // namespace baton::practice
