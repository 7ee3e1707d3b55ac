// RBAC: who may do what, decided from Role, ClusterRole and their bindings. Pure, on parsed rules.
//
//   RbacRules rules;
//   rules.Set(RbacRules::Source::kClusterRole, "", "view", object);     // as objects come and go
//   Decision d = rules.Authorize(user, {.verb = "get", .resource = "pods", .ns = "blue"});
//   if (!d.allowed) return Forbidden(subject, d.reason);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/user.h"
#include "json/value.h"

namespace baton::apiserver {

// What is to be done: of a resource, or (resource empty) of a path such as /healthz.
struct Attributes {
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string path;
};

struct Decision {
  bool allowed = false;
  std::string reason;  // in Kubernetes' words: RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to User "z"
};

// `User "jane" cannot list resource "pods" in API group "" in the namespace "blue"`, and its forms for subresources,
// the cluster scope and paths.
std::string CannotMessage(const User& user, const Attributes& attributes);

class RbacRules {
 public:
  enum class Source : uint8_t { kRole, kClusterRole, kRoleBinding, kClusterRoleBinding };

  RbacRules();
  ~RbacRules();

  // A null object: it is gone. `ns` is "" for the cluster-wide ones. ClusterRoles with an aggregationRule are the union
  // of those it selects.
  void Set(Source source, std::string_view ns, std::string_view name, const json::Value& object);

  // system:masters may do everything.
  Decision Authorize(const User& user, const Attributes& attributes) const;

  // SelfSubjectRulesReview's status for one namespace: {resourceRules, nonResourceRules, incomplete}.
  json::Value RulesFor(const User& user, std::string_view ns) const;

  // May this user hand out these rules (escalation): PolicyRules that they do not have, in Kubernetes' words; empty
  // when they have all.
  std::vector<std::string> Missing(const User& user, std::string_view ns, const json::Value& rules) const;

  // By all questions so far: only bindings that name the user or one of the groups are ever looked at.
  size_t bindings_examined() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The roles and bindings that every cluster has from its first start, as objects: cluster-admin, admin, edit, view
// (with their aggregation), system:basic-user, system:discovery, system:public-info-viewer and their bindings, and the
// system:* ones that clients look for.
std::vector<json::Value> BootstrapPolicy();

}  // namespace baton::apiserver
