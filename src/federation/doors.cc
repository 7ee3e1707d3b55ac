// Members from Clusters and Secrets, read only.
#include "federation/doors.h"

#include "api/karmada_keys.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rt/scope.h"

namespace baton::federation {

Doors::Doors(Hub& hub)
    : hub_(hub), secrets_(hub.api(), kSecrets, {.ns = std::string(api::karmada::kClusterNamespace)}) {
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) {
    if (now.is_null()) {
      hub_.members().Remove(std::string(kube::NameOf(before)));
    } else if (secrets_.synced()) {
      Update(now);
    }
  });
  secrets_.OnChange([this](const json::Value& before, const json::Value& now) {
    const std::string_view secret = kube::NameOf(now.is_null() ? before : now);
    hub_.clusters().ForEach([&](std::string_view, const json::Value& cluster) {
      if (cluster["spec"]["secretRef"]["name"].str() == secret) Update(cluster);
    });
  });
}

rt::Task<void> Doors::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(secrets_.Run());
  co_await secrets_.WaitSynced();
  // Those that have no Secret are told of by nothing else.
  hub_.clusters().ForEach([this](std::string_view name, const json::Value& cluster) {
    if (!hub_.members().Known(name)) Update(cluster);
  });
  co_await scope.Join();
}

void Doors::Update(const json::Value& cluster) {
  const json::Value& reference = cluster["spec"]["secretRef"];
  const json::Value& secret = secrets_.Get(
      StrCat(reference["namespace"].str_or(api::karmada::kClusterNamespace), "/", reference["name"].str()));
  hub_.members().Update(std::string(kube::NameOf(cluster)), cluster, secret);
}

}  // namespace baton::federation
