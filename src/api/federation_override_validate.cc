// Rules of override policies.
#include <string>

#include "api/federation_kinds.h"
#include "base/strings.h"
#include "json/names.h"
#include "json/pointer.h"

namespace baton::api::federation {
namespace {

using builtin::AddInvalid;

void CheckPointer(Errors& errors, const std::string& field, const Value& path) {
  const Result<json::Pointer> parsed = json::Pointer::Parse(path.str());
  if (!parsed.ok()) errors.push_back(InvalidError(field, path, parsed.error().message()));
}

void CheckAnnotations(Errors& errors, const std::string& field, const Value& annotations) {
  for (const json::Member& annotation : annotations.members()) {
    AddInvalid(errors, field, annotation.key(), json::CheckAnnotationKey(annotation.key()));
  }
  for (const std::string& wrong : json::CheckAnnotationsSize(annotations)) {
    errors.push_back(InvalidError(field, "", wrong));
  }
}

void CheckPatchOperations(Errors& errors, const std::string& field, const Value& operations) {
  for (size_t i = 0; i < operations.size(); ++i) {
    const std::string at = IndexPath(field, i);
    CheckPointer(errors, ChildPath(at, "subPath"), operations[i]["subPath"]);
    const std::string_view by = operations[i]["operator"].str();
    const bool has_value = !operations[i]["value"].is_null();
    if ((by == "add" || by == "replace") && !has_value) {
      errors.push_back(RequiredError(ChildPath(at, "value"), StrCat("to ", by, " it")));
    }
    if (by == "remove" && has_value) {
      errors.push_back(ForbiddenError(ChildPath(at, "value"), "may not be given for remove"));
    }
  }
}

void CheckFieldOverrider(Errors& errors, const std::string& field, const Value& overrider) {
  const bool json = !overrider["json"].empty();
  const bool yaml = !overrider["yaml"].empty();
  if (json && yaml) errors.push_back(ForbiddenError(ChildPath(field, "yaml"), "may not be given together with json"));
  if (!json && !yaml) errors.push_back(RequiredError(field, "must have json or yaml"));
  CheckPointer(errors, ChildPath(field, "fieldPath"), overrider["fieldPath"]);
  CheckPatchOperations(errors, ChildPath(field, "json"), overrider["json"]);
  CheckPatchOperations(errors, ChildPath(field, "yaml"), overrider["yaml"]);
}

void CheckOverriders(Errors& errors, const std::string& field, const Value& overriders) {
  const auto each = [&](std::string_view list, const auto& check) {
    for (size_t i = 0; i < overriders[list].size(); ++i)
      check(IndexPath(ChildPath(field, list), i), overriders[list][i]);
  };
  each("annotationsOverrider", [&](const std::string& at, const Value& overrider) {
    CheckAnnotations(errors, ChildPath(at, "value"), overrider["value"]);
  });
  each("labelsOverrider", [&](const std::string& at, const Value& overrider) {
    builtin::CheckLabels(errors, ChildPath(at, "value"), overrider["value"]);
  });
  each("imageOverrider", [&](const std::string& at, const Value& overrider) {
    if (!overrider["predicate"].is_object()) return;
    CheckPointer(errors, ChildPath(ChildPath(at, "predicate"), "path"), overrider["predicate"]["path"]);
  });
  each("fieldOverrider",
       [&](const std::string& at, const Value& overrider) { CheckFieldOverrider(errors, at, overrider); });
}

// As in Karmada a fieldOverrider alone does not count: such policies exist and must stay valid.
bool HasOldOverriders(const Value& overriders) {
  for (std::string_view list : {"plaintext", "imageOverrider", "commandOverrider", "argsOverrider", "labelsOverrider",
                                "annotationsOverrider"}) {
    if (!overriders[list].empty()) return true;
  }
  return false;
}

void CheckOverrideSpec(Errors& errors, const Value& spec) {
  constexpr std::string_view kNotBoth = "may not be given together with overrideRules";
  const Value& rules = spec["overrideRules"];
  CheckClusterAffinity(errors, "spec.targetCluster", spec["targetCluster"]);
  if (!spec["targetCluster"].is_null() && !rules.is_null()) {
    errors.push_back(ForbiddenError("spec.targetCluster", kNotBoth));
  }
  if (HasOldOverriders(spec["overriders"]) && !rules.is_null()) {
    errors.push_back(ForbiddenError("spec.overriders", kNotBoth));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string at = IndexPath("spec.overrideRules", i);
    CheckOverriders(errors, ChildPath(at, "overriders"), rules[i]["overriders"]);
    CheckClusterAffinity(errors, ChildPath(at, "targetCluster"), rules[i]["targetCluster"]);
  }
}

}  // namespace

void CheckOverridePolicy(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  CheckOverrideSpec(errors, object["spec"]);
  CheckSelectorNamespaces(errors, object);
}

void CheckClusterOverridePolicy(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  CheckOverrideSpec(errors, object["spec"]);
}

}  // namespace baton::api::federation
