// YAML text in: libyaml's events feed two stacks, from which finished lists and maps are built in one block. Nothing
// here is recursive.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "json/yaml.h"
#include "json/yaml_events.h"
#include "json/yaml_json.h"
#include "json/yaml_scalar.h"

namespace baton::json {
namespace {

constexpr std::string_view kNoKey = "a list or map cannot be a key";

// What a value costs whoever expands it.
struct Weight {
  size_t values = 0;
  size_t bytes = 0;   // of strings and keys
  size_t height = 0;  // levels of lists and maps inside
};

struct Document {
  Value value;
  bool written = false;  // false when there is nothing but an empty place
  yaml_mark_t start;
};

class Reader {
 public:
  Reader(std::string_view text, const YamlLimits& limits) : limits_(limits), events_(text) {}

  Result<std::vector<Document>> ReadAll() {
    while (true) {
      YamlEvent event;
      TRY(events_.Next(event));
      if (event->type == YAML_STREAM_END_EVENT) return std::move(documents_);
      TRY(Handle(event));
    }
  }

 private:
  // A list or map whose end has not come yet.
  struct Open {
    bool is_map = false;
    bool is_flow = false;      // between brackets
    bool merge_next = false;   // the key was <<, its value comes next
    bool key_is_next = false;  // of a map
    size_t first_value = 0;    // where its items begin in values_
    size_t first_key = 0;      // and its keys in keys_
    Weight before = {};        // the totals when it began
    size_t height = 1;
    std::string anchor = {};
    yaml_mark_t mark = {};
  };

  // A key's place, for the error when it comes twice. Keys that a merge brought may be overridden.
  struct KeyOrigin {
    size_t line;
    size_t column;
    bool merged;
  };

  struct Anchored {
    bool complete = false;  // false while its own content is being read
    Value value;
    Weight weight;
    std::string key;            // a scalar can also be used as a key
    std::string value_problem;  // why it cannot be a value (.inf),
    std::string key_problem;    // or a key (null, a list)
  };

  Result<void> Handle(const YamlEvent& event) {
    switch (event->type) {
      case YAML_DOCUMENT_START_EVENT:
        total_ = {};
        anchors_.clear();
        documents_.push_back({.value = {}, .written = false, .start = event->start_mark});
        return {};
      case YAML_DOCUMENT_END_EVENT:
        documents_.back().value = std::move(values_.back());
        values_.clear();
        return {};
      case YAML_SCALAR_EVENT:
        return Scalar(event);
      case YAML_ALIAS_EVENT:
        return Alias(event);
      case YAML_SEQUENCE_START_EVENT:
        return Begin({.is_flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                      .anchor = std::string(YamlView(event->data.sequence_start.anchor)),
                      .mark = event->start_mark});
      case YAML_MAPPING_START_EVENT:
        return Begin({.is_map = true,
                      .is_flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                      .key_is_next = true,
                      .anchor = std::string(YamlView(event->data.mapping_start.anchor)),
                      .mark = event->start_mark});
      case YAML_SEQUENCE_END_EVENT:
        return EndList();
      case YAML_MAPPING_END_EVENT:
        return EndMap();
      default:
        return {};
    }
  }

  bool AtKey() const { return !open_.empty() && open_.back().is_map && open_.back().key_is_next; }

  // ---- nodes ----

  Result<void> Scalar(const YamlEvent& event) {
    const auto& scalar = event->data.scalar;
    const bool empty = scalar.length == 0 && scalar.plain_implicit != 0;
    if (!empty || !open_.empty()) documents_.back().written = true;
    if (AtKey() && IsYamlMerge(event)) {
      open_.back().merge_next = true;
      open_.back().key_is_next = false;
      return {};
    }
    const Result<YamlScalar> resolved = YamlEventScalar(event, scratch_);
    if (!resolved.ok()) return YamlErrorAt(event->start_mark, resolved.error().message());
    const YamlScalar& meaning = resolved.value();
    if (scalar.anchor != nullptr) AnchorScalar(YamlView(scalar.anchor), meaning);
    if (AtKey()) {
      if (meaning.type == YamlScalar::Type::kString) return AddKey(meaning.text, event->start_mark);
      Result<std::string> key = ScalarToKey(meaning);
      if (!key.ok()) return YamlErrorAt(event->start_mark, key.error().message());
      return AddKey(*key, event->start_mark);
    }
    Result<Value> value = ScalarToValue(meaning);
    if (!value.ok()) return YamlErrorAt(event->start_mark, value.error().message());
    return AddValue(*std::move(value), {.values = 1, .bytes = meaning.text.size(), .height = 0}, false,
                    event->start_mark);
  }

