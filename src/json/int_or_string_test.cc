// IntOrString against apimachinery's intstr.
#include "json/int_or_string.h"

#include <gtest/gtest.h>

#include "json/scalars_golden.h"

namespace baton::json {
namespace {

TEST(IntOrStringTest, ReadsPrintsAndScalesAsKubernetes) {
  const Value golden = ReadGolden("int_or_string.json");
  ASSERT_GE(golden["rows"].size(), 45U);
  for (const Value& row : golden["rows"].items()) {
    const Value json = *Parse(row["json"].str());
    const Result<IntOrString> value = IntOrString::FromJson(json);
    if (row.Has("decode")) {
      ASSERT_FALSE(value.ok()) << row;
      // A Value does not remember how its number was written, so we print it anew.
      const bool rewritten = row["json"].str() == "1e3";
      EXPECT_EQ(value.error().message(),
                rewritten ? "json: cannot unmarshal number 1000.0 into Go value of type int32" : row["decode"].str());
      continue;
    }
    ASSERT_TRUE(value.ok()) << row << value.error().ToString();
    EXPECT_EQ(value->ToString(), row["text"].str());
    EXPECT_EQ(value->ToJson(), json.is_null() ? Value(0) : json);
    if (row.Has("error")) {
      const Result<int64_t> count = ScaledCount(*value, 10, Rounding::kUp);
      ASSERT_FALSE(count.ok()) << row;
      EXPECT_EQ(count.error().message(), row["error"].str());
    }
    for (const Value& c : row["scaled"].items()) {
      EXPECT_EQ(*ScaledCount(*value, c["total"].int_or(-1), Rounding::kUp), c["up"].int_or(-1)) << row << c;
      EXPECT_EQ(*ScaledCount(*value, c["total"].int_or(-1), Rounding::kDown), c["down"].int_or(-1)) << row << c;
    }
  }
}

TEST(IntOrStringTest, TextThatIsANumberIsANumber) {
  EXPECT_EQ(IntOrString::FromText("80"), IntOrString(80));
  EXPECT_EQ(IntOrString::FromText("+80"), IntOrString(80));
  EXPECT_EQ(IntOrString::FromText("-80").int_or(0), -80);
  EXPECT_EQ(IntOrString::FromText("80 ").str(), "80 ");
  EXPECT_EQ(IntOrString::FromText("+-80").str(), "+-80");
  EXPECT_EQ(IntOrString::FromText("2147483648").str(), "2147483648");
  EXPECT_EQ(IntOrString::FromText("").str(), "");
  EXPECT_EQ(IntOrString().int_or(-1), 0);
  EXPECT_EQ(IntOrString(80).str(), "");
}

TEST(IntOrStringTest, PercentagesOfHugeTotalsAreExactOrAnError) {
  EXPECT_EQ(*ScaledCount(IntOrString("100%"), INT64_MAX, Rounding::kUp), INT64_MAX);
  EXPECT_EQ(*ScaledCount(IntOrString("100%"), INT64_MIN, Rounding::kDown), INT64_MIN);
  EXPECT_EQ(*ScaledCount(IntOrString("1%"), (int64_t{1} << 60) + 1, Rounding::kUp), 11529215046068470);
  EXPECT_EQ(*ScaledCount(IntOrString("-9223372036854775808%"), 1, Rounding::kDown), -92233720368547759);
  const Result<int64_t> over = ScaledCount(IntOrString("101%"), INT64_MAX, Rounding::kUp);
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().message(), "101% of 9223372036854775807 does not fit into 64 bits");
}

}  // namespace
}  // namespace baton::json
