// Any text as a kubeconfig: parsing is total, an access holds what it promises, merging is idempotent and keeps what
// was first.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "kube/kubeconfig.h"
#include "kube/kubeconfig_access.h"
#include "kube/kubeconfig_for_test.h"
#include "kube/kubeconfig_path.h"

namespace baton::kube {
namespace {

void CheckAccess(const Kubeconfig& config, std::string_view context) {
  const Result<ClusterAccess> access = AccessWithFiles(config, context);
  if (!access.ok()) return;
  const ClusterAccess& a = *access;
  const bool https = a.server.starts_with("https://");
  INVARIANT(https || a.server.starts_with("http://"), "a server without a scheme");
  INVARIANT(NormalServer(a.server).value() == a.server, "a server that is not normal");
  INVARIANT(a.certificate_pem.empty() == a.key_pem.empty(), "half a key pair");
  INVARIANT(!a.insecure_skip_tls_verify || (a.ca_pem.empty() && !a.warnings.empty()), "quietly insecure");
  INVARIANT(https || (a.token.empty() && a.password.empty() && a.key_pem.empty() && !a.exec), "secrets in the clear");
  INVARIANT(a.token.empty() || a.username.empty(), "two ways to say who");
  INVARIANT(a.token.find_first_of("\r\n") == std::string::npos, "a token that splits a header");
}

void Paths(std::string_view text) {
  const std::string clean = CleanPath(text);
  INVARIANT(CleanPath(clean) == clean, "cleaning twice");
  const Result<std::string> inside = PathInFiles(text);
  if (!inside.ok()) return;
  INVARIANT(!inside->starts_with('/') && !inside->starts_with("../"), "a path that leads out");
}

}  // namespace
}  // namespace baton::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::kube;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Paths(text);
  const auto config = Kubeconfig::Parse(text, "/home/me/.kube/config");
  if (!config.ok()) {
    INVARIANT(config.error().message().starts_with("/home/me/.kube/config: "), "an error that does not name the file");
    return 0;
  }
  CheckAccess(*config, "");
  for (const std::string& context : config->Contexts()) CheckAccess(*config, context);
  Kubeconfig twice = *config;
  twice.Merge(*config);
  INVARIANT(twice.Contexts() == config->Contexts(), "merging with itself changed the contexts");
  INVARIANT(twice.current_context() == config->current_context(), "merging changed the current context");
  return 0;
}
