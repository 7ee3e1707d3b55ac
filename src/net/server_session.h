// Internal to net: what HttpServer gives to the two protocols, and what they share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/http.h"
#include "net/server.h"
#include "net/stream.h"
#include "rt/event.h"
#include "rt/intrusive_list.h"
#include "rt/loop.h"

namespace baton::net {

// What is told when the server begins to shut down, once, with no fiber of it running.
class ShutdownHook : public rt::ListHook<ShutdownHook> {
 public:
  virtual void OnShutdown() = 0;

 protected:
  ~ShutdownHook() = default;
};

// Lives as long as the server's connections.
struct ServerSession {
  ServerSession(rt::Loop& l, Handler h, const ServerOptions& o) : loop(l), handler(std::move(h)), options(o) {}

  rt::Loop& loop;
  Handler handler;
  ServerOptions options;
  bool shutting_down = false;
  rt::Event shutdown;                    // set together with shutting_down
  rt::IntrusiveList<ShutdownHook> told;  // each connection's hook
  size_t body_bytes = 0;                 // of bodies that are not complete yet, over all connections

  // Tells all hooks; those that come later look at shutting_down.
  void BeginShutdown();

  // "Tue, 15 Nov 1994 08:12:31 GMT", made once a second.
  std::string_view DateText();

 private:
  std::string date_;
  int64_t date_second_ = -1;
};

// A request's share of ServerSession::body_bytes.
class BodyAccount {
 public:
  explicit BodyAccount(ServerSession& session) : session_(session) {}
  BodyAccount(const BodyAccount&) = delete;
  BodyAccount& operator=(const BodyAccount&) = delete;
  ~BodyAccount() { session_.body_bytes -= bytes_; }

  // False when all incomplete bodies together pass HttpLimits::body_bytes_total_max: answer 503.
  bool Set(size_t bytes) {
    session_.body_bytes += bytes - bytes_;
    bytes_ = bytes;
    return session_.body_bytes <= session_.options.limits.body_bytes_total_max;
  }

 private:
  ServerSession& session_;
  size_t bytes_ = 0;
};

// Serve one connection until it ends. `received` is what was read already (to tell the protocols apart without ALPN).
rt::Task<void> ServeHttp1(ServerSession& session, ByteStream& stream, std::string received);
rt::Task<void> ServeHttp2(ServerSession& session, ByteStream& stream, std::string received);

inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Sends what ends our side (close_notify, FIN), within moments or not at all.
rt::Task<void> CloseGently(rt::Loop& loop, ByteStream& stream);

// Whether a response may have a body at all.
inline bool HasBody(bool head_request, int status) {
  return !head_request && status >= 200 && status != 204 && status != 304;
}

// Whether accept-encoding names gzip, and not with q=0.
bool AcceptsGzip(const Headers& request_headers);

// Whether this body is to be compressed: it is large and nobody has encoded it.
inline bool WorthCompressing(const Headers& headers, const Body& body) {
  return body.size() >= kGzipBytesMin && !headers.Get("content-encoding");
}

// Gzips `body` on the pool and sets the headers for it.
rt::Task<void> Compress(rt::Loop& loop, Headers& headers, Body& body);

}  // namespace baton::net
