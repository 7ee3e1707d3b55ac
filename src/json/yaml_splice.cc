// Edits of YAML text: walks the marked nodes beside the old and the new value and notes what to replace.
#include "json/yaml_splice.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/print.h"
#include "json/yaml_text.h"
#include "json/yaml_write.h"

namespace baton::json {
namespace {

// Where a node stands in its parent.
struct Place {
  enum class Kind : uint8_t { kRoot, kAfterColon, kAfterDash, kFlow };
  Kind kind = Kind::kRoot;
  size_t column = 0;         // of the key or dash
  size_t after = kNoOffset;  // behind the colon or dash
};

std::string FlowText(const Value& value) {
  std::string out;
  Append(out, value);
  return out;
}

std::string FlowMember(std::string_view key, const Value& value) {
  std::string out;
  AppendQuoted(out, key);
  out += ": ";
  Append(out, value);
  return out;
}

class Splicer {
 public:
  explicit Splicer(std::string_view text) : text_(text) {
    for (size_t start = 0; start <= text.size();) {
      lines_.push_back({start, std::min(text.find_first_not_of(' ', start), text.size())});
      start = std::min(text.find('\n', start), text.size()) + 1;
    }
  }

  std::optional<std::string> Run(const YamlNode& root, const Value& was, const Value& now) {
    root_ = &root;
    Change(root, was, now, Place());
    if (failed_) return std::nullopt;
    return Apply();
  }

 private:
  struct Line {
    size_t start;
    size_t content;  // the first character that is no space
  };

  struct Splice {
    size_t begin;
    size_t end;
    size_t number;  // of two at one place the first one noted comes first
    std::string text;
  };

  void Replace(size_t begin, size_t end, std::string text) {
    splices_.push_back({begin, end, splices_.size(), std::move(text)});
  }

  std::optional<std::string> Apply() {
    std::ranges::sort(splices_, {}, [](const Splice& splice) { return std::pair(splice.begin, splice.number); });
    std::string out;
    size_t at = 0;
    for (const Splice& splice : splices_) {
      if (splice.begin < at || splice.end > text_.size()) return std::nullopt;  // two edits of one place
      out.append(text_.substr(at, splice.begin - at)).append(splice.text);
      at = splice.end;
    }
    return out.append(text_.substr(at));
  }

  // ---- nodes ----

  void Change(const YamlNode& node, const Value& was, const Value& now, const Place& place) {
    if (was == now || failed_) return;
    if (!now.empty() && node.kind == YamlNode::Kind::kMap && now.is_object()) return ChangeMap(node, was, now, place);
    if (!now.empty() && node.kind == YamlNode::Kind::kList && now.is_array()) return ChangeList(node, was, now, place);
    ReplaceNode(node, now, place);
  }

  void ReplaceNode(const YamlNode& node, const Value& now, const Place& place) {
    if (place.kind == Place::Kind::kFlow) return Replace(node.begin, node.end, FlowText(now));
    if (!node.is_block() && node.written()) {
      if (std::optional<std::string> inline_text = InlineText(node, now, place)) {
        return Replace(node.begin, node.end, *std::move(inline_text));
      }
    }
    if (place.after == kNoOffset) return Fail();
    ReplaceBehind(node, now, place);
  }

  // A scalar for the place of a scalar, in the same quotes when they fit. Nothing when it needs lines of its own.
  std::optional<std::string> InlineText(const YamlNode& node, const Value& now, const Place& place) const {
    if (!now.is_string()) return now.empty() ? std::optional(YamlWordFor(now)) : std::nullopt;
    const YamlPlace where{.indent = place.column + 2};
    YamlStyle style = ChooseYamlStyle(now.str(), where);
    if (style == YamlStyle::kLiteral) return std::nullopt;
    if (node.kind == YamlNode::Kind::kScalar && node.style != YamlStyle::kPlain &&
        YamlStyleFits(now.str(), node.style, where)) {
      style = node.style;
    }
    std::string out(text_.substr(LineStart(node.begin), node.begin - LineStart(node.begin)));  // columns count
    const size_t before = out.size();
    AppendYamlText(out, now.str(), style, where);
    return out.substr(before);
  }

