// Strategic merge patch, as Kubernetes defines it: a merge patch that knows which lists have items with a name.
//
//   const PatchSchema* schema = KubernetesPatchSchema("apps/v1", "Deployment");       // json/patch_schema.h
//   Value patch = TRY(ParseYaml("spec: {template: {spec: {containers: [{name: app, image: 'app:2'}]}}}"));
//   Value changed = TRY(ApplyStrategicMergePatch(deployment, patch, schema));         // other containers stay
//
// Maps are merged and null removes a member. Lists are replaced, unless the schema says `merge`: then lists of objects
// are merged item by item (found by the merge key), lists of primitives become a union. Directives in the patch:
//
//   $patch: delete | replace           in a map: empties or replaces it; in a list's item: removes that item, or
//   (replace)
//                                      makes the patch's other items the whole list
//   $retainKeys: [a, b]                members of the map other than these are removed
//   $deleteFromPrimitiveList/f: [x]    removes x from the list f
//   $setElementOrder/f: [...]          the order of f's items: those named here in this order, the others keep their
//                                      places relative to the items that stood beside them in the live list
//
// Directives and nulls never reach the result: Kubernetes leaves some behind for its typed decoding to drop, here they
// are dropped at once. Where a Go map's random order decides in Kubernetes, here the byte order of the keys does.
//
// Errors have Kubernetes' texts ("map: map[image:x] does not contain declared merge key: name") and the Status that
// its API server answers with (400 for a malformed directive), but 422 where it has an internal error, since the fault
// is the patch's. Nothing of the input is copied but the path to what changes.
#pragma once

#include "base/result.h"
#include "json/patch_schema.h"
#include "json/value.h"

namespace baton::json {

// Both must be objects. A null schema knows nothing: maps merge, lists are replaced. (Kubernetes refuses such kinds;
// whether to is the caller's decision.)
Result<Value> ApplyStrategicMergePatch(const Value& document, const Value& patch, const PatchSchema* schema);

}  // namespace baton::json
