// The public yaml-test-suite (scripts/fetch-test-suites brings it). Every case where libyaml, our rules or JSON itself
// do not let us follow it is listed here, with the reason and with what kubectl does (tests/golden/yaml_suite.json).
#include <gtest/gtest.h>

#include <cstdlib>
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

constexpr size_t kAcceptedFloor = 242;  // of the 308 valid cases; kubectl takes 200

constexpr std::string_view kComplexKey = "a list or map as a key: JSON has no such object";
constexpr std::string_view kNullKey = "null as a key: JSON has no such object";
constexpr std::string_view kEmptyKey = "libyaml: a colon without a key before it";
constexpr std::string_view kDirective = "libyaml: a directive other than %YAML 1.1, %YAML 1.2 and %TAG";
constexpr std::string_view kFlowColon = "libyaml: a plain scalar between brackets that begins or ends with a colon";
constexpr std::string_view kFlowKeyLines = "libyaml: between brackets a key and its colon must be in one line";
constexpr std::string_view kTab = "libyaml: a tab before the content of a line";
constexpr std::string_view kAnchorName = "libyaml: an anchor is made of letters, digits, _ and -";
constexpr std::string_view kZeroIndent = "libyaml: a block of text at the top must be indented";
constexpr std::string_view kBareDocument =
    "libyaml: after ... a document must begin with ---; kubectl does not look there";
constexpr std::string_view kPercent = "libyaml: a line that begins with % is a directive, also in a block of text";
constexpr std::string_view kBinary = "a !!binary that is no text: kubectl replaces its bytes, we refuse to lose them";

struct Rejected {
  std::string_view id;
  std::string_view why;
  std::string_view kubectl;
};

const Rejected kRejectedValid[] = {
    {"4FJ6", kComplexKey, "rejects"},      {"6BFJ", kComplexKey, "rejects"},    {"6PBE", kComplexKey, "rejects"},
    {"9MMW", kComplexKey, "rejects"},      {"KK5P", kComplexKey, "rejects"},    {"LX3P", kComplexKey, "rejects"},
    {"M2N8/00", kComplexKey, "rejects"},   {"M2N8/01", kComplexKey, "rejects"}, {"M5DY", kComplexKey, "rejects"},
    {"Q9WF", kComplexKey, "rejects"},      {"RZP5", kComplexKey, "rejects"},    {"SBG9", kComplexKey, "rejects"},
    {"V9D5", kComplexKey, "rejects"},      {"X38W", kComplexKey, "rejects"},    {"XW4D", kComplexKey, "rejects"},
    {"2SXE", kNullKey, "rejects"},         {"DFF7", kNullKey, "rejects"},       {"FH7J", kNullKey, "rejects"},
    {"PW8X", kNullKey, "rejects"},         {"2JQS", kEmptyKey, "rejects"},      {"6M2F", kEmptyKey, "rejects"},
    {"CFD4", kEmptyKey, "rejects"},        {"NHX8", kEmptyKey, "rejects"},      {"NKF9", kEmptyKey, "rejects"},
    {"S3PD", kEmptyKey, "rejects"},        {"SM9W/01", kEmptyKey, "rejects"},   {"UKK6/00", kEmptyKey, "rejects"},
    {"2LFX", kDirective, "rejects"},       {"6LVF", kDirective, "rejects"},     {"BEC7", kDirective, "rejects"},
    {"MUS6/05", kDirective, "rejects"},    {"MUS6/06", kDirective, "rejects"},  {"4ABK", kFlowColon, "rejects"},
    {"58MP", kFlowColon, "rejects"},       {"5T43", kFlowColon, "rejects"},     {"DBG4", kFlowColon, "rejects"},
    {"FRK4", kFlowColon, "rejects"},       {"HM87/00", kFlowColon, "rejects"},  {"4MUZ/01", kFlowKeyLines, "rejects"},
    {"4MUZ/02", kFlowKeyLines, "rejects"}, {"5MUD", kFlowKeyLines, "rejects"},  {"9SA2", kFlowKeyLines, "rejects"},
    {"K3WX", kFlowKeyLines, "rejects"},    {"NJ66", kFlowKeyLines, "rejects"},  {"UT92", kFlowKeyLines, "rejects"},
    {"VJP3/01", kFlowKeyLines, "rejects"}, {"6BCT", kTab, "rejects"},           {"96NN/00", kTab, "rejects"},
    {"96NN/01", kTab, "rejects"},          {"A2M4", kTab, "rejects"},           {"DK95/00", kTab, "rejects"},
    {"DK95/03", kTab, "rejects"},          {"DK95/04", kTab, "rejects"},        {"R4YG", kTab, "rejects"},
    {"Y79Y/01", kTab, "rejects"},          {"Y79Y/10", kTab, "rejects"},        {"8XYN", kAnchorName, "rejects"},
    {"W5VH", kAnchorName, "rejects"},      {"DK3J", kZeroIndent, "rejects"},    {"FP8R", kZeroIndent, "rejects"},
    {"7Z25", kBareDocument, "accepts"},    {"HWV9", kBareDocument, "rejects"},  {"M7A3", kBareDocument, "accepts"},
    {"QT73", kBareDocument, "rejects"},    {"W4TN", kPercent, "rejects"},       {"565N", kBinary, "differs"},
};

