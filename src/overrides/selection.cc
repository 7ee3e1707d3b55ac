// Resource selectors: compiled once, matched often.
#include "overrides/selection.h"

#include <algorithm>

#include "overrides/reading.h"

namespace baton::overrides {

std::string_view MatchLevelName(MatchLevel level) {
  switch (level) {
    case MatchLevel::kNone:
      return "none";
    case MatchLevel::kAll:
      return "all";
    case MatchLevel::kLabel:
      return "labelSelector";
    case MatchLevel::kName:
      return "name";
  }
  return "";
}

ObjectRef ObjectRef::Of(const json::Value& object) {
  const json::Value& metadata = object["metadata"];
  return {.api_version = object["apiVersion"].str(),
          .kind = object["kind"].str(),
          .object_namespace = metadata["namespace"].str(),
          .name = metadata["name"].str(),
          .labels = &metadata["labels"]};
}

Result<ResourceSelector> ResourceSelector::Compile(const json::Value& selector) {
  if (!selector.is_object()) return InvalidError("a selector must be an object");
  ResourceSelector compiled;
  compiled.api_version = TRY(ReadRequiredString(selector, "apiVersion"));
  compiled.kind = TRY(ReadRequiredString(selector, "kind"));
  compiled.object_namespace = TRY(ReadString(selector, "namespace"));
  compiled.name = TRY(ReadString(selector, "name"));
  if (const json::Value& labels = selector["labelSelector"]; !labels.is_null()) {
    compiled.labels = TRY(json::LabelSelector::FromObject(labels).Context("labelSelector"));
  }
  return compiled;
}

MatchLevel ResourceSelector::Match(const ObjectRef& object) const {
  if (object.kind != kind || object.api_version != api_version) return MatchLevel::kNone;
  if (!object_namespace.empty() && object.object_namespace != object_namespace) return MatchLevel::kNone;
  if (!name.empty()) return object.name == name ? MatchLevel::kName : MatchLevel::kNone;
  if (!labels.has_value()) return MatchLevel::kAll;
  return labels->Matches(*object.labels) ? MatchLevel::kLabel : MatchLevel::kNone;
}

MatchLevel MatchAny(std::span<const ResourceSelector> selectors, const ObjectRef& object) {
  MatchLevel best = MatchLevel::kNone;
  for (const ResourceSelector& selector : selectors) {
    best = std::max(best, selector.Match(object));
    if (best == MatchLevel::kName) break;
  }
  return best;
}

Result<std::vector<ResourceSelector>> CompileSelectors(const json::Value& spec) {
  return ReadEach<ResourceSelector>(spec, "resourceSelectors", ResourceSelector::Compile);
}

}  // namespace baton::overrides
