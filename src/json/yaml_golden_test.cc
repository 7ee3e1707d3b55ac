// Reading and printing YAML against kubectl's own answers (tests/golden/yaml_golden.py asked it). Where Baton answers
// otherwise on purpose, the row is listed here with the reason.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/yaml.h"

namespace baton::json {
namespace {

// What the generator puts before each row's text.
constexpr std::string_view kHeader = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: a}\n";

struct Difference {
  std::string_view input;
  std::string_view ours;  // JSON, or "error"; for printing the YAML text
  std::string_view why;
};

constexpr std::string_view kExact = "kubectl rounds integers above int64 to float64, we keep uint64 exactly";
constexpr std::string_view kTwice = "a key given twice: kubectl takes the last one, we refuse to guess";
constexpr std::string_view kMoreYaml = "valid YAML that go-yaml v2 does not know";
constexpr std::string_view kUnread = "kubectl silently drops what follows the end of the document";
constexpr std::string_view kTextSplit = "kubectl splits streams at lines that begin with ---, we read YAML";

const Difference kReadDifferences[] = {
    {"v: 9223372036854775808\n", "9223372036854775808", kExact},
    {"v: 18446744073709551615\n", "18446744073709551615", kExact},
    {"v: 0xFFFFFFFFFFFFFFFF\n", "18446744073709551615", kExact},
    {"v: 0o1777777777777777777777\n", "18446744073709551615", kExact},
    {"v: 0b1111111111111111111111111111111111111111111111111111111111111111\n", "18446744073709551615", kExact},
    {"v: !!binary \"/w==\"\n", "error", "kubectl replaces bytes that are not UTF-8 by U+FFFD, we refuse to lose them"},
    {"v: \"\\/\"\n", "\"/\"", kMoreYaml},
    {"v: {a, a}\n", "error", kTwice},
    {"v: {a: 1, a: 2}\n", "error", kTwice},
    {"v:\n  a: 1\n  b: 1\n  a: 2\n", "error", kTwice},
    {"v: {1: a, 0x1: b}\n", "error", kTwice},
    {"v: {y: a, true: b}\n", "error", kTwice},
    {"v: {&a 1: x, *a : y}\n", "error", kTwice},
    {"v: {&a x: 1, *a : 2}\n", "error", kTwice},
    {"v: {<<: {a: 1}, a: 2, a: 3}\n", "error", kTwice},
    {"v: a\nv: b\n", "error", kTwice},
    {"v: a\n...\nw: b\n", "error", kUnread},
    {"%YAML 1.1\n", "error", kUnread},
};

constexpr std::string_view kObject = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: a}\nv: 1\n";
constexpr std::string_view kObject2 = "apiVersion: x/v1\nkind: Foo\nmetadata: {name: a}\nv: 2\n";
constexpr std::string_view kJsonObject = R"({"apiVersion": "x/v1", "kind": "Foo", "metadata": {"name": "a"}, "v": 3})";

struct StreamDifference {
  std::string input;
  std::string_view ours;
  std::string_view why;
};

const StreamDifference kStreamDifferences[] = {
    {"--- {}\n", "[null]", kTextSplit},
    {StrCat("%YAML 1.1\n---\n", kObject), "[1]", kTextSplit},
    {StrCat("%YAML 1.2\n---\n", kObject), "[1]", kMoreYaml},
    {StrCat("%TAG ! tag:x,2000:\n---\n", kObject), "[1]", kTextSplit},
    {StrCat(kJsonObject, "\n---\n", kJsonObject, "\n"), "[3,3]", "after a JSON document kubectl reads only JSON"},
    {StrCat(kJsonObject, "\n---\n", kObject2), "[3,2]", "after a JSON document kubectl reads only JSON"},
    {StrCat(kObject, "---\n\xEF\xBB\xBF", kObject2), "error",
     "a byte order mark inside a stream; kubectl splits first"},
    {StrCat(kObject, " ---\n", kObject2), "error",
     "' ---' is text, not a separator: kubectl takes the last of each key"},
};

constexpr std::string_view kSeparators =
    "U+2028 is a line break to YAML 1.1 and not to 1.2: escaped it is one string to both";
constexpr std::string_view kControl = "kubectl cannot print it: its JSON does not read as YAML";
constexpr std::string_view kNextLine = "kubectl turns U+0085 into a space";

