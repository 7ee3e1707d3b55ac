// The text around a changed field is kept as it was written.
#include "overrides/field_overrider.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/yaml.h"

namespace baton::overrides {
namespace {

using json::Value;

// `text` after one field overrider over it: `overrider` is its json or yaml part in flow YAML.
Result<std::string> Edited(std::string_view text, std::string_view operations) {
  Value object = json::Object({{"kind", "ConfigMap"}, {"data", json::Object({{"f", text}})}});
  const FieldOverrider overrider =
      TRY(FieldOverrider::Compile(TRY(json::ParseYaml(StrCat("{fieldPath: /data/f, ", operations, "}")))));
  Work work;
  TRY(overrider.Apply(object, work));
  return std::string(object["data"]["f"].str());
}

constexpr std::string_view kExample =
    "app:\n"
    "  database:\n"
    "    port: 5432\n"
    "    ip: 127.0.0.1\n"
    "    name: example\n"
    "    zone: zone1\n";

// The example of Karmada 1.12. The policy says value: "3306", which is a string; Karmada itself writes it as one
// (tests/golden/overrides.json), although its announcement shows the number.
TEST(FieldOverriderTest, TheExampleOfTheAnnouncement) {
  EXPECT_EQ(Edited(kExample, R"(yaml: [{subPath: /app/database/port, operator: replace, value: "3306"}])").value(),
            "app:\n"
            "  database:\n"
            "    port: \"3306\"\n"
            "    ip: 127.0.0.1\n"
            "    name: example\n"
            "    zone: zone1\n");
  EXPECT_EQ(Edited(kExample, "yaml: [{subPath: /app/database/port, operator: replace, value: 3306}]").value(),
            "app:\n"
            "  database:\n"
            "    port: 3306\n"
            "    ip: 127.0.0.1\n"
            "    name: example\n"
            "    zone: zone1\n");
}

TEST(FieldOverriderTest, KeepsCommentsOrderAndLayout) {
  struct Row {
    std::string_view text, operations, after;
  };
  const Row rows[] = {
      {"# head\nb: 1   # one\na: 'two'\n\n# tail\n", "yaml: [{subPath: /b, operator: replace, value: 2}]",
       "# head\nb: 2   # one\na: 'two'\n\n# tail\n"},
      {"# head\nb: 1   # one\na: 'two'\n", "yaml: [{subPath: /a, operator: replace, value: three}]",
       "# head\nb: 1   # one\na: 'three'\n"},
      {"b: 1\na: 2\n", "yaml: [{subPath: /c, operator: add, value: {d: [1]}}]", "b: 1\na: 2\nc:\n  d:\n  - 1\n"},
      {"b: 1\n# about a\na: 2\nc: 3\n", "yaml: [{subPath: /a, operator: remove}]", "b: 1\nc: 3\n"},
      {"l:\n- x  # first\n- y\n", "yaml: [{subPath: /l/1, operator: replace, value: z}]", "l:\n- x  # first\n- z\n"},
      {"l:\n- x\n- y\n", "yaml: [{subPath: /l/-, operator: add, value: z}]", "l:\n- x\n- y\n- z\n"},
      {"{\n  \"port\": 80,\n  \"hosts\": [\"a\", \"b\"]\n}\n",
       "json: [{subPath: /port, operator: replace, value: 8080}]",
       "{\n  \"port\": 8080,\n  \"hosts\": [\"a\", \"b\"]\n}\n"},
      {"{\"z\": 1,  \"a\": {\"b\": null}}", "json: [{subPath: /a/b, operator: replace, value: x}]",
       "{\"z\": 1,  \"a\": {\"b\": \"x\"}}"},
      {"5", "json: [{subPath: '', operator: replace, value: {a: 1}}]", "{\"a\":1}"},
      {"a: 1\n", "yaml: []", "a: 1\n"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.text, row.operations));
    const Result<std::string> edited = Edited(row.text, row.operations);
    ASSERT_TRUE(edited.ok()) << edited.error().message();
    EXPECT_EQ(*edited, row.after);
  }
}

TEST(FieldOverriderTest, AValueKeepsItsType) {
  for (const std::string_view value :
       {"\"1\"", "1", "\"true\"", "true", "\"\"", "null", "1.5", "\"1.5\"", "[]", "{}"}) {
    SCOPED_TRACE(value);
    const std::string text =
        Edited("a: 0\n", StrCat("yaml: [{subPath: /a, operator: replace, value: ", value, "}]")).value();
    EXPECT_EQ(json::ParseYaml(text).value()["a"], json::ParseYaml(value).value());
  }
}

TEST(FieldOverriderTest, JsonIsJsonAndNotYaml) {
  EXPECT_FALSE(Edited("a: 1\n", "json: [{subPath: /a, operator: remove}]").ok());
  EXPECT_FALSE(Edited("{a: 1}", "json: [{subPath: /a, operator: remove}]").ok());
  EXPECT_TRUE(Edited("{a: 1}", "yaml: [{subPath: /a, operator: remove}]").ok());
}

TEST(FieldOverriderTest, AllOperationsOrNone) {
  const Result<std::string> edited =
      Edited(kExample, "yaml: [{subPath: /app/x, operator: add, value: 1}, {subPath: /nope, operator: remove}]");
  ASSERT_FALSE(edited.ok());
  EXPECT_TRUE(edited.error().message().starts_with("/data/f: operation 1 (remove /nope): "))
      << edited.error().message();
}

TEST(FieldOverriderTest, TextsThatAreTooLongAreRefused) {
  const std::string comment = "# " + std::string(kMaxFieldBytes, 'x') + "\na: 1\n";
  const Result<std::string> edited = Edited(comment, "yaml: [{subPath: /a, operator: remove}]");
  ASSERT_FALSE(edited.ok());
  EXPECT_EQ(edited.error().kind(), ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace baton::overrides
