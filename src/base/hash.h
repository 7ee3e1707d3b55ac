// Hashes: SHA-256 for content, FNV for the names that Kubernetes and Karmada derive.
//
//   std::string digest = Sha256Hex(text);
//   Sha256().Update(header).Update(body).Finish();
//
// FNV is not a defence against anyone who chooses the input; it is here because derived names must come out the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace baton {

// SHA-256 over pieces. Finish() gives the digest and makes the object ready for the next message. Copies go on
// independently; a moved-from object may only be destroyed or assigned.
class Sha256 {
 public:
  static constexpr size_t kBytes = 32;
  using Digest = std::array<std::byte, kBytes>;

  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;
  ~Sha256();

  Sha256& Update(std::span<const std::byte> bytes);
  Sha256& Update(std::string_view text);
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256::Digest Sha256Of(std::string_view text);

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view text);

namespace hash_internal {

// FNV's step on each byte: FNV-1a takes the byte in before it multiplies, FNV-1 after.
template <class Word, Word kOffset, Word kPrime, bool kByteFirst>
constexpr Word Fnv(std::string_view text) {
  Word hash = kOffset;
  for (const char c : text) {
    if constexpr (kByteFirst) hash ^= static_cast<unsigned char>(c);
    hash *= kPrime;
    if constexpr (!kByteFirst) hash ^= static_cast<unsigned char>(c);
  }
  return hash;
}

}  // namespace hash_internal

// Go's hash/fnv New32a, New64a and New32.
constexpr uint32_t Fnv1a32(std::string_view text) {
  return hash_internal::Fnv<uint32_t, 0x811c9dc5, 0x01000193, true>(text);
}
constexpr uint64_t Fnv1a64(std::string_view text) {
  return hash_internal::Fnv<uint64_t, 0xcbf29ce484222325, 0x00000100000001b3, true>(text);
}
constexpr uint32_t Fnv1_32(std::string_view text) {
  return hash_internal::Fnv<uint32_t, 0x811c9dc5, 0x01000193, false>(text);
}

// Kubernetes' rand.SafeEncodeString: each character becomes one of an alphabet without vowels, so that no words come
// out. Meant for ASCII, in practice for the decimal digits of a hash: SafeEncode(StrCat(Fnv1a32(text))). (For other
// text Kubernetes' own function leaves NUL bytes at the end; ours encodes every byte.)
std::string SafeEncode(std::string_view text);

}  // namespace baton
