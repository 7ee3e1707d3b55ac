// Rules for apps/v1 and replication controllers: selectors that match and never change, strategies, what an update may
// touch.
#include "api/builtin_count.h"
#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/selector.h"

namespace baton::api::builtin {
namespace {

constexpr std::string_view kNoMatch = "`selector` does not match template `labels`";

// Present, well formed, not empty. `kind` as Kubernetes says it in its message.
void CheckSelector(Errors& errors, const Value& selector, std::string_view kind) {
  if (selector.is_null()) {
    errors.push_back(RequiredError("spec.selector", ""));
    return;
  }
  CheckLabelSelector(errors, "spec.selector", selector);
  if (selector["matchLabels"].empty() && selector["matchExpressions"].empty()) {
    errors.push_back(InvalidSelectorError("spec.selector", selector, StrCat("empty selector is invalid for ", kind)));
  }
}

// True when the selector is one, that is: the template may be looked at.
bool CheckMatch(Errors& errors, const Value& spec, bool empty_matches) {
  Result<json::LabelSelector> selector = json::LabelSelector::FromObject(spec["selector"]);
  if (!selector.ok()) return false;
  if (empty_matches && selector->selects_everything()) return true;
  if (!selector->Matches(spec["template"]["metadata"]["labels"])) {
    const Value& labels = spec["template"]["metadata"]["labels"];
    errors.push_back(InvalidTextError("spec.template.metadata.labels", labels.ToString(), kNoMatch));
  }
  return true;
}

void CheckAlwaysRunning(Errors& errors, const Value& spec, std::string_view kind) {
  const Value& pod = spec["template"]["spec"];
  if (pod["restartPolicy"].str() != "Always") {
    const Value always[] = {"Always"};
    errors.push_back(NotSupportedError("spec.template.spec.restartPolicy", pod["restartPolicy"].str(), always));
  }
  if (!pod["activeDeadlineSeconds"].is_null()) {
    errors.push_back(ForbiddenError("spec.template.spec.activeDeadlineSeconds",
                                    StrCat("activeDeadlineSeconds in ", kind, " is not Supported")));
  }
}

void CheckReplicatedTemplate(Errors& errors, const Value& spec) {
  if (!CheckMatch(errors, spec, true)) {
    errors.push_back(InvalidSelectorError("spec.selector", spec["selector"], "invalid label selector"));
    return;
  }
  CheckPodTemplate(errors, "spec.template", spec["template"]);
  CheckAlwaysRunning(errors, spec, "ReplicaSet");
}

std::string StrategyText(const Value& strategy) {
  return StrCat("{\"Type\":", Quote(strategy["type"].str()),
                ",\"RollingUpdate\":", strategy["rollingUpdate"].ToString(), "}");
}

FieldError UnknownStrategy(std::string field, const Value& strategy, std::string_view supported) {
  FieldError error = NotSupportedError(std::move(field), nullptr, {});
  error.message = StrCat("Unsupported value: ", StrategyText(strategy), ": supported values: ", supported);
  return error;
}

void CheckDeploymentStrategy(Errors& errors, const Value& strategy) {
  const std::string_view type = strategy["type"].str();
  const Value& rolling = strategy["rollingUpdate"];
  if (type == "Recreate") {
    if (!rolling.is_null()) {
      errors.push_back(
          ForbiddenError("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (type == "RollingUpdate") {
    const std::string field = "spec.strategy.rollingUpdate";
    CheckCountOrPercent(errors, field + ".maxUnavailable", rolling["maxUnavailable"]);
    CheckCountOrPercent(errors, field + ".maxSurge", rolling["maxSurge"]);
    if (IsZeroCount(rolling["maxUnavailable"]) && IsZeroCount(rolling["maxSurge"])) {
      errors.push_back(
          InvalidError(field + ".maxUnavailable", rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0"));
    }
    CheckAtMostAll(errors, field + ".maxUnavailable", rolling["maxUnavailable"]);
  } else {
    errors.push_back(UnknownStrategy("spec.strategy", strategy, "\"Recreate\", \"RollingUpdate\""));
  }
}

void CheckDaemonStrategy(Errors& errors, const Value& strategy) {
  const std::string_view type = strategy["type"].str();
  const Value& rolling = strategy["rollingUpdate"];
  if (type == "OnDelete") return;
  if (type != "RollingUpdate") {
    errors.push_back(UnknownStrategy("spec.updateStrategy", strategy, "\"RollingUpdate\", \"OnDelete\""));
    return;
  }
  const std::string field = "spec.updateStrategy.rollingUpdate";
  for (std::string_view count : {"maxUnavailable", "maxSurge"}) {
    CheckCountOrPercent(errors, ChildPath(field, count), rolling[count]);
  }
  for (std::string_view count : {"maxUnavailable", "maxSurge"}) {
    CheckAtMostAll(errors, ChildPath(field, count), rolling[count]);
  }
  const bool unavailable = !IsZeroCount(rolling["maxUnavailable"]);
  const bool surge = !IsZeroCount(rolling["maxSurge"]);
  if (unavailable && surge) {
    errors.push_back(
        InvalidError(field + ".maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero"));
  } else if (!unavailable && !surge) {
    errors.push_back(RequiredError(field + ".maxUnavailable", "cannot be 0 when maxSurge is 0"));
  }
}

void CheckStatefulStrategy(Errors& errors, const Value& strategy) {
  const std::string_view type = strategy["type"].str();
  const Value& rolling = strategy["rollingUpdate"];
  const std::string field = "spec.updateStrategy";
  if (type == "OnDelete") {
    if (!rolling.is_null()) {
      errors.push_back(InvalidTextError(field + ".rollingUpdate",
                                        StrCat("{\"Partition\":", rolling["partition"].ToString(),
                                               ",\"MaxUnavailable\":", rolling["maxUnavailable"].ToString(), "}"),
                                        "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (type == "RollingUpdate") {
    CheckNotNegative(errors, field + ".rollingUpdate.partition", rolling["partition"]);
    CheckCountOrPercent(errors, field + ".rollingUpdate.maxUnavailable", rolling["maxUnavailable"]);
    if (rolling.is_object() && !rolling["maxUnavailable"].is_null() && IsZeroCount(rolling["maxUnavailable"])) {
      errors.push_back(InvalidError(field + ".rollingUpdate.maxUnavailable", rolling["maxUnavailable"], "cannot be 0"));
    }
    CheckAtMostAll(errors, field + ".rollingUpdate.maxUnavailable", rolling["maxUnavailable"]);
  } else {
    errors.push_back(InvalidTextError(field, StrategyText(strategy), "must be 'RollingUpdate' or 'OnDelete'"));
  }
}

// The claims become volumes of the pod, and the set gives it its host name.
Value TemplateWithClaims(const Value& spec) {
  Value object = spec["template"];
  if (!object["spec"].is_object()) return object;
  Value& pod = object.Edit("spec");
  pod.Erase("subdomain");
  pod.Erase("hostname");
  for (const Value& claim : spec["volumeClaimTemplates"].items()) {
    const std::string name(claim["metadata"]["name"].str());
    bool there = false;
    for (const Value& volume : pod["volumes"].items()) there = there || volume["name"].str() == name;
    if (!there && (pod["volumes"].is_array() || pod["volumes"].is_null())) {
      pod.Edit("volumes").Push(json::Object({{"name", name}, {"emptyDir", json::Object()}}));
    }
  }
  return object;
}

// Everything but these is fixed once the set is there.
constexpr std::string_view kStatefulMutable[] = {"replicas",
                                                 "ordinals",
                                                 "template",
                                                 "updateStrategy",
                                                 "revisionHistoryLimit",
                                                 "persistentVolumeClaimRetentionPolicy",
                                                 "minReadySeconds"};

Value FixedPart(Value spec) {
  for (std::string_view field : kStatefulMutable) spec.Erase(field);
  return spec;
}

}  // namespace

Errors ValidateDeployment(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckNotNegative(errors, "spec.replicas", spec["replicas"]);
  CheckSelector(errors, spec["selector"], "deployment");
  CheckReplicatedTemplate(errors, spec);
  CheckDeploymentStrategy(errors, spec["strategy"]);
  CheckNotNegative(errors, "spec.minReadySeconds", spec["minReadySeconds"]);
  CheckNotNegative(errors, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"]);
  if (const Value& deadline = spec["progressDeadlineSeconds"]; deadline.is_int()) {
    CheckNotNegative(errors, "spec.progressDeadlineSeconds", deadline);
    if (deadline.int_or(0) <= spec["minReadySeconds"].int_or(0)) {
      errors.push_back(InvalidError("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
    }
  }
  if (old != nullptr) CheckImmutable(errors, "spec.selector", spec["selector"], (*old)["spec"]["selector"]);
  return errors;
}

Errors ValidateReplicaSet(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckNotNegative(errors, "spec.replicas", spec["replicas"]);
  CheckNotNegative(errors, "spec.minReadySeconds", spec["minReadySeconds"]);
  CheckSelector(errors, spec["selector"], "deployment");
  CheckReplicatedTemplate(errors, spec);
  if (old != nullptr) CheckImmutable(errors, "spec.selector", spec["selector"], (*old)["spec"]["selector"]);
  return errors;
}

Errors ValidateReplicationController(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckNotNegative(errors, "spec.minReadySeconds", spec["minReadySeconds"]);
  if (spec["selector"].empty()) errors.push_back(RequiredError("spec.selector", ""));
  CheckNotNegative(errors, "spec.replicas", spec["replicas"]);
  if (!spec["template"].is_object()) {
    errors.push_back(RequiredError("spec.template", ""));
    return errors;
  }
  const Value& labels = spec["template"]["metadata"]["labels"];
  for (const json::Member& label : spec["selector"].members()) {
    if (labels[label.key()] == label.value()) continue;
    errors.push_back(InvalidError("spec.template.metadata.labels", labels.is_null() ? json::Object() : labels,
                                  "`selector` does not match template `labels`"));
    break;
  }
  CheckPodTemplate(errors, "spec.template", spec["template"]);
  CheckAlwaysRunning(errors, spec, "ReplicationController");
  return errors;
}

Errors ValidateDaemonSet(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  if (old != nullptr) CheckImmutable(errors, "spec.selector", spec["selector"], (*old)["spec"]["selector"]);
  CheckLabelSelector(errors, "spec.selector", spec["selector"]);
  CheckMatch(errors, spec, false);
  if (spec["selector"].is_object() && spec["selector"]["matchLabels"].empty() &&
      spec["selector"]["matchExpressions"].empty()) {
    errors.push_back(InvalidError("spec.selector", spec["selector"], "empty selector is invalid for daemonset"));
  }
  CheckPodTemplate(errors, "spec.template", spec["template"]);
  CheckAlwaysRunning(errors, spec, "DaemonSet");
  CheckNotNegative(errors, "spec.minReadySeconds", spec["minReadySeconds"]);
  CheckDaemonStrategy(errors, spec["updateStrategy"]);
  CheckNotNegative(errors, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"]);
  return errors;
}

Errors ValidateStatefulSet(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  if (const Value& policy = spec["podManagementPolicy"]; policy.str() != "OrderedReady" && policy.str() != "Parallel") {
    errors.push_back(InvalidError("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  CheckStatefulStrategy(errors, spec["updateStrategy"]);
  for (std::string_view when : {"whenDeleted", "whenScaled"}) {
    CheckEnum(errors, ChildPath("spec.persistentVolumeClaimRetentionPolicy", when),
              spec["persistentVolumeClaimRetentionPolicy"][when], {"Retain", "Delete"});
  }
  CheckNotNegative(errors, "spec.replicas", spec["replicas"]);
  CheckNotNegative(errors, "spec.minReadySeconds", spec["minReadySeconds"]);
  CheckNotNegative(errors, "spec.ordinals.start", spec["ordinals"]["start"]);
  if (old == nullptr && !IsUnset(spec["serviceName"])) {
    AddInvalid(errors, "spec.serviceName", spec["serviceName"], json::CheckDns1123Label(spec["serviceName"].str()));
  }
  CheckSelector(errors, spec["selector"], "statefulset");
  const Value& claims = spec["volumeClaimTemplates"];
  for (size_t i = 0; old == nullptr && i < claims.size(); ++i) {
    CheckClaimSpec(errors, ChildPath(IndexPath("spec.volumeClaimTemplates", i), "spec"), claims[i]["spec"]);
  }
  if (CheckMatch(errors, spec, true)) {
    CheckTemplateMetadata(errors, "spec.template", spec["template"]["metadata"]);  // twice, as Kubernetes does
    CheckPodTemplate(errors, "spec.template", TemplateWithClaims(spec));
  } else {
    errors.push_back(InvalidSelectorError("spec.selector", spec["selector"], ""));
  }
  CheckAlwaysRunning(errors, spec, "StatefulSet");
  if (old != nullptr && FixedPart(spec) != FixedPart((*old)["spec"])) {
    errors.push_back(ForbiddenError(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
  }
  return errors;
}

Errors ValidateControllerRevision(const Value& object, const Value* old) {
  Errors errors;
  CheckNotNegative(errors, "revision", object["revision"]);
  if (old != nullptr) {
    CheckImmutable(errors, "data", object["data"], (*old)["data"]);
  } else if (!object["data"].is_object()) {
    errors.push_back(
        RequiredError("data", object["data"].is_null() ? "data is mandatory" : "data must be a valid JSON object"));
  }
  return errors;
}

}  // namespace baton::api::builtin
