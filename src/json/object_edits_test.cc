#include "json/object_edits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/parse.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

TEST(ObjectEditsTest, SetsAndErases) {
  ObjectEdits edits(Doc(R"({"a":1,"b":2})"));
  edits.Set("c", 3);
  edits.Set("a", 9);
  edits.Erase("b");
  edits.Erase("none");
  EXPECT_EQ(std::move(edits).Finish(), Doc(R"({"a":9,"c":3})"));
}

TEST(ObjectEditsTest, FindSeesTheEdits) {
  ObjectEdits edits(Doc(R"({"a":1,"b":2})"));
  edits.Set("c", 3);
  edits.Erase("b");
  EXPECT_EQ(*edits.Find("a"), Value(1));
  EXPECT_EQ(edits.Find("b"), nullptr);
  EXPECT_EQ(*edits.Find("c"), Value(3));
  edits.Erase("c");
  EXPECT_EQ(edits.Find("c"), nullptr);
  edits.Set("b", 7);
  EXPECT_EQ(*edits.Find("b"), Value(7));
  EXPECT_EQ(std::move(edits).Finish(), Doc(R"({"a":1,"b":7})"));
}

TEST(ObjectEditsTest, WhatIsNoObjectCountsAsEmpty) {
  EXPECT_EQ(ObjectEdits(Value(7)).Finish(), Object());
  EXPECT_EQ(ObjectEdits(Array({1})).Finish(), Object());
}

TEST(ObjectEditsTest, NoEditKeepsTheStorage) {
  const Value object = Doc(R"({"a":{"x":1},"b":2})");
  ObjectEdits edits(object);
  edits.Set("a", object["a"]);
  edits.Set("b", 2);
  edits.Erase("none");
  edits.Set("new", 1);
  edits.Erase("new");
  EXPECT_TRUE(std::move(edits).Finish().SharesStorageWith(object));
}

TEST(ObjectEditsTest, ManyEditsGiveWhatSingleOnesGive) {
  Value expected = Object();
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(std::to_string(i * 37 % 200));
  for (int i = 0; i < 200; i += 2) expected.Set(keys[static_cast<size_t>(i)], i);
  ObjectEdits edits(expected);
  for (size_t i = 0; i < 200; i += 3) {
    edits.Set(keys[i], "new");
    expected.Set(keys[i], "new");
  }
  for (size_t i = 0; i < 200; i += 5) {
    edits.Erase(keys[i]);
    expected.Erase(keys[i]);
  }
  EXPECT_EQ(std::move(edits).Finish(), expected);
}

}  // namespace
}  // namespace baton::json
