// JSON in and out: exact numbers, positions, limits, and the public parsing suite.
#include "json/parse.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "base/strings.h"
#include "json/print.h"

namespace baton::json {
namespace {

std::string Reprint(std::string_view text) {
  const Result<Value> value = Parse(text);
  return value.ok() ? Print(*value) : StrCat("error: ", value.error().message());
}

TEST(ParseTest, NumbersKeepTheirKindAndEveryDigit) {
  const struct {
    std::string_view in;
    std::string_view out;
    Kind kind;
  } kRows[] = {
      {"0", "0", Kind::kInt},
      {"-0", "0", Kind::kInt},
      {"1", "1", Kind::kInt},
      {"1.0", "1.0", Kind::kDouble},
      {"1e3", "1000.0", Kind::kDouble},
      {"9223372036854775807", "9223372036854775807", Kind::kInt},
      {"-9223372036854775808", "-9223372036854775808", Kind::kInt},
      {"9223372036854775808", "9223372036854775808", Kind::kUint},
      {"18446744073709551615", "18446744073709551615", Kind::kUint},
      {"0.1", "0.1", Kind::kDouble},
      {"-0.0", "-0.0", Kind::kDouble},
      {"5e-324", "5e-324", Kind::kDouble},
      {"1e-400", "0.0", Kind::kDouble},
      {"0e400", "0.0", Kind::kDouble},
      {"1.7976931348623157e308", "1.7976931348623157e+308", Kind::kDouble},
      {"123456789012345680000", "error: line 1, column 22: the number 123456789012345680000 is out of range",
       Kind::kNull},
      {"123456789012345680000.0", "123456789012345680000.0", Kind::kDouble},
      {"1e21", "1e+21", Kind::kDouble},
      {"0.000001", "0.000001", Kind::kDouble},
      {"-1.5e-7", "-1.5e-7", Kind::kDouble},
      {"1234.5678e2", "123456.78", Kind::kDouble},
      {"1e400", "error: line 1, column 6: the number 1e400 is out of range", Kind::kNull},
      {"-18446744073709551616", "error: line 1, column 22: the number -18446744073709551616 is out of range",
       Kind::kNull},
      {"-9223372036854775809", "error: line 1, column 21: the number -9223372036854775809 is out of range",
       Kind::kNull},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Reprint(row.in), row.out);
    if (row.kind != Kind::kNull) EXPECT_EQ(Parse(row.in)->kind(), row.kind) << row.in;
  }
}

TEST(ParseTest, EveryDoubleComesBackExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const Result<Value> read = Parse(PrintDouble(number));
    ASSERT_TRUE(read.ok()) << PrintDouble(number);
    ASSERT_EQ(std::bit_cast<uint64_t>(read->number_or(0)), std::bit_cast<uint64_t>(number)) << PrintDouble(number);
  }
}

TEST(ParseTest, ErrorsSayWhereAndWhy) {
  EXPECT_EQ(Reprint("{\n  \"a\": 1,\n  \"b\": ]\n}"), "error: line 3, column 8: syntax error");
  EXPECT_EQ(Reprint(""), "error: line 1, column 1: the text ends too early");
  EXPECT_EQ(Reprint("[1,2"), "error: line 1, column 5: the text ends too early");
  EXPECT_EQ(Reprint("{} x"), "error: line 1, column 4: text after the value");
  EXPECT_EQ(Reprint("\"\xff\""), "error: line 1, column 2: syntax error");
  EXPECT_EQ(Parse("{").error().kind(), ErrorKind::kInvalid);
}

TEST(ParseTest, DepthIsLimitedAndTheLimitIsNamed) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Parse(nested(kMaxDepth)).ok());
  EXPECT_EQ(Reprint(nested(kMaxDepth + 1)), "error: line 1, column 1001: nested deeper than 1000 levels");
  EXPECT_TRUE(Parse(std::string(1'000'000, '[')).error().message().ends_with("nested deeper than 1000 levels"));
}

TEST(ParseTest, SizeAndCountAreLimited) {
  EXPECT_EQ(Parse("[1,2,3]", {.max_values = 4}).ok(), true);
  EXPECT_EQ(Parse("[1,2,3,4]", {.max_values = 4}).error().message(), "line 1, column 9: more than 4 values");
  EXPECT_EQ(Parse("[1,2]", {.max_bytes = 4}).error().kind(), ErrorKind::kTooLarge);
}

