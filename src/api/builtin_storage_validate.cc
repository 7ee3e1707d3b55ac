// Rules for persistent volumes, claims and storage classes.
#include <algorithm>

#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

void CheckAccessModes(Errors& errors, const std::string& field, const Value& modes, std::string_view when_none) {
  if (modes.empty()) errors.push_back(RequiredError(field, when_none));
  bool once_pod = false;
  bool others = false;
  for (const Value& mode : modes.items()) {
    const size_t before = errors.size();
    CheckEnum(errors, field, mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    once_pod = once_pod || mode.str() == "ReadWriteOncePod";
    others = others || (mode.str() != "ReadWriteOncePod" && errors.size() == before);
  }
  if (once_pod && others) {
    errors.push_back(ForbiddenError(field, "may not use ReadWriteOncePod with other access modes"));
  }
}

void CheckStorageAmount(Errors& errors, const std::string& field, const Value& amount) {
  Result<json::Quantity> quantity = json::Quantity::FromJson(amount);
  if (!quantity.ok()) {
    errors.push_back(InvalidError(field, amount, quantity.error().message()));
  } else if (quantity->Sign() <= 0) {
    errors.push_back(InvalidError(field, quantity->ToString(), "must be greater than zero"));
  }
}

// What may still change is taken from the old claim.
Value WithoutAllowedChanges(const Value& claim, const Value& old) {
  Value spec = claim["spec"];
  const Value& before = old["spec"];
  const auto take = [&](std::string_view key) {
    if (before[key].is_null()) {
      spec.Erase(key);
    } else {
      spec.Set(key, before[key]);
    }
  };
  if (IsUnset(before["volumeName"])) take("volumeName");
  if (before["storageClassName"].is_null()) take("storageClassName");  // a default class may be filled in later
  if (claim["status"]["phase"].str() != "Bound") return spec;
  take("volumeAttributesClassName");
  if (spec["resources"]["requests"].is_object()) {
    const Value storage = before["resources"]["requests"]["storage"];
    spec.Edit("resources").Edit("requests").Set("storage", storage);
  }
  return spec;
}

void CheckClaimUpdate(Errors& errors, const Value& claim, const Value& old) {
  if (WithoutAllowedChanges(claim, old) != old["spec"]) {
    errors.push_back(ForbiddenError("spec",
                                    "spec is immutable after creation except resources.requests and "
                                    "volumeAttributesClassName for bound claims"));
  }
  Result<json::Quantity> before = json::Quantity::FromJson(old["spec"]["resources"]["requests"]["storage"]);
  Result<json::Quantity> now = json::Quantity::FromJson(claim["spec"]["resources"]["requests"]["storage"]);
  Result<json::Quantity> capacity = json::Quantity::FromJson(old["status"]["capacity"]["storage"]);
  if (before.ok() && now.ok() && capacity.ok() && *now < *before && *now <= *capacity) {
    errors.push_back(ForbiddenError("spec.resources.requests.storage", "field can not be less than status.capacity"));
  }
  CheckImmutable(errors, "volumeMode", claim["spec"]["volumeMode"], old["spec"]["volumeMode"]);
}

// The members of a volume's spec that are no source of it.
bool IsVolumeSetting(std::string_view key) {
  static constexpr std::string_view kSettings[] = {"accessModes",      "capacity",     "claimRef",
                                                   "mountOptions",     "nodeAffinity", "persistentVolumeReclaimPolicy",
                                                   "storageClassName", "volumeMode",   "volumeAttributesClassName"};
  return std::ranges::find(kSettings, key) != std::end(kSettings);
}

Value SourceOf(Value spec) {
  Value source = json::Object();
  for (const json::Member& member : spec.members()) {
    if (!IsVolumeSetting(member.key())) source.Set(member.key(), member.value());
  }
  return source;
}

}  // namespace

