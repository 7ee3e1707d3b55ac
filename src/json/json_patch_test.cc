#include "json/json_patch.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "json/builder.h"
#include "json/measure.h"
#include "json/parse.h"
#include "json/patch_golden.h"

namespace baton::json {
namespace {

Value Doc(std::string_view text) { return *Parse(text); }

Result<Value> Patched(std::string_view document, std::string_view patch) {
  return ApplyJsonPatch(Doc(document), Doc(patch));
}

TEST(JsonPatchTest, AppliesEveryOperationInOrder) {
  EXPECT_EQ(*Patched(R"({"a":1,"list":[1,2]})", R"([
    {"op":"test","path":"/a","value":1},
    {"op":"add","path":"/list/1","value":9},
    {"op":"replace","path":"/a","value":2},
    {"op":"copy","from":"/a","path":"/b"},
    {"op":"move","from":"/list/0","path":"/list/-"},
    {"op":"remove","path":"/a"}])"),
            Doc(R"({"b":2,"list":[9,2,1]})"));
}

TEST(JsonPatchTest, ErrorsNameTheOperation) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"([{"op":"remove","path":"/x"}])",
       R"(operation 0 (remove /x): there is no member "x" at the top of the document)"},
      {R"([{"op":"test","path":"/a","value":1},{"op":"add","path":"/l/9","value":1}])",
       "operation 1 (add /l/9): index 9 is past the end of the array at /l, which has 1 item"},
      {R"([{"op":"replace","path":"/a/b","value":1}])",
       "operation 0 (replace /a/b): there is nothing under /a: it is of kind int"},
      {R"([{"op":"move","from":"/o","path":"/o/p"}])", "operation 0 (move /o to /o/p): cannot move /o into itself"},
      {R"([{"op":"copy","from":"/x","path":"/y"}])",
       R"(operation 0 (copy /x to /y): there is no member "x" at the top of the document)"},
      {R"([{"op":"remove","path":""}])",
       "operation 0 (remove the whole document): the whole document cannot be removed"},
      {R"([{"op":"add","path":"/a"}])", R"(operation 0 (add /a): it has no "value")"},
      {R"([{"op":"move","path":"/a"}])", R"(operation 0 (move /a): it has no "from")"},
      {R"([{"op":"add","value":1}])", R"(operation 0 (add ?): it has no "path")"},
      {R"([{"op":"add","path":7,"value":1}])", R"(operation 0 (add ?): "path" must be a string)"},
      {R"([{"op":"add","path":"a","value":1}])",
       R"(operation 0 (add a): the JSON pointer "a" does not begin with '/')"},
      {R"([{"path":"/a"}])", R"(operation 0 (? /a): it has no "op")"},
      {R"([{"op":"spam","path":"/a"}])",
       R"(operation 0 (spam /a): "op" must be add, remove, replace, move, copy or test)"},
      {R"([{"op":"test","path":"/a","value":2}])",
       "operation 0 (test /a): testing value /a failed: test failed: the value is another one"},
  };
  for (const auto& [patch, message] : rows) {
    const Result<Value> result = Patched(R"({"a":1,"l":[1],"o":{}})", patch);
    ASSERT_FALSE(result.ok()) << patch;
    EXPECT_EQ(result.error().message(), message);
    EXPECT_EQ(result.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(result.error().ToStatus().code, 422);
    EXPECT_EQ(result.error().ToStatus().reason, "Invalid");
  }
}

TEST(JsonPatchTest, APatchThatIsNoListOfObjectsIsABadRequest) {
  for (const std::string_view patch : {"{}", "null", "\"x\"", "[1]", "[[]]", "[null]"}) {
    const Result<Value> result = Patched("{}", patch);
    ASSERT_FALSE(result.ok()) << patch;
    EXPECT_EQ(result.error().ToStatus().code, 400) << patch;
  }
}

