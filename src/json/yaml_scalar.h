// What a YAML scalar means: the rules of go-yaml v2, which kubectl uses. Private to json/yaml_*.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

// A scalar before it becomes JSON: here infinity still exists, and 1.0 is not yet 1.
struct YamlScalar {
  enum class Type : uint8_t { kString, kNull, kBool, kInt, kUint, kFloat };

  Type type = Type::kString;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t natural = 0;  // of a kUint, which lies above the range of int64
  double number = 0;
  std::string_view text = {};  // of a string
};

// A plain scalar without a tag. `text` must outlive the result.
YamlScalar ResolvePlain(std::string_view text);

// A scalar with a full tag ("tag:yaml.org,2002:int"). A !!binary is decoded into `scratch`, which then must outlive the
// result too. The error has no place yet.
Result<YamlScalar> ResolveTagged(std::string_view tag, std::string_view text, std::string& scratch);

// As a JSON value and as the key of an object. The errors have no place yet.
Result<Value> ScalarToValue(const YamlScalar& scalar);
Result<std::string> ScalarToKey(const YamlScalar& scalar);

// True when a plain `text` is that string to every YAML 1.1 reader: no number, date, time or other word.
bool PlainMeansString(std::string_view text);

}  // namespace baton::json
