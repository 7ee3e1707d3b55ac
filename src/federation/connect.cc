// Making a member's Api: RemoteApi with PoliteApi in front of it.
#include "federation/connect.h"

#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "kube/kubeconfig.h"
#include "kube/polite_api.h"
#include "kube/remote_api.h"

namespace baton::federation {
namespace {

// Owns both halves.
class MemberApi final : public kube::Api {
 public:
  MemberApi(std::unique_ptr<kube::RemoteApi> remote, kube::PoliteOptions options)
      : remote_(std::move(remote)), polite_(*remote_, std::move(options)) {}

  rt::Loop& loop() override { return polite_.loop(); }
  rt::Task<Result<kube::Answer>> Do(kube::CallBox call, rt::Deadline deadline) override {
    return polite_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<kube::Watch>>> OpenWatch(kube::WatchCall call, rt::Deadline deadline) override {
    return polite_.OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<kube::Discovered>> Discover(rt::Deadline deadline) override { return polite_.Discover(deadline); }

 private:
  std::unique_ptr<kube::RemoteApi> remote_;
  kube::PoliteApi polite_;
};

Result<std::string> Decoded(const json::Value& secret, std::string_view key) {
  const std::string_view text = secret["data"][key].str();
  if (text.empty()) return std::string();
  const auto decoded = Base64Decode(text);
  if (!decoded) return InvalidError(StrCat("its Secret's ", key, " is not base64"));
  return *decoded;
}

Result<kube::ClusterAccess> AccessOf(const json::Value& cluster, const json::Value& secret) {
  if (secret.is_null()) {
    return InvalidError(StrCat("cluster ", cluster["metadata"]["name"].str(), ": its Secret ",
                               cluster["spec"]["secretRef"]["name"].str(), " is not there: `baton join` makes it"));
  }
  const std::string text = TRY(Decoded(secret, "kubeconfig"));
  if (!text.empty()) {
    const kube::Kubeconfig config = TRY(kube::Kubeconfig::Parse(text, ""));
    if (!TRY(config.FilesOf("")).empty()) return InvalidError("a member's kubeconfig must not name files: embed them");
    kube::ClusterAccess access = TRY(config.Access(""));
    if (access.exec) return InvalidError("a member's kubeconfig must not name a program");
    return access;
  }
  kube::ClusterAccess access;
  access.cluster = cluster["metadata"]["name"].str();
  access.server = cluster["spec"]["apiEndpoint"].str();
  access.token = TRY(Decoded(secret, "token"));
  access.ca_pem = TRY(Decoded(secret, "caBundle"));
  access.insecure_skip_tls_verify = cluster["spec"]["insecureSkipTLSVerification"].bool_or(false);
  access.proxy_url = cluster["spec"]["proxyURL"].str();
  if (access.server.empty() || access.token.empty()) {
    return InvalidError("its Secret has neither a kubeconfig nor a token with spec.apiEndpoint");
  }
  return access;
}

}  // namespace

Connect ConnectOverHttps(rt::RealLoop& loop) {
  return [&loop](const json::Value& cluster, const json::Value& secret) -> Result<std::unique_ptr<kube::Api>> {
    kube::ClusterAccess access = TRY(AccessOf(cluster, secret));
    std::unique_ptr<kube::RemoteApi> remote = TRY(kube::RemoteApi::Make(loop, std::move(access)));
    return std::unique_ptr<kube::Api>(std::make_unique<MemberApi>(std::move(remote), kube::PoliteOptions()));
  };
}

}  // namespace baton::federation
