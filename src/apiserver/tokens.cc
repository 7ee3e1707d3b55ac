// Service-account tokens: JWTs (RFC 7519) signed with ES256 (RFC 7518).
//
// The signature covers the token's bytes as they came, and nothing of the payload is looked at before it holds.
#include "apiserver/tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/builder.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/signing_key.h"

namespace baton::apiserver {
namespace {

constexpr size_t kTokenDepthMax = 16;
constexpr size_t kTokenValuesMax = 4096;
// Bounds a claim before it is multiplied into nanoseconds.
constexpr int64_t kEpochSecondsMax = 9'000'000'000;
// Another machine's clock, or ours after it was set back, may be behind the one that issued the token. A token is never
// good after its end.
constexpr Duration kClockLeeway = minutes(1);

Error Unauthorized(std::string why) {
  return {ErrorKind::kUnauthorized, StrCat("not a valid service account token: ", why)};
}

int64_t Seconds(WallTime time) { return std::chrono::floor<seconds>(time).time_since_epoch().count(); }

std::string UserName(const ServiceAccountToken& token) {
  return StrCat("system:serviceaccount:", token.ns, ":", token.name);
}

// What a token can be bound to, and the claim that says so.
struct BoundKind {
  std::string_view kind;
  std::string_view claim;
};
constexpr std::array<BoundKind, 2> kBoundKinds = {{{"Pod", "pod"}, {"Secret", "secret"}}};

json::Value ClaimsOf(const ServiceAccountToken& token) {
  json::ArrayBuilder audiences;
  for (const std::string& audience : token.audiences) audiences.Add(audience);
  json::Value about = json::Object(
      {{"namespace", token.ns}, {"serviceaccount", json::Object({{"name", token.name}, {"uid", token.uid}})}});
  for (const BoundKind& kind : kBoundKinds) {
    if (token.bound_kind != kind.kind) continue;
    about.Set(kind.claim, json::Object({{"name", token.bound_name}, {"uid", token.bound_uid}}));
  }
  return json::Object({{"iss", kDefaultIssuer},
                       {"sub", UserName(token)},
                       {"aud", std::move(audiences).Build()},
                       {"iat", Seconds(token.issued)},
                       {"nbf", Seconds(token.issued)},
                       {"exp", Seconds(token.expires)},
                       {"kubernetes.io", about}});
}

Result<json::Value> ParseSegment(std::string_view segment, std::string_view what) {
  const Result<std::string> text = Base64UrlDecode(segment);
  if (!text.ok()) return Unauthorized(StrCat("its ", what, " is not base64url"));
  auto value = json::Parse(*text, {.max_depth = kTokenDepthMax, .max_values = kTokenValuesMax});
  if (!value.ok() || !value->is_object()) return Unauthorized(StrCat("its ", what, " is no JSON object"));
  return value;
}

Result<WallTime> TimeClaim(const json::Value& claims, std::string_view name) {
  const json::Value& claim = claims[name];
  if (!claim.is_int() || claim.int_or(0) < 0 || claim.int_or(0) > kEpochSecondsMax)
    return Unauthorized(StrCat("its ", name, " is no time"));
  return WallTime(seconds(claim.int_or(0)));
}

std::vector<std::string> AudienceClaim(const json::Value& claim) {
  if (claim.is_string()) return {std::string(claim.str())};
  std::vector<std::string> audiences;
  for (const json::Value& item : claim.items()) {
    if (item.is_string()) audiences.emplace_back(item.str());
  }
  return audiences;
}

// Claims whose signature holds.
Result<ServiceAccountToken> ReadClaims(const json::Value& claims, std::string_view audience, WallTime now) {
  if (claims["iss"].str() != kDefaultIssuer) return Unauthorized("it has another issuer");
  const json::Value& about = claims["kubernetes.io"];
  ServiceAccountToken token;
  token.ns = about["namespace"].str();
  token.name = about["serviceaccount"]["name"].str();
  token.uid = about["serviceaccount"]["uid"].str();
  if (token.ns.empty() || token.name.empty() || token.uid.empty()) return Unauthorized("it names no service account");
  if (claims["sub"].str() != UserName(token)) return Unauthorized("its subject is not its service account");
  for (const BoundKind& kind : kBoundKinds) {
    const json::Value& bound = about[kind.claim];
    if (!bound.is_object()) continue;
    token.bound_kind = kind.kind;
    token.bound_name = bound["name"].str();
    token.bound_uid = bound["uid"].str();
  }
  token.audiences = AudienceClaim(claims["aud"]);
  if (std::ranges::find(token.audiences, audience) == token.audiences.end())
    return Unauthorized("it is for another audience");
  token.issued = TRY(TimeClaim(claims, "iat"));
  token.expires = TRY(TimeClaim(claims, "exp"));
  const WallTime not_before = TRY(TimeClaim(claims, "nbf"));
  if (now >= token.expires) return Unauthorized("it has expired");
  if (now + kClockLeeway < not_before) return Unauthorized("it is not valid yet");
  if (now + kClockLeeway < token.issued) return Unauthorized("it was issued in the future");
  return token;
}

class EcSigner final : public TokenSigner {
 public:
  explicit EcSigner(std::unique_ptr<net::SigningKey> key) : key_(std::move(key)) {
    const Sha256::Digest digest = Sha256Of(key_->public_der());  // as Kubernetes names its keys
    key_id_ = Base64UrlEncode({reinterpret_cast<const char*>(digest.data()), digest.size()});
  }

