// Matching of webhooks: rules first, because they are cheap and rule out most; then selectors.
#include "apiserver/webhook_match.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/errors.h"
#include "base/strings.h"
#include "json/selector.h"

namespace baton::apiserver {
namespace {

bool HasOrStar(const json::Value& list, std::string_view wanted) {
  return std::ranges::any_of(list.items(), [&](const json::Value& item) {
    return item.is_string() && (item.str() == "*" || item.str() == wanted);
  });
}

bool IsNamespace(const ResourceType& type) { return type.group.empty() && type.plural == "namespaces"; }

bool ScopeMatches(const json::Value& rule, const AdmissionRequest& request) {
  const std::string_view scope = rule["scope"].str_or("*");
  const bool cluster = IsNamespace(*request.type) || request.ns.empty();
  return scope == "*" || (scope == "Namespaced" && !cluster) || (scope == "Cluster" && cluster);
}

// "pods", "pods/status", "pods/*", "*", "*/*", "*/scale". "*" is all resources but no subresource.
bool ResourceMatches(const json::Value& rule, const AdmissionRequest& request) {
  return std::ranges::any_of(rule["resources"].items(), [&](const json::Value& item) {
    const std::string_view text = item.str();
    const size_t slash = text.find('/');
    const std::string_view resource = text.substr(0, slash);
    const std::string_view sub = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
    return item.is_string() && (resource == "*" || resource == request.type->plural) &&
           (sub == "*" || sub == request.subresource);
  });
}

bool RuleMatchesButForVersion(const json::Value& rule, const AdmissionRequest& request) {
  return HasOrStar(rule["operations"], OperationWord(request.operation)) &&
         HasOrStar(rule["apiGroups"], request.type->group) && ResourceMatches(rule, request) &&
         ScopeMatches(rule, request);
}

std::optional<std::string> MatchRules(const json::Value& spec, const AdmissionRequest& request,
                                      const WebhookOptions& options) {
  std::vector<const json::Value*> of_other_versions;
  for (const json::Value& rule : spec["rules"].items()) {
    if (!RuleMatchesButForVersion(rule, request)) continue;
    if (HasOrStar(rule["apiVersions"], request.type->version)) return request.type->version;
    of_other_versions.push_back(&rule);
  }
  if (of_other_versions.empty() || spec["matchPolicy"].str_or("Equivalent") != "Equivalent") return std::nullopt;
  if (!options.versions) return request.type->version;
  const std::vector<std::string> served = options.versions(*request.type);
  for (const json::Value* rule : of_other_versions) {
    for (const std::string& version : served) {
      if (HasOrStar((*rule)["apiVersions"], version)) return version;
    }
  }
  return std::nullopt;
}

// An absent selector selects everything: that is its default.
Result<json::LabelSelector> SelectorOf(const Webhook& webhook, std::string_view field) {
  const json::Value& selector = webhook.spec[field];
  if (selector.is_null()) return json::LabelSelector();
  auto parsed = json::LabelSelector::FromObject(selector);
  if (parsed.ok()) return parsed;
  return InternalServerError(
      StrCat("the ", field, " of webhook ", Quote(webhook.name), " cannot be read: ", parsed.error().message()));
}

Result<bool> NamespaceSelected(const Webhook& webhook, const AdmissionRequest& request, const WebhookOptions& options) {
  if (request.ns.empty() && !IsNamespace(*request.type)) return true;
  const json::LabelSelector selector = TRY(SelectorOf(webhook, "namespaceSelector"));
  if (selector.selects_everything()) return true;
  // A namespace on its way into the store is asked itself; one that is deleted has the labels it has.
  if (IsNamespace(*request.type) && request.subresource.empty() && request.operation != Operation::kDelete)
    return selector.Matches(request.object["metadata"]["labels"]);
  const std::string_view name = NamespaceOf(request);
  const std::optional<json::Value> found = options.find_namespace ? options.find_namespace(name) : std::nullopt;
  if (!found) return NotFound({.group = "", .resource = "namespaces", .name = std::string(name)});
  return selector.Matches((*found)["metadata"]["labels"]);
}

Result<bool> ObjectSelected(const Webhook& webhook, const AdmissionRequest& request) {
  const json::LabelSelector selector = TRY(SelectorOf(webhook, "objectSelector"));
  if (selector.selects_everything()) return true;
  const auto matches = [&](const json::Value& object) {
    return object.is_object() && selector.Matches(object["metadata"]["labels"]);
  };
  return matches(request.object) || matches(request.old_object);
}

}  // namespace

std::string_view OperationWord(Operation operation) {
  if (operation == Operation::kCreate) return "CREATE";
  return operation == Operation::kUpdate ? "UPDATE" : "DELETE";
}

std::vector<Webhook> ListWebhooks(std::vector<json::Value> configurations) {
  std::ranges::sort(configurations, {},
                    [](const json::Value& configuration) { return configuration["metadata"]["name"].str(); });
  std::vector<Webhook> webhooks;
  for (const json::Value& configuration : configurations) {
    const std::string name(configuration["metadata"]["name"].str());
    size_t index = 0;
    for (const json::Value& spec : configuration["webhooks"].items())
      webhooks.push_back({.id = StrCat(name, "/", index++),
                          .configuration = name,
                          .name = std::string(spec["name"].str()),
                          .spec = spec});
  }
  return webhooks;
}

bool IsExempt(const AdmissionRequest& request) {
  constexpr std::array<std::string_view, 6> kKinds = {
      "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",     "ValidatingAdmissionPolicy",
      "MutatingAdmissionPolicy",        "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding"};
  return request.type->group == "admissionregistration.k8s.io" &&
         std::ranges::find(kKinds, request.type->kind) != kKinds.end();
}

std::string_view NamespaceOf(const AdmissionRequest& request) {
  return IsNamespace(*request.type) ? request.name : request.ns;
}

Result<std::optional<std::string>> MatchWebhook(const Webhook& webhook, const AdmissionRequest& request,
                                                const WebhookOptions& options) {
  std::optional<std::string> version = MatchRules(webhook.spec, request, options);
  if (!version || !TRY(NamespaceSelected(webhook, request, options)) || !TRY(ObjectSelected(webhook, request)))
    return std::optional<std::string>();
  if (!webhook.spec["matchConditions"].empty())
    return Forbidden({.group = request.type->group, .resource = request.type->plural, .name = request.name},
                     StrCat("webhook ", Quote(webhook.name), " of configuration ", Quote(webhook.configuration),
                            " has matchConditions, which this server cannot evaluate: take them out of the webhook"));
  return version;
}

}  // namespace baton::apiserver
