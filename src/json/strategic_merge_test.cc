#include "json/strategic_merge.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "json/builder.h"
#include "json/parse.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

const PatchSchema* PodSchema() { return KubernetesPatchSchema("v1", "Pod"); }

Result<Value> Patched(std::string_view document, std::string_view patch, const PatchSchema* schema = PodSchema()) {
  return ApplyStrategicMergePatch(Doc(document), Doc(patch), schema);
}

TEST(StrategicMergeTest, MergesContainersByName) {
  EXPECT_EQ(*Patched(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})",
                     R"({"spec":{"containers":[{"name":"b","image":"3"}]}})"),
            Doc(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"3"}]}})"));
}

TEST(StrategicMergeTest, WithoutSchemaMapsMergeAndListsAreReplaced) {
  EXPECT_EQ(*Patched(R"({"m":{"a":1,"b":{"c":1}},"l":[{"name":"a"},{"name":"b"}]})",
                     R"({"m":{"b":{"d":2},"a":null},"l":[{"name":"c"}]})", nullptr),
            Doc(R"({"m":{"b":{"c":1,"d":2}},"l":[{"name":"c"}]})"));
  EXPECT_EQ(*Patched(R"({"m":{"a":1,"b":2}})", R"({"m":{"$patch":"replace","c":3}})", nullptr),
            Doc(R"({"m":{"c":3}})"));
  EXPECT_EQ(*Patched(R"({"l":["a","b"]})", R"({"$deleteFromPrimitiveList/l":["a"]})", nullptr), Doc(R"({"l":["b"]})"));
}

TEST(StrategicMergeTest, ADeletionDirectiveWithoutAFieldDoesNothing) {
  EXPECT_EQ(*Patched(R"({"":["a","b"]})", R"({"$deleteFromPrimitiveList/":["a"]})", nullptr), Doc(R"({"":["a","b"]})"));
}

TEST(StrategicMergeTest, FieldsUnknownToASchemaAreTreatedAsWithout) {
  EXPECT_EQ(*Patched(R"({"spec":{"x":{"y":[{"name":"a"}],"z":1}}})", R"({"spec":{"x":{"y":[{"name":"b"}]}}})"),
            Doc(R"({"spec":{"x":{"y":[{"name":"b"}],"z":1}}})"));
}

TEST(StrategicMergeTest, DirectivesAndNullsNeverReachTheResult) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"spec":{"new":{"a":null,"b":{"$retainKeys":["c"],"c":1}}}})",
       R"({"spec":{"new":{"b":{"c":1}},"old":{"x":1}}})"},
      {R"({"spec":{"old":{"$patch":"replace","l":[{"$patch":"delete","name":"a"}],"n":null}}})",
       R"({"spec":{"old":{"l":[{"name":"a"}]}}})"},
      {R"({"spec":{"containers":[{"name":"a","env":null,"$setElementOrder/env":[]}]}})",
       R"({"spec":{"containers":[{"name":"a"}],"old":{"x":1}}})"},
      {R"({"spec":{"atomic":[{"$patch":"delete","a":1},{"b":null,"c":2}]}})",
       R"({"spec":{"atomic":[{"c":2}],"old":{"x":1}}})"},
      {R"({"spec":{"$setElementOrder/old2":[],"$deleteFromPrimitiveList/none":["x"]}})", R"({"spec":{"old":{"x":1}}})"},
  };
  for (const auto& [patch, result] : rows) {
    const Result<Value> patched = Patched(R"({"spec":{"old":{"x":1}}})", patch);
    ASSERT_TRUE(patched.ok()) << patch << patched.error().ToString();
    EXPECT_EQ(*patched, Doc(result)) << patch;
  }
}

