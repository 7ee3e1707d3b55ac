// Handlers: what one kind's built-in interpreter can do. An empty function means that the kind has no hook for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "interpret/operation.h"
#include "json/value.h"

namespace baton::interpret {

// Karmada's InterpretReplica: how many, and the ReplicaRequirements of each (null: none known).
struct Replicas {
  int64_t count = 0;
  json::Value requirements;

  friend bool operator==(const Replicas&, const Replicas&) = default;
};

struct Component {
  std::string name;
  int64_t replicas = 0;
  json::Value requirements;  // null: none known

  friend bool operator==(const Component&, const Component&) = default;
};

// `items` are a binding's aggregatedStatus: {clusterName, status, applied, appliedMessage, health}, sorted by cluster.
using Items = json::Value;

struct Handlers {
  std::function<Result<Replicas>(const json::Value& object)> replicas;
  std::function<Result<std::vector<Component>>(const json::Value& object)> components;
  std::function<Result<json::Value>(json::Value object, int64_t replicas)> revise;
  std::function<Result<json::Value>(json::Value desired, const json::Value& observed)> retain;
  std::function<Result<json::Value>(const json::Value& observed)> reflect;  // null: nothing to report
  std::function<Result<json::Value>(json::Value object, const Items& items, WallTime now)> aggregate;
  std::function<Result<bool>(const json::Value& observed)> health;
  std::function<Result<std::vector<json::Value>>(const json::Value& object)> dependencies;

  bool Has(Operation operation) const;
};

struct KindName {
  std::string api_version;
  std::string kind;

  friend auto operator<=>(const KindName&, const KindName&) = default;
};

using HandlerTable = std::map<KindName, Handlers>;

// Compiled-in: the kinds of Kubernetes itself (native_*.cc), and those of others (thirdparty_*.cc).
const HandlerTable& NativeHandlers();
const HandlerTable& ThirdPartyHandlers();

}  // namespace baton::interpret
