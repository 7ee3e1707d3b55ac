// What a drain is planned on, as the hub has it: wishes, limits, moves, workloads, and where they may go.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/guard.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"

namespace baton::rollout {
namespace {

using json::Value;

// Taints that say that a cluster is ill: moves cannot help there.
constexpr std::string_view kIllTaints[] = {"cluster.karmada.io/not-ready", "cluster.karmada.io/unreachable",
                                           "cluster.karmada.io/terminating"};

std::string KeyOf(const Value& reference, std::string_view ns) {
  return StrCat(reference["kind"].str(), "/", ns, "/", reference["name"].str());
}

std::optional<int> NumberOf(const Value& annotations, std::string_view key) {
  const std::string text(annotations[key].str());
  char* end = nullptr;
  const int64_t number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 0 || number > 1000) return std::nullopt;
  return static_cast<int>(number);
}

WallTime TimeOr(const Value& text, WallTime otherwise) {
  const Result<WallTime> at = json::ParseTime(text.str());
  return at.ok() ? *at : otherwise;
}

}  // namespace

std::string BindingKeyOf(const std::string& key) {
  const size_t kind_end = key.find('/');
  const size_t ns_end = key.find('/', kind_end + 1);
  return StrCat(key.substr(kind_end + 1, ns_end - kind_end - 1), "/",
                WriterName(key.substr(0, kind_end), key.substr(ns_end + 1)));
}

bool IsReady(const Value& cluster) {
  return federation::FindCondition(cluster["status"], "Ready")["status"].str() == "True";
}

bool HasDrainTaint(const Value& cluster) {
  return std::ranges::any_of(cluster["spec"]["taints"].items(),
                             [](const Value& taint) { return taint["key"].str() == kDrainTaint; });
}

bool WantsEmpty(const Value& cluster) {
  return std::ranges::any_of(cluster["spec"]["taints"].items(), [](const Value& taint) {
    const bool ill = std::ranges::find(kIllTaints, taint["key"].str()) != std::end(kIllTaints);
    return taint["effect"].str() == "NoExecute" && !ill;
  });
}

bool AsksForDrain(const Value& cluster, bool own_hub) {
  if (!WantsEmpty(cluster)) return false;
  return own_hub || !GUARD_STANDS("handoff.taints_of_others_are_theirs") || HasDrainTaint(cluster);
}

std::set<std::string> DrainedClusters(const kube::Informer& clusters, bool own_hub) {
  std::set<std::string> drained;
  clusters.ForEach([&](std::string_view, const Value& cluster) {
    if (AsksForDrain(cluster, own_hub)) drained.emplace(kube::NameOf(cluster));
  });
  return drained;
}

MoveLimits LimitsOf(const kube::Informer& clusters, const EvacuateOptions& options) {
  MoveLimits limits{.out = options.moves_out, .in = options.moves_in, .out_of = {}, .in_to = {}};
  clusters.ForEach([&](std::string_view, const Value& cluster) {
    const Value& annotations = cluster["metadata"]["annotations"];
    const std::string name(kube::NameOf(cluster));
    if (const auto out = NumberOf(annotations, kMaxOutAnnotation)) limits.out_of[name] = *out;
    if (const auto in = NumberOf(annotations, kMaxInAnnotation)) limits.in_to[name] = *in;
  });
  return limits;
}

std::vector<DrainMove> MovesOf(const kube::Informer& migrations, const std::string& mark) {
  std::vector<DrainMove> moves;
  migrations.ForEach([&](std::string_view, const Value& migration) {
    const Value& status = migration["status"];
    const std::optional<Phase> phase = PhaseFromName(status["phase"].str());
    const Value& annotations = migration["metadata"]["annotations"];
    const bool of_this = annotations[kDrainMark].str() == mark;
    const bool ended = phase && IsEnd(*phase);
    if (ended && !of_this) return;
    const auto timeline = status["timeline"].items();
    std::string from(status["source"].str());
    if (from.empty()) from = migration["spec"]["source"].str();
    moves.push_back({.workload = KeyOf(migration["spec"]["workload"], kube::NamespaceOf(migration)),
                     .name = std::string(kube::NameOf(migration)),
                     .from = std::move(from),
                     .to = std::string(migration["spec"]["target"].str()),
                     .of_this_drain = of_this,
                     .number = NumberOf(annotations, kDrainNumber).value_or(0),
                     .ended = ended,
                     .succeeded = phase == Phase::kSucceeded,
                     .phase = std::string(status["phase"].str_or("Pending")),
                     .message = std::string(status["message"].str()),
                     .ended_at = timeline.empty() ? WallTime{} : TimeOr(timeline.back()["time"], WallTime{})});
  });
  return moves;
}

