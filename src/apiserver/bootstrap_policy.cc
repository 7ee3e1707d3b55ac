// The roles and bindings of a new cluster: those of Kubernetes v1.35 for people and workloads. Roles of nodes, of
// Kubernetes' own controllers and of its scheduler are left out, because none of them run here.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/rbac.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::apiserver {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr Words kRead = {"get", "list", "watch"};
constexpr Words kWrite = {"create", "delete", "deletecollection", "patch", "update"};
constexpr Words kReadWrite = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};

// Sorted, as Kubernetes stores them.
json::Value Sorted(Words words) {
  std::vector<std::string_view> sorted(words);
  std::ranges::sort(sorted);
  json::ArrayBuilder array;
  for (const std::string_view word : sorted) array.Add(word);
  return std::move(array).Build();
}

json::Value Rule(Words verbs, Words groups, Words resources) {
  return json::Object({{"apiGroups", Sorted(groups)}, {"resources", Sorted(resources)}, {"verbs", Sorted(verbs)}});
}

json::Value PathRule(Words verbs, Words paths) {
  return json::Object({{"nonResourceURLs", Sorted(paths)}, {"verbs", Sorted(verbs)}});
}

json::Value Named(std::string_view kind, std::string_view name) {
  return json::Object(
      {{"apiVersion", StrCat(kRbacGroup, "/v1")},
       {"kind", kind},
       {"metadata", json::Object({{"name", name},
                                  {"labels", json::Object({{"kubernetes.io/bootstrapping", "rbac-defaults"}})},
                                  {"annotations", json::Object({{"rbac.authorization.kubernetes.io/"
                                                                 "autoupdate",
                                                                 "true"}})}})}});
}

std::string AggregateLabel(std::string_view role) { return StrCat(kRbacGroup, "/aggregate-to-", role); }

// `part_of`: the aggregating role that takes this one in, or "".
json::Value ClusterRole(std::string_view name, std::string_view part_of, json::Value rules) {
  json::Value role = Named("ClusterRole", name);
  if (!part_of.empty()) role.Edit("metadata").Edit("labels").Set(AggregateLabel(part_of), "true");
  role.Set("rules", std::move(rules));
  return role;
}

json::Value AggregatingRole(std::string_view name, std::string_view part_of) {
  json::Value role = ClusterRole(name, part_of, json::Array());
  const json::Value selector = json::Object({{"matchLabels", json::Object({{AggregateLabel(name), "true"}})}});
  role.Set("aggregationRule", json::Object({{"clusterRoleSelectors", json::Array({selector})}}));
  return role;
}

json::Value Binding(std::string_view role, Words groups) {
  json::Value binding = Named("ClusterRoleBinding", role);
  binding.Set("roleRef", json::Object({{"apiGroup", kRbacGroup}, {"kind", "ClusterRole"}, {"name", role}}));
  for (const std::string_view group : groups)
    binding.Edit("subjects").Push(json::Object({{"apiGroup", kRbacGroup}, {"kind", "Group"}, {"name", group}}));
  return binding;
}

json::Value ViewRules() {
  return json::Array({
      Rule(kRead, {""},
           {"pods", "replicationcontrollers", "replicationcontrollers/scale", "serviceaccounts", "services",
            "services/status", "endpoints", "persistentvolumeclaims", "persistentvolumeclaims/status", "configmaps"}),
      Rule(kRead, {""},
           {"limitranges", "resourcequotas", "bindings", "pods/status", "resourcequotas/status", "namespaces/status",
            "replicationcontrollers/status", "pods/log"}),
      Rule(kRead, {""}, {"namespaces"}),
      Rule(kRead, {"", "events.k8s.io"}, {"events"}),
      Rule(kRead, {"discovery.k8s.io"}, {"endpointslices"}),
      Rule(kRead, {"apps"},
           {"controllerrevisions", "statefulsets", "statefulsets/status", "statefulsets/scale", "daemonsets",
            "daemonsets/status", "deployments", "deployments/status", "deployments/scale", "replicasets",
            "replicasets/status", "replicasets/scale"}),
      Rule(kRead, {"autoscaling"}, {"horizontalpodautoscalers", "horizontalpodautoscalers/status"}),
      Rule(kRead, {"batch"}, {"jobs", "cronjobs", "cronjobs/status", "jobs/status"}),
      Rule(kRead, {"extensions"},
           {"daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status", "ingresses",
            "ingresses/status", "replicasets", "replicasets/scale", "replicasets/status",
            "replicationcontrollers/scale", "networkpolicies"}),
      Rule(kRead, {"policy"}, {"poddisruptionbudgets", "poddisruptionbudgets/status"}),
      Rule(kRead, {"networking.k8s.io"}, {"networkpolicies", "ingresses", "ingresses/status"}),
      Rule(kRead, {"resource.k8s.io"}, {"resourceclaims", "resourceclaims/status", "resourceclaimtemplates"}),
  });
}

