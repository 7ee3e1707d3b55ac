// The token file: CSV as Go reads it. Tokens are kept and compared as SHA-256 digests, all of them each time, so that
// the time that Find() takes tells nothing about a token, not even its length.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/tokens.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton::apiserver {
namespace {

constexpr size_t kTokenFileBytesMax = size_t{8} << 20;

std::string Digest(std::string_view token) {
  const Sha256::Digest digest = Sha256Of(token);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// In a time that does not depend on where they differ. The sizes are the same.
bool SameDigest(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  size_t line() const { return line_; }  // where the last record began

  // False at the end. Empty lines are no records.
  Result<bool> Next(std::vector<std::string>& record) {
    record.clear();
    while (SkipLineBreak()) {
    }
    if (text_.empty()) return false;
    line_ = next_line_;
    while (true) {
      record.push_back(text_.starts_with('"') ? TRY(Quoted()) : TRY(Plain()));
      if (text_.empty() || SkipLineBreak()) return true;
      text_.remove_prefix(1);  // the comma
    }
  }

 private:
  bool SkipLineBreak() {
    if (text_.starts_with("\r\n")) text_.remove_prefix(1);
    if (!text_.starts_with('\n')) return false;
    text_.remove_prefix(1);
    ++next_line_;
    return true;
  }

  bool AtFieldEnd() const { return text_.empty() || text_[0] == ',' || text_[0] == '\n' || text_.starts_with("\r\n"); }

  Result<std::string> Plain() {
    std::string field;
    for (; !AtFieldEnd(); text_.remove_prefix(1)) {
      if (text_[0] == '"') return Wrong("a bare \" in a field without quotes");
      field += text_[0];
    }
    return field;
  }

  Result<std::string> Quoted() {
    text_.remove_prefix(1);
    std::string field;
    while (!text_.empty()) {
      const char c = text_[0];
      text_.remove_prefix(1);
      if (c == '\n') ++next_line_;
      if (c != '"') {
        field += c;
      } else if (text_.starts_with('"')) {
        text_.remove_prefix(1);
        field += '"';
      } else if (AtFieldEnd()) {
        return field;
      } else {
        return Wrong("text after a closing \"");
      }
    }
    return Wrong("a \" that is not closed");
  }

  Error Wrong(std::string_view what) const { return InvalidError(StrCat("token file, line ", line_, ": ", what)); }

  std::string_view text_;
  size_t line_ = 1;
  size_t next_line_ = 1;
};

User ToUser(const std::vector<std::string>& record) {
  User user{.name = record[1], .uid = record[2], .groups = {}, .extra = {}};
  if (record.size() < 4) return user;
  for (const std::string_view group : Split(record[3], ',')) {
    if (!group.empty()) user.groups.emplace_back(group);
  }
  return user;
}

}  // namespace

Result<StaticTokens> StaticTokens::Parse(std::string_view csv) {
  if (csv.size() > kTokenFileBytesMax)
    return TooLargeError(StrCat("a token file of ", csv.size(), " bytes: the limit is ", kTokenFileBytesMax));
  if (!IsUtf8(csv)) return InvalidError("the token file is not UTF-8");
  StaticTokens tokens;
  CsvReader reader(csv);
  std::vector<std::string> record;
  while (TRY(reader.Next(record))) {
    const auto wrong = [&](std::string_view what) {
      return InvalidError(StrCat("token file, line ", reader.line(), ": ", what));  // never the token itself
    };
    if (record.size() < 3)
      return wrong(StrCat("at least 3 columns (token, user name, user uid) are needed, found ", record.size()));
    if (record[0].empty()) return wrong("the token is empty");
    if (record[1].empty()) return wrong("the user name is empty");
    if (tokens.Find(record[0]) != nullptr) return wrong("this token stands further above, too");
    tokens.tokens_.emplace_back(Digest(record[0]), ToUser(record));
  }
  return tokens;
}

const User* StaticTokens::Find(std::string_view token) const {
  const std::string digest = Digest(token);
  const User* found = nullptr;
  for (const auto& [known, user] : tokens_) {
    if (SameDigest(known, digest)) found = &user;
  }
  return found;
}

}  // namespace baton::apiserver