TEST(JsonPatchTest, AFailedTestCanBeToldFromOtherErrors) {
  EXPECT_TRUE(IsTestFailure(Patched(R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])").error()));
  EXPECT_TRUE(IsTestFailure(Patched(R"({"a":1})", R"([{"op":"test","path":"/b","value":2}])").error()));
  EXPECT_FALSE(IsTestFailure(Patched(R"({"a":1})", R"([{"op":"test","path":"/a"}])").error()));
  EXPECT_FALSE(IsTestFailure(Patched(R"({"a":1})", R"([{"op":"remove","path":"/b"}])").error()));
  EXPECT_FALSE(IsTestFailure(InvalidError("x")));
}

TEST(JsonPatchTest, TestComparesNumbersByValue) {
  const auto same = [](std::string_view a, std::string_view b) {
    return Patched(a, StrCat(R"([{"op":"test","path":"","value":)", b, "}]")).ok();
  };
  EXPECT_TRUE(same("1", "1.0"));
  EXPECT_TRUE(same("1.0", "1"));
  EXPECT_TRUE(same(R"({"a":[1,{"b":2.0}]})", R"({"a":[1.0,{"b":2}]})"));
  EXPECT_TRUE(same("9223372036854775808", "9223372036854775808.0"));
  EXPECT_TRUE(same("-9223372036854775808", "-9223372036854775808.0"));
  EXPECT_TRUE(same("0", "-0.0"));
  EXPECT_FALSE(same("1", "1.5"));
  EXPECT_FALSE(same("9223372036854775807", "9223372036854775808.0"));
  EXPECT_FALSE(same("9223372036854775807", "9223372036854775808"));
  EXPECT_FALSE(same("9007199254740993", "9007199254740992.0"));
  EXPECT_FALSE(same("18446744073709551615", "18446744073709551616.0"));
  EXPECT_FALSE(same("-1", "18446744073709551615"));
  EXPECT_FALSE(same("1", "\"1\""));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("[1,2]", "[1]"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(same("{}", "[]"));
}

TEST(JsonPatchTest, AllOrNothing) {
  const Value document = Doc(R"({"a":{"b":1}})");
  const Value before = document;
  EXPECT_FALSE(
      ApplyJsonPatch(document, Doc(R"([{"op":"replace","path":"/a/b","value":2},{"op":"remove","path":"/x"}])")).ok());
  EXPECT_EQ(document, Doc(R"({"a":{"b":1}})"));
  EXPECT_TRUE(document.SharesStorageWith(before));
}

TEST(JsonPatchTest, CopiesAreIndependent) {
  EXPECT_EQ(*Patched(R"({"a":{"x":[1]}})",
                     R"([{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/x/-","value":2}])"),
            Doc(R"({"a":{"x":[1]},"b":{"x":[1,2]}})"));
}

TEST(JsonPatchTest, AWholeDocumentCanBeReplacedMovedAndCopied) {
  EXPECT_EQ(*Patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":""}])"), Doc(R"({"b":1})"));
  EXPECT_EQ(*Patched(R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a/b","path":""}])"), Value(1));
  EXPECT_EQ(*Patched(R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])"), Doc(R"({"a":1,"b":{"a":1}})"));
  EXPECT_EQ(*Patched(R"({"a":1})", R"([{"op":"move","from":"","path":""}])"), Doc(R"({"a":1})"));
  EXPECT_EQ(*Patched("null", R"([{"op":"add","path":"","value":[]}])"), Array());
}

TEST(JsonPatchTest, UntouchedPartsAreShared) {
  const Value document = Doc(R"({"spec":{"a":{"x":1},"b":[{"y":1},{"z":2}]},"status":{"s":[1,2,3]}})");
  const Value changed = *ApplyJsonPatch(document, Doc(R"([{"op":"replace","path":"/spec/b/0/y","value":9}])"));
  EXPECT_TRUE(changed["status"].SharesStorageWith(document["status"]));
  EXPECT_TRUE(changed["spec"]["a"].SharesStorageWith(document["spec"]["a"]));
  EXPECT_TRUE(changed["spec"]["b"][1].SharesStorageWith(document["spec"]["b"][1]));
  EXPECT_EQ(changed["spec"]["b"][0]["y"], Value(9));
}

