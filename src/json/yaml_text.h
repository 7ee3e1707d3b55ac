// How one string looks in YAML: plain, quoted or as a block. The choices are go-yaml v2's, so that the text is
// kubectl's, except where kubectl's text would not read back: see the table in yaml_golden_test.cc. Private to
// json/yaml_*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton::json {

enum class YamlStyle : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral };

// Where the string stands.
struct YamlPlace {
  size_t indent = 0;        // of its further lines
  bool simple_key = false;  // a key, so it must stay on one line
  bool in_flow = false;     // between [] or {}: one line too, and fewer plain strings
};

// A key that is not simple is printed as "? key", its value in the next line as ": value".
bool IsSimpleYamlKey(std::string_view text);

// The style in which kubectl prints `text`.
YamlStyle ChooseYamlStyle(std::string_view text, const YamlPlace& place);

// True when `text` in this style reads back as `text`.
bool YamlStyleFits(std::string_view text, YamlStyle style, const YamlPlace& place);

// `text` in a style that fits, beginning at the end of `out`. A literal ends with its line, the others within it.
void AppendYamlText(std::string& out, std::string_view text, YamlStyle style, const YamlPlace& place);

}  // namespace baton::json
