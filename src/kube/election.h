// Election: which one of several processes acts, by a coordination.k8s.io Lease with client-go's fields, so that
// kubectl and other tools read it.
//
//   Election election(hub, {.ns = "baton-system", .name = "baton-controllers", .identity = host_and_uuid});
//   co_await election.Run([&](int64_t fence) { return RunControllers(fence); });
//
// Nobody's wall clock matters: who waits measures, on its own monotonic clock, how long the record has not changed; who
// leads measures from before it sent the last renewal that worked. A leader that could not renew for `renew_deadline`
// drops its work, at once and whatever it is doing, and others may start only `lease_duration` after they saw the last
// change: as long as clocks run at about the same speed, the first is over before the second begins. What an old leader
// already sent may still be under way: that is what the fence is for. It grows with every change of leader, and who
// writes what must not be undone by an old leader writes it with its fence.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "json/value.h"
#include "kube/api.h"
#include "rt/event.h"
#include "rt/task.h"

namespace baton::kube {

const Resource& Leases();

struct ElectionOptions {
  std::string ns = "kube-system";
  std::string name;
  std::string identity;  // of this process and no other
  Duration lease_duration = seconds(15);
  Duration renew_deadline = seconds(10);  // less than lease_duration
  Duration retry_period = seconds(2);     // less than renew_deadline
};

class Election {
 public:
  using Lead = std::function<rt::Task<void>(int64_t fence)>;

  Election(Api& api, ElectionOptions options);

  // Waits to be elected, leads, and begins again when the lease was lost, until it is dropped or `lead` returns: then
  // the lease is given back. What `lead` runs is dropped when the lease is lost.
  rt::Task<void> Run(Lead lead);
  // Gives the lease back, so that another need not wait; when this one has it and its work is over. Called by who drops
  // Run() in an orderly end.
  rt::Task<void> Release();

  // The fence must be greater than that, says one who sees what a leader with a higher fence wrote. When this one has
  // the lease, the lease began to count anew (it was deleted, or another one was used before): the next renewal counts
  // it up, by compare-and-swap, and `lead` begins again with the new fence. When it has not, that changes nothing.
  void RaiseFence(int64_t above);
  static constexpr int64_t kFenceMax = 1'000'000'000;  // a Lease's number has 32 bits: what is higher is not followed

  bool leading() const { return leading_; }
  int64_t fence() const { return fence_; }
  const std::string& leader() const { return holder_; }  // as last seen

 private:
  rt::Task<bool> TryOnce();       // whether this one has the lease now
  rt::Task<void> KeepRenewing();  // returns when it was lost
  json::Value Record(const json::Value& lease, bool release) const;

  Api& api_;
  ElectionOptions options_;
  json::Value seen_;  // the lease's spec as last seen, and since when it has not changed
  MonotonicTime seen_at_{};
  json::Value lease_;
  bool leading_ = false;
  int64_t fence_ = 0;
  int64_t raise_above_ = -1;
  std::string holder_;
  MonotonicTime renewed_{};
};

}  // namespace baton::kube
