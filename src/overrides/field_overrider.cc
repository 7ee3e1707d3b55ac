// fieldOverrider: JSON Patch inside a text.
#include "overrides/field_overrider.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "json/json_patch.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/yaml_edit.h"
#include "overrides/reading.h"

namespace baton::overrides {
namespace {

Result<json::Value> CompileOperation(const json::Value& item) {
  const Operator op = TRY(ReadOperator(item));
  const std::string_view path = TRY(ReadString(item, "subPath"));
  TRY(json::Pointer::Parse(path).Context("subPath"));
  if (op == Operator::kRemove) return json::Object({{"op", OperatorName(op)}, {"path", path}});
  const json::Value* value = item.Find("value");
  if (value == nullptr) return InvalidError(StrCat("value is missing, which ", OperatorName(op), " needs"));
  return json::Object({{"op", OperatorName(op)}, {"path", path}, {"value", *value}});
}

// `text`, a JSON document, patched. Objects and lists keep their layout; of other values there is nothing to keep.
Result<std::string> PatchJsonText(std::string_view text, const json::Value& patch) {
  const json::Value document = TRY(json::Parse(text));
  if (!document.is_object() && !document.is_array()) return json::Print(TRY(json::ApplyJsonPatch(document, patch)));
  // The editor reads what it edits with the rules of YAML; where the two readings differ, the text is printed anew.
  Result<std::string> edited = json::EditYamlText(
      text, [&](const json::Value& read) -> Result<json::Value> { return json::ApplyJsonPatch(read, patch); });
  const json::Value wanted = TRY(json::ApplyJsonPatch(document, patch));
  if (edited.ok()) {
    const Result<json::Value> read_back = json::Parse(*edited);
    if (read_back.ok() && *read_back == wanted) return edited;
  }
  return json::Print(wanted);
}

}  // namespace

Result<FieldOverrider> FieldOverrider::Compile(const json::Value& item) {
  FieldOverrider compiled;
  compiled.path_ = TRY(json::Pointer::Parse(TRY(ReadRequiredString(item, "fieldPath"))).Context("fieldPath"));
  std::vector<json::Value> in_json = TRY(ReadEach<json::Value>(item, "json", CompileOperation));
  std::vector<json::Value> in_yaml = TRY(ReadEach<json::Value>(item, "yaml", CompileOperation));
  if (!in_json.empty() && !in_yaml.empty()) return InvalidError("json and yaml exclude each other");
  compiled.is_json_ = !in_json.empty();
  compiled.patch_ = json::ArrayBuilder::FromRange(compiled.is_json_ ? in_json : in_yaml);
  return compiled;
}

Result<void> FieldOverrider::Apply(json::Value& object, Work& work) const {
  if (patch_.empty()) return {};
  const std::string where = path_.ToString();
  const json::Value field = *TRY(json::FindOrExplain(object, path_).Context(where));
  if (!field.is_string()) {
    return InvalidError(StrCat(where, ": must be a string with a document in it, not ", KindName(field.kind())));
  }
  const std::string_view text = field.str();
  const auto too_long = [&] {
    return TooLargeError(StrCat(where, ": the text is longer than the limit of ", kMaxFieldBytes, " bytes"));
  };
  if (text.size() > kMaxFieldBytes) return too_long();
  TRY(work.Charge(patch_.size() * kStepsPerOperation + text.size() / kBytesPerStep));
  const std::string edited =
      is_json_ ? TRY(PatchJsonText(text, patch_).Context(where))
               : TRY(json::EditYamlText(text, [&](const json::Value& document) -> Result<json::Value> {
                       return json::ApplyJsonPatch(document, patch_);
                     }).Context(where));
  if (edited.size() > kMaxFieldBytes) return too_long();
  TRY(work.Charge(edited.size() / kBytesPerStep));
  if (edited == text) return {};
  return json::ReplaceAt(object, path_, edited).Context(where);
}

}  // namespace baton::overrides
