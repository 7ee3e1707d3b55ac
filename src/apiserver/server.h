// ApiServer: the whole program of `baton apiserver`: store, backend, HTTPS, certificates.
//
//   auto server = CO_TRY(co_await ApiServer::Start(loop, {.data_dir = "/var/lib/baton"}));
//   WriteKubeconfig(server->Kubeconfig());
//   co_await stop.Wait();
//   co_await server->Stop(Deadline::After(loop, seconds(20)));
#pragma once

#include <memory>
#include <string>

#include "apiserver/backend.h"
#include "base/metrics.h"
#include "base/result.h"
#include "net/transport.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace baton::apiserver {

struct ApiServerOptions {
  std::string data_dir;    // "" with ephemeral
  bool ephemeral = false;  // everything in memory: nothing survives
  net::Endpoint listen = {.host = "127.0.0.1", .port = 0};
  std::string static_tokens;  // CSV: token,user,uid,"group1,group2"
  bool anonymous = false;
  std::string audit_log;  // a file's path; "-" is standard output; "": off
  std::string context_name = "baton";
};

class ApiServer {
 public:
  // Listens when it returns. kAlreadyExists: the port or the data directory is in use, and by whom.
  static rt::Task<Result<std::unique_ptr<ApiServer>>> Start(rt::RealLoop& loop, ApiServerOptions options);
  ~ApiServer();

  net::Endpoint endpoint() const;
  std::string Kubeconfig() const;  // for the admin
  Backend& backend();
  MetricRegistry& metrics();  // what /metrics shows; others may add theirs

  // No new requests; watches end cleanly; what is left at the deadline is cut; then the store is closed.
  rt::Task<void> Stop(rt::Deadline deadline);

 private:
  struct Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::apiserver
