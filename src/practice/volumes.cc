// Binding claims and copying volumes.
#include "practice/volumes.h"

#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"
#include "json/yaml.h"
#include "rt/scope.h"

namespace baton::practice {

using json::Value;
using kube::Outcome;

namespace {

constexpr std::string_view kSnapshotGroup = "snapshot.storage.k8s.io";

const kube::Resource& PersistentVolumes() {
  static const kube::Resource resource{
      .group = "", .version = "v1", .plural = "persistentvolumes", .kind = "PersistentVolume", .namespaced = false};
  return resource;
}

Value SnapshotCrd(std::string_view plural, std::string_view kind, bool namespaced, std::string_view short_name) {
  const Value open = json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  const Value version = json::Object(
      {{"name", "v1"},
       {"served", true},
       {"storage", true},
       {"subresources", json::Object({{"status", json::Object()}})},
       {"schema", json::Object({{"openAPIV3Schema",
                                 json::Object({{"type", "object"},
                                               {"properties", json::Object({{"spec", open}, {"status", open}})}})}})}});
  return json::Object(
      {{"apiVersion", "apiextensions.k8s.io/v1"},
       {"kind", "CustomResourceDefinition"},
       {"metadata",
        json::Object(
            {{"name", StrCat(plural, ".", kSnapshotGroup)},
             // What Kubernetes asks of a CRD in one of its own groups.
             {"annotations", json::Object({{"api-approved.kubernetes.io",
                                            "https://github.com/kubernetes-csi/external-snapshotter/pull/814"}})}})},
       {"spec", json::Object({{"group", kSnapshotGroup},
                              {"scope", namespaced ? "Namespaced" : "Cluster"},
                              {"names", json::Object({{"plural", plural},
                                                      {"singular", ToLower(kind)},
                                                      {"kind", kind},
                                                      {"shortNames", json::Array({short_name})}})},
                              {"versions", json::Array({version})}})}});
}

}  // namespace

const kube::Resource& Claims() {
  static const kube::Resource resource{.group = "",
                                       .version = "v1",
                                       .plural = "persistentvolumeclaims",
                                       .kind = "PersistentVolumeClaim",
                                       .namespaced = true};
  return resource;
}

const kube::Resource& VolumeSnapshots() {
  static const kube::Resource resource{.group = std::string(kSnapshotGroup),
                                       .version = "v1",
                                       .plural = "volumesnapshots",
                                       .kind = "VolumeSnapshot",
                                       .namespaced = true};
  return resource;
}

const kube::Resource& VolumeSnapshotContents() {
  static const kube::Resource resource{.group = std::string(kSnapshotGroup),
                                       .version = "v1",
                                       .plural = "volumesnapshotcontents",
                                       .kind = "VolumeSnapshotContent",
                                       .namespaced = false};
  return resource;
}

std::vector<Value> SnapshotCrds() {
  return {SnapshotCrd("volumesnapshots", "VolumeSnapshot", true, "vs"),
          SnapshotCrd("volumesnapshotcontents", "VolumeSnapshotContent", false, "vsc")};
}

std::string VolumeUrl(std::string_view volume) { return StrCat("file:///volumes/", volume); }

std::string VolumePointer(const Storage& storage, std::string_view cluster, std::string_view volume) {
  return storage.ClusterPath(cluster, StrCat("file/volumes/", volume, "/pointer"));
}

Volumes::Volumes(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, Options options)
    : api_(api),
      commons_(commons),
      cluster_(std::move(cluster)),
      faults_(faults),
      options_(options),
      claims_(api, Claims()),
      snapshots_(api, VolumeSnapshots()),
      claim_controller_(api.loop(), "practice-claims",
                        [this](std::string key) { return ReconcileClaim(std::move(key)); }),
      snapshot_controller_(api.loop(), "practice-snapshots",
                           [this](std::string key) { return ReconcileSnapshot(std::move(key)); }) {
  claims_.OnChange([this](const Value&, const Value& now) {
    if (!now.is_null() && now["status"]["phase"].str() != "Bound") claim_controller_.Add(kube::Name::Of(now).Key());
  });
  snapshots_.OnChange([this](const Value&, const Value& now) {
    if (!now.is_null() && !now["status"]["readyToUse"].bool_or(false))
      snapshot_controller_.Add(kube::Name::Of(now).Key());
  });
}

rt::Task<void> Volumes::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(claims_.Run());
  scope.Spawn(claim_controller_.Run());
  scope.Spawn(snapshots_.Run());
  scope.Spawn(snapshot_controller_.Run());
  co_await scope.Join();
}

