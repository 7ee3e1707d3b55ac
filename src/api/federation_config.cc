// Rules of interpreter customizations and of interpreter webhooks.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "api/federation_kinds.h"
#include "api/federation_url.h"
#include "base/strings.h"
#include "json/names.h"

namespace baton::api::federation {
namespace {

using builtin::AddInvalid;

// ---- customizations ----

constexpr std::string_view kDependencies = "dependencyInterpretation";  // of several customizations all are asked
constexpr auto kScripts =
    std::to_array<std::string_view>({"retention", "replicaResource", "componentResource", "replicaRevision",
                                     "statusReflection", "statusAggregation", "healthInterpretation", kDependencies});

const Value& ScriptOf(const Value& customization, std::string_view which) {
  return customization["spec"]["customizations"][which]["luaScript"];
}

void CheckConflicts(Errors& errors, const Value& object, const Value& other) {
  const Value& target = object["spec"]["target"];
  const Value& others = other["spec"]["target"];
  if (other["metadata"]["name"] == object["metadata"]["name"]) return;
  if (target["apiVersion"].str() != others["apiVersion"].str() || target["kind"].str() != others["kind"].str()) return;
  for (const std::string_view which : kScripts) {
    if (which == kDependencies) continue;
    if (ScriptOf(object, which).str().empty() || ScriptOf(other, which).str().empty()) continue;
    errors.push_back(ForbiddenError(ChildPath("spec.customizations", which),
                                    StrCat("ResourceInterpreterCustomization ", Quote(other["metadata"]["name"].str()),
                                           " has it for the same kind already")));
  }
}

// ---- webhooks ----

constexpr int64_t kTimeoutMax = 30;
constexpr int64_t kDefaultPort = 443;
constexpr std::string_view kContextVersion = "v1alpha1";

bool HasWildcard(const Value& list) {
  return std::ranges::any_of(list.items(), [](const Value& one) { return one.str() == "*"; });
}

void CheckUrl(Errors& errors, const std::string& field, const Value& text) {
  constexpr std::string_view kForm = "; desired format: https://host[/path]";
  const auto url = ReadUrl(text.str());
  if (!url) {
    errors.push_back(RequiredError(field, StrCat("url must be a valid URL", kForm)));
    return;
  }
  if (ToLower(url->scheme) != "https") {
    errors.push_back(InvalidError(field, url->scheme, StrCat("'https' is the only allowed URL scheme", kForm)));
  }
  CheckServerUrl(errors, field, *url, kForm);
}

void CheckServicePath(Errors& errors, const std::string& field, const Value& value) {
  std::string_view path = value.str();
  if (path.empty() || path == "/") return;
  if (!path.starts_with('/')) {
    errors.push_back(InvalidError(field, value, "must start with a '/'"));
    return;
  }
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  const std::vector<std::string_view> segments = Split(path, '/');
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].empty()) {
      errors.push_back(InvalidError(field, value, StrCat("segment[", i, "] may not be empty")));
      continue;
    }
    for (const std::string& wrong : json::CheckDns1123Subdomain(segments[i])) {
      errors.push_back(InvalidError(field, value, StrCat("segment[", i, "]: ", wrong)));
    }
  }
}

void CheckService(Errors& errors, const std::string& field, const Value& service) {
  for (std::string_view key : {"name", "namespace"}) {
    if (!service[key].str().empty()) continue;
    errors.push_back(RequiredError(ChildPath(field, key), StrCat("service ", key, " is required")));
  }
  const int64_t port = service["port"].int_or(kDefaultPort);
  for (const std::string& wrong : json::CheckPortNumber(port)) {
    errors.push_back(InvalidError(ChildPath(field, "port"), port, StrCat("port is not valid: ", wrong)));
  }
  CheckServicePath(errors, ChildPath(field, "path"), service["path"]);
}

void CheckClient(Errors& errors, const std::string& field, const Value& client) {
  if (client["url"].is_null() == client["service"].is_null()) {
    errors.push_back(RequiredError(field, "exactly one of url or service is required"));
  } else if (client["service"].is_null()) {
    CheckUrl(errors, ChildPath(field, "url"), client["url"]);
  } else {
    CheckService(errors, ChildPath(field, "service"), client["service"]);
  }
}

