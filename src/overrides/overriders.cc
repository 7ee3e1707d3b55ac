// One rule's overriders in order.
#include "overrides/overriders.h"

#include <string_view>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "json/json_patch.h"
#include "json/pointer.h"
#include "overrides/reading.h"

namespace baton::overrides {
namespace {

// A plaintext item as an operation of JSON Patch. Karmada sends a value that is absent as null.
Result<json::Value> CompilePlaintext(const json::Value& item) {
  const Operator op = TRY(ReadOperator(item));
  const std::string_view path = TRY(ReadString(item, "path"));
  TRY(json::Pointer::Parse(path).Context("path"));
  if (op == Operator::kRemove) return json::Object({{"op", OperatorName(op)}, {"path", path}});
  return json::Object({{"op", OperatorName(op)}, {"path", path}, {"value", item["value"]}});
}

template <class T, class Apply>
Result<void> ApplyEach(const std::vector<T>& overriders, std::string_view key, const Apply& apply) {
  for (size_t i = 0; i < overriders.size(); ++i) {
    Result<void> applied = apply(overriders[i]);
    if (!applied.ok()) return applied.error().Context(IndexedName(key, i));
  }
  return {};
}

}  // namespace

Result<Overriders> Overriders::Compile(const json::Value& overriders) {
  if (!overriders.is_null() && !overriders.is_object()) return InvalidError("overriders must be an object");
  size_t count = 0;
  for (const json::Member& member : overriders.members()) count += member.value().size();
  if (count > kMaxOverriders) {
    return TooLargeError(StrCat(count, " overriders in one rule are more than the limit of ", kMaxOverriders));
  }
  Overriders compiled;
  compiled.image_ = TRY(ReadEach<ImageOverrider>(overriders, "imageOverrider", ImageOverrider::Compile));
  compiled.command_ = TRY(ReadEach<CommandOverrider>(overriders, "commandOverrider", CommandOverrider::Compile));
  compiled.args_ = TRY(ReadEach<CommandOverrider>(overriders, "argsOverrider", CommandOverrider::Compile));
  compiled.labels_ = TRY(ReadEach<MetadataOverrider>(overriders, "labelsOverrider", MetadataOverrider::Compile));
  compiled.annotations_ =
      TRY(ReadEach<MetadataOverrider>(overriders, "annotationsOverrider", MetadataOverrider::Compile));
  compiled.field_ = TRY(ReadEach<FieldOverrider>(overriders, "fieldOverrider", FieldOverrider::Compile));
  std::vector<json::Value> operations = TRY(ReadEach<json::Value>(overriders, "plaintext", CompilePlaintext));
  compiled.plaintext_ = json::ArrayBuilder::FromRange(operations);
  return compiled;
}

Result<void> Overriders::Apply(json::Value& object, Work& work) const {
  TRY(ApplyEach(image_, "imageOverrider", [&](const ImageOverrider& one) { return one.Apply(object, work); }));
  const auto command = [&](std::string_view field) {
    return [&object, &work, field](const CommandOverrider& one) { return one.Apply(object, field, work); };
  };
  TRY(ApplyEach(command_, "commandOverrider", command("command")));
  TRY(ApplyEach(args_, "argsOverrider", command("args")));
  const auto metadata = [&](std::string_view field) {
    return [&object, &work, field](const MetadataOverrider& one) { return one.Apply(object, field, work); };
  };
  TRY(ApplyEach(labels_, "labelsOverrider", metadata("labels")));
  TRY(ApplyEach(annotations_, "annotationsOverrider", metadata("annotations")));
  TRY(ApplyEach(field_, "fieldOverrider", [&](const FieldOverrider& one) { return one.Apply(object, work); }));
  return ApplyPlaintext(object, work);
}

Result<void> Overriders::ApplyPlaintext(json::Value& object, Work& work) const {
  if (plaintext_.empty()) return {};
  TRY(work.Charge(plaintext_.size() * kStepsPerOperation));
  json::Value patched = TRY(json::ApplyJsonPatch(object, plaintext_).Context("plaintext"));
  // What is not an object with a kind cannot be sent to a cluster, nor can the rules after this one read it.
  if (patched["kind"].str().empty()) return InvalidError("plaintext: the result is no object with a kind");
  if (!(patched == object)) object = std::move(patched);
  return {};
}

}  // namespace baton::overrides
