// imageOverrider: changes one part of the image of all containers, or of the one string that a predicate's path names.
//
// `add` appends to the part, `replace` sets it, `remove` takes it away. The part Tag is the tag or the digest: a new
// value is whichever it looks like, and one that is neither changes nothing. A kind without containers is left as it is
// unless there is a predicate; an image that cannot be read is an error.
//
// Where Baton differs from Karmada: of an image with both a tag and a digest Karmada forgets the digest whatever it
// changes, so that a pinned image is no longer pinned. Here a new registry or repository keeps both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "json/pointer.h"
#include "json/value.h"
#include "overrides/image.h"
#include "overrides/reading.h"
#include "overrides/work.h"

namespace baton::overrides {

class ImageOverrider {
 public:
  static Result<ImageOverrider> Compile(const json::Value& item);

  // Errors begin with the path: "/spec/containers/0/image: ...".
  Result<void> Apply(json::Value& object, Work& work) const;

  // Exposed for tests.
  void ApplyTo(Image& image) const;

 private:
  enum class Component : uint8_t { kRegistry, kRepository, kTag };

  Result<void> ApplyAt(json::Value& object, const json::Pointer& path, const json::Value* found) const;

  std::optional<json::Pointer> path_;  // the predicate's
  Component component_ = Component::kRegistry;
  Operator op_ = Operator::kReplace;
  std::string value_;
};

}  // namespace baton::overrides
