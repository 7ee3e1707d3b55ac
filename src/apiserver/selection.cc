// Label and field selectors on objects.
#include "apiserver/selection.h"

#include <algorithm>
#include <array>

#include "apiserver/errors.h"
#include "base/strings.h"
#include "json/print.h"

namespace baton::apiserver {

namespace {

// A field's value as text, by its dotted path.
std::string FieldText(const json::Value& object, std::string_view path) {
  const json::Value* value = &object;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    value = &(*value)[path.substr(0, dot)];
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (value->is_string()) return std::string(value->str());
  return value->is_null() ? std::string() : value->ToString();
}

std::string UnknownField(const ResourceType& type, std::string_view field) {
  if (!type.selectable_fields.empty() || type.custom) return StrCat("field label not supported: ", field);
  return StrCat("\"", field, "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

}  // namespace

bool Selection::everything() const { return labels.selects_everything() && fields.selects_everything(); }

Result<Selection> ParseSelection(const ResourceType& type, std::string_view label_selector,
                                 std::string_view field_selector) {
  Selection selection;
  Result<json::LabelSelector> labels = json::LabelSelector::Parse(label_selector);
  if (!labels.ok()) return BadRequest(labels.error().message());
  Result<json::FieldSelector> fields = json::FieldSelector::Parse(field_selector);
  if (!fields.ok()) return BadRequest(fields.error().message());
  for (const json::FieldRequirement& requirement : fields->requirements()) {
    if (requirement.field == "metadata.name" || (requirement.field == "metadata.namespace" && type.namespaced))
      continue;
    if (std::ranges::find(type.selectable_fields, requirement.field) != type.selectable_fields.end()) continue;
    return BadRequest(UnknownField(type, requirement.field));
  }
  selection.labels = *std::move(labels);
  selection.fields = *std::move(fields);
  return selection;
}

bool Selects(const Selection& selection, const json::Value& object) {
  return selection.labels.Matches(object["metadata"]["labels"]) &&
         selection.fields.Matches([&](std::string_view field) { return FieldText(object, field); });
}

bool MaySelect(const Selection& selection, std::string_view text) {
  // A label that must have a value is there as "key":"value" (neither can need an escape).
  for (const json::LabelRequirement& requirement : selection.labels.requirements()) {
    const std::optional<std::string_view> value = selection.labels.ExactMatch(requirement.key());
    if (value && text.find(StrCat("\"", requirement.key(), "\":\"", *value, "\"")) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace baton::apiserver
