#include "json/jsonpath.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::json {
namespace {

Value FromText(std::string_view text) {
  Result<Value> value = Parse(text);
  EXPECT_TRUE(value.ok()) << value.error().ToString();
  return *value;
}

JsonPath Path(std::string_view text) {
  Result<JsonPath> path = JsonPath::Parse(text);
  EXPECT_TRUE(path.ok()) << path.error().ToString();
  return *path;
}

std::string TextOf(std::string_view path, const Value& root) {
  Result<std::string> text = Path(path).Text(root);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : "";
}

const Value& Pod() {
  static const Value kPod = FromText(R"({
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "shop", "a.b/c": "d"}},
    "spec": {"containers": [{"name": "a", "port": 80}, {"name": "b", "port": 81}], "nothing": null}
  })");
  return kPod;
}

TEST(JsonPathTest, GivesResultsAsValues) {
  const std::vector<Value> containers = *Path("{.spec.containers[*]}").Values(Pod());
  ASSERT_EQ(containers.size(), 2U);
  EXPECT_EQ(containers[1], Object({{"name", "b"}, {"port", 81}}));
  EXPECT_EQ(*Path("{.spec.containers[*].port}").Values(Pod()), (std::vector<Value>{80, 81}));
  EXPECT_EQ(*Path("{.spec.nothing}").Values(Pod()), (std::vector<Value>{nullptr}));
  EXPECT_TRUE(Path("{.spec.missing}").Values(Pod())->empty());
}

TEST(JsonPathTest, ValuesSharesStorageWithTheRoot) {
  EXPECT_TRUE((*Path("{.spec}").Values(Pod()))[0].SharesStorageWith(Pod()["spec"]));
}

TEST(JsonPathTest, ValuesIncludesTextAndLiterals) {
  EXPECT_EQ(*Path("x{.kind}{1}{'y'}{true}{2.5}").Values(Pod()), (std::vector<Value>{"x", "Pod", 1, "y", true, 2.5}));
}

TEST(JsonPathTest, MembersComeSortedByKey) {
  EXPECT_EQ(TextOf("{.metadata.labels.*}", Pod()), "d shop");
  EXPECT_EQ(TextOf("{..name}", Pod()), "web a b");
}

TEST(JsonPathTest, ANullItemOfARangeHasNoValue) {
  const Value root = FromText(R"({"l": [null, 1]})");
  EXPECT_EQ(TextOf("{.l[*]}", root), "null 1");
  EXPECT_EQ(TextOf("{range .l[*]}{@},{end}", root), "<no value>,1,");
  EXPECT_EQ(*Path("{range .l[*]}{@}{end}").Values(root), (std::vector<Value>{nullptr, 1}));
}

TEST(JsonPathTest, RootMayBeAnyValue) {
  EXPECT_EQ(TextOf("{}|{@}|{$}", Value(7)), "7|7|7");
  EXPECT_EQ(TextOf("{[1]}", FromText("[1,2]")), "2");
  EXPECT_EQ(TextOf("{.a}", Value()), "");
  EXPECT_EQ(TextOf("{@}", Value()), "null");
}

TEST(JsonPathTest, MissingKeysAreAnErrorWhenAsked) {
  const JsonPath path = Path("{.metadata.missing}");
  EXPECT_EQ(*path.Text(Pod()), "");
  const Result<std::string> strict = path.Text(Pod(), {.allow_missing_keys = false});
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(strict.error().message(), "JSONPath \"{.metadata.missing}\": missing is not found");
}

TEST(JsonPathTest, ReadsRelaxedForms) {
  for (const std::string_view form : {"metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}"}) {
    const Result<JsonPath> path = JsonPath::ParseRelaxed(form);
    ASSERT_TRUE(path.ok()) << form;
    EXPECT_EQ(*path->Text(Pod()), "web") << form;
    EXPECT_EQ(path->source(), form);
  }
  EXPECT_TRUE(JsonPath::ParseRelaxed("")->Values(Pod())->empty());
  EXPECT_EQ(*JsonPath::ParseRelaxed(".")->Values(Pod()), *Path("{..}").Values(Pod()));
  for (const std::string_view form : {"{}", "{", "}", "{a}{b}", "a{b}", "{a", "a}"}) {
    EXPECT_FALSE(JsonPath::ParseRelaxed(form).ok()) << form;
  }
}

