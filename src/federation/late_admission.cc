// Mutations after the fact.
#include "federation/late_admission.h"

#include <utility>

#include "api/federation_admission.h"
#include "api/federation_types.h"
#include "api/karmada_keys.h"
#include "federation/resources.h"
#include "rt/scope.h"

namespace baton::federation {

using json::Value;

LateAdmission::Kind::Kind(kube::Api& api, kube::Resource of, const Logger* log)
    : hub(api),
      resource(std::move(of)),
      objects(hub, resource),
      controller(hub.loop(), "late-admission", [this](std::string key) { return Reconcile(std::move(key)); },
                 {.workers = 2, .log = log}) {
  objects.OnChange([this](const Value&, const Value& now) {
    if (!now.is_null()) controller.Add(kube::Name::Of(now).Key());
  });
}

rt::Task<void> LateAdmission::Kind::Run() {
  rt::Scope scope(hub.loop());
  scope.Spawn(objects.Run());
  co_await controller.Run();
}

Result<Value> LateAdmission::Kind::Admitted(const Value& object) {
  const api::ResourceTypePtr type = api::FederationType(resource.group, resource.kind);
  if (type == nullptr) return object;
  // One that has its id was admitted before: what may be changed then is what an update may change.
  const Value& labels = object["metadata"]["labels"];
  const bool known =
      labels.Has(api::karmada::kPropagationPolicyId) || labels.Has(api::karmada::kClusterPropagationPolicyId);
  api::FederationContext context;
  context.new_uid = [this] { return hub.loop().random().NewUid().str(); };
  context.now = hub.loop().WallNow();
  return api::MutateFederation(*type, object, known ? object : Value(), context);
}

rt::Task<kube::Outcome> LateAdmission::Kind::Reconcile(std::string key) {
  const Value& cached = objects.Get(key);
  if (cached.is_null() || kube::IsDeleting(cached)) co_return kube::Outcome::Done();
  const Result<Value> wanted = Admitted(cached);
  if (!wanted.ok()) co_return kube::Outcome::Retry(wanted.error());
  if (*wanted == cached) co_return kube::Outcome::Done();
  // Again on what is there now: the copy has not all fields.
  const Result<Value> live = co_await hub.Get(resource, kube::Name::FromKey(key));
  if (!live.ok()) {
    co_return live.error().kind() == ErrorKind::kNotFound ? kube::Outcome::Done() : kube::Outcome::Retry(live.error());
  }
  const Result<Value> admitted = Admitted(*live);
  if (!admitted.ok()) co_return kube::Outcome::Retry(admitted.error());
  if (*admitted == *live) co_return kube::Outcome::Done();
  const Result<Value> written = co_await hub.Update(resource, *admitted);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

LateAdmission::LateAdmission(kube::Api& hub, const Logger* log) : hub_(hub) {
  for (const kube::Resource* resource : {&kPropagationPolicies, &kClusterPropagationPolicies, &kClusters}) {
    kinds_.push_back(std::make_unique<Kind>(hub, *resource, log));
  }
}

rt::Task<void> LateAdmission::Run() {
  rt::Scope scope(hub_.loop());
  for (const auto& kind : kinds_) scope.Spawn(kind->Run());
  co_await scope.Join();
}

}  // namespace baton::federation
