// Kubernetes JSONPath, the dialect of `kubectl -o jsonpath=...`, with kubectl's results and kubectl's text.
//
//   JsonPath path = TRY(JsonPath::Parse("{.status.conditions[?(@.type=='Ready')].status}"));
//   std::vector<Value> found = TRY(path.Values(pod));     // ["True"]
//   std::string text = TRY(path.Text(pod));               // "True", the bytes kubectl prints
//
// A template is text with actions in braces. What may stand in an action:
//
//   .name  ['name']  .a\.b         a field; a backslash keeps a dot in the name
//   .*     [*]                     all members or items; only items
//   [2] [-1] [0:4:2] [0,2]         items by index, slice or union; ['a','b'] is a union of fields
//   ..     ..name                  the value and everything in it, depth first; all fields of that name
//   [?(@.a=="x")] [?(@.a)]         items of an array that compare (== != < <= > >=) or have it
//   @  $                           where we are (both the same; inside `range` that is the item)
//   "text"  'text'  1  2.5  true   literals, with Go's escapes
//   range <path> ... end           repeat what is between {range .items[*]} and {end} for each result
//
// This is kubectl's grammar as kubectl really behaves, including what surprises: double quotes in brackets are an
// error,
// {.} is the member with the empty name, an int never compares with a double, and a slice of an empty array ends the
// whole step. tests/golden/jsonpath.json holds what the real kubectl answered. Three things differ: members come sorted
// by key (kubectl's order is random), text must be UTF-8, and null has no items where kubectl panics.
//
// A JsonPath is parsed once, never changes, is cheap to copy and may be used by several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxJsonPathBytes = size_t{64} << 10;       // one expression
inline constexpr size_t kMaxJsonPathNesting = 16;                   // a filter in a filter in ...
inline constexpr size_t kMaxJsonPathRanges = 64;                    // a range in a range in ...
inline constexpr size_t kMaxJsonPathResults = size_t{1} << 20;      // values after any one step
inline constexpr size_t kMaxJsonPathSteps = size_t{1} << 24;        // values looked at in one evaluation
inline constexpr size_t kMaxJsonPathTextBytes = size_t{128} << 20;  // one Text(), give or take its last value

struct JsonPathOptions {
  // A field that none of the values has: no result (what kubectl does unless told otherwise), or an error.
  bool allow_missing_keys = true;
  size_t max_results = kMaxJsonPathResults;
  size_t max_steps = kMaxJsonPathSteps;
  size_t max_text_bytes = kMaxJsonPathTextBytes;
};

namespace jsonpath_internal {
struct Template;
}

class JsonPath {
 public:
  // A whole template, as for `-o jsonpath=`. An error names the column (bytes, from 1) and what is wrong there.
  static Result<JsonPath> Parse(std::string_view text);

  // One path in any of the forms `a.b`, `.a.b`, `{a.b}` and `{.a.b}`, as for custom columns, `--sort-by` and
  // `wait --for=jsonpath`. The empty text is a path without results.
  static Result<JsonPath> ParseRelaxed(std::string_view text);

  // All results in order, those of plain text and literals included.
  Result<std::vector<Value>> Values(const Value& root, const JsonPathOptions& options = {}) const;

  // What kubectl prints: strings bare, objects and arrays as Go's JSON, the results of one action joined by spaces.
  Result<std::string> Text(const Value& root, const JsonPathOptions& options = {}) const;

  // The text it was parsed from.
  const std::string& source() const;

 private:
  explicit JsonPath(std::shared_ptr<const jsonpath_internal::Template> parsed) : parsed_(std::move(parsed)) {}
  static Result<void> Check(std::string_view text);
  static Result<JsonPath> ParseAs(std::string_view source, std::string_view text, ptrdiff_t base);

  std::shared_ptr<const jsonpath_internal::Template> parsed_;  // never null except in a moved-from JsonPath
};

}  // namespace baton::json