  // Everything behind the colon or dash, but for a comment in the line where the value began.
  void ReplaceBehind(const YamlNode& node, const Value& now, const Place& place) {
    std::string fresh;
    if (place.kind == Place::Kind::kAfterColon) {
      AppendYamlAfterColon(fresh, now, place.column);
    } else {
      AppendYamlAfterDash(fresh, now, place.column);
    }
    size_t end = node.written() ? node.end : place.after;
    const size_t comment_from = node.is_block() || !node.written() ? place.after : end;
    if (!node.block_text) {
      std::string_view rest = text_.substr(comment_from, LineEnd(comment_from) - comment_from);
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.starts_with('#')) fresh.insert(fresh.find('\n'), " " + std::string(rest));
    }
    if (!node.ends_line) end = LineEnd(end);
    if (!node.ends_line && end < text_.size()) fresh.pop_back();  // the line break is there
    Replace(place.after, end, std::move(fresh));
  }

  // ---- maps ----

  void ChangeMap(const YamlNode& map, const Value& was, const Value& now, const Place& place) {
    std::vector<bool> removed;
    std::vector<std::string_view> written;
    for (const YamlEntry& entry : map.entries) {
      if (entry.opaque_key) return Fail();
      removed.push_back(!entry.merge && !now.Has(entry.key));
      if (!entry.merge) written.push_back(entry.key);
    }
    std::ranges::sort(written);
    std::vector<const Member*> added;
    for (const Member& member : now.members()) {
      const Value* before = was.Find(member.key());
      const bool merged = before != nullptr && *before == member.value();
      if (!merged && !std::ranges::binary_search(written, member.key())) added.push_back(&member);
    }
    if (std::ranges::count(removed, false) == 0) return ReplaceNode(map, now, place);

    const size_t column = ColumnOf(map.entries[0].begin);
    for (size_t i = 0; i < map.entries.size(); ++i) {
      const YamlEntry& entry = map.entries[i];
      if (removed[i] || entry.merge) continue;
      ChangeMember(map, entry, was[entry.key], now[entry.key], column);
    }
    Remove(map, removed);
    std::vector<std::string> texts;
    for (const Member* member : added) {
      if (map.flow) {
        texts.push_back(FlowMember(member->key(), member->value()));
      } else {
        AppendYamlEntry(texts.emplace_back(column, ' '), member->key(), member->value(), column);
      }
    }
    Insert(map, removed, texts, map.entries.size());
  }

  void ChangeMember(const YamlNode& map, const YamlEntry& entry, const Value& was, const Value& now, size_t column) {
    if (was == now) return;
    if (!map.flow) {
      return Change(entry.value, was, now, {.kind = Place::Kind::kAfterColon, .column = column, .after = entry.after});
    }
    if (entry.value.written()) return Change(entry.value, was, now, {.kind = Place::Kind::kFlow});
    Replace(entry.end(), entry.end(), (entry.after == kNoOffset ? ": " : " ") + FlowText(now));
  }

  // ---- lists ----

  // Items that are the same at both ends stay; those between are paired, and what is over is removed or added.
  void ChangeList(const YamlNode& list, const Value& was, const Value& now, const Place& place) {
    const size_t old_size = list.entries.size();
    if (was.size() != old_size) return Fail();
    size_t same_front = 0;
    size_t same_back = 0;
    const size_t smaller = std::min(old_size, now.size());
    while (same_front < smaller && was[same_front] == now[same_front]) ++same_front;
    while (same_back < smaller - same_front && was[old_size - 1 - same_back] == now[now.size() - 1 - same_back]) {
      ++same_back;
    }
    if (old_size == 0) return ReplaceNode(list, now, place);

    const size_t column = ColumnOf(list.entries[0].begin);
    const size_t paired = smaller - same_back;
    for (size_t i = same_front; i < paired; ++i) {
      const YamlEntry& item = list.entries[i];
      if (!list.flow && item.after == kNoOffset) return Fail();
      Change(item.value, was[i], now[i],
             {.kind = list.flow ? Place::Kind::kFlow : Place::Kind::kAfterDash, .column = column, .after = item.after});
    }
    std::vector<bool> removed(old_size, false);
    for (size_t i = paired; i < old_size - same_back; ++i) removed[i] = true;
    Remove(list, removed);
    std::vector<std::string> texts;
    for (size_t i = paired; i < now.size() - same_back; ++i) {
      if (list.flow) {
        texts.push_back(FlowText(now[i]));
      } else {
        std::string& text = texts.emplace_back(column, ' ');
        text += '-';
        AppendYamlAfterDash(text, now[i], column);
      }
    }
    Insert(list, removed, texts, old_size - same_back);
  }