  std::string ToPem() const override { return key_->pem(); }

  Result<std::string> Sign(const ServiceAccountToken& token) const override {
    if (token.ns.empty() || token.name.empty() || token.uid.empty())
      return InvalidError("a service account token needs the account's namespace, name and uid");
    if (token.expires <= token.issued || Seconds(token.issued) < 0 || Seconds(token.expires) > kEpochSecondsMax)
      return InvalidError("a service account token must end after it begins");
    const json::Value claims = ClaimsOf(token);
    const std::string payload = json::Print(claims);
    if (!IsUtf8(payload)) return InvalidError("a service account token holds text only");
    const std::string header = json::Print(json::Object({{"alg", "ES256"}, {"kid", key_id_}}));
    std::string text = StrCat(Base64UrlEncode(header), ".", Base64UrlEncode(payload));
    StrAppend(text, ".", Base64UrlEncode(TRY(key_->Sign(text))));
    if (text.size() > kTokenBytesMax)
      return TooLargeError(StrCat("a service account token of ", text.size(), " bytes: the limit is ", kTokenBytesMax));
    return text;
  }

  Result<ServiceAccountToken> Verify(std::string_view token, std::string_view audience, WallTime now) const override {
    if (token.size() > kTokenBytesMax) return Unauthorized("it is too large");
    const std::vector<std::string_view> segments = Split(token, '.');
    if (segments.size() != 3) return Unauthorized("it has not three parts");
    const json::Value header = TRY(ParseSegment(segments[0], "header"));
    if (header["alg"].str() != "ES256") return Unauthorized("it is not signed with ES256");
    if (header.Has("crit")) return Unauthorized("it demands extensions that are not known here");
    if (header.Has("kid") && header["kid"].str() != key_id_) return Unauthorized("it is signed with another key");
    const Result<std::string> signature = Base64UrlDecode(segments[2]);
    const std::string_view signed_text = token.substr(0, segments[0].size() + 1 + segments[1].size());
    if (!signature.ok() || !key_->Verify(signed_text, *signature)) return Unauthorized("its signature does not hold");
    return ReadClaims(TRY(ParseSegment(segments[1], "payload")), audience, now);
  }

  json::Value Jwks() const override {
    const json::Value key = json::Object({{"use", "sig"},
                                          {"kty", "EC"},
                                          {"kid", key_id_},
                                          {"crv", "P-256"},
                                          {"alg", "ES256"},
                                          {"x", Base64UrlEncode(key_->PublicX())},
                                          {"y", Base64UrlEncode(key_->PublicY())}});
    return json::Object({{"keys", json::Array({key})}});
  }

 private:
  std::unique_ptr<net::SigningKey> key_;
  std::string key_id_;
};

}  // namespace

User ServiceAccountToken::ToUser() const {
  return {.name = UserName(*this),
          .uid = uid,
          .groups = {"system:serviceaccounts", StrCat("system:serviceaccounts:", ns)},
          .extra = {}};
}

Result<std::unique_ptr<TokenSigner>> TokenSigner::Make() {
  return std::unique_ptr<TokenSigner>(std::make_unique<EcSigner>(TRY(net::SigningKey::Make())));
}

Result<std::unique_ptr<TokenSigner>> TokenSigner::FromPem(std::string_view pem) {
  return std::unique_ptr<TokenSigner>(std::make_unique<EcSigner>(TRY(net::SigningKey::FromPem(pem))));
}

}  // namespace baton::apiserver
