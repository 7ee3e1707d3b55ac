// The text form of patch schemas: types are declared in a first pass, so that fields may name types that come later.
#include "json/patch_schema.h"

#include <algorithm>

#include "base/strings.h"

namespace baton::json {
namespace {

struct Line {
  size_t number = 0;
  bool indented = false;
  std::vector<std::string_view> words;
};

std::vector<Line> WordsByLine(std::string_view text) {
  std::vector<Line> lines;
  size_t number = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    Line line{.number = ++number, .indented = raw.starts_with(' '), .words = {}};
    for (const std::string_view word : Split(raw.substr(0, raw.find('#')), ' ')) {
      if (!word.empty()) line.words.push_back(word);
    }
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

Error AtLine(const Line& line, std::string_view what) {
  return InvalidError(StrCat("patch schema, line ", line.number, ": ", what));
}

bool IsTypeName(std::string_view word) { return word.front() >= 'A' && word.front() <= 'Z'; }

// "merge(name),retainKeys" into the field.
Result<void> ReadStrategies(const Line& line, std::string_view word, PatchField& field) {
  for (std::string_view strategy : Split(word, ',')) {
    if (const size_t open = strategy.find('('); open != std::string_view::npos) {
      if (!strategy.ends_with(')') || strategy.substr(0, open) != "merge" || open + 2 >= strategy.size()) {
        return AtLine(line, StrCat("a merge key is written merge(key), not ", Quote(strategy)));
      }
      field.merge_key = strategy.substr(open + 1, strategy.size() - open - 2);
      strategy = strategy.substr(0, open);
    }
    bool& flag = strategy == "merge" ? field.merge : strategy == "replace" ? field.replace : field.retain_keys;
    if (strategy != "merge" && strategy != "replace" && strategy != "retainKeys") {
      return AtLine(line, StrCat("unknown patch strategy ", Quote(strategy)));
    }
    flag = true;
  }
  if (field.merge && field.replace) return AtLine(line, "a field cannot both merge and be replaced");
  return {};
}

}  // namespace

const PatchField* PatchSchema::Find(std::string_view field) const {
  const auto at = std::ranges::lower_bound(fields_, field, {}, &PatchField::name);
  return at != fields_.end() && at->name == field ? &*at : nullptr;
}

const PatchSchema* PatchSchemas::Find(std::string_view type) const {
  const auto name = [](const std::unique_ptr<PatchSchema>& schema) -> std::string_view { return schema->name(); };
  const auto at = std::ranges::lower_bound(types_, type, {}, name);
  return at != types_.end() && (*at)->name() == type ? at->get() : nullptr;
}

Result<PatchSchemas> PatchSchemas::Parse(std::string_view text) {
  const std::vector<Line> lines = WordsByLine(text);
  PatchSchemas schemas;
  std::vector<PatchSchema*> in_order;
  for (const Line& line : lines) {
    if (line.indented) continue;
    if (line.words.size() != 1 || !IsTypeName(line.words[0])) {
      return AtLine(line, "a type is one word that begins with an upper-case letter; its fields are indented");
    }
    schemas.types_.push_back(std::unique_ptr<PatchSchema>(new PatchSchema(line.words[0])));
    in_order.push_back(schemas.types_.back().get());
  }
  std::ranges::sort(schemas.types_, {}, [](const auto& schema) -> std::string_view { return schema->name(); });
  for (size_t i = 1; i < schemas.types_.size(); ++i) {
    if (schemas.types_[i - 1]->name() != schemas.types_[i]->name()) continue;
    return InvalidError(StrCat("patch schema: the type ", schemas.types_[i]->name(), " is given twice"));
  }

  size_t types_seen = 0;
  for (const Line& line : lines) {
    if (!line.indented) {
      ++types_seen;
      continue;
    }
    if (types_seen == 0) return AtLine(line, "a field before the first type");
    PatchField field;
    field.name = line.words[0];
    for (size_t i = 1; i < line.words.size(); ++i) {
      if (!IsTypeName(line.words[i])) {
        TRY(ReadStrategies(line, line.words[i], field));
        continue;
      }
      field.type = schemas.Find(line.words[i]);
      if (field.type == nullptr) return AtLine(line, StrCat("there is no type ", Quote(line.words[i])));
    }
    PatchSchema& type = *in_order[types_seen - 1];
    const auto at = std::ranges::lower_bound(type.fields_, field.name, {}, &PatchField::name);
    if (at != type.fields_.end() && at->name == field.name) {
      return AtLine(line, StrCat("the field ", Quote(field.name), " is given twice"));
    }
    type.fields_.insert(at, std::move(field));
  }
  return schemas;
}

}  // namespace baton::json
