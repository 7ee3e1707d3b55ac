// Rules for configuration and bookkeeping: config maps, secrets, quotas, limits, leases, events, priorities, nodes.
#include <algorithm>
#include <iterator>
#include <set>

#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

constexpr size_t kMaxDataBytes = size_t{1} << 20;  // of all values of one config map or secret
constexpr size_t kMaxEventText = 128;              // reason, action, reporting instance
constexpr size_t kMaxEventMessage = 1024;
constexpr int64_t kMaxUserPriority = 1'000'000'000;
constexpr std::string_view kQuotaScopes[] = {"Terminating",          "NotTerminating", "BestEffort",
                                             "NotBestEffort",        "PriorityClass",  "CrossNamespacePodAffinity",
                                             "VolumeAttributesClass"};
constexpr std::string_view kFrozen = "field is immutable when `immutable` is set";

size_t DecodedSize(std::string_view base64) {
  size_t padding = 0;
  while (padding < 2 && padding < base64.size() && base64[base64.size() - 1 - padding] == '=') ++padding;
  return base64.size() / 4 * 3 - std::min(padding, base64.size() / 4 * 3);
}

// "" also for what is no base64: the schema's format says so elsewhere.
std::string Decode(std::string_view base64) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  size_t count = 0;
  for (char c : base64) {
    if (c == '=') break;
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return "";
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

void CheckKeys(Errors& errors, std::string_view field, const Value& data) {
  for (const json::Member& member : data.members()) {
    AddInvalid(errors, KeyPath(field, member.key()), member.key(), json::CheckConfigMapKey(member.key()));
  }
}

void CheckFrozen(Errors& errors, const Value& object, const Value* old,
                 std::initializer_list<std::string_view> fields) {
  if (old == nullptr || !(*old)["immutable"].bool_or(false)) return;
  if (!object["immutable"].bool_or(false)) errors.push_back(ForbiddenError("immutable", kFrozen));
  for (std::string_view field : fields) {
    const bool both_empty = object[field].empty() && (*old)[field].empty();
    if (object[field] != (*old)[field] && !both_empty) errors.push_back(ForbiddenError(std::string(field), kFrozen));
  }
}

void CheckDockerConfig(Errors& errors, const Value& data, std::string_view key) {
  const std::string field = KeyPath("data", key);
  if (!data.Has(key)) {
    errors.push_back(RequiredError(field, ""));
    return;
  }
  Result<Value> config = json::Parse(Decode(data[key].str()));
  if (!config.ok() || !(config->is_object() || config->is_null())) {
    errors.push_back(InvalidError(field, "<secret contents redacted>",
                                  config.ok() ? "must be a JSON object" : config.error().message()));
  }
}

void CheckSecretType(Errors& errors, const Value& secret) {
  const std::string_view type = secret["type"].str();
  const Value& data = secret["data"];
  const auto require = [&](std::string_view key) {
    if (!data.Has(key)) errors.push_back(RequiredError(KeyPath("data", key), ""));
  };
  if (type == "kubernetes.io/service-account-token") {
    static constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
    if (IsUnset(secret["metadata"]["annotations"][kAccount])) {
      errors.push_back(RequiredError(KeyPath("metadata.annotations", kAccount), ""));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    CheckDockerConfig(errors, data, ".dockercfg");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    CheckDockerConfig(errors, data, ".dockerconfigjson");
  } else if (type == "kubernetes.io/basic-auth") {
    if (data.Has("username") || data.Has("password")) return;
    require("username");
    require("password");
  } else if (type == "kubernetes.io/ssh-auth") {
    if (IsUnset(data["ssh-privatekey"])) errors.push_back(RequiredError(KeyPath("data", "ssh-privatekey"), ""));
  } else if (type == "kubernetes.io/tls") {
    require("tls.crt");
    require("tls.key");
  }
}

// The first of two quantities is above the second.
bool IsAbove(const Value& a, const Value& b) {
  Result<json::Quantity> left = json::Quantity::FromJson(a);
  Result<json::Quantity> right = json::Quantity::FromJson(b);
  return !a.is_null() && !b.is_null() && left.ok() && right.ok() && *left > *right;
}

Value WithoutDefaults(Value item) {
  item.Erase("default");
  item.Erase("defaultRequest");
  return item;
}

void CheckLimitOrder(Errors& errors, const std::string& path, const Value& item, std::string_view key) {
  const Value& min = item["min"][key];
  const Value& max = item["max"][key];
  const Value& request = item["defaultRequest"][key];
  const Value& limit = item["default"][key];
  const auto add = [&](std::string_view list, const Value& shown, std::string_view a_name, const Value& a,
                       std::string_view b_name, const Value& b) {
    if (!IsAbove(a, b)) return;
    errors.push_back(InvalidError(
        KeyPath(ChildPath(path, list), key), QuantityText(shown),
        StrCat(a_name, " value ", QuantityText(a), " is greater than ", b_name, " value ", QuantityText(b))));
  };
  add("min", min, "min", min, "max", max);
  add("defaultRequest", request, "min", min, "default request", request);
  add("defaultRequest", request, "default request", request, "max", max);
  add("defaultRequest", request, "default request", request, "default limit", limit);
  add("default", min, "min", min, "default", limit);
  add("default", max, "default", limit, "max", max);
}

void CheckEventText(Errors& errors, const Value& event, std::string_view key, size_t max, bool required) {
  const std::string_view text = event[key].str();
  if (required && text.empty()) errors.push_back(RequiredError(std::string(key), ""));
  if (text.size() > max) {
    errors.push_back(InvalidError(std::string(key), "", StrCat("can have at most ", max, " characters")));
  }
}

}  // namespace

Errors ValidateConfigMap(const Value& object, const Value* old) {
  Errors errors;
  CheckFrozen(errors, object, old, {"data", "binaryData"});
  size_t total = 0;
  CheckKeys(errors, "data", object["data"]);
  for (const json::Member& member : object["data"].members()) {
    if (object["binaryData"].Has(member.key())) {
      errors.push_back(
          InvalidError(KeyPath("data", member.key()), member.key(), "duplicate of key present in binaryData"));
    }
    total += member.value().str().size();
  }
  CheckKeys(errors, "binaryData", object["binaryData"]);
  for (const json::Member& member : object["binaryData"].members()) total += DecodedSize(member.value().str());
  if (total > kMaxDataBytes) {
    errors.push_back(TooLongError("", kMaxDataBytes));
    errors.back().field = "";
  }
  return errors;
}

Errors ValidateSecret(const Value& object, const Value* old) {
  Errors errors;
  if (old != nullptr) CheckImmutable(errors, "type", object["type"], (*old)["type"]);
  CheckFrozen(errors, object, old, {"data"});
  size_t total = 0;
  CheckKeys(errors, "data", object["data"]);
  for (const json::Member& member : object["data"].members()) total += DecodedSize(member.value().str());
  if (total > kMaxDataBytes) errors.push_back(TooLongError("data", kMaxDataBytes));
  CheckSecretType(errors, object);
  return errors;
}

Errors ValidateResourceQuota(const Value& object, const Value* old) {
  Errors errors;
  CheckResourceList(errors, "spec.hard", object["spec"]["hard"]);
  for (const json::Member& amount : object["spec"]["hard"].members()) {
    const std::string_view name = amount.key();
    const bool counted = name.find('.') == std::string_view::npos || name.starts_with("services.");
    Result<json::Quantity> quantity = json::Quantity::FromJson(amount.value());
    const bool divisible = name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "storage";
    if (counted && !divisible && IsQuotaResource(name) && quantity.ok() && quantity->ToString().ends_with('m')) {
      errors.push_back(InvalidError(KeyPath("spec.hard", name), quantity->ToString(), "must be an integer"));
    }
    if (name.find('/') != std::string_view::npos || IsQuotaResource(name)) continue;
    errors.push_back(InvalidError(KeyPath("spec.hard", name), name, "must be a standard resource for quota"));
  }
  const Value& scopes = object["spec"]["scopes"];
  for (const Value& scope : scopes.items()) {
    if (std::ranges::find(kQuotaScopes, scope.str()) == std::end(kQuotaScopes)) {
      errors.push_back(InvalidError("spec.scopes", scopes, "unsupported scope"));
    }
  }
  if (old != nullptr) {
    CheckImmutable(errors, "spec.scopes", object["spec"]["scopes"], (*old)["spec"]["scopes"]);
  }
  return errors;
}

Errors ValidateLimitRange(const Value& object, const Value* /*old*/) {
  Errors errors;
  std::set<std::string, std::less<>> types;
  const Value& limits = object["spec"]["limits"];
  for (size_t i = 0; i < limits.size(); ++i) {
    const Value& item = limits[i];
    const std::string path = IndexPath("spec.limits", i);
    const std::string_view type = item["type"].str();
    const json::Messages wrong = json::CheckQualifiedName(type);
    AddInvalid(errors, ChildPath(path, "type"), type, wrong);
    if (wrong.empty() && type.find('/') == std::string_view::npos && type != "Pod" && type != "Container" &&
        type != "PersistentVolumeClaim") {
      errors.push_back(InvalidError(ChildPath(path, "type"), type, "must be a standard limit type or fully qualified"));
    }
    if (!types.emplace(type).second) errors.push_back(DuplicateError(ChildPath(path, "type"), type));
    std::set<std::string, std::less<>> keys;
    for (std::string_view list : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
      if (type == "Pod" && list.starts_with("default")) {
        if (!item[list].empty()) {
          errors.push_back(ForbiddenError(ChildPath(path, list), "may not be specified when `type` is 'Pod'"));
        }
        continue;
      }
      CheckResourceList(errors, ChildPath(path, list), item[list]);
      for (const json::Member& member : item[list].members()) keys.emplace(member.key());
    }
    if (type == "PersistentVolumeClaim" && item["min"]["storage"].is_null() && item["max"]["storage"].is_null()) {
      errors.push_back(RequiredError(ChildPath(path, "limits"),
                                     "either minimum or maximum storage value is required, but neither was provided"));
    }
    for (const std::string& key : keys)
      CheckLimitOrder(errors, path, type == "Pod" ? WithoutDefaults(item) : item, key);
  }
  return errors;
}

Errors ValidateLease(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& spec = object["spec"];
  if (spec["leaseDurationSeconds"].int_or(1) <= 0) {
    errors.push_back(InvalidError("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0"));
  }
  CheckNotNegative(errors, "spec.leaseTransitions", spec["leaseTransitions"]);
  return errors;
}

Errors ValidateEvent(const Value& object, const Value* /*old*/) {
  Errors errors;
  const std::string_view target = object["involvedObject"]["namespace"].str();
  const std::string_view own = object["metadata"]["namespace"].str();
  const bool old_style = object["eventTime"].is_null();
  const bool allowed = old_style ? (target.empty() ? own.empty() || own == "default" : own == target)
                                 : !target.empty() || own == "default" || own == "kube-system";
  if (!allowed) {
    errors.push_back(InvalidError("involvedObject.namespace", target, "does not match event.namespace"));
  }
  if (old_style) return errors;
  if (IsUnset(object["reportingComponent"])) errors.push_back(RequiredError("reportingComponent", ""));
  AddInvalid(errors, "reportingComponent", object["reportingComponent"],
             json::CheckQualifiedName(object["reportingComponent"].str()));
  CheckEventText(errors, object, "reportingInstance", kMaxEventText, true);
  CheckEventText(errors, object, "action", kMaxEventText, true);
  CheckEventText(errors, object, "reason", kMaxEventText, true);
  CheckEventText(errors, object, "message", kMaxEventMessage, false);
  return errors;
}

Errors ValidatePriorityClass(const Value& object, const Value* old) {
  Errors errors;
  if (old != nullptr) {
    if (object["value"] != (*old)["value"]) {
      errors.push_back(ForbiddenError("value", "may not be changed in an update."));
    }
    CheckImmutable(errors, "preemptionPolicy", object["preemptionPolicy"], (*old)["preemptionPolicy"]);
    return errors;
  }
  const std::string name = NameOf(object);
  if (name.starts_with("system-")) {
    if (name != "system-cluster-critical" && name != "system-node-critical") {
      errors.push_back(ForbiddenError(
          "metadata.name",
          StrCat("priority class names with 'system-' prefix are reserved for system use only. error: ", name,
                 " is not a known system priority class")));
    }
  } else if (object["value"].int_or(0) > kMaxUserPriority) {
    errors.push_back(
        ForbiddenError("value", StrCat("maximum allowed value of a user defined priority is ", kMaxUserPriority)));
  }
  CheckEnum(errors, "preemptionPolicy", object["preemptionPolicy"], {"PreemptLowerPriority", "Never"});
  return errors;
}

Errors ValidateNode(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& taints = object["spec"]["taints"];  // Kubernetes reports them as if they were in metadata
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string path = IndexPath("metadata.taints", i);
    AddInvalid(errors, ChildPath(path, "key"), taints[i]["key"], json::CheckQualifiedName(taints[i]["key"].str()));
    AddInvalid(errors, ChildPath(path, "value"), taints[i]["value"], json::CheckLabelValue(taints[i]["value"].str()));
    CheckEnum(errors, ChildPath(path, "effect"), taints[i]["effect"], {"NoSchedule", "PreferNoSchedule", "NoExecute"},
              true);
  }
  return errors;
}

}  // namespace baton::api::builtin
