// Durations against Go's time package.
#include "json/go_duration.h"

#include <gtest/gtest.h>

#include <string>

#include "json/scalars_golden.h"

namespace baton::json {
namespace {

// Go adds two terms of 2^63 to zero; here they are too long.
constexpr std::string_view kWrapsInGo = "9223372036854775808ns9223372036854775808ns";

TEST(GoDurationTest, ReadsAsGo) {
  const Value golden = ReadGolden("go_duration.json");
  ASSERT_GE(golden["parse"].size(), 170U);
  for (const Value& row : golden["parse"].items()) {
    const Result<Duration> duration = ParseDuration(row["in"].str());
    if (row["in"].str() == kWrapsInGo) {
      EXPECT_EQ(row["nanos"].int_or(-1), 0);
      EXPECT_FALSE(duration.ok());
    } else if (row.Has("error")) {
      ASSERT_FALSE(duration.ok()) << row << FormatDuration(*duration);
      EXPECT_EQ(duration.error().message(), row["error"].str());
      EXPECT_EQ(duration.error().kind(), ErrorKind::kInvalid);
    } else {
      ASSERT_TRUE(duration.ok()) << row << duration.error().ToString();
      EXPECT_EQ(duration->count(), row["nanos"].int_or(-1)) << row;
      EXPECT_EQ(FormatDuration(*duration), row["print"].str());
    }
  }
}

TEST(GoDurationTest, PrintsAsGo) {
  const Value golden = ReadGolden("go_duration.json");
  ASSERT_GE(golden["print"].size(), 100U);
  for (const Value& row : golden["print"].items()) {
    const Duration duration(row[0].int_or(-1));
    EXPECT_EQ(FormatDuration(duration), row[1].str()) << row;
    EXPECT_EQ(ParseDuration(row[1].str())->count(), duration.count()) << row;
  }
}

TEST(GoDurationTest, LongTextIsReadToItsEnd) {
  const std::string zeros(100000, '0');
  EXPECT_EQ(ParseDuration("0." + zeros + "1s")->count(), 0);
  EXPECT_EQ(*ParseDuration(zeros + "1." + zeros + "1h"), hours(1));
  EXPECT_EQ(ParseDuration(zeros + "x").error().message(), "time: unknown unit \"x\" in duration \"" + zeros + "x\"");
  EXPECT_EQ(ParseDuration("1\xff").error().message(), "time: unknown unit \"\\xff\" in duration \"1\\xff\"");
}

}  // namespace
}  // namespace baton::json
