// Bearer tokens: service-account tokens as signed JWTs (TokenRequest), and a static list.
//
// A service-account token is an ES256 JWT with the claims of Kubernetes' bound tokens: iss, sub
// (system:serviceaccount:NS:NAME), aud, exp, iat, nbf, kubernetes.io {namespace, serviceaccount {name, uid}, pod?}.
// Verifying checks signature, algorithm (never "none"), issuer, audience, times; the caller checks that the account
// still exists with that uid.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/user.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::apiserver {

inline constexpr std::string_view kDefaultIssuer = "https://kubernetes.default.svc";
inline constexpr Duration kTokenLifeDefault = hours(1);
inline constexpr Duration kTokenLifeMin = minutes(10);  // Kubernetes' number
inline constexpr Duration kTokenLifeMax = hours(24) * 365;
inline constexpr size_t kTokenBytesMax = size_t{16} << 10;

struct ServiceAccountToken {
  std::string ns;
  std::string name;
  std::string uid;
  std::vector<std::string> audiences;
  WallTime issued;
  WallTime expires;
  std::string bound_kind = {};  // "Pod" or "Secret": the token dies with that object; empty: with the account alone
  std::string bound_name = {};
  std::string bound_uid = {};

  User ToUser() const;  // system:serviceaccount:NS:NAME with its groups
};

class TokenSigner {
 public:
  // A new P-256 key, or one from PEM text.
  static Result<std::unique_ptr<TokenSigner>> Make();
  static Result<std::unique_ptr<TokenSigner>> FromPem(std::string_view pem);
  virtual ~TokenSigner() = default;
  virtual std::string ToPem() const = 0;

  virtual Result<std::string> Sign(const ServiceAccountToken& token) const = 0;
  // kUnauthorized when it is not a valid token of ours now.
  virtual Result<ServiceAccountToken> Verify(std::string_view token, std::string_view audience, WallTime now) const = 0;
  virtual json::Value Jwks() const = 0;  // GET /openid/v1/jwks
};

// The CSV of --token-auth-file: token,user,uid,"group1,group2". Compared in constant time.
class StaticTokens {
 public:
  static Result<StaticTokens> Parse(std::string_view csv);
  const User* Find(std::string_view token) const;  // null: unknown

 private:
  std::vector<std::pair<std::string, User>> tokens_;
};

}  // namespace baton::apiserver
