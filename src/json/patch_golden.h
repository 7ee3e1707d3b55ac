// Reading tests/golden/*.json in tests of patches: rows of {"name", "object", "patch", "result" or "error"}.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "json/value.h"

namespace baton::json {

// The parsed file under the source tree; null (and a failed test) when there is none.
inline Value ReadJsonFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path << " cannot be read";
  if (!file.good()) return {};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<Value> parsed = Parse(text);
  EXPECT_TRUE(parsed.ok()) << path << ": " << (parsed.ok() ? "" : parsed.error().ToString());
  return parsed.ok() ? *std::move(parsed) : Value();
}

inline Value ReadGolden(std::string_view name) {
  return ReadJsonFile(std::string(BATON_SOURCE_DIR "/tests/golden/") + std::string(name));
}

// Rows where we differ on purpose: name -> why. Every row must be named by the table, and must differ.
using OnPurpose = std::map<std::string_view, std::string_view>;

}  // namespace baton::json
