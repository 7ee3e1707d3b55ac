// Tables: column definitions, and cells found by JSONPath.
#include "apiserver/table.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/builtin_behaviour.h"
#include "base/strings.h"
#include "json/builder.h"
#include "json/jsonpath.h"
#include "json/rfc3339.h"

namespace baton::apiserver {
namespace {

using api::Column;
using api::ResourceType;
using json::ArrayBuilder;
using json::JsonPath;
using json::Object;
using json::Value;

constexpr size_t kMaxCachedPaths = 1024;
constexpr json::JsonPathOptions kCellLimits = {.max_results = 1U << 12, .max_steps = 1U << 16};

constexpr std::string_view kNameText = "The object's name, unique in its namespace.";
constexpr std::string_view kCreatedText = "When the server created the object.";
constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";
constexpr std::string_view kUnknownAge = "<unknown>";
constexpr std::string_view kInvalid = "<invalid>";
constexpr std::string_view kLongestAge = "292y";  // what a Go duration can hold

// The columns that come after Name, when cells() does not say them all.
std::vector<Column> ColumnsBelow(const ResourceType& type) {
  if (!type.columns.empty()) return type.columns;
  return {{.name = type.custom ? "Age" : "Created At",
           .type = "date",
           .format = {},
           .description = std::string(kCreatedText),
           .json_path = ".metadata.creationTimestamp"}};
}

Value Definition(const Column& column) {
  return Object({{"name", column.name},
                 {"type", column.type},
                 {"format", column.format},
                 {"description", column.description},
                 {"priority", column.priority}});
}

// Lists have thousands of rows and the same few paths. Null: the path cannot be read.
const JsonPath* PathOf(const std::string& text) {
  thread_local std::map<std::string, std::optional<JsonPath>, std::less<>> cache;
  if (const auto found = cache.find(text); found != cache.end()) return found->second ? &*found->second : nullptr;
  if (cache.size() >= kMaxCachedPaths) cache.clear();
  std::optional<JsonPath>& place = cache[text];
  if (Result<JsonPath> path = JsonPath::Parse(StrCat("{", text, "}")); path.ok()) place = *std::move(path);
  return place ? &*place : nullptr;
}

// As Go prints it.
Value TextOf(const Value& value) {
  if (value.is_string()) return value;
  if (value.is_null()) return "<no value>";
  static const std::string kValue = ".v";
  const JsonPath* whole = PathOf(kValue);
  Result<std::string> text = whole->Text(Object({{"v", value}}), kCellLimits);
  return text.ok() ? Value(*text) : Value();
}

std::string AgeOf(std::string_view text, WallTime now) {
  if (text.empty() || text == "null" || text == kZeroTime) return std::string(kUnknownAge);
  const Result<WallTime> time = json::ParseTime(text);
  if (time.ok()) return api::HumanAge(*time, now);
  // A time that a WallTime cannot hold lies centuries back or ahead; ahead is as invalid as no time at all.
  const bool long_ago = time.error().kind() == ErrorKind::kTooLarge && text < "1970";
  return std::string(long_ago ? kLongestAge : kInvalid);
}

// Go's encoding writes a whole double without a point.
Value GoNumber(double number) {
  constexpr double kMaxWhole = 9007199254740991.0;  // 2^53 - 1
  if (std::trunc(number) == number && std::abs(number) <= kMaxWhole) return static_cast<int64_t>(number);
  return number;
}

Value TypedCell(std::string_view type, const Value& value, WallTime now) {
  if (type == "string") return TextOf(value);
  if (type == "integer") {
    if (value.is_int()) return value;
    constexpr double kInt64Range = 9223372036854775808.0;  // 2^63
    const double number = value.number_or(kInt64Range);
    return std::abs(number) < kInt64Range ? Value(static_cast<int64_t>(number)) : Value();
  }
  if (type == "number") return value.is_number() ? GoNumber(value.number_or(0)) : Value();
  if (type == "boolean") return value.is_bool() ? value : Value();
  if (type == "date") return value.is_string() ? Value(AgeOf(value.str(), now)) : Value();
  return nullptr;
}

Value PathCell(const Column& column, const Value& object, WallTime now) {
  const JsonPath* path = column.json_path.empty() ? nullptr : PathOf(column.json_path);
  if (path == nullptr) return nullptr;
  const Result<std::vector<Value>> found = path->Values(object, kCellLimits);
  if (!found.ok() || found->empty()) return nullptr;
  return TypedCell(column.type, found->front(), now);
}

Value Cells(const ResourceType& type, const Value& object, WallTime now) {
  ArrayBuilder cells;
  if (type.cells != nullptr) {
    for (Value& cell : type.cells(object, now)) cells.Add(std::move(cell));
    return std::move(cells).Build();
  }
  cells.Add(object["metadata"]["name"].str());
  if (type.columns.empty() && !type.custom) {
    cells.Add(object["metadata"]["creationTimestamp"].str_or(kZeroTime));
  } else {
    for (const Column& column : ColumnsBelow(type)) cells.Add(PathCell(column, object, now));
  }
  return std::move(cells).Build();
}

}  // namespace

Value TableColumns(const ResourceType& type) {
  ArrayBuilder out;
  if (type.cells != nullptr) {
    for (const Column& column : type.columns) out.Add(Definition(column));
    return std::move(out).Build();
  }
  const Column name{.name = "Name", .format = "name", .description = std::string(kNameText), .json_path = {}};
  out.Add(Definition(name));
  for (Column& column : ColumnsBelow(type)) {
    if (column.description.empty()) {
      column.description = StrCat("Custom resource definition column (in JSONPath format): ", column.json_path);
    }
    out.Add(Definition(column));
  }
  return std::move(out).Build();
}

Value TableRow(const ResourceType& type, const Value& object, IncludeObject include, WallTime now,
               std::string_view meta_version) {
  Value shown;
  if (include == IncludeObject::kObject) shown = object;
  if (include == IncludeObject::kMetadata) shown = PartialMetadata(object, meta_version);
  return Object({{"cells", Cells(type, object, now)}, {"object", std::move(shown)}});
}

Value MakeTable(const ResourceType& type, std::string_view meta_version, const Value& list_metadata,
                std::span<const Value> rows, bool with_columns) {
  ArrayBuilder all;
  all.Reserve(rows.size());
  for (const Value& row : rows) all.Add(row);
  return Object({{"kind", "Table"},
                 {"apiVersion", StrCat("meta.k8s.io/", meta_version)},
                 {"metadata", list_metadata.is_object() ? list_metadata : Object()},
                 {"columnDefinitions", with_columns ? TableColumns(type) : Value()},
                 {"rows", std::move(all).Build()}});
}

Value PartialMetadata(const Value& object, std::string_view meta_version) {
  const Value& metadata = object["metadata"];
  return Object({{"kind", "PartialObjectMetadata"},
                 {"apiVersion", StrCat("meta.k8s.io/", meta_version)},
                 {"metadata", metadata.is_object() ? metadata : Object()}});
}

}  // namespace baton::apiserver
