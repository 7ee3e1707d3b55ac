// Rules for pods and pod templates.
#include <limits>
#include <set>

#include "api/builtin_kinds.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace baton::api::builtin {
namespace {

void CheckVolumeDetails(Errors& errors, const std::string& field, const Value& volume) {
  for (std::string_view source : {"secret", "configMap", "downwardAPI", "projected"}) {
    const Value& mode = volume[source]["defaultMode"];
    if (mode.int_or(0) >= 0 && mode.int_or(0) <= 0777) continue;
    errors.push_back(InvalidError(ChildPath(ChildPath(field, source), "defaultMode"), mode,
                                  "must be a number between 0 and 0777 (octal), both inclusive"));
  }
  CheckNoBackstep(errors, ChildPath(field, "hostPath.path"), volume["hostPath"]["path"].str());
  CheckEnum(errors, ChildPath(field, "hostPath.type"), volume["hostPath"]["type"],
            {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"});
  if (const std::string_view path = volume["nfs"]["path"].str(); !path.empty() && !path.starts_with('/')) {
    errors.push_back(InvalidError(ChildPath(field, "nfs.path"), path, "must be an absolute path"));
  }
  Result<json::Quantity> limit = json::Quantity::FromJson(volume["emptyDir"]["sizeLimit"]);
  if (limit.ok() && limit->Sign() < 0) {
    errors.push_back(
        ForbiddenError(ChildPath(field, "emptyDir.sizeLimit"), "SizeLimit field must be a valid resource quantity"));
  }
}

void CheckNetworkSettings(Errors& errors, const std::string& field, const Value& spec) {
  const Value& aliases = spec["hostAliases"];
  for (size_t i = 0; i < aliases.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, "hostAliases"), i);
    CheckIp(errors, ChildPath(path, "ip"), aliases[i]["ip"].str());
    const Value& names = aliases[i]["hostnames"];
    for (size_t k = 0; k < names.size(); ++k) {
      AddInvalid(errors, IndexPath(ChildPath(path, "hostnames"), k), names[k],
                 json::CheckDns1123Subdomain(names[k].str()));
    }
  }
  const Value& servers = spec["dnsConfig"]["nameservers"];
  for (size_t i = 0; i < servers.size(); ++i) {
    CheckIp(errors, IndexPath(ChildPath(field, "dnsConfig.nameservers"), i), servers[i]);
  }
}

// Only a pod itself: templates may have been stored with it.
void CheckImageSpaces(Errors& errors, const Value& spec) {
  for (std::string_view list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < spec[list].size(); ++i) {
      const Value& image = spec[list][i]["image"];
      if (Trim(image.str()).size() == image.str().size()) continue;
      errors.push_back(InvalidError(ChildPath(IndexPath(ChildPath("spec", list), i), "image"), image,
                                    "must not have leading or trailing whitespace"));
    }
  }
}

void CheckVolumeSource(Errors& errors, const std::string& field, const Value& volume) {
  size_t count = 0;
  for (const json::Member& member : volume.members()) {
    if (member.key() == "name" || !member.value().is_object()) continue;
    if (count++ > 0) {
      errors.push_back(ForbiddenError(ChildPath(field, member.key()), "may not specify more than 1 volume type"));
    }
  }
  if (count == 0) errors.push_back(RequiredError(field, "must specify a volume type"));
  const auto require = [&](std::string_view source, std::string_view key) {
    if (volume[source].is_object() && IsUnset(volume[source][key])) {
      errors.push_back(RequiredError(ChildPath(ChildPath(field, source), key), ""));
    }
  };
  require("secret", "secretName");
  require("configMap", "name");
  require("persistentVolumeClaim", "claimName");
  require("hostPath", "path");
  require("nfs", "server");
  require("nfs", "path");
  require("csi", "driver");
  CheckVolumeDetails(errors, field, volume);
}

