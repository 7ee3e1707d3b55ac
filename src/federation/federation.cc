// Putting the controllers together.
#include "federation/federation.h"

#include <utility>

#include "api/federation_types.h"
#include "api/karmada_keys.h"
#include "federation/resources.h"

namespace baton::federation {

Federation::Federation(kube::Api& api, interpret::Interpreter& interpreter, Connect connect, HubOptions options)
    : hub_(api, interpreter, std::move(connect), options),
      schedule_(hub_),
      detect_(hub_, schedule_),
      revisions_(hub_),
      render_(hub_, revisions_),
      execute_(hub_),
      aggregate_(hub_, schedule_, render_, execute_),
      clusters_(hub_),
      namespaces_(hub_),
      dependencies_(hub_, revisions_),
      evictions_(hub_),
      rebalancer_(hub_),
      taint_policies_(hub_) {}

rt::Task<void> Federation::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(hub_.Run());
  scope.Spawn(revisions_.Run());
  co_await WaitSynced();
  scope.Spawn(clusters_.Run());
  scope.Spawn(namespaces_.Run());
  scope.Spawn(detect_.Run());
  scope.Spawn(schedule_.Run());
  scope.Spawn(render_.Run());
  scope.Spawn(execute_.Run());
  scope.Spawn(aggregate_.Run());
  scope.Spawn(dependencies_.Run());
  scope.Spawn(evictions_.Run());
  scope.Spawn(rebalancer_.Run());
  scope.Spawn(taint_policies_.Run());
  co_await scope.Join();
}

rt::Task<void> Federation::RunCopies() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(hub_.Run());
  scope.Spawn(revisions_.Run());
  co_await scope.Join();
}

rt::Task<void> Federation::WaitSynced() {
  co_await hub_.WaitSynced();
  co_await revisions_.WaitSynced();
}

bool Federation::idle() {
  for (kube::Controller* controller :
       {&schedule_.controller(), &detect_.controller(), &render_.controller(), &aggregate_.controller(),
        &clusters_.controller(), &namespaces_.controller(), &dependencies_.controller(), &evictions_.controller(),
        &rebalancer_.controller(), &taint_policies_.controller()}) {
    if (!controller->idle()) return false;
  }
  return execute_.idle();
}

rt::Task<Result<void>> InstallCrds(kube::Api& api, std::string group) {
  static const kube::Resource kCrds{.group = "apiextensions.k8s.io",
                                    .version = "v1",
                                    .plural = "customresourcedefinitions",
                                    .kind = "CustomResourceDefinition",
                                    .namespaced = false};
  for (const json::Value& manifest : api::FederationCrds()) {
    if (!group.empty() && manifest["spec"]["group"].str() != group) continue;
    CO_TRY(co_await api.Apply(kCrds, manifest, {.force = true}));
  }
  if (!group.empty()) co_return Result<void>();
  for (const std::string_view ns : {api::karmada::kClusterNamespace, api::karmada::kSystemNamespace}) {
    const json::Value wanted =
        json::Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", ns}})}});
    const Result<json::Value> made = co_await api.Create(kNamespaces, wanted);
    if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  }
  co_return Result<void>();
}

}  // namespace baton::federation
