#include "json/selector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::json {
namespace {

LabelSelector Labels(std::string_view text) {
  Result<LabelSelector> selector = LabelSelector::Parse(text);
  EXPECT_TRUE(selector.ok()) << selector.error().ToString();
  return *selector;
}

FieldSelector Fields(std::string_view text) {
  Result<FieldSelector> selector = FieldSelector::Parse(text);
  EXPECT_TRUE(selector.ok()) << selector.error().ToString();
  return *selector;
}

TEST(LabelSelectorTest, WithoutRequirementsSelectsEverything) {
  for (const LabelSelector& selector :
       {LabelSelector(), Labels(""), Labels(" \t\n"), *LabelSelector::FromObject(Object())}) {
    EXPECT_TRUE(selector.selects_everything());
    EXPECT_FALSE(selector.selects_nothing());
    EXPECT_TRUE(selector.Matches(Value()));
    EXPECT_TRUE(selector.Matches(Object({{"a", "b"}})));
    EXPECT_EQ(selector.ToString(), "");
  }
}

TEST(LabelSelectorTest, NullSelectsNothing) {
  const LabelSelector selector = *LabelSelector::FromObject(Value());
  EXPECT_TRUE(selector.selects_nothing());
  EXPECT_FALSE(selector.selects_everything());
  EXPECT_FALSE(selector.Matches(Value()));
  EXPECT_FALSE(selector.Matches(Object({{"a", "b"}})));
  EXPECT_EQ(selector, LabelSelector::Nothing());
  EXPECT_NE(selector, LabelSelector());
}

TEST(LabelSelectorTest, WhatIsNoObjectHasNoLabels) {
  for (const Value& labels : {Value(), Value("a"), Value(1), Array({"a"})}) {
    EXPECT_FALSE(Labels("a").Matches(labels));
    EXPECT_TRUE(Labels("!a,b!=c,d notin (e)").Matches(labels));
  }
}

TEST(LabelSelectorTest, AMemberThatIsNoStringIsNoLabel) {
  const Value labels = Object({{"a", 1}, {"b", nullptr}, {"c", true}});
  EXPECT_TRUE(Labels("!a,!b,!c,a!=1").Matches(labels));
  EXPECT_FALSE(Labels("a").Matches(labels));
  EXPECT_FALSE(Labels("a>0").Matches(labels));
}

TEST(LabelSelectorTest, FindsOneOfManyValues) {
  std::string text = "a in (";
  for (int i = 0; i < 1000; ++i) StrAppend(text, i == 0 ? "" : ",", "v", i * 7 % 1000);
  const LabelSelector selector = Labels(text + ")");
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(selector.Matches(Object({{"a", StrCat("v", i)}})));
  EXPECT_FALSE(selector.Matches(Object({{"a", "v1000"}})));
  EXPECT_FALSE(selector.Matches(Object({{"a", ""}})));
}

TEST(LabelSelectorTest, PrintsWhatItReadsAgain) {
  for (const std::string_view text : {"a=b,c!=d,e in (f,g),h notin (i),j,!k", "a==b", "a in ()", "a in (,b)",
                                      "a=,b!=", "in in (in,notin),notin", "a>1,a<5", "x.y/z in (1)", "a,a=1,!a,a!=2"}) {
    const LabelSelector selector = Labels(text);
    EXPECT_EQ(selector.ToString(), text);
    EXPECT_EQ(Labels(selector.ToString()), selector);
  }
}

TEST(LabelSelectorTest, SortsByKeyAndKeepsTheOrderOfOneKey) {
  std::string text, wanted;
  for (int i = 99; i >= 0; --i) StrAppend(text, text.empty() ? "" : ",", "k", i % 10, "!=", i);
  const LabelSelector selector = Labels(text);
  ASSERT_EQ(selector.requirements().size(), 100U);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(selector.requirements()[i].key(), StrCat("k", i / 10));
    EXPECT_EQ(selector.requirements()[i].values()[0], StrCat((9 - i % 10) * 10 + i / 10));
  }
}

TEST(LabelSelectorTest, TellsTheOneValueALabelMustHave) {
  const LabelSelector selector = Labels("a=1,b==2,c in (3),d in (4,5),e!=6,f,g=,g=7");
  EXPECT_EQ(selector.ExactMatch("a"), "1");
  EXPECT_EQ(selector.ExactMatch("b"), "2");
  EXPECT_EQ(selector.ExactMatch("c"), "3");
  EXPECT_EQ(selector.ExactMatch("g"), "");
  for (const std::string_view key : {"d", "e", "f", "h"}) EXPECT_FALSE(selector.ExactMatch(key)) << key;
}

