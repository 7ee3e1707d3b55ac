// json::Value: kinds, copy on write, keys, order, equality.
#include "json/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "json/builder.h"
#include "json/parse.h"

namespace baton::json {
namespace {

std::vector<std::string> KeysOf(const Value& value) {
  std::vector<std::string> keys;
  for (const Member& member : value.members()) keys.emplace_back(member.key());
  return keys;
}

TEST(ValueTest, EachKindSaysWhatItIs) {
  EXPECT_EQ(Value().kind(), Kind::kNull);
  EXPECT_EQ(Value(true).kind(), Kind::kBool);
  EXPECT_EQ(Value(-1).kind(), Kind::kInt);
  EXPECT_EQ(Value(std::numeric_limits<uint64_t>::max()).kind(), Kind::kUint);
  EXPECT_EQ(Value(1.0).kind(), Kind::kDouble);
  EXPECT_EQ(Value("short").kind(), Kind::kString);
  EXPECT_EQ(Value("a string that is longer than fourteen bytes").kind(), Kind::kString);
  EXPECT_EQ(Array().kind(), Kind::kArray);
  EXPECT_EQ(Object().kind(), Kind::kObject);
}

TEST(ValueTest, AnUnsignedThatFitsIsAnInt) {
  EXPECT_EQ(Value(uint64_t{7}), Value(7));
  EXPECT_TRUE(Value(uint64_t{1} << 62).is_int());
  EXPECT_FALSE(Value(uint64_t{1} << 63).is_int());
  EXPECT_EQ(Value(uint64_t{1} << 63).as_uint64(), uint64_t{1} << 63);
  EXPECT_EQ(Value(-1).as_uint64(), std::nullopt);
}

TEST(ValueTest, NumbersOfDifferentKindsAreDifferentValues) {
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(0), Value(false));
  EXPECT_NE(Value("1"), Value(1));
  EXPECT_EQ(Value(0.0), Value(-0.0));
}

TEST(ValueTest, ReadingTheWrongKindGivesTheFallback) {
  const Value value = Object({{"number", 3}, {"text", "x"}, {"flag", true}});
  EXPECT_EQ(value["number"].str(), "");
  EXPECT_EQ(value["text"].int_or(9), 9);
  EXPECT_EQ(value["flag"].bool_or(false), true);
  EXPECT_EQ(value["text"].bool_or(true), true);
  EXPECT_EQ(value["number"].number_or(0), 3.0);
  EXPECT_EQ(value["number"].str_or("fallback"), "fallback");
  EXPECT_TRUE(value["absent"]["deeper"][7]["still"].is_null());
  EXPECT_TRUE(Value(3)["x"].is_null());
  EXPECT_TRUE(Value("x").items().empty());
}

TEST(ValueTest, FindTellsAbsentFromNull) {
  const Value value = Object({{"null", nullptr}});
  EXPECT_NE(value.Find("null"), nullptr);
  EXPECT_EQ(value.Find("absent"), nullptr);
}

TEST(ValueTest, StringsOfEveryLengthAroundTheInlineLimitComeBackWhole) {
  for (size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'x');
    EXPECT_EQ(Value(text).str(), text);
    EXPECT_EQ(Value(text), Value(text));
    EXPECT_NE(Value(text), Value(text + "y"));
  }
  const std::string_view with_null("a\0b", 3);
  EXPECT_EQ(Value(with_null).str(), with_null);
}

TEST(ValueTest, KeysAreSortedByBytesWhateverTheOrderOfInsertion) {
  Value value;
  for (const char* key : {"b", "a", "ab", "B", "", "\xc3\xa9", "a.b/c"}) value.Set(key, 1);
  EXPECT_EQ(KeysOf(value), (std::vector<std::string>{"", "B", "a", "a.b/c", "ab", "b", "\xc3\xa9"}));
}