std::string Volumes::HandlePath(std::string_view handle) const {
  return commons_.storage().SharedPath(StrCat("volume-snapshots/", handle));
}

rt::Task<Outcome> Volumes::ReconcileClaim(std::string key) {
  const Value claim = claims_.Get(key);
  if (claim.is_null() || kube::IsDeleting(claim) || claim["status"]["phase"].str() == "Bound")
    co_return Outcome::Done();
  co_await api_.loop().Sleep(faults_.Slowed(options_.bind_time));
  const Result<Outcome> bound = co_await Bind(claim);
  co_return bound.ok() ? *bound : Outcome::Retry(bound.error());
}

rt::Task<Result<Outcome>> Volumes::Bind(Value claim) {
  const std::string volume = StrCat("pvc-", kube::UidOf(claim));
  const Value& source = claim["spec"]["dataSource"];
  if (source["kind"].str() == "VolumeSnapshot") {
    const kube::Name name{std::string(kube::NamespaceOf(claim)), std::string(source["name"].str())};
    const Result<Value> snapshot = co_await api_.Get(VolumeSnapshots(), name);
    if (!snapshot.ok() && snapshot.error().kind() != ErrorKind::kNotFound) co_return snapshot.error();
    if (!snapshot.ok() || !(*snapshot)["status"]["readyToUse"].bool_or(false))
      co_return Outcome::WaitFor(options_.look_again);
    const Value content = CO_TRY(co_await api_.Get(
        VolumeSnapshotContents(), {"", std::string((*snapshot)["status"]["boundVolumeSnapshotContentName"].str())}));
    CO_TRY(co_await CopyIn(std::string(content["status"]["snapshotHandle"].str()), volume));
  }
  const Value& storage = claim["spec"]["resources"]["requests"]["storage"];
  const Value capacity = json::Object({{"storage", storage.is_null() ? Value("1Gi") : storage}});
  const Value reference = json::Object({{"kind", "PersistentVolumeClaim"},
                                        {"namespace", kube::NamespaceOf(claim)},
                                        {"name", kube::NameOf(claim)},
                                        {"uid", kube::UidOf(claim)}});
  const Value made = json::Object(
      {{"apiVersion", "v1"},
       {"kind", "PersistentVolume"},
       {"metadata", json::Object({{"name", volume}})},
       {"spec", json::Object({{"capacity", capacity},
                              {"accessModes", claim["spec"]["accessModes"]},
                              {"claimRef", reference},
                              {"csi", json::Object({{"driver", kVolumeDriver}, {"volumeHandle", volume}})}})}});
  const Result<Value> created = co_await api_.Create(PersistentVolumes(), made);
  if (!created.ok() && created.error().kind() != ErrorKind::kAlreadyExists) co_return created.error();
  claim.Edit("spec").Set("volumeName", volume);
  Value bound = CO_TRY(co_await api_.Update(Claims(), std::move(claim)));
  bound.Set("status",
            json::Object({{"phase", "Bound"}, {"capacity", capacity}, {"accessModes", bound["spec"]["accessModes"]}}));
  claims_.Learn(CO_TRY(co_await api_.UpdateStatus(Claims(), std::move(bound))));
  co_return Outcome::Done();
}

rt::Task<Outcome> Volumes::ReconcileSnapshot(std::string key) {
  const Value snapshot = snapshots_.Get(key);
  if (snapshot.is_null() || kube::IsDeleting(snapshot) || snapshot["status"]["readyToUse"].bool_or(false))
    co_return Outcome::Done();
  co_await api_.loop().Sleep(faults_.Slowed(options_.snapshot_time));
  const Result<Outcome> made = co_await Snapshot(snapshot);
  co_return made.ok() ? *made : Outcome::Retry(made.error());
}

