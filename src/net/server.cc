// The server: accepting, telling the protocols apart, shutting down.
#include "net/server.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/server_session.h"
#include "rt/when.h"

namespace baton::net {

struct HttpServer::Impl {
  Impl(rt::Loop& loop, Handler handler, const ServerOptions& options)
      : session(loop, std::move(handler), options), connections(loop) {}

  rt::Task<void> ServeAccepted(rt::RealLoop& loop, std::unique_ptr<ByteStream> tcp, bool with_tls,
                               std::shared_ptr<TlsServerContext> context);
  rt::Task<Result<void>> AcceptAll(rt::RealLoop& loop, Listener& listener,
                                   const std::function<std::shared_ptr<TlsServerContext>()>& tls);
  rt::Task<Result<void>> UntilShutdown();
  rt::Task<void> ServeConnection(ByteStream& stream);
  rt::Task<std::optional<std::string>> ReadFirstBytes(ByteStream& stream);

  ServerSession session;
  rt::Scope connections;  // last: its fibers use the session
};

HttpServer::HttpServer(rt::Loop& loop, Handler handler, ServerOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(handler), options)) {}

HttpServer::~HttpServer() = default;

size_t HttpServer::connections() const { return impl_->connections.active(); }

// One accepted connection: TLS first. A null context with TLS wanted refuses the connection, it never falls back to
// plain text.
rt::Task<void> HttpServer::Impl::ServeAccepted(rt::RealLoop& loop, std::unique_ptr<ByteStream> tcp, bool with_tls,
                                               std::shared_ptr<TlsServerContext> context) {
  if (with_tls) {
    Result<std::unique_ptr<ByteStream>> tls =
        co_await rt::WithDeadline(rt::Deadline::After(loop, session.options.timeouts.handshake), "the TLS handshake",
                                  AcceptTls(loop, std::move(tcp), std::move(context)));
    if (!tls.ok()) co_return;
    tcp = *std::move(tls);
  }
  co_await ServeConnection(*tcp);
}

rt::Task<Result<void>> HttpServer::Impl::AcceptAll(rt::RealLoop& loop, Listener& listener,
                                                   const std::function<std::shared_ptr<TlsServerContext>()>& tls) {
  while (true) {
    std::unique_ptr<ByteStream> accepted = CO_TRY(co_await listener.Accept());
    if (connections.active() >= session.options.limits.connections_max) continue;  // closed by leaving the block
    const bool with_tls = static_cast<bool>(tls);
    connections.Spawn(ServeAccepted(loop, std::move(accepted), with_tls, with_tls ? tls() : nullptr));
  }
}

rt::Task<Result<void>> HttpServer::Impl::UntilShutdown() {
  co_await session.shutdown.Wait();
  co_return Result<void>();
}

rt::Task<Result<void>> HttpServer::Serve(rt::RealLoop& loop, Listener& listener,
                                         std::function<std::shared_ptr<TlsServerContext>()> tls) {
  std::vector<rt::Task<Result<void>>> first;
  first.push_back(impl_->UntilShutdown());
  first.push_back(impl_->AcceptAll(loop, listener, tls));
  rt::AnyResult<Result<void>> end = co_await rt::WhenAny(std::move(first));
  co_return std::move(end.value);
}

rt::Task<void> HttpServer::ServeConnection(std::unique_ptr<ByteStream> stream) {
  co_await impl_->ServeConnection(*stream);
  stream.reset();  // now: whoever awaits this may keep its frame for a while
}

rt::Task<void> HttpServer::Impl::ServeConnection(ByteStream& stream) {
  std::string received;
  bool http2 = stream.alpn() == "h2";
  if (stream.alpn().empty()) {  // the first bytes tell: HTTP/2 begins with a fixed preface
    std::optional<std::string> bytes = co_await ReadFirstBytes(stream);
    if (!bytes) {
      co_await CloseGently(session.loop, stream);
      co_return;
    }
    received = *std::move(bytes);
    http2 = received.starts_with(kHttp2Preface);
  }
  if (http2) {
    co_await ServeHttp2(session, stream, std::move(received));
  } else {
    co_await ServeHttp1(session, stream, std::move(received));
  }
}

namespace {

rt::Task<std::optional<std::string>> ReadPreface(ByteStream& stream) {
  std::string received;
  while (received.size() < kHttp2Preface.size() && kHttp2Preface.starts_with(received)) {
    const std::span<char> scratch = ReadScratch();
    const Result<size_t> got = co_await stream.Read(scratch);
    if (!got.ok() || *got == 0) break;
    received.append(scratch.data(), *got);
  }
  if (received.empty()) co_return std::nullopt;
  co_return received;
}

rt::Task<std::optional<std::string>> NothingAfter(rt::Event& event) {
  co_await event.Wait();
  co_return std::nullopt;
}

}  // namespace

// None when the client sends nothing in time, or the server shuts down first.
rt::Task<std::optional<std::string>> HttpServer::Impl::ReadFirstBytes(ByteStream& stream) {
  std::vector<rt::Task<std::optional<std::string>>> first;
  first.push_back(ReadPreface(stream));
  first.push_back(NothingAfter(session.shutdown));
  auto result = co_await rt::WithDeadline(rt::Deadline::After(session.loop, session.options.timeouts.request_header),
                                          "the client to send", rt::WhenAny(std::move(first)));
  if (!result.ok()) co_return std::nullopt;
  co_return std::move(result->value);
}

rt::Task<void> HttpServer::Shutdown(rt::Deadline deadline) {
  impl_->session.BeginShutdown();
  const Result<void> drained = co_await rt::WithDeadline(deadline, "connections to end", impl_->connections.Join());
  if (!drained.ok()) impl_->connections.CancelAll();
}

}  // namespace baton::net
