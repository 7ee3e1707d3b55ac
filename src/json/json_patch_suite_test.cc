// The public JSON Patch test suite (npm json-patch-test-suite), which scripts/fetch-test-suites fetches.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "json/json_patch.h"
#include "json/patch_golden.h"

namespace baton::json {
namespace {

std::string SuiteFile(const std::string& name) {
  const char* folder = std::getenv("BATON_TEST_SUITES");
  return (folder != nullptr ? std::string(folder) : std::string(BATON_SOURCE_DIR "/build/test-suites")) +
         "/json-patch/" + name;
}

// Runs every case that its own "disabled" does not switch off; exactly `expected` of them must have run.
void RunSuite(const std::string& name, size_t expected) {
  const std::string path = SuiteFile(name);
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing: run scripts/fetch-test-suites";
  const Value cases = ReadJsonFile(path);
  size_t executed = 0;
  for (const Value& one : cases.items()) {
    if (one["disabled"].bool_or(false)) continue;
    ++executed;
    SCOPED_TRACE(one.ToString());
    const Result<Value> result = ApplyJsonPatch(one["doc"], one["patch"]);
    if (one.Has("error")) {
      EXPECT_FALSE(result.ok()) << *result;
      continue;
    }
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    EXPECT_EQ(*result, one.Has("expected") ? one["expected"] : one["doc"]);
  }
  EXPECT_EQ(executed, expected);
}

TEST(JsonPatchSuiteTest, PassesTheTests) { RunSuite("tests.json", 75); }

TEST(JsonPatchSuiteTest, PassesTheExamplesOfTheRfc) { RunSuite("spec_tests.json", 16); }

}  // namespace
}  // namespace baton::json
