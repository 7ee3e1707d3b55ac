// Backend: a whole API server below HTTP: registry, core, admission and the controllers that keep it going. Runs on any
// loop: the server, in-process clients and the simulator all have one.
//
//   auto backend = CO_TRY(co_await Backend::Start(loop, store));
//   co_await backend->core().Create(...);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authorizer.h"
#include "apiserver/core.h"
#include "apiserver/crd_controller.h"
#include "apiserver/garbage_collector.h"
#include "apiserver/mend.h"
#include "apiserver/namespaces.h"
#include "apiserver/registry.h"
#include "apiserver/webhooks.h"
#include "base/result.h"
#include "rt/scope.h"
#include "store/store.h"

namespace baton::apiserver {

inline constexpr Duration kCompactEvery = minutes(5);  // what is older than this is forgotten, as kube-apiserver does
inline constexpr Duration kEventLife = hours(1);       // of Event objects, likewise
inline constexpr Duration kEventSweepEvery = minutes(1);  // a safety net's timer: expiry has no event to wait for

class Backend {
 public:
  // Mends what older versions stored and nobody can read, makes what every cluster has (namespaces, RBAC's roles) when
  // it is not there, and serves stored CRDs.
  // Webhooks are called by `call`; null: configured webhooks fail, as their failurePolicy says.
  using WebhookCaller = std::function<rt::Task<Result<net::Response>>(WebhookCall call, rt::Deadline deadline)>;
  static rt::Task<Result<std::unique_ptr<Backend>>> Start(rt::Loop& loop, store::Store& store,
                                                          WebhookCaller call = nullptr);
  ~Backend();

  // As when the process dies: what the server does by itself (garbage, namespaces, CRDs) ends here. Calls that are
  // under way go on until the store ends them. For the simulator.
  void Halt() { scope_.CancelAll(); }

  Core& core() { return core_; }
  Registry& registry() { return registry_; }
  Authorizer& authorizer() { return authorizer_; }
  const std::vector<Mended>& mended() const { return mended_; }  // at the start: to be told

 private:
  Backend(rt::Loop& loop, store::Store& store);
  WebhookOptions WebhooksFromStore(WebhookCaller call);
  rt::Task<Result<void>> Bootstrap();
  rt::Task<void> Compact();
  rt::Task<void> ExpireEvents();

  Registry registry_;
  Core core_;
  Authorizer authorizer_;
  CrdController crds_;
  NamespaceController namespaces_;
  GarbageCollector collector_;
  std::vector<Mended> mended_;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::apiserver
