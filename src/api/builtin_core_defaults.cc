// Defaults of the other kinds: services and networking, configuration, storage classes, access, webhooks.
#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr int64_t kClientIpSeconds = 10800;
constexpr int64_t kWebhookSeconds = 10;
constexpr int64_t kHttpsPort = 443;
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

void DefaultServicePort(Value& port) {
  DefaultText(port, "protocol", "TCP");
  const Value& target = port["targetPort"];
  if (IsUnset(target) || target.int_or(1) == 0) port.Set("targetPort", port["port"].int_or(0));
}

bool IsExternallyAccessible(const Value& spec) {
  const std::string_view type = spec["type"].str();
  return type == "LoadBalancer" || type == "NodePort" || (type == "ClusterIP" && !spec["externalIPs"].empty());
}

void DefaultSessionAffinity(Value& spec) {
  DefaultText(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"].str() == "None") spec.Erase("sessionAffinityConfig");
  if (spec["sessionAffinity"].str() != "ClientIP") return;
  if (!spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].is_null()) return;
  spec.Set("sessionAffinityConfig", json::Object({{"clientIP", json::Object({{"timeoutSeconds", kClientIpSeconds}})}}));
}

void DefaultWebhook(Value& webhook) {
  DefaultTo(webhook, "failurePolicy", "Fail");
  DefaultTo(webhook, "matchPolicy", "Equivalent");
  DefaultTo(webhook, "namespaceSelector", json::Object());
  DefaultTo(webhook, "objectSelector", json::Object());
  DefaultTo(webhook, "timeoutSeconds", kWebhookSeconds);
  EditEach(webhook, "rules", [](Value& rule) { DefaultTo(rule, "scope", "*"); });
  if (Value* client = EditObject(webhook, "clientConfig")) {
    if (Value* service = EditObjectIfThere(*client, "service")) DefaultTo(*service, "port", kHttpsPort);
  }
}

void DefaultFrom(Value& target, const Value& source) {
  for (const json::Member& member : source.members()) {
    if (!target.Has(member.key())) target.Set(member.key(), member.value());
  }
}

}  // namespace

void DefaultService(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultSessionAffinity(*spec);
  DefaultText(*spec, "type", "ClusterIP");
  EditEach(*spec, "ports", DefaultServicePort);
  if (IsExternallyAccessible(*spec)) DefaultText(*spec, "externalTrafficPolicy", "Cluster");
  const std::string type((*spec)["type"].str());
  if (type == "NodePort" || type == "LoadBalancer" || type == "ClusterIP") {
    DefaultTo(*spec, "internalTrafficPolicy", "Cluster");
  }
  if (type != "LoadBalancer") return;
  DefaultTo(*spec, "allocateLoadBalancerNodePorts", true);
  Value* status = EditObjectIfThere(object, "status");
  Value* balancer = status == nullptr ? nullptr : EditObjectIfThere(*status, "loadBalancer");
  if (balancer == nullptr) return;
  EditEach(*balancer, "ingress", [](Value& ingress) {
    if (!IsUnset(ingress["ip"])) DefaultTo(ingress, "ipMode", "VIP");
  });
}

void DefaultEndpoints(Value& object) {
  EditEach(object, "subsets",
           [](Value& subset) { EditEach(subset, "ports", [](Value& port) { DefaultText(port, "protocol", "TCP"); }); });
}

void DefaultEndpointSlice(Value& object) {
  EditEach(object, "ports", [](Value& port) {
    DefaultTo(port, "name", "");
    DefaultTo(port, "protocol", "TCP");
  });
  EditEach(object, "endpoints", [](Value& endpoint) { DefaultTo(endpoint, "conditions", json::Object()); });
  for (std::string_view list : {"endpoints", "ports"}) {  // both are always shown, and as null when there are none
    if (object.is_object() && object[list].empty()) object.Set(list, nullptr);
  }
}

void DefaultNetworkPolicy(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "podSelector", json::Object());
  if ((*spec)["policyTypes"].empty()) {
    Value types = json::Array({"Ingress"});
    if (!(*spec)["egress"].empty()) types.Push("Egress");
    spec->Set("policyTypes", std::move(types));
  }
  for (std::string_view rules : {"ingress", "egress"}) {
    EditEach(*spec, rules,
             [](Value& rule) { EditEach(rule, "ports", [](Value& port) { DefaultTo(port, "protocol", "TCP"); }); });
  }
}

void DefaultIngressClass(Value& object) {
  Value* spec = EditObject(object, "spec");
  Value* parameters = spec == nullptr ? nullptr : EditObjectIfThere(*spec, "parameters");
  if (parameters != nullptr) DefaultTo(*parameters, "scope", "Cluster");
}

void DefaultSecret(Value& object) { DefaultText(object, "type", "Opaque"); }

void DefaultNamespace(Value& object) {
  const std::string name = NameOf(object);
  Value* metadata = name.empty() ? nullptr : EditObjectIfThere(object, "metadata");
  Value* labels = metadata == nullptr ? nullptr : EditObject(*metadata, "labels");
  if (labels != nullptr) labels->Set("kubernetes.io/metadata.name", name);
  DefaultTo(object, "spec", json::Object());
  if (Value* status = EditObject(object, "status")) DefaultText(*status, "phase", "Active");
}

