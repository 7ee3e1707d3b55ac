// gzip in memory, and un-gzip of a stream, with a limit on what a small input may become.
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
  explicit GunzipStream(size_t output_bytes_max);
  ~GunzipStream();
  // What this piece decodes to. kInvalid for what is not gzip, kTooLarge beyond the limit over all pieces.
  Result<std::string> Feed(std::string_view piece);
  bool complete() const;  // the trailer was seen and its checksum is right

 private:
  struct State;
  std::unique_ptr<State> state_;
  size_t left_;
};

}  // namespace baton::net
