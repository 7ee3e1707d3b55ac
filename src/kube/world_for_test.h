// A server in memory on a virtual loop with a LocalApi on it, and shorthand, for tests of what stands on kube::Api.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apiserver/backend_for_test.h"
#include "json/yaml.h"
#include "kube/api.h"
#include "kube/local_api.h"

namespace baton::kube {

inline const Resource kConfigMapsForTest{
    .group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap", .namespaced = true};

using apiserver::FromYaml;

inline json::Value ConfigMapForTest(std::string_view name, std::string_view value, std::string_view ns = "default") {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", name}, {"namespace", ns}})},
                       {"data", json::Object({{"value", value}})}});
}

// The value of a call that must work.
inline rt::Task<json::Value> Must(rt::Task<Result<json::Value>> call) {
  Result<json::Value> result = co_await std::move(call);
  EXPECT_TRUE(result.ok()) << result.error().ToString();
  co_return result.ok() ? *std::move(result) : json::Value();
}

// Runs `test`, a coroutine on a LocalApi&, with that seed.
template <class Test>
void WithServer(uint64_t seed, Test test) {
  apiserver::InWorld(seed, [&](apiserver::World& world) -> rt::Task<void> {
    LocalApi api(world.backend);
    co_await test(api);
  });
}

}  // namespace baton::kube
