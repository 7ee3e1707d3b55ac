// The delays between tries.
#include "rt/retry.h"

namespace baton::rt {

namespace {

// A number that does not fit (or is none) becomes the nearest that does.
Duration FromNanoseconds(double count) {
  if (!(count > 0)) return Duration::zero();
  if (count >= static_cast<double>(Duration::max().count())) return Duration::max();
  return Duration(static_cast<Duration::rep>(count));
}

}  // namespace

Duration Backoff::Next(Random& random) {
  const auto base = static_cast<double>(std::min(next_, max_).count());
  next_ = FromNanoseconds(base * factor_);
  return FromNanoseconds(base * (1.0 + jitter_ * random.Unit()));
}

}  // namespace baton::rt
