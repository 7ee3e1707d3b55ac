// Volumes: the storage of a practice cluster: claims are bound to volumes that are folders of this cluster,
// VolumeSnapshots are copies outside of it, named by a handle, and a claim with a snapshot as its data source begins as
// that copy. One driver, practice.baton.io, which all clusters share: a handle that one made can be used in another.
//
//   PersistentVolumeClaim -> a PersistentVolume pvc-<uid>, Bound
//   VolumeSnapshot of a claim -> a VolumeSnapshotContent with status.snapshotHandle, readyToUse
//   VolumeSnapshotContent with spec.source.snapshotHandle, and a VolumeSnapshot that names it -> readyToUse
//
// Of a volume only the state of the practice job is there to be copied: what a process wrote that was not stopped is
// that of its last checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "kube/api.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "practice/commons.h"
#include "practice/faults.h"

namespace baton::practice {

inline constexpr std::string_view kVolumeDriver = "practice.baton.io";

const kube::Resource& Claims();
const kube::Resource& VolumeSnapshots();
const kube::Resource& VolumeSnapshotContents();

// The CRDs of the snapshot controller, which a real cluster gets from its storage.
std::vector<json::Value> SnapshotCrds();

std::string VolumeUrl(std::string_view volume);
std::string VolumePointer(const Storage& storage, std::string_view cluster, std::string_view volume);

class Volumes {
 public:
  struct Options {
    Duration bind_time = milliseconds(500);
    Duration snapshot_time = seconds(1);
    Duration look_again = milliseconds(500);  // while something else is waited for
  };

  // All outlive this.
  Volumes(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, Options options);

  // Until dropped.
  rt::Task<void> Run();

 private:
  rt::Task<kube::Outcome> ReconcileClaim(std::string key);
  rt::Task<Result<kube::Outcome>> Bind(json::Value claim);
  rt::Task<kube::Outcome> ReconcileSnapshot(std::string key);
  rt::Task<Result<kube::Outcome>> Snapshot(json::Value snapshot);
  rt::Task<Result<kube::Outcome>> UseContent(json::Value snapshot, std::string content);
  rt::Task<Result<void>> SetReady(json::Value snapshot, std::string content);
  rt::Task<Result<void>> CopyOut(std::string volume, std::string handle);
  rt::Task<Result<void>> CopyIn(std::string handle, std::string volume);
  std::string HandlePath(std::string_view handle) const;

  kube::Api& api_;
  Commons& commons_;
  std::string cluster_;
  Faults& faults_;
  Options options_;
  kube::Informer claims_;
  kube::Informer snapshots_;
  kube::Controller claim_controller_;
  kube::Controller snapshot_controller_;
};

}  // namespace baton::practice
