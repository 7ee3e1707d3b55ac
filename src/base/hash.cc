// SHA-256 on OpenSSL's EVP, and SafeEncode.
#include "base/hash.h"

#include <openssl/evp.h>

#include <utility>

#include "base/invariant.h"
#include "base/strings.h"

namespace baton {
namespace {

// Looked up once: OpenSSL 3 otherwise searches its providers at every start of a digest. Never freed.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  INVARIANT(algorithm != nullptr, "OpenSSL has no SHA-256");
  return algorithm;
}

}  // namespace

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) { INVARIANT(context != nullptr, "no memory for a digest"); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }

  void Start() { INVARIANT(EVP_DigestInit_ex2(context, Algorithm(), nullptr) == 1, "SHA-256 does not start"); }

  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { state_->Start(); }
Sha256::Sha256(Sha256&& other) noexcept = default;
Sha256& Sha256::operator=(Sha256&& other) noexcept = default;
Sha256::~Sha256() = default;

Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>()) {
  INVARIANT(EVP_MD_CTX_copy_ex(state_->context, other.state_->context) == 1, "no memory to copy a digest");
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) *this = Sha256(other);
  return *this;
}

Sha256& Sha256::Update(std::span<const std::byte> bytes) {
  INVARIANT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "SHA-256 takes no more");
  return *this;
}

Sha256& Sha256::Update(std::string_view text) { return Update(std::as_bytes(std::span(text))); }

Sha256::Digest Sha256::Finish() {
  Digest digest;
  unsigned size = 0;
  INVARIANT(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), &size) == 1 &&
                size == kBytes,
            "SHA-256 does not end");
  state_->Start();
  return digest;
}

Sha256::Digest Sha256Of(std::string_view text) { return Sha256().Update(text).Finish(); }

std::string Sha256Hex(std::string_view text) { return HexEncode(Sha256Of(text)); }

std::string SafeEncode(std::string_view text) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out(text);
  for (char& c : out) c = kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  return out;
}

}  // namespace baton