void CheckClaimSpec(Errors& errors, const std::string& field, const Value& spec) {
  CheckAccessModes(errors, ChildPath(field, "accessModes"), spec["accessModes"], "at least 1 access mode is required");
  CheckLabelSelector(errors, ChildPath(field, "selector"), spec["selector"]);
  const std::string storage = KeyPath(ChildPath(field, "resources"), "storage");
  if (!spec["resources"]["requests"].Has("storage")) {
    errors.push_back(RequiredError(storage, ""));
  } else {
    CheckStorageAmount(errors, storage, spec["resources"]["requests"]["storage"]);
  }
  if (!IsUnset(spec["storageClassName"])) {
    AddInvalid(errors, ChildPath(field, "storageClassName"), spec["storageClassName"],
               json::CheckDns1123Subdomain(spec["storageClassName"].str()));
  }
  CheckEnum(errors, ChildPath(field, "volumeMode"), spec["volumeMode"], {"Block", "Filesystem"});
}

Errors ValidatePersistentVolumeClaim(const Value& object, const Value* old) {
  Errors errors;
  CheckClaimSpec(errors, "spec", object["spec"]);
  if (old != nullptr) CheckClaimUpdate(errors, object, *old);
  return errors;
}

Errors ValidatePersistentVolume(const Value& object, const Value* old) {
  Errors errors;
  const Value& spec = object["spec"];
  CheckAccessModes(errors, "spec.accessModes", spec["accessModes"], "");
  if (spec["capacity"].empty()) errors.push_back(RequiredError("spec.capacity", ""));
  if (!spec["capacity"].Has("storage") || spec["capacity"].size() > 1) {
    const Value storage[] = {"storage"};
    errors.push_back(NotSupportedError("spec.capacity", spec["capacity"], storage));
    if (spec["capacity"].is_null()) errors.back().message = "Unsupported value: null: supported values: \"storage\"";
  }
  for (const json::Member& amount : spec["capacity"].members()) {
    CheckStorageAmount(errors, KeyPath("spec.capacity", amount.key()), amount.value());
  }
  CheckEnum(errors, "spec.persistentVolumeReclaimPolicy", spec["persistentVolumeReclaimPolicy"],
            {"Delete", "Recycle", "Retain"});
  const Value source = SourceOf(spec);
  if (source.empty()) errors.push_back(RequiredError("spec", "must specify a volume type"));
  for (size_t i = 1; i < source.size(); ++i) {
    errors.push_back(
        ForbiddenError(ChildPath("spec", source.members()[i].key()), "may not specify more than 1 volume type"));
  }
  CheckEnum(errors, "spec.volumeMode", spec["volumeMode"], {"Block", "Filesystem"});
  if (!IsUnset(spec["storageClassName"])) {
    AddInvalid(errors, "spec.storageClassName", spec["storageClassName"],
               json::CheckDns1123Subdomain(spec["storageClassName"].str()));
  }
  if (old != nullptr && source != SourceOf((*old)["spec"])) {
    errors.push_back(
        ForbiddenError("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
  }
  if (old != nullptr) CheckImmutable(errors, "spec.volumeMode", spec["volumeMode"], (*old)["spec"]["volumeMode"]);
  return errors;
}

Errors ValidateStorageClass(const Value& object, const Value* old) {
  Errors errors;
  if (old != nullptr) {
    for (std::string_view field : {"parameters", "provisioner", "reclaimPolicy"}) {
      if (object[field] == (*old)[field]) continue;
      errors.push_back(ForbiddenError(std::string(field), StrCat("updates to ", field, " are forbidden.")));
    }
    CheckImmutable(errors, "volumeBindingMode", object["volumeBindingMode"], (*old)["volumeBindingMode"]);
    return errors;
  }
  const std::string provisioner = ToLower(object["provisioner"].str());
  if (provisioner.empty()) {
    errors.push_back(RequiredError("provisioner", ""));
  } else {
    AddInvalid(errors, "provisioner", object["provisioner"], json::CheckQualifiedName(provisioner));
  }
  CheckEnum(errors, "reclaimPolicy", object["reclaimPolicy"], {"Delete", "Retain"});
  CheckEnum(errors, "volumeBindingMode", object["volumeBindingMode"], {"Immediate", "WaitForFirstConsumer"}, true);
  return errors;
}

}  // namespace baton::api::builtin
