// The text edits that turn one value into another. Private to json/yaml_*.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "json/yaml_marks.h"

namespace baton::json {

// `text`, whose document is `root` and means `was`, changed to mean `now`; nothing when that takes more than replacing,
// adding and removing nodes. New values between brackets are written as JSON. The caller checks the result by reading
// it: this function promises only to leave the rest of the text alone.
std::optional<std::string> SpliceYaml(std::string_view text, const YamlNode& root, const Value& was, const Value& now);

}  // namespace baton::json
