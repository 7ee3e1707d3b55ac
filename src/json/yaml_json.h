// The JSON texts among YAML texts. Private to json/yaml_*.cc.
#pragma once

#include <string_view>
#include <vector>

#include "json/yaml.h"

namespace baton::json {

// True when `text` is one or more JSON lists or objects, one after the other, and none has a key twice; they are added
// to `values` with WithIntegers(). JSON has what YAML has not: surrogate escapes and keys of any length. When false,
// nothing is added, and reading the text as YAML gives the value or the error.
bool ReadAsJson(std::string_view text, const YamlLimits& limits, std::vector<Value>& values);

}  // namespace baton::json
