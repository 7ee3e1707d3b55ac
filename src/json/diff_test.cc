#include "json/diff.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/builder.h"
#include "json/diff_align.h"
#include "json/json_patch.h"
#include "json/parse.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

struct Row {
  std::string_view from;
  std::string_view to;
  std::string_view patch;
};

void Check(const Row& row) {
  const Value from = Doc(row.from);
  const Value to = Doc(row.to);
  const Value patch = MakeJsonPatch(from, to);
  EXPECT_EQ(patch, Doc(row.patch)) << row.from << " -> " << row.to;
  EXPECT_EQ(*ApplyJsonPatch(from, patch), to);
}

TEST(DiffTest, EqualDocumentsNeedNoPatch) {
  for (const std::string_view text : {"null", "1", "\"x\"", "[]", "{}", R"({"a":[1,{"b":null}]})"}) {
    EXPECT_EQ(MakeJsonPatch(Doc(text), Doc(text)), Array()) << text;
  }
}

TEST(DiffTest, ObjectsAreComparedMemberByMember) {
  constexpr Row kRows[] = {
      {R"({"a":1})", R"({"a":2})", R"([{"op":"replace","path":"/a","value":2}])"},
      {R"({"a":1})", R"({"a":1.0})", R"([{"op":"replace","path":"/a","value":1.0}])"},
      {R"({"a":1})", R"({"a":1,"b":null})", R"([{"op":"add","path":"/b","value":null}])"},
      {R"({"a":1,"b":null})", R"({"a":1})", R"([{"op":"remove","path":"/b"}])"},
      {R"({"a":{"b":{"c":1}}})", R"({"a":{"b":{"c":"x"}}})", R"([{"op":"replace","path":"/a/b/c","value":"x"}])"},
      {R"({"a":{"b":1}})", R"({"a":[1]})", R"([{"op":"replace","path":"/a","value":[1]}])"},
      {R"({"a/b":1,"c~d":1,"":1})", R"({"a/b":2,"c~d":1,"":1})", R"([{"op":"replace","path":"/a~1b","value":2}])"},
      {R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"replicas":1}})",
       R"({"metadata":{"labels":{"b":"2","c":"3"}},"spec":{"replicas":2}})",
       R"([{"op":"remove","path":"/metadata/labels/a"},{"op":"add","path":"/metadata/labels/c","value":"3"},
           {"op":"replace","path":"/spec/replicas","value":2}])"},
  };
  for (const Row& row : kRows) Check(row);
}

TEST(DiffTest, ScalarsAndKindsAreReplaced) {
  Check({"1", "2", R"([{"op":"replace","path":"","value":2}])"});
  Check({"{}", "[]", R"([{"op":"replace","path":"","value":[]}])"});
  Check({"null", "{}", R"([{"op":"replace","path":"","value":{}}])"});
}

TEST(DiffTest, ArraysAreAligned) {
  constexpr Row kRows[] = {
      {R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb"]})",
       R"({"l":["x","aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb"]})", R"([{"op":"add","path":"/l/0","value":"x"}])"},
      {R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb"]})",
       R"({"l":["aaaaaaaaaaaaaaaaaaaa","x","bbbbbbbbbbbbbbbbbbbb"]})", R"([{"op":"add","path":"/l/1","value":"x"}])"},
      {R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb"]})",
       R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb","x"]})", R"([{"op":"add","path":"/l/2","value":"x"}])"},
      {R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccc"]})",
       R"({"l":["bbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccc"]})", R"([{"op":"remove","path":"/l/0"}])"},
      {R"({"l":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccc"]})",
       R"({"l":["aaaaaaaaaaaaaaaaaaaa","x","cccccccccccccccccccc"]})",
       R"([{"op":"replace","path":"/l/1","value":"x"}])"},
      {R"({"l":["a long item number one","a long item number two","a long item number three","four","five","six"]})",
       R"({"l":["a long item number two","a long item number three","new","four","five","six","seven"]})",
       R"([{"op":"remove","path":"/l/0"},{"op":"add","path":"/l/2","value":"new"},
           {"op":"add","path":"/l/6","value":"seven"}])"},
  };
  for (const Row& row : kRows) Check(row);
}

TEST(DiffTest, ItemsAreFoundAgainByTheirName) {
  Check({R"([{"name":"app","image":"app:1","args":["some","arguments"]},{"name":"sidecar","image":"s:1"}])",
         R"([{"name":"init","image":"i"},{"name":"app","image":"app:2","args":["some","arguments"]},
             {"name":"sidecar","image":"s:1"}])",
         R"([{"op":"add","path":"/0","value":{"image":"i","name":"init"}},
             {"op":"replace","path":"/1/image","value":"app:2"}])"});
  Check({R"([{"port":80,"comment":"the web, as it was"},{"port":443,"comment":"the web, but secure","x":1}])",
         R"([{"port":443,"comment":"the web, but secure","x":2}])",
         R"([{"op":"remove","path":"/0"},{"op":"replace","path":"/0/x","value":2}])"});
}

