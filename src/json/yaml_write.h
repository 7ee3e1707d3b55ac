// Parts of a YAML document in kubectl's style, for json/yaml_edit.cc. What these append ends with a line
// break.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "json/value.h"

namespace baton::json {

// "key: value" with the key at `column`; the blanks before it are not written.
void AppendYamlEntry(std::string& out, std::string_view key, const Value& value, size_t column);

// What follows "key:" or "-" when that stands at `column`, beginning with a space or a line break.
void AppendYamlAfterColon(std::string& out, const Value& value, size_t column);
void AppendYamlAfterDash(std::string& out, const Value& value, size_t column);

// Any value that is no string and has no items or members: "null", "1.5", "{}".
std::string YamlWordFor(const Value& value);

}  // namespace baton::json
