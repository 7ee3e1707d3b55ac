// gzip in memory, and un-gzip of a stream. A piece becomes at most a thousand times larger (deflate's own bound), so
// whoever feeds small pieces and counts what comes out cannot be flooded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace baton::net {

std::string Gzip(const Body& body);

// Feed it the pieces as they come.
class GunzipStream {
 public:
  GunzipStream();
  ~GunzipStream();
  GunzipStream(const GunzipStream&) = delete;
  GunzipStream& operator=(const GunzipStream&) = delete;
  // What this piece decodes to. kInvalid for what is not gzip, and for all that follows.
  Result<std::string> Feed(std::string_view piece);
  // Nothing was fed, or all members were (checksums included): the body may end here.
  bool complete() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton::net
