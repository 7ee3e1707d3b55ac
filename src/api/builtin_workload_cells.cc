// Rows of what makes and scales pods: apps/v1, batch/v1, replication controllers, autoscalers, disruption budgets.
#include <algorithm>

#include "api/builtin_behaviour.h"
#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/rfc3339.h"
#include "json/selector.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kMetricsShown = 2;

int64_t Number(const Value& value) { return value.int_or(0); }

// A count or a percentage, as IntOrString prints it.
std::string CountText(const Value& value, std::string_view otherwise) {
  if (value.is_int()) return StrCat(value.int_or(0));
  return value.is_string() ? std::string(value.str()) : std::string(otherwise);
}

const Value& Containers(const Value& spec) { return spec["template"]["spec"]["containers"]; }

bool HasCondition(const Value& object, std::string_view type) {
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].str() == type) return condition["status"].str() == "True";
  }
  return false;
}

std::string JobStatus(const Value& job) {
  if (HasCondition(job, "Complete")) return "Complete";
  if (HasCondition(job, "Failed")) return "Failed";
  if (!IsUnset(job["metadata"]["deletionTimestamp"])) return "Terminating";
  for (std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (HasCondition(job, type)) return std::string(type);
  }
  return "Running";
}

std::string JobCompletions(const Value& job) {
  const int64_t succeeded = Number(job["status"]["succeeded"]);
  const Value& completions = job["spec"]["completions"];
  if (completions.is_int()) return StrCat(succeeded, "/", completions.int_or(0));
  const int64_t parallelism = Number(job["spec"]["parallelism"]);
  return parallelism > 1 ? StrCat(succeeded, "/1 of ", parallelism) : StrCat(succeeded, "/1");
}

std::string JobDuration(const Value& job, WallTime now) {
  Result<WallTime> start = json::ParseTime(job["status"]["startTime"].str());
  if (!start.ok()) return "";
  Result<WallTime> end = json::ParseTime(job["status"]["completionTime"].str());
  return HumanAge(*start, end.ok() ? *end : now);
}

// "cpu: 10%/80%": what a metric is and should be. `source` is the field of the metric's type.
std::string MetricText(const Value& spec, const Value& status, std::string_view source, bool named, bool average_mark) {
  const Value& target = spec[source]["target"];
  const Value& current = status[source]["current"];
  const std::string prefix = named ? StrCat(spec[source]["name"].str(), ": ") : "";
  if (!target["averageValue"].is_null()) {
    const bool known = named ? status[source].is_object() : !current["averageValue"].is_null();
    return StrCat(prefix, known ? QuantityText(current["averageValue"]) : "<unknown>", "/",
                  QuantityText(target["averageValue"]), average_mark ? " (avg)" : "");
  }
  if (named) {
    const Value& now = current["averageUtilization"];
    const Value& goal = target["averageUtilization"];
    return StrCat(prefix, now.is_int() ? StrCat(now.int_or(0), "%") : "<unknown>", "/",
                  goal.is_int() ? StrCat(goal.int_or(0), "%") : "<auto>");
  }
  return StrCat(status[source].is_object() ? QuantityText(current["value"]) : "<unknown>", "/",
                QuantityText(target["value"]));
}

std::string MetricText(const Value& spec, const Value& status) {
  const std::string_view type = spec["type"].str();
  if (type == "External") return MetricText(spec, status, "external", false, true);
  if (type == "Object") return MetricText(spec, status, "object", false, true);
  if (type == "Resource") return MetricText(spec, status, "resource", true, false);
  if (type == "ContainerResource") return MetricText(spec, status, "containerResource", true, false);
  if (type != "Pods") return "<unknown type>";
  const Value& current = status["pods"];
  return StrCat(current.is_object() ? QuantityText(current["current"]["averageValue"]) : "<unknown>", "/",
                QuantityText(spec["pods"]["target"]["averageValue"]));
}

std::string Metrics(const Value& specs, const Value& statuses) {
  if (specs.empty()) return "<none>";
  std::string text;
  for (size_t i = 0; i < std::min(specs.size(), kMetricsShown); ++i) {
    StrAppend(text, i == 0 ? "" : ", ", MetricText(specs[i], i < statuses.size() ? statuses[i] : Value()));
  }
  if (specs.size() > kMetricsShown) StrAppend(text, " + ", specs.size() - kMetricsShown, " more...");
  return text;
}

