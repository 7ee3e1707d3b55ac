// Regular expressions of schemas, compiled once and kept. The syntax is RE2's, which is Go's and so Kubernetes'.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace baton::api {

inline constexpr size_t kPatternsKept = 1024;  // compiled expressions; when there are more, all are dropped

// What is wrong with the pattern, or nothing.
std::optional<std::string> PatternError(const std::string& pattern);

// True when some part of the text matches. An invalid pattern matches nothing.
bool PatternMatches(const std::string& pattern, std::string_view text);

}  // namespace baton::api
