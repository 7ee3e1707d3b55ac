// For tests only: API servers in this process on the real loop, and RemoteApis that call them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "apiserver/server.h"
#include "kube/kubeconfig.h"
#include "kube/remote_api.h"
#include "rt/real_loop.h"
#include "rt/test_support.h"

namespace baton::kube {

inline constexpr Duration kTestTimeout = seconds(60);  // of anything: only a hang reaches it

template <class T>
std::string Outcome(const Result<T>& result) {
  return result.ok() ? "OK" : result.error().ToString();
}

inline ClusterAccess AccessOf(const apiserver::ApiServer& server) {
  const Result<Kubeconfig> config = Kubeconfig::Parse(server.Kubeconfig(), "");
  EXPECT_TRUE(config.ok());
  Result<ClusterAccess> access = config->Access("");
  EXPECT_EQ(Outcome(access), "OK");
  return *std::move(access);
}

// Runs `test` (a coroutine on a server) from an empty server to a stopped one.
template <class Test>
void WithServer(Test test, apiserver::ApiServerOptions options = {}) {
  rt::RealLoop loop;
  options.ephemeral = true;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    auto server = co_await apiserver::ApiServer::Start(loop, options);
    EXPECT_EQ(Outcome(server), "OK");
    if (!server.ok()) co_return;
    co_await test(loop, **server);
    co_await (*server)->Stop(rt::Deadline::After(loop, seconds(5)));
  }));
}

inline std::unique_ptr<RemoteApi> MakeRemote(rt::RealLoop& loop, ClusterAccess access, RemoteApiOptions options = {}) {
  Result<std::unique_ptr<RemoteApi>> api = RemoteApi::Make(loop, std::move(access), std::move(options));
  EXPECT_EQ(Outcome(api), "OK");
  return api.ok() ? *std::move(api) : nullptr;
}

}  // namespace baton::kube
