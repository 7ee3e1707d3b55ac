// Calls and watches over HTTP.
#include "kube/remote_api.h"

#include <utility>

#include "base/strings.h"
#include "kube/remote_answer.h"
#include "kube/remote_request.h"
#include "net/tls.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

constexpr int kUnauthorized = 401;
constexpr size_t kErrorBodyBytesMax = size_t{1} << 20;  // of an answer that should have been a watch

struct ServerUrl {
  bool tls = true;
  net::Endpoint endpoint;
  std::string prefix;
};

Result<ServerUrl> ParseServer(std::string_view server) {
  ServerUrl url;
  std::string_view rest = server;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(std::string_view("https://").size());
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(std::string_view("http://").size());
    url.tls = false;
  } else {
    return InvalidError(StrCat("server ", Quote(server), ": neither https:// nor http://"));
  }
  const size_t slash = rest.find('/');
  url.endpoint = TRY(net::ParseEndpoint(rest.substr(0, slash)).Context(StrCat("server ", Quote(server))));
  if (slash != std::string_view::npos) url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  return url;
}

// A key of Impersonate-Extra-<key>, escaped as client-go does: what no header's name may have, and '%'.
std::string ExtraHeader(std::string_view key) {
  constexpr std::string_view kLegal = "!#$&'*+-.^_`|~";
  std::string name = "impersonate-extra-";
  for (const char c : key) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || kLegal.find(c) != std::string_view::npos) {
      name += c;
    } else {
      name += net::PercentEncode(std::string_view(&c, 1));
    }
  }
  return name;
}

net::Request CopyOf(const net::Request& request) { return request; }

rt::Task<Result<std::string>> ReadErrorBody(net::ResponseStream& stream) {
  std::string body;
  while (body.size() < kErrorBodyBytesMax) {
    const std::optional<std::string> piece = CO_TRY(co_await stream.Read());
    if (!piece) break;
    body.append(*piece);
  }
  co_return body;
}

class RemoteWatch final : public Watch {
 public:
  RemoteWatch(std::unique_ptr<net::ResponseStream> stream, const Resource& resource)
      : what_(StrCat("the watch of ", resource.ToString())), stream_(std::move(stream)), decoder_(resource) {}

  rt::Task<Result<std::vector<Change>>> Next() override {
    while (true) {
      if (decoder_.failed()) co_return decoder_.failed()->Context(what_);
      const std::optional<std::string> piece = CO_TRY(co_await stream_->Read());
      if (!piece) {
        co_return UnavailableError(decoder_.inside_line() ? StrCat(what_, " was cut inside an event")
                                                          : StrCat(what_, " was ended by the server"));
      }
      std::vector<Change> changes = decoder_.Add(*piece);
      if (!changes.empty()) co_return changes;
    }
  }

 private:
  std::string what_;
  std::unique_ptr<net::ResponseStream> stream_;
  WatchDecoder decoder_;
};

}  // namespace

RemoteApi::RemoteApi(rt::Loop& loop, ClusterAccess access, RemoteApiOptions options,
                     std::unique_ptr<rt::Files> own_files, std::string prefix, MakeClient make_client)
    : loop_(loop),
      access_(std::move(access)),
      options_(std::move(options)),
      own_files_(std::move(own_files)),
      prefix_(std::move(prefix)),
      credentials_(loop, access_,
                   {.files = options_.files != nullptr ? options_.files : own_files_.get(),
                    .environment = options_.environment}),
      make_client_(std::move(make_client)) {}

Result<std::unique_ptr<RemoteApi>> RemoteApi::MakeWith(rt::Loop& loop, ClusterAccess access, RemoteApiOptions options,
                                                       std::unique_ptr<rt::Files> own_files, MakeClient make_client) {
  ServerUrl url = TRY(ParseServer(access.server));
  std::unique_ptr<RemoteApi> api(new RemoteApi(loop, std::move(access), std::move(options), std::move(own_files),
                                               std::move(url.prefix), std::move(make_client)));
  TRY(api->credentials_.Check());
  return api;
}

