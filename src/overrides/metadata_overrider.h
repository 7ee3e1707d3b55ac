// labelsOverrider and annotationsOverrider: `add` sets keys whether or not they are there, `replace` only those that
// are there, `remove` takes those away (its values do not count).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/reading.h"
#include "overrides/work.h"

namespace baton::overrides {

class MetadataOverrider {
 public:
  static Result<MetadataOverrider> Compile(const json::Value& item);

  // `field` is "labels" or "annotations". Errors begin with the path.
  Result<void> Apply(json::Value& object, std::string_view field, Work& work) const;

 private:
  Operator op_ = Operator::kAdd;
  json::Value values_;  // an object of strings, or null
};

}  // namespace baton::overrides
