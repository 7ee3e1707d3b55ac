// A Work per namespace and cluster.
#include "federation/namespaces.h"

#include <utility>
#include <vector>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/strings.h"
#include "federation/render.h"
#include "federation/resources.h"
#include "overrides/apply.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

bool Synced(const json::Value& object) {
  const std::string_view name = kube::NameOf(object);
  if (name == "default" || name.starts_with("kube-") || keys::IsReservedNamespace(name)) return false;
  return object["metadata"]["labels"][keys::kSkipAutoPropagation].str() != keys::kTrue;
}

}  // namespace

NamespaceController::NamespaceController(Hub& hub)
    : hub_(hub),
      namespaces_(hub.api(), kNamespaces),
      controller_(hub.loop(), "namespaces", [this](std::string name) { return Reconcile(std::move(name)); },
                  {.workers = 2, .log = hub.options().log}) {
  namespaces_.OnChange([this](const json::Value& before, const json::Value& now) {
    controller_.Add(kube::NameOf(now.is_null() ? before : now));
  });
  hub_.clusters().OnChange([this](const json::Value& before, const json::Value& now) {
    const bool came = before.is_null() || before["metadata"]["finalizers"] != now["metadata"]["finalizers"];
    if (now.is_null() || !came) return;
    namespaces_.ForEach(
        [&](std::string_view name, const json::Value&) { controller_.Add(name, kube::Priority::kResync); });
  });
  hub_.works().OnChange([this](const json::Value& before, const json::Value& now) { WorkChanged(before, now); });
}

// Somebody changed or deleted the Work of a namespace: put it right.
void NamespaceController::WorkChanged(const json::Value& before, const json::Value& now) {
  if (before.is_null() || (!now.is_null() && before["spec"] == now["spec"])) return;
  const json::Value& manifest = before["spec"]["workload"]["manifests"][0];
  if (kube::KindOf(manifest) != "Namespace" || !BindingOfWork(before).empty()) return;
  if (const std::string_view name = kube::NameOf(manifest); !namespaces_.Get(name).is_null()) controller_.Add(name);
}

rt::Task<void> NamespaceController::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(namespaces_.Run());
  co_await namespaces_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<Result<void>> NamespaceController::Put(const json::Value& object, const std::string& cluster) {
  json::Value manifest = json::Object(
      {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", kube::NameOf(object)}})}});
  json::Value labels = object["metadata"]["labels"];
  labels.Erase("kubernetes.io/metadata.name");
  labels.Set(keys::kManaged, keys::kTrue);
  manifest.Edit("metadata").Set("labels", labels);
  const std::vector<overrides::Policy> policies = hub_.OverridesFor(object);
  if (!policies.empty()) {
    manifest =
        CO_TRY(overrides::Apply(manifest, overrides::Target::FromCluster(hub_.clusters().Get(cluster)), policies))
            .object;
  }
  const std::string ns = keys::ExecutionNamespace(cluster);
  const std::string name = keys::WorkName("Namespace", "", kube::NameOf(object));
  const json::Value current = hub_.works().Get(StrCat(ns, "/", name));
  if (kube::IsDeleting(current)) co_return Result<void>();
  std::string id(current["metadata"]["labels"][keys::kWorkId].str());
  if (id.empty()) id = hub_.loop().random().NewUid().str();
  manifest.Edit("metadata").Edit("labels").Set(keys::kWorkId, id);
  json::Value& marks = manifest.Edit("metadata").Edit("annotations");
  marks.Set(keys::kWorkNamespace, ns);
  marks.Set(keys::kWorkName, name);
  marks.Set(keys::kConflictResolution, "overwrite");  // a namespace that is there already serves as well
  json::Value work = current;
  work.Set("apiVersion", "work.karmada.io/v1alpha1");
  work.Set("kind", "Work");
  json::Value& metadata = work.Edit("metadata");
  metadata.Set("name", name);
  metadata.Set("namespace", ns);
  metadata.Edit("labels").Set(keys::kWorkId, id);
  if (metadata["finalizers"].empty()) metadata.Set("finalizers", json::Array({keys::kExecutionFinalizer}));
  work.Edit("spec").Edit("workload").Set("manifests", json::Array({manifest}));
  if (work == current) co_return Result<void>();
  Result<json::Value> written = InternalError("not written");
  if (current.is_null()) {
    written = co_await hub_.api().Create(kWorks, work);
  } else {
    written = co_await hub_.api().Update(kWorks, work);
  }
  if (!written.ok()) co_return std::move(written).error();
  hub_.Learn(kWorks, *written);
  co_return Result<void>();
}

rt::Task<kube::Outcome> NamespaceController::Reconcile(std::string name) {
  const json::Value object = namespaces_.Get(name);
  const bool wanted = !object.is_null() && !kube::IsDeleting(object) && Synced(object);
  std::vector<std::string> clusters;
  hub_.clusters().ForEach([&](std::string_view cluster, const json::Value& cluster_object) {
    if (!kube::IsDeleting(cluster_object) && !cluster_object["metadata"]["finalizers"].empty())
      clusters.emplace_back(cluster);
  });
  for (const std::string& cluster : clusters) {
    if (wanted) {
      const Result<void> put = co_await Put(object, cluster);
      if (!put.ok()) co_return kube::Outcome::Retry(put.error());
      continue;
    }
    const json::Value work =
        hub_.works().Get(StrCat(keys::ExecutionNamespace(cluster), "/", keys::WorkName("Namespace", "", name)));
    if (work.is_null() || kube::IsDeleting(work) || name == "default") continue;
    const Result<json::Value> gone =
        co_await hub_.api().Delete(kWorks, kube::Name::Of(work), {.uid = std::string(kube::UidOf(work))});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(gone.error());
  }
  co_return kube::Outcome::Done();
}

}  // namespace baton::federation
