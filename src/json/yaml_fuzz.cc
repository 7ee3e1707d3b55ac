// Any text: reading ends, what was read prints and reads back the same, and an edit without a change is no edit.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "json/print.h"
#include "json/yaml.h"
#include "json/yaml_edit.h"

namespace baton::json {
namespace {

void Require(bool condition, std::string_view what, std::string_view text) {
  if (condition) return;
  std::fprintf(stderr, "%.*s\n%.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(text.size()),
               text.data());
  std::abort();
}

void CheckRoundTrip(const Value& value) {
  const std::string printed = PrintYaml(value);
  const Result<Value> back = ParseYaml(printed);
  Require(back.ok() && *back == value, "printed text means another value", printed);
  Require(PrintYaml(*back) == printed, "printing again differs", printed);
}

// A change somewhere in the value, chosen by `seed`.
Value Changed(Value value, uint32_t seed) {
  if (seed % 7 == 0 || value.empty()) {
    const Value fresh[] = {Value(), 1, "a: b", "x\ny\n", Array({1, "y"}), Object({{"k", Object({{"l", 1}})}}), Array()};
    return fresh[seed / 7 % std::size(fresh)];
  }
  const size_t index = seed % value.size();
  const uint32_t what = seed % 5;
  if (value.is_array()) {
    if (what == 0) {
      value.EraseAt(index);
    } else if (what == 1) {
      value.Insert(index, "new");
    } else {
      value.Edit(index) = Changed(value[index], seed / 5);
    }
    return value;
  }
  const std::string key(value.members()[index].key());
  if (what == 0) {
    value.Erase(key);
  } else if (what == 1) {
    value.Set("new", seed);
  } else {
    value.Set(key, Changed(value[key], seed / 5));
  }
  return value;
}

void CheckEdits(std::string_view text, const Value& value, uint32_t seed) {
  const Result<std::string> same = EditYamlText(text, [](Value v) -> Result<Value> { return v; });
  Require(same.ok() && *same == text, "no change changed the text", text);
  const Value wanted = Changed(value, seed);
  const Result<std::string> edited = EditYamlText(text, [&](const Value&) -> Result<Value> { return wanted; });
  Require(edited.ok(), "an edit failed", text);
  const Result<Value> back = ParseYaml(*edited);
  Require(back.ok() && *back == wanted, "an edit gave another value", *edited);
}

}  // namespace
}  // namespace baton::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  baton::Result<std::vector<Value>> documents = ParseYamlStream(text);
  if (!documents.ok()) {
    Require(documents.error().message().starts_with("line "), "an error without a place", documents.error().message());
    return 0;
  }
  for (const Value& document : *documents) CheckRoundTrip(document);
  const std::string printed = PrintYamlStream(*documents);
  const baton::Result<std::vector<Value>> back = ParseYamlStream(printed);
  Require(back.ok() && *back == *documents, "a printed stream means other values", printed);
  if (baton::Result<Value> one = ParseYaml(text); one.ok()) {
    uint32_t seed = 0;
    for (const char c : text) seed = seed * 31 + static_cast<unsigned char>(c);
    CheckEdits(text, *one, seed);
  }
  return 0;
}