struct Listed {
  std::string_view id;
  std::string_view why;
};

// Cases the suite calls invalid. libyaml reads each as what its author must have meant.
const Listed kAcceptedInvalid[] = {
    {"9C9N", "a list between brackets that is not indented"},
    {"Y79Y/03", "a list between brackets that is indented by a tab"},
    {"QB6E", "a quoted text that is not indented"},
    {"DK95/01", "a quoted text that is indented by a tab"},
    {"9JBA", "no space before a comment"},
    {"CVW2", "no space before a comment"},
    {"SU5Z", "no space before a comment"},
    {"X4QW", "no space before a comment"},
    {"G5U8", "[-] is a list of one dash"},
    {"YJV2", "[-] is a list of one dash"},
    {"9HCY", "a directive without ... before it"},
    {"EB22", "a directive without ... before it"},
    {"RHX7", "a directive without ... before it"},
    {"MUS6/00", "a version of 1.1#..."},
    {"MUS6/01", "a directive without ... before it"},
    {"S98Z", "an empty block of text whose lines differ in blanks"},
};

// Valid cases that mean something else to YAML 1.1 or to libyaml.
const Listed kOtherValue[] = {
    {"C4HZ", "y is true in YAML 1.1, also as a key: kubectl does the same"},
    {"652Z", "{?foo: bar} has the key foo to libyaml; kubectl does the same below a key"},
    {"HM87/01", "[?x] is [{x: null}] to libyaml; kubectl does the same"},
    {"Y2GN", "an anchor's name ends before a colon; kubectl does the same"},
};

Value LoadJson(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Result<Value> value = Parse(text.str());
  return value.ok() ? *std::move(value) : Value();
}

class YamlSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("BATON_TEST_SUITES");
    const std::string path = StrCat(folder != nullptr ? folder : BATON_SOURCE_DIR "/build/test-suites", "/yaml.json");
    suite_ = LoadJson(path);
    ASSERT_TRUE(suite_.is_array()) << "no test suite at " << path << ": run scripts/fetch-test-suites";
    ASSERT_EQ(suite_.size(), 402U);
    kubectl_ = LoadJson(BATON_SOURCE_DIR "/tests/golden/yaml_suite.json");
    ASSERT_EQ(kubectl_.size(), suite_.size());
  }

  template <class Rows>
  static std::set<std::string_view> Ids(const Rows& rows) {
    std::set<std::string_view> ids;
    for (const auto& row : rows) EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is listed twice";
    return ids;
  }

  Value suite_;
  Value kubectl_;
};