TEST(JsonPatchTest, TheNumberOfOperationsIsLimited) {
  ArrayBuilder operations;
  for (size_t i = 0; i < kMaxPatchOperations; ++i) {
    operations.Add(Object({{"op", "replace"}, {"path", "/a"}, {"value", i}}));
  }
  Value patch = std::move(operations).Build();
  EXPECT_TRUE(ApplyJsonPatch(Object({{"a", 0}}), patch).ok());
  patch.Push(patch[0]);
  const Result<Value> result = ApplyJsonPatch(Object({{"a", 0}}), patch);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(result.error().message(), "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(JsonPatchTest, CopyingIsLimited) {
  // Each round doubles the document: without a limit 40 operations would be a terabyte of text.
  ArrayBuilder operations;
  for (int i = 0; i < 40; ++i) {
    operations.Add(Object({{"op", "copy"}, {"from", "/a"}, {"path", StrCat("/a/", i)}}));
  }
  const Result<Value> result = ApplyJsonPatch(Doc(R"({"a":{"text":"0123456789"}})"), std::move(operations).Build());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge) << result.error().ToString();
}

Value Nested(size_t depth) {
  Value value = Array();
  for (size_t i = 1; i < depth; ++i) value = Array({value});
  return value;
}

TEST(JsonPatchTest, NoOperationNestsDeeperThanAParserAccepts) {
  std::string deep_path;
  for (size_t i = 0; i < kMaxDepth - 2; ++i) deep_path.append("/0");
  const Value document = Array({Nested(kMaxDepth - 1), Nested(2), Nested(1)});
  const auto apply = [&](Value operation) { return ApplyJsonPatch(document, Array({std::move(operation)})); };
  ASSERT_TRUE(apply(Object({{"op", "add"}, {"path", deep_path + "/0"}, {"value", Nested(1)}})).ok());
  const Value refused[] = {
      Object({{"op", "add"}, {"path", deep_path + "/0"}, {"value", Nested(2)}}),
      Object({{"op", "replace"}, {"path", deep_path}, {"value", Nested(3)}}),
      Object({{"op", "copy"}, {"from", "/1"}, {"path", deep_path + "/0"}}),
      Object({{"op", "move"}, {"from", "/1"}, {"path", deep_path + "/0"}}),
  };
  for (const Value& operation : refused) {
    const Result<Value> result = apply(operation);
    ASSERT_FALSE(result.ok()) << operation;
    EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge) << result.error().ToString();
  }
  const Result<Value> moved = apply(Object({{"op", "move"}, {"from", "/2"}, {"path", deep_path + "/0"}}));
  ASSERT_TRUE(moved.ok()) << moved.error().ToString();
  EXPECT_EQ(Measure(*moved, SIZE_MAX).depth, kMaxDepth);
}

TEST(JsonPatchTest, MovesInARowCannotStackUp) {
  // Each move hangs one tower below another; no single one looks deep.
  Value document = Array();
  for (int i = 0; i < 20; ++i) document.Push(Nested(100));
  std::string foot;
  ArrayBuilder operations;
  for (int i = 0; i < 19; ++i) {
    for (int level = 0; level < 100; ++level) foot.append("/0");
    operations.Add(Object({{"op", "move"}, {"from", "/1"}, {"path", foot + "/0"}}));
  }
  const Result<Value> result = ApplyJsonPatch(document, std::move(operations).Build());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge) << result.error().ToString();
}

Value Repeated(const Value& operation, size_t times) {
  ArrayBuilder operations;
  for (size_t i = 0; i < times; ++i) operations.Add(operation);
  return std::move(operations).Build();
}

Value Zeros(size_t count) {
  ArrayBuilder zeros;
  for (size_t i = 0; i < count; ++i) zeros.Add(0);
  return std::move(zeros).Build();
}