void CheckTolerations(Errors& errors, const std::string& field, const Value& tolerations) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const Value& one = tolerations[i];
    const std::string path = IndexPath(field, i);
    const std::string_view op = one["operator"].str();
    const std::string_view key = one["key"].str();
    if (!key.empty()) AddInvalid(errors, ChildPath(path, "key"), key, json::CheckQualifiedName(key));
    if (key.empty() && op != "Exists") {
      errors.push_back(
          InvalidError(ChildPath(path, "operator"), op,
                       "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (!one["tolerationSeconds"].is_null() && one["effect"].str() != "NoExecute") {
      errors.push_back(InvalidError(ChildPath(path, "effect"), one["effect"].str(),
                                    "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op == "Exists" && !IsUnset(one["value"])) {
      errors.push_back(
          InvalidError(ChildPath(path, "operator"), one["value"], "value must be empty when `operator` is 'Exists'"));
    } else if (op == "Equal" || op.empty()) {
      const json::Messages wrong = json::CheckLabelValue(one["value"].str());
      if (!wrong.empty()) {
        errors.push_back(InvalidError(ChildPath(path, "operator"), one["value"], Join(wrong, ";")));
      }
    } else if (op != "Exists") {
      CheckEnum(errors, ChildPath(path, "operator"), op, {"Equal", "Exists"});
    }
    CheckEnum(errors, ChildPath(path, "effect"), one["effect"], {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void CheckName(Errors& errors, const std::string& field, const Value& name, json::Messages (*check)(std::string_view)) {
  if (!IsUnset(name)) AddInvalid(errors, field, name, check(name.str()));
}

// What an update of a pod may change, taken from the old one.
Value WithoutAllowedChanges(const Value& spec, const Value& old) {
  Value same = spec;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < same[list].size() && i < old[list].size(); ++i) {
      if (!same[list][i].is_object()) continue;
      const Value image = old[list][i]["image"];
      same.Edit(list).Edit(i).Set("image", image);
    }
  }
  for (std::string_view field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    if (old[field].is_null()) {
      same.Erase(field);
    } else {
      same.Set(field, old[field]);
    }
  }
  if (old["terminationGracePeriodSeconds"].int_or(0) < 0 && same["terminationGracePeriodSeconds"].int_or(0) == 1) {
    same.Set("terminationGracePeriodSeconds", old["terminationGracePeriodSeconds"]);
  }
  return same;
}

void CheckPodUpdate(Errors& errors, const Value& spec, const Value& old) {
  for (std::string_view list : {"containers", "initContainers"}) {
    if (spec[list].size() == old[list].size()) continue;
    errors.push_back(ForbiddenError(ChildPath("spec", list), "pod updates may not add or remove containers"));
    return;
  }
  const Value& deadline = spec["activeDeadlineSeconds"];
  const Value& before = old["activeDeadlineSeconds"];
  if (deadline.is_null() && !before.is_null()) {
    errors.push_back(
        InvalidError("spec.activeDeadlineSeconds", deadline, "must not update from a positive integer to nil value"));
  } else if (!before.is_null() && deadline.int_or(0) > before.int_or(0)) {
    errors.push_back(
        InvalidError("spec.activeDeadlineSeconds", deadline, "must be less than or equal to previous value"));
  }
  for (const Value& toleration : old["tolerations"].items()) {
    bool kept = false;
    for (const Value& one : spec["tolerations"].items()) kept = kept || one == toleration;
    if (kept) continue;
    errors.push_back(ForbiddenError("spec.tolerations",
                                    "existing toleration can not be modified except its "
                                    "tolerationSeconds"));
  }
  if (WithoutAllowedChanges(spec, old) == old) return;
  errors.push_back(ForbiddenError(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
      "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

}  // namespace

void CheckVolumes(Errors& errors, const std::string& field, const Value& volumes) {
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const std::string path = IndexPath(field, i);
    const Value& name = volumes[i]["name"];
    CheckVolumeSource(errors, path, volumes[i]);
    if (IsUnset(name)) {
      errors.push_back(RequiredError(ChildPath(path, "name"), ""));
    } else {
      AddInvalid(errors, ChildPath(path, "name"), name, json::CheckDns1123Label(name.str()));
    }
    if (!names.emplace(name.str()).second) errors.push_back(DuplicateError(ChildPath(path, "name"), name));
  }
}

void CheckPodSpec(Errors& errors, const std::string& field, const Value& spec) {
  CheckVolumes(errors, ChildPath(field, "volumes"), spec["volumes"]);
  CheckContainers(errors, field, spec);
  CheckEnum(errors, ChildPath(field, "restartPolicy"), spec["restartPolicy"], {"Always", "OnFailure", "Never"}, true);
  CheckEnum(errors, ChildPath(field, "dnsPolicy"), spec["dnsPolicy"],
            {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, true);
  CheckLabels(errors, ChildPath(field, "nodeSelector"), spec["nodeSelector"]);
  CheckName(errors, ChildPath(field, "serviceAccountName"), spec["serviceAccountName"], json::CheckDns1123Subdomain);
  CheckName(errors, ChildPath(field, "nodeName"), spec["nodeName"], json::CheckDns1123Subdomain);
  if (const Value& seconds = spec["activeDeadlineSeconds"]; seconds.is_int()) {
    if (seconds.int_or(0) < 1 || seconds.int_or(0) > std::numeric_limits<int32_t>::max()) {
      errors.push_back(InvalidError(ChildPath(field, "activeDeadlineSeconds"), seconds,
                                    "must be between 1 and 2147483647, inclusive"));
    }
  }
  CheckName(errors, ChildPath(field, "hostname"), spec["hostname"], json::CheckDns1123Label);
  CheckName(errors, ChildPath(field, "subdomain"), spec["subdomain"], json::CheckDns1123Label);
  CheckTolerations(errors, ChildPath(field, "tolerations"), spec["tolerations"]);
  CheckName(errors, ChildPath(field, "priorityClassName"), spec["priorityClassName"], json::CheckDns1123Subdomain);
  CheckName(errors, ChildPath(field, "runtimeClassName"), spec["runtimeClassName"], json::CheckDns1123Subdomain);
  CheckEnum(errors, ChildPath(field, "preemptionPolicy"), spec["preemptionPolicy"], {"PreemptLowerPriority", "Never"});
  CheckScheduling(errors, field, spec);
  CheckNetworkSettings(errors, field, spec);
}

void CheckTemplateMetadata(Errors& errors, const std::string& field, const Value& metadata) {
  CheckLabels(errors, ChildPath(field, "labels"), metadata["labels"]);
  for (const json::Member& annotation : metadata["annotations"].members()) {
    AddInvalid(errors, ChildPath(field, "annotations"), annotation.key(), json::CheckAnnotationKey(annotation.key()));
  }
}

void CheckPodTemplate(Errors& errors, const std::string& field, const Value& template_object) {
  CheckTemplateMetadata(errors, field, template_object["metadata"]);
  CheckPodSpec(errors, ChildPath(field, "spec"), template_object["spec"]);
  if (!template_object["spec"]["ephemeralContainers"].empty()) {
    errors.push_back(ForbiddenError(ChildPath(field, "spec.ephemeralContainers"),
                                    "ephemeral containers not allowed in pod template"));
  }
}

Errors ValidatePod(const Value& object, const Value* old) {
  Errors errors;
  CheckPodSpec(errors, "spec", object["spec"]);
  CheckImageSpaces(errors, object["spec"]);
  if (old != nullptr) CheckPodUpdate(errors, object["spec"], (*old)["spec"]);
  return errors;
}

Errors ValidatePodTemplateObject(const Value& object, const Value* /*old*/) {
  Errors errors;
  CheckPodTemplate(errors, "template", object["template"]);
  return errors;
}

}  // namespace baton::api::builtin
