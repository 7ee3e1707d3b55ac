// What the golden file cannot hold: sizes, ages, schedules, image names, and objects of any shape.
#include "api/builtin_behaviour.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api/builtin_image.h"
#include "api/cron.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Value;

WallTime At(Duration since_epoch) { return WallTime(since_epoch); }

TEST(HumanAgeTest, SaysAgesAsKubectlDoes) {
  const hours day(24);
  const std::pair<Duration, std::string_view> ages[] = {
      {-seconds(2), "<invalid>"},
      {-milliseconds(1999), "0s"},
      {seconds(0), "0s"},
      {seconds(119), "119s"},
      {seconds(120), "2m"},
      {seconds(121), "2m1s"},
      {minutes(9) + seconds(59), "9m59s"},
      {minutes(10) + seconds(30), "10m"},
      {minutes(179), "179m"},
      {hours(3), "3h"},
      {hours(3) + minutes(1), "3h1m"},
      {hours(7) + minutes(59), "7h59m"},
      {hours(8) + minutes(59), "8h"},
      {hours(47), "47h"},
      {2 * day, "2d"},
      {2 * day + hours(3), "2d3h"},
      {8 * day - hours(1), "7d23h"},
      {8 * day + hours(5), "8d"},
      {729 * day, "729d"},
      {730 * day, "2y"},
      {731 * day, "2y1d"},
      {8 * 365 * day + 5 * day, "8y"},
  };
  for (const auto& [age, text] : ages) EXPECT_EQ(HumanAge(At(hours(1)), At(hours(1) + age)), text);
  EXPECT_EQ(HumanAge(WallTime::min(), WallTime::max()), "292y");
  EXPECT_EQ(HumanAge(WallTime::max(), WallTime::min()), "<invalid>");
}

TEST(CronTest, ReadsSchedulesAsKubernetesDoes) {
  for (std::string_view good : {"* * * * *", "0 0 1 1 0", "*/15 0-6,12 1-31/2 JAN,feb Sun-sat", "@every 5s", "@yearly",
                                "  1 2 3 4 5  ", "CRON_TZ=UTC @daily", "1/5 * * * *", ", * * * *"}) {
    EXPECT_EQ(CheckCronSchedule(good), "") << good;
  }
  for (std::string_view bad :
       {"", " ", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 32 * *", "* * * 13 *", "* * * * 7", "* * * x *",
        "1- * * * *", "*/ * * * *", "@", "TZ=UTC", "99999999999999999999 * * * *"}) {
    EXPECT_NE(CheckCronSchedule(bad), "") << bad;
  }
}

TEST(ImageTagTest, FindsTheTag) {
  using builtin::ImageTag;
  const std::pair<std::string_view, std::string_view> images[] = {{"nginx", "latest"},
                                                                  {"nginx:1", "1"},
                                                                  {"a.b:5000/x", "latest"},
                                                                  {"a.b:5000/x:y", "y"},
                                                                  {"x@sha256:0", ""},
                                                                  {"x:t@sha256:0", "t"},
                                                                  {"", ""},
                                                                  {"UPPER", ""},
                                                                  {"Host/x", "latest"},
                                                                  {"a//b", ""},
                                                                  {"a:", ""},
                                                                  {"a:-x", ""},
                                                                  {"a__b/c-----d", "latest"},
                                                                  {"a...b", ""},
                                                                  {"localhost:80/x", "latest"}};
  for (const auto& [image, tag] : images) EXPECT_EQ(ImageTag(image), tag) << image;
}

TEST(BuiltinBehaviourTest, LimitsTheSizeOfConfigurationAndSecrets) {
  const BuiltinBehaviour map = BehaviourOf("", "ConfigMap");
  const std::string full(size_t{1} << 20, 'x');
  Value object = json::Object({{"data", json::Object({{"a", full}})}});
  EXPECT_TRUE(map.validate(object, nullptr).empty());
  object.Edit("data").Set("b", "y");
  ASSERT_EQ(map.validate(object, nullptr).size(), 1U);
  EXPECT_EQ(map.validate(object, nullptr)[0].message, "Too long: may not be more than 1048576 bytes");

  const BuiltinBehaviour secret = BehaviourOf("", "Secret");
  Value hidden = json::Object({{"stringData", json::Object({{"a", full}})}});
  secret.prepare(hidden, nullptr);
  EXPECT_EQ(hidden["data"]["a"].str().size(), 1398104U);
  EXPECT_TRUE(secret.validate(hidden, nullptr).empty());
  hidden.Edit("data").Set("b", "eA==");
  EXPECT_EQ(secret.validate(hidden, nullptr).size(), 1U);
}

TEST(BuiltinBehaviourTest, HasNothingForAKindItDoesNotKnow) {
  const BuiltinBehaviour none = BehaviourOf("example.com", "Pod");
  EXPECT_TRUE(none.columns.empty());
  EXPECT_EQ(none.cells, nullptr);
  EXPECT_EQ(none.validate, nullptr);
}

// ---- objects of any shape ----

void RunAll(const BuiltinBehaviour& behaviour, Value object, const Value& old) {
  if (behaviour.default_fields != nullptr) behaviour.default_fields(object);
  if (behaviour.prepare != nullptr) {
    Value created = object;
    behaviour.prepare(created, nullptr);
    behaviour.prepare(object, &old);
  }
  if (behaviour.validate != nullptr) {
    behaviour.validate(object, nullptr);
    behaviour.validate(object, &old);
  }
  if (behaviour.cells != nullptr) {
    EXPECT_EQ(behaviour.cells(object, WallTime()).size(), behaviour.columns.size());
  }
}

// Every field of the object, one after the other, as something that it should not be.
void Twist(const Value& object, const std::function<void(const Value&)>& use, int depth = 0) {
  static const Value kOdd[] = {nullptr,
                               true,
                               -1,
                               INT64_MAX,
                               1.5,
                               "",
                               "odd",
                               json::Array(),
                               json::Array({nullptr, 1, "x", json::Array()}),
                               json::Object(),
                               json::Object({{"a", nullptr}})};
  if (depth > 12) return;
  for (const Value& odd : kOdd) use(odd);
  for (const json::Member& member : object.members()) {
    Twist(
        member.value(),
        [&](const Value& inner) {
          Value changed = object;
          changed.Set(member.key(), inner);
          use(changed);
        },
        depth + 1);
  }
  for (size_t i = 0; i < object.size() && object.is_array(); ++i) {
    Twist(
        object[i],
        [&](const Value& inner) {
          Value changed = object;
          changed.Edit(i) = inner;
          use(changed);
        },
        depth + 1);
  }
}

TEST(BuiltinBehaviourTest, TakesObjectsOfAnyShape) {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/builtin.json");
  const Value rows = json::Parse(std::string{std::istreambuf_iterator<char>(file), {}}).value();
  size_t runs = 0;
  for (const Value& row : rows.items()) {
    const Value& object = row.Has("table") ? row["table"]["object"] : row["in"];
    const std::string_view version = object["apiVersion"].str();
    const size_t slash = version.find('/');
    const std::string_view group = slash == std::string_view::npos ? "" : version.substr(0, slash);
    const BuiltinBehaviour behaviour = BehaviourOf(group, object["kind"].str());
    Twist(object, [&](const Value& twisted) {
      ++runs;
      RunAll(behaviour, twisted, object);
    });
  }
  EXPECT_GT(runs, 10'000U);
}

}  // namespace
}  // namespace baton::api