TEST(StrategicMergeTest, ErrorsHaveTheStatusOfKubernetes) {
  constexpr std::string_view kPod = R"({"spec":{"containers":[{"name":"a"}],"hostNetwork":true}})";
  const std::tuple<std::string_view, int, std::string_view> rows[] = {
      {R"({"spec":{"$retainKeys":"x"}})", 400, "invalid patch format of retainKeys"},
      {R"({"spec":{"$setElementOrder":[]}})", 400, "invalid patch format of setElementOrder list"},
      {R"({"spec":{"$deleteFromPrimitiveListX/a":[]}})", 400, "invalid patch format of primitive list"},
      {R"({"spec":{"containers":[{"image":"x"}]}})", 422,
       "map: map[image:x] does not contain declared merge key: name"},
      {R"({"spec":{"$patch":"frob"}})", 422, "unknown patch type: frob in map: map[$patch:frob]"},
      {R"({"spec":{"$setElementOrder/hostNetwork":[]}})", 422, "expected a []interface {}, but received a bool"},
  };
  for (const auto& [patch, code, message] : rows) {
    const Result<Value> result = Patched(kPod, patch);
    ASSERT_FALSE(result.ok()) << patch;
    EXPECT_EQ(result.error().message(), message);
    EXPECT_EQ(result.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(result.error().ToStatus().code, code) << patch;
  }
  EXPECT_EQ(Patched("[]", "{}").error().ToStatus().code, 400);
  EXPECT_EQ(Patched("{}", "[]").error().ToStatus().code, 400);
  EXPECT_EQ(Patched("{}", "null").error().ToStatus().code, 400);
}

TEST(StrategicMergeTest, WhatMakesKubernetesPanicIsAnErrorOrHarmless) {
  constexpr std::string_view kPod =
      R"({"metadata":{"finalizers":["a"]},"spec":{"containers":[{"name":"a"}],"tolerations":[{"key":"a"}]}})";
  EXPECT_FALSE(Patched(kPod, R"({"metadata":{"finalizers":[null]}})").ok());
  EXPECT_FALSE(Patched(kPod, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":[null]}})").ok());
  EXPECT_FALSE(Patched(R"({"metadata":{"finalizers":[null]}})", R"({"metadata":{"finalizers":["a"]}})").ok());
  EXPECT_TRUE(Patched(kPod, R"({"spec":{"containers":[{"name":{"a":1}},{"name":{"a":1},"image":"x"}]}})").ok());
  EXPECT_TRUE(Patched(kPod, R"({"spec":{"$setElementOrder/tolerations":[{"key":"a"}]}})").ok());
  EXPECT_TRUE(Patched(kPod, R"({"spec":{"$retainKeys":["containers",{},[],null]}})").ok());
}

TEST(StrategicMergeTest, GoPrintsOfValuesAreCutOff) {
  const Value patch =
      Object({{"spec", Object({{"containers", Array({Object({{"image", std::string(100000, 'x')}})})}})}});
  const Result<Value> result =
      ApplyStrategicMergePatch(Doc(R"({"spec":{"containers":[{"name":"a"}]}})"), patch, PodSchema());
  ASSERT_FALSE(result.ok());
  EXPECT_LT(result.error().message().size(), 1200U);
  EXPECT_TRUE(result.error().message().ends_with("... does not contain declared merge key: name"));
}

TEST(StrategicMergeTest, GoPrintsNumbersAsGoDoes) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"1", "1"},        {"1.0", "1"},           {"1.5", "1.5"},       {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"}, {"0.0001", "0.0001"},   {"0.00001", "1e-05"}, {"-2.5", "-2.5"},
      {"true", "true"},  {"[1,[2]]", "[1 [2]]"}, {"{}", "map[]"},      {"[]", "[]"},
  };
  for (const auto& [value, text] : rows) {
    const Result<Value> result =
        Patched(R"({"spec":{"containers":[{"name":"a"}]}})", StrCat(R"({"spec":{"containers":[{"v":)", value, "}]}}"));
    EXPECT_EQ(result.error().message(), StrCat("map: map[v:", text, "] does not contain declared merge key: name"));
  }
}

