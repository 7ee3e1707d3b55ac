// Interpreter: everything that Baton asks about an object whose kind it does not know by heart.
//
//   Interpreter interpreter;
//   TRY(interpreter.SetCustomization(ric));                      // Lua, at run time
//   Replicas replicas = TRY(interpreter.GetReplicas(deployment));
//   bool healthy = TRY(interpreter.InterpretHealth(observed));   // an error means: unknown
//
// Each operation is answered by the first level that has a hook for the object's apiVersion and kind, on its own: a
// customization that only defines healthInterpretation leaves all else to the levels below. An error of a hook is the
// answer; no other level is asked then.
//   1. customizations  ResourceInterpreterCustomization objects
//   2. webhooks        ResourceInterpreterWebhookConfiguration objects (webhook.h). They are asked over the network,
//   which
//                      this does not do: WebhookFor() names the one to ask, and an operation here is an error then.
//   3. third-party     FlinkDeployment, SparkApplication, ... (thirdparty_*.cc)
//   4. native          Kubernetes' own kinds (native_*.cc)
// Where no level has a hook the answer is Karmada's: no replicas, no components, the object unchanged, the whole
// status, healthy, no dependencies.
//
// Objects are JSON values with apiVersion and kind; an object without them is an error. All functions are pure, but for
// the customizations and webhooks set here. Threads: may be used by many at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "interpret/customization.h"
#include "interpret/handlers.h"
#include "interpret/lua_vm.h"
#include "interpret/operation.h"
#include "interpret/webhook.h"
#include "json/value.h"

namespace baton::interpret {

struct InterpreterOptions {
  LuaLimits limits;
  std::function<WallTime()> now;  // for conditions that an aggregation writes, and for os.time() in scripts
  std::function<void(std::string_view)> on_print;  // what scripts print; nobody else sees it
};

enum class Level : uint8_t { kNone, kCustomization, kWebhook, kThirdParty, kNative };

class Interpreter {
 public:
  explicit Interpreter(InterpreterOptions options = {});
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // ---- customizations ----

  // For admission: what FromObject() refuses, and a customization that defines an operation which another one already
  // defines for the same target (dependencyInterpretation excepted: those are joined).
  Result<void> CheckCustomization(const json::Value& object) const;
  // Adds it, or replaces the one of its name; effective for the next call. Of two that define the same, the one whose
  // name sorts first counts.
  Result<void> SetCustomization(const json::Value& object);
  void RemoveCustomization(std::string_view name);

  // ---- webhooks ----

  Result<void> SetWebhooks(const json::Value& configuration);
  void RemoveWebhooks(std::string_view name);
  // The webhook that answers this; null: another level does, or none.
  std::shared_ptr<const Webhook> WebhookFor(const json::Value& object, Operation operation) const;

  // ---- asking ----

  Level LevelOf(const KindName& kind, Operation operation) const;
  bool Has(const KindName& kind, Operation operation) const { return LevelOf(kind, operation) != Level::kNone; }

  Result<Replicas> GetReplicas(const json::Value& object) const;
  Result<std::vector<Component>> GetComponents(const json::Value& object) const;
  Result<json::Value> ReviseReplica(const json::Value& object, int64_t replicas) const;
  // `desired` with what must survive from `observed`.
  Result<json::Value> Retain(const json::Value& desired, const json::Value& observed) const;
  // The template with its status made from the items: a binding's aggregatedStatus, sorted by clusterName.
  Result<json::Value> AggregateStatus(const json::Value& object, const Items& items) const;
  // Null: nothing to report.
  Result<json::Value> ReflectStatus(const json::Value& observed) const;
  Result<bool> InterpretHealth(const json::Value& observed) const;
  // DependentObjectReferences, each once, sorted by apiVersion, kind, namespace and name.
  Result<std::vector<json::Value>> GetDependencies(const json::Value& object) const;

 private:
  struct Hook {
    Level level = Level::kNone;
    std::shared_ptr<const Handlers> handlers;  // null exactly when the level is kNone
  };

  Hook Find(const KindName& kind, Operation operation) const;
  Result<Hook> FindFor(const json::Value& object, Operation operation) const;
  // Called with mutex_ held.
  void Rebuild();

  const InterpreterOptions options_;
  mutable LuaPool pool_;
  mutable std::mutex mutex_;
  std::map<std::string, Customization, std::less<>> customizations_;  // by name; guarded by mutex_
  std::map<KindName, std::shared_ptr<const Handlers>> customized_;    // guarded by mutex_
  Webhooks webhooks_;                                                 // guarded by mutex_
};

}  // namespace baton::interpret
