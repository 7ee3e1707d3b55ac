// The row of a pod in a table: its state in one word, found as `kubectl get pods` finds it.
#include <algorithm>
#include <optional>

#include "api/builtin_behaviour.h"
#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/rfc3339.h"

namespace baton::api::builtin {
namespace {

bool HasTrueCondition(const Value& pod, std::string_view type) {
  return std::ranges::any_of(pod["status"]["conditions"].items(), [&](const Value& condition) {
    return condition["type"].str() == type && condition["status"].str() == "True";
  });
}

const Value& InitContainer(const Value& pod, std::string_view name) {
  static const Value kNone;
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    if (container["name"].str() == name) return container;
  }
  return kNone;
}

bool IsSidecar(const Value& init_container) { return init_container["restartPolicy"].str() == "Always"; }

struct Restarts {
  int64_t count = 0;
  std::optional<WallTime> last;

  void Add(const Value& status) {
    count += std::clamp<int64_t>(status["restartCount"].int_or(0), 0, INT32_MAX);
    Result<WallTime> time = json::ParseTime(status["lastState"]["terminated"]["finishedAt"].str());
    if (time.ok() && (!last || *last < *time)) last = *time;
  }
};

std::string TerminatedReason(const Value& terminated) {
  if (!IsUnset(terminated["reason"])) return std::string(terminated["reason"].str());
  if (terminated["signal"].int_or(0) != 0) return StrCat("Signal:", terminated["signal"].int_or(0));
  return StrCat("ExitCode:", terminated["exitCode"].int_or(0));
}

class PodSummary {
 public:
  explicit PodSummary(const Value& pod) : pod_(pod), status_(pod["status"]) {
    reason_ = TextOr(status_["reason"], status_["phase"].str());
    for (const Value& condition : status_["conditions"].items()) {
      if (condition["type"].str() == "PodScheduled" && condition["reason"].str() == "SchedulingGated") {
        reason_ = "SchedulingGated";
      }
    }
    total_ = pod["spec"]["containers"].size();
    for (const Value& container : pod["spec"]["initContainers"].items()) total_ += IsSidecar(container) ? 1 : 0;
    const bool initializing = LookAtInitContainers();
    if (!initializing || HasTrueCondition(pod, "Initialized")) LookAtContainers();
    LookAtDeletion();
  }

  std::string Ready() const { return StrCat(ready_, "/", total_); }
  const std::string& reason() const { return reason_; }
  std::string RestartsText(WallTime now) const {
    if (restarts_.count == 0 || !restarts_.last) return StrCat(restarts_.count);
    return StrCat(restarts_.count, " (", HumanAge(*restarts_.last, now), " ago)");
  }

 private:
  // True while one of them has not finished.
  bool LookAtInitContainers() {
    const Value& statuses = status_["initContainerStatuses"];
    for (size_t i = 0; i < statuses.size(); ++i) {
      const Value& status = statuses[i];
      const bool sidecar = IsSidecar(InitContainer(pod_, status["name"].str()));
      restarts_.Add(status);
      if (sidecar) sidecar_restarts_.Add(status);
      const Value& terminated = status["state"]["terminated"];
      const std::string_view waiting = status["state"]["waiting"]["reason"].str();
      if (terminated.is_object() && terminated["exitCode"].int_or(0) == 0) continue;
      if (sidecar && status["started"].bool_or(false)) {
        ready_ += status["ready"].bool_or(false) ? 1 : 0;
        continue;
      }
      if (terminated.is_object()) {
        reason_ = StrCat("Init:", TerminatedReason(terminated));
      } else if (!waiting.empty() && waiting != "PodInitializing") {
        reason_ = StrCat("Init:", waiting);
      } else {
        reason_ = StrCat("Init:", i, "/", pod_["spec"]["initContainers"].size());
      }
      return true;
    }
    return false;
  }

  void LookAtContainers() {
    restarts_ = sidecar_restarts_;
    bool has_running = false;
    std::string error_reason;
    const Value& statuses = status_["containerStatuses"];
    for (size_t i = statuses.size(); i-- > 0;) {
      const Value& status = statuses[i];
      restarts_.Add(status);
      const Value& state = status["state"];
      if (!IsUnset(state["waiting"]["reason"])) {
        reason_ = state["waiting"]["reason"].str();
      } else if (state["terminated"].is_object()) {
        reason_ = TerminatedReason(state["terminated"]);
        if (state["terminated"]["exitCode"].int_or(0) != 0) error_reason = reason_;
      } else if (status["ready"].bool_or(false) && state["running"].is_object()) {
        has_running = true;
        ++ready_;
      }
    }
    if (reason_ != "Completed") return;
    if (has_running && HasTrueCondition(pod_, "Ready")) {
      reason_ = "Running";
    } else if (!error_reason.empty()) {
      reason_ = error_reason;
    } else if (has_running) {
      reason_ = "NotReady";
    }
  }

  void LookAtDeletion() {
    if (IsUnset(pod_["metadata"]["deletionTimestamp"])) return;
    const std::string_view phase = status_["phase"].str();
    if (status_["reason"].str() == "NodeLost") {
      reason_ = "Unknown";
    } else if (phase != "Failed" && phase != "Succeeded") {
      reason_ = "Terminating";
    }
  }

  const Value& pod_;
  const Value& status_;
  std::string reason_;
  size_t total_ = 0;
  size_t ready_ = 0;
  Restarts restarts_;
  Restarts sidecar_restarts_;
};

std::string ReadinessGates(const Value& pod) {
  const Value& gates = pod["spec"]["readinessGates"];
  if (gates.empty()) return "<none>";
  size_t open = 0;
  for (const Value& gate : gates.items()) {
    for (const Value& condition : pod["status"]["conditions"].items()) {
      if (condition["type"].str() != gate["conditionType"].str()) continue;
      open += condition["status"].str() == "True" ? 1 : 0;
      break;
    }
  }
  return StrCat(open, "/", gates.size());
}

}  // namespace

Cells PodCells(const Value& object, WallTime now) {
  const PodSummary summary(object);
  const Value& status = object["status"];
  return {NameOf(object),
          summary.Ready(),
          summary.reason(),
          summary.RestartsText(now),
          Age(object, now),
          TextOr(status["podIPs"][size_t{0}]["ip"], TextOr(status["podIP"], "<none>")),
          TextOr(object["spec"]["nodeName"], "<none>"),
          TextOr(status["nominatedNodeName"], "<none>"),
          ReadinessGates(object)};
}

Cells PodTemplateCells(const Value& object, WallTime /*now*/) {
  const Value& containers = object["template"]["spec"]["containers"];
  return {NameOf(object), JoinField(containers, "name"), JoinField(containers, "image"),
          FormatLabels(object["template"]["metadata"]["labels"])};
}

}  // namespace baton::api::builtin
