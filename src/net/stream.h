// ByteStream: a connection as the protocol layers see it: bytes in, bytes out. TCP, TLS, an in-memory pipe and the
// fault gate of the tests all look the same, so HTTP runs on any of them and on any loop.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::net {

// Who is at the other end, as far as TLS proved it.
struct PeerIdentity {
  bool has_certificate = false;            // a client certificate that our CA signed
  std::string common_name;                 // CN: the Kubernetes user
  std::vector<std::string> organizations;  // O: the Kubernetes groups
  std::vector<std::string> dns_names;      // SANs
};

// One reader and one writer at a time; reading and writing may overlap. Dropping a Task of it is safe at any point:
// bytes read so far by a dropped Read are not lost to the next one; a dropped Write may have sent a part, so close the
// stream.
class ByteStream {
 public:
  virtual ~ByteStream() = default;  // closes at once

  // At least one byte, at most buffer.size(); 0 when the peer closed its side cleanly. A connection that broke, or a
  // TLS connection cut without a close_notify, is kUnavailable. The buffer is filled at the very end, with no
  // suspension before the awaiting coroutine goes on: so whoever awaits this directly may lend one buffer to many
  // streams (see ReadScratch).
  virtual rt::Task<Result<size_t>> Read(std::span<char> buffer) = 0;

  // All of it, or an error. Waits while the peer does not read.
  virtual rt::Task<Result<void>> Write(std::string_view bytes) = 0;

  // What can be sent without waiting, from the front; 0 when nothing can. What is left must be what is written next.
  virtual Result<size_t> TryWrite(std::string_view /*bytes*/) { return size_t{0}; }

  // We send no more (TLS close_notify, TCP FIN); reading goes on.
  virtual rt::Task<Result<void>> CloseWrite() = 0;

  virtual std::string peer_address() const = 0;         // "127.0.0.1:40312", for logs
  virtual std::string_view alpn() const { return {}; }  // "h2", "http/1.1" or ""
  virtual const PeerIdentity& peer_identity() const = 0;
};

// Writes all of it; a peer that takes nothing for `stall` is kDeadlineExceeded. Costs no fiber while the peer keeps up.
rt::Task<Result<void>> WriteWithin(ByteStream& stream, rt::Loop& loop, Duration stall, std::string_view bytes);

// A buffer for `co_await stream.Read(ReadScratch())`, shared by all fibers of this thread: an idle connection then
// holds none. Its content is gone at the next suspension. Not for a Read inside WithDeadline or WhenAny, which hand a
// result over between two fibers.
std::span<char> ReadScratch();

// Two ends of a connection in memory, with a bounded buffer each way: for tests and for the virtual loop.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakePipe(size_t buffer_bytes = size_t{64} << 10);

}  // namespace baton::net
