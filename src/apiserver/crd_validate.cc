// The rules of CustomResourceDefinitions.
#include <algorithm>
#include <optional>
#include <set>

#include "api/crd_schema_memo.h"
#include "api/field_errors.h"
#include "apiserver/crd.h"
#include "base/strings.h"
#include "json/names.h"

namespace baton::apiserver {

namespace {

using api::FieldError;
using json::Value;
using Errors = std::vector<FieldError>;

constexpr std::string_view kApprovedAnnotation = "api-approved.kubernetes.io";

void Check(Errors& errors, std::string_view field, const Value& value, const json::Messages& messages) {
  for (const std::string& message : messages) errors.push_back(api::InvalidError(std::string(field), value, message));
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

void CheckNames(const Value& names, Errors& errors) {
  for (const std::string_view field : {"plural", "kind"}) {
    const std::string path = StrCat("spec.names.", field);
    if (names[field].str().empty()) {
      errors.push_back(api::RequiredError(path, ""));
    } else {
      Check(errors, path, names[field], json::CheckDns1035Label(Lower(names[field].str())));
    }
  }
  for (const std::string_view field : {"singular", "listKind"}) {
    if (names[field].str().empty()) continue;
    Check(errors, StrCat("spec.names.", field), names[field], json::CheckDns1035Label(Lower(names[field].str())));
  }
  for (const std::string_view field : {"shortNames", "categories"}) {
    for (size_t i = 0; i < names[field].size(); ++i) {
      Check(errors, StrCat("spec.names.", field, "[", i, "]"), names[field][i],
            json::CheckDns1035Label(names[field][i].str()));
    }
  }
  if (!names["kind"].str().empty() && names["kind"].str() == names["listKind"].str()) {
    errors.push_back(
        api::InvalidError("spec.names.listKind", names["listKind"], "kind and listKind may not be the same"));
  }
}

void CheckSubresources(const Value& version, const std::string& path, Errors& errors) {
  const Value* scale = version["subresources"].Find("scale");
  if (scale == nullptr) return;
  for (const auto& [field, start] : {std::pair<std::string_view, std::string_view>{"specReplicasPath", ".spec."},
                                     {"statusReplicasPath", ".status."}}) {
    const Value& given = (*scale)[field];
    const std::string place = StrCat(path, ".subresources.scale.", field);
    if (given.str().empty()) {
      errors.push_back(api::RequiredError(place, ""));
    } else if (!given.str().starts_with(start)) {
      errors.push_back(
          api::InvalidError(place, given, StrCat("should be a json path under ", start.substr(0, start.size() - 1))));
    }
  }
}

void CheckColumns(const Value& version, const std::string& path, Errors& errors) {
  const Value& columns = version["additionalPrinterColumns"];
  static const std::vector<Value> kTypes = {"boolean", "date", "integer", "number", "string"};
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string place = StrCat(path, ".additionalPrinterColumns[", i, "]");
    if (columns[i]["name"].str().empty()) errors.push_back(api::RequiredError(place + ".name", ""));
    const Value& type = columns[i]["type"];
    if (type.str().empty()) {
      errors.push_back(api::RequiredError(place + ".type", "must be one of boolean,date,integer,number,string"));
    } else if (std::ranges::find(kTypes, type) == kTypes.end()) {
      errors.push_back(api::InvalidError(place + ".type", type, "must be one of boolean,date,integer,number,string"));
    }
    const Value& path_text = columns[i]["jsonPath"];
    if (path_text.str().empty()) {
      errors.push_back(api::RequiredError(place + ".jsonPath", ""));
    } else if (!path_text.str().starts_with('.')) {
      errors.push_back(api::InvalidError(place + ".jsonPath", path_text, "must be a simple json path starting with ."));
    }
  }
}

void CheckVersions(const Value& spec, Errors& errors) {
  const Value& versions = spec["versions"];
  std::set<std::string_view> names;
  size_t storage = 0;
  for (size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions[i];
    const std::string path = StrCat("spec.versions[", i, "]");
    Check(errors, path + ".name", version["name"], json::CheckDns1035Label(version["name"].str()));
    if (!names.insert(version["name"].str()).second) {
      errors.push_back(api::DuplicateError(path + ".name", version["name"]));
    }
    storage += version["storage"].bool_or(false) ? 1 : 0;
    CheckSubresources(version, path, errors);
    CheckColumns(version, path, errors);
    const Value& schema = version["schema"]["openAPIV3Schema"];
    if (!schema.is_object()) {
      errors.push_back(api::RequiredError(path + ".schema.openAPIV3Schema", ""));
      continue;
    }
    const auto read = api::CrdSchemaMemo::OfThisThread().Read(schema, path + ".schema.openAPIV3Schema");
    std::ranges::copy(read->errors, std::back_inserter(errors));
  }
  if (storage != 1) {
    errors.push_back(
        api::InvalidError("spec.versions", versions, "must have exactly one version marked as storage version"));
  }
}

}  // namespace

std::vector<FieldError> ValidateCrd(const Value& crd, const Value* old) {
  Errors errors;
  const Value& spec = crd["spec"];
  const std::string_view group = spec["group"].str();
  if (group.empty()) {
    errors.push_back(api::RequiredError("spec.group", ""));
  } else {
    Check(errors, "spec.group", spec["group"], json::CheckDns1123Subdomain(group));
    if (group.find('.') == std::string_view::npos) {
      errors.push_back(api::InvalidError("spec.group", spec["group"], "should be a domain with at least one dot"));
    }
  }
  const bool is_protected =
      group == "k8s.io" || group == "kubernetes.io" || group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
  if (is_protected && crd["metadata"]["annotations"][kApprovedAnnotation].str().empty()) {
    errors.push_back(
        api::RequiredError(api::KeyPath("metadata.annotations", kApprovedAnnotation),
                           "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
                           "https://github.com/kubernetes/enhancements/pull/1111"));
  }
  const std::string wanted = StrCat(spec["names"]["plural"].str(), ".", group);
  if (crd["metadata"]["name"].str() != wanted) {
    errors.push_back(
        api::InvalidError("metadata.name", crd["metadata"]["name"], R"(must be spec.names.plural+"."+spec.group)"));
  }
  const std::string_view scope = spec["scope"].str();
  if (scope.empty()) {
    errors.push_back(api::RequiredError("spec.scope", ""));
  } else if (scope != "Namespaced" && scope != "Cluster") {
    errors.push_back(api::NotSupportedError("spec.scope", spec["scope"], std::vector<Value>{"Cluster", "Namespaced"}));
  }
  CheckNames(spec["names"], errors);
  CheckVersions(spec, errors);
  if (spec["conversion"]["strategy"].str() == "Webhook") {
    errors.push_back(api::NotSupportedError("spec.conversion.strategy", "Webhook", std::vector<Value>{"None"}));
  }
  if (spec["preserveUnknownFields"].bool_or(false)) {
    errors.push_back(api::InvalidError("spec.preserveUnknownFields", true,
                                       "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                       "spec.versions[*].schema instead"));
  }
  const Value& stored = crd["status"]["storedVersions"];
  for (size_t i = 0; i < stored.size(); ++i) {
    const auto has_name = [&](const Value& version) { return version["name"] == stored[i]; };
    if (std::ranges::any_of(spec["versions"].items(), has_name)) continue;
    const std::string_view version = stored[i].str();
    errors.push_back(api::InvalidError(
        StrCat("status.storedVersions[", i, "]"), stored[i],
        StrCat(
            "missing from spec.versions; ", version,
            " was previously a storage version, and must remain in spec.versions until a storage migration ensures no "
            "data remains persisted in ",
            version, " and removes ", version, " from status.storedVersions")));
  }
  if (old != nullptr) {
    for (const std::string_view field : {"group", "scope"}) {
      if (spec[field] == (*old)["spec"][field]) continue;
      errors.push_back(api::InvalidError(StrCat("spec.", field), spec[field], "field is immutable"));
    }
    for (const std::string_view field : {"plural", "kind"}) {
      if (spec["names"][field] == (*old)["spec"]["names"][field]) continue;
      errors.push_back(api::InvalidError(StrCat("spec.names.", field), spec["names"][field], "field is immutable"));
    }
  }
  return errors;
}

}  // namespace baton::apiserver
