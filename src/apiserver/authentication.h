// Authentication: from a request to a User. Client certificates (CN, O), bearer tokens of service accounts, and a
// static list; nobody else gets in, unless anonymous requests are switched on.
#pragma once

#include <string>

#include "apiserver/core.h"
#include "apiserver/tokens.h"
#include "apiserver/user.h"
#include "base/result.h"
#include "net/http.h"

namespace baton::apiserver {

class Authenticator {
 public:
  struct Options {
    StaticTokens static_tokens;
    const TokenSigner* signer = nullptr;  // null: no service-account tokens
    bool anonymous = false;
  };
  Authenticator(Core& core, Options options) : core_(core), options_(std::move(options)) {}

  // 401 when the request shows nothing valid. A token that is wrong is refused even beside a good certificate.
  Result<User> Authenticate(const net::Request& request);

  // Who a bearer token is of; kUnauthorized when it is nobody's. For TokenReview, too.
  Result<User> FromToken(std::string_view token, std::string_view audience);

  const TokenSigner* signer() const { return options_.signer; }

 private:
  // The object is there, and the same as when the token was signed.
  bool IsLive(std::string_view plural, std::string_view ns, std::string_view name, std::string_view uid) const;

  Core& core_;
  Options options_;
};

}  // namespace baton::apiserver
