// Internal to json: libyaml's events, owned and with errors as values. Private to json/yaml_*.cc.
#pragma once

#include <yaml.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/yaml_scalar.h"

namespace baton::json {

// A yaml_event_t that is deleted when it goes.
class YamlEvent {
 public:
  YamlEvent() : event_{} {}
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&event_); }

  const yaml_event_t* operator->() const { return &event_; }
  yaml_event_t* Reset() { return yaml_event_delete(&event_), &event_; }

 private:
  yaml_event_t event_;
};

// The events of a text, which must outlive this. A byte order mark at its beginning is skipped, and a line break is
// added at the end when it has none, as kubectl does: "a: |\n  b" is "b\n".
class YamlEvents {
 public:
  explicit YamlEvents(std::string_view text);
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  ~YamlEvents() { yaml_parser_delete(&parser_); }

  // Where the text begins for libyaml, whose marks count from there.
  std::string_view text() const { return text_; }

  // Not to be called again after the end of the stream or an error.
  Result<void> Next(YamlEvent& event);

 private:
  static int Read(void* self, unsigned char* buffer, size_t size, size_t* read);
  Error SyntaxError() const;

  std::string_view text_;
  std::string_view unread_;
  bool add_line_break_;
  yaml_parser_t parser_;
  bool usable_;
};

// "" for a null pointer.
std::string_view YamlView(const yaml_char_t* text);

// The text of a scalar event.
std::string_view YamlEventText(const YamlEvent& event);

// What a scalar event means; its text lives in the event or in `scratch`. The error has no place yet.
Result<YamlScalar> YamlEventScalar(const YamlEvent& event, std::string& scratch);

// An unquoted <<, which as a key is a merge.
bool IsYamlMerge(const YamlEvent& event);

// "line 3, column 7: reason"; lines and columns from 1, the mark's count from 0.
Error YamlErrorAt(size_t line, size_t column, std::string_view reason);
Error YamlErrorAt(const yaml_mark_t& mark, std::string_view reason);

}  // namespace baton::json
