#include "api/type_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/schema_for_test.h"
#include "base/strings.h"

namespace baton::api {
namespace {

Result<TypeTable> ParseOne(std::string_view text) {
  const std::string whole = StrCat("package io.x.v1\n", text);
  const TypeText texts[] = {{"x.types", whole}};
  return TypeTable::Parse(texts);
}

// What the type T of this text looks like as a CRD's schema.
json::Value AsCrd(std::string_view text) {
  Result<TypeTable> table = ParseOne(text);
  EXPECT_TRUE(table.ok()) << text << "\n" << (table.ok() ? "" : table.error().message());
  if (!table.ok() || table->Find("io.x.v1.T") == nullptr) return {};
  return ToCrdSchema(*table->Find("io.x.v1.T"));
}

struct Written {
  std::string_view field;
  std::string_view schema;
};

TEST(TypeTextTest, ReadsTypesAndAttributesOfFields) {
  const Written rows[] = {
      {"string", R"({"type":"string"})"},
      {"bytes", R"({"type":"string","format":"byte"})"},
      {"time", R"({"type":"string","format":"date-time"})"},
      {"int32", R"({"type":"integer","format":"int32"})"},
      {"int64", R"({"type":"integer","format":"int64"})"},
      {"integer", R"({"type":"integer"})"},
      {"float", R"({"type":"number","format":"float"})"},
      {"double", R"({"type":"number","format":"double"})"},
      {"number", R"({"type":"number"})"},
      {"bool", R"({"type":"boolean"})"},
      {"int-or-string", R"({"x-kubernetes-int-or-string":true})"},
      {"quantity", R"({"format":"quantity","x-kubernetes-int-or-string":true})"},
      {"object", R"({"type":"object"})"},
      {"any", "{}"},
      {"[string]", R"({"type":"array","items":{"type":"string"}})"},
      {"{int32}", R"({"type":"object","additionalProperties":{"type":"integer","format":"int32"}})"},
      {"[ {string} ]", R"({"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}})"},
      {"{[string enum=a,b]}",
       R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"string","enum":["a","b"]}}})"},
      {"string enum=Always,\"On Failure\",\"\" default=Always \"When.\"",
       R"({"type":"string","enum":["Always","On Failure",""],"default":"Always","description":"When."})"},
      {"string default=1", R"({"type":"string","default":"1"})"},
      {"string default=\"\" nullable", R"({"type":"string","default":"","nullable":true})"},
      {"string pattern=\"^[a-z ]+#\\\\d$\" minLength=1 maxLength=9 format=x # words",
       R"({"type":"string","pattern":"^[a-z ]+#\\d$","minLength":1,"maxLength":9,"format":"x"})"},
      {"int32 min=-1 max=10 default=3 enum=3,4",
       R"({"type":"integer","format":"int32","minimum":-1,"maximum":10,"default":3,"enum":[3,4]})"},
      {"number above=0 below=1.5 multipleOf=0.5",
       R"({"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":1.5,"exclusiveMaximum":true,"multipleOf":0.5})"},
      {"[string] set minItems=1 maxItems=3 unique default=[\"a b\", \"c\"]",
       R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set","minItems":1,"maxItems":3,
           "uniqueItems":true,"default":["a b","c"]})"},
      {"{string} atomic minProperties=1 maxProperties=2 default={\"a\": \"b\"}",
       R"({"type":"object","additionalProperties":{"type":"string"},"x-kubernetes-map-type":"atomic",
           "minProperties":1,"maxProperties":2,"default":{"a":"b"}})"},
      {"object preserve embedded",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-embedded-resource":true})"},
      {"any preserve", R"({"x-kubernetes-preserve-unknown-fields":true})"},
  };
  for (const Written& row : rows) {
    EXPECT_EQ(AsCrd(StrCat("T\n  f ", row.field, "\n"))["properties"]["f"], FromJson(row.schema)) << row.field;
  }
}

