// Selectors against what the real kubectl answered (tests/golden/selector.json, made by gen_selector.py).
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "json/parse.h"
#include "json/selector.h"

namespace baton::json {
namespace {

Value Golden() {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/selector.json");
  std::stringstream text;
  text << file.rdbuf();
  Result<Value> golden = Parse(text.str());
  EXPECT_TRUE(golden.ok()) << golden.error().ToString();
  return golden.ok() ? *golden : Value();
}

// The string form, or our error message, against a row's "out" or "error".
void CheckText(const Value& row, const auto& selector) {
  if (row.Has("out")) {
    ASSERT_TRUE(selector.ok()) << selector.error().ToString();
    EXPECT_EQ(selector->ToString(), row["out"].str());
  } else {
    ASSERT_FALSE(selector.ok()) << selector->ToString();
    EXPECT_EQ(selector.error().message(), row["error"].str());
  }
}

TEST(SelectorGoldenTest, ReadsAndPrintsLabelSelectorsAsKubernetesDoes) {
  const Value golden = Golden();
  ASSERT_GT(golden["labels"].size(), 150U);
  for (const Value& row : golden["labels"].items()) {
    SCOPED_TRACE(row.ToString());
    CheckText(row, LabelSelector::Parse(row["text"].str()));
  }
}

TEST(SelectorGoldenTest, ReadsAndPrintsFieldSelectorsAsKubernetesDoes) {
  constexpr std::string_view kUnescaped = "invalid field selector: unescaped character in value: ";
  const Value golden = Golden();
  ASSERT_GT(golden["fields"].size(), 50U);
  for (const Value& row : golden["fields"].items()) {
    SCOPED_TRACE(row.ToString());
    const Result<FieldSelector> selector = FieldSelector::Parse(row["text"].str());
    if (row["error"].str().starts_with(kUnescaped)) {  // where Kubernetes shows the number of the character
      ASSERT_FALSE(selector.ok());
      EXPECT_TRUE(selector.error().message().starts_with(kUnescaped)) << selector.error().message();
    } else {
      CheckText(row, selector);
    }
  }
}

TEST(SelectorGoldenTest, ReadsLabelSelectorObjectsAsKubernetesDoes) {
  const Value golden = Golden();
  ASSERT_GT(golden["objects"].size(), 40U);
  for (const Value& row : golden["objects"].items()) {
    SCOPED_TRACE(row.ToString());
    const Result<LabelSelector> selector = LabelSelector::FromObject(row["selector"]);
    const std::string_view out = row["out"].str();
    ASSERT_EQ(selector.ok(), out != "<error>");
    if (!selector.ok()) continue;
    EXPECT_EQ(selector->selects_nothing(), out == "<unset>");
    EXPECT_EQ(selector->selects_everything(), out == "<none>");
    EXPECT_EQ(selector->ToString(), out.starts_with('<') ? "" : out);
  }
}

TEST(SelectorGoldenTest, PicksWhatKubectlPicks) {
  const Value golden = Golden();
  ASSERT_GT(golden["matches"].size(), 50U);
  for (const Value& row : golden["matches"].items()) {
    SCOPED_TRACE(row.ToString());
    const Result<LabelSelector> selector = LabelSelector::Parse(row["text"].str());
    ASSERT_TRUE(selector.ok());
    std::set<std::string> ours;
    for (const Member& thing : golden["things"].members()) {
      if (selector->Matches(thing.value())) ours.emplace(thing.key());
    }
    std::set<std::string> theirs;
    for (const Value& name : row["names"].items()) theirs.emplace(name.str());
    EXPECT_EQ(ours, theirs);
  }
}

}  // namespace
}  // namespace baton::json