TEST(DiffTest, ItemsWithoutANameDoNotHideTheOnesWithOne) {
  const Value app = Object({{"name", "app"}, {"comment", std::string(300, 'x')}, {"image", "app:1"}});
  Value changed = app;
  changed.Set("image", "app:2");
  EXPECT_EQ(MakeJsonPatch(Array({"one", "two", app}), Array({changed, "three", "four"})),
            Doc(R"([{"op":"remove","path":"/0"},{"op":"remove","path":"/0"},
                    {"op":"replace","path":"/0/image","value":"app:2"},
                    {"op":"add","path":"/1","value":"three"},{"op":"add","path":"/2","value":"four"}])"));
}

TEST(DiffTest, AlignmentEndsWithItsBudget) {
  const Value from = Doc("[1,2,3,4]");
  const Value to = Doc("[0,2,3,4,5]");
  const auto pairs_and_rest = [&](size_t budget) {
    std::pair<size_t, size_t> counts;
    for (const AlignStep& step : AlignArrays(from.items(), to.items(), &budget)) {
      const bool same = step.what == AlignStep::What::kPair && from[step.from] == to[step.to];
      ++(same ? counts.first : counts.second);
    }
    return counts;
  };
  EXPECT_EQ(pairs_and_rest(1000), std::make_pair(size_t{3}, size_t{2}));
  EXPECT_EQ(pairs_and_rest(29), pairs_and_rest(0)) << "5 times 6 is 30";
  const Value shifted = Doc("[9,1,2,3,4,8]");
  size_t none = 0;
  for (const AlignStep& step : AlignArrays(from.items(), shifted.items(), &none)) {
    EXPECT_TRUE(step.what == AlignStep::What::kAdd || step.from == step.to) << "by position";
  }
}

TEST(DiffTest, ManySmallOperationsBecomeOneReplace) {
  Check({R"({"l":[1,2,3,4,5,6,7,8]})", R"({"l":[11,12,13,14,15,16,17,18]})",
         R"([{"op":"replace","path":"/l","value":[11,12,13,14,15,16,17,18]}])"});
  Check({R"({"o":{"a":1,"b":2,"c":3,"d":4},"keep":"this text is long enough not to be repeated in a patch"})",
         R"({"o":{"e":1,"f":2},"keep":"this text is long enough not to be repeated in a patch"})",
         R"([{"op":"replace","path":"/o","value":{"e":1,"f":2}}])"});
}

TEST(DiffTest, AnUnchangedMemberIsNeverMentioned) {
  Check({R"({"o":{"a":1,"b":2,"c":3,"d":4,"k":0}})", R"({"o":{"e":1,"f":2,"k":0}})",
         R"([{"op":"remove","path":"/o/a"},{"op":"remove","path":"/o/b"},{"op":"remove","path":"/o/c"},
             {"op":"remove","path":"/o/d"},{"op":"add","path":"/o/e","value":1},{"op":"add","path":"/o/f","value":2}])"});
  Check({R"({"o":{"a":1,"b":2,"k":{"l":1,"m":1}}})", R"({"o":{"a":2,"b":3,"k":{"l":1,"m":2}}})",
         R"([{"op":"replace","path":"/o/a","value":2},{"op":"replace","path":"/o/b","value":3},
             {"op":"replace","path":"/o/k/m","value":2}])"});
}

TEST(DiffTest, LongArraysFallBackToPositionsAndStayExact) {
  ArrayBuilder first, second;
  constexpr size_t kItems = 20000;  // squared: far more than kMaxAlignedPairs
  static_assert(kItems * kItems > kMaxAlignedPairs);
  for (size_t i = 0; i < kItems; ++i) {
    first.Add(StrCat("a rather long item, so that replacing all of them never pays: ", i));
    second.Add(StrCat("a rather long item, so that replacing all of them never pays: ", i % 7 == 0 ? i * 3 : i));
  }
  second.Add("one more");
  const Value from = std::move(first).Build();
  const Value to = std::move(second).Build();
  const Value patch = MakeJsonPatch(from, to);
  EXPECT_LE(patch.size(), kItems / 7 + 2);
  EXPECT_LE(patch.size(), kMaxPatchOperations);
  EXPECT_EQ(*ApplyJsonPatch(from, patch), to);
}

TEST(DiffTest, EqualEndsOfLongArraysCostNothing) {
  ArrayBuilder builder;
  for (int i = 0; i < 20000; ++i) builder.Add(StrCat("item ", i));
  const Value from = std::move(builder).Build();
  Value to = from;
  to.Insert(0, "first");
  EXPECT_EQ(MakeJsonPatch(from, to), Doc(R"([{"op":"add","path":"/0","value":"first"}])"));
  to.Insert(10000, "middle");
  EXPECT_TRUE(MakeJsonPatch(from, to).size() > 0);
  EXPECT_EQ(*ApplyJsonPatch(from, MakeJsonPatch(from, to)), to);
}