Result<std::unique_ptr<RemoteApi>> RemoteApi::Make(rt::RealLoop& loop, ClusterAccess access, RemoteApiOptions options) {
  ServerUrl url = TRY(ParseServer(access.server));
  net::ClientOptions http;
  http.endpoint = url.endpoint;
  http.proxy.proxy_url = access.proxy_url;
  http.proxy.always = true;
  TRY(net::ChooseProxy(http.proxy, http.endpoint));  // an address that is none is told now
  net::TlsClientOptions tls{
      .ca_pem = {},
      .server_name = access.tls_server_name.empty() ? url.endpoint.host : access.tls_server_name,
      .insecure_skip_verify = access.insecure_skip_tls_verify,
  };
  MakeClient make = [&loop, http = std::move(http), tls = std::move(tls),
                     use_tls = url.tls](const Credential& credential) -> Result<std::shared_ptr<net::HttpClient>> {
    net::ClientOptions client = http;
    if (use_tls) {
      net::TlsClientOptions shown = tls;
      shown.ca_pem = credential.ca_pem;
      shown.certificate_pem = credential.certificate_pem;
      shown.key_pem = credential.key_pem;
      std::shared_ptr<net::TlsClientContext> context =
          TRY(net::MakeTlsClientContext(shown).Context("the cluster's certificates"));
      client.tls = [context = std::move(context)] { return context; };
    }
    return std::make_shared<net::HttpClient>(loop, std::move(client));
  };
  std::unique_ptr<rt::Files> own_files;
  const bool has_files = !access.token_file.empty() || !access.ca_file.empty() || !access.certificate_file.empty() ||
                         !access.key_file.empty();
  if (options.files == nullptr && has_files) own_files = rt::MakeRealFiles(loop, "/");
  std::unique_ptr<RemoteApi> api =
      TRY(MakeWith(loop, std::move(access), std::move(options), std::move(own_files), std::move(make)));
  // Certificates that cannot be read are told now, not at the first call.
  if (!api->access_.exec) TRY(api->ClientFor(api->credentials_.last()));
  return api;
}

Result<std::unique_ptr<RemoteApi>> RemoteApi::MakeOn(rt::Loop& loop, ClusterAccess access, Connect connect,
                                                     RemoteApiOptions options) {
  const ServerUrl url = TRY(ParseServer(access.server));
  MakeClient make = [&loop, endpoint = url.endpoint, connect = std::move(connect)](
                        const Credential& /*credential*/) -> Result<std::shared_ptr<net::HttpClient>> {
    net::ClientOptions client;
    client.endpoint = endpoint;
    return std::make_shared<net::HttpClient>(loop, std::move(client), connect);
  };
  return MakeWith(loop, std::move(access), std::move(options), nullptr, std::move(make));
}

Result<std::shared_ptr<net::HttpClient>> RemoteApi::ClientFor(std::shared_ptr<const Credential> credential) {
  const bool same = client_of_ != nullptr &&
                    (client_of_->generation == credential->generation ||
                     (client_of_->certificate_pem == credential->certificate_pem &&
                      client_of_->key_pem == credential->key_pem && client_of_->ca_pem == credential->ca_pem));
  if (!same) client_ = TRY(make_client_(*credential));
  client_of_ = std::move(credential);
  return client_;
}

void RemoteApi::AddHeaders(const Credential& credential, net::Request& request) const {
  net::Headers& headers = request.headers;
  headers.Set("user-agent", options_.user_agent);
  if (access_.disable_compression) headers.Set("accept-encoding", "identity");
  if (!credential.authorization.empty()) headers.Set("authorization", credential.authorization);
  if (!access_.impersonate_user.empty()) headers.Set("impersonate-user", access_.impersonate_user);
  if (!access_.impersonate_uid.empty()) headers.Set("impersonate-uid", access_.impersonate_uid);
  headers.Remove("impersonate-group");
  for (const std::string& group : access_.impersonate_groups) headers.Add("impersonate-group", group);
  for (const auto& [key, values] : access_.impersonate_extra) {
    const std::string name = ExtraHeader(key);
    headers.Remove(name);
    for (const std::string& value : values) headers.Add(name, value);
  }
}

rt::Task<Result<std::shared_ptr<const Credential>>> RemoteApi::CurrentCredential(rt::Deadline deadline) {
  if (std::shared_ptr<const Credential> ready = credentials_.Ready()) co_return ready;
  co_return co_await credentials_.Get(deadline);
}

