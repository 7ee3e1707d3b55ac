// Rows of configuration, nodes, volumes, access and the rest.
#include <algorithm>
#include <set>

#include "api/builtin_behaviour.h"
#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/rfc3339.h"

namespace baton::api::builtin {
namespace {

constexpr std::string_view kOldStorageClass = "volume.beta.kubernetes.io/storage-class";

std::string NodeStatus(const Value& node) {
  std::string text = "Unknown";
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].str() == "Ready") text = condition["status"].str() == "True" ? "Ready" : "NotReady";
  }
  return node["spec"]["unschedulable"].bool_or(false) ? text + ",SchedulingDisabled" : text;
}

std::string NodeRoles(const Value& node) {
  static constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const json::Member& label : node["metadata"]["labels"].members()) {
    if (label.key().starts_with(kPrefix)) {
      if (label.key().size() > kPrefix.size()) roles.insert(label.key().substr(kPrefix.size()));
    } else if (label.key() == "kubernetes.io/role" && !IsUnset(label.value())) {
      roles.insert(label.value().str());
    }
  }
  std::string text;
  for (std::string_view role : roles) StrAppend(text, text.empty() ? "" : ",", role);
  return text.empty() ? "<none>" : text;
}

std::string NodeAddress(const Value& node, std::string_view type) {
  for (const Value& address : node["status"]["addresses"].items()) {
    if (address["type"].str() == type) return std::string(address["address"].str());
  }
  return "<none>";
}

// "RWO,ROX": each once, in this order.
std::string AccessModes(const Value& modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::string text;
  for (const auto& [mode, abbreviation] : kShort) {
    const bool there = std::ranges::any_of(modes.items(), [&](const Value& one) { return one.str() == mode; });
    if (there) StrAppend(text, text.empty() ? "" : ",", abbreviation);
  }
  return text;
}

std::string StorageClassOf(const Value& object) {
  const Value& old = object["metadata"]["annotations"][kOldStorageClass];
  return std::string(old.is_string() ? old.str() : object["spec"]["storageClassName"].str());
}

std::string PhaseOf(const Value& object) {
  const bool deleted = !IsUnset(object["metadata"]["deletionTimestamp"]);
  return deleted ? "Terminating" : std::string(object["status"]["phase"].str());
}

std::string MicroAgeOf(const Value& time, WallTime now) {
  Result<WallTime> then = json::ParseTime(time.str());  // accepts any fraction of a second
  return then.ok() ? HumanAge(*then, now) : "<unknown>";
}

std::string EventSource(const Value& event) {
  const std::string component = TextOr(event["source"]["component"], event["reportingComponent"].str());
  const std::string instance = TextOr(event["source"]["host"], event["reportingInstance"].str());
  return instance.empty() ? component : StrCat(component, ", ", instance);
}

std::string Subjects(const Value& binding, std::string_view kind) {
  std::string text;
  for (const Value& subject : binding["subjects"].items()) {
    if (subject["kind"].str() != kind) continue;
    StrAppend(text, text.empty() ? "" : ", ");
    if (kind == "ServiceAccount") StrAppend(text, subject["namespace"].str(), "/");
    StrAppend(text, subject["name"].str());
  }
  return text;
}

bool IsDefaultClass(const Value& object) {
  const Value& annotations = object["metadata"]["annotations"];
  return annotations["storageclass.kubernetes.io/is-default-class"].str() == "true" ||
         annotations["storageclass.beta.kubernetes.io/is-default-class"].str() == "true";
}

}  // namespace

Cells ConfigMapCells(const Value& object, WallTime now) {
  return {NameOf(object), object["data"].size() + object["binaryData"].size(), Age(object, now)};
}

Cells SecretCells(const Value& object, WallTime now) {
  return {NameOf(object), object["type"].str(), object["data"].size(), Age(object, now)};
}

Cells NamespaceCells(const Value& object, WallTime now) {
  return {NameOf(object), object["status"]["phase"].str(), Age(object, now)};
}

Cells NodeCells(const Value& object, WallTime now) {
  const Value& info = object["status"]["nodeInfo"];
  return {NameOf(object),
          NodeStatus(object),
          NodeRoles(object),
          Age(object, now),
          info["kubeletVersion"].str(),
          NodeAddress(object, "InternalIP"),
          NodeAddress(object, "ExternalIP"),
          TextOr(info["osImage"], "<unknown>"),
          TextOr(info["kernelVersion"], "<unknown>"),
          TextOr(info["containerRuntimeVersion"], "<unknown>")};
}

Cells PersistentVolumeCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& claim = spec["claimRef"];
  return {NameOf(object),
          QuantityText(spec["capacity"]["storage"]),
          AccessModes(spec["accessModes"]),
          spec["persistentVolumeReclaimPolicy"].str(),
          PhaseOf(object),
          claim.is_object() ? StrCat(claim["namespace"].str(), "/", claim["name"].str()) : "",
          StorageClassOf(object),
          spec["volumeAttributesClassName"].str_or("<unset>"),
          object["status"]["reason"].str(),
          Age(object, now),
          spec["volumeMode"].str_or("<unset>")};
}

