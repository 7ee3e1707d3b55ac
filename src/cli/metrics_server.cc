// Three paths.
#include "cli/metrics_server.h"

#include <string>
#include <utility>

namespace baton::cli {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";

rt::Task<void> Serve(rt::RealLoop& loop, net::HttpServer& server, net::Listener& listener) {
  [[maybe_unused]] const Result<void> served = co_await server.Serve(loop, listener, nullptr);
}

}  // namespace

MetricsServer::MetricsServer(rt::RealLoop& loop, const MetricRegistry& registry, std::function<bool()> ready)
    : registry_(registry),
      ready_(std::move(ready)),
      server_(loop,
              [this](net::Request request, net::ResponseWriter& writer) { return Answer(std::move(request), writer); }),
      scope_(loop) {}

Result<std::unique_ptr<MetricsServer>> MetricsServer::Start(rt::RealLoop& loop, const net::Endpoint& endpoint,
                                                            const MetricRegistry& registry,
                                                            std::function<bool()> ready) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(loop, registry, std::move(ready)));
  server->listener_ = TRY(net::Listen(loop, endpoint));
  server->scope_.Spawn(Serve(loop, server->server_, *server->listener_));
  return server;
}

rt::Task<void> MetricsServer::Answer(net::Request request, net::ResponseWriter& writer) {
  int status = 404;
  std::string text = "there are /metrics, /healthz, /livez and /readyz\n";
  std::string_view type = kText;
  if (request.path() == "/metrics") {
    status = 200;
    text = registry_.Text();
    type = kMetricsContentType;
  } else if (request.path() == "/healthz" || request.path() == "/livez") {
    status = 200;
    text = "ok";
  } else if (request.path() == "/readyz") {
    status = ready_() ? 200 : 503;
    text = ready_() ? "ok" : "not ready: another replica leads, or none does yet";
  }
  [[maybe_unused]] const Result<void> sent =
      co_await writer.Send(status, {{"content-type", type}}, net::Body(std::move(text)));
}

}  // namespace baton::cli
