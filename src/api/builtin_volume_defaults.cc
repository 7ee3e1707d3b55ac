// Defaults of volumes, persistent volumes and claims.
#include "api/builtin_image.h"
#include "api/builtin_kinds.h"

namespace baton::api::builtin {
namespace {

constexpr int64_t kFileMode = 0644;
constexpr int64_t kTokenSeconds = 3600;

// Sources that are old or rare, the same in volumes and persistent volumes.
void DefaultVendorSources(Value& owner) {
  if (Value* iscsi = EditObjectIfThere(owner, "iscsi")) DefaultText(*iscsi, "iscsiInterface", "default");
  if (Value* rbd = EditObjectIfThere(owner, "rbd")) {
    DefaultText(*rbd, "pool", "rbd");
    DefaultText(*rbd, "user", "admin");
    DefaultText(*rbd, "keyring", "/etc/ceph/keyring");
  }
  if (Value* azure = EditObjectIfThere(owner, "azureDisk")) {
    DefaultTo(*azure, "cachingMode", "ReadWrite");
    DefaultTo(*azure, "fsType", "ext4");
    DefaultTo(*azure, "readOnly", false);
    DefaultTo(*azure, "kind", "Shared");
  }
  if (Value* scale_io = EditObjectIfThere(owner, "scaleIO")) {
    DefaultText(*scale_io, "storageMode", "ThinProvisioned");
    DefaultText(*scale_io, "fsType", "xfs");
  }
  if (Value* host_path = EditObjectIfThere(owner, "hostPath")) DefaultTo(*host_path, "type", "");
}

void DefaultDownwardItems(Value& owner) {
  EditEach(owner, "items", [](Value& item) {
    if (Value* field = EditObjectIfThere(item, "fieldRef")) DefaultText(*field, "apiVersion", "v1");
    if (Value* resource = EditObjectIfThere(item, "resourceFieldRef")) DefaultTo(*resource, "divisor", "0");
  });
}

void DefaultProjected(Value& projected) {
  DefaultTo(projected, "defaultMode", kFileMode);
  EditEach(projected, "sources", [](Value& source) {
    if (Value* token = EditObjectIfThere(source, "serviceAccountToken")) {
      DefaultTo(*token, "expirationSeconds", kTokenSeconds);
    }
    if (Value* downward = EditObjectIfThere(source, "downwardAPI")) DefaultDownwardItems(*downward);
  });
}

}  // namespace

void DefaultVolume(Value& volume) {
  // No source at all: an empty directory. What is not "name" is a source.
  bool has_source = false;
  for (const json::Member& member : volume.members()) {
    has_source = has_source || (member.key() != "name" && !member.value().is_null());
  }
  if (!has_source) volume.Set("emptyDir", json::Object());
  for (std::string_view source : {"secret", "configMap", "downwardAPI"}) {
    if (Value* files = EditObjectIfThere(volume, source)) DefaultTo(*files, "defaultMode", kFileMode);
  }
  if (Value* downward = EditObjectIfThere(volume, "downwardAPI")) DefaultDownwardItems(*downward);
  if (Value* projected = EditObjectIfThere(volume, "projected")) DefaultProjected(*projected);
  if (Value* image = EditObjectIfThere(volume, "image")) {
    DefaultText(*image, "pullPolicy", DefaultPullPolicy((*image)["reference"].str()));
  }
  if (Value* ephemeral = EditObjectIfThere(volume, "ephemeral")) {
    if (Value* claim = EditObjectIfThere(*ephemeral, "volumeClaimTemplate")) {
      DefaultTo(*claim, "metadata", json::Object());
      DefaultClaimSpec(*claim);
    }
  }
  DefaultVendorSources(volume);
}

void DefaultClaimSpec(Value& claim) {
  Value* spec = EditObject(claim, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "volumeMode", "Filesystem");
  if (Value* resources = EditObject(*spec, "resources")) {
    DefaultResourceList(*resources, "limits");
    DefaultResourceList(*resources, "requests");
  }
}

void DefaultPersistentVolumeClaim(Value& object) {
  DefaultClaimSpec(object);
  if (Value* status = EditObject(object, "status")) {
    DefaultText(*status, "phase", "Pending");
    DefaultResourceList(*status, "capacity");
  }
}

void DefaultPersistentVolume(Value& object) {
  if (Value* status = EditObject(object, "status")) DefaultText(*status, "phase", "Pending");
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultText(*spec, "persistentVolumeReclaimPolicy", "Retain");
  DefaultTo(*spec, "volumeMode", "Filesystem");
  DefaultResourceList(*spec, "capacity");
  DefaultVendorSources(*spec);
}

}  // namespace baton::api::builtin
