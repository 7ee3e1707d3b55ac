// Scalars of YAML by the rules of go-yaml v2: first letter, then a word list, then numbers.
#include "json/yaml_scalar.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "json/yaml_number.h"
#include "json/yaml_time.h"
#include "json/yaml_utf8.h"

namespace baton::json {
namespace {

using Type = YamlScalar::Type;

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

YamlScalar String(std::string_view text) { return {.type = Type::kString, .text = text}; }
YamlScalar Float(double value) { return {.type = Type::kFloat, .number = value}; }

struct Word {
  std::string_view text;
  YamlScalar meaning;
};

constexpr YamlScalar kNull = {.type = Type::kNull};
constexpr YamlScalar kTrue = {.type = Type::kBool, .boolean = true};
constexpr YamlScalar kFalse = {.type = Type::kBool, .boolean = false};
constexpr YamlScalar kNan = {.type = Type::kFloat, .number = std::numeric_limits<double>::quiet_NaN()};
constexpr YamlScalar kInf = {.type = Type::kFloat, .number = std::numeric_limits<double>::infinity()};
constexpr YamlScalar kMinusInf = {.type = Type::kFloat, .number = -std::numeric_limits<double>::infinity()};

// Only these spellings: tRue and yES are strings.
constexpr std::array kWords = {
    Word{"", kNull},          Word{"~", kNull},         Word{"null", kNull},     Word{"Null", kNull},
    Word{"NULL", kNull},      Word{"y", kTrue},         Word{"Y", kTrue},        Word{"yes", kTrue},
    Word{"Yes", kTrue},       Word{"YES", kTrue},       Word{"true", kTrue},     Word{"True", kTrue},
    Word{"TRUE", kTrue},      Word{"on", kTrue},        Word{"On", kTrue},       Word{"ON", kTrue},
    Word{"n", kFalse},        Word{"N", kFalse},        Word{"no", kFalse},      Word{"No", kFalse},
    Word{"NO", kFalse},       Word{"false", kFalse},    Word{"False", kFalse},   Word{"FALSE", kFalse},
    Word{"off", kFalse},      Word{"Off", kFalse},      Word{"OFF", kFalse},     Word{".nan", kNan},
    Word{".NaN", kNan},       Word{".NAN", kNan},       Word{".inf", kInf},      Word{".Inf", kInf},
    Word{".INF", kInf},       Word{"+.inf", kInf},      Word{"+.Inf", kInf},     Word{"+.INF", kInf},
    Word{"-.inf", kMinusInf}, Word{"-.Inf", kMinusInf}, Word{"-.INF", kMinusInf}};
constexpr size_t kLongestWord = 5;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsSign(char c) { return c == '+' || c == '-'; }

// What the first byte says a scalar may be.
enum class Hint : uint8_t { kString, kWord, kPoint, kNumber };
constexpr std::array<Hint, 256> kHints = [] {
  std::array<Hint, 256> hints{};
  for (const char c : std::string_view("yYnNtTfFoO~")) hints[static_cast<unsigned char>(c)] = Hint::kWord;
  for (const char c : std::string_view("0123456789+-")) hints[static_cast<unsigned char>(c)] = Hint::kNumber;
  hints['.'] = Hint::kPoint;
  return hints;
}();

const YamlScalar* FindWord(std::string_view text) {
  if (text.size() > kLongestWord) return nullptr;
  for (const Word& word : kWords) {
    if (word.text == text) return &word.meaning;
  }
  return nullptr;
}

// [+-]12:34:56.7: YAML 1.1 calls it a number, kubectl reads a string but prints it quoted.
bool IsBase60(std::string_view text) {
  size_t at = !text.empty() && IsSign(text[0]) ? 1 : 0;
  if (at == text.size() || !IsDigit(text[at])) return false;
  while (at < text.size() && (IsDigit(text[at]) || text[at] == '_')) ++at;
  size_t parts = 0;
  while (at + 1 < text.size() && text[at] == ':' && IsDigit(text[at + 1])) {
    const bool two = at + 2 < text.size() && IsDigit(text[at + 2]) && text[at + 1] <= '5';
    at += two ? 3 : 2;
    ++parts;
  }
  if (parts == 0) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    while (at < text.size() && (IsDigit(text[at]) || text[at] == '_')) ++at;
  }
  return at == text.size();
}

// ---- tags ----

std::string_view TypeTag(Type type) {
  switch (type) {
    case Type::kString:
      return "!!str";
    case Type::kNull:
      return "!!null";
    case Type::kBool:
      return "!!bool";
    case Type::kInt:
    case Type::kUint:
      return "!!int";
    case Type::kFloat:
      return "!!float";
  }
  return "";
}

// Standard base64; line breaks inside are allowed, blanks are not, and the padding must be right.
bool DecodeBase64(std::string_view text, std::string& out) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t bits = 0;
  int count = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const size_t digit = kAlphabet.find(c);
    if (c == '=' ? ++padding > 2 || count < 2 : padding > 0 || digit == std::string_view::npos) return false;
    bits = bits << 6 | (c == '=' ? 0U : static_cast<uint32_t>(digit));
    if (++count < 4) continue;
    for (int i = 0; i < 3 - padding; ++i) out.push_back(static_cast<char>(bits >> (16 - 8 * i)));
    bits = 0;
    count = 0;
  }
  return count == 0;
}

