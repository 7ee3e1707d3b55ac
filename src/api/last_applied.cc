// The last-applied-configuration annotation: reading what it owns, and keeping it fresh.
#include "api/last_applied.h"

#include "json/go_text.h"
#include "json/parse.h"

namespace baton::api {

using json::Value;

FieldSet LastAppliedFields(const Value& live, const TypeRef& type, std::string_view api_version) {
  const std::string_view text = live["metadata"]["annotations"][kLastAppliedAnnotation].str();
  if (text.empty()) return {};
  const Result<Value> last = json::Parse(text);
  if (!last.ok() || (*last)["apiVersion"].str() != api_version || !CheckTyped(*last, type, false).ok()) return {};
  const Comparison since = TypedCompare(*last, live, type);
  return TypedFields(*last, type).Difference(since.modified).Difference(since.added).Difference(since.removed);
}

void RefreshLastApplied(const Value& config, Value& object) {
  if (object["metadata"]["annotations"][kLastAppliedAnnotation].str().empty()) return;
  Value shown = config;
  if (shown["metadata"]["annotations"].Has(kLastAppliedAnnotation)) {
    shown.Edit("metadata").Edit("annotations").Erase(kLastAppliedAnnotation);
  }
  std::string text;
  if (!json::AppendGoJson(text, shown).ok()) return;
  text += '\n';
  Value& annotations = object.Edit("metadata").Edit("annotations");
  annotations.Set(kLastAppliedAnnotation, text);
  size_t bytes = 0;
  for (const json::Member& member : annotations.members()) bytes += member.key().size() + member.value().str().size();
  if (bytes > kAnnotationsBytesMax) annotations.Erase(kLastAppliedAnnotation);
}

}  // namespace baton::api
