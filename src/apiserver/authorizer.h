// Authorizer: RBAC (apiserver/rbac.h) on the objects that are stored now. Every decision first takes in what has
// changed, so a binding counts from the moment it is acknowledged.
#pragma once

#include <memory>
#include <string_view>

#include "apiserver/core.h"
#include "apiserver/rbac.h"
#include "base/result.h"

namespace baton::apiserver {

class Authorizer {
 public:
  explicit Authorizer(Core& core) : core_(core) {}

  Decision Authorize(const User& user, const Attributes& attributes);
  RbacRules& rules();  // up to date

 private:
  void CatchUp();
  void Reload();
  void Take(std::string_view key, const Bytes& value);

  Core& core_;
  std::unique_ptr<RbacRules> rules_;
  std::unique_ptr<store::Watch> watch_;
};

}  // namespace baton::apiserver
