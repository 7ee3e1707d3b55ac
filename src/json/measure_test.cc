#include "json/measure.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "json/print.h"

namespace baton::json {
namespace {

TEST(MeasureTest, CountsTheBytesOfCompactText) {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-12", "18446744073709551615", "1.5", "\"\"", "\"text\"", "[]", "{}", "[[]]",
        R"([1,"a",null])", R"({"a":1,"bc":[true,{"d":{}}]})"}) {
    EXPECT_EQ(Measure(*Parse(text), SIZE_MAX).bytes, text.size()) << text;
  }
}

TEST(MeasureTest, CountsLevels) {
  const std::pair<std::string_view, size_t> rows[] = {
      {"1", 0}, {"[]", 1}, {"{}", 1}, {"[1,2]", 1}, {"[[],[[]],[]]", 3}, {R"({"a":{"b":[1]},"c":1})", 3}};
  for (const auto& [text, depth] : rows) EXPECT_EQ(Measure(*Parse(text), SIZE_MAX).depth, depth) << text;
}

TEST(MeasureTest, StopsAtItsLimits) {
  Value large = Array();
  for (int i = 0; i < 1000; ++i) large.Push(Array({"an item"}));
  const Extent extent = Measure(large, 2000);
  EXPECT_GT(extent.bytes, 2000U);
  EXPECT_LT(extent.bytes, 2100U);

  Value deep = Array();
  for (int i = 0; i < 50; ++i) deep = Array({deep});
  EXPECT_EQ(Measure(deep, SIZE_MAX).depth, 51U);
  EXPECT_EQ(Measure(deep, SIZE_MAX, 10).depth, 11U);
}

}  // namespace
}  // namespace baton::json