// Of the owner that is the controller: "statefulset.apps/web".
std::string ControllerText(const Value& object) {
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].bool_or(false)) continue;
    const std::string_view version = owner["apiVersion"].str();
    const size_t slash = version.find('/');
    const std::string group = slash == std::string_view::npos ? "" : StrCat(".", version.substr(0, slash));
    return StrCat(ToLower(StrCat(owner["kind"].str(), group)), "/", owner["name"].str());
  }
  return "<none>";
}

Cells ReplicaCells(const Value& object, WallTime now, std::string_view selector) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  return {NameOf(object),
          Number(spec["replicas"]),
          Number(status["replicas"]),
          Number(status["readyReplicas"]),
          Age(object, now),
          JoinField(Containers(spec), "name"),
          JoinField(Containers(spec), "image"),
          selector};
}

}  // namespace

Cells DeploymentCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Result<json::LabelSelector> selector = json::LabelSelector::FromObject(spec["selector"]);
  return {NameOf(object),
          StrCat(Number(status["readyReplicas"]), "/", Number(spec["replicas"])),
          Number(status["updatedReplicas"]),
          Number(status["availableReplicas"]),
          Age(object, now),
          JoinField(Containers(spec), "name"),
          JoinField(Containers(spec), "image"),
          selector.ok() ? selector->ToString() : "<invalid>"};
}

Cells StatefulSetCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object), StrCat(Number(object["status"]["readyReplicas"]), "/", Number(spec["replicas"])),
          Age(object, now), JoinField(Containers(spec), "name"), JoinField(Containers(spec), "image")};
}

Cells DaemonSetCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  return {NameOf(object),
          Number(status["desiredNumberScheduled"]),
          Number(status["currentNumberScheduled"]),
          Number(status["numberReady"]),
          Number(status["updatedNumberScheduled"]),
          Number(status["numberAvailable"]),
          FormatLabels(spec["template"]["spec"]["nodeSelector"]),
          Age(object, now),
          JoinField(Containers(spec), "name"),
          JoinField(Containers(spec), "image"),
          FormatSelector(spec["selector"])};
}

Cells ReplicaSetCells(const Value& object, WallTime now) {
  return ReplicaCells(object, now, FormatSelector(object["spec"]["selector"]));
}

Cells ReplicationControllerCells(const Value& object, WallTime now) {
  return ReplicaCells(object, now, FormatLabels(object["spec"]["selector"]));
}

Cells JobCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object),
          JobStatus(object),
          JobCompletions(object),
          JobDuration(object, now),
          Age(object, now),
          JoinField(Containers(spec), "name"),
          JoinField(Containers(spec), "image"),
          FormatSelector(spec["selector"])};
}

Cells CronJobCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& job = spec["jobTemplate"]["spec"];
  const Value& last = object["status"]["lastScheduleTime"];
  const Value& suspend = spec["suspend"];
  return {NameOf(object),
          spec["schedule"].str(),
          spec["timeZone"].str_or("<none>"),
          !suspend.is_bool()       ? "<unset>"
          : suspend.bool_or(false) ? "True"
                                   : "False",
          object["status"]["active"].size(),
          last.is_null() ? "<none>" : AgeOf(last, now),
          Age(object, now),
          JoinField(Containers(job), "name"),
          JoinField(Containers(job), "image"),
          FormatSelector(job["selector"])};
}

Cells ControllerRevisionCells(const Value& object, WallTime now) {
  return {NameOf(object), ControllerText(object), Number(object["revision"]), Age(object, now)};
}

Cells AutoscalerCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  const Value& target = spec["scaleTargetRef"];
  return {NameOf(object),
          StrCat(target["kind"].str(), "/", target["name"].str()),
          Metrics(spec["metrics"], status["currentMetrics"]),
          CountText(spec["minReplicas"], "<unset>"),
          Number(spec["maxReplicas"]),
          Number(status["currentReplicas"]),
          Age(object, now)};
}

Cells DisruptionBudgetCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object), CountText(spec["minAvailable"], "N/A"), CountText(spec["maxUnavailable"], "N/A"),
          Number(object["status"]["disruptionsAllowed"]), Age(object, now)};
}

}  // namespace baton::api::builtin
