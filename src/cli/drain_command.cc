// Draining: the taint and the ClusterEvacuation are written, the controllers do the rest, and we watch.
#include "cli/drain_command.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cli/client.h"
#include "federation/resources.h"
#include "rollout/evacuate.h"
#include "rt/when.h"

namespace baton::cli {
namespace {

using json::Value;
using rollout::kEvacuations;

constexpr int kTriesMax = 10;  // of an update that others got ahead of
constexpr int kStuck = 5;      // exit codes, as of `baton migrate --wait`
constexpr int kTimedOut = 6;
constexpr Duration kDrainTimeout = hours(1);
constexpr Duration kPlanTimeout = seconds(30);
constexpr Duration kWatchAgain = milliseconds(500);

constexpr const char* kDrainHelp =
    "Usage: baton drain CLUSTER [--max N] [--dry-run] [--no-wait] [--timeout 1h]\n"
    "\n"
    "Moves every managed workload out of CLUSTER, a few at a time, each as `baton migrate` would, to where its policy\n"
    "allows it. The cluster gets a NoExecute taint, so nothing new comes, and workloads that are not managed go the\n"
    "ordinary way. Interrupting this command leaves the drain going; `baton uncordon` stops it; running it again "
    "tries\n"
    "again what is stuck.\n"
    "\n"
    "Examples:\n"
    "  baton drain member1 --dry-run        # the numbered plan\n"
    "  baton drain member1 --max 2\n"
    "  baton undrain member1 --return       # and everything home again\n"
    "\n"
    "Exit code: 0 when nothing is left, 5 when what is left needs a person, 6 at the timeout (it goes on).\n"
    "\n"
    "  --max N                moves at a time; default: as the cluster's annotation or the controllers say\n"
    "  --dry-run              print what would be done\n"
    "  --no-wait              do not wait for the end\n"
    "  --timeout 1h           of waiting\n"
    "  --stabilization 10s    how long each target must be healthy before it counts as verified\n";

constexpr const char* kUncordonHelp =
    "Usage: baton uncordon CLUSTER\n"
    "\n"
    "CLUSTER takes workloads again: the taint of `baton drain` goes, and no further move out of it is begun. Moves "
    "that\n"
    "are under way end as they would. Nothing is brought back: that is `baton undrain --return`.\n"
    "\n"
    "Examples:\n"
    "  baton uncordon member1\n"
    "  baton get migrations -A              # what is still under way\n"
    "  baton undrain member1 --return\n"
    "\n";

constexpr const char* kUndrainHelp =
    "Usage: baton undrain CLUSTER [--return] [--max N] [--no-wait] [--timeout 1h]\n"
    "\n"
    "As `baton uncordon`; with --return what the drain moved away is moved home, a few at a time.\n"
    "\n"
    "Examples:\n"
    "  baton undrain member1 --return\n"
    "  baton undrain member1 --return --max 1 --no-wait\n"
    "  kubectl get clusterevacuation member1 -o yaml      # where everything went\n"
    "\n"
    "  --return               bring home what was moved away\n"
    "  --max N                moves at a time\n"
    "  --no-wait              do not wait for the end\n"
    "  --timeout 1h           of waiting\n"
    "  --stabilization 10s    how long each target must be healthy before it counts as verified\n";

rt::Task<Result<void>> ChangeCluster(kube::Api& api, std::string name, bool tainted) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Result<Value> cluster = co_await api.Get(federation::kClusters, {"", name});
    if (!cluster.ok() && cluster.error().kind() == ErrorKind::kNotFound)
      co_return NotFoundError(StrCat("there is no cluster '", name, "': `baton get clusters` lists them"));
    if (!cluster.ok()) co_return cluster.error();
    Value taints = json::Array();
    for (const Value& taint : (*cluster)["spec"]["taints"].items()) {
      if (taint["key"].str() != rollout::kDrainTaint) taints.Push(taint);
    }
    if (tainted) taints.Push(json::Object({{"key", rollout::kDrainTaint}, {"effect", "NoExecute"}}));
    Value next = *cluster;
    if (taints.empty()) {
      next.Edit("spec").Erase("taints");
    } else {
      next.Edit("spec").Set("taints", taints);
    }
    const auto same = [](const Value& a, const Value& b) { return a["key"] == b["key"] && a["effect"] == b["effect"]; };
    const Value& before = (*cluster)["spec"]["taints"];
    bool changed = before.size() != taints.size();
    for (size_t i = 0; !changed && i < taints.size(); ++i) changed = !same(before[i], taints[i]);
    if (!changed) co_return Result<void>();
    const Result<Value> written = co_await api.Update(federation::kClusters, next);
    if (written.ok()) co_return Result<void>();
    if (written.error().kind() != ErrorKind::kConflict) co_return written.error();
  }
  co_return ConflictError(StrCat("cluster '", name, "' changes all the time: try again"));
}

