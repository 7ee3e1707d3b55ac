// Reading type text: first every declaration and field is read, with references left open; then they are tied, and last
// the fields that add something to a named type get their own copies of its node.
#include "api/type_text.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "api/type_text_attributes.h"
#include "api/type_text_defaults.h"
#include "api/type_text_line.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton::api {

struct TypeTable::Nodes {
  std::deque<Schema> all;  // addresses stay
  NamedTypes named;
};

namespace {

struct TypeWord {
  std::string_view word;
  SchemaType type;
  std::string_view format;
};

constexpr TypeWord kTypeWords[] = {
    {"string", SchemaType::kString, ""},
    {"bytes", SchemaType::kString, "byte"},
    {"time", SchemaType::kString, "date-time"},
    {"int32", SchemaType::kInteger, "int32"},
    {"int64", SchemaType::kInteger, "int64"},
    {"integer", SchemaType::kInteger, ""},
    {"float", SchemaType::kNumber, "float"},
    {"double", SchemaType::kNumber, "double"},
    {"number", SchemaType::kNumber, ""},
    {"bool", SchemaType::kBoolean, ""},
    {"int-or-string", SchemaType::kIntOrString, ""},
    {"quantity", SchemaType::kIntOrString, "quantity"},
    {"object", SchemaType::kObject, ""},
    {"any", SchemaType::kAny, ""},
};

// A pointer that owns nothing: the table does.
SchemaPtr Unowned(const Schema* schema) { return {SchemaPtr(), schema}; }

bool IsUpper(std::string_view word) { return !word.empty() && word.front() >= 'A' && word.front() <= 'Z'; }

bool IsName(std::string_view word) { return word.find_first_of("\"[]{}()=,") == std::string_view::npos; }

}  // namespace

class TypeTextReader {
 public:
  explicit TypeTextReader(const TypeTable* known) : known_(known) {}

  Result<void> ReadDocs(const TypeText& text) {
    std::string package;
    return EachLine(text, [&](TypeLine line, std::string_view raw) -> Result<void> {
      const std::string_view trimmed = Trim(raw);
      if (trimmed.starts_with("package ")) {
        package = Trim(trimmed.substr(8));
        return {};
      }
      const size_t space = trimmed.find(' ');
      if (package.empty() || space == std::string_view::npos) {
        return line.Wrong("a doc line is a type or Type.field and words, below `package name`");
      }
      const std::string_view name = trimmed.substr(0, space);
      const auto [at, added] = docs_.emplace(name.starts_with("*.") ? std::string(name) : StrCat(package, ".", name),
                                             Doc{line, std::string(Trim(trimmed.substr(space))), false});
      return added ? Result<void>() : line.Wrong(StrCat(at->first, " has words already"));
    });
  }

  Result<void> ReadTypes(const TypeText& text) {
    package_.clear();
    uses_.clear();
    type_ = nullptr;
    words_ = nullptr;
    return EachLine(text, [&](TypeLine line, std::string_view raw) -> Result<void> {
      if (line.Peek() == '"') {
        if (words_ == nullptr)
          return line.Wrong("words on a line of their own go on from those of the line above, and there are none");
        StrAppend(*words_, words_->empty() ? "" : " ", TRY(line.Quoted()));
        return line.AtEnd() ? Result<void>() : line.Wrong("nothing may follow the words");
      }
      return raw.front() == ' ' ? ReadField(line) : ReadHead(line);
    });
  }

  Result<TypeTable> Tie() && {
    for (Reference& reference : references_) TRY(Resolve(reference));
    size_t copied = 0;
    for (const Reference& reference : references_) {
      if (reference.use == nullptr) continue;
      copied += reference.named->properties.size();
      if (copied > kCopiedFieldsMax) {
        return reference.line.Wrong(
            StrCat("fields add something to named types that have, together, more than ", kCopiedFieldsMax, " fields"));
      }
      FillUse(reference);
    }
    for (const KeyedList& list : keyed_) TRY(CheckKeys(list));
    TRY(CheckThatDefaultsEnd(nodes_->named));
    for (const auto& [name, doc] : docs_) {
      if (!doc.used) return doc.line.Wrong(StrCat("there is no ", name));
    }
    return TypeTable(std::move(nodes_));
  }

