// For tests: the golden tables that tests/golden/scalars writes.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/parse.h"
#include "json/value.h"

namespace baton::json {

// tests/golden/<name>, parsed; null and a failed test when that cannot be read.
inline Value ReadGolden(std::string_view name) {
  const std::string path = StrCat(BATON_SOURCE_DIR "/tests/golden/", name);
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Result<Value> value = Parse(text);
  if (!value.ok()) {
    ADD_FAILURE() << path << ": " << value.error().ToString();
    return {};
  }
  return *std::move(value);
}

}  // namespace baton::json
