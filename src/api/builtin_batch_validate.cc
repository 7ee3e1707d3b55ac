// Rules for jobs, cron jobs, autoscalers and disruption budgets.
#include <algorithm>
#include <cctype>

#include "api/builtin_count.h"
#include "api/builtin_kinds.h"
#include "api/cron.h"
#include "base/strings.h"
#include "json/selector.h"

namespace baton::api::builtin {
namespace {

constexpr int64_t kMaxIndexedParallelism = 100000;
constexpr size_t kMaxCronJobName = 52;  // leaves room for the names of its jobs

void CheckRestartPolicy(Errors& errors, const std::string& field, const Value& spec) {
  const std::string path = ChildPath(field, "template.spec.restartPolicy");
  const Value& policy = spec["template"]["spec"]["restartPolicy"];
  if (IsUnset(policy) || policy.str() == "Always") {
    errors.push_back(RequiredError(path, "valid values: \"OnFailure\", \"Never\""));
    return;
  }
  if (policy.str() != "OnFailure" && policy.str() != "Never") {
    CheckEnum(errors, path, policy, {"OnFailure", "Never"});
  } else if (!spec["podFailurePolicy"].is_null() && policy.str() != "Never") {
    errors.push_back(InvalidError(path, policy, "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

void CheckIndexed(Errors& errors, const std::string& field, const Value& spec) {
  const std::string_view mode = spec["completionMode"].str();
  if (mode != "Indexed") {
    if (!mode.empty() && mode != "NonIndexed") return;
    for (std::string_view key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
      if (spec[key].is_null()) continue;
      errors.push_back(InvalidError(ChildPath(field, key), spec[key], "requires indexed completion mode"));
    }
    return;
  }
  const Value& completions = spec["completions"];
  const Value& failed = spec["maxFailedIndexes"];
  if (completions.is_null()) {
    errors.push_back(RequiredError(ChildPath(field, "completions"), "when completion mode is Indexed"));
  }
  if (spec["parallelism"].int_or(0) > kMaxIndexedParallelism) {
    errors.push_back(InvalidError(
        ChildPath(field, "parallelism"), spec["parallelism"],
        StrCat("must be less than or equal to ", kMaxIndexedParallelism, " when completion mode is Indexed")));
  }
  if (completions.is_int() && failed.int_or(0) > completions.int_or(0)) {
    errors.push_back(
        InvalidError(ChildPath(field, "maxFailedIndexes"), failed, "must be less than or equal to completions"));
  }
}

void CheckHasLabel(Errors& errors, const Value& labels, std::string_view key, std::string_view expected) {
  const std::string path = KeyPath("spec.template.metadata.labels", key);
  if (!labels.Has(key)) {
    errors.push_back(RequiredError("spec.template.metadata.labels", StrCat("must be '", expected, "'")));
  } else if (labels[key].str() != expected) {
    errors.push_back(InvalidError(path, labels, StrCat("must be '", expected, "'")));
  }
}

void CheckGeneratedSelector(Errors& errors, const Value& job) {
  const Value& spec = job["spec"];
  if (spec["manualSelector"].bool_or(false) || spec["selector"].is_null()) return;
  const std::string_view uid = job["metadata"]["uid"].str();
  const std::string name = NameOf(job);
  const Value expected = json::Object({{"controller-uid", uid},
                                       {"batch.kubernetes.io/controller-uid", uid},
                                       {"job-name", name},
                                       {"batch.kubernetes.io/job-name", name}});
  for (const json::Member& label : expected.members()) {
    CheckHasLabel(errors, spec["template"]["metadata"]["labels"], label.key(), label.value().str());
  }
  Result<json::LabelSelector> selector = json::LabelSelector::FromObject(spec["selector"]);
  if (selector.ok() && !selector->Matches(expected)) {
    errors.push_back(InvalidSelectorError("spec.selector", spec["selector"], "`selector` not auto-generated"));
  }
}

void CheckJobUpdate(Errors& errors, const Value& spec, const Value& old) {
  if (spec["completionMode"].str() != "Indexed") {
    CheckImmutable(errors, "spec.completions", spec["completions"], old["completions"]);
  } else if (spec["completions"] != old["completions"] && !spec["completions"].is_null() &&
             spec["completions"] != spec["parallelism"]) {
    errors.push_back(
        InvalidError("spec.completions", spec["completions"], "can only be modified in tandem with spec.parallelism"));
  }
  CheckImmutable(errors, "spec.selector", spec["selector"], old["selector"]);
  // A job that is suspended may still learn where its pods go.
  Value now = spec["template"];
  Value before = old["template"];
  if (old["suspend"].bool_or(false)) {
    for (Value* one : {&now, &before}) {
      if (Value* pod = EditObjectIfThere(*one, "spec")) {
        for (std::string_view key : {"nodeSelector", "tolerations", "schedulingGates", "affinity"}) pod->Erase(key);
      }
      if (Value* metadata = EditObjectIfThere(*one, "metadata")) {
        for (std::string_view key : {"labels", "annotations"}) metadata->Erase(key);
      }
    }
  }
  CheckImmutable(errors, "spec.template", now, before);
  for (std::string_view key :
       {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    CheckImmutable(errors, ChildPath("spec", key), spec[key], old[key]);
  }
}

// Which zones there are is not known here, only how a zone may be written.
void CheckTimeZone(Errors& errors, const Value& zone) {
  if (!zone.is_string()) return;
  const std::string field = "spec.timeZone";
  if (zone.str().empty()) {
    errors.push_back(InvalidError(field, zone, "timeZone must be nil or non-empty string"));
    return;
  }
  for (std::string_view part : Split(zone.str(), '/')) {
    const bool known =
        !part.empty() && part != "." && part != ".." && part[0] != '-' && std::ranges::all_of(part, [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' || c == '+';
        });
    if (known) continue;
    errors.push_back(InvalidError(field, zone, StrCat("unknown time zone ", zone.str())));
    return;
  }
  if (ToLower(zone.str()) == "local") {
    errors.push_back(InvalidError(
        field, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
    if (zone.str() != "Local") errors.push_back(InvalidError(field, zone, StrCat("unknown time zone ", zone.str())));
  }
}

void CheckReference(Errors& errors, const std::string& field, const Value& reference, bool grouped) {
  for (std::string_view key : {"kind", "name"}) {
    if (IsUnset(reference[key])) {
      errors.push_back(RequiredError(ChildPath(field, key), ""));
    } else {
      AddInvalid(errors, ChildPath(field, key), reference[key], json::CheckPathSegmentName(reference[key].str()));
    }
  }
  const std::string_view version = reference["apiVersion"].str();
  if (std::ranges::count(version, '/') > 1) {
    errors.push_back(
        InvalidError(ChildPath(field, "apiVersion"), version, StrCat("unexpected GroupVersion string: ", version)));
  } else if (!grouped || version.find('/') != std::string_view::npos ||
             reference["kind"].str() == "ReplicationController") {
    return;
  } else {
    errors.push_back(InvalidError(ChildPath(field, "apiVersion"), version, "apiVersion must specify API group"));
  }
}

void CheckResourceMetric(Errors& errors, const std::string& field, const Value& source) {
  if (IsUnset(source["name"]))
    errors.push_back(RequiredError(ChildPath(field, "name"), "must specify a resource name"));
  const Value& target = source["target"];
  const std::string path = ChildPath(field, "target");
  const std::string_view type = target["type"].str();
  if (type.empty()) {
    errors.push_back(RequiredError(ChildPath(path, "type"), "must specify a metric target type"));
  } else if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    errors.push_back(InvalidError(ChildPath(path, "type"), type, "must be either Utilization, Value, or AverageValue"));
  }
  const bool utilization = !target["averageUtilization"].is_null();
  const bool value = !target["averageValue"].is_null();
  if (utilization && target["averageUtilization"].int_or(1) < 1) {
    errors.push_back(
        InvalidError(ChildPath(path, "averageUtilization"), target["averageUtilization"], "must be greater than 0"));
  }
  if (!utilization && !value) {
    errors.push_back(RequiredError(ChildPath(path, "averageUtilization"),
                                   "must set either a target raw value or a target utilization"));
  }
  if (utilization && value) {
    errors.push_back(ForbiddenError(ChildPath(path, "averageValue"),
                                    "may not set both a target raw value and a target utilization"));
  }
}

void CheckMetric(Errors& errors, const std::string& field, const Value& metric) {
  static constexpr std::pair<std::string_view, std::string_view> kSources[] = {
      {"ContainerResource", "containerResource"},
      {"External", "external"},
      {"Object", "object"},
      {"Pods", "pods"},
      {"Resource", "resource"}};
  const std::string_view type = metric["type"].str();
  const std::string path = ChildPath(field, "type");
  if (type.empty()) errors.push_back(RequiredError(path, "must specify a metric source type"));
  for (const auto& [name, source] : kSources) {
    if (type != name) continue;
    if (!metric[source].is_object()) {
      errors.push_back(
          RequiredError(ChildPath(field, source), "must populate information for the given metric source"));
    } else if (type == "Resource" || type == "ContainerResource") {
      CheckResourceMetric(errors, ChildPath(field, source), metric[source]);
    }
    return;
  }
  const Value types[] = {"ContainerResource", "External", "Object", "Pods", "Resource"};
  for (int times = 0; times < 2; ++times) errors.push_back(NotSupportedError(path, type, types));  // as Kubernetes does
}

}  // namespace

void CheckJobSpec(Errors& errors, const std::string& field, const Value& spec) {
  for (std::string_view number : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                                  "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    CheckNotNegative(errors, ChildPath(field, number), spec[number]);
  }
  if (!spec["maxFailedIndexes"].is_null() && spec["backoffLimitPerIndex"].is_null()) {
    errors.push_back(RequiredError(ChildPath(field, "backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
  }
  CheckEnum(errors, ChildPath(field, "completionMode"), spec["completionMode"], {"NonIndexed", "Indexed"});
  CheckIndexed(errors, field, spec);
  if (spec["podFailurePolicy"].is_null()) {
    CheckEnum(errors, ChildPath(field, "podReplacementPolicy"), spec["podReplacementPolicy"],
              {"Failed", "TerminatingOrFailed"});
  } else {
    CheckEnum(errors, ChildPath(field, "podReplacementPolicy"), spec["podReplacementPolicy"], {"Failed"});
  }
  CheckPodTemplate(errors, ChildPath(field, "template"), spec["template"]);
  CheckRestartPolicy(errors, field, spec);
}

Errors ValidateJob(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  if (old == nullptr) CheckGeneratedSelector(errors, object);
  CheckJobSpec(errors, "spec", spec);
  if (spec["selector"].is_null()) {
    errors.push_back(RequiredError("spec.selector", ""));
  } else {
    CheckLabelSelector(errors, "spec.selector", spec["selector"]);
  }
  Result<json::LabelSelector> selector = json::LabelSelector::FromObject(spec["selector"]);
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (selector.ok() && !selector->Matches(labels)) {
    errors.push_back(
        InvalidError("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"));
  }
  if (old != nullptr) CheckJobUpdate(errors, spec, (*old)["spec"]);
  return errors;
}

Errors ValidateCronJob(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  const std::string_view schedule = spec["schedule"].str();
  if (schedule.empty()) {
    errors.push_back(RequiredError("spec.schedule", ""));
  } else {
    const std::string wrong = CheckCronSchedule(schedule);
    if (!wrong.empty()) errors.push_back(InvalidError("spec.schedule", schedule, wrong));
    const bool had_zone = old != nullptr && (*old)["spec"]["schedule"].str().find("TZ") != std::string_view::npos;
    if (schedule.find("TZ") != std::string_view::npos) {
      if (!had_zone) {
        errors.push_back(InvalidError("spec.schedule", schedule,
                                      "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
      } else if (!spec["timeZone"].is_null()) {
        errors.push_back(
            InvalidError("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
      }
    }
  }
  CheckNotNegative(errors, "spec.startingDeadlineSeconds", spec["startingDeadlineSeconds"]);
  if (old == nullptr || (*old)["spec"]["timeZone"] != spec["timeZone"]) CheckTimeZone(errors, spec["timeZone"]);
  CheckEnum(errors, "spec.concurrencyPolicy", spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"}, true);
  const Value& job = spec["jobTemplate"]["spec"];
  CheckJobSpec(errors, "spec.jobTemplate.spec", job);
  if (!job["selector"].is_null()) {
    errors.push_back(
        InvalidSelectorError("spec.jobTemplate.spec.selector", job["selector"], "`selector` will be auto-generated"));
  }
  if (job["manualSelector"].bool_or(false)) {
    const Value values[] = {"nil", "false"};
    errors.push_back(NotSupportedError("spec.jobTemplate.spec.manualSelector", job["manualSelector"], values));
  }
  CheckNotNegative(errors, "spec.successfulJobsHistoryLimit", spec["successfulJobsHistoryLimit"]);
  CheckNotNegative(errors, "spec.failedJobsHistoryLimit", spec["failedJobsHistoryLimit"]);
  if (old == nullptr && NameOf(object).size() > kMaxCronJobName) {
    errors.push_back(InvalidError("metadata.name", NameOf(object), "must be no more than 52 characters"));
  }
  return errors;
}

Errors ValidateAutoscaler(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  const Value& min = spec["minReplicas"];
  const int64_t max = spec["maxReplicas"].int_or(0);
  if (min.int_or(1) < 1) errors.push_back(InvalidError("spec.minReplicas", min, "must be greater than or equal to 1"));
  if (max < 1) errors.push_back(InvalidError("spec.maxReplicas", max, "must be greater than 0"));
  if (min.is_int() && max < min.int_or(0)) {
    errors.push_back(InvalidError("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"));
  }
  CheckReference(errors, "spec.scaleTargetRef", spec["scaleTargetRef"], old == nullptr);
  bool scales_to_zero = false;
  const Value& metrics = spec["metrics"];
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string path = IndexPath("spec.metrics", i);
    CheckMetric(errors, path, metrics[i]);
    const std::string_view type = metrics[i]["type"].str();
    scales_to_zero = scales_to_zero || type == "Object" || type == "External";
  }
  if (min.is_int() && min.int_or(1) == 0 && !scales_to_zero) {
    errors.push_back(ForbiddenError(
        "spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas"));
  }
  return errors;
}

Errors ValidateDisruptionBudget(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& spec = object["spec"];
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null()) {
    errors.push_back(InvalidTextError(
        "spec",
        StrCat("{\"MinAvailable\":", spec["minAvailable"].ToString(), ",\"Selector\":", spec["selector"].ToString(),
               ",\"MaxUnavailable\":", spec["maxUnavailable"].ToString(),
               ",\"UnhealthyPodEvictionPolicy\":", spec["unhealthyPodEvictionPolicy"].ToString(), "}"),
        "minAvailable and maxUnavailable cannot be both set"));
  }
  for (std::string_view count : {"minAvailable", "maxUnavailable"}) {
    CheckCountOrPercent(errors, ChildPath("spec", count), spec[count]);
    CheckAtMostAll(errors, ChildPath("spec", count), spec[count]);
  }
  CheckLabelSelector(errors, "spec.selector", spec["selector"]);
  CheckEnum(errors, "spec.unhealthyPodEvictionPolicy", spec["unhealthyPodEvictionPolicy"],
            {"AlwaysAllow", "IfHealthyBudget"});
  return errors;
}

}  // namespace baton::api::builtin
