// Defaults of pods and pod templates: what Kubernetes' core/v1 fills in, and what its typed objects always show.
#include "api/builtin_image.h"
#include "api/builtin_kinds.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

constexpr int64_t kGraceSeconds = 30;

void DefaultHttpGet(Value& handler) {
  if (Value* get = EditObjectIfThere(handler, "httpGet")) {
    DefaultText(*get, "path", "/");
    DefaultText(*get, "scheme", "HTTP");
  }
}

void DefaultProbe(Value& container, std::string_view key) {
  Value* probe = EditObjectIfThere(container, key);
  if (probe == nullptr) return;
  DefaultNumber(*probe, "timeoutSeconds", 1);
  DefaultNumber(*probe, "periodSeconds", 10);
  DefaultNumber(*probe, "successThreshold", 1);
  DefaultNumber(*probe, "failureThreshold", 3);
  DefaultHttpGet(*probe);
  if (Value* grpc = EditObjectIfThere(*probe, "grpc")) DefaultTo(*grpc, "service", "");
}

void DefaultEnvironment(Value& container) {
  EditEach(container, "env", [](Value& variable) {
    Value* source = EditObjectIfThere(variable, "valueFrom");
    if (source == nullptr) return;
    if (Value* field = EditObjectIfThere(*source, "fieldRef")) DefaultText(*field, "apiVersion", "v1");
    if (Value* resource = EditObjectIfThere(*source, "resourceFieldRef")) DefaultTo(*resource, "divisor", "0");
    if (Value* file = EditObjectIfThere(*source, "fileKeyRef")) DefaultTo(*file, "optional", false);
  });
}

void DefaultContainer(Value& container) {
  if (IsUnset(container["imagePullPolicy"])) {
    container.Set("imagePullPolicy", DefaultPullPolicy(container["image"].str()));
  }
  DefaultText(container, "terminationMessagePath", "/dev/termination-log");
  DefaultText(container, "terminationMessagePolicy", "File");
  DefaultEnvironment(container);
  EditEach(container, "ports", [](Value& port) { DefaultText(port, "protocol", "TCP"); });
  if (Value* resources = EditObject(container, "resources")) {
    DefaultResourceList(*resources, "limits");
    DefaultResourceList(*resources, "requests");
  }
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) DefaultProbe(container, probe);
  if (Value* lifecycle = EditObjectIfThere(container, "lifecycle")) {
    for (std::string_view hook : {"postStart", "preStop"}) {
      if (Value* handler = EditObjectIfThere(*lifecycle, hook)) DefaultHttpGet(*handler);
    }
  }
}

// A request that is not named is the limit.
void DefaultRequests(Value& container) {
  Value* resources = EditObjectIfThere(container, "resources");
  if (resources == nullptr || !(*resources)["limits"].is_object()) return;
  const Value limits = (*resources)["limits"];
  if (limits.empty()) return;
  Value* requests = EditObject(*resources, "requests");
  if (requests == nullptr) return;
  for (const json::Member& limit : limits.members()) {
    if (!requests->Has(limit.key())) requests->Set(limit.key(), limit.value());
  }
}

void DefaultHostPorts(Value& container) {
  EditEach(container, "ports", [](Value& port) {
    if (port["containerPort"].int_or(0) != 0) DefaultNumber(port, "hostPort", port["containerPort"].int_or(0));
  });
}

// The old name of the service account is written along with the new one.
void DefaultServiceAccount(Value& spec) {
  if (IsUnset(spec["serviceAccountName"])) {
    if (!IsUnset(spec["serviceAccount"])) spec.Set("serviceAccountName", spec["serviceAccount"]);
  } else {
    spec.Set("serviceAccount", spec["serviceAccountName"]);
  }
}

// Pod-level requests follow the limits. (Kubernetes sums up the containers' requests first, when they have any.)
void DefaultPodLevelRequests(Value& spec) {
  if (Value* resources = EditObjectIfThere(spec, "resources")) {
    DefaultResourceList(*resources, "limits");
    DefaultResourceList(*resources, "requests");
  }
}

}  // namespace

void DefaultResourceList(Value& owner, std::string_view key) {
  const Value before = owner[key];
  for (const json::Member& member : before.members()) {
    Result<json::Quantity> quantity = json::Quantity::FromJson(member.value());
    if (!quantity.ok()) continue;
    Result<int64_t> milli = quantity->MilliValue();
    const bool finer = milli.ok() && json::Quantity::FromMilli(*milli) != *quantity;
    const json::Quantity rounded = finer ? json::Quantity::FromMilli(*milli, quantity->format()) : *quantity;
    Value canonical = rounded.ToJson();
    if (canonical != member.value()) owner.Edit(key).Set(member.key(), std::move(canonical));
  }
}

void DefaultPodSpec(Value& spec) {
  if (!spec.is_object()) return;
  DefaultText(spec, "dnsPolicy", "ClusterFirst");
  DefaultText(spec, "restartPolicy", "Always");
  DefaultTo(spec, "securityContext", json::Object());
  DefaultTo(spec, "terminationGracePeriodSeconds", kGraceSeconds);
  DefaultText(spec, "schedulerName", "default-scheduler");
  DefaultServiceAccount(spec);
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    EditEach(spec, list, DefaultContainer);
  }
  EditEach(spec, "volumes", DefaultVolume);
  DefaultResourceList(spec, "overhead");
  DefaultPodLevelRequests(spec);
}

void DefaultPodTemplate(Value& owner, std::string_view key) {
  Value* object = EditObject(owner, key);
  if (object == nullptr) return;
  DefaultTo(*object, "metadata", json::Object());
  if (Value* spec = EditObject(*object, "spec")) DefaultPodSpec(*spec);
}

void DefaultPod(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultPodSpec(*spec);
  EditEach(*spec, "containers", DefaultRequests);
  EditEach(*spec, "initContainers", DefaultRequests);
  if (Value* resources = EditObjectIfThere(*spec, "resources"); resources != nullptr && !resources->empty()) {
    DefaultRequests(*spec);
  }
  DefaultTo(*spec, "enableServiceLinks", true);
  if ((*spec)["hostNetwork"].bool_or(false)) {
    EditEach(*spec, "containers", DefaultHostPorts);
    EditEach(*spec, "initContainers", DefaultHostPorts);
  }
}

void DefaultPodTemplateObject(Value& object) { DefaultPodTemplate(object); }

}  // namespace baton::api::builtin
