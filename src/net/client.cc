// The client: choosing or making a connection, repeating what is safe to repeat, reading whole answers.
#include "net/client.h"

#include <algorithm>
#include <list>
#include <utility>

#include "base/strings.h"
#include "net/client_connection.h"
#include "net/http_syntax.h"
#include "net/proxy.h"
#include "rt/scope.h"
#include "rt/semaphore.h"
#include "rt/when.h"

namespace baton::net {

namespace {
constexpr int kTriesMax = 3;  // of one request, on connections that turned out dead
}

struct HttpClient::Impl {
  Impl(rt::Loop& l, ClientOptions o, std::function<rt::Task<Result<std::unique_ptr<ByteStream>>>()> c)
      : loop(l),
        options(std::make_shared<const ClientOptions>(std::move(o))),
        connect(std::move(c)),
        http1_slots(std::make_shared<rt::Semaphore>(std::max<size_t>(1, options->http1_connections_max))),
        running(l) {}

  rt::Loop& loop;
  const std::shared_ptr<const ClientOptions> options;
  std::function<rt::Task<Result<std::unique_ptr<ByteStream>>>()> connect;
  std::list<std::shared_ptr<ClientConnection>> connections;
  bool speaks_http2 = false;  // as the newest connection says
  rt::Mutex connecting;       // one new connection at a time: the second request may find that it needs none
  const std::shared_ptr<rt::Semaphore> http1_slots;  // requests at a time over HTTP/1.1; responses keep it alive
  rt::Scope running;                                 // the connections' own fibers; last

  std::shared_ptr<ClientConnection> FindUsable() {
    std::erase_if(connections, [](const auto& connection) { return connection->idle() && !connection->usable(); });
    for (const auto& connection : connections) {
      if (connection->usable()) return connection;
    }
    return nullptr;
  }

  rt::Task<void> RunConnection(std::shared_ptr<ClientConnection> connection) {
    co_await connection->Run();
    connections.remove(connection);
  }

  rt::Task<Result<std::shared_ptr<ClientConnection>>> Connection() {
    if (auto found = FindUsable()) co_return found;
    const rt::Mutex::Guard guard = co_await connecting.Lock();
    if (auto found = FindUsable()) co_return found;  // another request connected meanwhile
    std::unique_ptr<ByteStream> stream = CO_TRY(co_await connect());
    speaks_http2 = stream->alpn() == "h2";
    const std::string authority = options->endpoint.ToString();
    std::shared_ptr<ClientConnection> made = speaks_http2
                                                 ? MakeHttp2Connection(loop, std::move(stream), options, authority)
                                                 : MakeHttp1Connection(loop, std::move(stream), options, authority);
    connections.push_back(made);
    running.Spawn(RunConnection(made));
    co_return made;
  }

  rt::Task<Result<std::unique_ptr<ResponseStream>>> Start(Request r);
};

namespace {

// Holds an HTTP/1.1 slot as long as the response is being read.
class SlottedStream final : public ResponseStream {
 public:
  SlottedStream(std::unique_ptr<ResponseStream> stream, std::shared_ptr<rt::Semaphore> slots,
                rt::Semaphore::Permit slot)
      : slots_(std::move(slots)), slot_(std::move(slot)), stream_(std::move(stream)) {}
  int status() const override { return stream_->status(); }
  const Headers& headers() const override { return stream_->headers(); }
  rt::Task<Result<std::optional<std::string>>> Read() override { return stream_->Read(); }

