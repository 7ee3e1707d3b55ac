// Base64 (RFC 4648), both alphabets. Strict where a signature depends on it: one text for one value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::apiserver {

// '-' and '_', no padding, as in JWTs. Nothing for any other character, a length that cannot be, or bits left over that
// are not zero.
std::string EncodeBase64Url(std::string_view bytes);
std::optional<std::string> DecodeBase64Url(std::string_view text);

// '+' and '/', padded, as []byte has in Kubernetes' JSON. Line breaks are skipped, as Go does.
std::string EncodeBase64(std::string_view bytes);
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace baton::apiserver