// The evacuation of that cluster, made or changed; a null one when there is none and `make` is not set.
rt::Task<Result<Value>> ChangeEvacuation(kube::Api& api, std::string name, bool make,
                                         std::function<void(Value& spec)> change) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<Value> there = co_await api.Get(kEvacuations, {"", name});
    const bool none = !there.ok() && there.error().kind() == ErrorKind::kNotFound;
    if (!there.ok() && !none) co_return there;
    if (none && !make) co_return Value();
    Value next = none ? json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"},
                                      {"kind", "ClusterEvacuation"},
                                      {"metadata", json::Object({{"name", name}})},
                                      {"spec", json::Object({{"cluster", name}})}})
                      : *there;
    change(next.Edit("spec"));
    Result<Value> written = none ? co_await api.Create(kEvacuations, next) : co_await api.Update(kEvacuations, next);
    const bool again = !written.ok() && (written.error().kind() == ErrorKind::kConflict ||
                                         written.error().kind() == ErrorKind::kAlreadyExists);
    if (!again) co_return written;
  }
  co_return ConflictError(StrCat("clusterevacuation '", name, "' changes all the time: try again"));
}

std::string ItemName(const Value& item) {
  return StrCat(ToLower(item["kind"].str()), "/", item["name"].str(), " -n ", item["namespace"].str());
}

// Each news of a workload is one line.
class DrainView {
 public:
  void Show(const Value& evacuation) {
    const Value& status = evacuation["status"];
    for (const Value& item : status["items"].items()) {
      const std::string line =
          StrCat(item["state"].str(), item["target"].str().empty() ? "" : " to ", item["target"].str());
      std::string& last = said_[ItemName(item)];
      if (last == line) continue;
      last = line;
      const bool why = item["state"].str() != "Moving" && item["state"].str() != "Done";
      std::printf("  %s: %s%s%s\n", ItemName(item).c_str(), line.c_str(),
                  why && !item["message"].str().empty() ? ": " : "",
                  why ? std::string(item["message"].str()).c_str() : "");
    }
    const std::string now = StrCat(status["phase"].str(), ": ", status["message"].str());
    if (now != phase_ && !status["phase"].str().empty()) std::printf("%s\n", now.c_str());
    phase_ = now;
    std::fflush(stdout);
  }

 private:
  std::map<std::string, std::string> said_;
  std::string phase_;
};

// Until the status is of that generation and `over` says so.
rt::Task<Result<Value>> Until(rt::RealLoop& loop, kube::Api& api, Value asked, std::function<bool(const Value&)> over) {
  const std::string name(kube::NameOf(asked));
  const int64_t generation = asked["metadata"]["generation"].int_or(0);
  while (true) {
    Result<std::unique_ptr<kube::Watch>> watch =
        co_await api.OpenWatch({.resource = kEvacuations, .field_selector = StrCat("metadata.name=", name)},
                               rt::Deadline::After(loop, kube::kCallTimeout));
    while (watch.ok()) {
      const Result<std::vector<kube::Change>> changes = co_await (*watch)->Next();
      if (!changes.ok()) break;
      for (const kube::Change& change : *changes) {
        if (change.type == kube::ChangeType::kBookmark) continue;
        if (change.type == kube::ChangeType::kDeleted) co_return NotFoundError("the evacuation was deleted");
        const bool current = change.object["status"]["observedGeneration"].int_or(0) >= generation;
        if (current && over(change.object)) co_return change.object;
      }
    }
    co_await loop.Sleep(kWatchAgain);
  }
}