 private:
  struct Doc {
    TypeLine line;
    std::string words;
    bool used = false;
  };
  struct Reference {
    TypeLine line;
    std::string name;
    SchemaPtr* where = nullptr;
    Schema* use = nullptr;  // what the field adds; null when nothing
    std::optional<MapType> map_type;
    const Schema* named = nullptr;
  };
  struct KeyedList {
    TypeLine line;
    const Schema* list = nullptr;
  };

  template <class Function>
  static Result<void> EachLine(const TypeText& text, const Function& function) {
    if (text.text.size() > kTypeTextBytesMax)
      return TooLargeError(StrCat(text.name, ": more than ", kTypeTextBytesMax, " bytes"));
    if (!IsUtf8(text.text)) return InvalidError(StrCat(text.name, ": not UTF-8"));
    size_t number = 0;
    for (const std::string_view raw : Split(text.text, '\n')) {
      TypeLine line(text.name, ++number, raw);
      if (!line.AtEnd()) TRY(function(line, raw));
    }
    return {};
  }

  Schema* NewNode() {
    if (spare_ != nullptr) {
      *spare_ = Schema();
      return std::exchange(spare_, nullptr);
    }
    return &nodes_->all.emplace_back();
  }

  // ---- lines that are not indented ----

  Result<void> ReadHead(TypeLine& line) {
    const std::string_view word = TRY(line.Word());
    if (word == "package" || word == "use") return ReadPackage(line, word == "use");
    type_ = nullptr;
    words_ = nullptr;
    if (!IsUpper(word) || !IsName(word)) {
      return line.Wrong(
          StrCat("a type's name begins with an upper-case letter, not ", Quote(word), "; fields are indented"));
    }
    if (package_.empty()) return line.Wrong("a type before the first `package name`");
    const std::string name = StrCat(package_, ".", word);
    Schema* schema = NewNode();
    if (!nodes_->named.emplace(name, schema).second) return line.Wrong(StrCat("the type ", word, " is given twice"));
    schema->name = name;
    const bool alias = line.Take('=');
    if (!alias) {
      schema->type = SchemaType::kObject;
    } else if (!TRY(ReadType(line, *schema, 0)).empty()) {
      return line.Wrong("a named type cannot stand for another one");
    }
    TypeAttributes attributes;
    TRY(ReadAttributes(line, false, *schema, attributes));
    if (attributes.required) return line.Wrong("a type is not required; fields are");
    if (!line.AtEnd()) return line.Wrong("nothing may follow the words");
    TakeDoc(name, *schema);
    if (schema->list_type == ListType::kMap) keyed_.push_back({line, schema});
    words_ = &schema->description;
    if (!alias) type_ = schema;
    return {};
  }

  Result<void> ReadPackage(TypeLine& line, bool use) {
    const std::string_view alias = use ? TRY(line.Word()) : "package";
    const std::string_view name = TRY(line.Word());
    if (alias.empty() || name.empty() || !IsName(alias) || !IsName(name) || !line.AtEnd()) {
      return line.Wrong("it is written `package name` and `use alias name`");
    }
    type_ = nullptr;
    words_ = nullptr;
    if (use) {
      uses_[std::string(alias)] = name;
    } else {
      package_ = name;
      uses_.clear();
    }
    return {};
  }

  // ---- fields ----

