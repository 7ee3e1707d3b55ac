// Service-account tokens: JWTs (RFC 7519) signed with ES256 (RFC 7518), by OpenSSL.
//
// The signature covers the token's bytes as they came, and nothing of the payload is looked at before it holds.
#include "apiserver/tokens.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/builder.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/openssl_util.h"

namespace baton::apiserver {
namespace {

using net::BioPointer;
using net::KeyPointer;
using net::OpenSslFree;
using DigestContext = std::unique_ptr<EVP_MD_CTX, OpenSslFree<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, OpenSslFree<ECDSA_SIG_free>>;
using Number = std::unique_ptr<BIGNUM, OpenSslFree<BN_free>>;

constexpr int kCoordinateBytes = 32;  // of P-256
constexpr size_t kSignatureBytes = size_t{2} * kCoordinateBytes;
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

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string Sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(Bytes(text), text.size(), Bytes(digest));
  return digest;
}

std::string Coordinate(const BIGNUM* number) {
  std::string bytes(kCoordinateBytes, '\0');
  return BN_bn2binpad(number, Bytes(bytes), kCoordinateBytes) == kCoordinateBytes ? bytes : std::string();
}

std::string PublicCoordinate(const EVP_PKEY* key, const char* which) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, which, &raw) != 1) return {};
  const Number number(raw);
  return Coordinate(number.get());
}

// Two numbers in ASN.1, as OpenSSL has them, from and to two numbers of 32 bytes, as JOSE has them.
std::optional<std::string> ToRaw(std::string_view der) {
  const unsigned char* at = Bytes(der);
  const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (signature == nullptr) return std::nullopt;
  std::string raw = Coordinate(ECDSA_SIG_get0_r(signature.get())) + Coordinate(ECDSA_SIG_get0_s(signature.get()));
  if (raw.size() != kSignatureBytes) return std::nullopt;
  return raw;
}

std::optional<std::string> ToDer(std::string_view raw) {
  const Signature signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(Bytes(raw), kCoordinateBytes, nullptr);
  BIGNUM* s = BN_bin2bn(Bytes(raw.substr(kCoordinateBytes)), kCoordinateBytes, nullptr);
  if (signature == nullptr || r == nullptr || s == nullptr || ECDSA_SIG_set0(signature.get(), r, s) != 1) {
    BN_free(r);  // else the signature owns them
    BN_free(s);
    return std::nullopt;
  }
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return std::nullopt;
  std::string der(static_cast<size_t>(size), '\0');
  unsigned char* at = Bytes(der);
  if (i2d_ECDSA_SIG(signature.get(), &at) != size) return std::nullopt;
  return der;
}

int64_t Seconds(WallTime time) { return std::chrono::floor<seconds>(time).time_since_epoch().count(); }

std::string UserName(const ServiceAccountToken& token) {
  return StrCat("system:serviceaccount:", token.ns, ":", token.name);
}

json::Value ClaimsOf(const ServiceAccountToken& token) {
  json::ArrayBuilder audiences;
  for (const std::string& audience : token.audiences) audiences.Add(audience);
  return json::Object({{"iss", kDefaultIssuer},
                       {"sub", UserName(token)},
                       {"aud", std::move(audiences).Build()},
                       {"iat", Seconds(token.issued)},
                       {"nbf", Seconds(token.issued)},
                       {"exp", Seconds(token.expires)},
                       {"kubernetes.io",
                        json::Object({{"namespace", token.ns},
                                      {"serviceaccount", json::Object({{"name", token.name}, {"uid", token.uid}})}})}});
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
  static Result<std::unique_ptr<TokenSigner>> From(KeyPointer key) {
    std::array<char, 64> group{};
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC ||
        EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), nullptr) != 1 ||
        std::string_view(group.data()) != "prime256v1")
      return InvalidError("the key that signs service account tokens must be of the curve P-256");
    auto signer = std::unique_ptr<EcSigner>(new EcSigner(std::move(key)));
    const BioPointer bio(BIO_new(BIO_s_mem()));
    if (bio == nullptr ||
        PEM_write_bio_PKCS8PrivateKey(bio.get(), signer->key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
      return net::OpenSslError("writing the key that signs service account tokens");
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    signer->pem_.assign(text, static_cast<size_t>(size));
    const int der_size = i2d_PUBKEY(signer->key_.get(), nullptr);
    std::string der(static_cast<size_t>(std::max(der_size, 0)), '\0');
    unsigned char* at = Bytes(der);
    if (der_size <= 0 || i2d_PUBKEY(signer->key_.get(), &at) != der_size)
      return net::OpenSslError("writing the public key of service account tokens");
    signer->key_id_ = Base64UrlEncode(Sha256(der));  // as Kubernetes names its keys
    return Result<std::unique_ptr<TokenSigner>>(std::move(signer));
  }

  std::string ToPem() const override { return pem_; }

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
    StrAppend(text, ".", Base64UrlEncode(TRY(SignatureOf(text))));
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
    if (!signature.ok() || !SignatureHolds(signed_text, *signature)) return Unauthorized("its signature does not hold");
    return ReadClaims(TRY(ParseSegment(segments[1], "payload")), audience, now);
  }

  json::Value Jwks() const override {
    const json::Value key =
        json::Object({{"use", "sig"},
                      {"kty", "EC"},
                      {"kid", key_id_},
                      {"crv", "P-256"},
                      {"alg", "ES256"},
                      {"x", Base64UrlEncode(PublicCoordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X))},
                      {"y", Base64UrlEncode(PublicCoordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y))}});
    return json::Object({{"keys", json::Array({key})}});
  }

 private:
  explicit EcSigner(KeyPointer key) : key_(std::move(key)) {}

  Result<std::string> SignatureOf(std::string_view text) const {
    const DigestContext context(EVP_MD_CTX_new());
    size_t size = 0;
    std::string der;
    const bool signed_ok =
        context != nullptr && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context.get(), nullptr, &size, Bytes(text), text.size()) == 1 &&
        (der.resize(size), EVP_DigestSign(context.get(), Bytes(der), &size, Bytes(text), text.size()) == 1);
    if (!signed_ok) return net::OpenSslError("signing a service account token");
    der.resize(size);
    const std::optional<std::string> raw = ToRaw(der);
    if (!raw) return net::OpenSslError("signing a service account token");
    return *raw;
  }

  bool SignatureHolds(std::string_view text, std::string_view raw) const {
    if (raw.size() != kSignatureBytes) return false;
    const std::optional<std::string> der = ToDer(raw);
    const DigestContext context(EVP_MD_CTX_new());
    const bool holds = der && context != nullptr &&
                       EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
                       EVP_DigestVerify(context.get(), Bytes(*der), der->size(), Bytes(text), text.size()) == 1;
    ERR_clear_error();
    return holds;
  }

  KeyPointer key_;
  std::string pem_;
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
  KeyPointer key(EVP_EC_gen("P-256"));
  if (key == nullptr) return net::OpenSslError("making a key for service account tokens");
  return EcSigner::From(std::move(key));
}

Result<std::unique_ptr<TokenSigner>> TokenSigner::FromPem(std::string_view pem) {
  constexpr size_t kPemBytesMax = size_t{64} << 10;
  if (pem.size() > kPemBytesMax) return TooLargeError(StrCat("a key of more than ", kPemBytesMax, " bytes"));
  return EcSigner::From(TRY(net::ReadPemKey(pem)));
}

}  // namespace baton::apiserver
