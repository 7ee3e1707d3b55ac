// JSONPath against what the real kubectl answered (tests/golden/jsonpath.json, made by gen_jsonpath.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/strings.h"
#include "json/go_text.h"
#include "json/jsonpath.h"
#include "json/parse.h"

namespace baton::json {
namespace {

Value Golden() {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/jsonpath.json");
  std::stringstream text;
  text << file.rdbuf();
  Result<Value> golden = Parse(text.str());
  EXPECT_TRUE(golden.ok()) << golden.error().ToString();
  return golden.ok() ? *golden : Value();
}

std::string SortedWords(std::string_view text) {
  std::vector<std::string_view> pieces = Split(text, ' ');
  std::ranges::sort(pieces);
  return Join(std::vector<std::string>(pieces.begin(), pieces.end()), " ");
}

// Rows whose answer differs from kubectl's on purpose. An answer that begins with "error: " is a part of our message.
struct Difference {
  std::string_view ours;
  std::string_view why;
};
constexpr std::string_view kPanics = "kubectl panics; what is null has neither members nor items";
constexpr std::string_view kEmpty = "kubectl's command line asks for a template; an empty one has no results";
constexpr std::string_view kDumps = "kubectl prints the whole value, which may be a secret; we name its type";
const std::map<std::string_view, Difference> kDifferent = {
    {"{range .nulls[*]}{@[0]};{end}", {"error: map[string]interface {} is not array or slice", kPanics}},
    {"{range .nulls[*]}{range @}{.a}{end};{end}", {";1;;", kPanics}},
    {"{range .empty.list[*]}{[0]}{end}", {"", kPanics}},
    {"", {"", kEmpty}},
    {"{range .nulls[*]}{[?(@.a)]};{end}", {"error: <no value> is not array or slice and cannot be filtered", kDumps}},
    {"{.metadata[?(@.name==\"web\")]}", {"error: map[string]interface {} is not array or slice and", kDumps}},
    {"{.rows[0:3][?(@.ref==@.id)].id}", {"error: map[string]interface {} is not array or slice and", kDumps}},
    {"{.rows[?(@.id==1)][?(@.id)]}", {"error: map[string]interface {} is not array or slice and", kDumps}},
};

void CheckRow(const Value& row, const Value& object) {
  const std::string_view path = row["path"].str();
  SCOPED_TRACE(row.ToString());
  ASSERT_TRUE(object.is_object());
  Result<JsonPath> parsed = JsonPath::Parse(path);
  Result<std::string> text =
      parsed.ok() ? parsed->Text(object, {.allow_missing_keys = row["missing"].bool_or(true)}) : parsed.error();
  std::string wanted = row.Has("out") ? std::string(row["out"].str()) : StrCat("error: ", row["error"].str());
  if (const auto different = kDifferent.find(path); different != kDifferent.end()) {
    EXPECT_NE(wanted, different->second.ours) << "no longer different";
    wanted = different->second.ours;
  }
  if (text.ok()) {
    EXPECT_EQ(row.Has("unordered") ? SortedWords(*text) : *text, wanted);
  } else {
    const std::string ours = StrCat("error: ", text.error().message());
    ASSERT_TRUE(wanted.starts_with("error: ")) << ours;
    EXPECT_NE(ours.find(wanted.substr(7)), std::string::npos) << ours;
  }
}

TEST(JsonPathGoldenTest, PrintsWhatKubectlPrints) {
  const Value golden = Golden();
  ASSERT_GT(golden["templates"].size(), 500U);
  for (const Value& row : golden["templates"].items()) CheckRow(row, golden["objects"][row["object"].str()]);
}

TEST(JsonPathGoldenTest, ReadsRelaxedPathsAsCustomColumnsDo) {
  const Value golden = Golden();
  ASSERT_GT(golden["relaxed"].size(), 40U);
  for (const Value& row : golden["relaxed"].items()) {
    SCOPED_TRACE(row.ToString());
    Result<JsonPath> parsed = JsonPath::ParseRelaxed(row["path"].str());
    Result<std::vector<Value>> values =
        parsed.ok() ? parsed->Values(golden["objects"][row["object"].str()]) : parsed.error();
    if (const Value* out = row.Find("out")) {
      ASSERT_TRUE(values.ok()) << values.error().ToString();
      std::vector<std::string> texts;
      for (const Value& value : *values) {
        if (value.is_null()) {
          texts.emplace_back("<nil>");
        } else {
          ASSERT_TRUE(AppendGoPlain(texts.emplace_back(), value).ok());
        }
      }
      const std::string joined = texts.empty() ? "<none>" : Join(texts, ",");
      // Objects are in fmt's form there, which we have no use for.
      if (!out->str().starts_with("map[")) EXPECT_EQ(joined, out->str());
    } else {
      ASSERT_FALSE(values.ok());
      EXPECT_NE(values.error().message().find(row["error"].str()), std::string::npos) << values.error().message();
    }
  }
}

}  // namespace
}  // namespace baton::json
