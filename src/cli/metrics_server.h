// MetricsServer: /metrics, /healthz and /readyz of a program that serves nothing else, over plain HTTP.
//
//   auto server = TRY(MetricsServer::Start(loop, endpoint, registry, [&] { return ready; }));
#pragma once

#include <functional>
#include <memory>

#include "base/metrics.h"
#include "base/result.h"
#include "net/server.h"
#include "net/transport.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace baton::cli {

class MetricsServer {
 public:
  // Listens when it returns. The registry outlives it.
  static Result<std::unique_ptr<MetricsServer>> Start(rt::RealLoop& loop, const net::Endpoint& endpoint,
                                                      const MetricRegistry& registry, std::function<bool()> ready);
  net::Endpoint endpoint() const { return listener_->endpoint(); }

 private:
  MetricsServer(rt::RealLoop& loop, const MetricRegistry& registry, std::function<bool()> ready);
  rt::Task<void> Answer(net::Request request, net::ResponseWriter& writer);

  const MetricRegistry& registry_;
  std::function<bool()> ready_;
  std::unique_ptr<net::Listener> listener_;
  net::HttpServer server_;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::cli
