// Webhooks over real TLS on the loopback address: who is trusted, and that connections are kept.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/webhooks.h"
#include "base/strings.h"
#include "net/certificates.h"
#include "net/server.h"
#include "net/tls.h"
#include "net/transport.h"
#include "rt/real_loop.h"
#include "rt/scope.h"

namespace baton::apiserver {
namespace {

constexpr Duration kLong = seconds(20);  // never waited for when all is well

rt::Task<void> Echo(net::Request request, net::ResponseWriter& writer) {
  std::string text = StrCat(request.method, " ", request.target, " ", request.headers.Get("host").value_or("none"), " ",
                            request.headers.Get("content-type").value_or("none"), " ", request.body);
  (void)co_await writer.Send(200, {}, std::move(text));
}

class WebhookServer {
 public:
  explicit WebhookServer(rt::RealLoop& loop)
      : loop_(loop),
        ca(net::MakeCertificateAuthority("ca", loop.WallNow() - hours(1), loop.WallNow() + hours(1), loop.random())
               .value()),
        listener_(net::Listen(loop, {"127.0.0.1", 0}).value()),
        server(loop, Echo),
        scope_(loop) {
    net::CertificateRequest request;
    request.common_name = "hook";
    request.dns_names = {"hook.ops.svc"};
    request.ip_addresses = {"127.0.0.1"};
    request.server = true;
    request.not_before = loop.WallNow() - hours(1);
    request.not_after = loop.WallNow() + hours(1);
    const net::KeyPair pair = net::IssueCertificate(ca, request, loop.random()).value();
    net::TlsServerOptions options;
    options.certificate_pem = pair.certificate_pem;
    options.key_pem = pair.key_pem;
    context_ = net::MakeTlsServerContext(options).value();
    scope_.Spawn(Serve(this));
  }

  std::string address() const { return listener_->endpoint().ToString(); }

 private:
  static rt::Task<void> Serve(WebhookServer* self) {
    (void)co_await self->server.Serve(self->loop_, *self->listener_, [self] { return self->context_; });
  }

  rt::RealLoop& loop_;

 public:
  net::KeyPair ca;

 private:
  std::unique_ptr<net::Listener> listener_;

 public:
  net::HttpServer server;

 private:
  std::shared_ptr<net::TlsServerContext> context_;
  rt::Scope scope_;
};

TEST(WebhookCallerTest, CallsByUrlAndByServiceAndKeepsTheConnection) {
  rt::RealLoop loop;
  WebhookServer server(loop);
  const auto call = MakeWebhookCaller(loop);
  const auto answer = [&](WebhookCall what) {
    const Result<net::Response> response = loop.Run(call(std::move(what), rt::Deadline::After(loop, kLong)));
    return response.ok() ? StrCat(response->status, " ", response->body) : response.error().ToString();
  };
  const WebhookCall by_url = {.url = StrCat("https://", server.address(), "/check?timeout=1s"),
                              .address = "",
                              .server_name = "",
                              .ca_pem = server.ca.certificate_pem,
                              .body = "{}"};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(answer(by_url), StrCat("200 POST /check?timeout=1s ", server.address(), " application/json {}"));
  EXPECT_EQ(server.server.connections(), 1U);
  const WebhookCall by_service = {.url = "https://hook.ops.svc:443/v",
                                  .address = server.address(),
                                  .server_name = "hook.ops.svc",
                                  .ca_pem = server.ca.certificate_pem,
                                  .body = "{}"};
  EXPECT_EQ(answer(by_service), "200 POST /v hook.ops.svc:443 application/json {}");
}

TEST(WebhookCallerTest, TrustsOnlyTheRightServer) {
  rt::RealLoop loop;
  WebhookServer server(loop);
  WebhookServer other(loop);
  const auto call = MakeWebhookCaller(loop);
  struct Row {
    std::string url;
    std::string server_name;
    std::string ca_pem;
  };
  const std::string url = StrCat("https://", server.address(), "/");
  const Row rows[] = {
      {url, "", other.ca.certificate_pem},                // signed by another authority
      {url, "other.ops.svc", server.ca.certificate_pem},  // of another name
      {url, "", "not a certificate"},                     // no authority in it
      {"http://" + server.address(), "", server.ca.certificate_pem},
      {"https://", "", server.ca.certificate_pem},
      {"https://h:99999/", "", server.ca.certificate_pem},
  };
  for (const Row& row : rows) {
    const Result<net::Response> response = loop.Run(
        call({.url = row.url, .address = "", .server_name = row.server_name, .ca_pem = row.ca_pem, .body = "{}"},
             rt::Deadline::After(loop, kLong)));
    EXPECT_FALSE(response.ok()) << row.url << " " << row.server_name;
  }
}

}  // namespace
}  // namespace baton::apiserver
