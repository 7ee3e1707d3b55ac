// Any text as a JSONPath: never a crash, always within its limits, and the same answer each time.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/jsonpath.h"
#include "json/parse.h"

namespace baton::json {
namespace {

constexpr size_t kResultsMax = 1000;
constexpr size_t kStepsMax = 20000;
constexpr size_t kTextMax = 100000;

const Value& Root() {
  static const Value kRoot = *Parse(R"({
    "a": {"b": [1, 2.5, null, "s", true, [], {}, [1, [2]], {"c": "x", "d": 1}], "x.y": "dotted", "": 5},
    "l": [{"n": 1, "s": "a", "t": ["x", "y"]}, {"n": 2, "s": "b", "t": []}, {"n": 3, "t": null}],
    "m": [[1, 2], [], [3]], "n": null, "s": "text", "e": [], "o": {}, "u": 18446744073709551615, "f": 1e300
  })");
  return kRoot;
}

void Evaluate(const JsonPath& path, bool allow_missing_keys) {
  const JsonPathOptions options = {.allow_missing_keys = allow_missing_keys,
                                   .max_results = kResultsMax,
                                   .max_steps = kStepsMax,
                                   .max_text_bytes = kTextMax};
  const Result<std::vector<Value>> values = path.Values(Root(), options);
  const Result<std::string> text = path.Text(Root(), options);
  if (values.ok()) {
    INVARIANT(values->size() <= kResultsMax, "too many results");
    INVARIANT(*path.Values(Root(), options) == *values, "another answer the second time");
    INVARIANT(text.ok() || text.error().kind() == ErrorKind::kTooLarge, "values but no text");
  } else {
    // Text has no limit on the sum of its results, only on each step and on bytes.
    INVARIANT(!text.ok() || values.error().kind() == ErrorKind::kTooLarge, "text but no values");
    INVARIANT(!values.error().message().empty(), "an error without a message");
  }
}

// "... column N: ..." lies in the text, or one behind it.
void CheckColumn(const Error& error, std::string_view text) {
  const std::string source = Quote(text);
  const size_t at = error.message().find(": column ");
  if (error.kind() != ErrorKind::kInvalid || at == std::string::npos) return;
  const size_t column = std::stoul(error.message().substr(at + 9));
  INVARIANT(text.size() > 200 || (column >= 1 && column <= text.size() + 1), error.message());
}

}  // namespace
}  // namespace baton::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = JsonPath::Parse(text);
  if (path.ok()) {
    Evaluate(*path, true);
    Evaluate(*path, false);
  } else if (text.find(": column ") == std::string_view::npos) {
    CheckColumn(path.error(), text);
  }
  const auto relaxed = JsonPath::ParseRelaxed(text);
  if (!relaxed.ok()) return 0;
  Evaluate(*relaxed, true);
  if (text.starts_with("{.") && text != "{.}") {
    INVARIANT(path.ok(), "relaxed reads what strict does not");
    const auto one = path->Values(Root());
    const auto other = relaxed->Values(Root());
    INVARIANT(one.ok() == other.ok() && (!one.ok() || *one == *other), "relaxed reads something else");
  }
  return 0;
}
