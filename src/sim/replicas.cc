// Several control planes of one hub.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/probe.h"
#include "base/strings.h"
#include "kube/borrowed_api.h"
#include "sim/wire.h"
#include "sim/world.h"

namespace baton::sim {
namespace {

// Calls for the lease fail in one way or another while it is cut.
class LeasePlan final : public kube::FaultPlan {
 public:
  // All outlive this.
  LeasePlan(kube::FaultPlan& below, const bool& cut, rt::Random& random) : below_(below), cut_(cut), random_(random) {}

  kube::FaultDecision ForCall(const kube::Call& call) override {
    if (!cut_ || call.resource.plural != kube::Leases().plural) return below_.ForCall(call);
    constexpr std::array kWays = {kube::Fault::kErrorBefore, kube::Fault::kAnswerLost, kube::Fault::kSilence,
                                  kube::Fault::kServerError};
    return {.fault = kWays.at(random_.Below(kWays.size()))};
  }
  kube::FaultDecision ForOpen(const kube::WatchCall& call) override { return below_.ForOpen(call); }
  kube::FaultDecision ForChanges(const kube::WatchCall& call) override { return below_.ForChanges(call); }

 private:
  kube::FaultPlan& below_;
  const bool& cut_;
  rt::Random& random_;
};

}  // namespace

void World::TellOf(const Replica& replica, std::string_view what) {
  if (story_ != nullptr) story_->Tell(StrCat("replica ", replica.name), what);
}

Ways& World::MakeWays(const std::string& who) {
  ways_.push_back(std::make_unique<Ways>());
  Ways& ways = *ways_.back();
  const auto way = [&](kube::Api& server, kube::FaultPlan& plan) -> kube::Api* {
    ways.apis.push_back(std::make_unique<kube::FaultyApi>(server, plan));
    ways.apis.push_back(std::make_unique<Wire>(*ways.apis.back(), *network_));
    return ways.apis.back().get();
  };
  kube::FaultPlan& to_hub = PlanFor(ways.plans, hub_faults_, nullptr, nullptr, who, "hub");
  ways.plans.push_back(std::make_unique<LeasePlan>(to_hub, ways.lease_cut, loop_.random()));
  ways.hub = way(hub_.api(), *ways.plans.back());
  for (auto& [name, member] : members_) {
    kube::FaultPlan& plan = PlanFor(ways.plans, member->faults, &member->cut, nullptr, who, name);
    ways.members[name] = way(*member->door, plan);
  }
  return ways;
}

void World::StartReplica(size_t which) {
  if (network_ == nullptr) network_ = std::make_unique<rt::Scope>(loop_);
  if (replicas_.size() <= which) replicas_.resize(which + 1);
  replicas_[which].reset();
  replicas_[which] = std::make_unique<Replica>();
  Replica& replica = *replicas_[which];
  replica.name = StrCat(which + 1, ".", ++replica_lives_);
  replica.process = loop_.NewProcess();
  TellOf(replica, "starts");
  replica.ways = &MakeWays(StrCat("replica ", replica.name));
  replica.election = std::make_unique<kube::Election>(
      *replica.ways->hub, kube::ElectionOptions{.name = "baton-controllers", .identity = replica.name});
  replica.scope = std::make_unique<rt::Scope>(loop_);
  // As the program does; what the world's own leaders wrote before is older.
  const int64_t base = fence_ + 1;
  const rt::VirtualLoop::Inside inside(loop_, replica.process);
  replica.scope->Spawn(
      replica.election->Run([this, &replica, base](int64_t transitions) { return Lead(replica, base, transitions); }));
}

rt::Task<void> World::Lead(Replica& replica, int64_t base, int64_t transitions) {
  const int64_t fence = base + transitions;
  for (const std::unique_ptr<Replica>& other : replicas_) {
    if (other == nullptr || other.get() == &replica || !other->leads) continue;
    const bool stands_still = loop_.frozen(other->process) || other->thawed == loop_.Now();
    if (stands_still) SOMETIMES("sim.elected_while_the_old_leader_is_paused");
    if (stands_still) continue;
    if (lease_deleted_ && loop_.Now() < *lease_deleted_ + kube::ElectionOptions{}.lease_duration) {
      SOMETIMES("sim.two_lead_after_the_lease_was_deleted");
      continue;
    }
    problems_.push_back(StrCat("replica ", replica.name, " leads while replica ", other->name, " does"));
  }
  struct Term {
    World& world;
    Replica& replica;
    ~Term() {
      replica.leads.reset();
      world.TellOf(replica, "leads no more");
    }
  };
  replica.leads = fence;
  TellOf(replica, StrCat("leads with fence ", fence));
  const Term term{*this, replica};
  const Controllers controllers(
      *replica.ways->hub,
      [ways = replica.ways](const json::Value& cluster, const json::Value&) -> Result<std::unique_ptr<kube::Api>> {
        const auto at = ways->members.find(std::string(kube::NameOf(cluster)));
        if (at == ways->members.end()) return NotFoundError("there is no such cluster in this world");
        return std::unique_ptr<kube::Api>(std::make_unique<kube::BorrowedApi>(*at->second));
      },
      {.fence = fence,
       .claim_templates = options_.claim_templates,
       .own_hub = options_.own_hub,
       .outranked = [&replica, base](int64_t higher) { replica.election->RaiseFence(higher - base); }});
  rt::Event never;
  co_await never.Wait();
}

void World::KillReplica(size_t which) {
  if (replica(which) == nullptr) return;
  TellOf(*replicas_[which], "is killed");
  if (replicas_[which]->leads) SOMETIMES("sim.leading_replica_killed");
  replicas_[which].reset();
}

void World::PauseReplica(size_t which) {
  if (replica(which) == nullptr) return;
  TellOf(*replicas_[which], "is paused");
  loop_.Freeze(replicas_[which]->process);
}

void World::ResumeReplica(size_t which) {
  if (replica(which) == nullptr || !loop_.frozen(replicas_[which]->process)) return;
  Replica& one = *replicas_[which];
  TellOf(one, "goes on");
  one.thawed = loop_.Now();
  for (const std::unique_ptr<Replica>& other : replicas_) {
    if (one.leads && other != nullptr && other.get() != &one && other->leads)
      SOMETIMES("sim.paused_leader_goes_on_beside_a_new_one");
  }
  loop_.Thaw(one.process);
}

void World::CutLease(size_t which, bool cut) {
  if (replica(which) == nullptr || replicas_[which]->ways->lease_cut == cut) return;
  TellOf(*replicas_[which], cut ? "cannot reach its lease" : "reaches its lease again");
  replicas_[which]->ways->lease_cut = cut;
}

void World::SkewReplica(size_t which, Duration skew) {
  if (replica(which) == nullptr) return;
  TellOf(*replicas_[which], StrCat("its clock is ", skew / seconds(1), " s off"));
  DriftReplica(which, skew);
}

void World::DriftReplica(size_t which, Duration skew) {
  if (replica(which) == nullptr) return;
  loop_.SetWallSkew(replicas_[which]->process, skew);
  longest_skew_ = std::max(longest_skew_, std::chrono::abs(skew));
}

std::optional<size_t> World::LeadingReplica() const {
  std::optional<size_t> leading;
  for (size_t i = 0; i < replicas_.size(); ++i) {
    const Replica* one = replicas_[i].get();
    if (one == nullptr || !one->leads || loop_.frozen(one->process)) continue;
    if (!leading || *one->leads > *replicas_[*leading]->leads) leading = i;
  }
  return leading;
}

}  // namespace baton::sim
