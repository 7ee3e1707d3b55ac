// Image names, by hand: the grammar is small and a name is parsed for every container of every object.
#include "overrides/image.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace baton::overrides {
namespace {

constexpr size_t kMinDigestDigits = 32;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
bool IsAlphanumeric(char c) { return IsLetter(c) || IsDigit(c); }
bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsHex(char c) { return IsLowerHex(c) || (c >= 'A' && c <= 'F'); }

// Lower case letters and digits with '.', '_', "__" or dashes between them.
bool IsPathComponent(std::string_view text) {
  const auto alphanumeric = [](char c) { return IsLower(c) || IsDigit(c); };
  size_t at = 0;
  while (true) {
    const size_t begin = at;
    while (at < text.size() && alphanumeric(text[at])) ++at;
    if (at == begin) return false;
    if (at == text.size()) return true;
    const size_t separator = at;
    while (at < text.size() && text[at] == text[separator]) ++at;
    const size_t length = at - separator;
    const char c = text[separator];
    if (!(c == '-' || (c == '_' && length <= 2) || (c == '.' && length == 1))) return false;
  }
}

bool IsRemoteName(std::string_view text) { return std::ranges::all_of(Split(text, '/'), IsPathComponent); }

bool IsDomainLabel(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, [](char c) { return IsAlphanumeric(c) || c == '-'; });
}

// A host name, an IPv4 address or an IPv6 address in brackets, perhaps with a port.
bool IsDomain(std::string_view text) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    if (!std::ranges::all_of(text.substr(1, end - 1), [](char c) { return IsHex(c) || c == ':'; })) return false;
    rest = text.substr(end + 1);
  } else {
    const size_t end = std::min(text.find(':'), text.size());
    if (!std::ranges::all_of(Split(text.substr(0, end), '.'), IsDomainLabel)) return false;
    rest = text.substr(end);
  }
  if (rest.empty()) return true;
  return rest.size() > 1 && rest[0] == ':' && std::ranges::all_of(rest.substr(1), IsDigit);
}

// Of an algorithm that is known, with as many digits as it has.
bool IsDigest(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, size_t>, 3> kAlgorithms{
      {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}}};
  return std::ranges::any_of(kAlgorithms, [&](const auto& algorithm) {
    return text.starts_with(algorithm.first) && text.size() == algorithm.first.size() + algorithm.second &&
           std::ranges::all_of(text.substr(algorithm.first.size()), IsLowerHex);
  });
}

Error NoImage(std::string_view text, std::string_view why) {
  return InvalidError(StrCat(Quote(text), " is no image name: ", why));
}

// Splits the name without tag and digest, which must be valid.
Result<void> ReadName(std::string_view text, std::string_view name, Image& image) {
  const size_t slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  const bool domain_first = slash != std::string_view::npos && IsDomain(first) && IsRemoteName(name.substr(slash + 1));
  if (!domain_first && !IsRemoteName(name)) {
    if (IsRemoteName(ToLower(name))) return NoImage(text, "a repository must be in lower case");
    return NoImage(text, "expected [registry[:port]/]repository[:tag][@digest]");
  }
  if ((domain_first ? name.size() - slash - 1 : name.size()) > kMaxRepositoryBytes) {
    return NoImage(text, StrCat("the repository has more than ", kMaxRepositoryBytes, " characters"));
  }
  const bool registry =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  image.registry = registry ? first : std::string_view();
  image.repository = registry ? name.substr(slash + 1) : name;
  return {};
}

}  // namespace

bool IsImageTag(std::string_view text) {
  const auto word = [](char c) { return IsAlphanumeric(c) || c == '_'; };
  return !text.empty() && text.size() <= kMaxTagBytes && word(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return word(c) || c == '.' || c == '-'; });
}

bool LooksLikeDigest(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.size() - colon - 1 < kMinDigestDigits) return false;
  bool part_begins = true;
  for (const char c : text.substr(0, colon)) {
    const bool separator = c == '-' || c == '_' || c == '+' || c == '.';
    if (part_begins ? !IsLetter(c) : !IsAlphanumeric(c) && !separator) return false;
    part_begins = separator;
  }
  return !part_begins && std::ranges::all_of(text.substr(colon + 1), IsHex);
}

Result<Image> ParseImage(std::string_view text) {
  if (text.empty()) return InvalidError("there is no image name");
  Image image;
  std::string_view name = text;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    const std::string_view digest = name.substr(at + 1);
    if (!IsDigest(digest)) return NoImage(text, StrCat(Quote(digest), " is no digest"));
    image.digest = digest;
    name = name.substr(0, at);
  }
  // A ':' behind the last '/' begins the tag; one before it, a port.
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    const std::string_view tag = name.substr(colon + 1);
    if (!IsImageTag(tag)) return NoImage(text, StrCat(Quote(tag), " is no tag"));
    image.tag = tag;
    name = name.substr(0, colon);
  }
  TRY(ReadName(text, name, image));
  return image;
}

std::string PrintImage(const Image& image) {
  return StrCat(image.registry, image.registry.empty() ? "" : "/", image.repository, image.tag.empty() ? "" : ":",
                image.tag, image.digest.empty() ? "" : "@", image.digest);
}

void SetTagOrDigest(Image& image, std::string_view text) {
  if (IsImageTag(text)) {
    image.tag = text;
    image.digest.clear();
  } else if (LooksLikeDigest(text)) {
    image.tag.clear();
    image.digest = text;
  }
}

}  // namespace baton::overrides
