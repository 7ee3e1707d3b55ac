// commandOverrider and argsOverrider.
#include "overrides/command_overrider.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "json/pointer.h"
#include "overrides/containers.h"

namespace baton::overrides {

Result<CommandOverrider> CommandOverrider::Compile(const json::Value& item) {
  CommandOverrider compiled;
  compiled.container_ = TRY(ReadRequiredString(item, "containerName"));
  compiled.op_ = TRY(ReadOperator(item));
  if (compiled.op_ == Operator::kReplace) return InvalidError("operator must be add or remove, not \"replace\"");
  compiled.words_ = TRY(ReadStrings(item, "value"));
  if (compiled.op_ == Operator::kRemove) std::ranges::sort(compiled.words_);
  return compiled;
}

Result<void> CommandOverrider::Apply(json::Value& object, std::string_view field, Work& work) const {
  const json::Pointer* path = ContainersOf(object);
  if (path == nullptr) return {};
  const size_t count = TRY(ReadContainers(object, *path)).size();
  TRY(work.Charge(count));
  for (size_t i = 0; i < count; ++i) {
    const json::Value& container = json::Find(object, *path)->items()[i];
    if (container["name"].str() != container_) continue;
    const json::Value& words = container[field];
    const json::Pointer at = path->Child(i).Child(field);
    if (!words.is_null() && !words.is_array()) return InvalidError(StrCat(at.ToString(), ": must be a list"));
    TRY(work.Charge((words.size() + words_.size()) / kBytesPerStep));
    if (std::optional<json::Value> changed = Changed(words)) TRY(json::AddAt(object, at, *std::move(changed)));
  }
  return {};
}

std::optional<json::Value> CommandOverrider::Changed(const json::Value& words) const {
  json::ArrayBuilder builder;
  builder.Reserve(words.size() + words_.size());
  for (const json::Value& word : words.items()) {
    if (op_ == Operator::kRemove && word.is_string() && std::ranges::binary_search(words_, word.str())) continue;
    builder.Add(word);
  }
  if (op_ == Operator::kAdd) {
    for (const std::string& word : words_) builder.Add(word);
  }
  if (builder.size() == words.size()) return std::nullopt;
  return std::move(builder).Build();
}

}  // namespace baton::overrides
