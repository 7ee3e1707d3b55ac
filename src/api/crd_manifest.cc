// From a resource type to its manifest.
#include "api/crd_manifest.h"

#include <string>

#include "api/crd_schema.h"
#include "base/invariant.h"

namespace baton::api {

namespace {

using json::Value;

Value Strings(const std::vector<std::string>& texts) {
  Value array = json::Array();
  for (const std::string& text : texts) array.Push(text);
  return array;
}

Value ColumnOf(const Column& column) {
  Value made = json::Object({{"name", column.name}, {"type", column.type}, {"jsonPath", column.json_path}});
  if (!column.format.empty()) made.Set("format", column.format);
  if (!column.description.empty()) made.Set("description", column.description);
  if (column.priority != 0) made.Set("priority", column.priority);
  return made;
}

Value VersionOf(const ResourceType& type, bool storage) {
  const Schema anything{.type = SchemaType::kObject, .preserve_unknown_fields = true};
  Value version = json::Object(
      {{"name", type.version},
       {"served", true},
       {"storage", storage},
       {"schema", json::Object({{"openAPIV3Schema", ToCrdSchema(type.schema == nullptr ? anything : *type.schema)}})}});
  if (type.has_status) version.Edit("subresources").Set("status", json::Object());
  if (type.scale) {
    Value scale = json::Object(
        {{"specReplicasPath", type.scale->spec_replicas}, {"statusReplicasPath", type.scale->status_replicas}});
    if (!type.scale->label_selector.empty()) scale.Set("labelSelectorPath", type.scale->label_selector);
    version.Edit("subresources").Set("scale", scale);
  }
  for (const Column& column : type.columns) version.Edit("additionalPrinterColumns").Push(ColumnOf(column));
  return version;
}

}  // namespace

Value CrdManifest(std::span<const ResourceTypePtr> versions) {
  INVARIANT(!versions.empty(), "a kind has a version");
  const ResourceType& type = *versions.front();
  Value names = json::Object(
      {{"kind", type.kind}, {"listKind", type.list_kind}, {"plural", type.plural}, {"singular", type.singular}});
  if (!type.short_names.empty()) names.Set("shortNames", Strings(type.short_names));
  if (!type.categories.empty()) names.Set("categories", Strings(type.categories));
  Value made = json::Array();
  for (const ResourceTypePtr& version : versions) {
    const std::string& stored = type.storage_version.empty() ? type.version : type.storage_version;
    made.Push(VersionOf(*version, version->version == stored));
  }
  return json::Object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", "CustomResourceDefinition"},
                       {"metadata", json::Object({{"name", type.plural + "." + type.group}})},
                       {"spec", json::Object({{"group", type.group},
                                              {"names", names},
                                              {"scope", type.namespaced ? "Namespaced" : "Cluster"},
                                              {"versions", made}})}});
}

}  // namespace baton::api
