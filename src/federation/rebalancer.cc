// Stamping bindings so that they are scheduled anew.
#include "federation/rebalancer.h"

#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "kube/typed.h"

namespace baton::federation {
namespace {

using api::apps_v1alpha1::ObjectReference;
using api::apps_v1alpha1::ObservedWorkload;
using api::apps_v1alpha1::WorkloadRebalancer;
using api::apps_v1alpha1::WorkloadRebalancerStatus;

constexpr std::string_view kSuccessful = "Successful";
constexpr std::string_view kFailed = "Failed";
constexpr Duration kSecond = seconds(1);  // what Kubernetes' times resolve

bool Same(const ObjectReference& a, const ObjectReference& b) {
  return a.api_version == b.api_version && a.kind == b.kind && a.name == b.name && a.namespace_ == b.namespace_;
}

// What was said of the workload before, when that was a success.
const ObservedWorkload* Success(const WorkloadRebalancerStatus& status, const ObjectReference& workload) {
  for (const ObservedWorkload& one : status.observed_workloads) {
    if (Same(one.workload, workload) && one.result == kSuccessful) return &one;
  }
  return nullptr;
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

rt::Task<Result<bool>> RebalancerController::Trigger(const ObjectReference& workload) {
  const std::string key = TemplateKey::OfReference(api::ToJson(workload)).BindingKey();
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

rt::Task<kube::Outcome> RebalancerController::Expire(const WorkloadRebalancer& rebalancer) {
  const std::optional<int32_t> ttl = rebalancer.spec.ttl_seconds_after_finished;
  if (!ttl || !rebalancer.status) co_return kube::Outcome::Done();
  const Result<WallTime> finished = json::ParseTime(rebalancer.status->finish_time.value_or(""));
  if (!finished.ok()) co_return kube::Outcome::Done();
  const Duration left = *finished + seconds(*ttl) - hub_.loop().WallNow();
  if (left > Duration{}) co_return kube::Outcome::WaitFor(left);
  const Result<json::Value> gone = co_await hub_.api().Delete(kRebalancers, {"", rebalancer.metadata.name.value_or("")},
                                                              {.uid = rebalancer.metadata.uid.value_or("")});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(gone.error());
  co_return kube::Outcome::Done();
}

rt::Task<kube::Outcome> RebalancerController::Reconcile(std::string name) {
  const json::Value object = rebalancers_.Get(name);
  if (object.is_null() || kube::IsDeleting(object)) co_return kube::Outcome::Done();
  const Result<WorkloadRebalancer> read = kube::As<WorkloadRebalancer>(object);
  if (!read.ok()) co_return kube::Outcome::Terminal(read.error());
  WorkloadRebalancer rebalancer = *read;
  const WorkloadRebalancerStatus before = rebalancer.status.value_or(WorkloadRebalancerStatus());
  const int64_t generation = rebalancer.metadata.generation.value_or(0);
  if (before.observed_generation == generation && before.finish_time) co_return co_await Expire(rebalancer);

  WorkloadRebalancerStatus status;
  for (const ObjectReference& workload : rebalancer.spec.workloads) {
    if (const ObservedWorkload* done = Success(before, workload)) {
      status.observed_workloads.push_back(*done);
      continue;
    }
    const Result<bool> triggered = co_await Trigger(workload);
    if (!triggered.ok()) co_return kube::Outcome::Retry(triggered.error());
    ObservedWorkload& observed = status.observed_workloads.emplace_back();
    observed.workload = workload;
    observed.result = *triggered ? kSuccessful : kFailed;
    if (!*triggered) observed.reason = "ReferencedBindingNotFound";
  }
  status.observed_generation = generation;
  status.finish_time = json::FormatTime(hub_.loop().WallNow());
  rebalancer.status = std::move(status);
  const Result<WorkloadRebalancer> written = co_await kube::UpdateStatus(hub_.api(), rebalancer);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  rebalancers_.Learn(written->raw);
  co_return kube::Outcome::Done();  // its own change wakes us for the end
}

}  // namespace baton::federation
