// Containers by kind.
#include "overrides/containers.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/strings.h"

namespace baton::overrides {

const json::Pointer* ContainersOf(const json::Value& object) {
  static const json::Pointer pod{"spec", "containers"};
  static const json::Pointer in_template{"spec", "template", "spec", "containers"};
  static constexpr std::array<std::string_view, 5> kWithTemplate{"Deployment", "StatefulSet", "DaemonSet", "Job",
                                                                 "ReplicaSet"};
  const std::string_view kind = object["kind"].str();
  if (kind == "Pod") return &pod;
  return std::ranges::find(kWithTemplate, kind) == kWithTemplate.end() ? nullptr : &in_template;
}

Result<std::span<const json::Value>> ReadContainers(const json::Value& object, const json::Pointer& path) {
  const json::Value* list = json::Find(object, path);
  if (list == nullptr || list->is_null()) return std::span<const json::Value>();
  if (!list->is_array()) return InvalidError(StrCat(path.ToString(), ": containers must be a list"));
  for (size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_object())
      return InvalidError(StrCat(path.Child(i).ToString(), ": a container must be an object"));
  }
  return list->items();
}

}  // namespace baton::overrides
