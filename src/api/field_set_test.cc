// Field sets: spelling, order, algebra, and what hostile fieldsV1 may not do.
#include "api/field_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "api/openapi_for_test.h"
#include "base/strings.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Value;

Value Json(std::string_view text) { return json::Parse(text).value(); }

struct Spelling {
  PathElement element;
  std::string fields_v1;
  std::string text;
};

std::vector<Spelling> Spellings() {
  return {
      {PathElement::Field("image"), "f:image", ".image"},
      {PathElement::Field(""), "f:", "."},
      {PathElement::Field("a.b/c"), "f:a.b/c", ".a.b/c"},
      {PathElement::Key(Json(R"({"name":"app"})")), R"(k:{"name":"app"})", R"([name="app"])"},
      {PathElement::Key(Json(R"({"protocol":"TCP","containerPort":80})")), R"(k:{"containerPort":80,"protocol":"TCP"})",
       R"([containerPort=80,protocol="TCP"])"},
      {PathElement::OfValue("x\"<y"), R"(v:"x\"\u003cy")", R"([="x\"<y"])"},
      {PathElement::OfValue(1.5), "v:1.5", "[=1.5]"},
      {PathElement::OfValue(true), "v:true", "[=true]"},
      {PathElement::Index(3), "i:3", "[3]"},
      {PathElement::Index(-3), "i:-3", "[-3]"},
  };
}

TEST(PathElementTest, IsSpelledAsKubernetesSpellsIt) {
  for (const Spelling& row : Spellings()) {
    EXPECT_EQ(row.element.ToFieldsV1(), row.fields_v1);
    EXPECT_EQ(row.element.ToText(), row.text);
    const Result<PathElement> back = PathElement::FromFieldsV1(row.fields_v1);
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_EQ(*back, row.element);
  }
}

TEST(PathElementTest, RefusesWhatIsNoElement) {
  for (const char* text : {"", "f", "fx", "image", "k:", "k:[]", "k:{", "k:1", "v:", "v:x", "i:", "i:x", "i:1x",
                           "i:99999999999999999999", "v:1 2"}) {
    EXPECT_FALSE(PathElement::FromFieldsV1(text).ok()) << text;
  }
  EXPECT_EQ(PathElement::FromFieldsV1("x:y").error().kind(), ErrorKind::kUnsupported);
}

TEST(PathElementTest, ComesInKubernetesOrder) {
  const std::vector<std::string> sorted = {"f:a",         "f:b",         "k:{\"a\":1}", "k:{\"a\":1,\"b\":0}",
                                           "k:{\"a\":2}", "k:{\"b\":0}", "v:1",         "v:1.5",
                                           "v:2",         "v:10",        "v:\"1\"",     "v:\"a\"",
                                           "v:false",     "v:true",      "v:[1]",       "v:{}",
                                           "v:null",      "i:2",         "i:10"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(PathElement::FromFieldsV1(sorted[i]).value() <=> PathElement::FromFieldsV1(sorted[j]).value(), i <=> j)
          << sorted[i] << " and " << sorted[j];
    }
  }
}

TEST(PathElementTest, ComparesNumbersByValueAndExactly) {
  EXPECT_EQ(PathElement::OfValue(1), PathElement::OfValue(1.0));
  EXPECT_EQ(PathElement::OfValue(0.0), PathElement::OfValue(-0.0));
  EXPECT_LT(PathElement::OfValue(9007199254740993), PathElement::OfValue(9007199254740994.0));
  EXPECT_GT(PathElement::OfValue(9007199254740993), PathElement::OfValue(9007199254740992.0));
  EXPECT_GT(PathElement::OfValue(uint64_t{18446744073709551615U}), PathElement::OfValue(INT64_MAX));
}

// A set of few paths over a small alphabet, so that sets meet.
FieldSet RandomSet(std::mt19937& random) {
  static const std::vector<PathElement> kElements = {PathElement::Field("a"), PathElement::Field("b"),
                                                     PathElement::Key(json::Object({{"n", 1}})),
                                                     PathElement::OfValue("x"), PathElement::Index(0)};
  FieldSet set;
  for (size_t paths = random() % 12; paths > 0; --paths) {
    FieldPath path;
    for (size_t length = 1 + random() % 4; length > 0; --length) path.push_back(kElements[random() % kElements.size()]);
    set.Insert(path);
  }
  return set;
}

