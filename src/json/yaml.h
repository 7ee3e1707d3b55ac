// YAML text in and out, as kubectl reads and prints it.
//
//   Value pod = TRY(ParseYaml(text));                        // one document
//   for (Value& v : TRY(ParseYamlStream(manifest))) ...      // several, between `---` lines
//   std::string text = PrintYaml(pod);                       // the bytes of `kubectl -o yaml`
//
// YAML is more than JSON, so reading decides what a scalar means. The rules are those of kubectl (sigs.k8s.io/yaml on
// go-yaml v2, that is YAML 1.1 without its dates and base 60), held against kubectl's answers in tests/golden:
//   yes, On, y, TRUE -> true         0644, 0o644, 0x1A4, 4_20 -> 420     08 -> 8      ~, Null, nothing -> null
//   1.0, 1e0 -> 1, an integer        2001-01-01, 12:30, 1e400, tRUE -> strings
//   .inf, .nan -> errors: JSON has no such numbers
//   y: 1, 1.5: 2 -> the keys are "true" and "1.5"; null, lists and maps as keys are errors
//   "1", '1', !!str 1 -> strings; !!int, !!float, !!bool, !!null and !!timestamp must be what they say; !!binary is
//   decoded; all other tags are ignored
//   <<: *a -> merge keys take effect where they stand: what comes later wins
// Text that is JSON (it begins with { or [) is read as JSON, also several JSON values one after the other.
//
// Where Baton is stricter than kubectl: a key given twice is an error (also 1 and "1", which are one key), and so is a
// !!binary that is not UTF-8. Where it is more exact: integers up to 2^64 are kept, kubectl rounds those above 2^63.
//
// Every error of reading begins with its place, in characters from 1: "line 3, column 7: reason".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxYamlBytes = size_t{64} << 20;     // one text
inline constexpr size_t kMaxAliasedValues = 400'000;          // values that one text gets through aliases
inline constexpr size_t kMaxAliasedBytes = size_t{64} << 20;  // their keys and strings
inline constexpr size_t kMaxYamlFlowWork = size_t{1} << 27;   // sum over all nodes of the brackets around each
inline constexpr size_t kMaxTagDirectives = 1000;             // %TAG lines in one text

// Aliases share storage, but whoever prints, sends or compares the documents pays for what they expand to: the limits
// on aliases bound that. The others bound the text itself.
struct YamlLimits {
  size_t max_depth = kMaxDepth;
  size_t max_bytes = kMaxYamlBytes;
  size_t max_values = kMaxValues;  // in one document, aliases expanded
  size_t max_aliased_values = kMaxAliasedValues;
  size_t max_aliased_bytes = kMaxAliasedBytes;
  size_t max_flow_work = kMaxYamlFlowWork;  // libyaml looks at every open bracket for each token
};

// All documents of a YAML stream, in order. Documents that are empty or null are skipped, as kubectl does.
Result<std::vector<Value>> ParseYamlStream(std::string_view text, const YamlLimits& limits = {});

// The one document in `text`; empty documents (nothing, or only comments, between two `---`) do not count, a written
// null does. No document or several are an error.
Result<Value> ParseYaml(std::string_view text, const YamlLimits& limits = {});

// As `kubectl -o yaml` prints it: keys in kubectl's order (a2 before a10), lists not indented under their key, long
// texts folded at 80 columns, `|` for several lines. Reads back as WithIntegers(value).
std::string PrintYaml(const Value& value);

// Documents with `---` between them; "" for none. Reads back without the null documents.
std::string PrintYamlStream(std::span<const Value> documents);

// `value` with doubles that have no fraction and lie in the range of int64 or uint64 as integers. YAML as kubectl has
// it knows no difference between 1.0 and 1: both are printed as 1, which reads back as the integer. Above 2^53 that is
// the integer with the double's shortest digits and zeros behind them, as kubectl prints it.
Value WithIntegers(Value value);

}  // namespace baton::json