  Result<void> Alias(const YamlEvent& event) {
    const std::string_view name = YamlView(event->data.alias.anchor);
    const auto found = anchors_.find(std::string(name));
    if (found == anchors_.end())
      return YamlErrorAt(event->start_mark, StrCat("no anchor '", name, "' before this alias"));
    const Anchored& anchored = found->second;
    if (!anchored.complete) return YamlErrorAt(event->start_mark, StrCat("the anchor '", name, "' contains itself"));
    documents_.back().written = true;
    aliased_.values += anchored.weight.values;
    aliased_.bytes += anchored.weight.bytes;
    if (aliased_.values > limits_.max_aliased_values || aliased_.bytes > limits_.max_aliased_bytes) {
      return TooLargeAt(event->start_mark, StrCat("aliases expand to more than ", limits_.max_aliased_values,
                                                  " values or ", limits_.max_aliased_bytes, " bytes"));
    }
    const std::string& problem = AtKey() ? anchored.key_problem : anchored.value_problem;
    if (!problem.empty()) return YamlErrorAt(event->start_mark, problem);
    if (AtKey()) return AddKey(anchored.key, event->start_mark);
    if (open_.size() + anchored.weight.height > limits_.max_depth) return TooDeep(event->start_mark);
    return AddValue(anchored.value, anchored.weight, true, event->start_mark);
  }

  Result<void> Begin(Open fresh) {
    documents_.back().written = true;
    if (AtKey()) return YamlErrorAt(fresh.mark, kNoKey);
    if (open_.size() >= limits_.max_depth) return TooDeep(fresh.mark);
    if (!fresh.anchor.empty()) anchors_.insert_or_assign(fresh.anchor, Anchored{});
    fresh.first_value = values_.size();
    fresh.first_key = keys_.size();
    fresh.before = total_;
    if (fresh.is_flow) ++flow_depth_;
    open_.push_back(std::move(fresh));
    return {};
  }

  Result<void> EndList() {
    const size_t first = open_.back().first_value;
    Value list = ArrayBuilder::FromRange(std::span(values_).subspan(first));
    values_.resize(first);
    return End(std::move(list));
  }

  Result<void> EndMap() {
    const Open& map = open_.back();
    members_.clear();
    members_.reserve(keys_.size() - map.first_key);
    for (size_t i = 0; map.first_key + i < keys_.size(); ++i) {
      members_.emplace_back(keys_[map.first_key + i], std::move(values_[map.first_value + i]));
    }
    std::vector<std::string> duplicates;
    Value object = ObjectBuilder::FromRange(members_, &duplicates);
    if (!duplicates.empty()) TRY(CheckDuplicates(map.first_key));
    values_.resize(map.first_value);
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(map.first_key), keys_.end());
    origins_.resize(map.first_key, KeyOrigin{});
    return End(std::move(object));
  }

  Result<void> End(Value value) {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.is_flow) --flow_depth_;
    Weight weight{.values = total_.values - done.before.values + 1,
                  .bytes = total_.bytes - done.before.bytes,
                  .height = done.height};
    total_ = done.before;
    if (!done.anchor.empty()) {
      Anchored& anchored = anchors_[done.anchor];
      if (!anchored.complete) {  // else a second anchor of this name, inside, replaced ours
        anchored.complete = true;
        anchored.value = value;
        anchored.weight = weight;
        anchored.key_problem = kNoKey;
      }
    }
    return AddValue(std::move(value), weight, false, done.mark);
  }

  void AnchorScalar(std::string_view name, const YamlScalar& meaning) {
    Anchored anchored;
    anchored.complete = true;
    anchored.weight = {.values = 1, .bytes = meaning.text.size(), .height = 0};
    Result<Value> value = ScalarToValue(meaning);
    if (value.ok()) {
      anchored.value = *std::move(value);
    } else {
      anchored.value_problem = value.error().message();
    }
    Result<std::string> key = ScalarToKey(meaning);
    if (key.ok()) {
      anchored.key = *std::move(key);
    } else {
      anchored.key_problem = key.error().message();
    }
    anchors_.insert_or_assign(std::string(name), std::move(anchored));
  }

  // ---- collecting ----

  Result<void> AddKey(std::string_view text, const yaml_mark_t& mark) {
    keys_.emplace_back(text);
    origins_.push_back({.line = mark.line + 1, .column = mark.column + 1, .merged = false});
    total_.bytes += text.size();
    open_.back().key_is_next = false;
    return {};
  }

  Result<void> AddValue(Value value, const Weight& weight, bool is_alias, const yaml_mark_t& mark) {
    total_.values += weight.values;
    total_.bytes += weight.bytes;
    if (total_.values > limits_.max_values) {
      return TooLargeAt(mark, StrCat("more than ", limits_.max_values, " values"));
    }
    flow_work_ += flow_depth_;
    if (flow_work_ > limits_.max_flow_work) return TooLargeAt(mark, "too many values inside too many brackets");
    if (!open_.empty()) {
      Open& parent = open_.back();
      parent.height = std::max(parent.height, weight.height + 1);
      parent.key_is_next = parent.is_map;
      if (std::exchange(parent.merge_next, false)) return Merge(value, is_alias, mark);
    }
    values_.push_back(std::move(value));
    return {};
  }