TEST(StrategicMergeTest, UntouchedPartsAreShared) {
  const Value pod = Doc(R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
      {"name":"a","image":"1","env":[{"name":"A","value":"1"}]},{"name":"b","env":[{"name":"B","value":"2"}]}],
      "volumes":[{"name":"v","emptyDir":{}}]}})");
  const Value changed =
      *ApplyStrategicMergePatch(pod, Doc(R"({"spec":{"containers":[{"name":"a","image":"2"}]}})"), PodSchema());
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], Value("1"));
  EXPECT_EQ(changed["spec"]["containers"][0]["image"], Value("2"));
  EXPECT_TRUE(changed["metadata"].SharesStorageWith(pod["metadata"]));
  EXPECT_TRUE(changed["spec"]["volumes"].SharesStorageWith(pod["spec"]["volumes"]));
  EXPECT_TRUE(changed["spec"]["containers"][1].SharesStorageWith(pod["spec"]["containers"][1]));
  EXPECT_TRUE(changed["spec"]["containers"][0]["env"].SharesStorageWith(pod["spec"]["containers"][0]["env"]));
}

TEST(StrategicMergeTest, APatchThatChangesNothingKeepsTheStorage) {
  const Value pod = Doc(R"({"metadata":{"finalizers":["a/b"],"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}],"nodeName":"n"}})");
  for (const std::string_view patch :
       {"{}", R"({"metadata":{"labels":{"a":"b","none":null}}})", R"({"spec":{"containers":[{"name":"b"}]}})",
        R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}],"nodeName":"n"}})",
        R"({"metadata":{"finalizers":["a/b"],"$deleteFromPrimitiveList/finalizers":["x"]}})",
        R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}]}})"}) {
    EXPECT_TRUE(ApplyStrategicMergePatch(pod, Doc(patch), PodSchema())->SharesStorageWith(pod)) << patch;
  }
}

TEST(StrategicMergeTest, DepthIsLimited) {
  Value deep = 1;
  for (size_t i = 0; i + 1 < kMaxDepth; ++i) deep = Object({{"a", deep}});
  const Value document = Object({{"spec", deep}});
  EXPECT_EQ(*ApplyStrategicMergePatch(document, document, PodSchema()), document);
  EXPECT_EQ(*ApplyStrategicMergePatch(Object(), document, PodSchema()), document);
  Value lists = Array({"x"});
  for (size_t i = 0; i + 3 < kMaxDepth; ++i) lists = Array({lists});
  const Value list_document = Object({{"spec", lists}});
  EXPECT_EQ(*ApplyStrategicMergePatch(list_document, list_document, PodSchema()), list_document);

  const Value deeper = Object({{"a", document}});
  const Value deepest = Object({{"a", deeper}});
  const Result<Value> result = ApplyStrategicMergePatch(deepest, deepest, PodSchema());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge);
}

TEST(StrategicMergeTest, LongListsTakeLittleTime) {
  // A search of the list for each item would make this slow enough to notice.
  constexpr int kItems = 20000;
  ArrayBuilder live, patch, order;
  for (int i = 0; i < kItems; ++i) {
    live.Add(Object({{"name", StrCat("c", i)}}));
    patch.Add(Object({{"name", StrCat(i % 2 == 0 ? "c" : "n", kItems - i)}, {"image", i}}));
    order.Add(Object({{"name", StrCat(i % 2 == 0 ? "c" : "n", kItems - i)}}));
  }
  for (int i = 0; i < kItems; i += 3) patch.Add(Object({{"name", StrCat("c", i)}, {"$patch", "delete"}}));
  const Value document = Object({{"spec", Object({{"containers", std::move(live).Build()}})}});
  const Value change = std::move(patch).Build();
  EXPECT_TRUE(
      ApplyStrategicMergePatch(document, Object({{"spec", Object({{"containers", change}})}}), PodSchema()).ok());
  const Value ordered =
      Object({{"spec", Object({{"containers", change}, {"$setElementOrder/containers", std::move(order).Build()}})}});
  const Result<Value> result = ApplyStrategicMergePatch(document, ordered, PodSchema());
  EXPECT_TRUE(result.ok()) << result.error().ToString();
}

}  // namespace
}  // namespace baton::json
