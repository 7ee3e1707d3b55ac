// imageOverrider over all containers or one path.
#include "overrides/image_overrider.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "overrides/containers.h"

namespace baton::overrides {

Result<ImageOverrider> ImageOverrider::Compile(const json::Value& item) {
  static constexpr std::array<std::pair<std::string_view, Component>, 3> kComponents{
      {{"Registry", Component::kRegistry}, {"Repository", Component::kRepository}, {"Tag", Component::kTag}}};
  ImageOverrider compiled;
  compiled.op_ = TRY(ReadOperator(item));
  compiled.value_ = TRY(ReadString(item, "value"));
  const std::string_view name = TRY(ReadString(item, "component"));
  const auto* component = std::ranges::find(kComponents, name, &std::pair<std::string_view, Component>::first);
  if (component == kComponents.end()) {
    return InvalidError(StrCat("component must be Registry, Repository or Tag, not ", Quote(name)));
  }
  compiled.component_ = component->second;
  if (const json::Value& predicate = *TRY(ReadObject(item, "predicate")); !predicate.is_null()) {
    const std::string_view path = TRY(ReadRequiredString(predicate, "path").Context("predicate"));
    compiled.path_ = TRY(json::Pointer::Parse(path).Context("predicate.path"));
  }
  return compiled;
}

Result<void> ImageOverrider::Apply(json::Value& object, Work& work) const {
  if (path_.has_value()) return ApplyAt(object, *path_, json::Find(object, *path_));
  const json::Pointer* path = ContainersOf(object);
  if (path == nullptr) return {};
  const size_t count = TRY(ReadContainers(object, *path)).size();
  TRY(work.Charge(count));
  for (size_t i = 0; i < count; ++i) {
    const json::Pointer image = path->Child(i).Child("image");
    TRY(ApplyAt(object, image, json::Find(object, image)));
  }
  return {};
}

Result<void> ImageOverrider::ApplyAt(json::Value& object, const json::Pointer& path, const json::Value* found) const {
  if (found == nullptr) return NotFoundError(StrCat(path.ToString(), ": there is no image"));
  if (!found->is_string()) {
    return InvalidError(StrCat(path.ToString(), ": an image must be a string, not ", KindName(found->kind())));
  }
  Image image = TRY(ParseImage(found->str()).Context(path.ToString()));
  const Image before = image;
  ApplyTo(image);
  if (image == before) return {};
  return json::ReplaceAt(object, path, PrintImage(image)).Context(path.ToString());
}

void ImageOverrider::ApplyTo(Image& image) const {
  const auto change = [&](const std::string& part) {
    switch (op_) {
      case Operator::kAdd:
        return part + value_;
      case Operator::kReplace:
        return value_;
      case Operator::kRemove:
        break;
    }
    return std::string();
  };
  switch (component_) {
    case Component::kRegistry:
      image.registry = change(image.registry);
      return;
    case Component::kRepository:
      image.repository = change(image.repository);
      return;
    case Component::kTag:
      break;
  }
  if (op_ == Operator::kRemove) {
    image.tag.clear();
    image.digest.clear();
    return;
  }
  SetTagOrDigest(image, change(image.tag.empty() ? image.digest : image.tag));
}

}  // namespace baton::overrides
