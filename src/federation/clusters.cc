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
constexpr std::string_view kMoveProducer = "baton";  // of eviction tasks that a move made
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

// The binding, when nothing can be in that cluster any more. Eviction tasks of a move are its own.
json::Value WithoutCluster(json::Value binding, std::string_view cluster) {
  const auto strip = [&](std::string_view list, std::string_view field) {
    const json::Value before = binding["spec"][list];
    json::Value rest = json::Array();
    for (const json::Value& one : before.items()) {
      if (one[field].str() != cluster || one["producer"].str() == kMoveProducer) rest.Push(one);
    }
    if (rest.size() == before.size()) return;
    if (rest.empty()) {
      binding.Edit("spec").Erase(list);
    } else {
      binding.Edit("spec").Set(list, rest);
    }
  };
  strip("clusters", "name");
  strip("gracefulEvictionTasks", "fromCluster");
  return binding;
}

// Then there is nothing to do but to set ours again.
bool OnlyTaintsDiffer(const json::Value& before, const json::Value& now) {
  if (before.is_null() || kube::IsDeleting(before) != kube::IsDeleting(now)) return false;
  json::Value was = before["spec"];
  json::Value is = now["spec"];
  was.Erase("taints");
  is.Erase("taints");
  return was == is;
}

}  // namespace

struct ClusterController::State {
  explicit State(std::shared_ptr<Member> of)
      : member(std::move(of)),
        nodes(member->api(), kNodes),
        pods(member->api(), kPods),
        crds(member->api(), kCrds),
        scope(member->api().loop()) {}

  std::shared_ptr<Member> member;

  std::string id;
  bool asked = false;
  bool answers = false;
  MonotonicTime since{};  // it has given the same answer since then
  WallTime heard{};       // it last answered then
  std::string message;
  std::optional<bool> ready;  // as told; nothing before the first answer
  std::optional<kube::Discovered> discovered;
  json::Value enablements;  // of what was discovered
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
    if (same) return;
    if (OnlyTaintsDiffer(before, now)) {
      controller_.AddAfter(name, kPutRight);
    } else {
      controller_.Add(name);
    }
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
  if (!made.ok()) {
    // One of that name left a moment ago: its namespace would go with all that is put there.
    const json::Value there = CO_TRY(co_await hub_.api().Get(kNamespaces, {"", ns}));
    if (kube::IsDeleting(there)) co_return UnavailableError(StrCat("namespace ", ns, " is still being deleted"));
  }
  json::Value next = cluster;
  next.Edit("metadata").Edit("finalizers").Push(keys::kClusterFinalizer);
  Result<json::Value> written = co_await hub_.api().Update(kClusters, next);
  if (written.ok()) hub_.Learn(kClusters, *written);
  co_return written;
}

// The workloads that must not be taken away from there by its leaving: those with one writer, unless a person said so.
rt::Task<Result<std::string>> ClusterController::InTheWay(const std::string& name, const json::Value& cluster) {
  std::set<std::string> stays;
  const bool forced = cluster["metadata"]["annotations"][kLeaveByForce].str() == keys::kTrue;
  if (hub_.gate() == nullptr || forced) co_return std::string();
  std::set<std::string> bindings;
  for (const std::string& key : hub_.BindingsIn(name)) bindings.insert(key);
  for (const json::Value& work : hub_.works().ByIndex(kWorksOfCluster, name)) bindings.insert(BindingOfWork(work));
  for (const std::string& key : bindings) {
    const json::Value object = hub_.Template(TemplateKey::OfReference(hub_.Binding(key)["spec"]["resource"]));
    if (object.is_null() || !hub_.gate()->Manages(object)) continue;
    if (CO_TRY(co_await hub_.gate()->MayLeave(name, object))) continue;
    stays.insert(StrCat(kube::KindOf(object), " ", kube::Name::Of(object).Key()));
  }
  for (std::string& moved : CO_TRY(co_await hub_.gate()->MovesOf(name))) stays.insert(std::move(moved));
  std::string way;
  for (const std::string& one : stays) way += StrCat(way.empty() ? "" : ", ", one);
  co_return way;
}

// What is in a cluster that does not answer stays there: whoever asks about the workload is told.
rt::Task<Result<void>> ClusterController::TellLeftBehind(const std::string& name, const json::Value& cluster,
                                                         const json::Value& work) {
  const std::string key = BindingOfWork(work);
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null() || kube::IsDeleting(binding)) co_return Result<void>();
  const std::string message = StrCat("cluster ", name, " left, and does not answer since ",
                                     FindCondition(cluster["status"], "Ready")["lastTransitionTime"].str(),
                                     ": what was placed there could not be removed, and is not looked after any more");
  if (FindCondition(binding["status"], "LeftBehind")["message"].str() == message) co_return Result<void>();
  json::Value next = binding;
  SetCondition(next.Edit("status"), "LeftBehind", "True", "ClusterNotReachable", message, hub_.loop().WallNow());
  const Result<json::Value> written = co_await hub_.api().UpdateStatus(BindingResource(key), next);
  if (!written.ok()) co_return written.error();
  hub_.Learn(BindingResource(key), *written);
  hub_.events().Warning(binding, "LeftBehind", message);
  co_return Result<void>();
}

