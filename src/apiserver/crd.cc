// From a CRD's manifest to resource types and conditions.
#include "apiserver/crd.h"

#include <algorithm>
#include <utility>

#include "api/crd_schema_memo.h"
#include "apiserver/conditions.h"
#include "apiserver/metadata.h"
#include "base/strings.h"

namespace baton::apiserver {

namespace {

using json::Value;

std::vector<std::string> Strings(const Value& array) {
  std::vector<std::string> texts;
  for (const Value& item : array.items()) texts.emplace_back(item.str());
  return texts;
}

api::Column ColumnOf(const Value& column) {
  return {.name = std::string(column["name"].str()),
          .type = std::string(column["type"].str()),
          .format = std::string(column["format"].str()),
          .description = std::string(column["description"].str()),
          .priority = static_cast<int>(column["priority"].int_or(0)),
          .json_path = std::string(column["jsonPath"].str())};
}

std::string StorageVersion(const Value& spec) {
  for (const Value& version : spec["versions"].items()) {
    if (version["storage"].bool_or(false)) return std::string(version["name"].str());
  }
  return {};
}

bool HasDefaults(const api::Schema& schema, size_t depth) {
  if (schema.default_value) return true;
  if (depth == 0) return false;
  if (schema.items != nullptr && HasDefaults(*schema.items, depth - 1)) return true;
  if (schema.additional_properties != nullptr && HasDefaults(*schema.additional_properties, depth - 1)) return true;
  return std::ranges::any_of(schema.properties,
                             [&](const auto& property) { return HasDefaults(*property.second, depth - 1); });
}

ResourceTypePtr TypeOf(const Value& crd, const Value& version, api::SchemaPtr schema, int64_t defaults_missing_until) {
  auto type = std::make_shared<ResourceType>();
  type->defaults_missing_until = defaults_missing_until;
  const Value& spec = crd["spec"];
  type->terminating = IsBeingDeleted(crd);
  const Value& names = spec["names"];
  type->group = spec["group"].str();
  type->version = version["name"].str();
  type->kind = names["kind"].str();
  type->list_kind = names["listKind"].str_or(StrCat(type->kind, "List"));
  type->plural = names["plural"].str();
  type->singular = names["singular"].str();
  type->short_names = Strings(names["shortNames"]);
  type->categories = Strings(names["categories"]);
  type->namespaced = spec["scope"].str() == "Namespaced";
  type->custom = true;
  const Value& subresources = version["subresources"];
  type->has_status = subresources.Has("status");
  if (const Value* scale = subresources.Find("scale")) {
    type->scale = api::ScalePaths{.spec_replicas = std::string((*scale)["specReplicasPath"].str()),
                                  .status_replicas = std::string((*scale)["statusReplicasPath"].str()),
                                  .label_selector = std::string((*scale)["labelSelectorPath"].str())};
  }
  if (version["deprecated"].bool_or(false)) {
    type->deprecation_warning = version["deprecationWarning"].str_or(
        StrCat(type->group, "/", type->version, " ", type->kind, " is deprecated"));
  }
  type->storage_version = StorageVersion(spec);
  type->stored_as = StrCat(type->group, "/", type->storage_version);
  type->schema = std::move(schema);
  for (const Value& column : version["additionalPrinterColumns"].items()) type->columns.push_back(ColumnOf(column));
  for (const Value& field : version["selectableFields"].items()) {
    std::string_view path = field["jsonPath"].str();
    path.remove_prefix(path.starts_with('.') ? 1 : 0);
    type->selectable_fields.emplace_back(path);
  }
  return type;
}

}  // namespace

CrdTypes TypesOfCrd(const Value& crd, int64_t revision) {
  CrdTypes made;
  const Value& spec = crd["spec"];
  for (size_t i = 0; i < spec["versions"].size(); ++i) {
    const Value& version = spec["versions"][i];
    const auto read = api::CrdSchemaMemo::OfThisThread().Read(version["schema"]["openAPIV3Schema"],
                                                              StrCat("spec.versions[", i, "].schema.openAPIV3Schema"));
    made.cel_rules += read->cel_rules;
    if (!version["served"].bool_or(false)) continue;
    const bool defaults = read->schema != nullptr && HasDefaults(*read->schema, api::kSchemaDepthMax);
    made.types.push_back(TypeOf(crd, version, read->schema, defaults ? revision : 0));
  }
  return made;
}

std::vector<NameConflict> NameConflicts(const Value& crd, const Registry& registry) {
  const Value& names = crd["spec"]["names"];
  const std::string_view own = names["plural"].str();
  std::vector<NameConflict> conflicts;
  const auto in_use = [](std::string_view name) { return StrCat("\"", name, "\" is already in use"); };
  for (const std::string& version : registry.Versions(crd["spec"]["group"].str())) {
    for (const ResourceTypePtr& type : registry.Types(crd["spec"]["group"].str(), version)) {
      if (type->custom && type->plural == own) continue;  // itself
      std::vector<std::string> taken = type->short_names;
      taken.push_back(type->plural);
      taken.push_back(type->singular);
      const auto is_taken = [&](std::string_view name) {
        return !name.empty() && std::ranges::find(taken, name) != taken.end();
      };
      if (is_taken(own)) conflicts.push_back({"PluralConflict", in_use(own)});
      if (is_taken(names["singular"].str())) conflicts.push_back({"SingularConflict", in_use(names["singular"].str())});
      for (const Value& name : names["shortNames"].items()) {
        if (is_taken(name.str())) conflicts.push_back({"ShortNamesConflict", in_use(name.str())});
      }
      for (const auto& [field, reason] :
           {std::pair{"kind", "KindConflict"}, std::pair{"listKind", "ListKindConflict"}}) {
        const std::string_view name = names[field].str();
        if (name == type->kind || name == type->list_kind) conflicts.push_back({reason, in_use(name)});
      }
    }
  }
  return conflicts;
}

Value WithCrdStatus(Value crd, const std::vector<NameConflict>& conflicts, size_t cel_rules, std::string_view now) {
  const Value spec = crd["spec"];
  Value& status = crd.Edit("status");
  if (conflicts.empty()) status.Set("acceptedNames", spec["names"]);
  if (!status.Has("acceptedNames")) status.Set("acceptedNames", json::Object({{"plural", ""}, {"kind", ""}}));
  const std::string storage = StorageVersion(spec);
  Value& stored = status.Edit("storedVersions");
  if (std::ranges::find(stored.items(), Value(storage)) == stored.items().end()) stored.Push(storage);
  const bool established =
      conflicts.empty() || FindCondition(status["conditions"], "Established")["status"].str() == "True";
  Value& conditions = status.Edit("conditions");
  if (conflicts.empty()) {
    SetCondition(conditions, {"NamesAccepted", true, "NoConflicts", "no conflicts found"}, now);
  } else {
    SetCondition(conditions, {"NamesAccepted", false, conflicts.back().reason, conflicts.back().message}, now);
  }
  if (established) {
    SetCondition(conditions, {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"},
                 now);
  } else {
    SetCondition(conditions, {"Established", false, "NotAccepted", "not all names are accepted"}, now);
  }
  if (cel_rules > 0) {
    SetCondition(conditions,
                 {"ValidationRulesSupported", false, "CELNotSupported",
                  StrCat(cel_rules, " x-kubernetes-validations rules (CEL) are kept but not evaluated by this server")},
                 now);
  } else {
    RemoveCondition(conditions, "ValidationRulesSupported");
  }
  return crd;
}

}  // namespace baton::apiserver
