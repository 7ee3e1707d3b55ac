#include "json/pointer.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

Pointer At(std::string_view text) { return *Pointer::Parse(text); }

// The document and the table of RFC 6901 section 5.
TEST(PointerTest, FindsWhatTheRfcSays) {
  const Value document =
      Doc(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  const std::pair<std::string_view, Value> rows[] = {
      {"", document},    {"/foo", Array({"bar", "baz"})},
      {"/foo/0", "bar"}, {"/", 0},
      {"/a~1b", 1},      {"/c%d", 2},
      {"/e^f", 3},       {"/g|h", 4},
      {"/i\\j", 5},      {"/k\"l", 6},
      {"/ ", 7},         {"/m~0n", 8},
  };
  for (const auto& [text, expected] : rows) {
    const Value* found = Find(document, At(text));
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(*found, expected) << text;
    EXPECT_EQ(At(text).ToString(), text);
  }
}

TEST(PointerTest, FindsNothingWhereNothingIs) {
  const Value document = Doc(R"({"a":{"b":[1,2]},"s":"x","n":null})");
  for (const std::string_view text :
       {"/x", "/a/c", "/a/b/2", "/a/b/-", "/a/b/00", "/a/b/01", "/a/b/+1", "/a/b/-1", "/a/b/1.0", "/a/b/", "/a/b/ 1",
        "/a/b/18446744073709551616", "/s/0", "/s/x", "/n/x", "//a", "/a/"}) {
    EXPECT_EQ(Find(document, At(text)), nullptr) << text;
    const Result<const Value*> explained = FindOrExplain(document, At(text));
    ASSERT_FALSE(explained.ok()) << text;
    EXPECT_EQ(explained.error().kind(), ErrorKind::kNotFound);
  }
}

TEST(PointerTest, ExplainsHowFarItCame) {
  const Value document = Doc(R"({"a":{"b":[1,2]},"s":"x"})");
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"/x", R"(there is no member "x" at the top of the document)"},
      {"/a/c/d", R"(there is no member "c" at /a)"},
      {"/a/b/2", "index 2 is past the end of the array at /a/b, which has 2 items"},
      {"/a/b/-", R"("-" is the place after the last item at /a/b)"},
      {"/a/b/01", R"("01" is no array index (a number without leading zeros) at /a/b)"},
      {"/s/x", "there is nothing under /s: it is of kind string"},
  };
  for (const auto& [text, message] : rows) {
    EXPECT_EQ(FindOrExplain(document, At(text)).error().message(), message);
  }
}

TEST(PointerTest, RefusesWhatIsNoPointer) {
  for (const std::string_view text : {"a", "a/b", " /a", "/a~", "/a~2", "/~", "#/a", "~0"}) {
    const Result<Pointer> parsed = Pointer::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kInvalid) << text;
  }
}

TEST(PointerTest, TokensAreUnescapedOnce) {
  EXPECT_EQ(At("/~01"), Pointer({"~1"}));
  EXPECT_EQ(At("/~10"), Pointer({"/0"}));
  EXPECT_EQ(At("//"), Pointer({"", ""}));
  EXPECT_EQ(Pointer({"~1", "/"}).ToString(), "/~01/~1");
}

TEST(PointerTest, GrowsAndShrinks) {
  const Pointer labels{"metadata", "labels"};
  EXPECT_EQ(labels.Child("a/b").ToString(), "/metadata/labels/a~1b");
  EXPECT_EQ(Pointer().Child("list").Child(3).ToString(), "/list/3");
  EXPECT_EQ(labels.Parent(), Pointer({"metadata"}));
  EXPECT_EQ(Pointer().Parent(), Pointer());
  EXPECT_TRUE(Pointer().IsPrefixOf(labels));
  EXPECT_TRUE(labels.IsPrefixOf(labels));
  EXPECT_FALSE(labels.IsPrefixOf(labels.Parent()));
  EXPECT_FALSE(Pointer({"meta"}).IsPrefixOf(labels));
}

struct EditRow {
  std::string_view path;
  std::string_view result;  // "" for an error
};

