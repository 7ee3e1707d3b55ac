#include "json/go_text.h"

#include <gtest/gtest.h>

#include <string>

#include "json/parse.h"

namespace baton::json {
namespace {

std::string GoJson(const Value& value) {
  std::string out;
  EXPECT_TRUE(AppendGoJson(out, value).ok());
  return out;
}

std::string GoPlain(const Value& value) {
  std::string out;
  EXPECT_TRUE(AppendGoPlain(out, value).ok());
  return out;
}

TEST(GoTextTest, WritesDoublesAsGoDoes) {
  struct Case {
    double value;
    std::string_view plain;
    std::string_view json;
  };
  // What a Go program printed.
  const Case cases[] = {
      {0, "0", "0"},
      {-0.0, "-0", "-0"},
      {1, "1", "1"},
      {-1.5, "-1.5", "-1.5"},
      {100, "100", "100"},
      {1e5, "100000", "100000"},
      {123456, "123456", "123456"},
      {999999.5, "999999.5", "999999.5"},
      {1e6, "1e+06", "1000000"},
      {1234567, "1.234567e+06", "1234567"},
      {123456789.25, "1.2345678925e+08", "123456789.25"},
      {1e20, "1e+20", "100000000000000000000"},
      {1e21, "1e+21", "1e+21"},
      {1234567890123456789012.0, "1.2345678901234568e+21", "1.2345678901234568e+21"},
      {18446744073709551615.0, "1.8446744073709552e+19", "18446744073709552000"},
      {0.1, "0.1", "0.1"},
      {1e-4, "0.0001", "0.0001"},
      {1e-5, "1e-05", "0.00001"},
      {1.5e-6, "1.5e-06", "0.0000015"},
      {1e-7, "1e-07", "1e-7"},
      {1e-10, "1e-10", "1e-10"},
      {1e-100, "1e-100", "1e-100"},
      {1e100, "1e+100", "1e+100"},
      {5e-324, "5e-324", "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e+308"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(GoPlainDouble(c.value), c.plain);
    EXPECT_EQ(GoJsonDouble(c.value), c.json);
  }
}

TEST(GoTextTest, EscapesWhatGoEscapes) {
  EXPECT_EQ(GoJson(Value("<a>&\"\\/")), R"("\u003ca\u003e\u0026\"\\/")");
  EXPECT_EQ(GoJson(Value("\b\f\n\r\t\x01\x1f\x7f")), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  EXPECT_EQ(GoJson(Value("\u2027\u2028\u2029\u202a\u00e9")), "\"\u2027\\u2028\\u2029\u202a\u00e9\"");
  EXPECT_EQ(GoJson(Object({{"<", 1}})), R"({"\u003c":1})");
}

TEST(GoTextTest, WritesEveryKind) {
  const Value value =
      *Parse(R"({"a":[],"b":{},"c":[1,"x",null,true,false,1.0],"d":{"e":[[]]},"u":18446744073709551615})");
  EXPECT_EQ(GoJson(value), R"({"a":[],"b":{},"c":[1,"x",null,true,false,1],"d":{"e":[[]]},"u":18446744073709552000})");
  EXPECT_EQ(GoPlain(value["c"]), R"([1,"x",null,true,false,1])");
  EXPECT_EQ(GoPlain(value["u"]), "1.8446744073709552e+19");
  EXPECT_EQ(GoPlain(Value("a<b")), "a<b");
  EXPECT_EQ(GoPlain(Value()), "null");
  EXPECT_EQ(GoPlain(Value(true)), "true");
  EXPECT_EQ(GoPlain(Value(-7)), "-7");
}

TEST(GoTextTest, RefusesWhatIsNestedTooDeep) {
  Value deep;
  for (size_t i = 0; i < kMaxDepth; ++i) deep = Array({deep});
  std::string out;
  EXPECT_TRUE(AppendGoJson(out, deep).ok());
  EXPECT_FALSE(AppendGoJson(out, Array({deep})).ok());
}

}  // namespace
}  // namespace baton::json
