#include "apiserver/table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apiserver/types_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using api::Column;
using api::ResourceType;
using json::Value;

constexpr WallTime kNow{seconds(1'000'000)};  // 1970-01-12T13:46:40Z

ResourceType Custom(std::vector<Column> columns) {
  ResourceType type = MakeType("acme.io", "v1", "Foo", "foos");
  type.custom = true;
  type.columns = std::move(columns);
  return type;
}

// Where we do not do what Kubernetes does.
bool DiffersOnPurpose(std::string_view type, const Value& value) {
  // Go's conversion of a double beyond int64 depends on the machine; we have no cell then.
  return type == "integer" && value.is_number() && !value.is_int() && value.number_or(0) > 1e19;
}

TEST(TableTest, CellsAreThoseOfApiextensions) {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/table.json");
  std::stringstream text;
  text << file.rdbuf();
  const Value golden = FromJson(text.str());
  EXPECT_GT(golden.size(), 150U);
  for (const Value& row : golden.items()) {
    const std::string_view type = row["type"].str();
    const ResourceType foo =
        Custom({{.name = "C", .type = std::string(type), .json_path = std::string(row["path"].str())}});
    const Value cell = TableRow(foo, row["object"], IncludeObject::kNone, kNow)["cells"][1];
    if (DiffersOnPurpose(type, row["object"]["spec"]["v"])) {
      EXPECT_TRUE(cell.is_null()) << row;
    } else if (cell.is_number() && row["cell"].is_number()) {
      EXPECT_EQ(cell.number_or(0), row["cell"].number_or(1)) << row;
    } else {
      EXPECT_EQ(cell, row["cell"]) << row;
    }
  }
}

TEST(TableTest, DatesAreAges) {
  const ResourceType foo = Custom({{.name = "When", .type = "date", .json_path = ".when"}});
  const auto age = [&](std::string_view when) {
    const Value object = json::Object({{"when", when}});
    return std::string(TableRow(foo, object, IncludeObject::kNone, kNow)["cells"][1].str());
  };
  EXPECT_EQ(age("1970-01-12T13:46:10Z"), "30s");
  EXPECT_EQ(age("1970-01-12T14:46:10+01:00"), "30s");
  EXPECT_EQ(age(""), "<unknown>");
  EXPECT_EQ(age("1500-01-01T00:00:00Z"), "292y");
  EXPECT_EQ(age("3000-01-01T00:00:00Z"), "<invalid>");
  EXPECT_EQ(age("yesterday"), "<invalid>");
}

TEST(TableTest, CustomResourcesHaveANameAndAnAge) {
  const ResourceType foo = Custom({});
  const Value columns = TableColumns(foo);
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0]["name"], "Name");
  EXPECT_EQ(columns[0]["type"], "string");
  EXPECT_EQ(columns[0]["format"], "name");
  EXPECT_EQ(columns[0]["priority"], 0);
  EXPECT_EQ(columns[1]["name"], "Age");
  EXPECT_EQ(columns[1]["type"], "date");
  EXPECT_EQ(columns[1]["format"], "");
  const Value object = FromJson(R"({"metadata":{"name":"a","creationTimestamp":"1970-01-12T13:46:10Z"}})");
  EXPECT_EQ(TableRow(foo, object, IncludeObject::kNone, kNow), FromJson(R"({"cells":["a","30s"],"object":null})"));
  EXPECT_EQ(TableRow(foo, Value(), IncludeObject::kNone, kNow), FromJson(R"({"cells":["",null],"object":null})"));
}

TEST(TableTest, BuiltInKindsWithoutColumnsHaveANameAndATime) {
  const ResourceType type = MakeType("", "v1", "Thing", "things");
  EXPECT_EQ(TableColumns(type)[1]["name"], "Created At");
  EXPECT_EQ(TableColumns(type)[1]["type"], "date");
  const Value object = FromJson(R"({"metadata":{"name":"a","creationTimestamp":"1970-01-12T13:46:10Z"}})");
  EXPECT_EQ(TableRow(type, object, IncludeObject::kNone, kNow)["cells"], FromJson(R"(["a","1970-01-12T13:46:10Z"])"));
  EXPECT_EQ(TableRow(type, Value(), IncludeObject::kNone, kNow)["cells"], FromJson(R"(["","0001-01-01T00:00:00Z"])"));
}