void CheckRule(Errors& errors, const std::string& field, const Value& rule) {
  struct List {
    std::string_view key;
    std::string_view words;
    bool may_have_empty;  // "" is the core group
  };
  for (const List& list : {List{"operations", "operations", true}, List{"apiGroups", "API groups", true},
                           List{"apiVersions", "API versions", false}, List{"kinds", "kinds", false}}) {
    const Value& values = rule[list.key];
    const std::string path = ChildPath(field, list.key);
    if (values.empty()) errors.push_back(RequiredError(path, ""));
    if (values.size() > 1 && HasWildcard(values)) {
      errors.push_back(InvalidError(path, values, StrCat("if '*' is present, must not specify other ", list.words)));
    }
    for (size_t i = 0; i < values.size() && !list.may_have_empty; ++i) {
      if (values[i].str().empty()) errors.push_back(RequiredError(IndexPath(path, i), ""));
    }
  }
  const Value& operations = rule["operations"];
  static const std::vector<Value> kOperations = {"*",
                                                 "AggregateStatus",
                                                 "InterpretComponent",
                                                 "InterpretDependency",
                                                 "InterpretHealth",
                                                 "InterpretReplica",
                                                 "InterpretStatus",
                                                 "Retain",
                                                 "ReviseReplica"};
  for (size_t i = 0; i < operations.size(); ++i) {
    if (std::ranges::find(kOperations, operations[i]) != kOperations.end()) continue;
    errors.push_back(NotSupportedError(IndexPath(ChildPath(field, "operations"), i), operations[i], kOperations));
  }
}

void CheckContextVersions(Errors& errors, const std::string& field, const Value& versions) {
  if (versions.empty()) {
    errors.push_back(RequiredError(field, StrCat("must specify one of ", kContextVersion)));
    return;
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string at = IndexPath(field, i);
    if (!seen.insert(versions[i].str()).second) {
      errors.push_back(InvalidError(at, versions[i], "duplicate version"));
      continue;
    }
    AddInvalid(errors, at, versions[i], json::CheckDns1035Label(versions[i].str()));
  }
  if (!seen.contains(kContextVersion)) {
    errors.push_back(InvalidError(field, versions, StrCat("must include at least one of ", kContextVersion)));
  }
}

void CheckWebhook(Errors& errors, const std::string& field, const Value& webhook) {
  const Value& name = webhook["name"];
  if (name.str().empty()) {
    errors.push_back(RequiredError(ChildPath(field, "name"), ""));
  } else {
    AddInvalid(errors, ChildPath(field, "name"), name, json::CheckFullyQualifiedDomainName(name.str()));
  }
  const Value& rules = webhook["rules"];
  for (size_t i = 0; i < rules.size(); ++i) CheckRule(errors, IndexPath(ChildPath(field, "rules"), i), rules[i]);
  const int64_t seconds = webhook["timeoutSeconds"].int_or(1);
  if (seconds < 1 || seconds > kTimeoutMax) {
    errors.push_back(InvalidError(ChildPath(field, "timeoutSeconds"), seconds,
                                  "the timeout value must be between 1 and 30 seconds"));
  }
  CheckClient(errors, ChildPath(field, "clientConfig"), webhook["clientConfig"]);
  CheckContextVersions(errors, ChildPath(field, "interpreterContextVersions"), webhook["interpreterContextVersions"]);
}

}  // namespace

void CheckCustomization(Errors& errors, const Value& object, const Admitted& admitted) {
  for (const Value& other : admitted.context.customizations) CheckConflicts(errors, object, other);
  if (admitted.context.check_script == nullptr) return;
  for (const std::string_view which : kScripts) {
    const std::string_view script = ScriptOf(object, which).str();
    if (script.empty()) continue;
    const Result<void> checked = admitted.context.check_script(script);
    if (checked.ok()) continue;
    // The script itself is too long to be shown.
    errors.push_back(builtin::InvalidTextError(ChildPath(ChildPath("spec.customizations", which), "luaScript"),
                                               "the script", checked.error().message()));
  }
}

void CheckInterpreterWebhooks(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  const Value& webhooks = object["webhooks"];
  std::set<std::string_view> names;
  for (size_t i = 0; i < webhooks.size(); ++i) {
    const std::string at = IndexPath("webhooks", i);
    CheckWebhook(errors, at, webhooks[i]);
    if (!names.insert(webhooks[i]["name"].str()).second) {
      errors.push_back(DuplicateError(ChildPath(at, "name"), webhooks[i]["name"]));
    }
  }
}

}  // namespace baton::api::federation