TEST(TypeTextTest, ReadsObjectsWithTheirFields) {
  const json::Value crd = AsCrd(R"(
T atomic preserve "A thing,"   # a comment
    "not a place."
  $ref  string
  name  string required
  items [Item] required map(id,kind) "Its parts,"
        "each once."
Item
  id   string required
  kind string default=x
)");
  EXPECT_EQ(crd, FromJson(R"({"type":"object","description":"A thing, not a place.","x-kubernetes-map-type":"atomic",
    "x-kubernetes-preserve-unknown-fields":true,"required":["name","items"],"properties":{
      "name":{"type":"string"},"$ref":{"type":"string"},
      "items":{"type":"array","description":"Its parts, each once.","x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["id","kind"],"items":{"type":"object","required":["id"],
          "properties":{"id":{"type":"string"},"kind":{"type":"string","default":"x"}}}}}})"));
}

TEST(TypeTextTest, KeepsPatchStrategies) {
  const Result<TypeTable> table = ParseOne(R"(
T
  a [U] merge(name) retainKeys
  b [string] merge
  c U replace
  d {string} retainKeys
U
  name string
)");
  ASSERT_TRUE(table.ok()) << table.error().message();
  const auto& fields = table->Find("io.x.v1.T")->properties;
  EXPECT_TRUE(fields.at("a")->patch_merge && fields.at("a")->patch_retain_keys);
  EXPECT_EQ(fields.at("a")->patch_merge_key, "name");
  EXPECT_TRUE(fields.at("b")->patch_merge && fields.at("b")->patch_merge_key.empty());
  EXPECT_TRUE(fields.at("c")->patch_replace && !fields.at("c")->patch_merge);
  EXPECT_TRUE(fields.at("d")->patch_retain_keys);
}

TEST(TypeTextTest, SharesNamedTypesAndCopiesThemOnlyWhereAFieldAddsSomething) {
  const Result<TypeTable> table = ParseOne(R"(
T
  plain U
  doc   U "Words."
  given U default={"name":"x"} nullable granular
U atomic "A part."
  name  string
  inner V default={}
V
)");
  ASSERT_TRUE(table.ok()) << table.error().message();
  const SchemaPtr type = table->Find("io.x.v1.T");
  const SchemaPtr named = table->Find("io.x.v1.U");
  EXPECT_EQ(type->properties.at("plain"), named);
  const Schema& doc = *type->properties.at("doc");
  EXPECT_EQ(doc.use_of, named);
  EXPECT_EQ(doc.name, "io.x.v1.U");
  EXPECT_EQ(doc.description, "Words.");
  EXPECT_EQ(doc.map_type, MapType::kAtomic);
  // The copy sees the fields of the named type as they are in the end.
  EXPECT_EQ(doc.properties.at("inner"), named->properties.at("inner"));
  EXPECT_TRUE(doc.properties.at("inner")->default_value.has_value());
  const Schema& given = *type->properties.at("given");
  EXPECT_EQ(given.description, "A part.");
  EXPECT_EQ(given.map_type, MapType::kGranular);
  EXPECT_TRUE(given.nullable);
  EXPECT_EQ(given.default_value, FromJson(R"({"name":"x"})"));
  EXPECT_EQ(named->map_type, MapType::kAtomic);
  EXPECT_FALSE(named->default_value.has_value());
}

