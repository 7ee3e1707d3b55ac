// The end of a process whose invariant broke: one line on standard error, then abort.
#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace baton {

void InvariantBroken(std::string_view condition, std::string_view message, std::source_location where) {
  std::fprintf(stderr, "level=fatal msg=\"invariant broken\" at=%s:%u condition=\"%.*s\" why=\"%.*s\"\n",
               where.file_name(), static_cast<unsigned>(where.line()), static_cast<int>(condition.size()),
               condition.data(), static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace baton
