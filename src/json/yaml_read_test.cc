// Reading YAML: places in errors, limits, streams, JSON. What scalars mean is held against kubectl in
// yaml_golden_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/yaml.h"

namespace baton::json {
namespace {

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

std::string Message(const auto& result) { return result.ok() ? "no error" : result.error().message(); }

TEST(YamlReadTest, SaysWhereAndWhy) {
  const struct {
    std::string_view yaml;
    std::string_view error;
  } rows[] = {
      {"", "line 1, column 1: no document: the text is empty"},
      {"# only a comment\n---\n", "line 1, column 1: no document: the text is empty"},
      {"a: 1\n---\nb: 2\n---\nc: 3\n", "line 2, column 1: a second document of 3: exactly one is expected"},
      {"a: 1\nb:\n  c: 2\n  d: 3\n  c: 4\n", "line 5, column 3: the key \"c\" came before, in line 3"},
      {"{a: 1, b: 2,\n é: 3, 'b': 4}", "line 2, column 8: the key \"b\" came before, in line 1"},
      {"1: a\n\"1\": b\n", "line 2, column 1: the key \"1\" came before, in line 1"},
      {"1.0: a\n1: b\n", "line 2, column 1: the key \"1\" came before, in line 1"},
      {"y: a\non: b\n", "line 2, column 1: the key \"true\" came before, in line 1"},
      {"b: 1\na: 1\na: 2\nb: 2\n", "line 3, column 1: the key \"a\" came before, in line 2"},
      {"a: .inf\n", "line 1, column 4: JSON has no .inf: quote it if it is a word"},
      {"- -.NAN\n- .NaN\n", "line 2, column 3: JSON has no .nan: quote it if it is a word"},
      {"~: 1\n", "line 1, column 1: a key must not be null: quote it if it is a word"},
      {"a:\n  ? [b]\n  : 1\n", "line 2, column 5: a list or map cannot be a key"},
      {"18446744073709551615: 1\n",
       "line 1, column 1: the integer 18446744073709551615 is too large for a key: quote it"},
      {"a: *b\n", "line 1, column 4: no anchor 'b' before this alias"},
      {"a: &b [1, *b]\n", "line 1, column 11: the anchor 'b' contains itself"},
      {"a: &b 1\n---\nc: *b\n", "line 3, column 4: no anchor 'b' before this alias"},
      {"a: {<<: 1}\n", "line 1, column 9: << takes a map, an alias of a map, or a list of these"},
      {"a: !!int x\n", "line 1, column 4: 'x' is !!str, its tag says !!int"},
      {"a: !!binary x\n", "line 1, column 4: a !!binary that is not base64"},
      {"a: [1,\n  2\nb: 3\n",
       "line 3, column 2: did not find expected ',' or ']', while parsing a flow sequence that begins in line 1"},
      {"a: 1\n b: 2\n", "line 2, column 3: mapping values are not allowed in this context"},
      {"a: \"b\n",
       "line 2, column 1: found unexpected end of stream, while scanning a quoted scalar that begins in line 1"},
      {"a: b\n\tc: d\n",
       "line 2, column 1: found a tab character that violates indentation, while scanning a plain scalar that begins "
       "in line 1"},
      {"a: b\nc: \xFF\n", "line 2, column 4: invalid leading UTF-8 octet"},
      {"a: b\nc: d\x01\n", "line 2, column 5: control characters are not allowed"},
      {std::string_view("\xFF\xFE"
                        "a\0",
                        4),
       "line 1, column 1: invalid leading UTF-8 octet"},
  };
  for (const auto& row : rows) EXPECT_EQ(Message(ParseYaml(row.yaml)), row.error) << row.yaml;
}

TEST(YamlReadTest, AllowsAKeyTwiceOnlyThroughAMerge) {
  const Value value =
      ParseYaml("base: &b {x: 1, y: 2}\na: {<<: *b, x: 3}\nc: {x: 3, <<: *b}\nd: {<<: *b, <<: {x: 9}}\n").value();
  EXPECT_EQ(Print(value["a"]), R"({"true":2,"x":3})");
  EXPECT_EQ(Print(value["c"]), R"({"true":2,"x":1})");  // as kubectl: what comes later wins
  EXPECT_EQ(Print(value["d"]), R"({"true":2,"x":9})");
  EXPECT_EQ(Message(ParseYaml("base: &b {x: 1}\na: {<<: *b, z: 1, z: 2}\n")),
            "line 2, column 19: the key \"z\" came before, in line 2");
}

TEST(YamlReadTest, SharesWhatAliasesRepeat) {
  const Value value = ParseYaml("a: &a {long: \"a string of more than fourteen bytes\"}\nb: *a\n").value();
  EXPECT_TRUE(value["a"].SharesStorageWith(value["b"]));
}

TEST(YamlReadTest, StopsBillionLaughsAtOnce) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string alias = StrCat("*", static_cast<char>(c - 1));
    text += StrCat(c, ": &", c, " [", Repeat(alias + ", ", 8), alias, "]\n");
  }
  const Result<Value> result = ParseYaml(text);
  EXPECT_EQ(Message(result), "line 6, column 24: aliases expand to more than 400000 values or 67108864 bytes");
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge);
}

