#include "api/property_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "api/schema.h"
#include "base/strings.h"

namespace baton::api {
namespace {

TEST(PropertyMapTest, AgreesWithAMapUnderRandomChanges) {
  std::mt19937 random(1);
  PropertyMap ours;
  std::map<std::string, SchemaPtr, std::less<>> theirs;
  for (int i = 0; i < 2'000; ++i) {
    // Names that are alike in length and at their ends, too.
    const std::string name = StrCat("a", random() % 300, "z");
    const auto schema = std::make_shared<const Schema>();
    const auto [at, added] = ours.emplace(name, schema);
    EXPECT_EQ(added, theirs.emplace(name, schema).second);
    EXPECT_EQ(at->second, theirs.at(name));
    const std::string other = StrCat("a", random() % 400, "z");
    EXPECT_EQ(ours.contains(other), theirs.contains(other));
  }
  ASSERT_EQ(ours.size(), theirs.size());
  auto expected = theirs.begin();
  for (const auto& [name, schema] : ours) {
    EXPECT_EQ(name, expected->first);
    EXPECT_EQ(schema, expected->second);
    ++expected;
  }
}

TEST(PropertyMapTest, WhatIsInItStaysWhereItIsWhileOthersAreAdded) {
  PropertyMap properties;
  SchemaPtr& first = properties.try_emplace("m").first->second;
  for (char c = 'a'; c <= 'z'; ++c) properties.try_emplace(std::string_view(&c, 1));
  first = std::make_shared<const Schema>();
  EXPECT_EQ(properties.at("m"), first);
}

TEST(PropertyMapTest, ACopyIsOfItsOwn) {
  PropertyMap properties;
  properties["a"] = std::make_shared<const Schema>();
  PropertyMap copy = properties;
  copy["a"] = nullptr;
  copy["b"] = nullptr;
  EXPECT_NE(properties.at("a"), nullptr);
  EXPECT_EQ(properties.size(), 1U);
  EXPECT_TRUE(PropertyMap().empty());
  EXPECT_FALSE(properties.contains(""));
}

TEST(PropertyMapTest, FindsOneOfManyNamesThatLookAlike) {
  constexpr int kMany = 1'000;
  PropertyMap properties;
  const auto name = [](int i) { return StrCat("a", 10'000 + i, "z"); };
  for (int i = 0; i < kMany; ++i) {
    properties[name(i)] = std::make_shared<const Schema>();
    EXPECT_TRUE(properties.contains(name(i / 2))) << i;
    EXPECT_FALSE(properties.contains(name(i + 1))) << i;
  }
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(properties.find(name(i))->first, name(i));
  EXPECT_FALSE(properties.contains(""));
  EXPECT_FALSE(properties.contains("zzz"));
}

}  // namespace
}  // namespace baton::api
