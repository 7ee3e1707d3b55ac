// Field selectors.
#include <utility>

#include "base/strings.h"
#include "json/selector.h"
#include "json/selector_internal.h"

namespace baton::json {
namespace {

using selector_internal::Shown;

// The terms between commas; a comma behind a backslash belongs to its term. Sorted, as Kubernetes does.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  terms.push_back(text.substr(begin));
  std::ranges::sort(terms);
  return terms;
}

Result<std::string> Unescape(std::string_view value) {
  std::string out;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == ',' || value[i] == '=') {
      return InvalidError(StrCat("invalid field selector: unescaped character in value: '", value[i], "' in ",
                                 Quote(Shown(value)), " needs a backslash"));
    }
    if (value[i] == '\\') {
      ++i;
      if (i == value.size() || !std::string_view("\\,=").contains(value[i])) {
        std::string_view sequence = value.substr(i - 1);
        // A whole character after the backslash, for the message.
        size_t end = std::min<size_t>(sequence.size(), 2);
        while (end < sequence.size() && (static_cast<unsigned char>(sequence[end]) & 0xc0) == 0x80) ++end;
        return InvalidError(StrCat("invalid field selector: invalid escape sequence: ", sequence.substr(0, end)));
      }
    }
    out += value[i];
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  TRY(selector_internal::CheckText(text));
  FieldSelector selector;
  for (const std::string_view term : SplitTerms(text)) {
    if (term.empty()) continue;
    // The first operator counts, wherever it is: a field's name has no escapes.
    size_t at = term.find('=');
    if (at == std::string_view::npos) {
      return InvalidError(StrCat("invalid selector: '", Shown(text), "'; can't understand '", Shown(term), "'"));
    }
    const bool equal = at == 0 || term[at - 1] != '!';
    FieldRequirement requirement;
    requirement.field = term.substr(0, equal ? at : at - 1);
    requirement.equal = equal;
    if (equal && term.substr(at).starts_with("==")) ++at;
    requirement.value = TRY(Unescape(term.substr(at + 1)));
    if (requirement.field.empty() && requirement.value.empty()) continue;  // "=" asks for nothing
    if (selector.requirements_.size() == kMaxSelectorRequirements)
      return TooLargeError(StrCat("a field selector may have ", kMaxSelectorRequirements, " requirements"));
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

std::optional<std::string_view> FieldSelector::ExactMatch(std::string_view field) const {
  for (const FieldRequirement& requirement : requirements_) {
    if (requirement.equal && requirement.field == field) return requirement.value;
  }
  return {};
}

std::string FieldSelector::Escape(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

std::string FieldSelector::ToString() const {
  std::string out;
  for (const FieldRequirement& requirement : requirements_) {
    if (!out.empty()) out += ',';
    StrAppend(out, requirement.field, requirement.equal ? "=" : "!=", Escape(requirement.value));
  }
  return out;
}

}  // namespace baton::json
