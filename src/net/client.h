// HttpClient: calls one server. Keeps connections: one HTTP/2 connection carries everything when the server speaks it
// (and another one when the server's limit of streams is reached), a few HTTP/1.1 ones otherwise. Safe to drop any task
// at any time. The client outlives its calls; a ResponseStream may outlive the client, and then ends in an error.
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
  bool always = false;    // for every target, local ones too: what a kubeconfig's proxy-url means
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
  size_t http1_connections_max = 8;  // over HTTP/1.1 no more requests and streams at a time: others wait
};

class HttpClient {
 public:
  HttpClient(rt::RealLoop& loop, ClientOptions options);
  // On connections from elsewhere (tests, pipes): `connect` makes a new stream; its alpn() decides the protocol.
  HttpClient(rt::Loop& loop, ClientOptions options,
             std::function<rt::Task<Result<std::unique_ptr<ByteStream>>>()> connect);
  ~HttpClient();

  // The whole response. kUnavailable when the connection could not be made or broke: then nothing is known about the
  // outcome, unless Error's message says that nothing was sent. kInvalid for a request that cannot be sent as it is
  // (control characters in a header or target). A request is repeated by itself only when that does no harm: the server
  // refused it unprocessed, it never went out, or it is a GET, HEAD or OPTIONS on a kept connection that turned out
  // dead before a byte of the answer.
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