  Result<void> ReadField(TypeLine& line) {
    const std::string_view name = TRY(line.Word());
    if (name.empty() || !IsName(name)) return line.Wrong("a field begins with its name");
    if (type_ == nullptr) return line.Wrong(StrCat("the field ", Quote(name), " stands below no type with fields"));
    const auto [slot, added] = type_->properties.try_emplace(std::string(name));
    if (!added) return line.Wrong(StrCat("the field ", Quote(name), " is given twice"));
    TypeAttributes attributes;
    words_ = nullptr;
    const std::string path = StrCat(type_->name, ".", name);
    TRY(ReadInto(line, slot->second, attributes, path, 0));
    if (!line.AtEnd()) return line.Wrong("nothing may follow the words");
    if (attributes.required) type_->required.emplace_back(name);
    return {};
  }

  // A type with its attributes, into a place that holds a pointer. `path` is the field's, for its doc; empty for items.
  Result<void> ReadInto(TypeLine& line, SchemaPtr& slot, TypeAttributes& attributes, const std::string& path,
                        size_t depth) {
    Schema* node = NewNode();
    std::string reference = TRY(ReadType(line, *node, depth));
    TRY(ReadAttributes(line, !reference.empty(), *node, attributes));
    if (!path.empty()) TakeDoc(path, *node);
    const bool own_words = !node->description.empty();
    if (reference.empty()) {
      slot = Unowned(attributes.any || own_words ? node : Shared(node));
      if (node->list_type == ListType::kMap) keyed_.push_back({line, node});
      if (!path.empty() && slot.get() == node) words_ = &node->description;
      return {};
    }
    const bool adds = attributes.any || own_words;
    if (!adds) spare_ = node;
    references_.push_back({line, std::move(reference), &slot, adds ? node : nullptr, attributes.map_type});
    if (adds && !path.empty()) words_ = &node->description;
    return {};
  }

  // One node for all fields that say nothing but, say, `string`.
  const Schema* Shared(Schema* node) {
    if (node->items != nullptr || node->additional_properties != nullptr || node->type == SchemaType::kArray ||
        node->type == SchemaType::kObject) {
      return node;
    }
    const auto [at, added] = plain_.try_emplace({node->type, node->format}, node);
    if (!added) spare_ = node;
    return at->second;
  }

  void TakeDoc(const std::string& path, Schema& schema) {
    auto doc = docs_.find(path);
    if (doc == docs_.end()) doc = docs_.find(StrCat("*.", std::string_view(path).substr(path.rfind('.') + 1)));
    if (doc == docs_.end()) return;
    doc->second.used = true;
    if (schema.description.empty()) schema.description = doc->second.words;
  }

  Result<void> ReadAttributes(TypeLine& line, bool named, Schema& schema, TypeAttributes& attributes) {
    while (true) {
      const char next = line.Peek();
      if (next == 0 || next == ']' || next == '}') return {};
      if (next == '"') {
        schema.description = TRY(line.Quoted());
        return {};
      }
      const std::string_view word = TRY(line.Word());
      if (word.empty()) return line.Wrong(StrCat("a '", next, "' that was not opened"));
      TRY(ApplyTypeAttribute(line, word, named, schema, attributes));
    }
  }

  // The full name when it is a named type; otherwise "", and `into` is set.
  Result<std::string> ReadType(TypeLine& line, Schema& into, size_t depth) {
    const bool list = line.Peek() == '[';
    if (list || line.Peek() == '{') {
      if (depth >= kTypeNestingMax) return line.Wrong(StrCat("types are nested deeper than ", kTypeNestingMax));
      line.Take(list ? '[' : '{');
      into.type = list ? SchemaType::kArray : SchemaType::kObject;
      TypeAttributes attributes;
      TRY(ReadInto(line, list ? into.items : into.additional_properties, attributes, "", depth + 1));
      if (attributes.required) return line.Wrong("items are not required; fields are");
      if (!line.Take(list ? ']' : '}')) return line.Wrong(StrCat("a type is not closed by ", list ? "]" : "}"));
      return std::string();
    }
    const std::string_view word = TRY(line.Word());
    if (word.empty()) return line.Wrong("a type is missing");
    const auto* known = std::ranges::find(kTypeWords, word, &TypeWord::word);
    if (known != std::end(kTypeWords)) {
      into.type = known->type;
      into.format = known->format;
      return std::string();
    }
    const size_t dot = word.find('.');
    const std::string_view name = dot == std::string_view::npos ? word : word.substr(dot + 1);
    if (!IsUpper(name) || !IsName(word)) return line.Wrong(StrCat("there is no type ", Quote(word)));
    if (dot == std::string_view::npos) return StrCat(package_, ".", name);
    const auto use = uses_.find(word.substr(0, dot));
    if (use == uses_.end())
      return line.Wrong(StrCat("there is no `use ", word.substr(0, dot), " ...` in this package"));
    return StrCat(use->second, ".", name);
  }

