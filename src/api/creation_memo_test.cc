// A memo says what TrackUpdate says, whatever came before.
#include "api/creation_memo.h"

#include <gtest/gtest.h>

#include <random>

#include "api/openapi_for_test.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

Value Json(std::string_view text) { return json::Parse(text).value(); }

SchemaPtr CrdSchema() {
  return SchemaForTest(Json(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{"replicas":{"type":"integer"},"paused":{"type":"boolean"},
      "name":{"type":"string"},
      "zones":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port"],
        "items":{"type":"object","properties":{"port":{"type":"integer"},"text":{"type":"string"}}}},
      "any":{"x-kubernetes-preserve-unknown-fields":true}}},
    "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})"));
}

FieldManager By(std::string name, std::string_view time = "2024-01-01T00:00:00Z") {
  FieldManager manager;
  manager.name = std::move(name);
  manager.api_version = "example.io/v1";
  manager.now = *json::ParseTime(time);
  return manager;
}

Value Made(std::string_view spec) {
  return Json(StrCat(R"({"apiVersion":"example.io/v1","kind":"Thing","metadata":{"name":"a"},"spec":)", spec, "}"));
}

TEST(CreationMemoTest, KnowsAShapeAgainAndNothingElse) {
  struct Case {
    std::string_view spec;
    bool known;
  };
  const Case cases[] = {
      {R"({"name":"a","replicas":1})", false},
      {R"({"name":"b","replicas":2})", true},
      {R"({"name":"b","replicas":2,"paused":true})", false},
      {R"({"name":"b","replicas":"2"})", false},  // does not fit: not tracked, not remembered
      {R"({"name":"c","replicas":"3"})", false},
      {R"({"name":"b","replicas":null})", false},
      {R"({"zones":["x"]})", false},
      {R"({"zones":["y"]})", false},
      {R"({"zones":["x"]})", true},
      {R"({"ports":[{"port":1,"text":"a"}]})", false},
      {R"({"ports":[{"port":2,"text":"a"}]})", false},
      {R"({"any":{}})", false},
      {R"({"any":{"x":1}})", false},
      {R"({"any":{"x":"1"}})", false},
      {R"({"any":{"x":"2"}})", true},
      {R"({"any":{"y":"2"}})", false},
  };
  CreationMemo memo;
  const SchemaPtr schema = CrdSchema();
  size_t hits = 0;
  for (const Case& one : cases) {
    const Value next = Made(one.spec);
    EXPECT_EQ(memo.Track(Value(), next, schema, By("me")).value(),
              TrackUpdate(Value(), next, *schema, By("me")).value())
        << one.spec;
    hits += one.known ? 1 : 0;
    EXPECT_EQ(memo.hits(), hits) << one.spec;
  }
}

TEST(CreationMemoTest, GivesEachManagerItsNameAndTime) {
  CreationMemo memo;
  const SchemaPtr schema = CrdSchema();
  const Value next = Made(R"({"replicas":1})");
  for (const FieldManager& manager : {By("one"), By("two", "2025-02-03T04:05:06Z"), By("")}) {
    EXPECT_EQ(memo.Track(Value(), next, schema, manager).value(), TrackUpdate(Value(), next, *schema, manager).value());
  }
  EXPECT_EQ(memo.hits(), 2U);
}

TEST(CreationMemoTest, KeepsApartWhatIsAskedForDifferently) {
  CreationMemo memo;
  const SchemaPtr schema = CrdSchema();
  const Value next = Json(R"({"apiVersion":"example.io/v1","kind":"Thing","metadata":{"name":"a","labels":{"x":"y"}},
    "spec":{"replicas":1},"status":{"ready":true}})");
  FieldManager version = By("me");
  version.api_version = "example.io/v2";
  FieldManager reset = By("me");
  reset.reset_fields = ResetFields("");
  FieldManager status = By("me");
  status.subresource = "status";
  status.reset_fields = ResetFields("status");
  for (const FieldManager& manager : {By("me"), version, reset, status}) {
    EXPECT_EQ(memo.Track(Value(), next, schema, manager).value(), TrackUpdate(Value(), next, *schema, manager).value());
  }
  const Value before = Json(R"({"apiVersion":"example.io/v1","kind":"Thing","metadata":{},"spec":{"replicas":1}})");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(memo.Track(before, next, schema, By("me")).value(), TrackUpdate(before, next, *schema, By("me")).value());
  }
  EXPECT_EQ(memo.hits(), 1U);
  Value changed = next;
  changed.Edit("spec").Set("replicas", 2);  // before the creation it was 1: now it is the creator's
  EXPECT_EQ(memo.Track(before, changed, schema, By("me")).value(),
            TrackUpdate(before, changed, *schema, By("me")).value());
  EXPECT_EQ(memo.hits(), 1U);
  const SchemaPtr other = CrdSchema();
  EXPECT_EQ(memo.Track(before, next, other, By("me")).value(), TrackUpdate(before, next, *other, By("me")).value());
  EXPECT_EQ(memo.hits(), 1U);
}

TEST(CreationMemoTest, LeavesManagedFieldsThatAreBroughtAlongToTheLongWay) {
  CreationMemo memo;
  const SchemaPtr schema = CrdSchema();
  for (const char* given : {"[]", "[{}]", R"([{"manager":"x","operation":"Update","apiVersion":"example.io/v1",
         "fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}])"}) {
    Value next = Made(R"({"replicas":1})");
    next.Edit("metadata").Set("managedFields", Json(given));
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(memo.Track(Value(), next, schema, By("me")).value(),
                TrackUpdate(Value(), next, *schema, By("me")).value());
    }
  }
  EXPECT_EQ(memo.hits(), 0U);
  EXPECT_FALSE(memo.Track(Value(), Value(1), schema, By("me")).ok());
}

TEST(CreationMemoTest, SaysWhatTrackUpdateSaysOfRandomObjects) {
  std::mt19937 random(7);
  const auto pick = [&](std::initializer_list<std::string_view> texts) {
    return std::data(texts)[std::uniform_int_distribution<size_t>(0, texts.size() - 1)(random)];
  };
  CreationMemo memo;
  const SchemaPtr schema = CrdSchema();
  const Value zero = Json(R"({"apiVersion":"example.io/v1","kind":"Thing","metadata":{},"spec":{"zones":null}})");
  for (int i = 0; i < 3000; ++i) {
    const std::string spec =
        StrCat("{", pick({"", R"("name":"a",)", R"("name":"b",)", R"("name":7,)"}),
               pick({"", R"("zones":["x"],)", R"("zones":["x","y"],)", R"("zones":[],)", R"("zones":null,)"}),
               pick({"", R"("ports":[{"port":1}],)", R"("ports":[{"port":1,"text":"a"}],)", R"("ports":[1],)"}),
               pick({"", R"("any":{},)", R"("any":[],)", R"("any":{"a":{"b":1}},)", R"("any":{"a":{"b":2}},)"}),
               R"("replicas":)", pick({"1", "2", "null", "1.5", "\"x\""}), "}");
    const Value next = Made(spec);
    const Value& before = i % 2 == 0 ? zero : Value();
    ASSERT_EQ(memo.Track(before, next, schema, By("me")).value(), TrackUpdate(before, next, *schema, By("me")).value())
        << spec;
  }
  EXPECT_GT(memo.hits(), 100U);
}

}  // namespace
}  // namespace baton::api
