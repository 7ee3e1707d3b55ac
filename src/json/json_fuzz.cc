// Fuzz: whatever parses prints to a text that parses to the same value, and prints the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "json/parse.h"
#include "json/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using baton::json::Value;
  const baton::Result<Value> parsed = baton::json::Parse({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const std::string text = baton::json::Print(*parsed);
  const baton::Result<Value> again = baton::json::Parse(text);
  INVARIANT(again.ok(), text);
  INVARIANT(*again == *parsed, text);
  INVARIANT(baton::json::Print(*again) == text, text);
  INVARIANT(baton::json::Parse(baton::json::PrintPretty(*parsed)).value() == *parsed, text);
  return 0;
}