TEST(TypeTextTest, TiesTypesOfOtherPackagesTextsAndTables) {
  const TypeText ground[] = {{"a.types", "package a\nPort = int-or-string\n"}};
  const Result<TypeTable> known = TypeTable::Parse(ground);
  ASSERT_TRUE(known.ok());
  const TypeText texts[] = {
      {"b.types", "package b.v1\nuse a a\nuse c c.v1\nB\n  port a.Port\n  c c.C \"Its C.\"\n"},
      {"c.types", "package c.v1\nuse b b.v1\nC\n  b b.B\npackage d\nD\n"},
  };
  const TypeText docs[] = {
      {"docs.txt", "# words\npackage b.v1\nB  Both.\nB.c  Not used.\nB.port  Where it listens.\n*.b  Any b.\n"}};
  const Result<TypeTable> table = TypeTable::Parse(texts, docs, &*known);
  ASSERT_TRUE(table.ok()) << table.error().message();
  EXPECT_EQ(table->Names(), (std::vector<std::string_view>{"b.v1.B", "c.v1.C", "d.D"}));
  const SchemaPtr b = table->Find("b.v1.B");
  EXPECT_EQ(b->description, "Both.");
  EXPECT_EQ(b->properties.at("c")->description, "Its C.");
  EXPECT_EQ(b->properties.at("port")->use_of, known->Find("a.Port"));
  EXPECT_EQ(b->properties.at("port")->description, "Where it listens.");
  EXPECT_EQ(b->properties.at("c")->properties.at("b")->use_of, b);
  EXPECT_EQ(b->properties.at("c")->properties.at("b")->description, "Any b.");
  EXPECT_EQ(table->Find("a.Port"), nullptr);
}

TEST(TypeTextTest, KeepsTheGraphAliveForWhatWasFound) {
  SchemaPtr found;
  {
    const Result<TypeTable> table = ParseOne("T\n  next T\n  name string\n");
    ASSERT_TRUE(table.ok());
    found = table->Find("io.x.v1.T");
  }
  EXPECT_EQ(found->properties.at("next")->properties.at("name")->type, SchemaType::kString);
}

TEST(TypeTextTest, NamesLineAndReasonOfWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"T\n  f strin", "x.types, line 3: there is no type \"strin\""},
      {"T\n  f U", "x.types, line 3: there is no type \"io.x.v1.U\""},
      {"T\n  f y.U", "x.types, line 3: there is no `use y ...` in this package"},
      {"T\n  f", "x.types, line 3: a type is missing"},
      {"T\n  f [string", "x.types, line 3: a type is not closed by ]"},
      {"T\n  f {string]", "x.types, line 3: a type is not closed by }"},
      {"T\n  f string]", "x.types, line 3: nothing may follow the words"},
      {"T\n  f string)", "x.types, line 3: a ')' that was not opened"},
      {"T\n  f string \"a\" required", "x.types, line 3: nothing may follow the words"},
      {"T\n  f string \"a", "x.types, line 3: a quote is not closed: \"a"},
      {"T\n  f string default={", "x.types, line 3: a bracket is not closed: default={"},
      {"T\n  f string\n  f string", "x.types, line 4: the field \"f\" is given twice"},
      {"T\nT", "x.types, line 3: the type T is given twice"},
      {"t", "x.types, line 2: a type's name begins with an upper-case letter, not \"t\"; fields are indented"},
      {"  f string", "x.types, line 2: the field \"f\" stands below no type with fields"},
      {"T = string\n  f string", "x.types, line 3: the field \"f\" stands below no type with fields"},
      {"T = U\nU", "x.types, line 2: a named type cannot stand for another one"},
      {"T required", "x.types, line 2: a type is not required; fields are"},
      {"T\n  f [string required]", "x.types, line 3: items are not required; fields are"},
      {"T\n  f string requird", "x.types, line 3: there is no attribute \"requird\""},
      {"T\n  f string required=1", "x.types, line 3: the attribute required is not written \"required=1\""},
      {"T\n  f string enum", "x.types, line 3: the attribute enum is not written \"enum\""},
      {"T\n  f [string] map", "x.types, line 3: the attribute map is not written \"map\""},
      {"T\n  f string min=1", "x.types, line 3: the attribute min does not go with this type"},
      {"T\n  f T enum=1", "x.types, line 3: the attribute enum does not go with a named type"},
      {"T\n  f string enum=a enum=b", "x.types, line 3: the attribute enum is given twice"},
      {"T\n  f string enum=a,a", "x.types, line 3: enum: \"a\" is given twice"},
      {"T\n  f int32 default=a", "x.types, line 3: default: not JSON: \"a\""},
      {"T\n  f int32 default=1.5", "x.types, line 3: default: 1.5 is not of the field's type"},
      {"T\n  f int32 min=1 above=2", "x.types, line 3: above: there is a bound on this side already"},
      {"T\n  f string minLength=-1", "x.types, line 3: minLength: must be a whole number from 0, not \"-1\""},
      {"T\n  f int32 min=x", "x.types, line 3: min: must be a number, not \"x\""},
      {"T\n  f [string] map(a)", "x.types, line 3: the list's items have no field \"a\", which is to be their key"},
      {"T\n  f [T] map(f,)", "x.types, line 3: map: keys are written map(key,key)"},
      {"T\n  f [T] set map(f)", "x.types, line 3: map: the list has a type already"},
      {"T\n  f time format=x", "x.types, line 3: format: the type has the format date-time already"},
      {"\"words\"",
       "x.types, line 2: words on a line of their own go on from those of the line above, and there are none"},
      {"use y", "x.types, line 2: it is written `package name` and `use alias name`"},
      {"T\n  f [[[[[[[[[[[[[[[[[string]]]]]]]]]]]]]]]]]", "x.types, line 3: types are nested deeper than 16"},
      {"T\n  f string \"\xff\"", "x.types: not UTF-8"},
  };
  for (const auto& [text, error] : rows) {
    const Result<TypeTable> table = ParseOne(text);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.error().message(), error) << text;
  }
  const Result<TypeTable> pattern = ParseOne("T\n  f string pattern=\"(\"");
  ASSERT_FALSE(pattern.ok());
  EXPECT_TRUE(pattern.error().message().starts_with("x.types, line 3: pattern: ")) << pattern.error().message();
}

