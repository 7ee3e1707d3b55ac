// The escalation check of RBAC.
#include "apiserver/escalation.h"

#include <optional>
#include <string>
#include <utility>

#include "apiserver/aggregation.h"
#include "apiserver/errors.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

bool Aggregates(const Value& role) { return !role["aggregationRule"]["clusterRoleSelectors"].empty(); }

Value AllRights() {
  const Value any = json::Array({"*"});
  return json::Array({json::Object({{"apiGroups", any}, {"resources", any}, {"verbs", any}}),
                      json::Object({{"nonResourceURLs", any}, {"verbs", any}})});
}

// What the garbage collector changes may change: an object that nobody may write could never go.
bool SameButForGarbage(Value a, Value b) {
  for (Value* object : {&a, &b}) {
    Value& metadata = object->Edit("metadata");
    for (const char* field : {"ownerReferences", "finalizers", "managedFields", "resourceVersion"})
      metadata.Erase(field);
  }
  return a == b;
}

class EscalationCheck final : public AdmissionPlugin {
 public:
  EscalationCheck(Core& core, Authorizer& authorizer) : core_(core), authorizer_(authorizer) {}

  rt::Task<Result<void>> Validate(const AdmissionRequest& request) override {
    if (request.type->group != kGroup || request.operation == Operation::kDelete) co_return Result<void>();
    const std::string& plural = request.type->plural;
    if (plural == "roles" || plural == "clusterroles") co_return CheckRole(request);
    if (plural == "rolebindings" || plural == "clusterrolebindings") co_return CheckBinding(request);
    co_return Result<void>();
  }

 private:
  bool May(const AdmissionRequest& request, std::string_view verb, std::string_view resource, std::string_view name) {
    return authorizer_
        .Authorize(request.user, {.verb = std::string(verb),
                                  .group = std::string(kGroup),
                                  .resource = std::string(resource),
                                  .subresource = {},
                                  .ns = request.ns,
                                  .name = std::string(name),
                                  .path = {}})
        .allowed;
  }

  Result<void> CheckRules(const AdmissionRequest& request, const Value& rules) {
    const std::vector<std::string> missing = authorizer_.rules().Missing(request.user, request.ns, rules);
    if (missing.empty()) return {};
    std::string groups;
    for (const std::string& group : request.user.groups)
      StrAppend(groups, groups.empty() ? "" : " ", "\"", group, "\"");
    std::string why = StrCat("user \"", request.user.name, "\" (groups=[", groups,
                             "]) is attempting to grant RBAC permissions not currently held:");
    for (const std::string& one : missing) StrAppend(why, "\n", one);
    return Forbidden({.group = std::string(kGroup), .resource = request.type->plural, .name = request.name}, why);
  }

  Result<void> CheckRole(const AdmissionRequest& request) {
    // Labels count, too: they say which other roles get these rules.
    if (!request.old_object.is_null() && SameButForGarbage(request.object, request.old_object)) return {};
    if (May(request, "escalate", request.type->plural, request.name)) return {};
    TRY(CheckRules(request, request.object["rules"]));
    if (!Aggregates(request.object) && !Aggregates(request.old_object)) return {};
    // What it gathers is up to others, now and later.
    if (authorizer_.rules().Missing(request.user, request.ns, AllRights()).empty()) return {};
    return Forbidden({.group = std::string(kGroup), .resource = request.type->plural, .name = request.name},
                     "must have cluster-admin privileges to use the aggregationRule");
  }

  Result<void> CheckBinding(const AdmissionRequest& request) {
    const Value& reference = request.object["roleRef"];
    if (request.object["subjects"] == request.old_object["subjects"] && reference == request.old_object["roleRef"]) {
      return {};
    }
    const bool cluster = reference["kind"].str() == "ClusterRole";
    const std::string_view plural = cluster ? "clusterroles" : "roles";
    if (May(request, "bind", plural, reference["name"].str())) return {};
    const ResourceTypePtr roles = core_.registry().FindResource(kGroup, plural);
    const std::optional<Object> role =
        core_.Live(*roles, cluster ? std::string() : request.ns, reference["name"].str());
    if (!role)
      return NotFound({.group = std::string(kGroup),
                       .resource = std::string(plural),
                       .name = std::string(reference["name"].str())});
    return CheckRules(request, EffectiveRules(core_, core_.Decode(role->bytes)));
  }

  Core& core_;
  Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<AdmissionPlugin> MakeEscalationCheck(Core& core, Authorizer& authorizer) {
  return std::make_unique<EscalationCheck>(core, authorizer);
}

}  // namespace baton::apiserver