TEST(LabelSelectorTest, MakesRequirementsFromParts) {
  const LabelRequirement requirement = *LabelRequirement::Make("a", LabelOperator::kIn, {"c", "b"});
  EXPECT_EQ(requirement.ToString(), "a in (b,c)");
  EXPECT_EQ(requirement.op(), LabelOperator::kIn);
  const auto message = [](auto... arguments) { return LabelRequirement::Make(arguments...).error().message(); };
  EXPECT_EQ(message("a", LabelOperator::kIn, std::vector<std::string>{}),
            "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty");
  EXPECT_EQ(message("a", LabelOperator::kEquals, std::vector<std::string>{"b", "c"}),
            "values: Invalid value: []string{\"b\", \"c\"}: exact-match compatibility requires one single value");
  EXPECT_EQ(message("a", LabelOperator::kExists, std::vector<std::string>{"b"}),
            "values: Invalid value: []string{\"b\"}: values set must be empty for exists and does not exist");
  EXPECT_EQ(message("a", LabelOperator::kLessThan, std::vector<std::string>{}),
            "values: Invalid value: []string(nil): for 'Gt', 'Lt' operators, exactly one value is required");
  EXPECT_TRUE(message("-", LabelOperator::kEquals, std::vector<std::string>{"-"})
                  .starts_with("[key: Invalid value: \"-\": name part must consist of"));
}

TEST(LabelSelectorTest, SaysWhatIsWrongWithAnObject) {
  struct Case {
    std::string_view object;
    std::string_view message;
  };
  const Case cases[] = {
      {"[]", "label selector: it must be an object, not array"},
      {"\"a=b\"", "label selector: it must be an object, not string"},
      {R"({"matchLabel":{"a":"b"}})", "label selector: unknown field \"matchLabel\""},
      {R"({"a":"b"})", "label selector: unknown field \"a\""},
      {R"({"matchLabels":[]})", "label selector: matchLabels must be an object, not array"},
      {R"({"matchLabels":{"a":1}})", "label selector: matchLabels[\"a\"] must be a string, not int"},
      {R"({"matchExpressions":{}})", "label selector: matchExpressions must be an array, not object"},
      {R"({"matchExpressions":["a"]})", "label selector: matchExpressions[0] must be an object, not string"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Gt"}]})",
       "label selector: matchExpressions[1]: \"Gt\" is not a valid label selector operator"},
      {R"({"matchExpressions":[{"key":1,"operator":"Exists"}]})",
       "label selector: matchExpressions[0].key must be a string, not int"},
      {R"({"matchExpressions":[{"key":"a","operator":"In","value":["b"]}]})",
       "label selector: matchExpressions[0]: unknown field \"value\""},
      {R"({"matchExpressions":[{"key":"a","operator":"In","values":"b"}]})",
       "label selector: matchExpressions[0].values must be an array, not string"},
      {R"({"matchExpressions":[{"key":"a","operator":"In","values":[1]}]})",
       "label selector: matchExpressions[0].values must be a string, not int"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "label selector: matchExpressions[0]: values: Invalid value: []string(nil): for 'in', 'notin' operators, values "
       "set can't be empty"},
  };
  for (const Case& c : cases) {
    const Result<LabelSelector> selector = LabelSelector::FromObject(*Parse(c.object));
    ASSERT_FALSE(selector.ok()) << c.object;
    EXPECT_EQ(selector.error().message(), c.message);
    EXPECT_EQ(selector.error().kind(), ErrorKind::kInvalid);
  }
}

TEST(LabelSelectorTest, MatchesWithAnObject) {
  const LabelSelector selector = *LabelSelector::FromObject(*Parse(R"({"matchLabels":{"app":"web"},"matchExpressions":[
      {"key":"tier","operator":"In","values":["front","back"]},{"key":"old","operator":"DoesNotExist"}]})"));
  EXPECT_TRUE(selector.Matches(Object({{"app", "web"}, {"tier", "back"}, {"more", "x"}})));
  EXPECT_FALSE(selector.Matches(Object({{"app", "web"}, {"tier", "middle"}})));
  EXPECT_FALSE(selector.Matches(Object({{"app", "web"}, {"tier", "back"}, {"old", ""}})));
  EXPECT_FALSE(selector.Matches(Object({{"tier", "back"}})));
}

