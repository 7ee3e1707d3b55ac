// Transport: TCP and TLS on the real loop. The only place that sees sockets.
//
// Sockets are non-blocking and waited for, never handed to a pending operation with a buffer, so every task here can be
// dropped at any point. TLS runs directly on the socket (no intermediate buffers), which keeps an idle connection
// small.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/stream.h"
#include "net/tls.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace baton::net {

// "127.0.0.1:6443", "[::1]:0", "localhost:8080"
struct Endpoint {
  std::string host;
  uint16_t port = 0;
  std::string ToString() const;  // IPv6 in brackets
};
Result<Endpoint> ParseEndpoint(std::string_view text);

class Listener {
 public:
  virtual ~Listener() = default;
  virtual Endpoint endpoint() const = 0;  // with the port that was really bound
  // The next TCP connection. TLS is the next step, in the connection's own fiber, so that a slow handshake holds up
  // nobody.
  virtual rt::Task<Result<std::unique_ptr<ByteStream>>> Accept() = 0;
};

// An occupied port is kAlreadyExists and says which; a bad address kInvalid.
Result<std::unique_ptr<Listener>> Listen(rt::RealLoop& loop, const Endpoint& endpoint);

// The server side of TLS on an accepted connection (one that Listener::Accept or ConnectTcp returned).
rt::Task<Result<std::unique_ptr<ByteStream>>> AcceptTls(rt::RealLoop& loop, std::unique_ptr<ByteStream> tcp,
                                                        std::shared_ptr<TlsServerContext> context);

// Resolves and connects; tries every address.
rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectTcp(rt::RealLoop& loop, Endpoint endpoint);
rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectTls(rt::RealLoop& loop, std::unique_ptr<ByteStream> tcp,
                                                         std::shared_ptr<TlsClientContext> context);

}  // namespace baton::net