TEST(JsonPathTest, ErrorsNameTheColumn) {
  struct Case {
    std::string_view path;
    size_t column;
    std::string_view what;
  };
  const Case cases[] = {
      {"{.a", 4, "unclosed action"},
      {"{", 2, "unclosed action"},
      {"{.a}{.b", 8, "unclosed action"},
      {"{.a[0}", 4, "unterminated array"},
      {"{.a[x]}", 5, "invalid array index x"},
      {"{.a[\"x\"]}", 5, "invalid array index \"x\" (a name in brackets stands in single quotes)"},
      {"{.a[0,x]}", 7, "invalid array index x"},
      {"{.a[0, x ,1]}", 8, "invalid array index x"},
      {"{.a['b[']}", 7, "unterminated array"},
      {"{.a[?(@.b==1]}", 4, "unterminated filter"},
      {"{.a[?(@.b==1)}", 14, "unclosed array expect ]"},
      {"{.a[?(@.b==#)]}", 12, "unrecognized character in action: U+0023 '#'"},
      {"{.a[?(#==1)]}", 7, "unrecognized character in action: U+0023 '#'"},
      {"{'a}", 2, "unterminated quoted string"},
      {"{'\\q'}", 2, "unquote string '\\q' error invalid syntax"},
      {"{'\\xff'}", 2, "is not UTF-8"},
      {"{.a#}{*}", 7, "unrecognized character in action: U+002A '*'"},
      {"{\t.a}", 2, "unrecognized character in action: U+0009"},
      {"{1.2.3}", 2, "cannot parse number 1.2.3"},
      {"{.a....b}", 6, "invalid multiple recursive descent"},
  };
  for (const Case& c : cases) {
    const Result<JsonPath> path = JsonPath::Parse(c.path);
    ASSERT_FALSE(path.ok()) << c.path;
    EXPECT_EQ(path.error().kind(), ErrorKind::kInvalid);
    const std::string begin = StrCat("JSONPath ", Quote(c.path), ": column ", c.column, ": ");
    EXPECT_TRUE(path.error().message().starts_with(begin)) << path.error().message();
    EXPECT_NE(path.error().message().find(c.what), std::string::npos) << path.error().message();
  }
}

TEST(JsonPathTest, RelaxedErrorsNameTheColumnOfTheTextGiven) {
  EXPECT_NE(JsonPath::ParseRelaxed("a.b[x]").error().message().find("column 5: "), std::string::npos);
  EXPECT_NE(JsonPath::ParseRelaxed(".a.b[x]").error().message().find("column 6: "), std::string::npos);
  EXPECT_NE(JsonPath::ParseRelaxed("{a.b[x]}").error().message().find("column 6: "), std::string::npos);
  EXPECT_NE(JsonPath::ParseRelaxed("{.a.b[x]}").error().message().find("column 7: "), std::string::npos);
}

TEST(JsonPathTest, RefusesWhatIsNotUtf8) {
  for (const std::string_view text : {"{.\xff}", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"}) {
    EXPECT_FALSE(JsonPath::Parse(text).ok());
    EXPECT_FALSE(JsonPath::ParseRelaxed(text).ok());
  }
  EXPECT_EQ(TextOf("{'\xf0\x9f\x98\x80'}\xc3\xa9", Pod()), "\xf0\x9f\x98\x80\xc3\xa9");
}

TEST(JsonPathTest, NumbersBeyondDoubleAreErrorsAndTinyOnesAreZero) {
  EXPECT_FALSE(JsonPath::Parse(StrCat("{1", std::string(400, '0'), "}")).ok());
  EXPECT_EQ(TextOf(StrCat("{0.", std::string(400, '0'), "1}"), Pod()), "0");
  EXPECT_EQ(TextOf(StrCat("{-0.", std::string(400, '0'), "1}"), Pod()), "-0");
}

void ExpectTooLarge(const auto& result, std::string_view what) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kTooLarge) << result.error().ToString();
  EXPECT_NE(result.error().message().find(what), std::string::npos) << result.error().message();
}

