// Stamping bindings so that they are scheduled anew.
#include "federation/rebalancer.h"

#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/builder.h"
#include "json/rfc3339.h"

namespace baton::federation {
namespace {

constexpr Duration kSecond = seconds(1);  // what Kubernetes' times resolve

const json::Value& Find(const json::Value& observed, const json::Value& workload) {
  static const json::Value kNone;
  for (const json::Value& one : observed.items()) {
    if (one["workload"] == workload) return one;
  }
  return kNone;
}

}  // namespace

RebalancerController::RebalancerController(Hub& hub)
    : hub_(hub),
      rebalancers_(hub.api(), kRebalancers),
      controller_(hub.loop(), "rebalancer", [this](std::string name) { return Reconcile(std::move(name)); },
                  {.workers = 2, .log = hub.options().log}) {
  rebalancers_.OnChange([this](const json::Value&, const json::Value& now) {
    if (!now.is_null()) controller_.Add(kube::NameOf(now));
  });
}

rt::Task<void> RebalancerController::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(rebalancers_.Run());
  co_await rebalancers_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<Result<bool>> RebalancerController::Trigger(const json::Value& workload) {
  const std::string key = TemplateKey::OfReference(workload).BindingKey();
  while (true) {
    const json::Value binding = hub_.Binding(key);
    if (binding.is_null()) co_return false;
    // Times are of whole seconds: a binding that was scheduled in this one would not count as older.
    const std::string now = json::FormatTime(hub_.loop().WallNow());
    if (binding["status"]["lastScheduledTime"].str() == now) {
      co_await hub_.loop().Sleep(kSecond);
      continue;
    }
    json::Value next = binding;
    next.Edit("spec").Set("rescheduleTriggeredAt", now);
    const Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), next);
    if (!written.ok()) co_return written.error();
    hub_.Learn(BindingResource(key), *written);
    co_return true;
  }
}

rt::Task<kube::Outcome> RebalancerController::Expire(const json::Value& rebalancer) {
  const json::Value& ttl = rebalancer["spec"]["ttlSecondsAfterFinished"];
  if (!ttl.is_int()) co_return kube::Outcome::Done();
  const Result<WallTime> finished = json::ParseTime(rebalancer["status"]["finishTime"].str());
  if (!finished.ok()) co_return kube::Outcome::Done();
  const Duration left = *finished + seconds(ttl.int_or(0)) - hub_.loop().WallNow();
  if (left > Duration{}) co_return kube::Outcome::WaitFor(left);
  const Result<json::Value> gone = co_await hub_.api().Delete(kRebalancers, kube::Name::Of(rebalancer),
                                                              {.uid = std::string(kube::UidOf(rebalancer))});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(gone.error());
  co_return kube::Outcome::Done();
}

rt::Task<kube::Outcome> RebalancerController::Reconcile(std::string name) {
  const json::Value rebalancer = rebalancers_.Get(name);
  if (rebalancer.is_null() || kube::IsDeleting(rebalancer)) co_return kube::Outcome::Done();
  const int64_t generation = rebalancer["metadata"]["generation"].int_or(0);
  const json::Value& status = rebalancer["status"];
  const bool done = status["observedGeneration"].int_or(-1) == generation && !status["finishTime"].is_null();
  if (done) co_return co_await Expire(rebalancer);
  json::ArrayBuilder observed;
  for (const json::Value& workload : rebalancer["spec"]["workloads"].items()) {
    const json::Value& before = Find(status["observedWorkloads"], workload);
    if (before["result"].str() == "Successful") {
      observed.Add(before);
      continue;
    }
    const Result<bool> triggered = co_await Trigger(workload);
    if (!triggered.ok()) co_return kube::Outcome::Retry(triggered.error());
    json::Value item = json::Object({{"workload", workload}, {"result", *triggered ? "Successful" : "Failed"}});
    if (!*triggered) item.Set("reason", "ReferencedBindingNotFound");
    observed.Add(std::move(item));
  }
  json::Value next = rebalancer;
  next.Set("status", json::Object({{"observedWorkloads", std::move(observed).Build()},
                                   {"observedGeneration", generation},
                                   {"finishTime", json::FormatTime(hub_.loop().WallNow())}}));
  const Result<json::Value> written = co_await hub_.api().UpdateStatus(kRebalancers, next);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  rebalancers_.Learn(*written);
  co_return kube::Outcome::Done();  // its own change wakes us for the end
}

}  // namespace baton::federation