rt::Task<Result<int>> WaitForEnd(rt::RealLoop& loop, kube::Api& api, Value asked, Duration timeout) {
  DrainView view;
  Value last;
  const auto over = [&](const Value& evacuation) {
    view.Show(evacuation);
    last = evacuation;
    const std::string_view phase = evacuation["status"]["phase"].str();
    return phase == "Drained" || phase == "Returned" || phase == "Stuck";
  };
  const Result<Value> ended =
      co_await rt::WithDeadline(rt::Deadline::After(loop, timeout), "the drain's end", Until(loop, api, asked, over));
  if (ended.ok()) co_return (*ended)["status"]["phase"].str() == "Stuck" ? kStuck : 0;
  if (ended.error().kind() != ErrorKind::kDeadlineExceeded) co_return ended.error();
  std::printf("not over yet, and it goes on: %s\n", std::string(last["status"]["message"].str()).c_str());
  co_return kTimedOut;
}

// What would be done, by the very code that does it.
rt::Task<Result<int>> PrintPlan(rt::RealLoop& loop, kube::Api& api, std::string cluster, int64_t most) {
  const std::string name = StrCat(cluster, "-plan-", loop.random().Next() % 1'000'000);
  Value wanted = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"},
                               {"kind", "ClusterEvacuation"},
                               {"metadata", json::Object({{"name", name}})},
                               {"spec", json::Object({{"cluster", cluster}, {"dryRun", true}})}});
  if (most > 0) wanted.Edit("spec").Set("maxConcurrent", most);
  const Value made = CO_TRY(co_await api.Create(kEvacuations, wanted));
  const Result<Value> planned = co_await rt::WithDeadline(
      rt::Deadline::After(loop, kPlanTimeout), "the controllers' plan (do they run?)",
      Until(loop, api, made, [](const Value& one) { return !one["status"]["phase"].str().empty(); }));
  [[maybe_unused]] const Result<Value> gone = co_await api.Delete(kEvacuations, {"", name});
  if (!planned.ok()) co_return planned.error();
  const Value& status = (*planned)["status"];
  if (status["phase"].str() == "Waiting") {
    std::printf("%s\n", std::string(status["message"].str()).c_str());
    co_return kStuck;
  }
  std::printf("Draining %s would move %lld workloads, in this order:\n", cluster.c_str(),
              static_cast<long long>(status["total"].int_or(0)));
  int number = 0;
  bool stuck = false;
  for (const Value& item : status["items"].items()) {
    const bool begins = item["state"].str() == "Moving";
    stuck = stuck || item["state"].str() == "Stuck";
    const std::string what = item["target"].str().empty() ? StrCat(item["state"].str(), ": ", item["message"].str())
                                                          : StrCat("to ", item["target"].str(),
                                                                   begins ? "" : StrCat(", ", item["message"].str()));
    std::printf("%4d. %s: %s\n", ++number, ItemName(item).c_str(), what.c_str());
  }
  std::printf("Nothing was done. To do it: baton drain %s\n", cluster.c_str());
  co_return stuck ? kStuck : 0;
}

