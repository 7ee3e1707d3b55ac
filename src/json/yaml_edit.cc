// Edits YAML text: splices when that gives the wanted value, prints anew when not.
#include "json/yaml_edit.h"

#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "json/yaml.h"
#include "json/yaml_marks.h"
#include "json/yaml_splice.h"

namespace baton::json {
namespace {

constexpr int kJsonIndent = 2;

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[') && Parse(text).ok();
}

// In the manner of the old text, as far as that can be told.
std::string PrintAnew(std::string_view text, bool is_json, const Value& value) {
  if (!is_json) return PrintYaml(value);
  const bool ends_line = text.ends_with('\n');
  std::string out =
      text.substr(0, text.find_last_not_of(" \t\r\n")).contains('\n') ? PrintPretty(value, kJsonIndent) : Print(value);
  if (ends_line) out += '\n';
  return out;
}

}  // namespace

Result<std::string> EditYamlText(std::string_view text, const std::function<Result<Value>(Value)>& change) {
  const Value was = TRY(ParseYaml(text));
  const Value now = WithIntegers(TRY(change(was)));
  if (was == now) return std::string(text);
  const bool is_json = IsJson(text);
  if (text.size() <= kMaxSpliceBytes) {
    const Result<YamlNode> root = ReadYamlMarks(text);
    std::optional<std::string> spliced = root.ok() ? SpliceYaml(text, *root, was, now) : std::nullopt;
    if (spliced) {
      const Result<Value> back = ParseYaml(*spliced);
      if (back.ok() && *back == now) return *std::move(spliced);
    }
  }
  return PrintAnew(text, is_json, now);
}

}  // namespace baton::json
