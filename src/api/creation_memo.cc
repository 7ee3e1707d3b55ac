// Shapes of created objects, and what their creators own.
#include "api/creation_memo.h"

#include <utility>

#include "json/builder.h"
#include "json/measure.h"
#include "json/rfc3339.h"

namespace baton::api {
namespace {

using json::Value;

const Value* Below(const Value* before, std::string_view key) {
  return before == nullptr ? nullptr : before->Find(key);
}

// Whether the value itself says who owns what: an item is named by what is in it, and a field that was there before is
// owned by who changes it.
bool CountsWithItsValue(const Value& value, const Value* before) {
  return value.is_array() || (before != nullptr && !before->is_object());
}

// As deep as the object, which TrackUpdate took.
Value ShapeOf(const Value& value, const Value* before) {
  if (CountsWithItsValue(value, before)) return value;
  if (value.is_string()) return "";
  if (!value.is_object()) return value;
  json::ObjectBuilder shape;
  for (const json::Member& member : value.members()) {
    shape.Add(member.key(), ShapeOf(member.value(), Below(before, member.key())));
  }
  return std::move(shape).Build();
}

bool HasShape(const Value& value, const Value& shape, const Value* before) {
  if (value.kind() != shape.kind()) return false;
  if (CountsWithItsValue(value, before)) return value == shape;
  if (!value.is_object()) return true;
  const auto x = value.members();
  const auto y = shape.members();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].key() != y[i].key()) return false;
    if (!HasShape(x[i].value(), y[i].value(), Below(before, x[i].key()))) return false;
  }
  return true;
}

}  // namespace

Result<Value> CreationMemo::Track(const Value& before, Value next, const SchemaPtr& schema,
                                  const FieldManager& manager) {
  // Who brings managedFields along starts from those.
  if (!next["metadata"].is_object() || next["metadata"].Has("managedFields")) {
    return TrackUpdate(before, std::move(next), *schema, manager);
  }
  const Value* there = before.is_null() ? nullptr : &before;
  for (auto known = newest_first_.begin(); known != newest_first_.end(); ++known) {
    if (known->schema != schema || known->api_version != manager.api_version ||
        known->subresource != manager.subresource || known->reset_fields != manager.reset_fields ||
        known->before != before || !HasShape(next, known->object, there)) {
      continue;
    }
    Value entry = known->entry;
    entry.Set("manager", manager.name.empty() ? "unknown" : manager.name);
    entry.Set("time", json::FormatTime(manager.now));
    next.Edit("metadata").Set("managedFields", json::Array({std::move(entry)}));
    newest_first_.splice(newest_first_.begin(), newest_first_, known);
    ++hits_;
    return next;
  }
  Value tracked = TRY(TrackUpdate(before, next, *schema, manager));
  const Value& entries = tracked["metadata"]["managedFields"];
  if (entries.size() != 1) return tracked;
  Remember({.schema = schema,
            .api_version = manager.api_version,
            .subresource = manager.subresource,
            .reset_fields = manager.reset_fields,
            .before = before,
            .object = ShapeOf(next, there),
            .entry = entries[0]});
  return tracked;
}

void CreationMemo::Remember(Shape shape) {
  if (json::Measure(shape.object, kShapeBytesMax).bytes > kShapeBytesMax) return;
  newest_first_.push_front(std::move(shape));
  if (newest_first_.size() > kShapesRemembered) newest_first_.pop_back();
}

}  // namespace baton::api