std::set<std::string> Texts(const FieldSet& set) {
  std::set<std::string> texts;
  for (const FieldPath& path : set.Paths()) texts.insert(PathText(path));
  return texts;
}

TEST(FieldSetTest, AlgebraIsThatOfSetsOfPaths) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const FieldSet a = RandomSet(random);
    const FieldSet b = RandomSet(random);
    const FieldSet c = RandomSet(random);
    std::set<std::string> both = Texts(a);
    both.merge(Texts(b));
    EXPECT_EQ(Texts(a.Union(b)), both);
    EXPECT_EQ(a.Union(b), b.Union(a));
    EXPECT_EQ(a.Intersection(b), b.Intersection(a));
    EXPECT_EQ(a.Union(b).Union(c), a.Union(b.Union(c)));
    EXPECT_EQ(a.Intersection(b.Union(c)), a.Intersection(b).Union(a.Intersection(c)));
    EXPECT_EQ(a.Difference(b).Union(a.Intersection(b)), a);
    EXPECT_TRUE(a.Difference(b).Intersection(b).empty());
    EXPECT_EQ(a.Difference(b.Union(c)), a.Difference(b).Difference(c));
    EXPECT_TRUE(a.Difference(a).empty());
    EXPECT_EQ(a.Union(FieldSet()), a);
    EXPECT_EQ(a.RecursiveDifference(b).Difference(a.Difference(b)), FieldSet()) << "takes at least as much";
  }
}

TEST(FieldSetTest, RecursiveDifferenceTakesWhatIsBelow) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const FieldSet a = RandomSet(random);
    const FieldSet b = RandomSet(random);
    FieldSet expected;
    for (const FieldPath& path : a.Paths()) {
      bool below = false;
      for (size_t length = 1; length <= path.size(); ++length) {
        below = below || b.Has(FieldPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length)));
      }
      if (!below) expected.Insert(path);
    }
    EXPECT_EQ(a.RecursiveDifference(b), expected);
  }
}

TEST(FieldSetTest, FieldsV1RoundTrips) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const FieldSet set = RandomSet(random);
    const Result<FieldSet> back = FieldSet::FromFieldsV1(set.ToFieldsV1());
    ASSERT_TRUE(back.ok()) << back.error().ToString();
    EXPECT_EQ(*back, set);
    EXPECT_EQ(back->ToFieldsV1(), set.ToFieldsV1());
    for (const FieldPath& path : set.Paths()) EXPECT_TRUE(back->Has(path));
  }
}

TEST(FieldSetTest, WhereNothingChangesTheSetItselfComesBack) {
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    const FieldSet a = RandomSet(random);
    const FieldSet b = RandomSet(random);
    const FieldSet both = a.Union(b);
    for (const FieldSet& same : {both.Union(a), a.Union(both)})
      EXPECT_TRUE(same.root() == both.root() || (a == both && same.root() == a.root()));
    const FieldSet rest = a.Difference(b);
    EXPECT_EQ(rest.Difference(b).root(), rest.root());
    const FieldSet apart = a.RecursiveDifference(b);
    EXPECT_EQ(apart.RecursiveDifference(b).root(), apart.root());
  }
}

TEST(FieldSetTest, IsWrittenOnceAndReadOnce) {
  const Value text = Json(R"x({"f:a":{".":{},"f:b":{}},"f:c":{}})x");
  const FieldSet set = FieldSet::FromFieldsV1(text).value();
  EXPECT_EQ(FieldSet::FromFieldsV1(text)->root(), set.root());
  const Value written = set.ToFieldsV1();
  EXPECT_TRUE(set.ToFieldsV1().SharesStorageWith(written));
  EXPECT_EQ(FieldSet::FromFieldsV1(written)->root(), set.root());
  FieldSet more = set;
  more.Insert({PathElement::Field("d")});
  EXPECT_EQ(set.ToFieldsV1(), text) << "a copy that changes is another set";
  EXPECT_EQ(more.ToFieldsV1(), Json(R"x({"f:a":{".":{},"f:b":{}},"f:c":{},"f:d":{}})x"));
}