const Difference kPrintDifferences[] = {
    {"\"\u007f\"", "v: \"\\x7F\"\n", kControl},
    {"\"\u0080\"", "v: \"\\x80\"\n", kControl},
    {"\"\uFFFE\"", "v: \"\\uFFFE\"\n", kControl},
    {"{\"a\u0085b\":1}", "v:\n  ? \"a\\Nb\"\n  : 1\n", kControl},
    {"\"\u0085\"", "v: \"\\N\"\n", kNextLine},
    {"\"a\u0085b\"", "v: \"a\\Nb\"\n", kNextLine},
    {"\"\u2028\"", "v: \"\\L\"\n", kSeparators},
    {"\"a\u2028b\"", "v: \"a\\Lb\"\n", kSeparators},
    {"\"a\u2029b\\n\"", "v: \"a\\Pb\\n\"\n", kSeparators},
    {"\"a\\nb\u2028c\"", "v: \"a\\nb\\Lc\"\n", kSeparators},
    {"{\"\u2028\":1}", "v:\n  ? \"\\L\"\n  : 1\n", kSeparators},
    {"\"\uFEFFabc\"", "v: \"\\uFEFFabc\"\n", "behind a byte order mark kubectl escapes every letter"},
    {"{\"<<\":1}", "v:\n  \"<<\": 1\n", "kubectl prints the key << unquoted, which reads back as a merge"},
};

Value Golden(std::string_view name) {
  std::ifstream file(StrCat(BATON_SOURCE_DIR "/tests/golden/", name));
  std::stringstream text;
  text << file.rdbuf();
  const Result<Value> rows = Parse(text.str());
  EXPECT_TRUE(rows.ok()) << name;
  return rows.value_or(Value());
}

// The rows that differ on purpose; Finish() fails when one of them was never asked for or no longer differs.
class Differences {
 public:
  template <class Rows>
  explicit Differences(const Rows& rows) {
    for (const auto& row : rows) rows_.emplace(row.input, row.ours);
  }

  // `theirs` unless the row is listed.
  std::string Expected(std::string_view input, std::string_view theirs) {
    const auto found = rows_.find(std::string(input));
    if (found == rows_.end()) return std::string(theirs);
    EXPECT_NE(found->second, theirs) << "no longer a difference: " << input;
    used_.insert(found->first);
    return found->second;
  }

  void Finish() const { EXPECT_EQ(used_.size(), rows_.size()) << "some listed difference is no golden row"; }

 private:
  std::map<std::string, std::string> rows_;
  std::set<std::string> used_;
};

TEST(YamlGoldenTest, ReadsWhatKubectlReads) {
  Differences differences(kReadDifferences);
  const Value rows = Golden("yaml_read.json");
  EXPECT_GT(rows.size(), 600U);
  for (const Value& row : rows.items()) {
    const Result<Value> object = ParseYaml(StrCat(kHeader, row["yaml"].str()));
    const std::string ours = object.ok() ? Print(object.value()["v"]) : "error";
    const std::string theirs = row.Has("value") ? Print(WithIntegers(row["value"])) : "error";
    EXPECT_EQ(ours, differences.Expected(row["yaml"].str(), theirs))
        << Print(row) << (object.ok() ? "" : object.error().message());
    if (!object.ok()) EXPECT_TRUE(object.error().message().starts_with("line ")) << object.error().message();
  }
  differences.Finish();
}

TEST(YamlGoldenTest, ReadsStreamsAsKubectlDoes) {
  Differences differences(kStreamDifferences);
  for (const Value& row : Golden("yaml_stream.json").items()) {
    const Result<std::vector<Value>> documents = ParseYamlStream(row["yaml"].str());
    Value ours = Array();
    for (const Value& document : documents.value_or(std::vector<Value>())) ours.Push(document["v"]);
    const std::string theirs = row.Has("values") ? Print(WithIntegers(row["values"])) : "error";
    EXPECT_EQ(documents.ok() ? Print(ours) : "error", differences.Expected(row["yaml"].str(), theirs)) << Print(row);
  }
  differences.Finish();
}

TEST(YamlGoldenTest, PrintsWhatKubectlPrints) {
  Differences differences(kPrintDifferences);
  const Value rows = Golden("yaml_print.json");
  EXPECT_GT(rows.size(), 500U);
  for (const Value& row : rows.items()) {
    const Value object = Object({{"v", row["value"]}});
    const std::string ours = PrintYaml(object);
    EXPECT_EQ(ours, differences.Expected(Print(row["value"]), row["yaml"].str())) << Print(row["value"]);
    const Result<Value> back = ParseYaml(ours);
    ASSERT_TRUE(back.ok()) << back.error().message() << "\n" << ours;
    EXPECT_EQ(back.value(), WithIntegers(object)) << ours;
  }
  differences.Finish();
}

}  // namespace
}  // namespace baton::json
