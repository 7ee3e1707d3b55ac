// What the files of json/selector.h share. Internal to them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::json::selector_internal {

// What is wrong with a label's key in Kubernetes' words, "" when nothing is.
std::string LabelKeyFault(std::string_view key);

// Size and characters of a selector's text.
Result<void> CheckText(std::string_view text);

// `text` for a message: cut when it is very long.
std::string Shown(std::string_view text);

}  // namespace baton::json::selector_internal
