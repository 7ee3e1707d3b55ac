// Versions of a template compared without what does not count.
#include "federation/changes.h"

#include <string_view>
#include <utility>

#include "api/karmada_keys.h"
#include "json/builder.h"

namespace baton::federation {
namespace {

constexpr std::string_view kOwnKeyPart = ".karmada.io";

json::Value WithoutIgnored(json::Value object) {
  if (object.Has("status")) object.Erase("status");
  const json::Value& metadata = object["metadata"];
  for (const std::string_view field : {"managedFields", "resourceVersion"}) {
    if (metadata.Has(field)) object.Edit("metadata").Erase(field);
  }
  return object;
}

// Users write this label although its key is Karmada's.
bool IsOwnKey(std::string_view key, bool label) {
  return key.find(kOwnKeyPart) != std::string_view::npos && !(label && key == api::karmada::kSkipAutoPropagation);
}

void EraseOwnKeys(json::Value& object, std::string_view map) {
  const json::Value& keys = object["metadata"][map];
  if (!object["metadata"].is_object() || !object["metadata"].Has(map)) return;
  if (!keys.is_null() && !keys.is_object()) return;
  json::ObjectBuilder rest;
  for (const json::Member& member : keys.members()) {
    if (!IsOwnKey(member.key(), map == "labels")) rest.Add(member.shared_key(), member.value());
  }
  if (rest.size() == 0) {
    object.Edit("metadata").Erase(map);
  } else if (rest.size() != keys.size()) {
    object.Edit("metadata").Set(map, std::move(rest).Build());
  }
}

json::Value AsUsersWroteIt(json::Value object) {
  object = WithoutIgnored(std::move(object));
  EraseOwnKeys(object, "labels");
  EraseOwnKeys(object, "annotations");
  if (object["metadata"].Has("generation")) object.Edit("metadata").Erase("generation");
  return object;
}

}  // namespace

bool SpecificationChanged(const json::Value& before, const json::Value& after) {
  return !(WithoutIgnored(before) == WithoutIgnored(after));
}

bool ChangedByFederation(const json::Value& before, const json::Value& after) {
  return AsUsersWroteIt(before) == AsUsersWroteIt(after);
}

}  // namespace baton::federation
