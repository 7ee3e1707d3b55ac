#include "json/merge_patch.h"

#include <gtest/gtest.h>

#include "json/builder.h"
#include "json/parse.h"
#include "json/patch_golden.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

struct Row {
  std::string_view original;
  std::string_view patch;
  std::string_view result;
};

// The table of RFC 7386, appendix A.
constexpr Row kRfc[] = {
    {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
    {R"({"a":"b"})", R"({"a":null})", R"({})"},
    {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
    {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
    {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
    {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
    {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
    {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
    {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
    {R"({"a":"foo"})", R"(null)", R"(null)"},
    {R"({"a":"foo"})", R"("bar")", R"("bar")"},
    {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
    {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
    {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
};

TEST(MergePatchTest, GivesWhatTheRfcSays) {
  for (const Row& row : kRfc)
    EXPECT_EQ(ApplyMergePatch(Doc(row.original), Doc(row.patch)), Doc(row.result)) << row.patch;
}

TEST(MergePatchTest, NullsInArraysStay) {
  EXPECT_EQ(ApplyMergePatch(Object(), Doc(R"({"a":[null,{"b":null}]})")), Doc(R"({"a":[null,{"b":null}]})"));
}

TEST(MergePatchTest, MadePatchesAreMinimal) {
  constexpr Row kRows[] = {
      {R"({"a":1,"b":2})", R"({})", R"({"a":1,"b":2})"},
      {R"({"a":1,"b":2})", R"({"b":3})", R"({"a":1,"b":3})"},
      {R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {R"({"a":{"x":1,"y":{"z":1}}})", R"({"a":{"y":{"z":2}}})", R"({"a":{"x":1,"y":{"z":2}}})"},
      {R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"a":1})", R"({"a":{}})", R"({"a":{}})"},
      {R"({"a":{"b":1}})", R"({"a":{"b":null}})", R"({"a":{}})"},
      {R"([1])", R"({"a":1})", R"({"a":1})"},
      {R"({"a":1})", R"(7)", R"(7)"},
      {R"({"a":1})", R"({"a":1.0})", R"({"a":1.0})"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(MakeMergePatch(Doc(row.original), Doc(row.result)), Doc(row.patch));
    EXPECT_EQ(ApplyMergePatch(Doc(row.original), Doc(row.patch)), Doc(row.result));
  }
}

TEST(MergePatchTest, AMadePatchDoesNotTryToSetNull) {
  EXPECT_EQ(MakeMergePatch(Object(), Doc(R"({"a":null})")), Object());
  EXPECT_EQ(MakeMergePatch(Doc(R"({"a":null})"), Doc(R"({"a":null,"b":1})")), Doc(R"({"b":1})"));
}

TEST(MergePatchTest, UnchangedPartsAreShared) {
  const Value document = Doc(R"({"spec":{"a":{"x":1},"list":[1,2,3]},"status":{"s":"a string longer than inline"}})");
  const Value changed = ApplyMergePatch(document, Doc(R"({"spec":{"a":{"x":2}}})"));
  EXPECT_TRUE(changed["status"].SharesStorageWith(document["status"]));
  EXPECT_TRUE(changed["spec"]["list"].SharesStorageWith(document["spec"]["list"]));
  EXPECT_EQ(document["spec"]["a"]["x"], Value(1));

  const Value same = ApplyMergePatch(
      document,
      Doc(R"({"spec":{"a":{"x":1},"list":[1,2,3],"none":null},"status":{"s":"a string longer than inline"}})"));
  EXPECT_TRUE(same.SharesStorageWith(document));
}

TEST(MergePatchTest, NewPartsAreSharedWithThePatch) {
  const Value patch = Doc(R"({"new":{"deep":{"list":[1,2,3]},"gone":null}})");
  const Value changed = ApplyMergePatch(Object(), patch);
  EXPECT_TRUE(changed["new"]["deep"].SharesStorageWith(patch["new"]["deep"]));
}

TEST(MergePatchTest, ManyMembersTakeLinearTime) {
  // Member by member this would be slow enough to notice.
  ObjectBuilder even, odd, nulls;
  constexpr int kMembers = 60000;
  for (int i = 0; i < kMembers; ++i) (i % 2 == 0 ? even : odd).Add(std::to_string(i), i);
  for (int i = 0; i < kMembers; i += 2) nulls.Add(std::to_string(i), nullptr);
  const Value left = std::move(even).Build();
  const Value right = std::move(odd).Build();
  const Value both = ApplyMergePatch(left, right);
  EXPECT_EQ(both.size(), static_cast<size_t>(kMembers));
  EXPECT_EQ(ApplyMergePatch(both, std::move(nulls).Build()), right);
  EXPECT_EQ(MakeMergePatch(left, both), right);
}

TEST(MergePatchTest, TheDeepestDocumentsMerge) {
  Value from = 1, to = 2;
  for (size_t i = 0; i < kMaxDepth; ++i) {
    from = Object({{"a", from}});
    to = Object({{"a", to}});
  }
  EXPECT_EQ(MakeMergePatch(from, to), to);
  EXPECT_EQ(ApplyMergePatch(from, to), to);
}

const OnPurpose kOtherwise = {
    {"an array of objects with nulls inside",
     "RFC 7386: an array is taken as it is; kubectl drops nulls in its objects"},
};

TEST(MergePatchTest, GivesWhatKubectlGives) {
  const Value rows = ReadGolden("merge_patch.json");
  ASSERT_EQ(rows.size(), 43U);
  size_t on_purpose = 0;
  for (const Value& row : rows.items()) {
    SCOPED_TRACE(row["name"].str());
    const Value result = ApplyMergePatch(row["object"], row["patch"]);
    if (kOtherwise.contains(row["name"].str())) {
      ++on_purpose;
      EXPECT_NE(result, row["result"]);
    } else {
      EXPECT_EQ(result, row["result"]);
    }
  }
  EXPECT_EQ(on_purpose, kOtherwise.size());
}

}  // namespace
}  // namespace baton::json