  // ---- tying ----

  // Every place points to where it always will before anything is copied.
  Result<void> Resolve(Reference& reference) {
    if (const auto own = nodes_->named.find(reference.name); own != nodes_->named.end()) {
      reference.named = own->second;
    } else if (known_ != nullptr) {
      reference.named = known_->Find(reference.name).get();
    }
    if (reference.named == nullptr) return reference.line.Wrong(StrCat("there is no type ", Quote(reference.name)));
    *reference.where = Unowned(reference.use != nullptr ? reference.use : reference.named);
    return {};
  }

  // A node of its own for the field: the named type, and what the field adds.
  static void FillUse(const Reference& reference) {
    Schema& use = *reference.use;
    const Schema added = std::exchange(use, *reference.named);
    use.use_of = Unowned(reference.named);
    if (!added.description.empty()) use.description = added.description;
    if (added.default_value) use.default_value = added.default_value;
    if (added.nullable) use.nullable = true;
    if (reference.map_type) use.map_type = *reference.map_type;
    use.patch_retain_keys = added.patch_retain_keys;
    use.patch_replace = added.patch_replace;
  }

  static Result<void> CheckKeys(const KeyedList& list) {
    const Schema& items = *list.list->items;
    for (const std::string& key : list.list->list_map_keys) {
      if (items.type == SchemaType::kObject && items.properties.contains(key)) continue;
      return list.line.Wrong(StrCat("the list's items have no field ", Quote(key), ", which is to be their key"));
    }
    return {};
  }

  const TypeTable* known_;
  std::shared_ptr<TypeTable::Nodes> nodes_ = std::make_shared<TypeTable::Nodes>();
  std::map<std::string, Doc, std::less<>> docs_;
  std::map<std::pair<SchemaType, std::string>, const Schema*> plain_;
  std::vector<Reference> references_;
  std::vector<KeyedList> keyed_;
  Schema* spare_ = nullptr;  // made and not needed

  // Where we are in the text.
  std::string package_;
  std::map<std::string, std::string, std::less<>> uses_;
  Schema* type_ = nullptr;        // whose fields come
  std::string* words_ = nullptr;  // what more words on a line of their own are added to
};

TypeTable::TypeTable(std::shared_ptr<Nodes> nodes) : nodes_(std::move(nodes)) {}

Result<TypeTable> TypeTable::Parse(std::span<const TypeText> types, std::span<const TypeText> docs,
                                   const TypeTable* known) {
  TypeTextReader reader(known);
  for (const TypeText& text : docs) TRY(reader.ReadDocs(text));
  for (const TypeText& text : types) TRY(reader.ReadTypes(text));
  return std::move(reader).Tie();
}

SchemaPtr TypeTable::Find(std::string_view name) const {
  const auto found = nodes_->named.find(name);
  return found != nodes_->named.end() ? SchemaPtr(nodes_, found->second) : nullptr;
}

std::vector<std::string_view> TypeTable::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, schema] : nodes_->named) names.push_back(name);
  return names;
}

size_t TypeTable::size() const { return nodes_->named.size(); }

}  // namespace baton::api
