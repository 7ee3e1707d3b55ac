// Where a workload's progress is kept, and its volumes' claims.
#include <utility>

#include "base/strings.h"
#include "practice/kind_operator.h"
#include "practice/volumes.h"

namespace baton::practice {

using json::Value;

// The file that names the newest state.
std::string KindOperator::Pointer(const Look& look) const {
  const Storage& storage = commons_.storage();
  const std::string key = look.workload.Key();
  switch (spec_.progress) {
    case ProgressPlace::kShared:
      return storage.SharedPath(StrCat("progress/", key));
    case ProgressPlace::kCluster:
      return storage.ClusterPath(cluster_, StrCat("progress/", key));
    case ProgressPlace::kArchive:  // its disk goes with it
      return storage.ClusterPath(cluster_, StrCat("progress/", key, "-", look.life->uid));
    case ProgressPlace::kVolume:
      return VolumePointer(storage, cluster_,
                           look.volume.empty() ? StrCat("emptydir-", look.life->pod_uid) : look.volume);
  }
  return "";
}

std::string KindOperator::StateDir(const Look& look) const {
  const std::string key = look.workload.Key();
  switch (spec_.progress) {
    case ProgressPlace::kShared:
      return StrCat("s3://practice-progress/", key);
    case ProgressPlace::kCluster:
      return StrCat("file:///progress/", key);
    case ProgressPlace::kArchive:
      return StrCat("s3://practice-wal/", key, "/", look.life->kept["systemID"].str_or("none"));
    case ProgressPlace::kVolume:
      return VolumeUrl(look.volume.empty() ? StrCat("emptydir-", look.life->pod_uid) : look.volume);
  }
  return "";
}

// "": there is none yet.
rt::Task<Result<std::string>> KindOperator::RestoreFrom(Look& look) {
  Result<std::string> url = co_await commons_.storage().files().ReadAll(Pointer(look));
  if (!url.ok() && url.error().kind() == ErrorKind::kNotFound) co_return std::string();
  co_return url;
}

rt::Task<bool> KindOperator::IsCompleted(const Look& look) {
  co_return (co_await commons_.storage().files().ReadAll(StrCat(Pointer(look), ".completed"))).ok();
}

rt::Task<Result<void>> KindOperator::MarkCompleted(const Look& look) {
  return commons_.storage().Write(StrCat(Pointer(look), ".completed"), look.life->uid);
}

// The claims of every pod, as a StatefulSet's controller makes them where they are not there; waits for the first to be
// bound.
rt::Task<Result<void>> KindOperator::EnsureClaims(Look& look) {
  const Value& templates = look.object["spec"]["volumeClaimTemplates"];
  const int64_t replicas = spec_.Replicas(look.object);
  for (int64_t i = 0; i < replicas; ++i) {
    for (const Value& one : templates.items()) {
      const std::string name = StrCat(kube::NameOf(one), "-", kube::NameOf(look.object), "-", i);
      Result<Value> claim = co_await api_.Get(Claims(), {look.workload.ns, name});
      if (!claim.ok() && claim.error().kind() == ErrorKind::kNotFound) {
        Value wanted = json::Object({{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"spec", one["spec"]}});
        wanted.Edit("metadata").Set("name", name);
        wanted.Edit("metadata").Set("namespace", look.workload.ns);
        wanted.Edit("metadata").Set("labels", look.object["spec"]["selector"]["matchLabels"]);
        claim = co_await api_.Create(Claims(), std::move(wanted));
      }
      if (!claim.ok()) co_return claim.error();
      if (kube::IsDeleting(*claim) || (*claim)["status"]["phase"].str() != "Bound") {
        look.again = options_.look_again;
        co_return Result<void>();
      }
      if (look.volume.empty()) look.volume = (*claim)["spec"]["volumeName"].str();
    }
  }
  co_return Result<void>();
}

}  // namespace baton::practice
