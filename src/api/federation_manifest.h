// An object on its way from the hub to a member cluster: what is the hub's own and must not travel, and the record of
// what the hub manages on it.
//
// Whoever writes a Work does this to its manifests, its admission does it again, and whoever compares a manifest with
// what is in the cluster does it to both sides; so all three are the same code.
#pragma once

#include <string_view>

#include "json/value.h"

namespace baton::api {

// Takes away, in place: metadata that an API server sets, ownerReferences, finalizers, status, and by kind what a
// controller of the hub has filled in (a Deployment's revision, a Job's generated selector and its
// ttlSecondsAfterFinished, a Service's cluster IPs unless it is headless, a ServiceAccount's own tokens, the data of a
// token Secret, a claim's selected node). As in Karmada the kind decides, whatever its group.
void PruneManifest(json::Value& manifest);

// Labels the manifest with its Work's id and records the keys of its annotations and labels, so that the member can
// tell which ones the hub took away later. After PruneManifest.
void MarkManifest(json::Value& manifest, std::string_view work_id);

}  // namespace baton::api
