// Hub: what the federation's controllers share: copies of the hub's objects, the members, the interpreter, and the
// settings. Controllers read here, write through api(), and take what they wrote back in (Learn), so that the next of
// them sees it without waiting for the watch.
//
//   Hub hub(api, interpreter, connect, options);
//   scope.Spawn(hub.Run());
//   co_await hub.WaitSynced();
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "federation/interpretation.h"
#include "federation/members.h"
#include "federation/propagation_policy.h"
#include "federation/run_gate.h"
#include "interpret/interpreter.h"
#include "json/value.h"
#include "kube/api.h"
#include "kube/events.h"
#include "kube/informer.h"
#include "kube/mapper.h"
#include "overrides/policy.h"
#include "rt/loop.h"
#include "rt/scope.h"

namespace baton::federation {

struct HubOptions {
  bool claim_templates = false;  // also write Karmada's claim marks onto templates, for tools that look for them
  bool preemption = true;        // Karmada's gate PropagationPolicyPreemption
  RunGate* gate = nullptr;       // null: nothing is managed
  PostToWebhook post;            // null: interpreter webhooks cannot be called
  const Logger* log = nullptr;
};

// A template is named by its kind and its name: "apps/v1|Deployment|blue/web".
struct TemplateKey {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;

  std::string ToString() const;
  static TemplateKey FromString(std::string_view text);
  static TemplateKey Of(const json::Value& object);
  static TemplateKey OfReference(const json::Value& reference);  // spec.resource of a binding
  std::string ObjectKey() const { return ns.empty() ? name : ns + "/" + name; }
  std::string BindingKey() const;  // of its binding
};

inline constexpr std::string_view kWorksOfCluster = "cluster";  // an index of works(), by name of the cluster

// What we keep on the hub and somebody else has changed is put right after this time and not at once: that may be
// another leader for a moment, and the two would overwrite each other as fast as the hub can.
inline constexpr Duration kPutRight = seconds(1);

class Hub {
 public:
  using TemplateHandler = std::function<void(const json::Value& before, const json::Value& now)>;

  // All outlive this.
  Hub(kube::Api& api, interpret::Interpreter& interpreter, Connect connect, HubOptions options);
  ~Hub();

  rt::Task<void> Run();
  rt::Task<void> WaitSynced();

  kube::Api& api() { return api_; }
  rt::Loop& loop() { return api_.loop(); }
  // Where a webhook may answer, ask interpretation().
  interpret::Interpreter& interpreter() { return interpreter_; }
  const Interpretation& interpretation() const { return interpretation_; }
  kube::EventRecorder& events() { return events_; }
  Members& members() { return members_; }
  const HubOptions& options() const { return options_; }
  RunGate* gate() const { return options_.gate; }

  // ---- copies ----
  kube::Informer& clusters() { return clusters_; }
  kube::Informer& works() { return works_; }
  kube::Informer& policies() { return policies_; }
  kube::Informer& cluster_policies() { return cluster_policies_; }
  kube::Informer& overrides() { return overrides_; }
  kube::Informer& cluster_overrides() { return cluster_overrides_; }
  kube::Informer& customizations() { return customizations_; }
  const json::Value& Binding(std::string_view key) const;  // of either kind
  void OnBinding(const kube::Informer::Handler& handler);
  void ForEachBinding(const std::function<void(const std::string& key, const json::Value& binding)>& visit) const;
  // The bindings that are required by that one, by key: its dependencies.
  std::vector<std::string> BindingsRequiredBy(std::string_view key) const;
  // The bindings that have that cluster among their targets.
  std::vector<std::string> BindingsIn(std::string_view cluster) const;
  // The bindings whose template is of that kind and namespace ("": any).
  std::vector<std::string> BindingsOfKind(std::string_view api_version, std::string_view kind) const;

  const PolicySet& policy_set() const { return policy_set_; }
  // The override policies that mean the object, compiled; of one that cannot be read the last version that could.
  std::vector<overrides::Policy> OverridesFor(const json::Value& object) const;
  // The generation of that override policy that is in use; -1: there is none that could be read. `ns` "": a
  // ClusterOverridePolicy.
  int64_t OverrideGeneration(std::string_view ns, std::string_view name) const;

  // ---- templates ----
  // From now on templates of that kind are watched. False while the hub does not serve it.
  rt::Task<bool> WatchTemplates(std::string api_version, std::string kind);
  const json::Value& Template(const TemplateKey& key) const;
  // Whether the hub has that template, and nobody has deleted it: read live, not from our copy.
  rt::Task<Result<bool>> TemplateStands(TemplateKey key, std::string uid);
  bool TemplatesKnown(std::string_view api_version, std::string_view kind) const;  // watched, and the list is complete
  void OnTemplate(TemplateHandler handler) { template_handlers_.push_back(std::move(handler)); }
  void ForEachTemplate(std::string_view api_version, std::string_view kind,
                       const std::function<void(const json::Value& object)>& visit) const;
  rt::Task<Result<kube::Resource>> ResourceOf(std::string api_version, std::string kind);

  // Something that was written: the copies have it from now on.
  void Learn(const kube::Resource& resource, const json::Value& written);

  void OnMemberObject(Member::Handler handler) { member_handlers_.push_back(std::move(handler)); }

 private:
  void PolicyChanged(const json::Value& before, const json::Value& now);
  void OverrideChanged(const json::Value& before, const json::Value& now);

  kube::Api& api_;
  interpret::Interpreter& interpreter_;
  HubOptions options_;
  Interpretation interpretation_;
  kube::EventRecorder events_;
  kube::Mapper mapper_;
  kube::Informer clusters_, works_, policies_, cluster_policies_, overrides_, cluster_overrides_, bindings_,
      cluster_bindings_, customizations_, webhooks_;
  PolicySet policy_set_;
  struct CompiledOverride {
    overrides::Policy policy;
    int64_t generation = 0;
  };
  // Those of one namespace ("": cluster-wide), so that an object is compared with few.
  struct OverridesOf {
    std::map<std::string, CompiledOverride, std::less<>> all;             // by name of the policy
    std::map<std::string, std::set<std::string>, std::less<>> by_object;  // those that name their objects
    std::set<std::string> others;                                         // those that do not
  };
  static std::vector<std::string> ObjectsNamedBy(const overrides::Policy& policy);  // empty: it does not name them all
  void ForgetOverride(OverridesOf& among, const std::string& name);

  std::map<std::string, OverridesOf, std::less<>> compiled_overrides_;                        // by namespace
  std::map<std::pair<std::string, std::string>, std::unique_ptr<kube::Informer>> templates_;  // by apiVersion, kind
  std::vector<TemplateHandler> template_handlers_;
  std::vector<Member::Handler> member_handlers_;
  Members members_;
  rt::Scope scope_;  // last, so that it goes first
};

inline interpret::KindName KindNameOf(const json::Value& object) {
  return {.api_version = std::string(kube::ApiVersionOf(object)), .kind = std::string(kube::KindOf(object))};
}

// "Scheduled": status, reason, message as metav1.Condition; keeps lastTransitionTime when the status stays.
void SetCondition(json::Value& status, std::string_view type, std::string_view value, std::string_view reason,
                  std::string_view message, WallTime now);
const json::Value& FindCondition(const json::Value& status, std::string_view type);  // null when there is none

}  // namespace baton::federation
