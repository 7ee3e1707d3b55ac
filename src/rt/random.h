// Random: the only source of chance. Everything that needs a random choice, a jitter or an id takes a Random&.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "base/time.h"

namespace baton::rt {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;  // 64 uniform bits

  uint64_t Below(uint64_t bound);              // uniform in [0, bound), without bias; bound > 0
  int64_t Between(int64_t low, int64_t high);  // uniform in [low, high]
  double Unit();                               // uniform in [0, 1)
  bool Chance(double probability) { return Unit() < probability; }
  Duration Between(Duration low, Duration high) { return Duration(Between(low.count(), high.count())); }
  void Fill(std::span<std::byte> bytes);
  Uid NewUid();  // a random UUID
};

// The same numbers for the same seed, on every machine and in every build. For simulation and tests, never for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);
  uint64_t Next() override;  // xoshiro256**
  // A generator of its own, for a part that must not disturb the numbers of others.
  SeededRandom Fork() { return SeededRandom(Next()); }

 private:
  std::array<uint64_t, 4> state_;
};

// The operating system's generator, buffered: good for ids and keys.
class SystemRandom final : public Random {
 public:
  uint64_t Next() override;

 private:
  std::array<uint64_t, 32> buffer_{};
  size_t used_ = buffer_.size();
};

}  // namespace baton::rt
