// RemoteApi: kube::Api over HTTPS, to any kube-apiserver.
//
//   ClusterAccess access = CO_TRY(co_await LoadAccess(files, config, "member-1"));     // kube/kubeconfig.h
//   std::unique_ptr<RemoteApi> api = CO_TRY(RemoteApi::Make(loop, access));
//   Value web = CO_TRY(co_await api->Get(kDeployments, {"blue", "web"}));
//
// One HTTP/2 connection carries everything. Credentials renew themselves (kube/credentials.h): a call that is answered
// 401 is sent once more when there are others by then, which is safe, as the server did nothing.
//
// What an error says about the outcome of a write: one with a Status is the server's own word; "nothing was sent" in
// the message is what it says; any other kUnavailable or kDeadlineExceeded leaves it open. Nothing is retried here (see
// PoliteApi), except what HttpClient may: what certainly was not processed, and reads.
//
// A watch ends by itself after five to ten minutes, as client-go's do. A peer that died silently is noticed by HTTP/2's
// pings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api.h"
#include "kube/credentials.h"
#include "kube/kubeconfig.h"
#include "net/client.h"
#include "rt/files.h"
#include "rt/real_loop.h"

namespace baton::kube {

inline constexpr Duration kWatchLifeMin = minutes(5);  // what a watch asks for is random between this and twice as much
inline constexpr size_t kParseHereBytesMax = size_t{256} << 10;  // larger answers are parsed on the pool
inline constexpr size_t kDiscoveryCallsMax = 16;                 // at a time, when groups must be asked one by one

struct RemoteApiOptions {
  std::string user_agent = "baton";
  // "NAME=value": the environment of a credential program. Without PATH only one with a path is found.
  std::vector<std::string> environment;
  // For files of credentials that change; root "/"; outlives this. Null: the disk.
  rt::Files* files = nullptr;
};

class RemoteApi final : public Api {
 public:
  // Connects when it is first called. kInvalid, kUnsupported: the access cannot be used.
  static Result<std::unique_ptr<RemoteApi>> Make(rt::RealLoop& loop, ClusterAccess access,
                                                 RemoteApiOptions options = {});
  // On connections from elsewhere, on any loop: `connect` makes each, TLS included.
  using Connect = std::function<rt::Task<Result<std::unique_ptr<net::ByteStream>>>()>;
  static Result<std::unique_ptr<RemoteApi>> MakeOn(rt::Loop& loop, ClusterAccess access, Connect connect,
                                                   RemoteApiOptions options = {});

  rt::Loop& loop() override { return loop_; }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override;
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override;
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override;

  // A GET of any path of the server ("/version", "/healthz"): the text of a success.
  rt::Task<Result<std::string>> GetRaw(std::string path, rt::Deadline deadline);

 private:
  using MakeClient = std::function<Result<std::shared_ptr<net::HttpClient>>(const Credential&)>;
  RemoteApi(rt::Loop& loop, ClusterAccess access, RemoteApiOptions options, std::unique_ptr<rt::Files> own_files,
            std::string prefix, MakeClient make_client);
  static Result<std::unique_ptr<RemoteApi>> MakeWith(rt::Loop& loop, ClusterAccess access, RemoteApiOptions options,
                                                     std::unique_ptr<rt::Files> own_files, MakeClient make_client);

  // One request with credentials, and a second one after a 401.
  rt::Task<Result<net::Response>> Send(net::Request request, rt::Deadline deadline);
  rt::Task<Result<std::unique_ptr<net::ResponseStream>>> SendForStream(net::Request request, rt::Deadline deadline);
  rt::Task<Result<std::shared_ptr<const Credential>>> CurrentCredential(rt::Deadline deadline);
  Result<std::shared_ptr<net::HttpClient>> ClientFor(std::shared_ptr<const Credential> credential);
  void AddHeaders(const Credential& credential, net::Request& request) const;
  rt::Task<Result<json::Value>> Parsed(net::Response response, rt::Deadline deadline);
  rt::Task<Result<json::Value>> GetDocument(std::string path, std::string_view accept, rt::Deadline deadline);
  rt::Task<Result<void>> DiscoverUnder(std::string path, Discovered& into, rt::Deadline deadline);
  rt::Task<Result<void>> DiscoverOneByOne(json::Value document, Discovered& into, rt::Deadline deadline);

  rt::Loop& loop_;
  ClusterAccess access_;
  RemoteApiOptions options_;
  std::unique_ptr<rt::Files> own_files_;
  std::string prefix_;  // of the server's URL: "" or "/k8s/clusters/c-1"
  Credentials credentials_;
  MakeClient make_client_;
  std::shared_ptr<net::HttpClient> client_;      // calls under way may hold an older one
  std::shared_ptr<const Credential> client_of_;  // whose certificates client_ has
};

}  // namespace baton::kube
