// Overriders as Go's encoding/json prints Karmada's types. Unknown fields are not printed: Karmada does not have them.
#include "overrides/shadow.h"

#include <array>
#include <cstdint>
#include <span>

#include "json/print.h"

namespace baton::overrides {
namespace {

struct Field {
  std::string_view name;
  bool omit_empty = false;
  std::span<const Field> fields = {};  // of the object, or of the items of the list, that the field holds
};

constexpr std::array kPredicate{Field{"path"}};
constexpr std::array kPlaintext{Field{"path"}, Field{"operator"}, Field{"value"}};
constexpr std::array kImage{Field{"predicate", true, kPredicate}, Field{"component"}, Field{"operator"},
                            Field{"value", true}};
constexpr std::array kCommand{Field{"containerName"}, Field{"operator"}, Field{"value", true}};
constexpr std::array kMetadata{Field{"operator"}, Field{"value"}};
constexpr std::array kOperation{Field{"subPath"}, Field{"operator"}, Field{"value"}};
constexpr std::array kField{Field{"fieldPath"}, Field{"json", true, kOperation}, Field{"yaml", true, kOperation}};
constexpr std::array kOverriders{
    Field{"plaintext", true, kPlaintext},      Field{"imageOverrider", true, kImage},
    Field{"commandOverrider", true, kCommand}, Field{"argsOverrider", true, kCommand},
    Field{"labelsOverrider", true, kMetadata}, Field{"annotationsOverrider", true, kMetadata},
    Field{"fieldOverrider", true, kField},
};

bool IsEmpty(const json::Value& value) {
  return value.is_null() || (value.is_string() && value.str().empty()) || (value.is_array() && value.empty());
}

void AppendFields(std::string& out, const json::Value& object, std::span<const Field> fields);

void AppendField(std::string& out, const json::Value& value, const Field& field) {
  if (field.fields.empty()) {
    json::Append(out, value);
    return;
  }
  if (!value.is_array()) return AppendFields(out, value, field.fields);
  out += '[';
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) out += ',';
    AppendFields(out, value[i], field.fields);
  }
  out += ']';
}

// The recursion ends with the table, not with the value.
void AppendFields(std::string& out, const json::Value& object, std::span<const Field> fields) {
  out += '{';
  bool first = true;
  for (const Field& field : fields) {
    const json::Value& value = object[field.name];
    if (field.omit_empty && IsEmpty(value)) continue;
    if (!first) out += ',';
    first = false;
    json::AppendQuoted(out, field.name);
    out += ':';
    AppendField(out, value, field);
  }
  out += '}';
}

// <, > and & and the line separators U+2028 and U+2029, which in JSON can only stand inside strings.
std::string SafeForHtml(std::string_view text) {
  static constexpr std::string_view kLineSeparators = "\xe2\x80";
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>' || c == '&') {
      safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else if (text.substr(i, 2) == kLineSeparators && i + 2 < text.size() &&
               (text[i + 2] == '\xa8' || text[i + 2] == '\xa9')) {
      safe += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string PrintShadow(std::string_view policy_name, const json::Value& overriders) {
  std::string text = "{\"policyName\":";
  json::AppendQuoted(text, policy_name);
  text += ",\"overriders\":";
  AppendFields(text, overriders, kOverriders);
  text += '}';
  return SafeForHtml(text);
}

}  // namespace baton::overrides
