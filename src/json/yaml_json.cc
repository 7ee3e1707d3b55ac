// JSON read where YAML was expected, and numbers as YAML has them.
#include "json/yaml_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "json/yaml_number.h"

namespace baton::json {
namespace {

constexpr std::string_view kJsonBlanks = " \t\r\n";

struct Extent {
  size_t bytes = 0;          // of the first list or object, 0 when it does not end
  bool has_doubles = false;  // outside of strings there is a point or an exponent
};

// Where the list or object at the beginning of `text` ends, by brackets and strings alone.
Extent FirstValue(std::string_view text) {
  Extent extent;
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '.' || c == 'E' || c == 'e') extent.has_doubles = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) {
      extent.bytes = i + 1;
      break;
    }
  }
  return extent;
}

void MakeIntegers(Value& value, size_t depth) {
  if (value.kind() == Kind::kDouble) {
    value = NumberToValue(value.number_or(0));
  } else if (depth == 0) {
    return;
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      Value item = value[i];
      MakeIntegers(item, depth - 1);
      if (!item.SharesStorageWith(value[i])) value.Edit(i) = std::move(item);
    }
  } else if (value.is_object()) {
    for (size_t i = 0; i < value.size(); ++i) {
      const Member& member = value.members()[i];
      Value item = member.value();
      MakeIntegers(item, depth - 1);
      if (!item.SharesStorageWith(member.value())) value.Edit(member.key()) = std::move(item);
    }
  }
}

}  // namespace

bool ReadAsJson(std::string_view text, const YamlLimits& limits, std::vector<Value>& values) {
  if (text.size() > limits.max_bytes) return false;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> duplicates;
  ParseOptions options;
  options.max_depth = limits.max_depth;
  options.max_values = limits.max_values;
  options.duplicate_keys = &duplicates;
  std::vector<Value> found;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kJsonBlanks), text.size()));
    if (text.empty()) break;
    if (text[0] != '{' && text[0] != '[') return false;
    const Extent extent = FirstValue(text);
    if (extent.bytes == 0) return false;
    Result<Value> value = Parse(text.substr(0, extent.bytes), options);
    if (!value.ok() || !duplicates.empty()) return false;
    found.push_back(extent.has_doubles ? WithIntegers(*std::move(value)) : *std::move(value));
    text.remove_prefix(extent.bytes);
  }
  if (found.empty()) return false;
  std::ranges::move(found, std::back_inserter(values));
  return true;
}

Value WithIntegers(Value value) {
  MakeIntegers(value, kMaxDepth);
  return value;
}

}  // namespace baton::json
