// Pod templates, as Karmada reads them.
#include "interpret/pod.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Quantity;
using json::Value;

// Amounts by resource name: cpu in thousandths, everything else in units.
using Amounts = std::map<std::string, int64_t, std::less<>>;

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

// Resources beyond the four known ones that the scheduler counts.
bool IsScalar(std::string_view name) {
  return IsHugePages(name) || name.starts_with("attachable-volumes-") ||
         (name.find('/') != std::string_view::npos && !name.starts_with("requests."));
}

bool IsCounted(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods" || IsScalar(name);
}

Result<Amounts> ReadList(const Value& list) {
  Amounts amounts;
  for (const json::Member& member : list.members()) {
    if (!IsCounted(member.key())) continue;
    const Quantity quantity = TRY(Quantity::FromJson(member.value()).Context(member.key()));
    amounts[std::string(member.key())] =
        TRY((member.key() == "cpu" ? quantity.MilliValue() : quantity.Value()).Context(member.key()));
  }
  return amounts;
}

// Requests, with limits where a request is missing.
Result<Amounts> RequestsOf(const Value& container) {
  const Value& resources = container["resources"];
  Amounts amounts = TRY(ReadList(resources["requests"]));
  amounts.merge(TRY(ReadList(resources["limits"])));
  return amounts;
}

Value ResourceList(const Amounts& amounts) {
  Value list = json::Object();
  for (const auto& [name, amount] : amounts) {
    if (amount <= 0) continue;
    const bool binary = name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
    const Quantity quantity =
        name == "cpu" ? Quantity::FromMilli(amount)
                      : Quantity::FromInt(amount, binary ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi);
    list.Set(name, quantity.ToJson());
  }
  return list.empty() ? Value() : list;
}

Value NodeClaim(const Value& spec) {
  Value claim = json::Object();
  const Value& affinity = At(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (affinity.is_object()) claim.Set("hardNodeAffinity", affinity);
  if (spec["nodeSelector"].is_object()) claim.Set("nodeSelector", spec["nodeSelector"]);
  if (!spec["tolerations"].empty()) claim.Set("tolerations", spec["tolerations"]);
  return claim.empty() ? Value() : claim;
}

struct Named {
  std::set<std::string, std::less<>> config_maps;
  std::set<std::string, std::less<>> secrets;
  std::set<std::string, std::less<>> claims;
};

void Add(std::set<std::string, std::less<>>& names, const Value& name) {
  if (!name.str().empty()) names.emplace(name.str());
}

void FromContainer(const Value& container, Named& named) {
  for (const Value& source : container["envFrom"].items()) {
    Add(named.config_maps, At(source, {"configMapRef", "name"}));
    Add(named.secrets, At(source, {"secretRef", "name"}));
  }
  for (const Value& variable : container["env"].items()) {
    Add(named.config_maps, At(variable, {"valueFrom", "configMapKeyRef", "name"}));
    Add(named.secrets, At(variable, {"valueFrom", "secretKeyRef", "name"}));
  }
}

void FromVolume(const Value& volume, Named& named) {
  constexpr std::array<std::string_view, 7> kWithSecretRef = {"cephfs",  "cinder", "flexVolume", "rbd",
                                                              "scaleIO", "iscsi",  "storageos"};
  for (const std::string_view type : kWithSecretRef) Add(named.secrets, At(volume, {type, "secretRef", "name"}));
  Add(named.secrets, At(volume, {"azureFile", "secretName"}));
  Add(named.secrets, At(volume, {"secret", "secretName"}));
  Add(named.secrets, At(volume, {"csi", "nodePublishSecretRef", "name"}));
  Add(named.config_maps, At(volume, {"configMap", "name"}));
  Add(named.claims, At(volume, {"persistentVolumeClaim", "claimName"}));
  for (const Value& source : At(volume, {"projected", "sources"}).items()) {
    Add(named.config_maps, At(source, {"configMap", "name"}));
    Add(named.secrets, At(source, {"secret", "name"}));
  }
}

}  // namespace

Result<Value> PodRequirements(const Value& pod_template) {
  const Value& spec = pod_template["spec"];
  Amounts total;
  for (const Value& container : spec["containers"].items()) {
    for (const auto& [name, amount] : TRY(RequestsOf(container))) total[name] = SaturatingAdd(total[name], amount);
  }
  for (const Value& container : spec["initContainers"].items()) {
    for (const auto& [name, amount] : TRY(RequestsOf(container))) total[name] = std::max(total[name], amount);
  }
  for (const auto& [name, amount] : TRY(ReadList(spec["overhead"]))) total[name] = SaturatingAdd(total[name], amount);

  Value requirements = json::Object();
  if (Value claim = NodeClaim(spec); !claim.is_null()) requirements.Set("nodeClaim", std::move(claim));
  if (Value request = ResourceList(total); !request.is_null()) requirements.Set("resourceRequest", std::move(request));
  if (requirements.empty()) return Value();
  if (!spec["priorityClassName"].str().empty()) requirements.Set("priorityClassName", spec["priorityClassName"]);
  return requirements;
}

Value Reference(std::string_view api_version, std::string_view kind, std::string_view name_space,
                std::string_view name) {
  Value reference = json::Object({{"apiVersion", api_version}, {"kind", kind}});
  if (!name_space.empty()) reference.Set("namespace", name_space);
  if (!name.empty()) reference.Set("name", name);
  return reference;
}

std::vector<Value> PodDependencies(const Value& pod_template, std::string_view name_space) {
  const Value& spec = pod_template["spec"];
  Named named;
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Value& container : spec[list].items()) FromContainer(container, named);
  }
  for (const Value& volume : spec["volumes"].items()) FromVolume(volume, named);
  for (const Value& secret : spec["imagePullSecrets"].items()) Add(named.secrets, secret["name"]);

  std::vector<Value> references;
  const auto add = [&](std::string_view kind, const auto& names) {
    for (const auto& name : names) references.push_back(Reference("v1", kind, name_space, name));
  };
  add("ConfigMap", named.config_maps);
  add("Secret", named.secrets);
  const std::string_view account = spec["serviceAccountName"].str();
  if (!account.empty() && account != "default")
    references.push_back(Reference("v1", "ServiceAccount", name_space, account));
  add("PersistentVolumeClaim", named.claims);
  return references;
}

}  // namespace baton::interpret
