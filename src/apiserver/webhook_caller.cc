// Webhooks over HTTPS. One client for each server and authority; HTTP/1.1 only, as Kubernetes does, so that calls to a
// service spread over its backends.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/webhooks.h"
#include "base/strings.h"
#include "net/client.h"
#include "net/tls.h"
#include "net/transport.h"
#include "rt/real_loop.h"

namespace baton::apiserver {
namespace {

constexpr size_t kClientsMax = 30;  // Kubernetes' number
constexpr std::string_view kScheme = "https://";
constexpr std::string_view kHttpsPort = "443";

struct Place {
  net::Endpoint endpoint;  // the Host header, and the certificate's name
  std::string target;      // path and query
};

Result<Place> Locate(std::string_view url) {
  if (!url.starts_with(kScheme)) return InvalidError(StrCat(Quote(url), " is not an https URL"));
  url.remove_prefix(kScheme.size());
  const size_t slash = url.find('/');
  const std::string authority(url.substr(0, slash));
  // A colon that is not inside the brackets of an IPv6 address begins the port.
  const size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string::npos && authority.find(']', colon) == std::string::npos;
  Place place;
  place.endpoint = TRY(net::ParseEndpoint(has_port ? authority : StrCat(authority, ":", kHttpsPort)));
  place.target = slash == std::string_view::npos ? "/" : url.substr(slash);
  return place;
}

// To a service's address, while the request names the service.
rt::Task<Result<std::unique_ptr<net::ByteStream>>> ConnectTo(rt::RealLoop& loop, net::Endpoint address,
                                                             std::shared_ptr<net::TlsClientContext> context) {
  std::unique_ptr<net::ByteStream> tcp = CO_TRY(co_await net::ConnectTcp(loop, std::move(address)));
  co_return co_await net::ConnectTls(loop, std::move(tcp), std::move(context));
}

class Clients {
 public:
  explicit Clients(rt::RealLoop& loop) : loop_(loop) {}

  // A call holds its client, so that one that has been forgotten here ends with its last call.
  Result<std::shared_ptr<net::HttpClient>> For(const net::Endpoint& endpoint, const WebhookCall& call) {
    const Key key = {endpoint.ToString(), call.address, call.server_name, call.ca_pem};
    if (const auto found = clients_.find(key); found != clients_.end()) return found->second;
    net::TlsClientOptions tls;
    tls.ca_pem = call.ca_pem;
    tls.server_name = call.server_name.empty() ? endpoint.host : call.server_name;
    tls.alpn = {"http/1.1"};
    std::shared_ptr<net::TlsClientContext> context = TRY(net::MakeTlsClientContext(tls));
    net::ClientOptions options;
    options.endpoint = endpoint;
    options.tls = [context] { return context; };
    options.limits.response_body_bytes_max = kWebhookAnswerBytesMax;
    std::shared_ptr<net::HttpClient> client;
    if (call.address.empty()) {
      client = std::make_shared<net::HttpClient>(loop_, std::move(options));
    } else {
      client = std::make_shared<net::HttpClient>(
          loop_, std::move(options), [&loop = loop_, address = TRY(net::ParseEndpoint(call.address)), context] {
            return ConnectTo(loop, address, context);
          });
    }
    if (clients_.size() >= kClientsMax) clients_.clear();
    clients_.emplace(key, client);
    return client;
  }

 private:
  using Key = std::array<std::string, 4>;  // endpoint, address, server name, authority

  rt::RealLoop& loop_;
  std::map<Key, std::shared_ptr<net::HttpClient>> clients_;
};

rt::Task<Result<net::Response>> Call(std::shared_ptr<Clients> clients, WebhookCall call, rt::Deadline deadline) {
  Place place = CO_TRY(Locate(call.url));
  const std::shared_ptr<net::HttpClient> client = CO_TRY(clients->For(place.endpoint, call));
  net::Request request;
  request.method = "POST";
  request.target = std::move(place.target);
  request.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
  request.body = std::move(call.body);
  co_return co_await client->Call(std::move(request), deadline);
}

}  // namespace

std::function<rt::Task<Result<net::Response>>(WebhookCall call, rt::Deadline deadline)> MakeWebhookCaller(
    rt::RealLoop& loop) {
  return [clients = std::make_shared<Clients>(loop)](WebhookCall call, rt::Deadline deadline) {
    return Call(clients, std::move(call), deadline);
  };
}

}  // namespace baton::apiserver
