// Image names: [domain[:port]/]path[/path...][:tag][@digest].
#include "api/builtin_image.h"

#include <algorithm>
#include <cstddef>

namespace baton::api::builtin {
namespace {

constexpr size_t kMaxTagBytes = 128;
constexpr size_t kMaxRepositoryBytes = 255;

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsLetterOrDigit(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }

bool IsTag(std::string_view tag) {
  if (tag.empty() || tag.size() > kMaxTagBytes || tag[0] == '.' || tag[0] == '-') return false;
  return std::ranges::all_of(tag, [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '.' || c == '-'; });
}

// Lower case letters and digits, with one of ".", "_", "__" or any number of dashes between.
bool IsPathComponent(std::string_view part) {
  if (part.empty() || !IsLower(part.front()) || !IsLower(part.back())) return false;
  for (size_t i = 0; i < part.size();) {
    if (IsLower(part[i])) {
      ++i;
      continue;
    }
    const size_t end = std::find_if(part.begin() + static_cast<std::ptrdiff_t>(i), part.end(), IsLower) - part.begin();
    const std::string_view separator = part.substr(i, end - i);
    const bool dashes = separator.find_first_not_of('-') == std::string_view::npos;
    if (!dashes && separator != "." && separator != "_" && separator != "__") return false;
    i = end;
  }
  return true;
}

// A domain is what has a dot or a port, or is localhost, or has capitals.
bool LooksLikeDomain(std::string_view part) {
  return part.find_first_of(".:") != std::string_view::npos || part == "localhost" ||
         std::ranges::any_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool IsDomain(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
}

bool IsRepository(std::string_view name) {
  if (name.empty() || name.size() > kMaxRepositoryBytes) return false;
  if (size_t slash = name.find('/'); slash != std::string_view::npos && LooksLikeDomain(name.substr(0, slash))) {
    if (!IsDomain(name.substr(0, slash))) return false;
    name.remove_prefix(slash + 1);
  }
  while (true) {
    const size_t slash = name.find('/');
    if (!IsPathComponent(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string_view ImageTag(std::string_view image) {
  const size_t at = image.find('@');
  const bool has_digest = at != std::string_view::npos;
  std::string_view name = image.substr(0, at);
  std::string_view tag = has_digest ? "" : "latest";
  const size_t slash = name.rfind('/');
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    tag = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (!IsTag(tag)) return "";
  }
  return IsRepository(name) ? tag : "";
}

std::string_view DefaultPullPolicy(std::string_view image) {
  return ImageTag(image) == "latest" ? "Always" : "IfNotPresent";
}

}  // namespace baton::api::builtin