TEST(ParseTest, DuplicateKeysAreReportedWhenAskedFor) {
  std::vector<std::string> duplicates;
  const Value value = Parse(R"({"a":1,"b":{"c":1,"c":2},"a":3})", {.duplicate_keys = &duplicates}).value();
  EXPECT_EQ(Print(value), R"({"a":3,"b":{"c":2}})");
  EXPECT_EQ(duplicates, (std::vector<std::string>{"c", "a"}));
}

TEST(ParseTest, EveryDuplicateOfOneObjectIsReportedOnce) {
  std::vector<std::string> duplicates;
  ASSERT_TRUE(Parse(R"({"a":1,"b":1,"b":2,"a":3,"a":4})", {.duplicate_keys = &duplicates}).ok());
  EXPECT_EQ(duplicates, (std::vector<std::string>{"a", "b"}));
}

TEST(ParseTest, EscapesAreReadAndWritten) {
  EXPECT_EQ(Parse(R"("\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\")")->str(), "A\xc3\xa9\xf0\x9f\x98\x80/\b\f\n\r\t\"\\");
  EXPECT_EQ(Print(Value("a\"b\\c\nd\x01\x7f<>&\xc3\xa9")), "\"a\\\"b\\\\c\\nd\\u0001\x7f<>&\xc3\xa9\"");
  EXPECT_EQ(Reprint(R"({"k\ney":1})"), R"({"k\ney":1})");
  EXPECT_FALSE(Parse(R"("\ud800")").ok()) << "a lone surrogate is not a character";
}

TEST(ParseTest, ALongStringWithEscapesAnywhereRoundTrips) {
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    text[at] = '\n';
    EXPECT_EQ(Parse(Print(Value(text)))->str(), text);
    text[at] = '"';
    EXPECT_EQ(Parse(Print(Object({{text, text}}))).value(), Object({{text, text}}));
  }
}

TEST(PrintTest, PrettyIsWhatKubectlPrints) {
  const Value value = Parse(R"({"b":[],"a":{},"c":[1,{"d":"e"}]})").value();
  EXPECT_EQ(PrintPretty(value),
            "{\n    \"a\": {},\n    \"b\": [],\n    \"c\": [\n        1,\n        {\n            \"d\": \"e\"\n        "
            "}\n    ]\n}");
}

TEST(PrintTest, AppendKeepsWhatWasThere) {
  std::string out = "before ";
  Append(out, Array({1, "two"}));
  Append(out, Value("and a much longer text than any small buffer has room for, so that it has to grow at least once"));
  EXPECT_EQ(out,
            "before [1,\"two\"]\"and a much longer text than any small buffer has room for, so that it has to grow at "
            "least once\"");
}

// ---- the public suite ----

std::string DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kAlphabet.find(c));
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return out;
}

TEST(JsonTestSuite, AcceptsEveryValidAndRejectsEveryInvalidText) {
  const char* directory = std::getenv("BATON_TEST_SUITES");
  const std::string path =
      StrCat(directory != nullptr ? directory : BATON_SOURCE_DIR "/build/test-suites", "/json.json");
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << "no " << path << ": run scripts/fetch-test-suites";
  std::stringstream text;
  text << file.rdbuf();
  const Value suite = Parse(text.str()).value();
  int accepted = 0;
  int rejected = 0;
  for (const Value& test : suite.items()) {
    const std::string input = DecodeBase64(test["base64"].str());
    const Result<Value> parsed = Parse(input);
    if (parsed.ok()) EXPECT_EQ(Parse(Print(*parsed)).value(), *parsed) << test["name"];
    if (test["mangled"].bool_or(false)) continue;  // the package holds bytes that are not UTF-8 as U+FFFD
    if (test["expect"].str() == "accept") {
      EXPECT_TRUE(parsed.ok()) << test["name"] << " " << parsed.error().message();
      ++accepted;
    } else if (test["expect"].str() == "reject") {
      EXPECT_FALSE(parsed.ok()) << test["name"];
      ++rejected;
    }
  }
  EXPECT_GE(accepted, 90);
  EXPECT_GE(rejected, 150);
}

}  // namespace
}  // namespace baton::json
