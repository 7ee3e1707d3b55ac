// Admission: the last word on a write, by plugins in a fixed order. First all may change the object, then all may
// refuse it. Built-in rules, cross-field rules of our own types, and webhooks are all plugins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/registry.h"
#include "apiserver/user.h"
#include "base/result.h"
#include "json/value.h"
#include "rt/task.h"

namespace baton::apiserver {

enum class Operation : uint8_t { kCreate, kUpdate, kDelete };
std::string_view OperationName(Operation operation);  // "CREATE"

struct AdmissionRequest {
  Operation operation;
  ResourceTypePtr type;
  std::string ns;
  std::string name;  // "" while a name is yet to be generated
  std::string subresource;
  const User& user;
  bool dry_run = false;
  json::Value object;      // null for a deletion
  json::Value old_object;  // null for a creation
  json::Value options;     // metav1.CreateOptions and such
  std::vector<std::string>& warnings;
};

class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin() = default;
  // May change request.object.
  virtual rt::Task<Result<void>> Mutate(AdmissionRequest& /*request*/) { co_return Result<void>(); }
  virtual rt::Task<Result<void>> Validate(const AdmissionRequest& /*request*/) { co_return Result<void>(); }
};

}  // namespace baton::apiserver