Cells PersistentVolumeClaimCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  const bool bound = !IsUnset(spec["volumeName"]);
  return {NameOf(object),
          PhaseOf(object),
          spec["volumeName"].str(),
          bound ? QuantityText(status["capacity"]["storage"]) : "",
          bound ? AccessModes(status["accessModes"]) : "",
          StorageClassOf(object),
          spec["volumeAttributesClassName"].str_or("<unset>"),
          Age(object, now),
          spec["volumeMode"].str_or("<unset>")};
}

Cells StorageClassCells(const Value& object, WallTime now) {
  return {IsDefaultClass(object) ? NameOf(object) + " (default)" : NameOf(object),
          object["provisioner"].str(),
          object["reclaimPolicy"].str_or("Delete"),
          object["volumeBindingMode"].str_or("Immediate"),
          object["allowVolumeExpansion"].bool_or(false),
          Age(object, now)};
}

Cells CsiDriverCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  const Value& requests = spec["tokenRequests"];
  const std::string modes = JoinText(spec["volumeLifecycleModes"]);
  return {NameOf(object),
          spec["attachRequired"].bool_or(true),
          spec["podInfoOnMount"].bool_or(false),
          spec["storageCapacity"].bool_or(false),
          requests.is_null() ? "<unset>" : JoinField(requests, "audience"),
          spec["requiresRepublish"].bool_or(false),
          modes.empty() ? "<none>" : modes,
          Age(object, now)};
}

Cells VolumeAttachmentCells(const Value& object, WallTime now) {
  const Value& spec = object["spec"];
  return {NameOf(object),
          spec["attacher"].str(),
          spec["source"]["persistentVolumeName"].str(),
          spec["nodeName"].str(),
          object["status"]["attached"].bool_or(false),
          Age(object, now)};
}

Cells EventCells(const Value& object, WallTime now) {
  const Value& first_time = object["firstTimestamp"];
  const Value& last_time = object["lastTimestamp"];
  const Value& series = object["series"];
  const std::string first = first_time.is_null() ? MicroAgeOf(object["eventTime"], now) : AgeOf(first_time, now);
  std::string last = last_time.is_null() ? first : AgeOf(last_time, now);
  int64_t count = object["count"].int_or(0);
  if (series.is_object()) {
    last = MicroAgeOf(series["lastObservedTime"], now);
    count = series["count"].int_or(0);
  } else if (count == 0) {
    count = 1;
  }
  const Value& target = object["involvedObject"];
  const std::string name(target["name"].str());
  return {last,
          object["type"].str(),
          object["reason"].str(),
          StrCat(ToLower(target["kind"].str()), name.empty() ? "" : "/", name),
          target["fieldPath"].str(),
          EventSource(object),
          Trim(object["message"].str()),
          first,
          count,
          NameOf(object)};
}

Cells ResourceQuotaCells(const Value& object, WallTime now) {
  std::string requests;
  std::string limits;
  for (const json::Member& hard : object["status"]["hard"].members()) {
    std::string& text = hard.key().starts_with("limits.") ? limits : requests;
    StrAppend(text, text.empty() ? "" : ", ", hard.key(), ": ", QuantityText(object["status"]["used"][hard.key()]), "/",
              QuantityText(hard.value()));
  }
  return {NameOf(object), requests, limits, Age(object, now)};
}

Cells RoleBindingCells(const Value& object, WallTime now) {
  const Value& role = object["roleRef"];
  return {NameOf(object),
          StrCat(role["kind"].str(), "/", role["name"].str()),
          Age(object, now),
          Subjects(object, "User"),
          Subjects(object, "Group"),
          Subjects(object, "ServiceAccount")};
}

Cells LeaseCells(const Value& object, WallTime now) {
  return {NameOf(object), object["spec"]["holderIdentity"].str(), Age(object, now)};
}

Cells WebhooksCells(const Value& object, WallTime now) {
  return {NameOf(object), object["webhooks"].size(), Age(object, now)};
}

Cells PriorityClassCells(const Value& object, WallTime now) {
  return {NameOf(object), object["value"].int_or(0), object["globalDefault"].bool_or(false), Age(object, now),
          object["preemptionPolicy"].str()};
}

Cells RuntimeClassCells(const Value& object, WallTime now) {
  return {NameOf(object), object["handler"].str(), Age(object, now)};
}

Cells CreatedAtCells(const Value& object, WallTime /*now*/) {
  return {NameOf(object), object["metadata"]["creationTimestamp"].str()};
}

Cells NameAndAgeCells(const Value& object, WallTime now) { return {NameOf(object), Age(object, now)}; }

}  // namespace baton::api::builtin
