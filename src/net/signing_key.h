// SigningKey: signatures that others can check (ES256: ECDSA on P-256 with SHA-256), for tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::net {

class SigningKey {
 public:
  static constexpr size_t kSignatureBytes = 64;  // two numbers of 32 bytes, as JOSE has them

  static Result<std::unique_ptr<SigningKey>> Make();
  // A private key of the curve P-256; kInvalid for any other.
  static Result<std::unique_ptr<SigningKey>> FromPem(std::string_view pem);
  virtual ~SigningKey() = default;

  virtual const std::string& pem() const = 0;         // PKCS#8; a secret
  virtual const std::string& public_der() const = 0;  // SubjectPublicKeyInfo
  virtual std::string PublicX() const = 0;            // 32 bytes each
  virtual std::string PublicY() const = 0;

  virtual Result<std::string> Sign(std::string_view text) const = 0;
  virtual bool Verify(std::string_view text, std::string_view signature) const = 0;
};

}  // namespace baton::net
