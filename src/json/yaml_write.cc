// YAML text out: lists and maps in kubectl's layout. A stack of open containers instead of recursion, so that no value
// is too deep.
#include "json/yaml_write.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "json/yaml.h"
#include "json/yaml_number.h"
#include "json/yaml_order.h"
#include "json/yaml_text.h"

namespace baton::json {
namespace {

constexpr size_t kIndent = 2;

// Printed over several lines.
bool IsBlock(const Value& value) { return !value.empty(); }

class YamlPrinter {
 public:
  explicit YamlPrinter(std::string& out) : out_(out) {}

  void Document(const Value& value) {
    if (IsBlock(value)) {
      Push(value, 0, false);
      return Run();
    }
    Scalar(value, kIndent);
  }

  void Entry(std::string_view key, const Value& value, size_t column) {
    Member(key, value, column);
    Run();
  }
  void AfterColon(const Value& value, size_t column) {
    ColonValue(value, column);
    Run();
  }
  void AfterDash(const Value& value, size_t column) {
    DashValue(value, column);
    Run();
  }

 private:
  struct Frame {
    const Value* value;
    size_t next;
    size_t indent;
    bool begins_in_line;                     // its first item stands behind a dash
    std::vector<const json::Member*> order;  // of an object
  };

  void Push(const Value& value, size_t indent, bool begins_in_line) {
    stack_.push_back({.value = &value, .next = 0, .indent = indent, .begins_in_line = begins_in_line, .order = {}});
    if (value.is_object()) stack_.back().order = InYamlOrder(value.members());
  }

  void Run() {
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const size_t at = frame.next++;
      if (at == frame.value->size()) {
        stack_.pop_back();
        continue;
      }
      const size_t indent = frame.indent;
      if (at > 0 || !frame.begins_in_line) out_.append(indent, ' ');
      if (frame.value->is_array()) {
        out_ += '-';
        DashValue(frame.value->items()[at], indent);
      } else {
        const json::Member& member = *frame.order[at];
        Member(member.key(), member.value(), indent);
      }
    }
  }

  void Member(std::string_view key, const Value& value, size_t column) {
    if (IsSimpleYamlKey(key)) {
      const YamlPlace place{.indent = column + kIndent, .simple_key = true};
      AppendYamlText(out_, key, ChooseYamlStyle(key, place), place);
      out_ += ':';
      return ColonValue(value, column);
    }
    out_ += "? ";
    Text(key, column + kIndent);
    out_.append(column, ' ');
    out_ += ':';
    DashValue(value, column);
  }

  void ColonValue(const Value& value, size_t column) {
    if (!IsBlock(value)) {
      out_ += ' ';
      return Scalar(value, column + kIndent);
    }
    out_ += '\n';
    Push(value, value.is_array() ? column : column + kIndent, false);
  }

  void DashValue(const Value& value, size_t column) {
    out_ += ' ';
    if (!IsBlock(value)) return Scalar(value, column + kIndent);
    Push(value, column + kIndent, true);
  }

  void Scalar(const Value& value, size_t indent) {
    if (value.is_string()) return Text(value.str(), indent);
    out_ += YamlWordFor(value);
    out_ += '\n';
  }

  void Text(std::string_view text, size_t indent) {
    const YamlPlace place{.indent = indent};
    const YamlStyle style = ChooseYamlStyle(text, place);
    AppendYamlText(out_, text, style, place);
    if (style != YamlStyle::kLiteral) out_ += '\n';
  }

  std::string& out_;
  std::vector<Frame> stack_;
};

}  // namespace

std::string YamlWordFor(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.bool_or(false) ? "true" : "false";
    case Kind::kInt:
      return StrCat(value.int_or(0));
    case Kind::kUint:
      return StrCat(*value.as_uint64());
    case Kind::kDouble: {
      const Value number = NumberToValue(value.number_or(0));
      return number.kind() == Kind::kDouble ? FormatLikeGo(number.number_or(0)) : YamlWordFor(number);
    }
    case Kind::kString:
      return {};
    case Kind::kArray:
      return "[]";
    case Kind::kObject:
      return "{}";
  }
  return {};
}

std::string PrintYaml(const Value& value) {
  std::string out;
  YamlPrinter(out).Document(value);
  return out;
}

std::string PrintYamlStream(std::span<const Value> documents) {
  std::string out;
  for (const Value& document : documents) {
    if (&document != documents.data()) out += "---\n";
    YamlPrinter(out).Document(document);
  }
  return out;
}

void AppendYamlEntry(std::string& out, std::string_view key, const Value& value, size_t column) {
  YamlPrinter(out).Entry(key, value, column);
}

void AppendYamlAfterColon(std::string& out, const Value& value, size_t column) {
  YamlPrinter(out).AfterColon(value, column);
}

void AppendYamlAfterDash(std::string& out, const Value& value, size_t column) {
  YamlPrinter(out).AfterDash(value, column);
}

}  // namespace baton::json
