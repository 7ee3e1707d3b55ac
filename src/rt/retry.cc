// The delays between tries.
#include "rt/retry.h"

namespace baton::rt {

Duration Backoff::Next(Random& random) {
  const Duration base = std::min(next_, max_);
  const double grown = static_cast<double>(base.count()) * factor_;
  next_ = grown >= static_cast<double>(max_.count()) ? max_ : Duration(static_cast<Duration::rep>(grown));
  const double stretch = 1.0 + jitter_ * random.Unit();
  return Duration(static_cast<Duration::rep>(static_cast<double>(base.count()) * stretch));
}

}  // namespace baton::rt