TEST(ValueTest, TheLastOfTwoEqualKeysWinsInSmallAndLargeObjects) {
  for (const int others : {0, 5, 100}) {
    ObjectBuilder builder;
    builder.Add("k", 1);
    for (int i = others; i > 0; --i) builder.Add("other" + std::to_string(i), i);
    builder.Add("k", 2);
    const Value value = std::move(builder).Build();
    EXPECT_EQ(value["k"], Value(2));
    EXPECT_EQ(value.size(), static_cast<size_t>(others) + 1);
  }
}

TEST(ValueTest, ACopySharesUntilOneSideWrites) {
  const Value original = Parse(R"({"a":{"b":[1,2,{"c":"deep"}]},"other":{"x":1}})").value();
  Value copy = original;
  EXPECT_TRUE(copy.SharesStorageWith(original));
  copy.Edit("a").Edit("b").Edit(2).Edit("c") = "changed";
  EXPECT_EQ(original["a"]["b"][2]["c"].str(), "deep");
  EXPECT_EQ(copy["a"]["b"][2]["c"].str(), "changed");
  EXPECT_TRUE(copy["other"].SharesStorageWith(original["other"])) << "what was not on the path is still shared";
}

TEST(ValueTest, EveryChangeLeavesTheOtherOwnersAlone) {
  const Value array = Array({1, 2, 3});
  const Value object = Object({{"a", 1}, {"b", 2}});
  Value changed = array;
  changed.Push(4);
  changed.Insert(0, 0);
  changed.EraseAt(1);
  changed.Edit(1) = "two";
  EXPECT_EQ(changed, Array({0, "two", 3, 4}));
  EXPECT_EQ(array, Array({1, 2, 3}));
  Value edited = object;
  EXPECT_TRUE(edited.Erase("a"));
  EXPECT_FALSE(edited.Erase("a"));
  edited.Set("c", 3);
  EXPECT_EQ(edited.Take("b"), Value(2));
  EXPECT_EQ(edited.Take("b"), Value());
  EXPECT_EQ(edited, Object({{"c", 3}}));
  EXPECT_EQ(object, Object({{"a", 1}, {"b", 2}}));
}

TEST(ValueTest, EditMakesAnObjectOfWhateverWasThere) {
  Value value = "text";
  value.Edit("a").Edit("b") = 1;
  EXPECT_EQ(value, Object({{"a", Object({{"b", 1}})}}));
  Value list = 3;
  list.Push("x");
  EXPECT_EQ(list, Array({"x"}));
}

TEST(ValueTest, AssigningAPartOfItselfIsSafe) {
  Value value = Parse(R"({"child":{"grandchild":["a string that lives on the heap"]}})").value();
  value = value["child"]["grandchild"];
  EXPECT_EQ(value, Array({"a string that lives on the heap"}));
  Value self = Object({{"a", 1}});
  self.Set("self", self);
  EXPECT_EQ(self, Object({{"a", 1}, {"self", Object({{"a", 1}})}}));
  Value keyed = Object({{"name of the other key, which is long", 1}});
  keyed.Set(keyed.members()[0].key(), 2);
  keyed.Edit(std::string_view(keyed.members()[0].key()).substr(1)) = 3;
  EXPECT_EQ(keyed.size(), 2U);
}

TEST(ValueTest, CompareIsATotalOrderThatAgreesWithEquality) {
  const std::vector<Value> values = {Value(),
                                     false,
                                     true,
                                     -1,
                                     0,
                                     1,
                                     uint64_t{1} << 63,
                                     -0.5,
                                     1.0,
                                     "",
                                     "a",
                                     "b",
                                     Array(),
                                     Array({1}),
                                     Array({1, 2}),
                                     Array({2}),
                                     Object(),
                                     Object({{"a", 1}}),
                                     Object({{"a", 2}}),
                                     Object({{"a", 2}, {"b", 1}}),
                                     Object({{"b", 0}})};
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      const auto order = Value::Compare(values[i], values[j]);
      EXPECT_EQ(order < 0, i < j) << values[i] << " " << values[j];
      EXPECT_EQ(order == 0, values[i] == values[j]) << values[i] << " " << values[j];
    }
  }
}

