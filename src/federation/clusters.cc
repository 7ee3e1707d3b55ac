// Joining, heartbeats, status and leaving of members.
#include "federation/clusters.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/render.h"
#include "federation/resource_summary.h"
#include "federation/resources.h"
#include "json/builder.h"
#include "json/rfc3339.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

const kube::Resource kCrds{.group = "apiextensions.k8s.io",
                           .version = "v1",
                           .plural = "customresourcedefinitions",
                           .kind = "CustomResourceDefinition",
                           .namespaced = false};
constexpr size_t kLooks = 256;  // members that may be silent at a time without holding up the look at others
constexpr std::string_view kNotReadyTaint = "cluster.karmada.io/not-ready";
constexpr std::string_view kUnreachableTaint = "cluster.karmada.io/unreachable";

json::Value ApiEnablements(const kube::Discovered& discovered) {
  std::map<std::string, std::map<std::string, std::string>> groups;
  for (const kube::ResourceInfo& info : discovered.resources) {
    groups[info.resource.ApiVersion()][info.resource.plural] = info.resource.kind;
  }
  json::ArrayBuilder list;
  for (const auto& [group_version, resources] : groups) {
    json::ArrayBuilder names;
    for (const auto& [plural, kind] : resources) names.Add(json::Object({{"name", plural}, {"kind", kind}}));
    list.Add(json::Object({{"groupVersion", group_version}, {"resources", std::move(names).Build()}}));
  }
  return std::move(list).Build();
}

}  // namespace

struct ClusterController::State {
  explicit State(kube::Api& api) : nodes(api, kNodes), pods(api, kPods), crds(api, kCrds), scope(api.loop()) {}

  std::string id;
  bool asked = false;
  bool answers = false;
  MonotonicTime since{};  // it has given the same answer since then
  WallTime heard{};       // it last answered then
  std::string message;
  std::optional<bool> ready;  // as told; nothing before the first answer
  std::optional<kube::Discovered> discovered;
  MonotonicTime discovered_at{};
  bool kinds_changed = true;
  bool another = false;  // it is not the cluster that joined
  kube::Informer nodes;
  kube::Informer pods;
  kube::Informer crds;
  rt::Scope scope;  // last, so that it goes first
};

ClusterController::ClusterController(Hub& hub)
    : hub_(hub),
      secrets_(hub.api(), kSecrets, {.ns = std::string(keys::kClusterNamespace)}),
      controller_(hub.loop(), "clusters", [this](std::string name) { return Reconcile(std::move(name)); },
                  {.workers = kLooks, .log = hub.options().log}) {
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) {
    const std::string name(kube::NameOf(now.is_null() ? before : now));
    if (now.is_null()) {
      states_.erase(name);
      hub_.members().Remove(name);
      return;
    }
    const bool same =
        !before.is_null() && before["spec"] == now["spec"] && kube::IsDeleting(before) == kube::IsDeleting(now);
    if (!same) controller_.Add(name);
  });
  secrets_.OnChange([this](const json::Value& before, const json::Value& now) {
    const std::string_view secret = kube::NameOf(now.is_null() ? before : now);
    hub_.clusters().ForEach([&](std::string_view name, const json::Value& cluster) {
      if (cluster["spec"]["secretRef"]["name"].str() == secret) controller_.Add(name);
    });
  });
  hub_.works().OnChange([this](const json::Value& before, const json::Value& now) {
    // A cluster that leaves waits for its last Work.
    if (!now.is_null()) return;
    const std::string name = ClusterOfWork(before);
    if (kube::IsDeleting(hub_.clusters().Get(name))) controller_.Add(name);
  });
}

ClusterController::~ClusterController() = default;

rt::Task<void> ClusterController::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(secrets_.Run());
  co_await secrets_.WaitSynced();
  co_await controller_.Run();
}

json::Value ClusterController::Secret(const json::Value& cluster) const {
  const json::Value& reference = cluster["spec"]["secretRef"];
  return secrets_.Get(StrCat(reference["namespace"].str_or(keys::kClusterNamespace), "/", reference["name"].str()));
}