TEST(YamlReadTest, CountsWhatAliasesExpandTo) {
  const YamlLimits limits{.max_aliased_values = 10, .max_aliased_bytes = 20};
  EXPECT_TRUE(ParseYaml("a: &a [1, 2, 3, 4]\nb: [*a, *a]\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a [1, 2, 3, 4]\nb: [*a, *a, *a]\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a [1, 2, 3, 4]\nb: &b [*a]\nc: *b\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a {k1: 1, k2: 2, k3: 3}\nb: {<<: *a}\nc: {<<: *a}\nd: {<<: *a}\n", limits).ok());
  EXPECT_FALSE(ParseYamlStream("a: &a [1, 2, 3, 4]\nb: *a\n---\na: &a [1, 2, 3, 4]\nb: [*a, *a]\n", limits).ok());
  EXPECT_TRUE(ParseYaml("a: &a 123456789\nb: [*a, *a, *a]\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a abcdefghi\nb: [*a, *a, *a]\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a abcdefghi\nb: [{*a : 1}, {*a : 1}, {*a : 1}]\n", limits).ok());
  EXPECT_FALSE(ParseYaml("a: &a {abcdefghi: 1}\nb: [*a, *a, *a]\n", limits).ok());
}

TEST(YamlReadTest, LimitsDepthAlsoThroughAliases) {
  EXPECT_TRUE(ParseYaml(Repeat("[", kMaxDepth) + Repeat("]", kMaxDepth)).ok());
  EXPECT_EQ(Message(ParseYaml("# no JSON\n" + Repeat("[", kMaxDepth + 1) + Repeat("]", kMaxDepth + 1))),
            "line 2, column 1001: nested deeper than 1000 levels");
  EXPECT_EQ(Message(ParseYaml(Repeat("- ", kMaxDepth + 1) + "a")),
            "line 1, column 2001: nested deeper than 1000 levels");
  const YamlLimits limits{.max_depth = 4};
  EXPECT_TRUE(ParseYaml("a: &a [[1]]\nb: [*a]\n", limits).ok());
  EXPECT_EQ(Message(ParseYaml("a: &a [[1]]\nb: [[*a]]\n", limits)), "line 2, column 6: nested deeper than 4 levels");
}

TEST(YamlReadTest, LimitsBytesValuesAndWork) {
  const Result<Value> large = ParseYaml("a: 1\n", {.max_bytes = 4});
  EXPECT_EQ(Message(large), "line 1, column 1: YAML text of 5 bytes: the limit is 4");
  EXPECT_EQ(large.error().kind(), ErrorKind::kTooLarge);
  EXPECT_TRUE(ParseYaml("- 1\n- 2\n", {.max_values = 3}).ok());
  EXPECT_EQ(Message(ParseYaml("- 1\n- 2\n- 3\n", {.max_values = 2})), "line 3, column 3: more than 2 values");
  EXPECT_EQ(Message(ParseYaml("a: [[1, 2], 3]\n", {.max_flow_work = 5})),
            "line 1, column 13: too many values inside too many brackets");
  EXPECT_TRUE(ParseYaml("- - - 1\n    - 2\n", {.max_flow_work = 0}).ok());
  std::string directives;
  for (size_t i = 0; i <= kMaxTagDirectives; ++i) directives += StrCat("%TAG !", i, "! tag:x,2000:\n");
  EXPECT_EQ(Message(ParseYaml(directives + "---\na\n")), "line 1, column 1: more than 1000 %TAG directives");
}

TEST(YamlReadTest, TellsAWrittenNullFromNothing) {
  EXPECT_TRUE(ParseYaml("null").value().is_null());
  EXPECT_TRUE(ParseYaml("--- ~\n---\n# nothing\n").value().is_null());
  EXPECT_EQ(ParseYaml("--- ''\n").value(), Value(""));
  EXPECT_EQ(ParseYamlStream("---\na\n---\nnull\n---\n---\nb\n").value(), (std::vector<Value>{"a", "b"}));
  EXPECT_TRUE(ParseYamlStream("").value().empty());
}

TEST(YamlReadTest, ReadsJsonAsJson) {
  EXPECT_EQ(ParseYaml(R"( {"a": "\ud83d\ude00\/", "b": [1.0, 1e2, -0.0, 1.5, true]} )").value(),
            Parse(R"({"a": "\ud83d\ude00/", "b": [1, 100, 0, 1.5, true]})").value());
  const std::string long_key(2000, 'k');  // too long for a key in YAML
  EXPECT_EQ(ParseYaml(StrCat("{\"", long_key, "\": 1}")).value()[long_key], Value(1));
  EXPECT_EQ(ParseYamlStream("{\"a\": \"}\"}[1]\n{\"b\": 2}\n").value(),
            (std::vector<Value>{Object({{"a", "}"}}), Array({1}), Object({{"b", 2}})}));
  EXPECT_EQ(Message(ParseYaml("{\"a\": 1,\n \"a\": 2}")), "line 2, column 2: the key \"a\" came before, in line 1");
  EXPECT_EQ(ParseYaml("{\"a\": 18446744073709551616}").value()["a"], Value(18446744073709551616.0));
  EXPECT_EQ(ParseYaml("{a: b}").value(), Object({{"a", "b"}}));
  EXPECT_FALSE(ParseYaml("{\"a\": 1").ok());
  EXPECT_FALSE(ParseYaml("[]]").ok());
  EXPECT_FALSE(ParseYaml("{}{}").ok());
}

TEST(YamlReadTest, ReadsTextWithoutALastLineBreakAsKubectlDoes) {
  EXPECT_EQ(ParseYaml("a: |\n  b").value()["a"], Value("b\n"));
  EXPECT_EQ(ParseYaml("a: |+\n  b").value()["a"], Value("b\n"));
  EXPECT_EQ(ParseYaml("a: |-\n  b").value()["a"], Value("b"));
  EXPECT_EQ(ParseYaml("a: >\r\n  b\r").value()["a"], Value("b\n"));
  EXPECT_EQ(ParseYaml("\xEF\xBB\xBF"
                      "a: b")
                .value()["a"],
            Value("b"));
}

}  // namespace
}  // namespace baton::json
