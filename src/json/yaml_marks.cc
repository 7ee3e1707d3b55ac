// libyaml's marks as a tree of byte ranges.
#include "json/yaml_marks.h"

#include <algorithm>
#include <utility>

#include "json/parse.h"
#include "json/yaml_events.h"
#include "json/yaml_scalar.h"
#include "json/yaml_utf8.h"

namespace baton::json {
namespace {

// libyaml counts characters; this turns them into bytes.
class ByteOffsets {
 public:
  ByteOffsets(std::string_view text, size_t skipped) : skipped_(skipped), size_(text.size()) {
    if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!IsUtf8Continuation(text[i])) offsets_.push_back(i);
    }
    offsets_.push_back(text.size());
  }

  size_t operator()(const yaml_mark_t& mark) const {
    const size_t at = offsets_.empty() ? mark.index : offsets_[std::min(mark.index, offsets_.size() - 1)];
    return skipped_ + std::min(at, size_);  // the line break we add at the end is not in the text
  }

 private:
  size_t skipped_;
  size_t size_;
  std::vector<size_t> offsets_;  // of each character, when some are longer than a byte
};

class MarksReader {
 public:
  explicit MarksReader(std::string_view text)
      : text_(text), events_(text), offset_(events_.text(), text.size() - events_.text().size()) {}

  Result<YamlNode> Read() {
    do TRY(events_.Next(event_));
    while (event_->type == YAML_STREAM_START_EVENT || event_->type == YAML_DOCUMENT_START_EVENT);
    return ReadNode(0);
  }

 private:
  // The node that begins with the current event. Deeper than kMaxDepth ParseYaml has refused.
  Result<YamlNode> ReadNode(size_t depth) {
    if (depth > kMaxDepth) return InvalidError("nested too deeply");
    YamlNode node;
    node.begin = offset_(event_->start_mark);
    node.end = offset_(event_->end_mark);
    switch (event_->type) {
      case YAML_SCALAR_EVENT:
        ReadScalar(node);
        return node;
      case YAML_ALIAS_EVENT:
        node.kind = YamlNode::Kind::kAlias;
        return node;
      case YAML_SEQUENCE_START_EVENT:
        node.kind = YamlNode::Kind::kList;
        node.flow = event_->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        TRY(ReadItems(node, depth));
        break;
      case YAML_MAPPING_START_EVENT:
        node.kind = YamlNode::Kind::kMap;
        node.flow = event_->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        TRY(ReadMembers(node, depth));
        break;
      default:
        return InvalidError("no node here");
    }
    if (node.flow) {
      node.end = offset_(event_->end_mark);
    } else if (!node.entries.empty()) {
      node.end = node.entries.back().end();
      node.ends_line = node.entries.back().value.ends_line;
    }
    return node;
  }

  void ReadScalar(YamlNode& node) const {
    switch (event_->data.scalar.style) {
      case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        node.style = YamlStyle::kSingleQuoted;
        break;
      case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        node.style = YamlStyle::kDoubleQuoted;
        break;
      case YAML_LITERAL_SCALAR_STYLE:
      case YAML_FOLDED_SCALAR_STYLE:
        node.block_text = true;
        TrimBlockText(node);
        break;
      default:
        break;
    }
  }

  // Blank lines behind a block belong to it only when its header says + ("keep").
  void TrimBlockText(YamlNode& node) const {
    node.ends_line = node.end > node.begin && text_[node.end - 1] == '\n';
    const std::string_view header = text_.substr(node.begin, text_.find('\n', node.begin) - node.begin);
    if (!node.ends_line || header.substr(0, header.find('#')).contains('+')) return;
    while (true) {
      const size_t line = text_.rfind('\n', node.end - 2);
      if (line == std::string_view::npos || line < node.begin + header.size()) return;
      if (text_.substr(line + 1, node.end - line - 2).find_first_not_of(" \t\r") != std::string_view::npos) return;
      node.end = line + 1;
    }
  }

  Result<void> ReadItems(YamlNode& list, size_t depth) {
    const size_t column = event_->start_mark.column;
    while (true) {
      TRY(events_.Next(event_));
      if (event_->type == YAML_SEQUENCE_END_EVENT) return {};
      YamlEntry item;
      item.value = TRY(ReadNode(depth + 1));
      item.begin = item.key_end = item.value.begin;
      if (!list.flow) FindDash(list, item, column);
      list.entries.push_back(std::move(item));
    }
  }

  // The dash is in the column where the list began, in the item's line or above it.
  void FindDash(const YamlNode& list, YamlEntry& item, size_t column) const {
    if (list.entries.empty()) {
      item.begin = list.begin;
    } else {
      size_t at = item.value.begin;
      do {
        const size_t line = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
        item.begin = line + column;
        if (text_.substr(line, column).find_first_not_of(' ') == std::string_view::npos && At(item.begin) == '-') break;
        at = line == 0 ? 0 : line - 1;
      } while (at > list.entries.back().value.begin);
    }
    if (At(item.begin) == '-') item.after = item.begin + 1;
  }

  Result<void> ReadMembers(YamlNode& map, size_t depth) {
    while (true) {
      TRY(events_.Next(event_));
      if (event_->type == YAML_MAPPING_END_EVENT) return {};
      YamlEntry member;
      TRY(ReadKey(member));
      TRY(events_.Next(event_));
      member.value = TRY(ReadNode(depth + 1));
      const size_t colon = text_.find_first_not_of(" \t", member.key_end);
      if (colon < text_.size() && text_[colon] == ':') member.after = colon + 1;
      map.entries.push_back(std::move(member));
    }
  }

  Result<void> ReadKey(YamlEntry& member) const {
    member.begin = offset_(event_->start_mark);
    member.key_end = offset_(event_->end_mark);
    if (event_->type != YAML_SCALAR_EVENT) {
      member.opaque_key = true;
      return {};
    }
    std::string scratch;
    member.merge = IsYamlMerge(event_);
    const YamlScalar meaning = TRY(YamlEventScalar(event_, scratch));
    member.key = TRY(ScalarToKey(meaning));
    return {};
  }

  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::string_view text_;
  YamlEvents events_;
  ByteOffsets offset_;
  YamlEvent event_;
};

}  // namespace

Result<YamlNode> ReadYamlMarks(std::string_view text) { return MarksReader(text).Read(); }

}  // namespace baton::json