 private:
  std::shared_ptr<rt::Semaphore> slots_;
  rt::Semaphore::Permit slot_;  // given back after the stream has freed its connection
  std::unique_ptr<ResponseStream> stream_;
};

rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectReal(rt::RealLoop& loop, const ClientOptions& options) {
  const std::optional<Endpoint> proxy = CO_TRY(ChooseProxy(options.proxy, options.endpoint));
  std::unique_ptr<ByteStream> stream = CO_TRY(co_await ConnectTcp(loop, proxy.value_or(options.endpoint)));
  if (proxy) CO_TRY(co_await OpenTunnel(*stream, options.proxy, options.endpoint));
  if (options.tls) stream = CO_TRY(co_await ConnectTls(loop, std::move(stream), options.tls()));
  co_return stream;
}

rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectInTime(rt::RealLoop& loop, const ClientOptions& options) {
  co_return co_await rt::WithDeadline(rt::Deadline::After(loop, options.timeouts.connect),
                                      StrCat("a connection to ", options.endpoint.ToString()),
                                      ConnectReal(loop, options));
}

}  // namespace

namespace {

// What cannot be sent without changing its meaning is not sent at all.
Result<void> CheckRequest(const Request& request, const Endpoint& endpoint) {
  const auto bad = [&](std::string_view what) {
    return InvalidError(StrCat("nothing was sent to ", endpoint.ToString(), ": ", what));
  };
  if (!IsToken(request.method)) return bad(StrCat("malformed method ", Quote(request.method)));
  if (!IsTargetText(request.target) || (!request.target.starts_with('/') && request.target != "*")) {
    return bad(StrCat("malformed target ", Quote(request.target)));
  }
  for (const auto& [name, value] : request.headers.fields()) {
    if (!IsToken(name)) return bad(StrCat("malformed header name ", Quote(name)));
    if (!IsFieldText(value)) return bad(StrCat("header '", name, "' has a control character in its value"));
  }
  if (!IsTargetText(endpoint.host)) return bad("malformed host");
  return {};
}

}  // namespace

rt::Task<Result<std::unique_ptr<ResponseStream>>> HttpClient::Impl::Start(Request r) {
  const auto request = std::make_shared<const Request>(std::move(r));
  CO_TRY(CheckRequest(*request, options->endpoint));
  rt::Semaphore::Permit slot;
  for (int tries = 1;; ++tries) {
    if (!speaks_http2 && !slot.held()) slot = co_await http1_slots->Acquire();
    const std::shared_ptr<ClientConnection> connection = CO_TRY(co_await Connection());
    if (speaks_http2) slot.Release();
    ClientConnection::Outcome outcome = co_await connection->Start(request);
    if (outcome.response.ok()) {
      std::unique_ptr<ResponseStream> stream = *std::move(outcome.response);
      if (!slot.held()) co_return stream;
      co_return std::unique_ptr<ResponseStream>(new SlottedStream(std::move(stream), http1_slots, std::move(slot)));
    }
    if (!outcome.repeatable || tries == kTriesMax) co_return outcome.response.error();
  }
}

HttpClient::HttpClient(rt::RealLoop& loop, ClientOptions options)
    : impl_(std::make_unique<Impl>(loop, std::move(options), nullptr)) {
  impl_->connect = [&loop, this] { return ConnectInTime(loop, *impl_->options); };
}

HttpClient::HttpClient(rt::Loop& loop, ClientOptions options,
                       std::function<rt::Task<Result<std::unique_ptr<ByteStream>>>()> connect)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(connect))) {}

HttpClient::~HttpClient() = default;

rt::Task<Result<std::unique_ptr<ResponseStream>>> HttpClient::Stream(Request request, rt::Deadline deadline) {
  const std::string what =
      StrCat("the answer of ", impl_->options->endpoint.ToString(), " to ", request.method, " ", request.path());
  co_return co_await rt::WithDeadline(deadline, what, impl_->Start(std::move(request)));
}

namespace {
rt::Task<Result<Response>> ReadWhole(ResponseStream& stream, size_t bytes_max) {
  Response response{.status = stream.status(), .headers = stream.headers(), .body = {}};
  while (true) {
    std::optional<std::string> piece = CO_TRY(co_await stream.Read());
    if (!piece) co_return response;
    if (response.body.size() + piece->size() > bytes_max) {
      co_return TooLargeError(StrCat("a response of more than ", bytes_max, " bytes"));
    }
    response.body.append(*piece);
  }
}
}  // namespace

rt::Task<Result<Response>> HttpClient::Call(Request request, rt::Deadline deadline) {
  const std::string what =
      StrCat("the answer of ", impl_->options->endpoint.ToString(), " to ", request.method, " ", request.path());
  const std::unique_ptr<ResponseStream> stream = CO_TRY(co_await Stream(std::move(request), deadline));
  co_return co_await rt::WithDeadline(deadline, what,
                                      ReadWhole(*stream, impl_->options->limits.response_body_bytes_max));
}

void HttpClient::CloseIdle() {
  std::erase_if(impl_->connections, [](const auto& connection) {
    if (!connection->idle()) return false;
    connection->Close();
    return true;
  });
}

size_t HttpClient::connections() const { return impl_->connections.size(); }

}  // namespace baton::net
