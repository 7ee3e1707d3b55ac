// HttpClient: calls one server. Keeps connections: one HTTP/2 connection carries everything when the server speaks it,
// a few HTTP/1.1 ones otherwise. Safe to drop any task at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/http.h"
#include "net/transport.h"
#include "rt/loop.h"

namespace baton::net {

// Where HTTPS_PROXY and NO_PROXY (read by the caller, never here) would send a request.
struct ProxyOptions {
  std::string proxy_url;  // "http://proxy:3128" or with user:password@
  std::string no_proxy;   // "localhost,.svc,10.0.0.0/8"
};
// The proxy for that endpoint, or none.
Result<std::optional<Endpoint>> ChooseProxy(const ProxyOptions& options, const Endpoint& target);

struct ClientOptions {
  Endpoint endpoint;
  // Asked for each new connection, so credentials can be rotated; null: plain HTTP.
  std::function<std::shared_ptr<TlsClientContext>()> tls;
  ProxyOptions proxy;
  HttpLimits limits;
  HttpTimeouts timeouts;
  size_t http1_connections_max = 8;
};

class HttpClient {
 public:
  HttpClient(rt::RealLoop& loop, ClientOptions options);
  // On connections from elsewhere (tests, pipes): `connect` makes a new stream; its alpn() decides the protocol.
  HttpClient(rt::Loop& loop, ClientOptions options,
             std::function<rt::Task<Result<std::unique_ptr<ByteStream>>>()> connect);
  ~HttpClient();

  // The whole response. kUnavailable when the connection could not be made or broke: then nothing is known about the
  // outcome, unless Error's message says that nothing was sent. A request is repeated by itself only on a kept
  // connection that turned out dead before a byte of it was processed (or on a stream that the server refused
  // unprocessed).
  rt::Task<Result<Response>> Call(Request request, rt::Deadline deadline);

  // The response's head within the deadline; its body as it comes.
  rt::Task<Result<std::unique_ptr<ResponseStream>>> Stream(Request request, rt::Deadline deadline);

  // Closes idle connections; running calls go on.
  void CloseIdle();
  size_t connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::net