rt::Task<Result<Outcome>> Volumes::Snapshot(Value snapshot) {
  const Value& source = snapshot["spec"]["source"];
  const std::string_view given = source["volumeSnapshotContentName"].str();
  if (!given.empty()) co_return co_await UseContent(snapshot, std::string(given));
  const kube::Name name{std::string(kube::NamespaceOf(snapshot)),
                        std::string(source["persistentVolumeClaimName"].str())};
  const Result<Value> claim = co_await api_.Get(Claims(), name);
  if (!claim.ok() && claim.error().kind() != ErrorKind::kNotFound) co_return claim.error();
  if (!claim.ok() || (*claim)["status"]["phase"].str() != "Bound") co_return Outcome::WaitFor(options_.look_again);
  const std::string handle = StrCat("snapshot-", kube::UidOf(snapshot));
  CO_TRY(co_await CopyOut(std::string((*claim)["spec"]["volumeName"].str()), handle));
  const std::string content = StrCat("snapcontent-", kube::UidOf(snapshot));
  Value made = json::Object({{"apiVersion", StrCat(kSnapshotGroup, "/v1")},
                             {"kind", "VolumeSnapshotContent"},
                             {"metadata", json::Object({{"name", content}})}});
  made.Set("spec", json::Object({{"deletionPolicy", "Retain"},
                                 {"driver", kVolumeDriver},
                                 {"source", json::Object({{"volumeHandle", (*claim)["spec"]["volumeName"]}})},
                                 {"volumeSnapshotRef", json::Object({{"kind", "VolumeSnapshot"},
                                                                     {"namespace", kube::NamespaceOf(snapshot)},
                                                                     {"name", kube::NameOf(snapshot)},
                                                                     {"uid", kube::UidOf(snapshot)}})}}));
  Result<Value> created = co_await api_.Create(VolumeSnapshotContents(), made);
  if (!created.ok() && created.error().kind() == ErrorKind::kAlreadyExists)
    created = co_await api_.Get(VolumeSnapshotContents(), {"", content});
  if (!created.ok()) co_return created.error();
  created->Set("status", json::Object({{"snapshotHandle", handle}, {"readyToUse", true}}));
  CO_TRY(co_await api_.UpdateStatus(VolumeSnapshotContents(), *created));
  CO_TRY(co_await SetReady(std::move(snapshot), content));
  co_return Outcome::Done();
}

// One that was made elsewhere and is brought here by its handle.
rt::Task<Result<Outcome>> Volumes::UseContent(Value snapshot, std::string content) {
  Result<Value> found = co_await api_.Get(VolumeSnapshotContents(), {"", content});
  if (!found.ok() && found.error().kind() != ErrorKind::kNotFound) co_return found.error();
  if (!found.ok()) co_return Outcome::WaitFor(options_.look_again);
  const std::string handle((*found)["spec"]["source"]["snapshotHandle"].str());
  const bool ours = (*found)["spec"]["driver"].str() == kVolumeDriver;
  const Result<std::string> there = co_await commons_.storage().files().ReadAll(HandlePath(handle));
  if (!ours || !there.ok()) {
    const Value error = json::Object({{"message", StrCat("there is no snapshot '", handle, "' of this driver")}});
    snapshot.Set("status", json::Object({{"readyToUse", false}, {"error", error}}));
    CO_TRY(co_await api_.UpdateStatus(VolumeSnapshots(), std::move(snapshot)));
    co_return Outcome::WaitFor(options_.look_again);
  }
  found->Set("status", json::Object({{"snapshotHandle", handle}, {"readyToUse", true}}));
  CO_TRY(co_await api_.UpdateStatus(VolumeSnapshotContents(), *found));
  CO_TRY(co_await SetReady(std::move(snapshot), content));
  co_return Outcome::Done();
}

rt::Task<Result<void>> Volumes::SetReady(Value snapshot, std::string content) {
  snapshot.Set("status", json::Object({{"boundVolumeSnapshotContentName", content},
                                       {"creationTime", json::FormatTime(api_.loop().WallNow())},
                                       {"readyToUse", true}}));
  const Result<Value> written = co_await api_.UpdateStatus(VolumeSnapshots(), std::move(snapshot));
  if (!written.ok()) co_return written.error();
  snapshots_.Learn(*written);
  co_return Result<void>();
}

// The state that the volume's pointer names; an empty volume is an empty file.
rt::Task<Result<void>> Volumes::CopyOut(std::string volume, std::string handle) {
  const Storage& storage = commons_.storage();
  const Result<std::string> url = co_await storage.files().ReadAll(VolumePointer(storage, cluster_, volume));
  std::string state;
  if (url.ok()) {
    const std::string path = CO_TRY(storage.PathOf(cluster_, *url));
    state = CO_TRY(co_await storage.files().ReadAll(path + "/_metadata"));
  } else if (url.error().kind() != ErrorKind::kNotFound) {
    co_return url.error();
  }
  co_return co_await storage.Write(HandlePath(handle), state);
}

rt::Task<Result<void>> Volumes::CopyIn(std::string handle, std::string volume) {
  const Storage& storage = commons_.storage();
  const std::string state = CO_TRY(co_await storage.files().ReadAll(HandlePath(handle)));
  if (state.empty()) co_return Result<void>();
  const std::string url = JoinUrl(VolumeUrl(volume), "restored");
  const std::string path = CO_TRY(storage.PathOf(cluster_, url));
  CO_TRY(co_await storage.Write(path + "/_metadata", state));
  co_return co_await storage.Write(VolumePointer(storage, cluster_, volume), url);
}

}  // namespace baton::practice
