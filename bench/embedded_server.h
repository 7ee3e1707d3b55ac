// A server in this process with its store in memory, and what benchmarks need to ask it.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "apiserver/backend.h"
#include "base/invariant.h"
#include "kube/local_api.h"
#include "store/store.h"

namespace baton {

template <class T>
T Must(Result<T> result) {
  INVARIANT(result.ok(), result.error().ToString());
  return *std::move(result);
}

inline double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct EmbeddedServer {
  std::unique_ptr<store::Store> store;
  std::unique_ptr<apiserver::Backend> backend;
  std::unique_ptr<kube::LocalApi> api;

  rt::Task<void> Start(rt::Loop& loop) {
    store = Must(co_await store::Store::Open(loop, store::MakeMemoryEngine()));
    backend = Must(co_await apiserver::Backend::Start(loop, *store));
    api = std::make_unique<kube::LocalApi>(*backend);
  }
};

}  // namespace baton
