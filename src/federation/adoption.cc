// Templates and policies for what runs already.
#include "federation/adoption.h"

#include <utility>

#include "api/karmada_keys.h"
#include "base/strings.h"
#include "json/builder.h"
#include "kube/api.h"

namespace baton::federation {
namespace {

using json::Value;

// What the member's server and its controllers wrote, and nobody can apply.
constexpr std::string_view kServerFields[] = {"creationTimestamp",
                                              "deletionGracePeriodSeconds",
                                              "generateName",
                                              "generation",
                                              "managedFields",
                                              "ownerReferences",
                                              "resourceVersion",
                                              "selfLink",
                                              "uid",
                                              "finalizers"};
constexpr std::string_view kServerAnnotations[] = {
    "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
    "kubectl.kubernetes.io/last-applied-configuration", "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller"};

std::string Title(const Value& object) { return StrCat(kube::KindOf(object), " ", kube::Name::Of(object).Key()); }

}  // namespace

Result<Value> TemplateOf(const Value& live) {
  if (kube::KindOf(live).empty() || kube::NameOf(live).empty()) return InvalidError("not an object with kind and name");
  if (kube::IsDeleting(live)) return ConflictError(StrCat(Title(live), " is being deleted"));
  if (live["metadata"]["labels"][api::karmada::kManaged].str() == api::karmada::kTrue)
    return AlreadyExistsError(StrCat(Title(live), " is managed by a hub already"));
  for (const Value& owner : live["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].bool_or(false)) continue;
    return InvalidError(StrCat(Title(live), " is made by ", owner["kind"].str(), " ", owner["name"].str(),
                               ": adopt that, and it comes with it"));
  }
  Value object = live;
  object.Erase("status");
  Value& metadata = object.Edit("metadata");
  for (const std::string_view field : kServerFields) metadata.Erase(field);
  for (const std::string_view key : kServerAnnotations) {
    if (metadata["annotations"].Has(key)) metadata.Edit("annotations").Erase(key);
  }
  for (const std::string_view map : {"labels", "annotations"}) {
    if (metadata.Has(map) && metadata[map].empty()) metadata.Erase(map);
  }
  if (kube::KindOf(object) == "Service" && kube::ApiVersionOf(object) == "v1" &&
      object["spec"]["clusterIP"].str() != "None") {
    // The member keeps its own address; another cluster has others.
    object.Edit("spec").Erase("clusterIP");
    object.Edit("spec").Erase("clusterIPs");
  }
  return object;
}

Value AdoptionPolicy(std::string_view ns, std::string_view name, std::string_view cluster,
                     const std::vector<Value>& templates) {
  Value selectors = json::Array();
  for (const Value& one : templates) {
    Value selector = json::Object(
        {{"apiVersion", kube::ApiVersionOf(one)}, {"kind", kube::KindOf(one)}, {"name", kube::NameOf(one)}});
    if (!kube::NamespaceOf(one).empty()) selector.Set("namespace", kube::NamespaceOf(one));
    selectors.Push(std::move(selector));
  }
  Value metadata = json::Object(
      {{"name", name}, {"annotations", json::Object({{std::string(kAdoptedFrom), std::string(cluster)}})}});
  if (!ns.empty()) metadata.Set("namespace", ns);
  return json::Object(
      {{"apiVersion", "policy.karmada.io/v1alpha1"},
       {"kind", ns.empty() ? "ClusterPropagationPolicy" : "PropagationPolicy"},
       {"metadata", std::move(metadata)},
       {"spec",
        json::Object({{"conflictResolution", "Overwrite"},
                      {"preserveResourcesOnDeletion", true},
                      {"resourceSelectors", std::move(selectors)},
                      {"placement", json::Object({{"clusterAffinity",
                                                   json::Object({{"clusterNames", json::Array({cluster})}})}})}})}});
}

Result<void> CheckRollback(const Value& policy) {
  const std::string title = StrCat(kube::KindOf(policy), " ", kube::Name::Of(policy).Key());
  if (policy["metadata"]["annotations"][kAdoptedFrom].str().empty())
    return InvalidError(StrCat(title, " was not made by `baton adopt`: deleting its templates may be meant otherwise"));
  if (!policy["spec"]["preserveResourcesOnDeletion"].bool_or(false)) {
    return ConflictError(StrCat(title,
                                " does not preserve what is in the members any more: to go back now would delete "
                                "it there. Set spec.preserveResourcesOnDeletion: true first"));
  }
  for (const Value& selector : policy["spec"]["resourceSelectors"].items()) {
    if (selector["name"].str().empty())
      return ConflictError(StrCat(title, " selects more than what was adopted: ", selector.ToString()));
  }
  return {};
}

}  // namespace baton::federation
