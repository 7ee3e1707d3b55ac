// The server: accepting, telling the protocols apart, shutting down.
#include "net/server.h"

#include <array>
#include <utility>

#include "base/strings.h"
#include "net/gzip.h"
#include "net/server_session.h"
#include "rt/when.h"

namespace baton::net {

struct HttpServer::Impl {
  Impl(rt::Loop& loop, Handler handler, ServerOptions options)
      : session{.loop = loop, .handler = std::move(handler), .options = options}, connections(loop) {}

  ServerSession session;
  rt::Scope connections;  // last: its fibers use the session
};

HttpServer::HttpServer(rt::Loop& loop, Handler handler, ServerOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(handler), options)) {}

HttpServer::~HttpServer() = default;

size_t HttpServer::connections() const { return impl_->connections.active(); }

namespace {

// One accepted connection: TLS first when there is a context.
rt::Task<void> ServeAccepted(HttpServer& server, rt::RealLoop& loop, const HttpTimeouts& timeouts,
                             std::unique_ptr<ByteStream> tcp, std::shared_ptr<TlsServerContext> context) {
  if (context != nullptr) {
    Result<std::unique_ptr<ByteStream>> tls =
        co_await rt::WithDeadline(rt::Deadline::After(loop, timeouts.handshake), "the TLS handshake",
                                  AcceptTls(loop, std::move(tcp), std::move(context)));
    if (!tls.ok()) co_return;
    tcp = *std::move(tls);
  }
  co_await server.ServeConnection(std::move(tcp));
}

}  // namespace

rt::Task<Result<void>> HttpServer::Serve(rt::RealLoop& loop, Listener& listener,
                                         std::function<std::shared_ptr<TlsServerContext>()> tls) {
  rt::Event accept_failed;
  Result<void> failure;
  const auto accept_loop = [&]() -> rt::Task<void> {
    while (true) {
      Result<std::unique_ptr<ByteStream>> accepted = co_await listener.Accept();
      if (!accepted.ok()) {
        failure = accepted.error();
        accept_failed.Set();
        co_return;
      }
      if (connections() >= impl_->session.options.limits.connections_max) continue;  // closed by leaving the block
      impl_->connections.Spawn(
          ServeAccepted(*this, loop, impl_->session.options.timeouts, *std::move(accepted), tls ? tls() : nullptr));
    }
  };
  rt::Scope accepting(impl_->session.loop);
  accepting.Spawn(accept_loop());
  const auto stopped = [&]() -> rt::Task<void> { co_await impl_->session.shutdown.Wait(); };
  const auto failed = [&]() -> rt::Task<void> { co_await accept_failed.Wait(); };
  std::vector<rt::Task<void>> first;
  first.push_back(stopped());
  first.push_back(failed());
  co_await rt::WhenAny(std::move(first));
  co_return failure;
}

rt::Task<void> HttpServer::ServeConnection(std::unique_ptr<ByteStream> stream) {
  ServerSession& session = impl_->session;
  if (stream->alpn() == "h2") {
    co_await ServeHttp2(session, *stream, {});
    co_return;
  }
  if (!stream->alpn().empty()) {
    co_await ServeHttp1(session, *stream, {});
    co_return;
  }
  // Without ALPN the first bytes tell: HTTP/2 begins with a fixed preface.
  std::string received;
  const rt::Deadline deadline = rt::Deadline::After(session.loop, session.options.timeouts.request_header);
  while (received.size() < kHttp2Preface.size() && kHttp2Preface.starts_with(received)) {
    std::array<char, 4096> bytes;
    const Result<size_t> got = co_await rt::WithDeadline(deadline, "the client to send", stream->Read(bytes));
    if (!got.ok() || *got == 0) co_return;
    received.append(bytes.data(), *got);
  }
  if (received.starts_with(kHttp2Preface)) {
    co_await ServeHttp2(session, *stream, std::move(received));
  } else {
    co_await ServeHttp1(session, *stream, std::move(received));
  }
}

rt::Task<void> HttpServer::Shutdown(rt::Deadline deadline) {
  impl_->session.shutting_down = true;
  impl_->session.shutdown.Set();
  const Result<void> drained = co_await rt::WithDeadline(deadline, "connections to end", impl_->connections.Join());
  if (!drained.ok()) impl_->connections.CancelAll();
}

rt::Task<void> MaybeCompress(rt::Loop& loop, const Headers& request_headers, Headers& headers, Body& body) {
  if (body.size() < kGzipBytesMin || headers.Get("content-encoding") ||
      !request_headers.HasToken("accept-encoding", "gzip")) {
    co_return;
  }
  Body shared = body;  // pieces are shared, not copied
  std::string zipped = co_await loop.Offload([shared] { return Gzip(shared); });
  headers.Set("content-encoding", "gzip");
  headers.Add("vary", "accept-encoding");
  body = Body(std::move(zipped));
}

}  // namespace baton::net
