// Random numbers: helpers over 64 uniform bits, the seeded generator and the system's.
#include "rt/random.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "base/uuid.h"

namespace baton::rt {

uint64_t Random::Below(uint64_t bound) {
  INVARIANT(bound > 0, "Below(0) has no answer");
  // Lemire's multiply-and-reject: the high half of a 128-bit product is uniform once the few biased low halves are
  // redone.
  while (true) {
    const auto product = static_cast<unsigned __int128>(Next()) * bound;
    const auto low = static_cast<uint64_t>(product);
    if (low >= bound || low >= (0 - bound) % bound) return static_cast<uint64_t>(product >> 64);
  }
}

int64_t Random::Between(int64_t low, int64_t high) {
  INVARIANT(low <= high, "an empty range");
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = width == 0 ? Next() : Below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

void Random::Fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    uint64_t word = Next();
    if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);  // the same bytes everywhere
    const size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(bytes.data(), &word, count);
    bytes = bytes.subspan(count);
  }
}

Uid Random::NewUid() {
  std::array<std::byte, 16> bytes;
  Fill(bytes);
  return UuidFromRandomBytes(bytes);
}

SeededRandom::SeededRandom(uint64_t seed) {
  for (uint64_t& word : state_) {  // splitmix64, so that near seeds give unlike states
    seed += 0x9E3779B97F4A7C15ULL;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    word = z ^ (z >> 31);
  }
}

uint64_t SeededRandom::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t SystemRandom::Next() {
  static_assert(sizeof buffer_ <= 256, "getrandom gives up to 256 bytes whole or not at all");
  if (used_ == buffer_.size()) {
    ssize_t got = -1;
    do {
      got = getrandom(buffer_.data(), sizeof buffer_, 0);
    } while (got < 0 && errno == EINTR);  // by a signal, before the system has gathered enough
    INVARIANT(got == sizeof buffer_, "the system gives no random numbers");
    used_ = 0;
  }
  return std::exchange(buffer_[used_++], 0);  // a number is given out once
}

}  // namespace baton::rt