rt::Task<Result<int>> Drain(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string cluster = flags.positional()[0];
  const int64_t most = CO_TRY(flags.GetInt("--max", 0, 0, 1000));
  const Duration timeout = CO_TRY(flags.GetDuration("--timeout", kDrainTimeout));
  std::optional<Duration> stable;
  if (flags.Has("--stabilization")) stable = CO_TRY(flags.GetDuration("--stabilization", seconds(10)));
  const Result<Value> there = co_await client.api().Get(federation::kClusters, {"", cluster});
  if (!there.ok() && there.error().kind() == ErrorKind::kNotFound)
    co_return NotFoundError(StrCat("there is no cluster '", cluster, "': `baton get clusters` lists them"));
  if (!there.ok()) co_return there.error();
  if (flags.Has("--dry-run")) co_return co_await PrintPlan(loop, client.api(), cluster, most);
  const Value asked = CO_TRY(co_await ChangeEvacuation(client.api(), cluster, true, [most, stable](Value& spec) {
    spec.Erase("return");
    spec.Set("round", spec["round"].int_or(0) + 1);
    if (most > 0) spec.Set("maxConcurrent", most);
    if (stable) spec.Set("stabilizationSeconds", *stable / seconds(1));
  }));
  // Last: the taint makes an evacuation where there is none.
  CO_TRY(co_await ChangeCluster(client.api(), cluster, true));
  std::printf("clusterevacuation/%s: draining; to stop: baton uncordon %s\n", cluster.c_str(), cluster.c_str());
  if (flags.Has("--no-wait")) co_return 0;
  co_return co_await WaitForEnd(loop, client.api(), asked, timeout);
}

rt::Task<Result<int>> Uncordon(rt::RealLoop& /*loop*/, Client& client, const Flags& flags) {
  const std::string cluster = flags.positional()[0];
  CO_TRY(co_await ChangeCluster(client.api(), cluster, false));
  std::printf("cluster/%s takes workloads again\n", cluster.c_str());
  co_return 0;
}

rt::Task<Result<int>> Undrain(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string cluster = flags.positional()[0];
  const int64_t most = CO_TRY(flags.GetInt("--max", 0, 0, 1000));
  const Duration timeout = CO_TRY(flags.GetDuration("--timeout", kDrainTimeout));
  std::optional<Duration> stable;
  if (flags.Has("--stabilization")) stable = CO_TRY(flags.GetDuration("--stabilization", seconds(10)));
  CO_TRY(co_await ChangeCluster(client.api(), cluster, false));
  std::printf("cluster/%s takes workloads again\n", cluster.c_str());
  if (!flags.Has("--return")) co_return 0;
  const Value asked = CO_TRY(co_await ChangeEvacuation(client.api(), cluster, false, [most, stable](Value& spec) {
    spec.Set("return", true);
    spec.Set("round", spec["round"].int_or(0) + 1);
    if (most > 0) spec.Set("maxConcurrent", most);
    if (stable) spec.Set("stabilizationSeconds", *stable / seconds(1));
  }));
  if (asked.is_null())
    co_return NotFoundError(StrCat("nothing was drained from ", cluster, ": there is nothing to bring home"));
  if (flags.Has("--no-wait")) co_return 0;
  co_return co_await WaitForEnd(loop, client.api(), asked, timeout);
}

Result<void> CheckFlags(const Flags& flags) {
  TRY(flags.Only("a cluster's name"));
  TRY(flags.GetDuration("--timeout", kDrainTimeout));
  TRY(flags.GetInt("--max", 0, 0, 1000));
  const Duration stable = TRY(flags.GetDuration("--stabilization", seconds(10)));
  if (stable % seconds(1) != Duration::zero() || stable > hours(24))
    return InvalidError("--stabilization: whole seconds, a day at most");
  return {};
}

}  // namespace

int DrainCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "drain",
       .help = kDrainHelp,
       .flags = {{"--max", "N"}, {"--dry-run"}, {"--no-wait"}, {"--timeout", "1h"}, {"--stabilization", "10s"}},
       .positionals = 1},
      arguments, Drain, CheckFlags);
}

int UncordonCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand({.name = "uncordon", .help = kUncordonHelp, .positionals = 1}, arguments, Uncordon,
                          [](const Flags& flags) -> Result<void> {
                            TRY(flags.Only("a cluster's name"));
                            return {};
                          });
}

int UndrainCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "undrain",
       .help = kUndrainHelp,
       .flags = {{"--return"}, {"--max", "N"}, {"--no-wait"}, {"--timeout", "1h"}, {"--stabilization", "10s"}},
       .positionals = 1},
      arguments, Undrain, CheckFlags);
}

}  // namespace baton::cli
