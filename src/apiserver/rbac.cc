// RbacRules: roles by name, bindings by the subjects they name. A decision looks only at the bindings of this user and
// these groups, so that its cost does not grow with the number of tenants.
#include "apiserver/rbac.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "apiserver/rbac_rule.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/selector.h"

namespace baton::apiserver {
namespace {

constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

struct Binding {
  std::string ns;  // "" for a ClusterRoleBinding
  std::string name;
  std::string role_kind;
  std::string role_name;
  struct Subject {
    std::string kind;
    std::string ns;
    std::string name;
  };
  std::vector<Subject> subjects;

  std::string Describe(const Subject& subject) const;
};

struct Role {
  std::vector<PolicyRule> rules;
  json::Value labels;
  std::optional<std::vector<json::LabelSelector>> aggregates;  // its rules are those of the roles it selects
};

// The user that a subject stands for, or the group with '@' in front of it; "" for nobody.
std::string PrincipalOf(const Binding::Subject& subject, std::string_view binding_ns) {
  if (subject.kind == "User") return StrCat("=", subject.name);
  if (subject.kind == "Group") return StrCat("@", subject.name);
  if (subject.kind != "ServiceAccount") return {};
  const std::string_view ns = subject.ns.empty() ? binding_ns : std::string_view(subject.ns);
  return ns.empty() ? std::string() : StrCat("=", kServiceAccountPrefix, ns, ":", subject.name);
}

std::vector<std::string> PrincipalsOf(const User& user) {
  std::vector<std::string> principals = {StrCat("=", user.name)};
  for (const std::string& group : user.groups) principals.push_back(StrCat("@", group));
  return principals;
}

bool IsMaster(const User& user) { return std::ranges::find(user.groups, kMastersGroup) != user.groups.end(); }

std::string Binding::Describe(const Subject& subject) const {
  // Name before namespace, as Kubernetes has it.
  const std::string own = ns.empty() ? name : StrCat(name, "/", ns);
  const std::string subject_name =
      subject.kind == "ServiceAccount" ? StrCat(subject.name, "/", subject.ns.empty() ? ns : subject.ns) : subject.name;
  return StrCat(ns.empty() ? "ClusterRoleBinding " : "RoleBinding ", Quote(own), " of ", role_kind, " ",
                Quote(role_name), " to ", subject.kind, " ", Quote(subject_name));
}

Binding ParseBinding(std::string_view ns, std::string_view name, const json::Value& object) {
  Binding binding{.ns = std::string(ns),
                  .name = std::string(name),
                  .role_kind = std::string(object["roleRef"]["kind"].str()),
                  .role_name = std::string(object["roleRef"]["name"].str()),
                  .subjects = {}};
  for (const json::Value& subject : object["subjects"].items())
    binding.subjects.push_back({.kind = std::string(subject["kind"].str()),
                                .ns = std::string(subject["namespace"].str()),
                                .name = std::string(subject["name"].str())});
  return binding;
}

Role ParseRole(const json::Value& object) {
  Role role{.rules = ParseRules(object["rules"]), .labels = object["metadata"]["labels"], .aggregates = {}};
  if (!object["aggregationRule"].is_object()) return role;
  role.aggregates.emplace();
  for (const json::Value& selector : object["aggregationRule"]["clusterRoleSelectors"].items()) {
    // One that cannot be read selects nothing.
    if (auto parsed = json::LabelSelector::FromObject(selector); parsed.ok())
      role.aggregates->push_back(*std::move(parsed));
  }
  return role;
}

json::Value ToArray(const std::vector<std::string>& strings) {
  json::ArrayBuilder array;
  for (const std::string& text : strings) array.Add(text);
  return std::move(array).Build();
}

void SetList(json::Value& object, std::string_view key, const std::vector<std::string>& strings) {
  if (!strings.empty()) object.Set(key, ToArray(strings));
}

// Several errors as Kubernetes prints an aggregate of them.
std::string JoinErrors(const std::vector<std::string>& errors) {
  std::vector<std::string> once;
  for (const std::string& error : errors) {
    if (std::ranges::find(once, error) == once.end()) once.push_back(error);
  }
  return once.size() == 1 ? once[0] : StrCat("[", Join(once, ", "), "]");
}

std::string Sanitized(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string CannotMessage(const User& user, const Attributes& attributes) {
  const std::string who = StrCat("User ", Quote(user.name), " cannot ", attributes.verb);
  if (attributes.resource.empty()) return Sanitized(StrCat(who, " path ", Quote(attributes.path)));
  const std::string resource =
      attributes.subresource.empty() ? attributes.resource : StrCat(attributes.resource, "/", attributes.subresource);
  const std::string where =
      attributes.ns.empty() ? " at the cluster scope" : StrCat(" in the namespace ", Quote(attributes.ns));
  return Sanitized(StrCat(who, " resource ", Quote(resource), " in API group ", Quote(attributes.group), where));
}

struct RbacRules::Impl {
  using Name = std::pair<std::string, std::string>;  // namespace and name; the namespace is "" for cluster-wide objects

  std::map<Name, Role> roles;
  std::map<std::string, Role, std::less<>> cluster_roles;
  std::map<Name, Binding> bindings;
  // By namespace, then by principal: the bindings, by name.
  std::unordered_map<std::string, std::unordered_map<std::string, std::map<std::string, const Binding*>>> by_principal;
  // What the aggregating roles come to; emptied by any change of a ClusterRole.
  std::unordered_map<std::string, std::vector<PolicyRule>> aggregated;
  size_t examined = 0;

  void Drop(const Name& key);
  void Put(const Name& key, Binding binding);
  std::vector<const Binding*> BindingsOf(const std::vector<std::string>& principals, const std::string& ns);
  const std::vector<PolicyRule>& Aggregated(const std::string& name);
  Result<const std::vector<PolicyRule>*> RulesOf(const Binding& binding);

  // Calls visit(binding, rule) until it returns false; errors are those of bindings without their role.
  template <class Visit>
  void ForEachRule(const User& user, std::string_view ns, std::vector<std::string>& errors, const Visit& visit);
};

void RbacRules::Impl::Drop(const Name& key) {
  const auto found = bindings.find(key);
  if (found == bindings.end()) return;
  // A binding of nobody may be the last of its namespace, which then is not in the index.
  if (const auto of_namespace = by_principal.find(key.first); of_namespace != by_principal.end()) {
    for (const Binding::Subject& subject : found->second.subjects) {
      const auto entry = of_namespace->second.find(PrincipalOf(subject, key.first));
      if (entry == of_namespace->second.end()) continue;
      entry->second.erase(key.second);
      if (entry->second.empty()) of_namespace->second.erase(entry);
    }
    if (of_namespace->second.empty()) by_principal.erase(of_namespace);
  }
  bindings.erase(found);
}

void RbacRules::Impl::Put(const Name& key, Binding binding) {
  const Binding& kept = bindings.emplace(key, std::move(binding)).first->second;
  auto& of_namespace = by_principal[key.first];
  for (const Binding::Subject& subject : kept.subjects) {
    std::string principal = PrincipalOf(subject, key.first);
    if (!principal.empty()) of_namespace[std::move(principal)].emplace(key.second, &kept);
  }
}

// In the order of their names, each once.
std::vector<const Binding*> RbacRules::Impl::BindingsOf(const std::vector<std::string>& principals,
                                                        const std::string& ns) {
  std::vector<const Binding*> found;
  const auto of_namespace = by_principal.find(ns);
  if (of_namespace == by_principal.end()) return found;
  for (const std::string& principal : principals) {
    const auto entry = of_namespace->second.find(principal);
    if (entry == of_namespace->second.end()) continue;
    for (const auto& [name, binding] : entry->second) found.push_back(binding);
  }
  std::ranges::sort(found, {}, &Binding::name);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

// The rules of all roles that are selected, directly or through other aggregating roles (which may form circles), in
// the order of selectors and names, each rule once.
const std::vector<PolicyRule>& RbacRules::Impl::Aggregated(const std::string& name) {
  const auto [entry, added] = aggregated.try_emplace(name);
  if (!added) return entry->second;
  std::unordered_set<std::string_view> visited = {name};
  std::unordered_set<std::string> known;
  std::vector<const Role*> open = {&cluster_roles.find(name)->second};
  while (!open.empty()) {
    const Role* role = open.back();
    open.pop_back();
    if (!role->aggregates) {
      for (const PolicyRule& rule : role->rules) {
        if (known.insert(rule.ToString()).second) entry->second.push_back(rule);
      }
      continue;
    }
    std::vector<const Role*> selected;
    for (const json::LabelSelector& selector : *role->aggregates) {
      for (const auto& [other_name, other] : cluster_roles) {
        if (selector.Matches(other.labels) && visited.insert(other_name).second) selected.push_back(&other);
      }
    }
    std::ranges::reverse_copy(selected, std::back_inserter(open));
  }
  return entry->second;
}

Result<const std::vector<PolicyRule>*> RbacRules::Impl::RulesOf(const Binding& binding) {
  if (binding.role_kind == "ClusterRole") {
    const auto found = cluster_roles.find(binding.role_name);
    if (found == cluster_roles.end())
      return NotFoundError(StrCat("clusterrole.rbac.authorization.k8s.io ", Quote(binding.role_name), " not found"));
    return found->second.aggregates ? &Aggregated(found->first) : &found->second.rules;
  }
  if (binding.role_kind == "Role") {
    const auto found = roles.find({binding.ns, binding.role_name});
    if (found == roles.end() || binding.ns.empty())
      return NotFoundError(StrCat("role.rbac.authorization.k8s.io ", Quote(binding.role_name), " not found"));
    return &found->second.rules;
  }
  return InvalidError(StrCat("unsupported role reference kind: ", Quote(binding.role_kind)));
}

template <class Visit>
void RbacRules::Impl::ForEachRule(const User& user, std::string_view ns, std::vector<std::string>& errors,
                                  const Visit& visit) {
  const std::vector<std::string> principals = PrincipalsOf(user);
  std::vector<const Binding*> all = BindingsOf(principals, "");
  if (!ns.empty()) std::ranges::copy(BindingsOf(principals, std::string(ns)), std::back_inserter(all));
  for (const Binding* binding : all) {
    ++examined;
    const Result<const std::vector<PolicyRule>*> rules = RulesOf(*binding);
    if (!rules.ok()) {
      errors.push_back(rules.error().message());
      continue;
    }
    for (const PolicyRule& rule : **rules) {
      if (!visit(*binding, rule)) return;
    }
  }
}

RbacRules::RbacRules() : impl_(std::make_unique<Impl>()) {}
RbacRules::~RbacRules() = default;

void RbacRules::Set(Source source, std::string_view ns, std::string_view name, const json::Value& object) {
  const Impl::Name key = {std::string(ns), std::string(name)};
  switch (source) {
    case Source::kRole:
      if (object.is_null()) {
        impl_->roles.erase(key);
      } else {
        impl_->roles[key] = ParseRole(object);
        impl_->roles[key].aggregates.reset();  // only ClusterRoles aggregate
      }
      return;
    case Source::kClusterRole:
      impl_->aggregated.clear();
      if (object.is_null()) {
        impl_->cluster_roles.erase(key.second);
      } else {
        impl_->cluster_roles[key.second] = ParseRole(object);
      }
      return;
    case Source::kRoleBinding:
    case Source::kClusterRoleBinding: {
      // A RoleBinding without a namespace would bind cluster-wide.
      const bool of_namespace = source == Source::kRoleBinding;
      if (of_namespace == ns.empty()) return;
      impl_->Drop(key);
      if (!object.is_null()) impl_->Put(key, ParseBinding(ns, name, object));
      return;
    }
  }
}

Decision RbacRules::Authorize(const User& user, const Attributes& attributes) const {
  if (IsMaster(user)) return {.allowed = true, .reason = ""};
  Decision decision;
  std::vector<std::string> errors;
  impl_->ForEachRule(user, attributes.ns, errors, [&](const Binding& binding, const PolicyRule& rule) {
    if (!rule.Allows(attributes)) return true;
    const std::vector<std::string> principals = PrincipalsOf(user);
    const auto subject = std::ranges::find_if(binding.subjects, [&](const Binding::Subject& candidate) {
      return std::ranges::find(principals, PrincipalOf(candidate, binding.ns)) != principals.end();
    });
    decision = {.allowed = true, .reason = StrCat("RBAC: allowed by ", binding.Describe(*subject))};
    return false;
  });
  if (!decision.allowed && !errors.empty()) decision.reason = StrCat("RBAC: ", JoinErrors(errors));
  return decision;
}

json::Value RbacRules::RulesFor(const User& user, std::string_view ns) const {
  std::vector<std::string> errors;
  std::vector<PolicyRule> rules;
  if (IsMaster(user)) {
    rules.push_back({.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}, .names = {}, .urls = {}});
    rules.push_back({.verbs = {"*"}, .groups = {}, .resources = {}, .names = {}, .urls = {"*"}});
  }
  const size_t of_masters = rules.size();
  impl_->ForEachRule(user, ns, errors, [&](const Binding&, const PolicyRule& rule) {
    const std::span<const PolicyRule> known(rules.data(), of_masters);
    if (std::ranges::find(known, rule) == known.end()) rules.push_back(rule);
    return true;
  });
  json::ArrayBuilder of_resources;
  json::ArrayBuilder of_paths;
  for (const PolicyRule& rule : rules) {
    if (!rule.resources.empty()) {
      json::Value resource = json::Object({{"verbs", ToArray(rule.verbs)}, {"resources", ToArray(rule.resources)}});
      SetList(resource, "apiGroups", rule.groups);
      SetList(resource, "resourceNames", rule.names);
      of_resources.Add(std::move(resource));
    }
    if (!rule.urls.empty())
      of_paths.Add(json::Object({{"verbs", ToArray(rule.verbs)}, {"nonResourceURLs", ToArray(rule.urls)}}));
  }
  json::Value status = json::Object({{"resourceRules", std::move(of_resources).Build()},
                                     {"nonResourceRules", std::move(of_paths).Build()},
                                     {"incomplete", false}});
  if (!errors.empty()) status.Set("evaluationError", JoinErrors(errors));
  return status;
}

std::vector<std::string> RbacRules::Missing(const User& user, std::string_view ns, const json::Value& rules) const {
  if (IsMaster(user)) return {};
  std::vector<std::string> errors;  // a binding without its role gives nothing
  std::vector<const PolicyRule*> owned;
  impl_->ForEachRule(user, ns, errors, [&](const Binding&, const PolicyRule& rule) {
    owned.push_back(&rule);
    return true;
  });
  const std::vector<PolicyRule> wanted = ParseRules(rules);
  return Uncovered(owned, wanted);
}

size_t RbacRules::bindings_examined() const { return impl_->examined; }

}  // namespace baton::apiserver
