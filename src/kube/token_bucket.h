// TokenBucket: so many turns a second on the long run, and so many at once after a pause. First come, first served.
// Pure: whoever takes a turn that is not now waits until then by itself.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"

namespace baton::kube {

class TokenBucket {
 public:
  // `per_second` 0 (or less): no limit. `burst` is at least 1.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(std::max(1.0, burst)), tokens_(burst_) {}

  // A turn, and when it is; none when it would come only after `latest`: then nothing was taken.
  std::optional<MonotonicTime> Take(MonotonicTime now, MonotonicTime latest) {
    if (per_second_ <= 0) return now;
    Refill(now);
    const double missing = 1 - tokens_;
    MonotonicTime turn = now;
    if (missing > 0) {
      const double wait = missing / per_second_ * 1e9;
      if (wait > kWaitMax || now + Duration(static_cast<int64_t>(wait)) > latest) return std::nullopt;
      turn = now + Duration(static_cast<int64_t>(wait));
    }
    tokens_ -= 1;
    return turn;
  }

  // A turn that was taken and not used.
  void GiveBack() { tokens_ = std::min(burst_, tokens_ + 1); }

 private:
  static constexpr double kWaitMax = 1e9 * 3600 * 24 * 365;  // what is longer may not fit into a Duration

  void Refill(MonotonicTime now) {
    if (last_ && now > *last_) {
      tokens_ = std::min(burst_, tokens_ + std::chrono::duration<double>(now - *last_).count() * per_second_);
    }
    last_ = now;
  }

  double per_second_;
  double burst_;
  double tokens_;  // below zero: turns that are still to come were taken
  std::optional<MonotonicTime> last_;
};

}  // namespace baton::kube
