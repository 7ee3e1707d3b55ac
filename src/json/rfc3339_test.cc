// Times against Go's time package and apimachinery's layouts.
#include "json/rfc3339.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "json/scalars_golden.h"

namespace baton::json {
namespace {

void CheckRead(const Result<WallTime>& ours, const Value& instant, const Value& error, const Value& row) {
  if (error.is_string()) {
    ASSERT_FALSE(ours.ok()) << row << FormatMicroTime(*ours);
    EXPECT_EQ(ours.error().message(), error.str());
    EXPECT_EQ(ours.error().kind(), ErrorKind::kInvalid);
    return;
  }
  const __int128 nanos = static_cast<__int128>(instant[0].int_or(0)) * 1000000000 + instant[1].int_or(0);
  if (nanos < INT64_MIN || nanos > INT64_MAX) {
    ASSERT_FALSE(ours.ok()) << row;
    EXPECT_EQ(ours.error().kind(), ErrorKind::kTooLarge);
    return;
  }
  ASSERT_TRUE(ours.ok()) << row << ours.error().ToString();
  EXPECT_EQ(ours->time_since_epoch().count(), static_cast<int64_t>(nanos)) << row;
}

TEST(Rfc3339Test, ReadsAsKubernetes) {
  const Value golden = ReadGolden("rfc3339.json");
  ASSERT_GE(golden["parse"].size(), 110U);
  for (const Value& row : golden["parse"].items()) {
    CheckRead(ParseTime(row["in"].str()), row["time"], row["timeError"], row);
    CheckRead(ParseMicroTime(row["in"].str()), row["micro"], row["microError"], row);
  }
}

TEST(Rfc3339Test, PrintsAsKubernetes) {
  const Value golden = ReadGolden("rfc3339.json");
  ASSERT_GE(golden["print"].size(), 40U);
  for (const Value& row : golden["print"].items()) {
    const WallTime time{Duration(row[0].int_or(-1))};
    EXPECT_EQ(FormatTime(time), row[1].str()) << row;
    EXPECT_EQ(FormatMicroTime(time), row[2].str()) << row;
  }
}

TEST(Rfc3339Test, EveryDayOfFourCenturiesReadsBack) {
  constexpr std::chrono::sys_days kFirst = std::chrono::year(1700) / 1 / 1;
  constexpr std::chrono::sys_days kLast = std::chrono::year(2099) / 12 / 31;
  std::string before;
  for (std::chrono::sys_days day = kFirst; day <= kLast; day += std::chrono::days(1)) {
    const WallTime time(day.time_since_epoch() + seconds(std::chrono::abs(day.time_since_epoch()).count() % 86400));
    const std::string text = FormatTime(time);
    ASSERT_LT(before, text);
    ASSERT_EQ(*ParseTime(text), time) << text;
    before = text;
  }
  EXPECT_EQ(before.substr(0, 10), "2099-12-31");
}

TEST(Rfc3339Test, ATimeThatDoesNotFitSaysWhatDoes) {
  const Result<WallTime> zero = ParseTime("0001-01-01T00:00:00Z");
  ASSERT_FALSE(zero.ok());
  EXPECT_EQ(zero.error().message(),
            "parsing time \"0001-01-01T00:00:00Z\": not between 1677-09-21T00:12:43Z and 2262-04-11T23:47:16Z");
  EXPECT_EQ(*ParseTime("2262-04-11T23:47:16.854775807Z"), WallTime::max());
  EXPECT_EQ(*ParseTime("1677-09-21T00:12:43.145224192Z"), WallTime::min());
}

TEST(Rfc3339Test, BytesThatAreNoTextAreShownAsHexadecimal) {
  EXPECT_EQ(ParseTime("\xff\x01").error().message(),
            "parsing time \"\\xff\\x01\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\\xff\\x01\" as \"2006\"");
}

}  // namespace
}  // namespace baton::json