void DefaultNode(Value& object) {
  if (Value* spec = EditObject(object, "spec")) {  // one range has two names
    const Value range = (*spec)["podCIDR"];
    if (!IsUnset(range)) DefaultTo(*spec, "podCIDRs", json::Array({range}));
  }
  Value* status = EditObject(object, "status");
  if (status == nullptr) return;
  DefaultResourceList(*status, "capacity");
  DefaultResourceList(*status, "allocatable");
  if ((*status)["allocatable"].is_null() && (*status)["capacity"].is_object()) {
    const Value capacity = (*status)["capacity"];
    status->Set("allocatable", capacity);
  }
  if (Value* endpoints = EditObject(*status, "daemonEndpoints")) {
    if (Value* kubelet = EditObject(*endpoints, "kubeletEndpoint")) DefaultTo(*kubelet, "Port", 0);
  }
  if (Value* info = EditObject(*status, "nodeInfo")) {
    for (std::string_view field :
         {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion",
          "kubeProxyVersion", "operatingSystem", "architecture"}) {
      DefaultTo(*info, field, "");
    }
  }
}

void DefaultLimitRange(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  EditEach(*spec, "limits", [](Value& item) {
    for (std::string_view list : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
      DefaultResourceList(item, list);
    }
    if (item["type"].str() != "Container") return;
    Value limits = item["default"].is_object() ? item["default"] : json::Object();
    DefaultFrom(limits, item["max"]);
    Value requests = item["defaultRequest"].is_object() ? item["defaultRequest"] : json::Object();
    DefaultFrom(requests, limits);
    DefaultFrom(requests, item["min"]);
    if (!limits.empty()) item.Set("default", std::move(limits));
    if (!requests.empty()) item.Set("defaultRequest", std::move(requests));
  });
}

void DefaultResourceQuota(Value& object) {
  if (Value* spec = EditObject(object, "spec")) DefaultResourceList(*spec, "hard");
  if (Value* status = EditObjectIfThere(object, "status")) {
    DefaultResourceList(*status, "hard");
    DefaultResourceList(*status, "used");
  }
}

void DefaultEvent(Value& object) {
  if (!object.is_object()) return;
  for (std::string_view time : {"eventTime", "firstTimestamp", "lastTimestamp"}) DefaultTo(object, time, nullptr);
  DefaultTo(object, "involvedObject", json::Object());
  DefaultTo(object, "source", json::Object());
  DefaultTo(object, "reportingComponent", "");
  DefaultTo(object, "reportingInstance", "");
}

void DefaultStorageClass(Value& object) {
  DefaultTo(object, "reclaimPolicy", "Delete");
  DefaultTo(object, "volumeBindingMode", "Immediate");
}

void DefaultCsiDriver(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "attachRequired", true);
  DefaultTo(*spec, "podInfoOnMount", false);
  DefaultTo(*spec, "storageCapacity", false);
  DefaultTo(*spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if ((*spec)["volumeLifecycleModes"].empty()) spec->Set("volumeLifecycleModes", json::Array({"Persistent"}));
  DefaultTo(*spec, "requiresRepublish", false);
  DefaultTo(*spec, "seLinuxMount", false);
}

void DefaultRole(Value& object) { DefaultTo(object, "rules", nullptr); }

void DefaultRoleBinding(Value& object) {
  if (Value* role = EditObject(object, "roleRef")) DefaultText(*role, "apiGroup", kRbacGroup);
  EditEach(object, "subjects", [](Value& subject) {
    const std::string_view kind = subject["kind"].str();
    if (kind == "User" || kind == "Group") DefaultText(subject, "apiGroup", kRbacGroup);
  });
}

void DefaultValidatingWebhooks(Value& object) { EditEach(object, "webhooks", DefaultWebhook); }

void DefaultMutatingWebhooks(Value& object) {
  EditEach(object, "webhooks", [](Value& webhook) {
    DefaultWebhook(webhook);
    DefaultTo(webhook, "reinvocationPolicy", "Never");
  });
}

void DefaultPriorityClass(Value& object) {
  DefaultTo(object, "preemptionPolicy", "PreemptLowerPriority");
  DefaultTo(object, "value", 0);
}

void DefaultCustomResourceDefinition(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  if (Value* names = EditObject(*spec, "names")) {
    const std::string kind((*names)["kind"].str());
    DefaultText(*names, "singular", ToLower(kind));
    if (!kind.empty()) DefaultText(*names, "listKind", StrCat(kind, "List"));
  }
  Value* conversion = EditObject(*spec, "conversion");
  if (conversion == nullptr) return;
  DefaultText(*conversion, "strategy", "None");
  Value* webhook = EditObjectIfThere(*conversion, "webhook");
  Value* client = webhook == nullptr ? nullptr : EditObjectIfThere(*webhook, "clientConfig");
  Value* service = client == nullptr ? nullptr : EditObjectIfThere(*client, "service");
  if (service != nullptr) DefaultTo(*service, "port", kHttpsPort);
}

}  // namespace baton::api::builtin