TEST(PointerTest, AddSetsInsertsOrAppends) {
  constexpr std::string_view kDocument = R"({"a":[1,2],"o":{"x":1}})";
  const EditRow rows[] = {
      {"", R"("new")"},
      {"/b", R"({"a":[1,2],"b":"new","o":{"x":1}})"},
      {"/a", R"({"a":"new","o":{"x":1}})"},
      {"/o/x", R"({"a":[1,2],"o":{"x":"new"}})"},
      {"/a/0", R"({"a":["new",1,2],"o":{"x":1}})"},
      {"/a/2", R"({"a":[1,2,"new"],"o":{"x":1}})"},
      {"/a/-", R"({"a":[1,2,"new"],"o":{"x":1}})"},
      {"/a/3", ""},
      {"/a/00", ""},
      {"/a/x", ""},
      {"/o/x/y", ""},
      {"/p/q", ""},
      {"/a/-/x", ""},
  };
  for (const EditRow& row : rows) {
    Value document = Doc(kDocument);
    const Result<void> done = AddAt(document, At(row.path), "new");
    EXPECT_EQ(done.ok(), !row.result.empty()) << row.path;
    EXPECT_EQ(document, Doc(row.result.empty() ? kDocument : row.result)) << row.path;
  }
}

TEST(PointerTest, ReplaceNeedsWhatItReplaces) {
  constexpr std::string_view kDocument = R"({"a":[1,2],"o":{"x":null}})";
  const EditRow rows[] = {
      {"", R"("new")"},
      {"/o/x", R"({"a":[1,2],"o":{"x":"new"}})"},
      {"/a/1", R"({"a":[1,"new"],"o":{"x":null}})"},
      {"/b", ""},
      {"/a/2", ""},
      {"/a/-", ""},
      {"/o/x/y", ""},
  };
  for (const EditRow& row : rows) {
    Value document = Doc(kDocument);
    const Result<void> done = ReplaceAt(document, At(row.path), "new");
    EXPECT_EQ(done.ok(), !row.result.empty()) << row.path;
    EXPECT_EQ(document, Doc(row.result.empty() ? kDocument : row.result)) << row.path;
  }
}

TEST(PointerTest, RemoveTakesOut) {
  constexpr std::string_view kDocument = R"({"a":[1,2],"o":{"x":null}})";
  const EditRow rows[] = {
      {"/o/x", R"({"a":[1,2],"o":{}})"},
      {"/a/0", R"({"a":[2],"o":{"x":null}})"},
      {"/a", R"({"o":{"x":null}})"},
      {"", ""},
      {"/b", ""},
      {"/a/2", ""},
      {"/a/-", ""},
  };
  for (const EditRow& row : rows) {
    Value document = Doc(kDocument);
    const Value before = document;
    const Result<Value> removed = RemoveAt(document, At(row.path));
    EXPECT_EQ(removed.ok(), !row.result.empty()) << row.path;
    if (removed.ok()) EXPECT_EQ(*removed, *Find(before, At(row.path)));
    EXPECT_EQ(document, Doc(row.result.empty() ? kDocument : row.result)) << row.path;
  }
}

TEST(PointerTest, EditsUnshareOnlyTheirPath) {
  const Value before = Doc(R"({"left":{"big":[1,2,3]},"right":{"deep":{"x":1},"beside":{"y":2}}})");
  Value after = before;
  ASSERT_TRUE(ReplaceAt(after, At("/right/deep/x"), 5).ok());
  EXPECT_EQ(before["right"]["deep"]["x"], Value(1));
  EXPECT_TRUE(after["left"].SharesStorageWith(before["left"]));
  EXPECT_TRUE(after["right"]["beside"].SharesStorageWith(before["right"]["beside"]));
  EXPECT_FALSE(after["right"]["deep"].SharesStorageWith(before["right"]["deep"]));
}

TEST(PointerTest, SaysHowManyItemsAnEditShifts) {
  const Value document = *Parse(R"({"list":[1,2,3],"map":{"b":1,"d":2,"f":3}})");
  const struct {
    std::string_view path;
    size_t by_add;
    size_t by_remove;
  } cases[] = {
      {"", 0, 0},           {"/list/0", 3, 2},   {"/list/2", 1, 0}, {"/list/3", 0, 0},  {"/list/-", 0, 0},
      {"/list/x", 0, 0},    {"/map/b", 0, 2},    {"/map/a", 3, 0},  {"/map/e", 1, 0},   {"/map/g", 0, 0},
      {"/nowhere/a", 0, 0}, {"/list/0/a", 0, 0}, {"/map/f", 0, 0},  {"/another", 2, 0},
  };
  for (const auto& [path, by_add, by_remove] : cases) {
    EXPECT_EQ(ShiftedByAdd(document, *Pointer::Parse(path)), by_add) << path;
    EXPECT_EQ(ShiftedByRemove(document, *Pointer::Parse(path)), by_remove) << path;
  }
}

}  // namespace
}  // namespace baton::json
