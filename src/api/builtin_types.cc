// The table of built-in kinds. Facts are Kubernetes 1.35's: names from its discovery documents, name rules and
// generations from its registry strategies.
#include "api/builtin_types.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/builtin_behaviour.h"
#include "api/builtin_discovery.h"
#include "api/builtin_texts.h"
#include "api/event_conversion.h"
#include "api/type_text.h"
#include "base/invariant.h"
#include "base/strings.h"

namespace baton::api {
namespace {

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

// What a kind has beside its names, as bits.
constexpr unsigned kCluster = 1;     // not namespaced
constexpr unsigned kStatus = 2;      // a status subresource
constexpr unsigned kGeneration = 4;  // counts generations
constexpr unsigned kScale = 8;       // a scale subresource, at the usual paths
constexpr unsigned kReview = 16;     // answered, not stored

constexpr std::string_view kAll = "all";
constexpr std::string_view kApiExtensions = "api-extensions";

struct Kind {
  std::string_view kind;
  std::string_view plural;
  std::string_view short_names;  // separated by spaces
  unsigned flags = 0;
  std::string_view category = {};
  NameRule name_rule = NameRule::kDnsSubdomain;
};

struct GroupVersion {
  std::string_view group;
  std::string_view version;
  std::string_view package;  // of its types
  std::span<const Kind> kinds;
};

constexpr auto kCore = std::to_array<Kind>({
    {"ConfigMap", "configmaps", "cm"},
    {"Endpoints", "endpoints", "ep"},
    {"Event", "events", "ev", 0, {}, NameRule::kPathSegment},  // only events.k8s.io looks at the name
    {"LimitRange", "limitranges", "limits"},
    {"Namespace", "namespaces", "ns", kCluster | kStatus, {}, NameRule::kDnsLabel},
    {"Node", "nodes", "no", kCluster | kStatus},
    {"PersistentVolumeClaim", "persistentvolumeclaims", "pvc", kStatus},
    {"PersistentVolume", "persistentvolumes", "pv", kCluster | kStatus},
    {"Pod", "pods", "po", kStatus | kGeneration, kAll},
    {"PodTemplate", "podtemplates", "", kGeneration},
    {"ReplicationController", "replicationcontrollers", "rc", kStatus | kGeneration | kScale, kAll},
    {"ResourceQuota", "resourcequotas", "quota", kStatus},
    {"Secret", "secrets", ""},
    {"ServiceAccount", "serviceaccounts", "sa"},
    {"Service", "services", "svc", kStatus, kAll, NameRule::kDns1035Label},
});

constexpr auto kAdmissionRegistration = std::to_array<Kind>({
    {"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "", kCluster | kGeneration, kApiExtensions},
    {"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "", kCluster | kGeneration, kApiExtensions},
});

constexpr auto kApiextensions = std::to_array<Kind>({
    {"CustomResourceDefinition", "customresourcedefinitions", "crd crds", kCluster | kStatus | kGeneration,
     kApiExtensions},
});

constexpr auto kApps = std::to_array<Kind>({
    {"ControllerRevision", "controllerrevisions", ""},
    {"DaemonSet", "daemonsets", "ds", kStatus | kGeneration, kAll},
    {"Deployment", "deployments", "deploy", kStatus | kGeneration | kScale, kAll},
    {"ReplicaSet", "replicasets", "rs", kStatus | kGeneration | kScale, kAll},
    {"StatefulSet", "statefulsets", "sts", kStatus | kGeneration | kScale, kAll, NameRule::kDnsLabel},
});

constexpr auto kAuthentication = std::to_array<Kind>({
    {"SelfSubjectReview", "selfsubjectreviews", "", kCluster | kReview},
    {"TokenReview", "tokenreviews", "", kCluster | kReview},
});

constexpr auto kAuthorization = std::to_array<Kind>({
    {"LocalSubjectAccessReview", "localsubjectaccessreviews", "", kReview},
    {"SelfSubjectAccessReview", "selfsubjectaccessreviews", "", kCluster | kReview},
    {"SelfSubjectRulesReview", "selfsubjectrulesreviews", "", kCluster | kReview},
    {"SubjectAccessReview", "subjectaccessreviews", "", kCluster | kReview},
});

constexpr auto kAutoscaling = std::to_array<Kind>({
    {"HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", kStatus, kAll},
});

constexpr auto kBatch = std::to_array<Kind>({
    {"CronJob", "cronjobs", "cj", kStatus | kGeneration, kAll},
    {"Job", "jobs", "", kStatus | kGeneration, kAll},
});

constexpr auto kCoordination = std::to_array<Kind>({{"Lease", "leases", ""}});

constexpr auto kDiscovery = std::to_array<Kind>({{"EndpointSlice", "endpointslices", "", kGeneration}});

constexpr auto kEvents = std::to_array<Kind>({{"Event", "events", "ev"}});

constexpr auto kNetworking = std::to_array<Kind>({
    {"IngressClass", "ingressclasses", "", kCluster | kGeneration},
    {"Ingress", "ingresses", "ing", kStatus | kGeneration},
    {"NetworkPolicy", "networkpolicies", "netpol", kGeneration},
});

constexpr auto kPolicy = std::to_array<Kind>({
    // Its strategy checks no name; what every object needs to have a path is all.
    {"PodDisruptionBudget", "poddisruptionbudgets", "pdb", kStatus | kGeneration, {}, NameRule::kPathSegment},
});

constexpr auto kRbac = std::to_array<Kind>({
    {"ClusterRoleBinding", "clusterrolebindings", "", kCluster, {}, NameRule::kPathSegment},
    {"ClusterRole", "clusterroles", "", kCluster, {}, NameRule::kPathSegment},
    {"RoleBinding", "rolebindings", "", 0, {}, NameRule::kPathSegment},
    {"Role", "roles", "", 0, {}, NameRule::kPathSegment},
});

constexpr auto kScheduling = std::to_array<Kind>({
    // Its generation is 1 and stays so: nothing that counts can change (value and preemptionPolicy are immutable).
    {"PriorityClass", "priorityclasses", "pc", kCluster | kGeneration},
});

constexpr auto kStorage = std::to_array<Kind>({{"StorageClass", "storageclasses", "sc", kCluster}});

constexpr auto kGroups = std::to_array<GroupVersion>({
    {"", "v1", "io.k8s.api.core.v1", kCore},
    {"admissionregistration.k8s.io", "v1", "io.k8s.api.admissionregistration.v1", kAdmissionRegistration},
    {"apiextensions.k8s.io", "v1", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1", kApiextensions},
    {"apps", "v1", "io.k8s.api.apps.v1", kApps},
    {"authentication.k8s.io", "v1", "io.k8s.api.authentication.v1", kAuthentication},
    {"authorization.k8s.io", "v1", "io.k8s.api.authorization.v1", kAuthorization},
    {"autoscaling", "v2", "io.k8s.api.autoscaling.v2", kAutoscaling},
    {"batch", "v1", "io.k8s.api.batch.v1", kBatch},
    {"coordination.k8s.io", "v1", "io.k8s.api.coordination.v1", kCoordination},
    {"discovery.k8s.io", "v1", "io.k8s.api.discovery.v1", kDiscovery},
    {"events.k8s.io", "v1", "io.k8s.api.events.v1", kEvents},
    {"networking.k8s.io", "v1", "io.k8s.api.networking.v1", kNetworking},
    {"policy", "v1", "io.k8s.api.policy.v1", kPolicy},
    {"rbac.authorization.k8s.io", "v1", "io.k8s.api.rbac.v1", kRbac},
    {"scheduling.k8s.io", "v1", "io.k8s.api.scheduling.v1", kScheduling},
    {"storage.k8s.io", "v1", "io.k8s.api.storage.v1", kStorage},
});

// Text of ours that does not parse is a broken build, so it may end the process.
const TypeTable& Table() {
  static const TypeTable* const table = [] {
    std::vector<TypeText> types;
    std::vector<TypeText> docs;
    for (const TypeText& text : BuiltinTexts()) {
      if (text.name.ends_with(".types")) types.push_back(text);
      if (text.name == "docs.txt") docs.push_back(text);
    }
    Result<TypeTable> parsed = TypeTable::Parse(types, docs);
    INVARIANT(parsed.ok(), parsed.error().ToString());
    return new TypeTable(*std::move(parsed));
  }();
  return *table;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// StatefulSets and their like select by labels; a ReplicationController's selector is a plain map, which the scale
// subresource shows all the same.
ScalePaths UsualScale() { return {".spec.replicas", ".status.replicas", ".spec.selector"}; }

ResourceTypePtr MakeType(const GroupVersion& group, const Kind& kind) {
  auto type = std::make_shared<ResourceType>();
  type->group = group.group;
  type->version = group.version;
  type->kind = kind.kind;
  type->list_kind = StrCat(kind.kind, "List");
  type->plural = kind.plural;
  type->singular = ToLower(kind.kind);
  type->short_names = Words(kind.short_names);
  type->categories = Words(kind.category);
  type->namespaced = (kind.flags & kCluster) == 0;
  type->name_rule = kind.name_rule;
  type->has_status = (kind.flags & kStatus) != 0;
  if ((kind.flags & kScale) != 0) type->scale = UsualScale();
  type->counts_generations = (kind.flags & kGeneration) != 0;
  type->stored = (kind.flags & kReview) == 0;
  type->schema = BuiltinSchema(StrCat(group.package, ".", kind.kind));
  INVARIANT(type->schema != nullptr, StrCat("no schema for ", type->GroupResource()));
  type->patch_schema = json::KubernetesPatchSchema(type->ApiVersion(), kind.kind);

  FillBuiltinDiscovery(*type);
  if (type->group == "events.k8s.io" && type->kind == "Event") {
    type->storage_group = "";
    type->to_storage = CoreEventFromEvent;
    type->from_storage = EventFromCoreEvent;
  }
  BuiltinBehaviour behaviour = BehaviourOf(group.group, kind.kind);
  type->columns = std::move(behaviour.columns);
  type->cells = behaviour.cells;
  type->default_fields = behaviour.default_fields;
  type->prepare = behaviour.prepare;
  type->validate = behaviour.validate;
  type->selectable_fields = std::move(behaviour.selectable_fields);
  return type;
}

}  // namespace

std::span<const ResourceTypePtr> BuiltinTypes() {
  static const std::vector<ResourceTypePtr>* const types = [] {
    auto* made = new std::vector<ResourceTypePtr>();
    for (const GroupVersion& group : kGroups) {
      for (const Kind& kind : group.kinds) made->push_back(MakeType(group, kind));
    }
    const auto key = [](const ResourceTypePtr& type) { return std::tie(type->group, type->version, type->plural); };
    std::ranges::sort(*made, {}, key);
    return made;
  }();
  return *types;
}

SchemaPtr BuiltinSchema(std::string_view name) { return Table().Find(name); }

SchemaPtr ObjectMetaSchema() { return BuiltinSchema(kObjectMeta); }

}  // namespace baton::api
