// Defaulting: like pruning, a walk that returns what changed.
#include <optional>
#include <utility>

#include "api/schema.h"
#include "json/beside.h"
#include "json/object_edits.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

// A null that counts as absent. Where anything goes, null does too.
bool IsUnwantedNull(const Value& value, const Schema& schema) {
  const bool raw = schema.type == SchemaType::kAny && !schema.preserve_unknown_fields;
  return value.is_null() && !schema.nullable && !raw;
}

class Defaulter {
 public:
  // The value with its defaults; nothing when none is missing.
  std::optional<Value> Defaulted(const Value& value, const Schema& schema, const Value* settled = nullptr) {
    if (settled != nullptr && settled->SharesStorageWith(value)) return std::nullopt;
    if (depth_ >= json::kMaxDepth) return std::nullopt;
    ++depth_;
    std::optional<Value> out;
    if (value.is_object()) out = DefaultedObject(value, schema, settled);
    if (value.is_array() && schema.items != nullptr) out = DefaultedArray(value, *schema.items, settled);
    --depth_;
    return out;
  }

 private:
  std::optional<Value> DefaultedObject(const Value& object, const Schema& schema, const Value* settled) {
    json::Beside beside(settled);
    json::ObjectEdits edits(object);
    bool changed = false;
    const auto set = [&](std::string_view key, Value value) {
      edits.Set(key, std::move(value));
      changed = true;
    };
    for (const auto& [key, property] : schema.properties) {
      if (property->default_value && !object.Has(key)) set(key, WithDefaults(*property->default_value, *property));
    }
    for (const Member& member : object.members()) {
      const Value* same = beside.At(member.key());
      if (same != nullptr && same->SharesStorageWith(member.value())) continue;
      const Schema* property = schema.Property(member.key());
      if (property == nullptr) continue;
      if (!IsUnwantedNull(member.value(), *property)) {
        if (std::optional<Value> inner = Defaulted(member.value(), *property, same))
          set(member.key(), *std::move(inner));
      } else if (property->default_value) {
        set(member.key(), WithDefaults(*property->default_value, *property));
      } else {
        edits.Erase(member.key());
        changed = true;
      }
    }
    if (!changed) return std::nullopt;
    return std::move(edits).Finish();
  }

  // A null item is replaced by a default but never removed: that would move the others.
  std::optional<Value> DefaultedArray(const Value& array, const Schema& items, const Value* settled) {
    std::optional<Value> out;
    for (size_t i = 0; i < array.size(); ++i) {
      std::optional<Value> item;
      if (!IsUnwantedNull(array[i], items)) {
        item = Defaulted(array[i], items, json::ItemBeside(settled, i));
      } else if (items.default_value) {
        item = WithDefaults(*items.default_value, items);
      }
      if (!item) continue;
      if (!out) out = array;
      out->Edit(i) = *std::move(item);
    }
    return out;
  }

  Value WithDefaults(const Value& value, const Schema& schema) {
    std::optional<Value> inner = Defaulted(value, schema);
    return inner ? *std::move(inner) : value;
  }

  size_t depth_ = 0;
};

}  // namespace

void ApplyDefaults(Value& value, const Schema& schema, const Value* settled) {
  if (std::optional<Value> out = Defaulter().Defaulted(value, schema, settled)) value = *std::move(out);
}

}  // namespace baton::api
