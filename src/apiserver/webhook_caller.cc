// Webhooks over HTTPS. One client for each server and authority; HTTP/1.1 only, as Kubernetes does, so that calls to a
// service spread over its backends.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
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
  std::string authority;  // host[:port], for the Host header
  net::Endpoint endpoint;
  std::string host;    // as in the certificate
  std::string target;  // path and query
};

Result<Place> Locate(std::string_view url) {
  if (!url.starts_with(kScheme)) return InvalidError(StrCat(Quote(url), " is not an https URL"));
  url.remove_prefix(kScheme.size());
  const size_t slash = url.find('/');
  Place place;
  place.authority = url.substr(0, slash);
  place.target = slash == std::string_view::npos ? "/" : url.substr(slash);
  // A colon that is not inside the brackets of an IPv6 address begins the port.
  const size_t colon = place.authority.rfind(':');
  const bool has_port = colon != std::string::npos && place.authority.find(']', colon) == std::string::npos;
  place.endpoint = TRY(net::ParseEndpoint(has_port ? place.authority : StrCat(place.authority, ":", kHttpsPort)));
  place.host = place.endpoint.host;
  return place;
}

class Clients {
 public:
  explicit Clients(rt::RealLoop& loop) : loop_(loop) {}

  // A call holds its client, so that one that has been forgotten here ends with its last call.
  Result<std::shared_ptr<net::HttpClient>> For(const net::Endpoint& endpoint, const std::string& server_name,
                                               const std::string& ca_pem) {
    const Key key = {endpoint.ToString(), server_name, ca_pem};
    if (const auto found = clients_.find(key); found != clients_.end()) return found->second;
    net::TlsClientOptions tls;
    tls.ca_pem = ca_pem;
    tls.server_name = server_name;
    tls.alpn = {"http/1.1"};
    std::shared_ptr<net::TlsClientContext> context = TRY(net::MakeTlsClientContext(tls));
    net::ClientOptions options;
    options.endpoint = endpoint;
    options.tls = [context] { return context; };
    options.limits.response_body_bytes_max = kWebhookAnswerBytesMax;
    auto client = std::make_shared<net::HttpClient>(loop_, std::move(options));
    if (clients_.size() >= kClientsMax) clients_.clear();
    clients_.emplace(key, client);
    return client;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // address, server name, authority

  rt::RealLoop& loop_;
  std::map<Key, std::shared_ptr<net::HttpClient>> clients_;
};

rt::Task<Result<net::Response>> Call(std::shared_ptr<Clients> clients, WebhookCall call, rt::Deadline deadline) {
  Place place = CO_TRY(Locate(call.url));
  if (!call.address.empty()) place.endpoint = CO_TRY(net::ParseEndpoint(call.address));
  const std::shared_ptr<net::HttpClient> client =
      CO_TRY(clients->For(place.endpoint, call.server_name.empty() ? place.host : call.server_name, call.ca_pem));
  net::Request request;
  request.method = "POST";
  request.target = std::move(place.target);
  request.headers = {{"host", place.authority}, {"content-type", "application/json"}, {"accept", "application/json"}};
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
