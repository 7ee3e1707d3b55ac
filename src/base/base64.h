// Base64 as RFC 4648 has it: the standard alphabet with padding, and the URL alphabet without.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

std::string Base64Encode(std::string_view bytes);
std::string Base64UrlEncode(std::string_view bytes);  // no padding

// Strict: right alphabet, right padding (none for URLs), no stray bits. Line breaks are skipped in the standard form,
// as Go does, which is how Kubernetes reads bytes in JSON.
Result<std::string> Base64Decode(std::string_view text);
Result<std::string> Base64UrlDecode(std::string_view text);

}  // namespace baton
