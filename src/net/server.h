// HttpServer: serves a Handler over HTTP/1.1 and HTTP/2.
//
//   HttpServer server(loop, handler, options);
//   Task: CO_TRY(co_await server.Serve(listener, tls));        // until Shutdown
//   server.Shutdown(Deadline::After(loop, seconds(20)));       // no new requests; streams are told; then cut
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/transport.h"
#include "rt/scope.h"

namespace baton::net {

// The body of an answer that the server gives by itself: 400, 408, 413, 414, 431, 503.
struct ErrorPage {
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct ServerOptions {
  HttpLimits limits;
  HttpTimeouts timeouts;
  std::function<ErrorPage(int status, std::string_view why)> error_page = nullptr;  // null: the reason as text

  ErrorPage PageFor(int status, std::string_view why) const {
    return error_page != nullptr ? error_page(status, why) : ErrorPage{.body = std::string(why) + "\n"};
  }
};

class HttpServer {
 public:
  HttpServer(rt::Loop& loop, Handler handler, ServerOptions options = {});
  ~HttpServer();

  // Accepts until Shutdown; every connection in a fiber of its own. The listener stays its owner's: destroy it when
  // this returns, so that new connections are refused rather than left waiting. `tls` is asked for each connection, so
  // it can be rotated; null: plain HTTP.
  rt::Task<Result<void>> Serve(rt::RealLoop& loop, Listener& listener,
                               std::function<std::shared_ptr<TlsServerContext>()> tls);

  // One connection until it ends, on any stream and loop: what Serve does, and what tests and the simulator call.
  rt::Task<void> ServeConnection(std::unique_ptr<ByteStream> stream);

  // Stops accepting, answers running requests, ends idle connections (GOAWAY), tells streams; whatever is left at the
  // deadline is cut. Returns when no connection is left.
  rt::Task<void> Shutdown(rt::Deadline deadline);

  size_t connections() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::net
