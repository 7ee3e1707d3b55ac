// Flux and Kyverno.
#include <string>

#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/thirdparty.h"

namespace baton::interpret {

namespace {

using json::Value;

// A Flux object that fetches or applies something. `references` are the paths of the names of its Secrets.
Handlers FluxKind(std::vector<std::string_view> fields, std::vector<FieldFold> folds,
                  std::vector<std::string_view> reasons, std::vector<std::string_view> secrets) {
  fields.insert(fields.end(), {"conditions", "observedGeneration"});
  folds.push_back({"conditions", Fold::kConditions});
  Handlers handlers = MakeHandlers({.retain = {"spec.suspend"},  // whoever suspends it in the member means it
                                    .reflect = std::move(fields),
                                    .aggregate = std::move(folds),
                                    .generations = true,
                                    .health = IsReadyFor(std::move(reasons))});
  handlers.dependencies = [secrets = std::move(secrets)](const Value& object) -> Result<std::vector<Value>> {
    const std::string_view name_space = At(object, {"metadata", "namespace"}).str();
    std::vector<Value> references;
    const auto add = [&](std::string_view kind, const Value& name) {
      if (!name.str().empty()) references.push_back(Reference("v1", kind, name_space, name.str()));
    };
    for (const std::string_view path : secrets) add("Secret", AtDotted(object, path));
    add("ServiceAccount", At(object, {"spec", "serviceAccountName"}));
    for (const Value& values : At(object, {"spec", "valuesFrom"}).items()) {
      const std::string_view kind = values["kind"].str();
      if (kind == "Secret" || kind == "ConfigMap") add(kind, values["name"]);
    }
    return references;
  };
  return handlers;
}

Result<bool> IsPolicyReady(const Value& observed) {
  const Value& ready = At(observed, {"status", "ready"});
  if (ready.is_bool()) return ready.bool_or(false);
  return IsReadyFor({"Succeeded"})(observed);
}

}  // namespace

void AddFlux(HandlerTable& table) {
  const std::vector<FieldFold> artifact_and_url = {{"artifact", Fold::kLast}, {"url", Fold::kLast}};
  table[{"kustomize.toolkit.fluxcd.io/v1", "Kustomization"}] =
      FluxKind({"lastAppliedRevision", "lastAttemptedRevision"},
               {{"lastAppliedRevision", Fold::kLast}, {"lastAttemptedRevision", Fold::kLast}},
               {"ReconciliationSucceeded"}, {"spec.decryption.secretRef.name", "spec.kubeConfig.secretRef.name"});
  table[{"helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"}] = FluxKind(
      {"failures", "helmChart", "installFailures", "lastAppliedRevision", "lastAttemptedRevision",
       "lastAttemptedValuesChecksum", "lastReleaseRevision", "upgradeFailures"},
      {{"failures"},
       {"installFailures"},
       {"upgradeFailures"},
       {"helmChart", Fold::kLast},
       {"lastAppliedRevision", Fold::kLast},
       {"lastAttemptedRevision", Fold::kLast},
       {"lastAttemptedValuesChecksum", Fold::kLast},
       {"lastReleaseRevision", Fold::kLast}},
      {"ReconciliationSucceeded"}, {"spec.chart.spec.verify.secretRef.name", "spec.kubeConfig.secretRef.name"});
  table[{"source.toolkit.fluxcd.io/v1", "GitRepository"}] =
      FluxKind({"artifact", "observedIgnore", "observedRecurseSubmodules"}, {{"artifact", Fold::kLast}}, {"Succeeded"},
               {"spec.secretRef.name", "spec.verify.secretRef.name"});
  table[{"source.toolkit.fluxcd.io/v1beta2", "Bucket"}] =
      FluxKind({"artifact", "observedIgnore", "url"}, artifact_and_url, {"Succeeded"}, {"spec.secretRef.name"});
  table[{"source.toolkit.fluxcd.io/v1beta2", "HelmChart"}] =
      FluxKind({"artifact", "observedChartName", "observedSourceArtifactRevision", "url"},
               {{"artifact", Fold::kLast},
                {"url", Fold::kLast},
                {"observedChartName", Fold::kLast},
                {"observedSourceArtifactRevision", Fold::kLast}},
               {"Succeeded", "ChartPullSucceeded"}, {"spec.verify.secretRef.name"});
  table[{"source.toolkit.fluxcd.io/v1beta2", "HelmRepository"}] =
      FluxKind({"artifact", "url"}, artifact_and_url, {"Succeeded"}, {"spec.secretRef.name"});
  table[{"source.toolkit.fluxcd.io/v1beta2", "OCIRepository"}] =
      FluxKind({"artifact", "observedIgnore", "observedLayerSelector", "url"}, artifact_and_url, {"Succeeded"},
               {"spec.secretRef.name", "spec.certSecretRef.name", "spec.verify.secretRef.name"});

  const Handlers policy = MakeHandlers({.reflect = {"autogen", "conditions", "ready", "rulecount"},
                                        .aggregate = {{"autogen", Fold::kLast},
                                                      {"ready", Fold::kAll},
                                                      {"rulecount", Fold::kSumTree},
                                                      {"conditions", Fold::kConditions}},
                                        .health = IsPolicyReady});
  table[{"kyverno.io/v1", "Policy"}] = policy;
  table[{"kyverno.io/v1", "ClusterPolicy"}] = policy;
}

}  // namespace baton::interpret