TEST_F(YamlSuiteTest, AcceptsTheValidCasesButForTheListedOnes) {
  std::set<std::string_view> listed = Ids(kRejectedValid);
  size_t accepted = 0;
  for (const Value& test : suite_.items()) {
    if (test["fail"].bool_or(false)) continue;
    const Result<std::vector<Value>> documents = ParseYamlStream(test["yaml"].str());
    const bool expected = listed.erase(test["id"].str()) == 0;
    EXPECT_EQ(documents.ok(), expected) << test["id"] << " " << test["yaml"] << "\n"
                                        << (documents.ok() ? "" : documents.error().message());
    if (documents.ok()) ++accepted;
  }
  EXPECT_TRUE(listed.empty()) << *listed.begin() << " is no valid case";
  EXPECT_GE(accepted, kAcceptedFloor);
}

TEST_F(YamlSuiteTest, NamesWhatKubectlDoesWithTheCasesWeReject) {
  std::set<std::string_view> accepted_by_kubectl;
  for (const Rejected& row : kRejectedValid) {
    EXPECT_EQ(kubectl_[row.id].str(), row.kubectl) << row.id;
    if (row.kubectl != "rejects") accepted_by_kubectl.insert(row.id);
  }
  // Only these: a second document that kubectl does not read, and bytes that it loses.
  EXPECT_EQ(accepted_by_kubectl, (std::set<std::string_view>{"565N", "7Z25", "M7A3"}));
}

TEST_F(YamlSuiteTest, RejectsTheInvalidCasesButForTheListedOnes) {
  std::set<std::string_view> listed = Ids(kAcceptedInvalid);
  for (const Value& test : suite_.items()) {
    if (!test["fail"].bool_or(false)) continue;
    const bool expected = listed.erase(test["id"].str()) == 0;
    EXPECT_EQ(ParseYamlStream(test["yaml"].str()).ok(), !expected) << test["id"] << " " << test["yaml"];
  }
  EXPECT_TRUE(listed.empty()) << *listed.begin() << " is no invalid case";
}

TEST_F(YamlSuiteTest, GivesTheValuesOfTheSuiteButForTheListedOnes) {
  std::set<std::string_view> listed = Ids(kOtherValue);
  size_t compared = 0;
  for (const Value& test : suite_.items()) {
    const Result<std::vector<Value>> documents = ParseYamlStream(test["yaml"].str());
    if (!test.Has("json") || !documents.ok()) continue;
    Value wanted = Array();
    Value given = Array();
    for (const Value& text : test["json"].items()) {
      const Value value = WithIntegers(Parse(text.str()).value());
      if (!value.is_null()) wanted.Push(value);  // streams leave empty documents out
    }
    for (const Value& document : documents.value()) given.Push(document);
    const bool expected = listed.erase(test["id"].str()) == 0;
    EXPECT_EQ(given == wanted, expected) << test["id"] << " " << test["yaml"] << "\n" << given << "\n" << wanted;
    ++compared;
  }
  EXPECT_TRUE(listed.empty()) << *listed.begin() << " has no value to compare";
  EXPECT_GE(compared, 230U);
}

TEST_F(YamlSuiteTest, PrintsEveryCaseSoThatItReadsBack) {
  for (const Value& test : suite_.items()) {
    const Result<std::vector<Value>> documents = ParseYamlStream(test["yaml"].str());
    if (!documents.ok()) continue;
    const std::string printed = PrintYamlStream(documents.value());
    const Result<std::vector<Value>> back = ParseYamlStream(printed);
    ASSERT_TRUE(back.ok()) << test["id"] << " " << back.error().message() << "\n" << printed;
    EXPECT_EQ(back.value(), documents.value()) << test["id"] << "\n" << printed;
  }
}

}  // namespace
}  // namespace baton::json