  // ---- removing and adding; some entry stays ----

  void Remove(const YamlNode& node, const std::vector<bool>& removed) {
    const std::vector<YamlEntry>& entries = node.entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!removed[i]) continue;
      size_t kept = i + 1;
      while (kept < entries.size() && removed[kept]) ++kept;
      if (!node.flow && BeginsLine(entries[i].begin)) {
        Replace(LineWithComments(node, i), EntryEnd(entries[i]), "");
      } else if (kept < entries.size()) {  // behind a dash, or between brackets: the next one moves up
        Replace(entries[i].begin, entries[kept].begin, "");
        i = kept - 1;
      } else if (node.flow && i > 0) {
        Replace(entries[i - 1].end(), entries.back().end(), "");
        return;
      } else {
        return Fail();
      }
    }
  }

  // Adds `texts` before the entry `at`, or behind the last one.
  void Insert(const YamlNode& node, const std::vector<bool>& removed, const std::vector<std::string>& texts,
              size_t at) {
    if (texts.empty()) return;
    const std::vector<YamlEntry>& entries = node.entries;
    std::string joined;
    if (node.flow) {
      size_t before = at;  // the entry that stays and comes before the new ones
      while (before > 0 && removed[before - 1]) --before;
      const YamlEntry& neighbour = entries[before > 0 ? before - 1 : at];
      const size_t line = LineStart(neighbour.begin);
      const std::string comma =
          BeginsLine(neighbour.begin) ? ",\n" + std::string(text_.substr(line, neighbour.begin - line)) : ", ";
      for (const std::string& text : texts) joined += before > 0 ? comma + text : text + comma;
      const size_t where = before > 0 ? neighbour.end() : neighbour.begin;
      return Replace(where, where, std::move(joined));
    }
    for (const std::string& text : texts) joined += text;
    if (at < entries.size() && BeginsLine(entries[at].begin)) {
      const size_t line = LineWithComments(node, at);
      return Replace(line, line, std::move(joined));
    }
    if (at < entries.size()) return Fail();
    const size_t end = EntryEnd(entries.back());
    if (end > 0 && text_[end - 1] != '\n') joined.insert(0, "\n");
    Replace(end, end, std::move(joined));
  }

  // ---- lines ----

  const Line& LineAt(size_t at) const { return *(std::ranges::upper_bound(lines_, at, {}, &Line::start) - 1); }
  size_t LineStart(size_t at) const { return LineAt(at).start; }
  size_t LineEnd(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }
  size_t ColumnOf(size_t at) const { return at - LineStart(at); }
  bool BeginsLine(size_t at) const { return at <= LineAt(at).content; }

  // Behind the line break of the line where an entry ends.
  size_t EntryEnd(const YamlEntry& entry) const {
    if (entry.value.ends_line) return entry.value.end;
    return std::min(LineEnd(entry.end()) + 1, text_.size());
  }

  // The beginning of the entry's line, or of the comment lines right above it in the same column. Those above the
  // first entry of the document speak of the document.
  size_t LineWithComments(const YamlNode& node, size_t index) const {
    const size_t column = ColumnOf(node.entries[index].begin);
    size_t start = LineStart(node.entries[index].begin);
    if (&node == root_ && index == 0) return start;
    while (start > 0) {
      const size_t above = LineStart(start - 1);
      const std::string_view line = text_.substr(above, start - above);
      if (line.find_first_not_of(' ') != column || line[column] != '#') break;
      start = above;
    }
    return start;
  }

  void Fail() { failed_ = true; }

  std::string_view text_;
  std::vector<Line> lines_;
  const YamlNode* root_ = nullptr;
  std::vector<Splice> splices_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> SpliceYaml(std::string_view text, const YamlNode& root, const Value& was, const Value& now) {
  return Splicer(text).Run(root, was, now);
}

}  // namespace baton::json
