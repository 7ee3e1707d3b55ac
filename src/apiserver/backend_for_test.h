// A whole backend on a virtual loop and a store in memory, with short ways to call it, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/backend.h"
#include "apiserver/selection.h"
#include "apiserver/types_for_test.h"
#include "json/yaml.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "store/store.h"

namespace baton::apiserver {

inline json::Value FromYaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

// "OK" or the error's message.
template <class T>
std::string Outcome(const Result<T>& result) {
  return result.ok() ? "OK" : result.error().message();
}

class World {
 public:
  explicit World(Backend& backend) : backend(backend), core(backend.core()) {}

  Backend& backend;
  Core& core;
  Caller caller{
      .user = {.name = "tester", .uid = {}, .groups = {}, .extra = {}}, .user_agent = "test/1", .warnings = {}};

  ResourceTypePtr Type(std::string_view group, std::string_view plural) const {
    ResourceTypePtr type = core.registry().FindResource(group, plural);
    EXPECT_NE(type, nullptr) << group << "/" << plural;
    return type;
  }
  Target Of(std::string_view group, std::string_view plural, std::string_view ns, std::string_view name = {},
            std::string_view subresource = {}) const {
    return {.type = Type(group, plural),
            .ns = std::string(ns),
            .name = std::string(name),
            .subresource = std::string(subresource)};
  }
  Target ConfigMap(std::string_view name = {}) const { return Of("", "configmaps", "default", name); }

  rt::Task<Result<Written>> Create(Target target, std::string_view yaml, WriteOptions options = {}) {
    return core.Create(std::move(target), FromYaml(yaml), std::move(options), caller);
  }
  rt::Task<Result<Written>> Update(Target target, json::Value object, WriteOptions options = {}) {
    return core.Update(std::move(target), std::move(object), std::move(options), caller);
  }
  rt::Task<Result<Written>> Patch(Target target, PatchType type, std::string_view yaml, WriteOptions options = {}) {
    return core.Patch(std::move(target), type, FromYaml(yaml), std::move(options), caller);
  }
  rt::Task<Result<Deleted>> Delete(Target target, DeleteOptions options = {}) {
    return core.Delete(std::move(target), std::move(options), caller);
  }
  json::Value Live(const Target& target) const {
    const std::optional<Object> live = core.Live(*target.type, target.ns, target.name);
    return live ? core.Decode(live->bytes) : json::Value();
  }
  // Until the object is gone, or is as wanted; the watch brings every change.
  rt::Task<void> Until(Target target, std::function<bool(const json::Value& live)> wanted) {
    auto watch = core.store().OpenWatch("", core.store().revision());
    while (watch.ok() && !wanted(Live(target))) {
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok()) co_return;
    }
  }
};

// Runs `test` (a coroutine on a World&) with that seed, from an empty store to a closed one.
template <class Test>
void InWorld(uint64_t seed, Test test) {
  rt::VirtualLoop loop(seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    auto store = co_await store::Store::Open(loop, store::MakeMemoryEngine());
    EXPECT_TRUE(store.ok());
    {
      auto backend = co_await Backend::Start(loop, **store);
      EXPECT_EQ(Outcome(backend), "OK");
      if (backend.ok()) {
        World world(**backend);
        co_await test(world);
      }
    }
    co_await (*store)->Close();
  }));
}

}  // namespace baton::apiserver