Result<YamlScalar> ResolveBinary(std::string_view text, std::string& scratch) {
  scratch.clear();
  if (!DecodeBase64(text, scratch)) return InvalidError("a !!binary that is not base64");
  if (!IsUtf8(scratch)) return InvalidError("a !!binary that is not UTF-8 text: JSON strings cannot hold other bytes");
  return String(scratch);
}

}  // namespace

YamlScalar ResolvePlain(std::string_view text) {
  const Hint hint = text.empty() ? Hint::kWord : kHints[static_cast<unsigned char>(text[0])];
  if (hint == Hint::kString) return String(text);
  if (const YamlScalar* word = FindWord(text)) return *word;
  YamlScalar number;
  if (hint == Hint::kPoint && ReadYamlPointFloat(text, number)) return number;
  if (hint == Hint::kNumber && ReadYamlNumber(text, number)) return number;
  return String(text);
}

Result<YamlScalar> ResolveTagged(std::string_view tag, std::string_view text, std::string& scratch) {
  if (!tag.starts_with(kTagPrefix)) return String(text);
  const std::string_view name = tag.substr(kTagPrefix.size());
  if (name == "binary") return ResolveBinary(text, scratch);
  const bool timestamp = name == "timestamp";
  if (!timestamp && name != "int" && name != "float" && name != "bool" && name != "null") return String(text);

  if (timestamp && IsYamlTimestamp(text)) return String(text);
  const YamlScalar scalar = ResolvePlain(text);
  if (!timestamp && TypeTag(scalar.type).substr(2) == name) return scalar;
  if (name == "float" && scalar.type == Type::kInt) return Float(static_cast<double>(scalar.integer));
  return InvalidError(StrCat("'", text, "' is ", TypeTag(scalar.type), ", its tag says !!", name));
}

Result<Value> ScalarToValue(const YamlScalar& scalar) {
  switch (scalar.type) {
    case Type::kString:
      return Value(scalar.text);
    case Type::kNull:
      return Value();
    case Type::kBool:
      return Value(scalar.boolean);
    case Type::kInt:
      return Value(scalar.integer);
    case Type::kUint:
      return Value(scalar.natural);
    case Type::kFloat:
      if (std::isfinite(scalar.number)) return NumberToValue(scalar.number);
      return InvalidError(std::isnan(scalar.number) ? "JSON has no .nan: quote it if it is a word"
                                                    : "JSON has no .inf: quote it if it is a word");
  }
  return Value();
}

Result<std::string> ScalarToKey(const YamlScalar& scalar) {
  switch (scalar.type) {
    case Type::kString:
      return std::string(scalar.text);
    case Type::kNull:
      return InvalidError("a key must not be null: quote it if it is a word");
    case Type::kBool:
      return std::string(scalar.boolean ? "true" : "false");
    case Type::kInt:
      return StrCat(scalar.integer);
    case Type::kUint:
      return InvalidError(StrCat("the integer ", scalar.natural, " is too large for a key: quote it"));
    case Type::kFloat:
      // kubectl prints keys with the precision of a 32-bit float: 16777217.0 is "1.6777216e+07" and 1e300 is ".inf".
      const auto narrow = static_cast<float>(scalar.number);
      if (std::isnan(narrow)) return std::string(".nan");
      if (std::isinf(narrow)) return std::string(narrow > 0 ? ".inf" : "-.inf");
      return FormatLikeGo(narrow);
  }
  return std::string();
}

bool PlainMeansString(std::string_view text) {
  return ResolvePlain(text).type == Type::kString && !IsYamlTimestamp(text) && !IsBase60(text);
}

}  // namespace baton::json