TEST(DiffTest, TheDeepestDocumentsCanBeCompared) {
  Value from = 1, to = 2;
  for (size_t i = 0; i < kMaxDepth; ++i) {
    from = i % 2 == 0 ? Array({from}) : Object({{"a", from}});
    to = i % 2 == 0 ? Array({to}) : Object({{"a", to}});
  }
  EXPECT_EQ(*ApplyJsonPatch(from, MakeJsonPatch(from, to)), to);
}

// ---- three ways ----

struct ThreeWayRow {
  std::string_view why;
  std::string_view original, modified, current, result;
};

TEST(ThreeWayTest, DoesWhatApplyMeans) {
  constexpr ThreeWayRow kRows[] = {
      {"first apply: everything is set", "null", R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})"},
      {"no change", R"({"a":1})", R"({"a":1})", R"({"a":1,"status":{}})", R"({"a":1,"status":{}})"},
      {"a changed field", R"({"a":1})", R"({"a":2})", R"({"a":1,"x":1})", R"({"a":2,"x":1})"},
      {"drift is undone", R"({"a":1})", R"({"a":1})", R"({"a":9,"x":1})", R"({"a":1,"x":1})"},
      {"a field no longer wanted", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1,"b":3,"x":1})", R"({"a":1,"x":1})"},
      {"it is gone already", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1,"x":1})", R"({"a":1,"x":1})"},
      {"fields of others stay", R"({"m":{"a":1}})", R"({"m":{"a":2}})", R"({"m":{"a":1,"z":9}})",
       R"({"m":{"a":2,"z":9}})"},
      {"a nested field goes", R"({"m":{"a":1,"b":1}})", R"({"m":{"a":1}})", R"({"m":{"a":1,"b":1,"z":9}})",
       R"({"m":{"a":1,"z":9}})"},
      {"a whole map goes", R"({"m":{"a":1}})", R"({})", R"({"m":{"a":1,"z":9},"k":1})", R"({"k":1})"},
      {"an empty map stays", R"({"m":{"a":1}})", R"({"m":{}})", R"({"m":{"a":1,"z":9}})", R"({"m":{"z":9}})"},
      {"null removes", R"({})", R"({"a":null})", R"({"a":1,"b":1})", R"({"b":1})"},
      {"null in what is new", R"({})", R"({"m":{"a":null,"b":1}})", R"({})", R"({"m":{"b":1}})"},
      {"arrays are atomic", R"({"l":[1]})", R"({"l":[1,2]})", R"({"l":[1,9]})", R"({"l":[1,2]})"},
      {"an array that is as wanted", R"({"l":[1]})", R"({"l":[1,2]})", R"({"l":[1,2]})", R"({"l":[1,2]})"},
      {"the kind of a field changed", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":1,"z":1})", R"({"a":{"b":1},"z":1})"},
      {"someone else changed its kind", R"({"a":{"b":1,"c":1}})", R"({"a":{"b":1}})", R"({"a":7})", R"({"a":{"b":1}})"},
      {"someone else removed it", R"({"a":{"b":1,"c":1}})", R"({"a":{"b":1}})", R"({})", R"({"a":{"b":1}})"},
  };
  for (const ThreeWayRow& row : kRows) {
    const Value current = Doc(row.current);
    const Value patch = MakeThreeWayJsonPatch(Doc(row.original), Doc(row.modified), current);
    EXPECT_EQ(*ApplyJsonPatch(current, patch), Doc(row.result)) << row.why;
    EXPECT_EQ(patch.empty(), current == Doc(row.result)) << row.why << ": " << patch;
  }
}

TEST(ThreeWayTest, MentionsOnlyWhatChanges) {
  const Value patch = MakeThreeWayJsonPatch(
      Doc(R"({"spec":{"replicas":1,"paused":true}})"), Doc(R"({"spec":{"replicas":3}})"),
      Doc(R"({"metadata":{"uid":"u"},"spec":{"replicas":1,"paused":true,"defaulted":"x"},"status":{"ready":1}})"));
  EXPECT_EQ(patch,
            Doc(R"([{"op":"remove","path":"/spec/paused"},{"op":"replace","path":"/spec/replicas","value":3}])"));
}

TEST(ThreeWayTest, ArraysAreReplacedWhole) {
  const Value patch = MakeThreeWayJsonPatch(
      Doc("{}"), Doc(R"({"l":["a rather long item number one","a rather long item number two","new"]})"),
      Doc(R"({"l":["a rather long item number one","a rather long item number two"]})"));
  ASSERT_EQ(patch.size(), 1U);
  EXPECT_EQ(patch[0]["op"].str(), "replace");
  EXPECT_EQ(patch[0]["path"].str(), "/l");
}

}  // namespace
}  // namespace baton::json