  // The value of a << key: a map, or a list of maps of which the first wins.
  Result<void> Merge(const Value& value, bool is_alias, const yaml_mark_t& mark) {
    const auto add = [this](const Value& map) {
      for (const Member& member : map.members()) {
        keys_.push_back(member.shared_key());
        origins_.push_back({.line = 0, .column = 0, .merged = true});
        values_.push_back(member.value());
      }
    };
    if (value.is_object()) return add(value), Result<void>();
    const std::span<const Value> maps = value.items();
    if (!value.is_array() || is_alias || !std::ranges::all_of(maps, &Value::is_object)) {
      return YamlErrorAt(mark, "<< takes a map, an alias of a map, or a list of these");
    }
    for (size_t i = maps.size(); i > 0; --i) add(maps[i - 1]);
    return {};
  }

  // Some key of the innermost map came twice; an error unless a merge explains it. Names the second of them that
  // comes first in the text.
  Result<void> CheckDuplicates(size_t first_key) {
    std::vector<size_t> written;
    for (size_t i = first_key; i < keys_.size(); ++i) {
      if (!origins_[i].merged) written.push_back(i);
    }
    std::ranges::sort(
        written, [this](size_t a, size_t b) { return std::pair(keys_[a].text(), a) < std::pair(keys_[b].text(), b); });
    size_t found = keys_.size();
    for (size_t i = 1; i < written.size(); ++i) {
      if (keys_[written[i]] == keys_[written[i - 1]]) found = std::min(found, written[i]);
    }
    if (found == keys_.size()) return {};
    const auto first = std::ranges::find_if(written, [&](size_t i) { return keys_[i] == keys_[found]; });
    return YamlErrorAt(origins_[found].line, origins_[found].column,
                       StrCat("the key ", Quote(keys_[found].text()), " came before, in line ", origins_[*first].line));
  }

  // ---- errors ----

  Error TooDeep(const yaml_mark_t& mark) const {
    return YamlErrorAt(mark, StrCat("nested deeper than ", limits_.max_depth, " levels"));
  }

  static Error TooLargeAt(const yaml_mark_t& mark, std::string_view reason) {
    return TooLargeError(YamlErrorAt(mark, reason).message());
  }

  const YamlLimits& limits_;
  YamlEvents events_;
  std::vector<Document> documents_;
  std::vector<Open> open_;
  std::vector<Value> values_;                          // finished values that wait for their container
  std::vector<Key> keys_;                              // keys of open maps, in step with their values
  std::vector<KeyOrigin> origins_;                     // in step with keys_
  std::vector<Member> members_;                        // scratch of EndMap
  std::unordered_map<std::string, Anchored> anchors_;  // of this document
  std::string scratch_;
  Weight total_;    // of this document, aliases expanded
  Weight aliased_;  // what came through aliases in all documents
  size_t flow_depth_ = 0;
  size_t flow_work_ = 0;
};

// libyaml compares each %TAG line with all before it.
bool HasTooManyTagDirectives(std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find("%TAG"); at != std::string_view::npos; at = text.find("%TAG", at + 1)) {
    if (at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r') ++count;
  }
  return count > kMaxTagDirectives;
}

Result<std::vector<Document>> ReadDocuments(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return TooLargeError(
        StrCat("line 1, column 1: YAML text of ", text.size(), " bytes: the limit is ", limits.max_bytes));
  }
  if (HasTooManyTagDirectives(text)) {
    return TooLargeError(StrCat("line 1, column 1: more than ", kMaxTagDirectives, " %TAG directives"));
  }
  return Reader(text, limits).ReadAll();
}

}  // namespace

Result<std::vector<Value>> ParseYamlStream(std::string_view text, const YamlLimits& limits) {
  std::vector<Value> values;
  if (ReadAsJson(text, limits, values)) return values;
  for (Document& document : TRY(ReadDocuments(text, limits))) {
    if (!document.value.is_null()) values.push_back(std::move(document.value));
  }
  return values;
}

Result<Value> ParseYaml(std::string_view text, const YamlLimits& limits) {
  std::vector<Value> values;
  if (ReadAsJson(text, limits, values) && values.size() == 1) return std::move(values[0]);
  std::vector<Document> documents = TRY(ReadDocuments(text, limits));
  std::erase_if(documents, [](const Document& document) { return !document.written; });
  if (documents.empty()) return YamlErrorAt(1, 1, "no document: the text is empty");
  if (documents.size() > 1)
    return YamlErrorAt(documents[1].start,
                       StrCat("a second document of ", documents.size(), ": exactly one is expected"));
  return std::move(documents[0].value);
}

}  // namespace baton::json
