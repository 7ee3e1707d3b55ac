#include "api/crd_schema_memo.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::api {
namespace {

json::Value SchemaWith(std::string_view field) {
  const std::string text = StrCat(R"({"type":"object","properties":{")", field, R"(":{"type":"string"}}})");
  return json::Parse(text).value();
}

TEST(CrdSchemaMemoTest, GivesOneSchemaToAllWhoReadTheSameDefinition) {
  CrdSchemaMemo memo;
  const auto first = memo.Read(SchemaWith("a"), "schema");
  const auto second = memo.Read(SchemaWith("a"), "schema");  // parsed again: other storage
  ASSERT_NE(first->schema, nullptr);
  EXPECT_EQ(first->schema, second->schema);
  EXPECT_EQ(memo.hits(), 1U);
}

TEST(CrdSchemaMemoTest, TellsDefinitionsAndPlacesApart) {
  CrdSchemaMemo memo;
  const auto a = memo.Read(SchemaWith("a"), "schema");
  EXPECT_NE(memo.Read(SchemaWith("b"), "schema")->schema, a->schema);
  EXPECT_NE(memo.Read(SchemaWith("a"), "elsewhere")->schema, a->schema);
  EXPECT_EQ(memo.hits(), 0U);
}

TEST(CrdSchemaMemoTest, RemembersWhatIsWrongWithOne) {
  CrdSchemaMemo memo;
  const json::Value wrong = json::Parse(R"({"properties":{"a":{"type":"text"}}})").value();
  const auto first = memo.Read(wrong, "schema");
  const auto second = memo.Read(wrong, "schema");
  EXPECT_EQ(second->schema, nullptr);
  EXPECT_FALSE(second->errors.empty());
  EXPECT_EQ(second->errors.size(), ReadCrdSchema(wrong, "schema").errors.size());
  EXPECT_EQ(first, second);
}

TEST(CrdSchemaMemoTest, ForgetsWhatWasLongNotAskedFor) {
  CrdSchemaMemo memo;
  const auto first = memo.Read(SchemaWith("first"), "schema");
  for (size_t i = 0; i < kCrdSchemasRemembered; ++i) (void)memo.Read(SchemaWith(StrCat("f", i)), "schema");
  EXPECT_NE(memo.Read(SchemaWith("first"), "schema"), first);
  EXPECT_EQ(memo.hits(), 0U);
}

TEST(CrdSchemaMemoTest, KeepsToItsBytesHoweverLargeDefinitionsAre) {
  CrdSchemaMemo memo;
  // A description is not looked at, so that this is about bytes only.
  const auto large = [](size_t bytes) {
    json::Value schema = SchemaWith("a");
    schema.Set("description", std::string(bytes, 'x'));
    return schema;
  };
  for (size_t i = 0; i < 10; ++i) (void)memo.Read(large(kCrdSchemaBytesRemembered / 4 + i), "schema");
  EXPECT_LE(memo.bytes(), kCrdSchemaBytesRemembered);
  EXPECT_GT(memo.bytes(), kCrdSchemaBytesRemembered / 2);
  const size_t before = memo.bytes();
  EXPECT_NE(memo.Read(large(kCrdSchemaBytesRemembered), "schema")->schema, nullptr);
  EXPECT_EQ(memo.bytes(), before) << "one that is larger than all may be is not remembered, and pushes nothing out";
}

}  // namespace
}  // namespace baton::api
