// Reads builtin/protobuf.txt. It is part of the program: text that does not read is a broken build and ends the
// process.
#include "api/protobuf_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "api/builtin_texts.h"
#include "base/invariant.h"
#include "base/strings.h"

namespace baton::api::protobuf {
namespace {

constexpr std::string_view kAnyVersion = "*";

constexpr auto kTypeWords = std::to_array<std::pair<std::string_view, Type>>({
    {"string", Type::kString},
    {"bool", Type::kBool},
    {"int32", Type::kInt32},
    {"int64", Type::kInt64},
    {"double", Type::kDouble},
    {"bytes", Type::kBytes},
    {"quantity", Type::kQuantity},
    {"int-or-string", Type::kIntOrString},
    {"time", Type::kTime},
    {"micro-time", Type::kMicroTime},
    {"duration", Type::kDuration},
    {"json", Type::kJson},
});

constexpr auto kFormWords = std::to_array<std::pair<std::string_view, Form>>({
    {"list", Form::kList},
    {"or-array", Form::kOrArray},
    {"or-bool", Form::kOrBool},
    {"or-strings", Form::kOrStrings},
});

struct Table {
  std::vector<KindRow> kinds;
  std::map<std::string_view, Message> messages;  // nodes do not move: fields point at them
};

class Reader {
 public:
  Table Read(std::string_view text) {
    for (const std::string_view line : Split(text, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      const std::vector<std::string_view> words = Split(Trim(line), ' ');
      if (line.starts_with("  ")) {
        ReadField(line, words);
      } else if (words[0] == "kind") {
        INVARIANT(words.size() == 4, line);
        table_.kinds.push_back({.api_version = words[1], .kind = words[2], .message = Named(words[3])});
      } else {
        ReadHead(line, words);
      }
    }
    for (const auto& [name, message] : table_.messages) INVARIANT(seen_[name], name);
    return std::move(table_);
  }

 private:
  // A message may be named before its own lines come.
  Message* Named(std::string_view name) {
    Message& message = table_.messages[name];
    message.name = name;
    return &message;
  }

  void ReadHead(std::string_view line, const std::vector<std::string_view>& words) {
    current_ = Named(words[0]);
    INVARIANT(!std::exchange(seen_[words[0]], true) && words.size() <= 2, line);
    if (words.size() == 1) return;
    const auto* const form = std::ranges::find(kFormWords, words[1], &std::pair<std::string_view, Form>::first);
    INVARIANT(form != kFormWords.end(), line);
    current_->form = form->second;
  }

  void ReadField(std::string_view line, const std::vector<std::string_view>& words) {
    INVARIANT(current_ != nullptr && (words.size() == 3 || words.size() == 4), line);
    Field field;
    const auto [end, error] = std::from_chars(words[0].data(), words[0].data() + words[0].size(), field.number);
    INVARIANT(error == std::errc() && end == words[0].data() + words[0].size(), line);
    field.name = words[1];
    std::string_view type = words[2];
    if (type.starts_with("[]")) field.shape = Shape::kList;
    if (type.starts_with("{}")) field.shape = Shape::kMap;
    if (field.shape != Shape::kOne) type.remove_prefix(2);
    const auto* const word = std::ranges::find(kTypeWords, type, &std::pair<std::string_view, Type>::first);
    field.type = word == kTypeWords.end() ? Type::kMessage : word->second;
    if (field.type == Type::kMessage) field.message = Named(type);
    if (words.size() == 4) {
      field.keep = words[3] == "keep";
      field.inlined = words[3] == "inline";
      INVARIANT(field.keep || (field.inlined && field.type == Type::kMessage), line);
    }
    std::vector<Field>& fields = current_->fields;
    INVARIANT(fields.size() < kFieldsPerMessageMax, line);
    INVARIANT(fields.empty() || fields.back().number < field.number, line);
    fields.push_back(field);
  }

  Table table_;
  std::map<std::string_view, bool> seen_;  // heads that were read
  Message* current_ = nullptr;
};

const Table& TheTable() {
  static const Table* const table = [] {
    for (const TypeText& text : BuiltinTexts()) {
      if (text.name == "protobuf.txt") return new Table(Reader().Read(text.text));
    }
    InvariantBroken("protobuf.txt", "is not among the built-in texts");
  }();
  return *table;
}

}  // namespace

const Field* Message::Find(uint32_t number) const {
  const auto found = std::ranges::lower_bound(fields, number, {}, &Field::number);
  return found != fields.end() && found->number == number ? &*found : nullptr;
}

const Message* MessageOf(std::string_view api_version, std::string_view kind) {
  for (const KindRow& row : TheTable().kinds) {
    if (row.kind == kind && (row.api_version == api_version || row.api_version == kAnyVersion)) return row.message;
  }
  return nullptr;
}

std::span<const KindRow> Kinds() { return TheTable().kinds; }

}  // namespace baton::api::protobuf