TEST(TableTest, ColumnsSayWhereTheyComeFrom) {
  const ResourceType foo = Custom({{.name = "Phase", .priority = 1, .json_path = ".status.phase"},
                                   {.name = "N", .type = "integer", .format = "int32", .description = "how many"}});
  EXPECT_EQ(TableColumns(foo)[1], FromJson(R"({"name":"Phase","type":"string","format":"","priority":1,
      "description":"Custom resource definition column (in JSONPath format): .status.phase"})"));
  EXPECT_EQ(TableColumns(foo)[2], FromJson(R"({"name":"N","type":"integer","format":"int32","priority":0,
      "description":"how many"})"));
}

TEST(TableTest, TypesWithCellsSayAllTheirColumns) {
  ResourceType type = MakeType("", "v1", "Event", "events");
  type.columns = {{.name = "Reason"}, {.name = "Name", .format = "name"}};
  type.cells = [](const Value& object, WallTime now) -> std::vector<Value> {
    return {object["reason"], StrCat(now.time_since_epoch().count() > 0 ? object["metadata"]["name"].str() : "")};
  };
  ASSERT_EQ(TableColumns(type).size(), 2U);
  EXPECT_EQ(TableColumns(type)[0]["name"], "Reason");
  EXPECT_EQ(TableRow(type, FromJson(R"({"reason":"Started","metadata":{"name":"e"}})"), IncludeObject::kNone, kNow),
            FromJson(R"({"cells":["Started","e"],"object":null})"));
}

TEST(TableTest, RowsHaveTheObjectOrItsMetadata) {
  const ResourceType foo = Custom({});
  const Value object = FromJson(R"({"kind":"Foo","metadata":{"name":"a","labels":{"x":"y"}},"spec":1})");
  EXPECT_EQ(TableRow(foo, object, IncludeObject::kObject, kNow)["object"], object);
  EXPECT_EQ(TableRow(foo, object, IncludeObject::kMetadata, kNow)["object"],
            FromJson(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",
                         "metadata":{"name":"a","labels":{"x":"y"}}})"));
  EXPECT_EQ(TableRow(foo, object, IncludeObject::kMetadata, kNow, "v1beta1")["object"]["apiVersion"],
            "meta.k8s.io/v1beta1");
  EXPECT_EQ(PartialMetadata(Value(), "v1")["metadata"], json::Object());
}

TEST(TableTest, ATableHasColumnsRowsAndTheListsMetadata) {
  const ResourceType foo = Custom({});
  const std::vector<Value> rows = {FromJson(R"({"cells":["a"]})"), FromJson(R"({"cells":["b"]})")};
  const Value metadata = FromJson(R"({"resourceVersion":"7","continue":"c"})");
  const Value table = MakeTable(foo, "v1beta1", metadata, rows, true);
  EXPECT_EQ(table["kind"], "Table");
  EXPECT_EQ(table["apiVersion"], "meta.k8s.io/v1beta1");
  EXPECT_EQ(table["metadata"], metadata);
  EXPECT_EQ(table["columnDefinitions"], TableColumns(foo));
  EXPECT_EQ(table["rows"], FromJson(R"([{"cells":["a"]},{"cells":["b"]}])"));
  const Value bare = MakeTable(foo, "v1", Value(), {}, false);
  EXPECT_EQ(bare, FromJson(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":[],
                               "columnDefinitions":null})"));
}

TEST(TableTest, ABadPathHasNoCells) {
  const ResourceType foo = Custom({{.name = "C", .json_path = ".a["}, {.name = "D", .json_path = ""}});
  EXPECT_EQ(TableRow(foo, FromJson(R"({"a":1})"), IncludeObject::kNone, kNow)["cells"], FromJson(R"(["",null,null])"));
}

}  // namespace
}  // namespace baton::apiserver