TEST(FieldSelectorTest, MatchesThroughALookup) {
  const auto lookup = [](std::string_view field) -> std::string_view {
    return field == "metadata.name" ? "web" : field == "status.phase" ? "Running" : "";
  };
  EXPECT_TRUE(FieldSelector().Matches(lookup));
  EXPECT_TRUE(Fields("metadata.name=web").Matches(lookup));
  EXPECT_FALSE(Fields("metadata.name!=web").Matches(lookup));
  EXPECT_TRUE(Fields("metadata.name==web,status.phase!=Failed").Matches(lookup));
  EXPECT_FALSE(Fields("metadata.name==web,status.phase=Failed").Matches(lookup));
  EXPECT_TRUE(Fields("spec.nodeName=").Matches(lookup));
  EXPECT_TRUE(Fields("spec.nodeName!=node").Matches(lookup));
  EXPECT_FALSE(Fields("spec.nodeName!=").Matches(lookup));
  EXPECT_TRUE(Fields("a=").Matches([](std::string_view) { return std::string(); }));
}

TEST(FieldSelectorTest, EscapesWhatItReadsAgain) {
  for (const std::string_view value : {"", "a", "a,b", "a=b", "\\", "\\,=", "==", "a\\b", "é", "!=", " "}) {
    const FieldSelector selector = Fields(StrCat("f=", FieldSelector::Escape(value)));
    ASSERT_EQ(selector.requirements().size(), 1U);
    EXPECT_EQ(selector.requirements()[0], (FieldRequirement{"f", true, std::string(value)}));
    EXPECT_EQ(Fields(selector.ToString()), selector);
    EXPECT_EQ(selector.ExactMatch("f"), value);
  }
  EXPECT_FALSE(Fields("f!=a").ExactMatch("f"));
  EXPECT_EQ(Fields("f!=a,f=b").ExactMatch("f"), "b");
}

TEST(SelectorTest, LimitsWhatItReads) {
  const auto kind = [](const auto& result) { return result.ok() ? "ok" : ErrorKindName(result.error().kind()); };
  EXPECT_EQ(kind(LabelSelector::Parse(std::string(kMaxSelectorBytes, ' '))), "ok");
  EXPECT_EQ(kind(LabelSelector::Parse(std::string(kMaxSelectorBytes + 1, ' '))), "too_large");
  EXPECT_EQ(kind(FieldSelector::Parse(std::string(kMaxSelectorBytes, ','))), "ok");
  EXPECT_EQ(kind(FieldSelector::Parse(std::string(kMaxSelectorBytes + 1, ','))), "too_large");
  std::string labels = "a", fields = "a=";
  for (size_t i = 1; i < kMaxSelectorRequirements; ++i) {
    labels += ",a";
    fields += ",a=";
  }
  EXPECT_EQ(kind(LabelSelector::Parse(labels)), "ok");
  EXPECT_EQ(kind(LabelSelector::Parse(labels + ",a")), "too_large");
  EXPECT_EQ(kind(FieldSelector::Parse(fields)), "ok");
  EXPECT_EQ(kind(FieldSelector::Parse(fields + ",a=")), "too_large");
  Value object = Object({{"matchExpressions", Array()}});
  for (size_t i = 0; i <= kMaxSelectorRequirements; ++i)
    object.Edit("matchExpressions").Push(Object({{"key", "a"}, {"operator", "Exists"}}));
  EXPECT_EQ(kind(LabelSelector::FromObject(object)), "too_large");
  EXPECT_EQ(kind(LabelRequirement::Make("a", LabelOperator::kIn, std::vector<std::string>(kMaxSelectorValues + 1))),
            "too_large");
}

TEST(SelectorTest, RefusesBytesThatNobodyMeans) {
  // In Kubernetes a NUL ends the selector, and what follows is silently ignored.
  for (const std::string_view text : {std::string_view("a=b,\xff", 5), std::string_view("a=b \0,c=d", 9)}) {
    EXPECT_FALSE(LabelSelector::Parse(text).ok());
    EXPECT_FALSE(FieldSelector::Parse(text).ok());
  }
}

TEST(SelectorTest, MessagesStayShort) {
  const std::string word(100000, 'x');
  for (const std::string& text : {word, "a=" + word, "a (" + word, "a in (b " + word})
    EXPECT_LT(LabelSelector::Parse(text).error().message().size(), 1500U);
  std::vector<std::string> bad(10000, "-");
  EXPECT_LT(LabelRequirement::Make("a", LabelOperator::kEquals, bad).error().message().size(), 8000U);
  EXPECT_LT(FieldSelector::Parse(word).error().message().size(), 1500U);
  EXPECT_LT(FieldSelector::Parse("a=" + word + "=").error().message().size(), 1500U);
}

}  // namespace
}  // namespace baton::json