// Schedule took the cluster out of the bindings that it decides on. This is for those where it may not (scheduling is
// suspended), so that a later cluster of that name does not inherit them.
rt::Task<Result<void>> ClusterController::TakeOutOfBindings(const std::string& name) {
  std::vector<std::string> bindings;
  hub_.ForEachBinding([&](const std::string& key, const json::Value& binding) {
    if (WithoutCluster(binding, name) != binding) bindings.push_back(key);
  });
  for (const std::string& key : bindings) {
    const json::Value next = WithoutCluster(hub_.Binding(key), name);
    const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), next);
    if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
    if (written.ok()) hub_.Learn(BindingResource(key), *written);
  }
  co_return Result<void>();
}

rt::Task<Result<void>> ClusterController::RemoveWorks(const std::string& name, const json::Value& cluster) {
  const bool answers = FindCondition(cluster["status"], "Ready")["status"].str() == "True";
  for (const json::Value& work : hub_.works().ByIndex(kWorksOfCluster, name)) {
    if (!answers) CO_TRY(co_await TellLeftBehind(name, cluster, work));
    if (kube::IsDeleting(work)) continue;
    const Result<json::Value> gone =
        co_await hub_.api().Delete(kWorks, kube::Name::Of(work), {.uid = std::string(kube::UidOf(work))});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  co_return Result<void>();
}

// Nothing is scheduled or rendered there any more: schedule and render see that it is being deleted. Its Works go, then
// its namespace, then its name from the bindings, then itself. `cluster` has its newest status, not written yet.
rt::Task<kube::Outcome> ClusterController::Leave(const std::string& name, json::Value cluster) {
  const Result<std::string> way = co_await InTheWay(name, cluster);
  if (!way.ok()) co_return kube::Outcome::Retry(way.error());
  if (way->empty()) {
    const Result<void> removed = co_await RemoveWorks(name, cluster);
    if (!removed.ok()) co_return kube::Outcome::Retry(removed.error());
  }
  const std::vector<json::Value> works = hub_.works().ByIndex(kWorksOfCluster, name);
  const WallTime now = hub_.loop().WallNow();
  if (!way->empty()) {
    SetCondition(cluster.Edit("status"), "Leaving", "False", "WriterPresent",
                 StrCat("it stays until these workloads, which have one writer, are moved away: ", *way,
                        " (`baton migrate`; `baton unjoin ", name, " --force` gives them up)"),
                 now);
  } else if (!works.empty()) {
    SetCondition(
        cluster.Edit("status"), "Leaving", "True", "RemovingWorks",
        StrCat(works.size(), " Works are being removed from it, the first is ", kube::Name::Of(works[0]).Key()), now);
  }
  if (cluster["status"] != hub_.clusters().Get(name)["status"]) {
    const bool news = FindCondition(cluster["status"], "Leaving")["reason"] !=
                      FindCondition(hub_.clusters().Get(name)["status"], "Leaving")["reason"];
    if (news && !way->empty()) {
      hub_.events().Warning(cluster, "WriterPresent", FindCondition(cluster["status"], "Leaving")["message"].str());
    }
    const Result<json::Value> written = co_await hub_.api().UpdateStatus(kClusters, cluster);
    if (!written.ok()) co_return kube::Outcome::Retry(written.error());
    hub_.Learn(kClusters, *written);
    cluster = *written;
  }
  if (!way->empty() || !works.empty()) co_return kube::Outcome::WaitFor(kHeartbeat);  // the last one's end wakes us
  const Result<json::Value> ns = co_await hub_.api().Delete(kNamespaces, {"", keys::ExecutionNamespace(name)});
  if (!ns.ok() && ns.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(ns.error());
  const Result<void> out = co_await TakeOutOfBindings(name);
  if (!out.ok()) co_return kube::Outcome::Retry(out.error());
  json::Value rest = json::Array();
  for (const json::Value& one : cluster["metadata"]["finalizers"].items()) {
    if (one.str() != keys::kClusterFinalizer) rest.Push(one);
  }
  if (rest.size() == cluster["metadata"]["finalizers"].size()) co_return kube::Outcome::Done();
  cluster.Edit("metadata").Set("finalizers", rest);
  const Result<json::Value> written = co_await hub_.api().Update(kClusters, cluster);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

rt::Task<void> ClusterController::Look(const std::string& name, State& state) {
  const std::shared_ptr<Member> member = hub_.members().Find(name);
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
      state.enablements = ApiEnablements(*state.discovered);
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
    status.Set("apiEnablements", state.enablements);
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
  const bool leaves = kube::IsDeleting(cluster);
  if (!leaves) {
    Result<json::Value> prepared = co_await Prepare(name, cluster);
    if (!prepared.ok()) co_return kube::Outcome::Retry(prepared.error());
    cluster = *std::move(prepared);
  }
  const std::shared_ptr<Member> member = hub_.members().Find(name);
  json::Value next = cluster;
  if (member == nullptr) {
    SetCondition(next.Edit("status"), "Ready", "False", "ClusterNotReachable", hub_.members().WhyNot(name),
                 hub_.loop().WallNow());
  } else {
    std::shared_ptr<State> state = states_[name];
    if (state == nullptr) {
      state = std::make_shared<State>(member);
      states_[name] = state;
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
  if (leaves) co_return co_await Leave(name, std::move(next));
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