// Those that are in the cluster, and those that this evacuation has already had to do with.
std::vector<DrainWorkload> WorkloadsOf(const federation::Hub& hub, const ProfileSet& profiles,
                                       const Value& evacuation) {
  const std::string cluster(evacuation["spec"]["cluster"].str());
  const bool home = evacuation["spec"]["return"].bool_or(false);
  std::map<std::string, DrainWorkload> found;
  const auto add = [&](const std::string& binding_key, std::string key) {
    const Value& binding = hub.Binding(binding_key);
    DrainWorkload workload{.key = std::move(key)};
    if (!binding.is_null() && !kube::IsDeleting(binding)) {
      const Value& object = hub.Template(federation::TemplateKey::OfReference(binding["spec"]["resource"]));
      const auto clusters = binding["spec"]["clusters"].items();
      const bool here = std::ranges::any_of(clusters, [&](const Value& one) { return one["name"].str() == cluster; });
      workload.from = home ? (clusters.empty() ? "" : std::string(clusters[0]["name"].str())) : cluster;
      if (home) workload.to = cluster;
      workload.done = home ? here : !here;
      const std::string priority(object["metadata"]["annotations"][kPriorityAnnotation].str());
      workload.priority = priority.empty() ? binding["spec"]["schedulePriority"]["priority"].int_or(0)
                                           : std::strtol(priority.c_str(), nullptr, 10);
    }
    found.emplace(workload.key, workload);
  };
  for (const Value& item : evacuation["status"]["items"].items()) {
    const std::string key = KeyOf(item, item["namespace"].str());
    add(BindingKeyOf(key), key);
  }
  if (home) {
    for (auto it = found.begin(); it != found.end();) it = it->second.from.empty() ? found.erase(it) : std::next(it);
  } else {
    for (const std::string& binding_key : hub.BindingsIn(cluster)) {
      const Value& reference = hub.Binding(binding_key)["spec"]["resource"];
      const Value& object = hub.Template(federation::TemplateKey::OfReference(reference));
      if (object.is_null() || profiles.Managing(object) == nullptr) continue;
      add(binding_key, KeyOf(reference, reference["namespace"].str()));
    }
  }
  std::vector<DrainWorkload> workloads;
  workloads.reserve(found.size());
  for (auto& [key, workload] : found) workloads.push_back(std::move(workload));
  return workloads;
}

Result<std::string> ChooseElsewhere(federation::Federation& federation, const DrainWorkload& workload,
                                    const std::set<std::string>& full, const std::set<std::string>& drained) {
  std::set<std::string> barred = full;
  barred.insert(workload.from);
  barred.insert(drained.begin(), drained.end());
  const std::string key = BindingKeyOf(workload.key);
  const Value& binding = federation.hub().Binding(key);
  Result<std::string> chosen = federation.schedule().Elsewhere(key, binding, barred);
  if (chosen.ok()) return chosen;
  std::string also;
  for (const std::string& cluster : drained) {
    if (cluster == workload.from || !federation.schedule().Allows(binding, cluster)) continue;
    also += StrCat("; ", cluster, " is being drained itself");
  }
  return also.empty() ? chosen : NotFoundError(StrCat(chosen.error().message(), also));
}

std::string WhyNotDrained(const std::string& name, const Value& cluster) {
  if (cluster.is_null()) return StrCat("there is no cluster ", name);
  if (IsReady(cluster)) return {};
  return StrCat("cluster ", name,
                " does not answer, so nothing in it can be proven stopped: it is not drained; "
                "bring it back, or let failover decide");
}

}  // namespace baton::rollout
