// Acquire, renew, lose or give back a Lease.
#include "kube/election.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "json/rfc3339.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

constexpr double kRetryJitter = 0.2;  // so that two who wait do not ask in step

}  // namespace

const Resource& Leases() {
  static const Resource kLeases{
      .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease", .namespaced = true};
  return kLeases;
}

Election::Election(Api& api, ElectionOptions options) : api_(api), options_(std::move(options)) {
  INVARIANT(options_.retry_period < options_.renew_deadline && options_.renew_deadline < options_.lease_duration,
            "an election's periods must grow: retry_period < renew_deadline < lease_duration");
}

json::Value Election::Record(const json::Value& lease, bool release) const {
  const std::string now = json::FormatMicroTime(api_.loop().WallNow());
  const json::Value& old = lease["spec"];
  const bool mine = old["holderIdentity"].str() == options_.identity;
  const auto whole_seconds = [](Duration duration) { return std::max<int64_t>(1, duration / seconds(1)); };
  json::Value spec = old;  // what others put there stays
  if (release) {
    spec.Set("holderIdentity", "");
    spec.Set("leaseDurationSeconds", 1);
    spec.Set("renewTime", now);
    return spec;
  }
  spec.Set("holderIdentity", options_.identity);
  spec.Set("leaseDurationSeconds", whole_seconds(options_.lease_duration));
  spec.Set("renewTime", now);
  if (!mine) spec.Set("acquireTime", now);
  const int64_t counted = lease.is_null() ? 0 : old["leaseTransitions"].int_or(0) + (mine ? 0 : 1);
  if (!mine || counted <= raise_above_) spec.Set("leaseTransitions", std::max(counted, raise_above_ + 1));
  return spec;
}

void Election::RaiseFence(int64_t above) {
  if (above < kFenceMax) raise_above_ = std::max(raise_above_, above);
}

rt::Task<bool> Election::TryOnce() {
  const MonotonicTime begun = api_.loop().Now();
  Result<json::Value> lease = co_await api_.Get(Leases(), {options_.ns, options_.name});
  if (!lease.ok() && lease.error().kind() != ErrorKind::kNotFound) co_return false;
  json::Value current = lease.ok() ? *std::move(lease) : json::Value();
  if (current["spec"] != seen_) {
    seen_ = current["spec"];
    seen_at_ = api_.loop().Now();
  }
  holder_ = seen_["holderIdentity"].str();
  const bool mine = holder_ == options_.identity;
  // Whoever waits counts the longer of what the leader promised and what it would promise itself.
  const Duration promised =
      std::max(options_.lease_duration, Duration(seconds(seen_["leaseDurationSeconds"].int_or(0))));
  const bool held = !holder_.empty() && !mine && api_.loop().Now() < seen_at_ + promised;
  if (held) co_return false;
  // A lease that says it is ours while we do not lead was taken by a try whose answer was lost: renewing it is right.
  const json::Value spec = Record(current, false);
  json::Value wanted =
      current.is_null()
          ? json::Object({{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", json::Object({{"name", options_.name}, {"namespace", options_.ns}})}})
          : current;
  wanted.Set("spec", spec);
  Result<json::Value> written = InternalError("not written");
  if (current.is_null()) {
    written = co_await api_.Create(Leases(), wanted);
  } else {
    written = co_await api_.Update(Leases(), wanted);
  }
  if (!written.ok()) co_return false;
  seen_ = (*written)["spec"];
  seen_at_ = api_.loop().Now();
  holder_ = options_.identity;
  fence_ = seen_["leaseTransitions"].int_or(0);
  renewed_ = begun;
  co_return true;
}

rt::Task<void> Election::KeepRenewing() {
  while (true) {
    const MonotonicTime lost_at = renewed_ + options_.renew_deadline;
    co_await api_.loop().SleepUntil(std::min(lost_at, api_.loop().Now() + options_.retry_period));
    if (api_.loop().Now() >= lost_at) co_return;
    const int64_t fence = fence_;
    // A try that hangs must not outlive the deadline.
    const Result<bool> mine = co_await rt::WithDeadline(
        rt::Deadline::At(lost_at), "the lease's renewal",
        [](Election& self) -> rt::Task<Result<bool>> { co_return co_await self.TryOnce(); }(*this));
    const bool taken = !holder_.empty() && holder_ != options_.identity;
    if (taken || fence_ != fence) co_return;  // another had it in between: begin anew, with the new fence
    if (!mine.ok() && api_.loop().Now() >= lost_at) co_return;
  }
}

rt::Task<void> Election::Run(Lead lead) {
  while (true) {
    // An answer that came so late that the lease may have run out again is no election.
    while (!co_await TryOnce() || api_.loop().Now() >= renewed_ + options_.renew_deadline) {
      const auto stretch = Duration(static_cast<int64_t>(static_cast<double>(options_.retry_period.count()) *
                                                         kRetryJitter * api_.loop().random().Unit()));
      co_await api_.loop().Sleep(options_.retry_period + stretch);
    }
    leading_ = true;
    bool finished = false;
    {
      std::vector<rt::Task<void>> both;
      both.push_back(lead(fence_));
      both.push_back(KeepRenewing());
      finished = (co_await rt::WhenAny(std::move(both))).index == 0;
    }
    leading_ = false;
    if (finished) {
      co_await Release();
      co_return;
    }
  }
}

rt::Task<void> Election::Release() {
  Result<json::Value> lease = co_await api_.Get(Leases(), {options_.ns, options_.name});
  if (!lease.ok() || (*lease)["spec"]["holderIdentity"].str() != options_.identity) co_return;
  json::Value given = *lease;
  given.Set("spec", Record(*lease, true));
  // When this fails the others wait until the lease has run out, which is right.
  [[maybe_unused]] const Result<json::Value> released = co_await api_.Update(Leases(), given);
  leading_ = false;
}

}  // namespace baton::kube