TEST(ValueTest, PastTheEndOfAnArrayEndsTheProcess) {
  Value array = Array({1});
  EXPECT_DEATH(array.Edit(1), "past the end");
  EXPECT_DEATH(array.EraseAt(1), "past the end");
  EXPECT_DEATH(array.Insert(3, 1), "past the end");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_DEATH(Value{infinity}, "no NaN and no Infinity");
}

// A model test: the same random changes on a Value and on a std::map.
TEST(ValueTest, AgreesWithAMapUnderRandomChanges) {
  std::mt19937 random(7);
  Value value = Object();
  std::map<std::string, int> model;
  std::vector<Value> snapshots;  // keep storage shared, so that copy on write is exercised
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = "key" + std::to_string(random() % 60);
    if (random() % 3 == 0) {
      EXPECT_EQ(value.Erase(key), model.erase(key) == 1);
    } else {
      value.Set(key, step);
      model[key] = step;
    }
    if (random() % 10 == 0) snapshots.push_back(value);
    if (snapshots.size() > 20) snapshots.erase(snapshots.begin());
  }
  ASSERT_EQ(value.size(), model.size());
  for (const auto& [key, number] : model) EXPECT_EQ(value[key], Value(number));
}

TEST(ValueTest, KeysBeyondTheCacheAndTheImmortalSetWork) {
  Value value = Object();
  for (int i = 0; i < 40'000; ++i)
    value.Set("unusual key number " + std::to_string(i) + std::string(static_cast<size_t>(i % 80), 'k'), i);
  EXPECT_EQ(value.size(), 40'000U);
  for (int i = 0; i < 40'000; i += 997) {
    EXPECT_EQ(value["unusual key number " + std::to_string(i) + std::string(static_cast<size_t>(i % 80), 'k')],
              Value(i));
  }
}

TEST(ValueTest, KeysThatAreAlikeAtAGlanceAreToldApart) {
  // The same in length, and at their beginnings, middles and ends.
  const Value object = Object({{"aXbYc", 1}, {"aYbXc", 2}, {"axbyc", 3}, {"", 4}});
  EXPECT_EQ(object["aXbYc"], Value(1));
  EXPECT_EQ(object["aYbXc"], Value(2));
  EXPECT_EQ(object["axbyc"], Value(3));
  EXPECT_EQ(object[""], Value(4));
  EXPECT_FALSE(object.Has("aYbYc"));
  EXPECT_NE(Object({{"aXbYc", 1}}), Object({{"aYbXc", 1}}));
}

TEST(ValueTest, ThreadsMayShareStorage) {
  const Value shared =
      Parse(R"({"metadata":{"labels":{"a":"a string that is kept on the heap"}},"items":[1,2,3]})").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([shared, t] {
      for (int i = 0; i < 2'000; ++i) {
        Value mine = shared;
        mine.Edit("metadata").Edit("labels").Edit("thread-" + std::to_string(i)) = t;
        EXPECT_EQ(mine["metadata"]["labels"].size(), 2U);
        EXPECT_EQ(Parse(mine.ToString()).value(), mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared["metadata"]["labels"].size(), 1U);
}

TEST(ValueTest, ShortStringsThatEndInNulAreNoSharedStorage) {
  const Value text("ab");
  const Value longer(std::string_view("ab\0", 3));
  EXPECT_NE(text, longer);
  EXPECT_FALSE(text.SharesStorageWith(longer));
  EXPECT_FALSE(Value("").SharesStorageWith(Value(std::string_view("\0", 1))));
  EXPECT_TRUE(longer.SharesStorageWith(Value(std::string_view("ab\0", 3))));
}

TEST(ValueTest, HeapBytesCountTheTextsOfKeys) {
  const std::string name(1000, 'k');
  EXPECT_GT(Object({{name, 1}}).HeapBytes(), Object({{"k", 1}}).HeapBytes() + 900);
}

}  // namespace
}  // namespace baton::json
