// Printing YAML: numbers, order, streams. The text itself is held against kubectl's in yaml_golden_test.cc.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/strings.h"
#include "json/builder.h"
#include "json/print.h"
#include "json/yaml.h"
#include "json/yaml_order.h"

namespace baton::json {
namespace {

TEST(YamlWriteTest, PrintsScalarsAtTheTop) {
  EXPECT_EQ(PrintYaml(Value()), "null\n");
  EXPECT_EQ(PrintYaml(Value("a")), "a\n");
  EXPECT_EQ(PrintYaml(Value("")), "\"\"\n");
  EXPECT_EQ(PrintYaml(Value("a\nb")), "|-\n  a\n  b\n");
  EXPECT_EQ(PrintYaml(Object()), "{}\n");
  EXPECT_EQ(PrintYaml(Array({1, Array()})), "- 1\n- []\n");
}

TEST(YamlWriteTest, GivesBackEveryNumber) {
  const struct {
    Value value;
    std::string_view yaml;
    Value back;
  } rows[] = {
      {1.0, "1\n", 1},
      {-0.0, "0\n", 0},
      {1e15, "1000000000000000\n", 1'000'000'000'000'000},
      {9007199254740992.0, "9007199254740992\n", int64_t{1} << 53},
      {3003010711669384192.0, "3003010711669384000\n", 3003010711669384000},
      {-9223372036854774784.0, "-9223372036854775000\n", -9223372036854775000},
      {-9223372036854775808.0, "-9.223372036854776e+18\n", -9223372036854775808.0},
      {9223372036854775808.0, "9223372036854776000\n", uint64_t{9223372036854776000U}},
      {18446744073709551616.0, "1.8446744073709552e+19\n", 18446744073709551616.0},
      {std::numeric_limits<uint64_t>::max(), "18446744073709551615\n", std::numeric_limits<uint64_t>::max()},
      {1e21, "1e+21\n", 1e21},
      {0.1, "0.1\n", 0.1},
      {1234567.5, "1.2345675e+06\n", 1234567.5},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308\n", std::numeric_limits<double>::max()},
      {std::numeric_limits<double>::denorm_min(), "5e-324\n", std::numeric_limits<double>::denorm_min()},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(PrintYaml(row.value), row.yaml);
    EXPECT_EQ(ParseYaml(row.yaml).value(), row.back) << row.yaml;
    EXPECT_EQ(WithIntegers(row.value), row.back) << row.yaml;
  }
}

TEST(YamlWriteTest, TurnsOnlyIntegralDoublesIntoIntegers) {
  const Value value = Object({{"a", Array({1.0, 1.5, Object({{"b", 2.0}})})}, {"c", "1.0"}});
  EXPECT_EQ(WithIntegers(value), Object({{"a", Array({1, 1.5, Object({{"b", 2}})})}, {"c", "1.0"}}));
  EXPECT_EQ(value["a"][0], Value(1.0));  // the original is as it was
}

TEST(YamlWriteTest, OrdersKeysAsKubectl) {
  const std::string_view ordered[] = {"", "-", "_", "0", "1", "2", "9", "10", "A", "B", "a", "a1", "a2", "a10", "b"};
  for (size_t i = 0; i < std::size(ordered); ++i) {
    for (size_t j = 0; j < std::size(ordered); ++j) {
      EXPECT_EQ(YamlKeyLess(ordered[i], ordered[j]), i < j) << ordered[i] << " and " << ordered[j];
    }
  }
}

TEST(YamlWriteTest, PrintsEveryKeyOnceThoughTheOrderContradictsItself) {
  ObjectBuilder builder;
  for (int i = 0; i < 500; ++i)
    builder.Add(StrCat(i), i), builder.Add(StrCat(i, "a"), i), builder.Add(StrCat("0", i), i);
  const Value value = std::move(builder).Build();
  EXPECT_EQ(ParseYaml(PrintYaml(value)).value(), value);
}

TEST(YamlWriteTest, PrintsStreams) {
  const std::vector<Value> documents = {Object({{"a", 1}}), "b\n\n", Array({1})};
  const std::string text = PrintYamlStream(documents);
  EXPECT_EQ(text, "a: 1\n---\n|+\n  b\n\n---\n- 1\n");
  EXPECT_EQ(ParseYamlStream(text).value(), documents);
  EXPECT_EQ(PrintYamlStream({}), "");
}

TEST(YamlWriteTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(PrintYaml(Value("a\xFF"
                            "b\xED\xA0\x80")),
            "\"a\uFFFDb\uFFFD\uFFFD\uFFFD\"\n");
  EXPECT_TRUE(ParseYaml(PrintYaml(Object({{"\xC0\x80", "\xF5"}}))).ok());
}

TEST(YamlWriteTest, PrintsValuesThatNoParserWouldTake) {
  Value deep(1);
  for (size_t i = 0; i < 3 * kMaxDepth; ++i) deep = Array({deep});
  EXPECT_TRUE(PrintYaml(deep).starts_with("- - - - "));
}

}  // namespace
}  // namespace baton::json
