// Pruning: a walk that returns what changed, so that everything else keeps its storage.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/field_errors.h"
#include "api/schema.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/beside.h"
#include "json/object_edits.h"
#include "json/parse.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

bool IsMetaField(std::string_view key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

// No type, no fields: built-in raw extensions and `additionalProperties: true`.
bool AnythingGoes(const Schema& schema) {
  return schema.type == SchemaType::kAny && schema.properties.empty() && schema.additional_properties == nullptr &&
         schema.items == nullptr;
}

class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* unknown) : unknown_(unknown) {}

  // The value without its unknown fields; nothing when there are none. A null schema knows no field. `keep` is that an
  // array around this value keeps what is unknown.
  std::optional<Value> Pruned(const Value& value, const Schema* schema, bool keep, bool root, const Value* settled) {
    if (settled != nullptr && settled->SharesStorageWith(value)) return std::nullopt;
    if (schema != nullptr) {
      keep = keep || schema->preserve_unknown_fields;
      if (!keep && AnythingGoes(*schema)) return std::nullopt;
    } else if (keep) {
      return std::nullopt;
    }
    if (depth_ >= json::kMaxDepth) return std::nullopt;
    ++depth_;
    std::optional<Value> out;
    if (value.is_object()) out = PrunedObject(value, schema, keep, root, settled);
    if (value.is_array()) out = PrunedArray(value, schema, keep, settled);
    --depth_;
    return out;
  }

 private:
  std::optional<Value> PrunedObject(const Value& object, const Schema* schema, bool keep, bool root,
                                    const Value* settled) {
    std::optional<json::ObjectEdits> edits;
    json::Beside beside(settled);
    for (const Member& member : object.members()) {
      const std::string_view key = member.key();
      if (schema != nullptr && (schema->embedded_resource || root) && IsMetaField(key)) continue;
      const Value* same = beside.At(key);
      if (same != nullptr && same->SharesStorageWith(member.value())) continue;
      const Schema* property = schema != nullptr ? schema->Property(key) : nullptr;
      if (property == nullptr) {
        if (keep) continue;
        if (!edits) edits.emplace(object);
        edits->Erase(key);
        if (unknown_ != nullptr && told_ < kUnknownFieldsMax) {
          ++told_;
          unknown_->push_back(Place(key));
        }
        continue;
      }
      if (!member.value().is_object() && !member.value().is_array()) continue;
      const size_t length = path_.size();
      if (unknown_ != nullptr) StrAppend(path_, path_.empty() ? "" : ".", key);
      std::optional<Value> pruned = Pruned(member.value(), property, false, false, same);
      path_.resize(length);
      if (!pruned) continue;
      if (!edits) edits.emplace(object);
      edits->Set(key, *std::move(pruned));
    }
    if (!edits) return std::nullopt;
    return std::move(*edits).Finish();
  }

  std::optional<Value> PrunedArray(const Value& array, const Schema* schema, bool keep, const Value* settled) {
    std::optional<Value> out;
    const Schema* items = schema != nullptr ? schema->items.get() : nullptr;
    for (size_t i = 0; i < array.size(); ++i) {
      if (!array[i].is_object() && !array[i].is_array()) continue;
      const size_t length = path_.size();
      if (unknown_ != nullptr) StrAppend(path_, "[", i, "]");
      std::optional<Value> pruned = Pruned(array[i], items, keep, false, json::ItemBeside(settled, i));
      path_.resize(length);
      if (!pruned) continue;
      if (!out) out = array;
      out->Edit(i) = *std::move(pruned);
    }
    return out;
  }

  std::string Place(std::string_view key) const {
    key = Utf8Prefix(key, kShownPathBytesMax);
    if (path_.empty()) return std::string(key);
    const std::string place = StrCat(Utf8Prefix(path_, kShownPathBytesMax), ".", key);
    return std::string(Utf8Prefix(place, kShownPathBytesMax));
  }

  std::vector<std::string>* unknown_;
  std::string path_;  // of the value at hand; kept only when unknown_ is given
  size_t told_ = 0;
  size_t depth_ = 0;
};

}  // namespace

void Prune(Value& value, const Schema& schema, std::vector<std::string>* unknown, const Value* settled) {
  const size_t before = unknown != nullptr ? unknown->size() : 0;
  std::optional<Value> pruned = Pruner(unknown).Pruned(value, &schema, false, true, settled);
  if (pruned) value = *std::move(pruned);
  if (unknown != nullptr) std::sort(unknown->begin() + static_cast<std::ptrdiff_t>(before), unknown->end());
}

}  // namespace baton::api
