// Rules for roles, bindings and webhook configurations.
#include <algorithm>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api::builtin {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr int64_t kMaxWebhookSeconds = 30;

void CheckPolicyRule(Errors& errors, const std::string& field, const Value& rule, bool namespaced) {
  if (rule["verbs"].empty()) {
    errors.push_back(RequiredError(ChildPath(field, "verbs"), "verbs must contain at least one value"));
  }
  const Value& urls = rule["nonResourceURLs"];
  if (!urls.empty()) {
    const std::string path = ChildPath(field, "nonResourceURLs");
    if (namespaced) {
      errors.push_back(InvalidError(path, urls, "namespaced rules cannot apply to non-resource URLs"));
    }
    if (!rule["apiGroups"].empty() || !rule["resources"].empty() || !rule["resourceNames"].empty()) {
      errors.push_back(InvalidError(path, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return;
  }
  if (rule["apiGroups"].empty()) {
    errors.push_back(RequiredError(ChildPath(field, "apiGroups"), "resource rules must supply at least one api group"));
  }
  if (rule["resources"].empty()) {
    errors.push_back(RequiredError(ChildPath(field, "resources"), "resource rules must supply at least one resource"));
  }
}

void CheckRules(Errors& errors, const Value& rules, bool namespaced) {
  for (size_t i = 0; i < rules.size(); ++i) CheckPolicyRule(errors, IndexPath("rules", i), rules[i], namespaced);
}

void AddNotSupported(Errors& errors, const std::string& field, std::string_view value,
                     std::initializer_list<std::string_view> allowed) {
  const std::vector<Value> supported(allowed.begin(), allowed.end());
  errors.push_back(NotSupportedError(field, value, supported));
}

void CheckSubject(Errors& errors, const std::string& field, const Value& subject, bool namespaced) {
  const std::string_view kind = subject["kind"].str();
  const std::string_view group = subject["apiGroup"].str();
  const std::string_view name = subject["name"].str();
  if (name.empty()) errors.push_back(RequiredError(ChildPath(field, "name"), ""));
  if (kind == "ServiceAccount") {
    if (!name.empty()) AddInvalid(errors, ChildPath(field, "name"), name, json::CheckDns1123Subdomain(name));
    if (!group.empty()) AddNotSupported(errors, ChildPath(field, "apiGroup"), group, {""});
    if (!namespaced && IsUnset(subject["namespace"])) {
      errors.push_back(RequiredError(ChildPath(field, "namespace"), ""));
    }
  } else if (kind == "User" || kind == "Group") {
    if (group != kRbacGroup) AddNotSupported(errors, ChildPath(field, "apiGroup"), group, {kRbacGroup});
  } else {
    AddNotSupported(errors, ChildPath(field, "kind"), kind, {"ServiceAccount", "User", "Group"});
  }
}

Errors ValidateBinding(const Value& object, const Value* old, bool namespaced) {
  Errors errors;
  const Value& role = object["roleRef"];
  const std::string_view kind = role["kind"].str();
  if (role["apiGroup"].str() != kRbacGroup) {
    AddNotSupported(errors, "roleRef.apiGroup", role["apiGroup"].str(), {kRbacGroup});
  }
  if (namespaced && kind != "Role" && kind != "ClusterRole") {
    AddNotSupported(errors, "roleRef.kind", kind, {"Role", "ClusterRole"});
  }
  if (!namespaced && kind != "ClusterRole") AddNotSupported(errors, "roleRef.kind", kind, {"ClusterRole"});
  if (IsUnset(role["name"])) {
    errors.push_back(RequiredError("roleRef.name", ""));
  } else {
    AddInvalid(errors, "roleRef.name", role["name"], json::CheckPathSegmentName(role["name"].str()));
  }
  const Value& subjects = object["subjects"];
  for (size_t i = 0; i < subjects.size(); ++i) {
    CheckSubject(errors, IndexPath("subjects", i), subjects[i], namespaced);
  }
  if (old != nullptr && role != (*old)["roleRef"]) {
    errors.push_back(InvalidTextError("roleRef",
                                      StrCat("{\"APIGroup\":", Quote(role["apiGroup"].str()), ",\"Kind\":", Quote(kind),
                                             ",\"Name\":", Quote(role["name"].str()), "}"),
                                      "cannot change roleRef"));
  }
  return errors;
}

void CheckWebhookRule(Errors& errors, const std::string& field, const Value& rule) {
  const Value& operations = rule["operations"];
  if (operations.empty()) errors.push_back(RequiredError(ChildPath(field, "operations"), ""));
  const bool any = std::ranges::any_of(operations.items(), [](const Value& one) { return one.str() == "*"; });
  if (operations.size() > 1 && any) {
    errors.push_back(InvalidError(ChildPath(field, "operations"), operations,
                                  "if '*' is present, must not specify other operations"));
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    CheckEnum(errors, IndexPath(ChildPath(field, "operations"), i), operations[i],
              {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  }
  for (std::string_view list : {"apiGroups", "apiVersions", "resources"}) {
    if (rule[list].empty()) errors.push_back(RequiredError(ChildPath(field, list), ""));
  }
  for (const auto& [list, name] : {std::pair("apiGroups", "API groups"), std::pair("apiVersions", "API versions")}) {
    const bool all = std::ranges::any_of(rule[list].items(), [](const Value& one) { return one.str() == "*"; });
    if (!all || rule[list].size() < 2) continue;
    errors.push_back(
        InvalidError(ChildPath(field, list), rule[list], StrCat("if '*' is present, must not specify other ", name)));
  }
  CheckEnum(errors, ChildPath(field, "scope"), rule["scope"], {"*", "Cluster", "Namespaced"});
}

void CheckWebhookClient(Errors& errors, const std::string& field, const Value& client) {
  const Value& url = client["url"];
  const Value& service = client["service"];
  if (url.is_null() == service.is_null()) {
    errors.push_back(RequiredError(field, "exactly one of url or service is required"));
    return;
  }
  if (service.is_object()) {
    for (std::string_view key : {"name", "namespace"}) {
      if (IsUnset(service[key])) errors.push_back(RequiredError(ChildPath(ChildPath(field, "service"), key), ""));
    }
  } else if (!url.str().starts_with("https://")) {
    const size_t colon = url.str().find("://");
    const std::string_view scheme = colon == std::string_view::npos ? "" : url.str().substr(0, colon);
    errors.push_back(InvalidError(ChildPath(field, "url"), scheme,
                                  "'https' is the only allowed URL scheme; desired format: https://host[/path]"));
    if (scheme.empty()) {
      errors.push_back(
          InvalidError(ChildPath(field, "url"), "", "host must be specified; desired format: https://host[/path]"));
    }
  }
}

// A name of at least three labels.
void CheckFullName(Errors& errors, const std::string& field, const Value& name) {
  if (IsUnset(name)) {
    errors.push_back(RequiredError(field, ""));
    return;
  }
  const json::Messages wrong = json::CheckDns1123Subdomain(name.str());
  AddInvalid(errors, field, name, wrong);
  if (wrong.empty() && std::ranges::count(name.str(), '.') < 2) {
    errors.push_back(InvalidError(field, name, "should be a domain with at least three segments separated by dots"));
  }
}

void CheckWebhook(Errors& errors, const std::string& field, const Value& webhook) {
  CheckFullName(errors, ChildPath(field, "name"), webhook["name"]);
  const Value& rules = webhook["rules"];
  for (size_t i = 0; i < rules.size(); ++i) CheckWebhookRule(errors, IndexPath(ChildPath(field, "rules"), i), rules[i]);
  CheckEnum(errors, ChildPath(field, "failurePolicy"), webhook["failurePolicy"], {"Fail", "Ignore"});
  CheckEnum(errors, ChildPath(field, "matchPolicy"), webhook["matchPolicy"], {"Equivalent", "Exact"});
  if (webhook["sideEffects"].is_null()) {
    errors.push_back(RequiredError(ChildPath(field, "sideEffects"), "must specify one of None, NoneOnDryRun"));
  }
  CheckEnum(errors, ChildPath(field, "sideEffects"), webhook["sideEffects"], {"None", "NoneOnDryRun"});
  const int64_t seconds = webhook["timeoutSeconds"].int_or(1);
  if (seconds < 1 || seconds > kMaxWebhookSeconds) {
    errors.push_back(InvalidError(ChildPath(field, "timeoutSeconds"), seconds,
                                  "the timeout value must be between 1 and 30 seconds"));
  }
  CheckLabelSelector(errors, ChildPath(field, "namespaceSelector"), webhook["namespaceSelector"]);
  CheckLabelSelector(errors, ChildPath(field, "objectSelector"), webhook["objectSelector"]);
  CheckWebhookClient(errors, ChildPath(field, "clientConfig"), webhook["clientConfig"]);
  const Value& versions = webhook["admissionReviewVersions"];
  const bool known = std::ranges::any_of(
      versions.items(), [](const Value& version) { return version.str() == "v1" || version.str() == "v1beta1"; });
  if (versions.empty()) {
    errors.push_back(RequiredError(ChildPath(field, "admissionReviewVersions"), "must specify one of v1, v1beta1"));
  } else if (!known) {
    errors.push_back(InvalidError(ChildPath(field, "admissionReviewVersions"), versions,
                                  "must include at least one of v1, v1beta1"));
  }
}

}  // namespace

Errors ValidateRole(const Value& object, const Value* /*old*/) {
  Errors errors;
  CheckRules(errors, object["rules"], true);
  return errors;
}

Errors ValidateClusterRole(const Value& object, const Value* /*old*/) {
  Errors errors;
  CheckRules(errors, object["rules"], false);
  const Value& aggregation = object["aggregationRule"];
  if (!aggregation.is_object()) return errors;
  const Value& selectors = aggregation["clusterRoleSelectors"];
  const std::string field = "aggregationRule.clusterRoleSelectors";
  if (selectors.empty()) {
    errors.push_back(RequiredError(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (size_t i = 0; i < selectors.size(); ++i) CheckLabelSelector(errors, IndexPath(field, i), selectors[i]);
  return errors;
}

Errors ValidateRoleBinding(const Value& object, const Value* old) { return ValidateBinding(object, old, true); }

Errors ValidateClusterRoleBinding(const Value& object, const Value* old) { return ValidateBinding(object, old, false); }

Errors ValidateWebhooks(const Value& object, const Value* /*old*/) {
  Errors errors;
  const Value& webhooks = object["webhooks"];
  for (size_t i = 0; i < webhooks.size(); ++i) CheckWebhook(errors, IndexPath("webhooks", i), webhooks[i]);
  return errors;
}

}  // namespace baton::api::builtin
