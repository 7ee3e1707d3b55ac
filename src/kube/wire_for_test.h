// For tests only: a server of the test's own making, on pipes, and a RemoteApi that talks to it, on any loop.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/remote_api.h"
#include "net/fault_gate.h"
#include "net/server.h"
#include "rt/scope.h"

namespace baton::kube {

struct WireAnswer {
  int status = 200;
  std::string body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}})";
  net::Headers headers = {};
};

class Wire {
 public:
  using Answerer = std::function<WireAnswer(const net::Request&)>;

  Wire(rt::Loop& loop, Answerer answer)
      : loop_(loop),
        answer_(std::move(answer)),
        server_(loop, [this](net::Request request,
                             net::ResponseWriter& writer) { return Serve(std::move(request), writer); }),
        scope_(loop) {}

  Result<std::unique_ptr<RemoteApi>> Make(ClusterAccess access, RemoteApiOptions options = {}) {
    if (access.server.empty()) access.server = "http://server:80";
    return RemoteApi::MakeOn(loop_, std::move(access), [this] { return Connect(); }, std::move(options));
  }
  const std::vector<net::Request>& requests() const { return requests_; }

 private:
  rt::Task<Result<std::unique_ptr<net::ByteStream>>> Connect() {
    auto [here, there] = net::MakePipe();
    scope_.Spawn(server_.ServeConnection(std::move(there)));
    co_return net::MakeFaultGate(loop_, std::move(here), {.alpn = "h2"});
  }
  rt::Task<void> Serve(net::Request request, net::ResponseWriter& writer) {
    requests_.push_back(request);
    WireAnswer answer = answer_(request);
    (void)co_await writer.Send(answer.status, answer.headers, answer.body);
  }

  rt::Loop& loop_;
  Answerer answer_;
  std::vector<net::Request> requests_;
  net::HttpServer server_;
  rt::Scope scope_;
};

}  // namespace baton::kube
