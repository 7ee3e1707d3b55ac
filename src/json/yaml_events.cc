// libyaml's parser behind values and errors.
#include "json/yaml_events.h"

#include <utility>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::json {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";
constexpr std::string_view kMergeKey = "<<";

}  // namespace

YamlEvents::YamlEvents(std::string_view text)
    : text_(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text),
      unread_(text_),
      add_line_break_(!text_.empty() && !text_.ends_with('\n')),
      usable_(yaml_parser_initialize(&parser_) == 1) {
  if (!usable_) return;
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  yaml_parser_set_input(&parser_, &Read, this);
}

int YamlEvents::Read(void* self, unsigned char* buffer, size_t size, size_t* read) {
  auto& events = *static_cast<YamlEvents*>(self);
  *read = events.unread_.copy(reinterpret_cast<char*>(buffer), size);
  events.unread_.remove_prefix(*read);
  if (*read == 0 && size > 0 && std::exchange(events.add_line_break_, false)) buffer[(*read)++] = '\n';
  return 1;
}

Result<void> YamlEvents::Next(YamlEvent& event) {
  if (!usable_) return InternalError("libyaml: out of memory");
  if (yaml_parser_parse(&parser_, event.Reset()) == 0) return SyntaxError();
  return {};
}

Error YamlEvents::SyntaxError() const {
  const std::string_view problem = parser_.problem == nullptr ? "cannot read this" : parser_.problem;
  if (parser_.error == YAML_MEMORY_ERROR) return InternalError("libyaml: out of memory");
  if (parser_.error == YAML_READER_ERROR) {
    const TextPosition at = PositionAt(text_, parser_.problem_offset);
    return YamlErrorAt(at.line, at.column, problem);
  }
  if (parser_.context == nullptr || parser_.context_mark.line == parser_.problem_mark.line) {
    return YamlErrorAt(parser_.problem_mark, problem);
  }
  return YamlErrorAt(parser_.problem_mark,
                     StrCat(problem, ", ", parser_.context, " that begins in line ", parser_.context_mark.line + 1));
}

std::string_view YamlView(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

std::string_view YamlEventText(const YamlEvent& event) {
  return {reinterpret_cast<const char*>(event->data.scalar.value), event->data.scalar.length};
}

Result<YamlScalar> YamlEventScalar(const YamlEvent& event, std::string& scratch) {
  const auto& scalar = event->data.scalar;
  const std::string_view text = YamlEventText(event);
  if (const std::string_view tag = YamlView(scalar.tag); !tag.empty()) return ResolveTagged(tag, text, scratch);
  if (scalar.plain_implicit != 0) return ResolvePlain(text);
  return YamlScalar{.text = text};
}

bool IsYamlMerge(const YamlEvent& event) {
  const auto& scalar = event->data.scalar;
  return YamlEventText(event) == kMergeKey && (scalar.plain_implicit != 0 || YamlView(scalar.tag) == kMergeTag);
}

Error YamlErrorAt(size_t line, size_t column, std::string_view reason) {
  return InvalidError(StrCat("line ", line, ", column ", column, ": ", reason));
}

Error YamlErrorAt(const yaml_mark_t& mark, std::string_view reason) {
  return YamlErrorAt(mark.line + 1, mark.column + 1, reason);
}

}  // namespace baton::json