TEST(JsonPathTest, LimitsTheExpression) {
  EXPECT_TRUE(JsonPath::Parse(std::string(kMaxJsonPathBytes, 'x')).ok());
  ExpectTooLarge(JsonPath::Parse(std::string(kMaxJsonPathBytes + 1, 'x')), "bytes");
}

TEST(JsonPathTest, LongExpressionsAreCutInMessagesBetweenCharacters) {
  std::string text = "{#";
  while (text.size() < 400) text += "é";
  const std::string message = JsonPath::Parse(text).error().message();
  EXPECT_LT(message.size(), 300U);
  EXPECT_NE(message.find("é\"...: column 2"), std::string::npos) << message;
}

TEST(JsonPathTest, LimitsResults) {
  const Value root = FromText("[[1,2],[3,4],[5,6]]");
  EXPECT_EQ(Path("{[*][*]}").Values(root, {.max_results = 6})->size(), 6U);
  ExpectTooLarge(Path("{[*][*]}").Values(root, {.max_results = 5}), "more than 5 results");
  ExpectTooLarge(Path("{range [*]}{[*]}{end}").Values(root, {.max_results = 5}), "more than 5 results");
  ExpectTooLarge(Path("{..}").Values(root, {.max_results = 3}), "more than 3 results");
}

TEST(JsonPathTest, LimitsWork) {
  const Value root = FromText("[1,2,3]");
  std::string doubling;  // a range without an end is gone through once more by the one before it
  for (int i = 0; i < 60; ++i) doubling += "{range}";
  ExpectTooLarge(Path(doubling).Values(root, {.max_steps = 100000}), "values looked at");
  ExpectTooLarge(Path("{[*]}").Values(root, {.max_steps = 3}), "more than 3 values looked at");
}

TEST(JsonPathTest, AFilterOnExistenceDoesNotHideALimit) {
  const Value root = FromText("[[1,2,3,4]]");
  EXPECT_EQ(Path("{[?(@[9])]}").Values(root)->size(), 1U);  // kubectl's way: failing with a value in hand is existing
  ExpectTooLarge(Path("{[?(@[*])]}").Values(root, {.max_results = 3}), "more than 3 results");
}

TEST(JsonPathTest, LimitsNestedRanges) {
  std::string text;
  for (size_t i = 0; i <= kMaxJsonPathRanges; ++i) text += "{range}";
  ExpectTooLarge(Path(text).Values(Value(1)), "ranges nested deeper");
}

TEST(JsonPathTest, LimitsText) {
  const Value root = FromText(R"(["aaaa","bbbb"])");
  EXPECT_EQ(*Path("{[*]}").Text(root, {.max_text_bytes = 9}), "aaaa bbbb");
  ExpectTooLarge(Path("{[*]}").Text(root, {.max_text_bytes = 8}), "more than 8 bytes");
}

TEST(JsonPathTest, LimitsDepth) {
  Value deep;
  for (size_t i = 0; i < kMaxDepth; ++i) deep = Array({deep});
  EXPECT_EQ(Path("{..}").Values(deep)->size(), kMaxDepth);
  EXPECT_TRUE(Path("{}").Text(deep).ok());
  for (size_t i = 0; i < 10; ++i) deep = Array({deep});
  ExpectTooLarge(Path("{..}").Values(deep), "nested deeper");
  ExpectTooLarge(Path("{}").Text(deep), "nested deeper");
}

TEST(JsonPathTest, MayBeUsedByManyThreadsAtOnce) {
  const JsonPath path = Path("{range .spec.containers[?(@.port>79)]}{.name}{end}");
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (std::string& text : texts) threads.emplace_back([&path, &text] { text = *path.Text(Pod()); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, "ab");
}

TEST(JsonPathTest, ACopyOutlivesTheOriginal) {
  Result<JsonPath> first = JsonPath::Parse("{.kind}");
  const JsonPath copy = *first;
  first = InvalidError("gone");
  EXPECT_EQ(*copy.Text(Pod()), "Pod");
}

}  // namespace
}  // namespace baton::json
