// ES256 by OpenSSL.
#include "net/signing_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/openssl_util.h"

namespace baton::net {
namespace {

using DigestContext = std::unique_ptr<EVP_MD_CTX, OpenSslFree<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, OpenSslFree<ECDSA_SIG_free>>;
using Number = std::unique_ptr<BIGNUM, OpenSslFree<BN_free>>;

constexpr int kCoordinateBytes = 32;  // of P-256
constexpr size_t kPemBytesMax = size_t{64} << 10;

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

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
  if (raw.size() != SigningKey::kSignatureBytes) return std::nullopt;
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

class EcKey final : public SigningKey {
 public:
  static Result<std::unique_ptr<SigningKey>> From(KeyPointer given) {
    std::array<char, 64> group{};
    if (EVP_PKEY_get_base_id(given.get()) != EVP_PKEY_EC ||
        EVP_PKEY_get_group_name(given.get(), group.data(), group.size(), nullptr) != 1 ||
        std::string_view(group.data()) != "prime256v1") {
      return InvalidError("a key that signs tokens must be of the curve P-256");
    }
    auto key = std::unique_ptr<EcKey>(new EcKey(std::move(given)));
    const BioPointer bio(BIO_new(BIO_s_mem()));
    if (bio == nullptr ||
        PEM_write_bio_PKCS8PrivateKey(bio.get(), key->key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
      return OpenSslError("writing a signing key");
    }
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    key->pem_.assign(text, static_cast<size_t>(size));
    const int der_size = i2d_PUBKEY(key->key_.get(), nullptr);
    key->public_der_.resize(static_cast<size_t>(std::max(der_size, 0)));
    unsigned char* at = Bytes(key->public_der_);
    if (der_size <= 0 || i2d_PUBKEY(key->key_.get(), &at) != der_size) return OpenSslError("writing a public key");
    return Result<std::unique_ptr<SigningKey>>(std::move(key));
  }

  const std::string& pem() const override { return pem_; }
  const std::string& public_der() const override { return public_der_; }
  std::string PublicX() const override { return PublicCoordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X); }
  std::string PublicY() const override { return PublicCoordinate(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y); }

  Result<std::string> Sign(std::string_view text) const override {
    const DigestContext context(EVP_MD_CTX_new());
    size_t size = 0;
    std::string der;
    const bool signed_ok =
        context != nullptr && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context.get(), nullptr, &size, Bytes(text), text.size()) == 1 &&
        (der.resize(size), EVP_DigestSign(context.get(), Bytes(der), &size, Bytes(text), text.size()) == 1);
    if (!signed_ok) return OpenSslError("signing");
    der.resize(size);
    const std::optional<std::string> raw = ToRaw(der);
    if (!raw) return OpenSslError("signing");
    return *raw;
  }

  bool Verify(std::string_view text, std::string_view raw) const override {
    if (raw.size() != kSignatureBytes) return false;
    const std::optional<std::string> der = ToDer(raw);
    const DigestContext context(EVP_MD_CTX_new());
    const bool holds = der && context != nullptr &&
                       EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
                       EVP_DigestVerify(context.get(), Bytes(*der), der->size(), Bytes(text), text.size()) == 1;
    ERR_clear_error();
    return holds;
  }

 private:
  explicit EcKey(KeyPointer key) : key_(std::move(key)) {}

  KeyPointer key_;
  std::string pem_;
  std::string public_der_;
};

}  // namespace

Result<std::unique_ptr<SigningKey>> SigningKey::Make() {
  KeyPointer key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslError("making a signing key");
  return EcKey::From(std::move(key));
}

Result<std::unique_ptr<SigningKey>> SigningKey::FromPem(std::string_view pem) {
  if (pem.size() > kPemBytesMax) return TooLargeError(StrCat("a key of more than ", kPemBytesMax, " bytes"));
  return EcKey::From(TRY(ReadPemKey(pem)));
}

}  // namespace baton::net
