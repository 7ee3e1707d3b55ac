// commandOverrider and argsOverrider: `add` appends words to a container's command or args, `remove` takes every equal
// word away. They concern the containers of that name; when there is none, or the kind has no containers, nothing
// happens. Removing words from a container without a command leaves it without (Karmada writes an empty list).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/reading.h"
#include "overrides/work.h"

namespace baton::overrides {

class CommandOverrider {
 public:
  static Result<CommandOverrider> Compile(const json::Value& item);

  // `field` is "command" or "args". Errors begin with the path.
  Result<void> Apply(json::Value& object, std::string_view field, Work& work) const;

 private:
  // Nothing when the words stay as they are.
  std::optional<json::Value> Changed(const json::Value& words) const;

  std::string container_;
  Operator op_ = Operator::kAdd;
  std::vector<std::string> words_;
};

}  // namespace baton::overrides