TEST(JsonPatchTest, ShiftingIsLimited) {
  // A list in an object of 3 MiB, and as many operations as there may be: 15 billion items would be shifted.
  const Value document = Object({{"list", Zeros(1'500'000)}});
  const Value front[] = {
      Object({{"op", "remove"}, {"path", "/list/0"}}),
      Object({{"op", "add"}, {"path", "/list/0"}, {"value", 1}}),
      Object({{"op", "move"}, {"from", "/list/0"}, {"path", "/list/-"}}),
      Object({{"op", "copy"}, {"from", "/list/7"}, {"path", "/list/0"}}),
  };
  for (const Value& operation : front) {
    const Result<Value> result = ApplyJsonPatch(document, Repeated(operation, kMaxPatchOperations));
    ASSERT_FALSE(result.ok()) << operation;
    EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge) << result.error().ToString();
    // Each shifts all of them, so what is let through is the limit and no more.
    EXPECT_TRUE(result.error().message().starts_with(StrCat("operation ", kMaxPatchShifts / 1'500'000, " (")))
        << result.error().message();
  }
  const Value end[] = {
      Object({{"op", "remove"}, {"path", "/list/1490000"}}),
      Object({{"op", "add"}, {"path", "/list/-"}, {"value", 1}}),
      Object({{"op", "replace"}, {"path", "/list/0"}, {"value", 1}}),
  };
  for (const Value& operation : end) {
    EXPECT_TRUE(ApplyJsonPatch(document, Repeated(operation, 10'000)).ok()) << operation;
  }
}

TEST(JsonPatchTest, MembersShiftToo) {
  ObjectBuilder many;
  for (int i = 100'000; i < 200'000; ++i) many.Add(StrCat("m", i), 0);
  const Value document = std::move(many).Build();
  ArrayBuilder removes;
  ArrayBuilder adds;
  ArrayBuilder again;
  for (size_t i = 0; i < kMaxPatchOperations; ++i) {
    removes.Add(Object({{"op", "remove"}, {"path", StrCat("/m", 100'000 + i)}}));
    adds.Add(Object({{"op", "add"}, {"path", StrCat("/a", i)}, {"value", 1}}));
    again.Add(Object({{"op", "add"}, {"path", StrCat("/m", 100'000 + i)}, {"value", 1}}));
  }
  EXPECT_EQ(ApplyJsonPatch(document, std::move(removes).Build()).error().kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(ApplyJsonPatch(document, std::move(adds).Build()).error().kind(), ErrorKind::kTooLarge);
  EXPECT_TRUE(ApplyJsonPatch(document, std::move(again).Build()).ok()) << "what is there is shifted by nothing";
}

// ---- what kubectl does ----

// kubectl and kube-apiserver use a library that is more lenient than RFC 6902; we keep to the RFC.
const OnPurpose kOtherwise = {
    {"add: a leading zero", "RFC 6901: an index has no leading zeros"},
    {"add: a negative index", "RFC 6901: an index has no sign"},
    {"add: without a value", "RFC 6902 4.1: add has a value"},
    {"add: a path without slash", "RFC 6901: a pointer begins with a slash"},
    {"remove: a negative index", "RFC 6901: an index has no sign"},
    {"replace: a missing member", "RFC 6902 4.3: the target must exist"},
    {"copy: from nowhere", "RFC 6902 4.5: the source must exist"},
    {"test: a missing member is null", "RFC 6902 4.6: absent is not null"},
};

TEST(JsonPatchTest, GivesWhatKubectlGives) {
  const Value rows = ReadGolden("json_patch.json");
  ASSERT_EQ(rows.size(), 61U);
  size_t on_purpose = 0;
  for (const Value& row : rows.items()) {
    SCOPED_TRACE(row["name"].str());
    const Result<Value> result = ApplyJsonPatch(row["object"], row["patch"]);
    if (kOtherwise.contains(row["name"].str())) {
      ++on_purpose;
      EXPECT_TRUE(row.Has("result") && !result.ok());
    } else if (row.Has("error")) {
      ASSERT_FALSE(result.ok()) << "kubectl: " << row["error"] << "\nours: " << *result;
      const bool test_failed = row["error"].str().ends_with("test failed");
      EXPECT_EQ(IsTestFailure(result.error()), test_failed);
      if (test_failed) EXPECT_NE(result.error().message().find(row["error"].str()), std::string::npos);
    } else {
      ASSERT_TRUE(result.ok()) << result.error().ToString();
      EXPECT_EQ(*result, row["result"]);
    }
  }
  EXPECT_EQ(on_purpose, kOtherwise.size());
}

}  // namespace
}  // namespace baton::json