rt::Task<Result<net::Response>> RemoteApi::Send(net::Request request, rt::Deadline deadline) {
  for (bool again = credentials_.renewable();; again = false) {
    const std::shared_ptr<const Credential> credential = CO_TRY(co_await CurrentCredential(deadline));
    const std::shared_ptr<net::HttpClient> client = CO_TRY(ClientFor(credential));
    AddHeaders(*credential, request);
    Result<net::Response> answered = co_await client->Call(again ? CopyOf(request) : std::move(request), deadline);
    if (!answered.ok()) credentials_.LookAgain();  // perhaps for a certificate that was replaced
    net::Response response = CO_TRY(std::move(answered));
    if (response.status != kUnauthorized || !again) co_return response;
    if (!CO_TRY(co_await credentials_.Refused(credential, deadline))) co_return response;
  }
}

rt::Task<Result<std::unique_ptr<net::ResponseStream>>> RemoteApi::SendForStream(net::Request request,
                                                                                rt::Deadline deadline) {
  for (bool again = credentials_.renewable();; again = false) {
    const std::shared_ptr<const Credential> credential = CO_TRY(co_await CurrentCredential(deadline));
    const std::shared_ptr<net::HttpClient> client = CO_TRY(ClientFor(credential));
    AddHeaders(*credential, request);
    Result<std::unique_ptr<net::ResponseStream>> answered =
        co_await client->Stream(again ? CopyOf(request) : std::move(request), deadline);
    if (!answered.ok()) credentials_.LookAgain();
    std::unique_ptr<net::ResponseStream> stream = CO_TRY(std::move(answered));
    if (stream->status() != kUnauthorized || !again) co_return stream;
    if (!CO_TRY(co_await credentials_.Refused(credential, deadline))) co_return stream;
  }
}

rt::Task<Result<json::Value>> RemoteApi::Parsed(net::Response response, rt::Deadline deadline) {
  if (response.body.size() <= kParseHereBytesMax) co_return BodyOf(response);
  co_return co_await rt::WithDeadline(
      deadline, "parsing the server's answer",
      loop_.Offload([response = std::move(response)]() -> Result<json::Value> { return BodyOf(response); }));
}

rt::Task<Result<Answer>> RemoteApi::Do(CallBox call, rt::Deadline deadline) {
  net::Response response = CO_TRY(co_await Send(CO_TRY(RequestOf(*call, prefix_)), deadline));
  if (response.status < 200 || response.status > 299) co_return ErrorOf(response);
  std::vector<std::string> warnings = WarningsOf(response.headers);
  json::Value body = CO_TRY(co_await Parsed(std::move(response), deadline));
  Answer answer = CO_TRY(AnswerOf(call->verb, call->resource, std::move(body)));
  answer.warnings = std::move(warnings);
  co_return answer;
}

rt::Task<Result<std::unique_ptr<Watch>>> RemoteApi::OpenWatch(WatchCall call, rt::Deadline deadline) {
  const seconds life = std::chrono::duration_cast<seconds>(loop_.random().Between(kWatchLifeMin, 2 * kWatchLifeMin));
  net::Request request = CO_TRY(RequestOf(call, life, prefix_));
  std::unique_ptr<net::ResponseStream> stream = CO_TRY(co_await SendForStream(std::move(request), deadline));
  if (stream->status() != 200) {
    net::Response response{.status = stream->status(), .headers = stream->headers(), .body = {}};
    response.body = CO_TRY(co_await rt::WithDeadline(deadline, "the server's error", ReadErrorBody(*stream)));
    co_return ErrorOf(response);
  }
  co_return std::make_unique<RemoteWatch>(std::move(stream), call.resource);
}

rt::Task<Result<std::string>> RemoteApi::GetRaw(std::string path, rt::Deadline deadline) {
  net::Request request;
  request.target = StrCat(prefix_, path);
  net::Response response = CO_TRY(co_await Send(std::move(request), deadline));
  if (response.status < 200 || response.status > 299) co_return ErrorOf(response);
  co_return std::move(response.body);
}

}  // namespace baton::kube
