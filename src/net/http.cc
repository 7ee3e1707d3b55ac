// HTTP's values: headers, bodies, targets and status texts.
#include "net/http.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "net/http_syntax.h"

namespace baton::net {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

// ---- Headers ----

Headers::Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  for (const auto& [name, value] : fields) Add(name, value);
}

void Headers::Add(std::string_view name, std::string_view value) { fields_.emplace_back(ToLower(name), value); }

void Headers::Set(std::string_view name, std::string_view value) {
  Remove(name);
  Add(name, value);
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& field) { return EqualNoCase(field.first, name); });
}

std::optional<std::string_view> Headers::Get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (EqualNoCase(key, name)) return value;
  }
  return std::nullopt;
}

bool Headers::HasToken(std::string_view name, std::string_view token) const {
  for (const auto& [key, value] : fields_) {
    if (!EqualNoCase(key, name)) continue;
    bool found = false;
    ForEachInList(value, [&](std::string_view member) {
      found = found || EqualNoCase(TrimBlanks(member.substr(0, member.find(';'))), token);
    });
    if (found) return true;
  }
  return false;
}

size_t Headers::bytes() const {
  size_t bytes = 0;
  for (const auto& [name, value] : fields_) bytes += name.size() + value.size();
  return bytes;
}

bool Headers::ValidField(std::string_view name, std::string_view value) { return IsToken(name) && IsFieldText(value); }

// ---- Body ----

Body::Body(std::string bytes) { Add(std::move(bytes)); }

void Body::Add(std::string bytes) {
  if (!bytes.empty()) Add(std::make_shared<const std::string>(std::move(bytes)));
}

void Body::Add(std::shared_ptr<const std::string> shared) {
  const std::string_view view = *shared;
  Add(std::shared_ptr<const void>(std::move(shared)), view);
}

void Body::Add(std::shared_ptr<const void> owner, std::string_view view) {
  if (view.empty()) return;
  size_ += view.size();
  pieces_.push_back({std::move(owner), view});
}

std::string Body::ToString() const {
  std::string text;
  text.reserve(size_);
  for (const Piece& piece : pieces_) text.append(piece.view);
  return text;
}

// ---- targets ----

std::string_view Request::path() const { return std::string_view(target).substr(0, target.find('?')); }

std::string_view Request::query() const {
  const size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

Result<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return InvalidError(StrCat("bad escape at character ", i + 1, " of ", Quote(text)));
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved = "-._~";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       kUnreserved.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  if (query.empty()) return parameters;
  for (const std::string_view piece : Split(query, '&')) {
    if (piece.empty()) continue;
    const size_t equals = piece.find('=');
    std::string name = TRY(PercentDecode(piece.substr(0, equals), /*plus_is_space=*/true));
    std::string value;
    if (equals != std::string_view::npos) value = TRY(PercentDecode(piece.substr(equals + 1), /*plus_is_space=*/true));
    parameters.emplace_back(std::move(name), std::move(value));
  }
  return parameters;
}

std::string_view StatusText(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 33> kTexts = {{
      {100, "Continue"},
      {101, "Switching Protocols"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Payload Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
  }};
  const auto* found = std::ranges::find(kTexts, status, &std::pair<int, std::string_view>::first);
  return found != kTexts.end() ? found->second : "Unknown";
}

}  // namespace baton::net
