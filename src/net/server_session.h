// Internal to net: what HttpServer gives to the two protocols, and what they share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/server.h"
#include "net/stream.h"
#include "rt/event.h"
#include "rt/loop.h"

namespace baton::net {

// Lives as long as the server's connections.
struct ServerSession {
  rt::Loop& loop;
  Handler handler;
  ServerOptions options;
  bool shutting_down = false;
  rt::Event shutdown;  // set together with shutting_down
};

// Serve one connection until it ends. `received` is what was read already (to tell the protocols apart without ALPN).
rt::Task<void> ServeHttp1(ServerSession& session, ByteStream& stream, std::string received);
rt::Task<void> ServeHttp2(ServerSession& session, ByteStream& stream, std::string received);

inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Whether a response may have a body at all.
inline bool HasBody(std::string_view method, int status) {
  return method != "HEAD" && status >= 200 && status != 204 && status != 304;
}

// Gzips `body` when it is large, the client accepts it and nobody encoded it before; sets the headers for it. CPU-heavy
// bodies are compressed on the pool.
rt::Task<void> MaybeCompress(rt::Loop& loop, const Headers& request_headers, Headers& headers, Body& body);

}  // namespace baton::net
