// Taints by conditions.
#include "federation/taint_policies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "overrides/affinity.h"

namespace baton::federation {
namespace {

// All of them, and at least one. A condition that the cluster does not have matches nothing.
bool AllMatch(const json::Value& conditions, const json::Value& cluster) {
  if (conditions.empty()) return false;
  return std::ranges::all_of(conditions.items(), [&](const json::Value& wanted) {
    const json::Value& condition = FindCondition(cluster["status"], wanted["conditionType"].str());
    if (condition.is_null()) return false;
    const bool listed = std::ranges::any_of(wanted["statusValues"].items(), [&](const json::Value& value) {
      return value.str() == condition["status"].str();
    });
    return listed == (wanted["operator"].str() == "In");
  });
}

bool SameTaint(const json::Value& a, const json::Value& b) {
  return a["key"] == b["key"] && a["effect"] == b["effect"];
}

void Add(json::Value& taints, const json::Value& taint, WallTime now) {
  const bool there = std::ranges::any_of(taints.items(), [&](const json::Value& one) { return SameTaint(one, taint); });
  if (there) return;
  json::Value added = taint;
  if (taint["effect"].str() == "NoExecute") added.Set("timeAdded", json::FormatTime(now));
  taints.Push(std::move(added));
}

void Remove(json::Value& taints, const json::Value& taint) {
  json::Value rest = json::Array();
  for (const json::Value& one : taints.items()) {
    if (!SameTaint(one, taint)) rest.Push(one);
  }
  taints = rest;
}

}  // namespace

json::Value TaintsAfter(const json::Value& cluster, std::vector<json::Value> policies, WallTime now) {
  std::ranges::sort(policies, [](const json::Value& a, const json::Value& b) {
    return std::pair(a["metadata"]["creationTimestamp"].str(), kube::NameOf(a)) <
           std::pair(b["metadata"]["creationTimestamp"].str(), kube::NameOf(b));
  });
  json::Value taints = cluster["spec"]["taints"].is_array() ? cluster["spec"]["taints"] : json::Array();
  const overrides::Target target = overrides::Target::FromCluster(cluster);
  for (const json::Value& policy : policies) {
    const json::Value& spec = policy["spec"];
    if (kube::IsDeleting(policy)) continue;
    if (!spec["targetClusters"].is_null()) {
      const Result<overrides::ClusterAffinity> affinity = overrides::ClusterAffinity::Compile(spec["targetClusters"]);
      if (!affinity.ok() || !affinity->Matches(target)) continue;
    }
    const bool add = AllMatch(spec["addOnConditions"], cluster);
    const bool remove = AllMatch(spec["removeOnConditions"], cluster);
    for (const json::Value& taint : spec["taints"].items()) {
      if (add) Add(taints, taint, now);
      if (remove) Remove(taints, taint);
    }
  }
  return taints;
}

TaintPolicyController::TaintPolicyController(Hub& hub)
    : hub_(hub),
      policies_(hub.api(), kClusterTaintPolicies),
      controller_(hub.loop(), "taintpolicies", [this](std::string name) { return Reconcile(std::move(name)); },
                  {.workers = 2, .log = hub.options().log}) {
  policies_.OnChange([this](const json::Value&, const json::Value&) {
    hub_.clusters().ForEach([&](std::string_view name, const json::Value&) { controller_.Add(name); });
  });
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) {
    if (now.is_null() || policies_.size() == 0) return;
    const bool same = !before.is_null() && before["status"]["conditions"] == now["status"]["conditions"] &&
                      before["spec"] == now["spec"] && before["metadata"]["labels"] == now["metadata"]["labels"];
    if (!same) controller_.Add(kube::NameOf(now));
  });
}

rt::Task<void> TaintPolicyController::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(policies_.Run());
  co_await policies_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<kube::Outcome> TaintPolicyController::Reconcile(std::string name) {
  const json::Value cluster = hub_.clusters().Get(name);
  if (cluster.is_null() || kube::IsDeleting(cluster)) co_return kube::Outcome::Done();
  std::vector<json::Value> policies;
  policies_.ForEach([&](std::string_view, const json::Value& policy) { policies.push_back(policy); });
  const json::Value taints = TaintsAfter(cluster, std::move(policies), hub_.loop().WallNow());
  if (taints == cluster["spec"]["taints"] || (taints.empty() && cluster["spec"]["taints"].empty()))
    co_return kube::Outcome::Done();
  json::Value next = cluster;
  if (taints.empty()) {
    next.Edit("spec").Erase("taints");
  } else {
    next.Edit("spec").Set("taints", taints);
  }
  const Result<json::Value> written = co_await hub_.api().Update(kClusters, next);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  hub_.Learn(kClusters, *written);
  hub_.events().Normal(*written, "TaintClusterSucceed", "taints were set or removed by ClusterTaintPolicies");
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