TEST(TypeTextTest, RefusesDefaultsThatNeverEnd) {
  for (const std::string_view text : {"T\n  f T default={}", "T\n  f U default={}\nU\n  g [{T}] default=[{\"a\":{}}]",
                                      "S\n  t T default={}\nT\n  f U default={}\nU\n  g U default={}"}) {
    const Result<TypeTable> table = ParseOne(text);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_TRUE(table.error().message().ends_with(" gets itself by default, without end")) << table.error().message();
  }
  EXPECT_TRUE(ParseOne("T\n  f U default={}\n  g U default={}\nU\n  t T\n").ok());
}

TEST(TypeTextTest, HasLimits) {
  std::string values = "T\n  f int32 enum=0";
  for (size_t i = 1; i <= kEnumValuesMax; ++i) StrAppend(values, ",", i);
  std::string fields = "T\n";
  for (size_t i = 0; i < 1000; ++i) StrAppend(fields, "  f", i, " bool\n  u", i, " T nullable\n");
  const std::pair<std::string, std::string_view> rows[] = {
      {values, "x.types, line 3: enum: more than 1000 values"},
      {fields, "x.types, line 204: fields add something to named types that have, together, more than 200000 fields"},
      {std::string(kTypeTextBytesMax, '#'), "x.types: more than 4194304 bytes"},
  };
  for (const auto& [text, error] : rows) {
    const Result<TypeTable> table = ParseOne(text);
    ASSERT_FALSE(table.ok());
    EXPECT_EQ(table.error().message(), error);
  }
}

TEST(TypeTextTest, RefusesDocsOfNothing) {
  const TypeText types[] = {{"x.types", "package p\nT\n  f string\n"}};
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"package p\nT.g  Words.", "docs.txt, line 2: there is no p.T.g"},
      {"package p\nT.f  Words.\nT.f  More.", "docs.txt, line 3: p.T.f has words already"},
      {"T.f  Words.", "docs.txt, line 1: a doc line is a type or Type.field and words, below `package name`"},
      {"package p\nT.f", "docs.txt, line 2: a doc line is a type or Type.field and words, below `package name`"},
  };
  for (const auto& [text, error] : rows) {
    const TypeText docs[] = {{"docs.txt", text}};
    const Result<TypeTable> table = TypeTable::Parse(types, docs);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.error().message(), error) << text;
  }
}

}  // namespace
}  // namespace baton::api
