// One line of type text as it is read from left to right. Internal to api/type_text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::api {

class TypeLine {
 public:
  TypeLine(std::string_view file, size_t number, std::string_view text) : file_(file), number_(number), rest_(text) {}

  // After white space: nothing more but perhaps a comment.
  bool AtEnd();
  // The next character after white space; 0 at the end.
  char Peek();
  // Steps over `c` when it comes next.
  bool Take(char c);

  // Up to white space or the bracket that closes the type around it. Quotes, brackets and parentheses that open inside
  // hold it together: default={"a": 1}. Empty at the end and before a closing bracket.
  Result<std::string_view> Word();
  // A quoted JSON string.
  Result<std::string> Quoted();

  Error Wrong(std::string_view what) const;  // "core.types, line 3: what"

 private:
  Result<size_t> QuotedEnd(size_t at) const;

  std::string_view file_;
  size_t number_;
  std::string_view rest_;
};

}  // namespace baton::api