// The finalizer and the execution namespace.
rt::Task<Result<json::Value>> ClusterController::Prepare(const std::string& name, const json::Value& cluster) {
  const std::string ns = keys::ExecutionNamespace(name);
  const bool has = std::ranges::any_of(cluster["metadata"]["finalizers"].items(),
                                       [](const json::Value& one) { return one.str() == keys::kClusterFinalizer; });
  if (has) co_return cluster;
  const json::Value wanted = json::Object(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata", json::Object({{"name", ns}, {"labels", json::Object({{keys::kSystem, keys::kTrue}})}})}});
  const Result<json::Value> made = co_await hub_.api().Create(kNamespaces, wanted);
  if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  json::Value next = cluster;
  next.Edit("metadata").Edit("finalizers").Push(keys::kClusterFinalizer);
  Result<json::Value> written = co_await hub_.api().Update(kClusters, next);
  if (written.ok()) hub_.Learn(kClusters, *written);
  co_return written;
}

rt::Task<kube::Outcome> ClusterController::Leave(const std::string& name, const json::Value& cluster) {
  // Nothing may be scheduled there any more; schedule sees that it is being deleted. Works go, then the namespace.
  const std::vector<json::Value> works = hub_.works().ByIndex(kWorksOfCluster, name);
  for (const json::Value& work : works) {
    if (kube::IsDeleting(work)) continue;
    const Result<json::Value> gone =
        co_await hub_.api().Delete(kWorks, kube::Name::Of(work), {.uid = std::string(kube::UidOf(work))});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(gone.error());
  }
  if (!works.empty()) co_return kube::Outcome::WaitFor(kHeartbeat);  // the last one's end wakes us
  const Result<json::Value> ns = co_await hub_.api().Delete(kNamespaces, {"", keys::ExecutionNamespace(name)});
  if (!ns.ok() && ns.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(ns.error());
  json::Value next = cluster;
  json::Value rest = json::Array();
  for (const json::Value& one : cluster["metadata"]["finalizers"].items()) {
    if (one.str() != keys::kClusterFinalizer) rest.Push(one);
  }
  if (rest.size() == cluster["metadata"]["finalizers"].size()) co_return kube::Outcome::Done();
  next.Edit("metadata").Set("finalizers", rest);
  const Result<json::Value> written = co_await hub_.api().Update(kClusters, next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

rt::Task<void> ClusterController::Look(const std::string& name, State& state) {
  Member* member = hub_.members().Find(name);
  const MonotonicTime now = hub_.loop().Now();
  kube::Call call;
  call.resource = kNamespaces;
  call.name = "kube-system";
  const Result<kube::Answer> answer =
      co_await member->api().Do(std::move(call), rt::Deadline::After(hub_.loop(), kHeartbeatTimeout));
  const bool answers = answer.ok() || answer.error().kind() == ErrorKind::kNotFound;
  if (!state.asked || state.answers != answers) state.since = now;
  state.asked = true;
  state.answers = answers;
  if (!answers) {
    state.message = answer.error().message();
    if (state.heard != WallTime{}) state.message += StrCat("; it last answered at ", json::FormatTime(state.heard));
  } else {
    if (answer.ok()) state.id = kube::UidOf(answer->object);
    state.heard = hub_.loop().WallNow();
    state.message = "cluster is reachable and health endpoint responded with ok";
  }
  const std::string joined(hub_.clusters().Get(name)["spec"]["id"].str());
  const bool another = answers && !state.id.empty() && !joined.empty() && state.id != joined;
  if (answers && hub_.members().Find(name) == member) {
    member->Close(another ? AnotherCluster(name, joined, state.id) : std::string());
    state.another = another;
  }
  const bool settled = !state.ready || hub_.loop().Now() - state.since >= kReadyThreshold;
  if (settled) state.ready = answers;
  const bool due = state.kinds_changed || !state.discovered || now - state.discovered_at >= kDiscoverEvery;
  if (answers && due) {
    Result<kube::Discovered> discovered =
        co_await member->api().Discover(rt::Deadline::After(hub_.loop(), kHeartbeatTimeout));
    if (discovered.ok()) {
      state.discovered = *std::move(discovered);
      state.discovered_at = now;
      state.kinds_changed = false;
    }
  }
}

void ClusterController::FillStatus(const State& state, const std::string& closed, json::Value& status) const {
  const WallTime now = hub_.loop().WallNow();
  if (state.another) {
    SetCondition(status, "Ready", "False", "ClusterReplaced", closed, now);
    return;
  }
  if (state.ready.value_or(false)) {
    SetCondition(status, "Ready", "True", "ClusterReady", state.message, now);
  } else {
    SetCondition(status, "Ready", "False", "ClusterNotReachable", state.message, now);
    return;  // what was known stays as it was: the condition says since when it may be old
  }
  if (state.discovered) {
    status.Set("kubernetesVersion", state.discovered->server_version);
    status.Set("apiEnablements", ApiEnablements(*state.discovered));
    const bool complete = state.discovered->failed_groups.empty();
    SetCondition(status, "CompleteAPIEnablements", complete ? "True" : "False", complete ? "Complete" : "Partial",
                 complete ? "might be complete APIEnablements" : "some API groups could not be asked", now);
  }
  if (state.nodes.synced()) FillResourceSummary(state.nodes, state.pods, status);
}

void ClusterController::FillTaints(const json::Value& status, json::Value& cluster) const {
  const std::string_view ready = FindCondition(status, "Ready")["status"].str();
  json::Value taints = json::Array();
  for (const json::Value& taint : cluster["spec"]["taints"].items()) {
    const std::string_view key = taint["key"].str();
    const bool ours = (key == kNotReadyTaint || key == kUnreachableTaint) && taint["effect"].str() == "NoSchedule";
    if (!ours) taints.Push(taint);
  }
  if (ready != "True") {
    taints.Push(
        json::Object({{"key", ready == "Unknown" ? kUnreachableTaint : kNotReadyTaint}, {"effect", "NoSchedule"}}));
  }
  if (taints.empty()) {
    cluster.Edit("spec").Erase("taints");
  } else {
    cluster.Edit("spec").Set("taints", taints);
  }
}

rt::Task<kube::Outcome> ClusterController::Reconcile(std::string name) {
  json::Value cluster = hub_.clusters().Get(name);
  if (cluster.is_null()) co_return kube::Outcome::Done();
  if (hub_.members().Update(name, cluster, Secret(cluster))) states_.erase(name);
  if (kube::IsDeleting(cluster)) co_return co_await Leave(name, cluster);
  Result<json::Value> prepared = co_await Prepare(name, cluster);
  if (!prepared.ok()) co_return kube::Outcome::Retry(prepared.error());
  cluster = *std::move(prepared);
  Member* member = hub_.members().Find(name);
  json::Value next = cluster;
  if (member == nullptr) {
    SetCondition(next.Edit("status"), "Ready", "False", "ClusterNotReachable", hub_.members().WhyNot(name),
                 hub_.loop().WallNow());
  } else {
    std::unique_ptr<State>& state = states_[name];
    if (state == nullptr) {
      state = std::make_unique<State>(member->api());
      const auto wake = [this, name](const json::Value&, const json::Value&) {
        controller_.AddAfter(name, milliseconds(500));
      };
      state->nodes.OnChange(wake);
      state->pods.OnChange(wake);
      state->crds.OnChange([this, name](const json::Value&, const json::Value&) {
        const auto at = states_.find(name);
        if (at != states_.end()) at->second->kinds_changed = true;
        controller_.AddAfter(name, milliseconds(200));
      });
      state->scope.Spawn(state->nodes.Run());
      state->scope.Spawn(state->pods.Run());
      state->scope.Spawn(state->crds.Run());
    }
    co_await Look(name, *state);
    if (hub_.members().Find(name) != member) co_return kube::Outcome::WaitFor(Duration{});  // it changed meanwhile
    FillStatus(*state, member->closed(), next.Edit("status"));
    if (!state->id.empty() && next["spec"]["id"].str().empty()) next.Edit("spec").Set("id", state->id);
  }
  FillTaints(next["status"], next);
  if (next["spec"] != cluster["spec"]) {
    Result<json::Value> written = co_await hub_.api().Update(kClusters, next);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(kClusters, *written);
    next.Set("metadata", (*written)["metadata"]);
  }
  if (next["status"] != cluster["status"]) {
    const Result<json::Value> written = co_await hub_.api().UpdateStatus(kClusters, next);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(kClusters, *written);
  }
  co_return kube::Outcome::WaitFor(kHeartbeat);
}

}  // namespace baton::federation
