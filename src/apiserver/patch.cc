// What a patch makes of an object: the four kinds of patches, on main resources, status and scale.
#include <utility>

#include "api/field_errors.h"
#include "api/managed_fields.h"
#include "apiserver/decode.h"
#include "apiserver/scale.h"
#include "apiserver/write.h"
#include "base/strings.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "json/strategic_merge.h"

namespace baton::apiserver {

namespace {

using json::Value;

Error NoStrategicMerge() {
  return UnsupportedMedia(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

// A patch whose result does not decode is an invalid patch.
Error BadPatch(const Value& patch, const Error& error) {
  constexpr std::string_view kStrict = "strict decoding error: ";
  const size_t at = error.message().find(kStrict);
  if (at == std::string::npos && error.ToStatus().code != 400) return error;
  const std::string why = error.message().substr(at == std::string::npos ? 0 : at);
  return InvalidObject("", "", "", {api::InvalidError("patch", patch.ToString(), why)});
}

// What a patch may not touch, as an update may not, which conflicts instead.
Result<void> CheckImmutable(const ResourceType& type, const Value& patched, const Value& live) {
  const std::string_view uid = patched["metadata"]["uid"].str();
  if (!uid.empty() && uid != live["metadata"]["uid"].str()) {
    return InvalidObject(type.group, type.kind, live["metadata"]["name"].str(),
                         {api::InvalidError("metadata.uid", uid, "field is immutable")});
  }
  const Value& leaving = patched["metadata"]["deletionTimestamp"];
  if (leaving.is_null() || leaving == live["metadata"]["deletionTimestamp"]) return {};
  return InvalidObject(type.group, type.kind, live["metadata"]["name"].str(),
                       {api::InvalidError("metadata.deletionTimestamp", leaving, "field is immutable")});
}

Result<Value> ApplyPlainPatch(const ResourceType& type, PatchType kind, const Value& patch, const Value& live) {
  switch (kind) {
    case PatchType::kJson:
      return json::ApplyJsonPatch(live, patch);
    case PatchType::kMerge:
      if (!patch.is_object()) return BadRequest("a merge patch must be an object");
      return json::ApplyMergePatch(live, patch);
    case PatchType::kStrategic:
      if (type.custom) return NoStrategicMerge();
      if (!patch.is_object()) return BadRequest("a strategic merge patch must be an object");
      return json::ApplyStrategicMergePatch(live, patch, type.patch_schema);
    case PatchType::kApply:
      break;
  }
  return InternalServerError("an apply is no plain patch");
}

}  // namespace

Result<Value> WriteOperation::ScaleWish(const Value& live, const Value& scale) const {
  return WithScale(*target_.type, live, scale);
}

Result<WriteOperation::Wish> WriteOperation::Patched(PatchType type, const Value& patch, const Value& live) {
  if (target_.subresource == "scale") {
    const Value scale = ScaleOf(*target_.type, live);
    if (type == PatchType::kApply) return UnsupportedMedia("scale takes no apply patch");
    const Value patched = TRY(ApplyPlainPatch(*target_.type, type, patch, scale));
    TRY(CheckPreconditions(patched, live));
    Result<Value> scaled = ScaleWish(live, patched);
    if (!scaled.ok()) return BadPatch(patch, scaled.error());
    return Wish{.object = *std::move(scaled)};
  }
  if (type != PatchType::kApply) {
    Value patched = TRY(ApplyPlainPatch(*target_.type, type, patch, live));
    // Warnings of an earlier try of the same patch are not told twice.
    caller_.warnings.resize(warnings_before_);
    Result<Value> decoded = DecodeObject(*target_.type, std::move(patched), options_, caller_.warnings, settled());
    if (!decoded.ok()) return BadPatch(patch, decoded.error());
    patched = *std::move(decoded);
    TRY(CheckPlace(patched));
    TRY(CheckImmutable(*target_.type, patched, live));
    TRY(CheckPreconditions(patched, live));
    return Wish{.object = std::move(patched)};
  }
  if (options_.field_manager.empty()) {
    return InvalidObject("meta.k8s.io", "PatchOptions", "",
                         {{.type = api::FieldError::Type::kRequired,
                           .field = "fieldManager",
                           .message = "Required value: is required for apply patch"}});
  }
  caller_.warnings.resize(warnings_before_);
  // The configuration is checked as an object of its own, but without defaults: it owns only what it says.
  WriteOptions checked = options_;
  Value config = patch;
  if (!patch["metadata"]["managedFields"].is_null()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  if (live.is_null() && config["metadata"]["name"].str().empty()) return BadRequest("name must be provided");
  if (config.is_object() && config["metadata"]["name"].str().empty()) {
    config.Edit("metadata").Set("name", target_.name);
  }
  TRY(CheckPlace(config));
  if (!target_.type->namespaced || patch["metadata"]["namespace"].is_null()) config.Edit("metadata").Erase("namespace");
  TRY(DecodeObject(*target_.type, config, checked, caller_.warnings));
  if (!live.is_null()) TRY(CheckPreconditions(config, live));
  if (const std::string_view uid = config["metadata"]["uid"].str(); live.is_null() && !uid.empty()) {
    return Conflict(subject(), StrCat("uid mismatch: the provided object specified uid ", uid,
                                      ", and no existing object was found"));
  }
  api::FieldManager manager{.name = options_.field_manager,
                            .api_version = target_.type->ApiVersion(),
                            .subresource = target_.subresource,
                            .now = core_.loop_.WallNow()};
  if (target_.type->has_status) manager.reset_fields = api::ResetFields(target_.subresource);
  static const api::Schema kAnything;
  const api::Schema& schema = target_.type->schema == nullptr ? kAnything : *target_.type->schema;
  Value applied = TRY(api::ApplyConfiguration(live, config, schema, manager, options_.force));
  std::vector<std::string> told_already;
  applied = TRY(DecodeObject(*target_.type, std::move(applied), {.field_validation = FieldValidation::kIgnore},
                             told_already, settled()));
  return Wish{.object = std::move(applied), .tracked = true};
}

}  // namespace baton::apiserver
