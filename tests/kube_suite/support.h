// What the kube suite shares: the server that E2E_KUBECONFIG names, a namespace of each test's own, and shorthand.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "kube/kubeconfig.h"
#include "kube/remote_api.h"
#include "rt/files.h"
#include "rt/real_loop.h"
#include "rt/test_support.h"

namespace baton::kube_suite {

inline constexpr Duration kTimeout = seconds(120);  // of anything: only a hang reaches it
inline const kube::Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
inline const kube::Resource kDeployments{
    .group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"};
inline const kube::Resource kNamespaces{
    .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};

template <class T>
std::string Outcome(const Result<T>& result) {
  return result.ok() ? "OK" : result.error().ToString();
}

// Of a call that must work; the process ends when it did not, as nothing after it would make sense.
template <class T>
T Must(Result<T> result) {
  INVARIANT(result.ok(), result.error().ToString());
  return *std::move(result);
}

inline json::Value Map(std::string_view ns, std::string_view name, std::string_view value) {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", name}, {"namespace", ns}})},
                       {"data", json::Object({{"k", value}})}});
}

inline json::Value Data(std::string_view value) { return json::Object({{"data", json::Object({{"k", value}})}}); }

inline rt::Task<kube::ClusterAccess> TheAccess(rt::RealLoop& loop) {
  const char* path = std::getenv("E2E_KUBECONFIG");
  INVARIANT(path != nullptr, "E2E_KUBECONFIG names no server");
  const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, "/");
  const kube::Kubeconfig config = Must(co_await kube::LoadKubeconfig(*files, {path}));
  co_return Must(co_await kube::LoadAccess(*files, config, ""));
}

// Runs `test`, a coroutine of (RealLoop&, RemoteApi&, namespace), in a new namespace.
template <class Test>
void InNamespace(Test test) {
  rt::RealLoop loop;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    kube::ClusterAccess access = co_await TheAccess(loop);
    const std::unique_ptr<kube::RemoteApi> api = Must(kube::RemoteApi::Make(loop, std::move(access)));
    const json::Value made = Must(co_await api->Create(
        kNamespaces, json::Object({{"apiVersion", "v1"},
                                   {"kind", "Namespace"},
                                   {"metadata", json::Object({{"generateName", "kube-suite-"}})}})));
    const std::string ns(kube::NameOf(made));
    co_await test(loop, *api, ns);
    [[maybe_unused]] const auto gone = co_await api->Delete(kNamespaces, {"", ns});
  }));
}

}  // namespace baton::kube_suite