json::Value EditRules() {
  return json::Array({
      Rule(kRead, {""}, {"pods/attach", "pods/proxy", "pods/exec", "pods/portforward", "secrets", "services/proxy"}),
      Rule({"impersonate"}, {""}, {"serviceaccounts"}),
      Rule(kWrite, {""}, {"pods", "pods/attach", "pods/proxy", "pods/exec", "pods/portforward"}),
      Rule({"create"}, {""}, {"pods/eviction"}),
      Rule(kWrite, {""},
           {"replicationcontrollers", "replicationcontrollers/scale", "serviceaccounts", "services", "services/proxy",
            "persistentvolumeclaims", "configmaps", "secrets"}),
      Rule({"create"}, {""}, {"serviceaccounts/token"}),
      Rule(kWrite, {"", "events.k8s.io"}, {"events"}),
      Rule(kWrite, {"apps"},
           {"statefulsets", "statefulsets/scale", "daemonsets", "deployments", "deployments/scale",
            "deployments/rollback", "replicasets", "replicasets/scale"}),
      Rule(kWrite, {"autoscaling"}, {"horizontalpodautoscalers"}),
      Rule(kWrite, {"batch"}, {"jobs", "cronjobs"}),
      Rule(kWrite, {"extensions"},
           {"daemonsets", "deployments", "deployments/scale", "deployments/rollback", "ingresses", "replicasets",
            "replicasets/scale", "replicationcontrollers/scale", "networkpolicies"}),
      Rule(kWrite, {"policy"}, {"poddisruptionbudgets"}),
      Rule(kWrite, {"networking.k8s.io"}, {"networkpolicies", "ingresses"}),
      Rule(kReadWrite, {"coordination.k8s.io"}, {"leases"}),
      Rule(kWrite, {"resource.k8s.io"}, {"resourceclaims", "resourceclaimtemplates"}),
  });
}

// Roles for people: who has one in a namespace has it through a RoleBinding there.
void AddUserRoles(std::vector<json::Value>& policy) {
  policy.push_back(ClusterRole("cluster-admin", "", json::Array({Rule({"*"}, {"*"}, {"*"}), PathRule({"*"}, {"*"})})));
  policy.push_back(AggregatingRole("admin", ""));
  policy.push_back(AggregatingRole("edit", "admin"));
  policy.push_back(AggregatingRole("view", "edit"));
  policy.push_back(ClusterRole("system:aggregate-to-admin", "admin",
                               json::Array({Rule({"create"}, {"authorization.k8s.io"}, {"localsubjectaccessreviews"}),
                                            Rule(kReadWrite, {kRbacGroup}, {"roles", "rolebindings"})})));
  policy.push_back(ClusterRole("system:aggregate-to-edit", "edit", EditRules()));
  policy.push_back(ClusterRole("system:aggregate-to-view", "view", ViewRules()));
}

void AddSystemRoles(std::vector<json::Value>& policy) {
  policy.push_back(ClusterRole(
      "system:basic-user", "",
      json::Array({Rule({"create"}, {"authorization.k8s.io"}, {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
                   Rule({"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"})})));
  policy.push_back(
      ClusterRole("system:discovery", "",
                  json::Array({PathRule({"get"}, {"/livez", "/readyz", "/healthz", "/version", "/version/", "/openapi",
                                                  "/openapi/*", "/api", "/api/*", "/apis", "/apis/*"})})));
  policy.push_back(
      ClusterRole("system:public-info-viewer", "",
                  json::Array({PathRule({"get"}, {"/livez", "/readyz", "/healthz", "/version", "/version/"})})));
  policy.push_back(ClusterRole("system:monitoring", "",
                               json::Array({PathRule({"get"}, {"/metrics", "/metrics/slis", "/livez", "/readyz",
                                                               "/healthz", "/livez/*", "/readyz/*", "/healthz/*"}),
                                            Rule({"get"}, {""}, {"nodes/metrics"})})));
  policy.push_back(ClusterRole("system:auth-delegator", "",
                               json::Array({Rule({"create"}, {"authentication.k8s.io"}, {"tokenreviews"}),
                                            Rule({"create"}, {"authorization.k8s.io"}, {"subjectaccessreviews"})})));
  policy.push_back(ClusterRole(
      "system:service-account-issuer-discovery", "",
      json::Array({PathRule({"get"}, {"/.well-known/openid-configuration", "/.well-known/openid-configuration/",
                                      "/openid/v1/jwks", "/openid/v1/jwks/"})})));
}

}  // namespace

std::vector<json::Value> BootstrapPolicy() {
  std::vector<json::Value> policy;
  AddUserRoles(policy);
  AddSystemRoles(policy);
  policy.push_back(Binding("cluster-admin", {kMastersGroup}));
  policy.push_back(Binding("system:monitoring", {"system:monitoring"}));
  policy.push_back(Binding("system:discovery", {kAuthenticatedGroup}));
  policy.push_back(Binding("system:basic-user", {kAuthenticatedGroup}));
  policy.push_back(Binding("system:public-info-viewer", {kAuthenticatedGroup, kUnauthenticatedGroup}));
  policy.push_back(Binding("system:service-account-issuer-discovery", {"system:serviceaccounts"}));
  return policy;
}

}  // namespace baton::apiserver