TEST(FieldSetTest, WhatWasReadInAnotherSpellingIsWrittenInOurs) {
  const Value odd = Json(R"x({"f:a":null,"k:{ \"name\": \"x\" }":{},"z:new":{}})x");
  const FieldSet set = FieldSet::FromFieldsV1(odd).value();
  EXPECT_EQ(set.ToFieldsV1(), Json(R"x({"f:a":{},"k:{\"name\":\"x\"}":{}})x"));
}

TEST(FieldSetTest, WritesInnerMembersAsDots) {
  const Value text = Json(R"x({"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}})x");
  const FieldSet set = FieldSet::FromFieldsV1(text).value();
  EXPECT_EQ(set.ToFieldsV1(), text);
  EXPECT_EQ(Texts(set),
            (std::set<std::string>{R"(.spec.containers[name="app"])", R"(.spec.containers[name="app"].image)"}));
}

TEST(FieldSetTest, CopiesAreApart) {
  FieldSet a;
  a.Insert({PathElement::Field("a"), PathElement::Field("b")});
  FieldSet b = a;
  b.Insert({PathElement::Field("a"), PathElement::Field("c")});
  EXPECT_EQ(Texts(a), std::set<std::string>{".a.b"});
  EXPECT_EQ(Texts(b), (std::set<std::string>{".a.b", ".a.c"}));
  b.Insert({});
  EXPECT_FALSE(b.Has({}));
}

TEST(FieldSetTest, LeavesOutKindsOfElementsThatItDoesNotKnow) {
  const FieldSet set = FieldSet::FromFieldsV1(Json(R"({"f:a":{},"z:new":{"f:b":{}}})")).value();
  EXPECT_EQ(Texts(set), std::set<std::string>{".a"});
}

TEST(FieldSetTest, RefusesWhatIsNoFieldsV1) {
  for (const char* text : {"[]", "1", R"({"f:a":1})", R"({"f:a":[]})", R"({"a":{}})", R"({"k:x":{}})"}) {
    EXPECT_FALSE(FieldSet::FromFieldsV1(Json(text)).ok()) << text;
  }
  Value deep = json::Object();
  for (size_t i = 0; i < kPathElementsMax + 1; ++i) deep = json::Object({{"f:a", deep}});
  EXPECT_EQ(FieldSet::FromFieldsV1(deep).error().kind(), ErrorKind::kTooLarge);
}

TEST(FieldsOfTest, OwnsLeavesItemsAndAtomsOnce) {
  const SchemaPtr schema = SchemaForTest(Json(R"({"type":"object","properties":{"spec":{"type":"object","properties":{
    "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
      "items":{"type":"object","properties":{"name":{"type":"string"},"x":{"type":"integer"}}}},
    "list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}},
    "map":{"type":"object","additionalProperties":{"type":"string"}},
    "one":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"x":{"type":"integer"}}}}}}})"));
  const Result<FieldSet> set = FieldsOf(
      Json(R"({"spec":{"set":["b","a"],"keyed":[{"name":"n","x":1}],"list":[{"x":1}],"map":{"k":"v"},"one":{"x":1}}})"),
      *schema);
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  EXPECT_EQ(set->ToFieldsV1(),
            Json(R"x({"f:spec":{"f:set":{"v:\"a\"":{},"v:\"b\"":{}},"f:list":{},"f:one":{},"f:map":{"f:k":{}},
                "f:keyed":{"k:{\"name\":\"n\"}":{".":{},"f:name":{},"f:x":{}}}}})x"));
  EXPECT_EQ(FieldsOf(Json(R"({"spec":{"nope":1}})"), *schema).error().message(),
            ".spec.nope: field not declared in schema");
}

TEST(FieldsOfTest, LargeSetsTakeNoQuadraticTime) {
  const SchemaPtr schema = SchemaForTest(Json(
      R"({"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}}}})"));
  Value list = json::Array();
  constexpr int kItems = 100'000;
  for (int i = kItems; i > 0; --i) list.Push(i);
  const FieldSet set = FieldsOf(json::Object({{"s", list}}), *schema).value();
  EXPECT_EQ(set.Paths().size(), size_t{kItems});
}

}  // namespace
}  // namespace baton::api
