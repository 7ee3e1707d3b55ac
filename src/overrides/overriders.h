// Overriders: everything that one rule changes, in Karmada's order: image, command, args, labels, annotations, field,
// plaintext.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/command_overrider.h"
#include "overrides/field_overrider.h"
#include "overrides/image_overrider.h"
#include "overrides/metadata_overrider.h"
#include "overrides/work.h"

namespace baton::overrides {

inline constexpr size_t kMaxOverriders = 10'000;  // in one rule, all kinds together

class Overriders {
 public:
  static Result<Overriders> Compile(const json::Value& overriders);

  // Errors name overrider and path: "imageOverrider[0]: /spec/containers/0/image: ...". After an error `object` is of
  // no more use.
  Result<void> Apply(json::Value& object, Work& work) const;

 private:
  Result<void> ApplyPlaintext(json::Value& object, Work& work) const;

  std::vector<ImageOverrider> image_;
  std::vector<CommandOverrider> command_;
  std::vector<CommandOverrider> args_;
  std::vector<MetadataOverrider> labels_;
  std::vector<MetadataOverrider> annotations_;
  std::vector<FieldOverrider> field_;
  json::Value plaintext_;  // one JSON Patch
};

}  // namespace baton::overrides
