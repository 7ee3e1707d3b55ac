// Reading URLs.
#include "api/federation_url.h"

#include <algorithm>

#include "base/strings.h"

namespace baton::api::federation {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool HasOnlyUrlCharacters(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c <= ' ' || c == 0x7F) return false;
    if (c == '%' && (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2]))) return false;
  }
  return true;
}

// Cuts the text at the first `mark` and returns what follows it.
std::string_view CutTail(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view tail = text.substr(at + 1);
  text = text.substr(0, at);
  return tail;
}

std::string_view CutScheme(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && (IsAlpha(text[end]) || (end > 0 && (IsDigit(text[end]) || text[end] == '+' ||
                                                                  text[end] == '-' || text[end] == '.')))) {
    ++end;
  }
  if (end == 0 || end >= text.size() || text[end] != ':') return {};
  const std::string_view scheme = text.substr(0, end);
  text.remove_prefix(end + 1);
  return scheme;
}

bool HasGoodPort(std::string_view host) {
  const size_t bracket = host.rfind(']');
  if (host.starts_with('[') != (bracket != std::string_view::npos)) return false;
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (bracket != std::string_view::npos && bracket + 1 != host.size() && colon != bracket + 1) return false;
  return colon == std::string_view::npos || std::ranges::all_of(host.substr(colon + 1), IsDigit);
}

}  // namespace

std::optional<UrlParts> ReadUrl(std::string_view text) {
  if (!HasOnlyUrlCharacters(text)) return std::nullopt;
  UrlParts parts;
  parts.fragment = CutTail(text, '#');
  parts.query = CutTail(text, '?');
  parts.scheme = CutScheme(text);
  if (!text.starts_with("//")) {
    // "127.0.0.1:6443" is neither a scheme nor a path.
    const bool colon_first = text.substr(0, text.find('/')).find(':') != std::string_view::npos;
    if (parts.scheme.empty() && colon_first) return std::nullopt;
    return parts;
  }
  text.remove_prefix(2);
  parts.host = text.substr(0, text.find('/'));
  if (const size_t at = parts.host.rfind('@'); at != std::string_view::npos) {
    parts.user = parts.host.substr(0, at);
    parts.host.remove_prefix(at + 1);
  }
  if (!HasGoodPort(parts.host)) return std::nullopt;
  return parts;
}

void CheckServerUrl(Errors& errors, const std::string& field, const UrlParts& url, std::string_view form) {
  if (url.host.empty()) errors.push_back(InvalidError(field, "", StrCat("host must be specified", form)));
  if (!url.user.empty()) {
    // The name and password themselves are not shown.
    errors.push_back(InvalidError(field, "", "user information is not permitted in the URL"));
  }
  if (!url.fragment.empty()) {
    errors.push_back(InvalidError(field, url.fragment, "fragments are not permitted in the URL"));
  }
  if (!url.query.empty()) {
    errors.push_back(InvalidError(field, url.query, "query parameters are not permitted in the URL"));
  }
}

}  // namespace baton::api::federation
