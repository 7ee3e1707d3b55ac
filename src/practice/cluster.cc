// A practice cluster's parts, run together.
#include "practice/cluster.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/federation_types.h"
#include "base/strings.h"
#include "json/rfc3339.h"
#include "rt/scope.h"

namespace baton::practice {

namespace {
constexpr Duration kNodeRetry = seconds(1);
constexpr Duration kFaultsRetry = seconds(1);
const kube::Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
}  // namespace

PracticeCluster::PracticeCluster(kube::Api& api, Commons& commons, std::string name, PracticeClusterOptions options)
    : api_(api),
      commons_(commons),
      name_(std::move(name)),
      options_(std::move(options)),
      managers_(api_, commons, name_, faults_, options_.job_managers) {}

rt::Task<void> PracticeCluster::Run() {
  Volumes volumes(api_, commons_, name_, faults_, options_.volumes);
  rt::Scope scope(api_.loop());
  scope.Spawn(MakeNodes());
  scope.Spawn(managers_.Run());
  scope.Spawn(OperatorLives());
  scope.Spawn(TakeFaults());
  if (options_.kinds) {
    scope.Spawn(volumes.Run());
    scope.Spawn(KindsLive());
  }
  co_await scope.Join();
}

rt::Task<void> PracticeCluster::OperatorLives() {
  while (true) {
    {
      FlinkOperator flink(api_, commons_, managers_, name_, faults_, options_.flink);
      FlinkSnapshots snapshots(api_, managers_, options_.flink);
      rt::Scope life(api_.loop());
      life.Spawn(flink.Run());
      life.Spawn(snapshots.Run());
      co_await kill_.Wait();
      kill_.Reset();
    }
    co_await api_.loop().Sleep(down_for_);
  }
}

// Their operators; the processes are the cluster's.
rt::Task<void> PracticeCluster::KindsLive() {
  while (true) {
    {
      std::vector<std::unique_ptr<KindOperator>> operators;
      rt::Scope life(api_.loop());
      for (const KindSpec& spec : KindSpecs()) {
        operators.push_back(std::make_unique<KindOperator>(api_, commons_, name_, faults_, spec,
                                                           lives_[spec.resource.kind], options_.kind));
        life.Spawn(operators.back()->Run());
      }
      co_await kill_kinds_.Wait();
      kill_kinds_.Reset();
    }
    co_await api_.loop().Sleep(down_for_);
  }
}

Job* PracticeCluster::Process(std::string_view kind, std::string_view key) {
  const auto of_kind = lives_.find(kind);
  if (of_kind == lives_.end()) return nullptr;
  const auto at = of_kind->second.lives.find(key);
  return at == of_kind->second.lives.end() ? nullptr : at->second.job.get();
}

void PracticeCluster::KillOperator(Duration down_for) {
  down_for_ = down_for;
  kill_.Set();
  if (options_.kinds) kill_kinds_.Set();
}

Result<void> PracticeCluster::SetFault(std::string_view text) {
  if (options_.on_partition && (text == "partition" || text == "partition=off")) {
    options_.on_partition(text == "partition");
    return {};
  }
  if (!text.starts_with("kill-operator")) return faults_.Set(text);
  KillOperator(TRY(ParseKillOperator(text)));
  return {};
}

rt::Task<Result<void>> SetClusterFault(kube::Api& api, std::string fault) {
  CO_TRY(CheckClusterFault(fault));
  // The map must change to be seen, so the time goes with it.
  const json::Value map =
      json::Object({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", json::Object({{"name", kFaultsConfigMap}, {"namespace", "kube-system"}})},
                    {"data", json::Object({{"fault", fault}, {"set", json::FormatMicroTime(api.loop().WallNow())}})}});
  CO_TRY(co_await api.Apply(kConfigMaps, map, {.force = true}));
  co_return Result<void>();
}

// A cluster that starts again has no faults: what the map says then was meant for an earlier life.
rt::Task<void> PracticeCluster::TakeFaults() {
  const Result<json::Value> before = co_await api_.Get(kConfigMaps, {"kube-system", std::string(kFaultsConfigMap)});
  std::string seen(before.ok() ? kube::VersionOf(*before) : "");
  while (true) {
    Result<std::unique_ptr<kube::Watch>> watch = co_await api_.OpenWatch(
        {.resource = kConfigMaps, .ns = "kube-system", .field_selector = StrCat("metadata.name=", kFaultsConfigMap)},
        rt::Deadline::After(api_.loop(), kube::kCallTimeout));
    while (watch.ok()) {
      const Result<std::vector<kube::Change>> changes = co_await (*watch)->Next();
      if (!changes.ok()) break;
      for (const kube::Change& change : *changes) {
        const bool there = change.type == kube::ChangeType::kAdded || change.type == kube::ChangeType::kModified;
        const std::string version(kube::VersionOf(change.object));
        if (!there || version == seen) continue;
        seen = version;
        // A wrong one is refused by who sets it; here it changes nothing.
        [[maybe_unused]] const Result<void> set = SetFault(change.object["data"]["fault"].str());
      }
    }
    co_await api_.loop().Sleep(kFaultsRetry);
  }
}

void PracticeCluster::UpgradeOperator(OperatorVersion version) {
  options_.flink.version = version;
  KillOperator({});
}

Result<void> PracticeCluster::FailJob(std::string_view workload) {
  JobManager* manager = managers_.Find(workload);
  if (manager == nullptr || manager->job == nullptr || IsTerminal(manager->job->phase())) {
    return NotFoundError(StrCat("no job runs for '", workload, "'"));
  }
  manager->job->End(JobPhase::kFailed, "FAILED", "the job failed: a fault was set for it");
  return {};
}

rt::Task<void> PracticeCluster::MakeNodes() {
  for (int i = 1; i <= options_.nodes; ++i) {
    const json::Value capacity = json::Object({{"cpu", options_.node_cpu},
                                               {"memory", options_.node_memory},
                                               {"pods", "110"},
                                               {"ephemeral-storage", "100Gi"}});
    json::Value node = json::Object(
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", json::Object({{"name", StrCat(name_, "-node-", i)},
                                    {"labels", json::Object({{"kubernetes.io/os", "linux"},
                                                             {"practice.baton.io/cluster", name_}})}})},
         {"status",
          json::Object({{"capacity", capacity},
                        {"allocatable", capacity},
                        {"conditions", json::Array({json::Object(
                                           {{"type", "Ready"}, {"status", "True"}, {"reason", "PracticeNode"}})})}})}});
    while (true) {
      const json::Value& status = node["status"];
      Result<json::Value> made = co_await api_.Create(Nodes(), node);
      if (made.ok()) {
        made->Set("status", status);
        made = co_await api_.UpdateStatus(Nodes(), *made);
      }
      if (made.ok() || made.error().kind() == ErrorKind::kAlreadyExists) break;
      co_await api_.loop().Sleep(kNodeRetry);
    }
  }
}

namespace {
const kube::Resource& Crds() {
  static const kube::Resource resource{.group = "apiextensions.k8s.io",
                                       .version = "v1",
                                       .plural = "customresourcedefinitions",
                                       .kind = "CustomResourceDefinition",
                                       .namespaced = false};
  return resource;
}
}  // namespace

rt::Task<Result<void>> InstallFlinkKinds(kube::Api& api) {
  for (const json::Value& manifest : api::FederationCrds()) {
    if (manifest["spec"]["group"].str() != "flink.apache.org") continue;
    CO_TRY(co_await api.Apply(Crds(), manifest, {.force = true}));
  }
  co_return Result<void>();
}

rt::Task<Result<void>> InstallPracticeKinds(kube::Api& api) {
  CO_TRY(co_await InstallFlinkKinds(api));
  std::vector<json::Value> all = SnapshotCrds();
  for (const KindSpec& spec : KindSpecs()) {
    if (!spec.crd.is_null()) all.push_back(spec.Crd());
  }
  for (const json::Value& crd : all) CO_TRY(co_await api.Apply(Crds(), crd, {.force = true}));
  co_return Result<void>();
}

}  // namespace baton::practice
