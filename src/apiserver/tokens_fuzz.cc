// Hostile tokens: nothing verifies but what was signed, base64url is canonical, and the token file never breaks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apiserver/tokens.h"
#include "base/base64.h"

namespace {

using baton::WallTime;
using baton::apiserver::ServiceAccountToken;
using baton::apiserver::TokenSigner;

constexpr WallTime kNow = WallTime(baton::seconds(1'800'000'000));
constexpr std::string_view kAudience = "a";

void Check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto signer = TokenSigner::Make().value();
  static const std::string good = signer
                                      ->Sign(ServiceAccountToken{.ns = "n",
                                                                 .name = "s",
                                                                 .uid = "u",
                                                                 .audiences = {std::string(kAudience)},
                                                                 .issued = kNow,
                                                                 .expires = kNow + baton::hours(1)})
                                      .value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  Check(signer->Verify(good, kAudience, kNow).ok());
  Check(!signer->Verify(text, kAudience, kNow).ok());

  // The input written over a part of a good token.
  std::string mixed = good;
  if (size > 2) {
    const size_t at = (size_t{data[0]} << 8 | data[1]) % mixed.size();
    mixed.replace(at, size - 2, text.substr(2));
  }
  Check(signer->Verify(mixed, kAudience, kNow).ok() == (mixed == good));

  if (const auto bytes = baton::Base64UrlDecode(text); bytes.ok()) Check(baton::Base64UrlEncode(*bytes) == text);
  if (const auto bytes = baton::Base64Decode(text); bytes.ok()) {
    Check(*baton::Base64Decode(baton::Base64Encode(*bytes)) == *bytes);
  }

  const auto tokens = baton::apiserver::StaticTokens::Parse(text);
  Check(!tokens.ok() || tokens->Find("") == nullptr);
  return 0;
}
