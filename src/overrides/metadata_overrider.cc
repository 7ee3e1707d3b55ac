// labelsOverrider and annotationsOverrider, made in one pass over the map.
#include "overrides/metadata_overrider.h"

#include "base/strings.h"
#include "json/object_edits.h"

namespace baton::overrides {

Result<MetadataOverrider> MetadataOverrider::Compile(const json::Value& item) {
  MetadataOverrider compiled;
  compiled.op_ = TRY(ReadOperator(item));
  compiled.values_ = *TRY(ReadObject(item, "value"));
  for (const json::Member& member : compiled.values_.members()) {
    if (!member.value().is_string()) {
      return InvalidError(
          StrCat("value of ", Quote(member.key()), " must be a string, not ", json::KindName(member.value().kind())));
    }
  }
  return compiled;
}

Result<void> MetadataOverrider::Apply(json::Value& object, std::string_view field, Work& work) const {
  const json::Value& metadata = object["metadata"];
  const json::Value map = metadata[field];
  const bool fits = (metadata.is_null() || metadata.is_object()) && (map.is_null() || map.is_object());
  if (!fits) return InvalidError(StrCat("/metadata/", field, ": must be an object"));
  TRY(work.Charge(values_.size() + map.size() / kBytesPerStep));
  json::ObjectEdits edits(map);
  for (const json::Member& member : values_.members()) {
    if (op_ != Operator::kAdd && edits.Find(member.key()) == nullptr) continue;
    if (op_ == Operator::kRemove) {
      edits.Erase(member.key());
    } else {
      edits.Set(member.key(), member.value());
    }
  }
  json::Value changed = std::move(edits).Finish();
  if (values_.empty() || changed == map || (map.is_null() && changed.empty())) return {};
  object.Edit("metadata").Set(field, std::move(changed));
  return {};
}

}  // namespace baton::overrides
