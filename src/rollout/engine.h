// Engine: carries migrations out. For each it looks (live, at the hub and at both members), asks Next, does the one
// thing that it says, and looks again, until there is nothing to do but wait; then it tells the status.
//
//   Gate gate(hub_api, profiles);
//   Federation federation(hub_api, interpreter, connect, {.gate = &gate});
//   Engine engine(federation, profiles, {.fence = [&] { return election.fence(); }});
//   scope.Spawn(engine.Run());
//
// Evidence is never read from a cache: informers only wake it. It can be killed at any point, and another may run at
// the same time: every write is a compare-and-swap, and what is decided follows from what is durable.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "federation/federation.h"
#include "interpret/profile.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "rollout/late_start.h"
#include "rollout/metrics.h"
#include "rollout/next.h"
#include "rollout/preflight.h"
#include "rollout/profiles.h"
#include "rollout/records.h"
#include "rt/event.h"

namespace baton::rollout {

// After failed calls: a workload may stand still until the next try, and nothing else may come to wake it.
inline constexpr Duration kRetryMax = seconds(10);
// While something is waited for that no watch tells of: pods going, a probe ending, a cluster that does not answer.
inline constexpr Duration kLookAgain = seconds(1);
// The longer it has been waited for, the less a look more is worth: one after each such part of the time so far, so
// that it is seen at most so much later than it came, and a member that is down for an hour is not asked every second.
inline constexpr int kWaitParts = 20;
// A safety net while a watch will tell: the workload's object in both members, and all that is on the hub.
inline constexpr Duration kLookSeldom = seconds(10);
// The same while a person or a window is waited for.
inline constexpr Duration kLookRarely = seconds(30);
inline constexpr size_t kStepsMax = 64;  // of one reconcile, then others get their turn
// When a start was ordered: nothing else of that move for so long.
inline constexpr Duration kStartGoesFirst = milliseconds(100);
inline constexpr Duration kLateWrites = kube::kCallTimeout;  // after its end a move is swept once more
inline constexpr Duration kLateWritesOver = minutes(5);
// So often binding and override of one move are written in that time; then somebody else writes them back as fast, and
// the next try has time. (A move without faults has eight such writes in all.)
inline constexpr size_t kContestedWrites = 20;
inline constexpr Duration kContestedWithin = seconds(10);
inline constexpr Duration kAroundMax = seconds(1);    // what was seen around a member's object longer ago is seen again
inline constexpr Duration kTellTimeout = seconds(5);  // a status that takes longer is told at the next look
inline constexpr Duration kSightTimeout = seconds(5);  // a member that takes longer has not answered

struct EngineOptions {
  std::function<int64_t()> fence;  // of this leader; null: 1
  // Told of a higher fence than ours in what we should act on: another leader is newer, or fences count anew and ours
  // must be raised. May be null.
  std::function<void(int64_t fence)> outranked;
  bool own_hub = true;
  const Logger* log = nullptr;
  const RolloutMetrics* metrics = nullptr;  // null: nothing is counted
};

class Engine {
 public:
  Engine(federation::Federation& federation, ProfileSet& profiles, EngineOptions options = {});

  rt::Task<void> Run();
  // Until it is known which workloads are managed: users' profiles and the claims of Writers are read.
  rt::Task<void> UntilManagedIsKnown();
  kube::Controller& controller() { return controller_; }
  kube::Informer& migrations() { return migrations_; }
  kube::Informer& writers() { return writers_; }
  // The keys of all moves of that workload, by our copy.
  std::vector<std::string> MovesOf(std::string_view kind, std::string_view ns, std::string_view name) const;

 private:
  // All that one look found.
  struct Look {
    json::Value object;  // the migration
    MigrationSpec spec;
    json::Value writer_object;
    Writer writer;
    json::Value workload;  // the template; null: gone
    json::Value binding;
    json::Value override_policy;
    std::shared_ptr<const interpret::Profile> profile;
    Observation seen;
    bool borrowed = false;  // what is of the hub was not read for this look: it may lead to one effect only
    std::string why_no_profile;
    json::Value pinned;  // to be kept with a new claim
    json::Value prior;
  };

  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<kube::Outcome> Drive(json::Value object, bool stands_in, json::Value writer = {},
                                std::optional<Look> first = std::nullopt);
  rt::Task<std::optional<kube::Outcome>> TakeBackOrphans(const std::string& key, std::string_view uid);
  rt::Task<json::Value> WriterOf(json::Value migration);  // null: not read now
  // A look by our copies of what is on the hub, while migration and Writer are read; nothing where that would not help.
  rt::Task<std::optional<Look>> LookAhead(json::Value migration);
  static std::optional<Look> StillHolds(std::optional<Look> ahead, const json::Value& object,
                                        const json::Value& writer);
  rt::Task<bool> SeemsStopped(const Look& look);  // by our copy of the source's object
  static bool IsGrant(const Decision& decision, const Look& look);
  // What a look has of the hub, for those who look at members meanwhile.
  struct HubPart {
    rt::Event read;
    bool ok = false;
  };
  // The rest that a look has of the hub; what is absent is read.
  struct HubCopies {
    std::optional<json::Value> binding;
    std::optional<json::Value> override_policy;
    std::optional<json::Value> workload;
  };
  // `writer`: the Writer, when we have just read or written it; null: it is read. `copies`: for a borrowed look.
  rt::Task<Result<Look>> Observe(const json::Value& object, json::Value writer, HubCopies copies = {});
  rt::Task<Result<void>> LoadWriter(Look& look, json::Value writer = {});
  rt::Task<Result<void>> ReadHub(Look& look, HubCopies copies = {});
  rt::Task<Result<void>> ReadHubAs(HubPart& part, Look& look, HubCopies copies);
  rt::Task<Result<void>> Check(Look& look);  // preflight
  rt::Task<Result<void>> SeeWorks(Look& look);
  rt::Task<Result<void>> SeeWhatIsOrdered(Look& look);
  rt::Task<Sighting> See(const Look& look, const Holder& meant, bool is_target, HubPart& hub);
  // Whether what that look lacks may come without an event of the object's own.
  static Result<bool> Unheard(const federation::Member& member, const kube::Resource& resource, const Look& look,
                              const json::Value& object, const json::Value& related,
                              const interpret::Question& question, const Sighting& sighting);
  Duration UntilNextLook(const Look& look, const Decision& decision) const;
  static rt::Task<Result<json::Value>> SeeRelated(federation::Member& member, const Look& look, RelatedPart part);
  rt::Task<Result<json::Value>> SeeFirst(federation::Member& member, const Look& look, bool probe, int64_t seq);
  static rt::Task<Result<std::optional<json::Value>>> SeeProbe(federation::Member& member, json::Value wanted);
  rt::Task<Result<void>> SeeBeside(federation::Member& member, const Look& look, const json::Value& object,
                                   const json::Value& related, const interpret::Question& question, Sighting& sighting);
  rt::Task<Result<void>> RemoveSpentProbe(federation::Member& member, const json::Value& probe);
  rt::Task<Result<void>> TakeBackLateProbe(federation::Member& member, const Look& look, int64_t seq);

  rt::Task<Result<void>> Perform(Look& look, const Effect& effect);
  // How long this effect has to wait because somebody writes back what we write; it is counted when it has not.
  Duration RestBefore(const Look& look, const Effect& effect);
  // After this effect: the wait that is decided on without another look; nothing when one is needed.
  static std::optional<Decision> WaitsAfter(Look& look, const Effect& effect);
  rt::Task<Result<void>> Swap(Look& look, const Writer& next);
  rt::Task<Result<void>> WriterStands(const Look& look);
  rt::Task<Result<void>> Put(Look& look, const OverrideState& state);
  rt::Task<Result<void>> Remove(Look& look);
  rt::Task<Result<void>> Bind(Look& look, const BindingState& state);
  rt::Task<Result<void>> Validate(Look& look);
  rt::Task<Result<void>> Tell(const json::Value& before, const json::Value& now, const Decision& decision,
                              const json::Value& workload);
  void Count(const json::Value& before, const json::Value& now, const Decision& decision) const;
  json::Value Projected(const json::Value& current, const Look& look, const Decision& decision) const;
  rt::Task<Result<void>> RemoveProbe(const Look& look);
  // Where something is to be taken away; null: it has left, and nothing can be. kUnavailable: not known yet.
  rt::Task<Result<std::shared_ptr<federation::Member>>> MemberToClean(std::string cluster);
  static bool MustBeClean(const Look& look, std::string_view cluster);
  rt::Task<Result<void>> RemoveProbeFrom(std::string cluster, json::Value probe);
  // beside.cc
  // What is beside a workload that stops or is about to start, made as its profile says; gives what it still waits for.
  rt::Task<Result<void>> MakeBeside(federation::Member& member, const Look& look, const json::Value& object,
                                    const json::Value& related, const interpret::Question& question);
  rt::Task<Result<void>> RemoveBeside(const Look& look);
  rt::Task<Result<void>> RemoveBesideFrom(std::string cluster, const Look& look);
  rt::Task<kube::Outcome> SweepLate(const json::Value& migration);
  rt::Task<Result<void>> RemoveLateOverride(const json::Value& migration);
  rt::Task<Result<void>> RemoveLostOverride(kube::Name name);
  void NoticeLateLock(const std::string& key);  // of a binding, and its Writer
  rt::Task<Result<void>> RemoveLateLock(kube::Name name);
  rt::Task<Result<json::Value>> Finalize(const std::string& key);
  static json::Value Pinned(const Look& look);
  std::optional<OverrideState> OverrideStateOf(const Look& look);
  int64_t Fence() const { return options_.fence ? options_.fence() : 1; }
  void LookIntoClaim(const json::Value& writer);
  void Wake(const json::Value& workload);
  void SeenInCopy(const std::string& cluster, const json::Value& object);
  bool HasClaim(const std::string& key, std::string_view uid) const;
  std::string MoveOf(const json::Value& workload, std::string_view uid) const;  // its key; "": not known

  federation::Hub& hub_;
  federation::Federation& federation_;
  ProfileSet& profiles_;
  EngineOptions options_;
  kube::Informer migrations_;
  kube::Informer profile_objects_;
  kube::Informer writers_;  // only to find what should be looked into: claims without a migration, Writers that go
  struct Memory {           // what may be lost
    std::optional<bool> target_valid;
    std::string target_invalid;
    int64_t valid_for_attempt = -1;
    std::optional<MonotonicTime> proven_since;
    Restarts restarts;                // of the target, at the last look that proved its start
    LateStart late_start;             // of a target that goes back
    std::string ordered;              // the version of its override that we wrote last
    std::deque<MonotonicTime> wrote;  // binding and override, not long ago
    struct {
      json::Value policy;
      json::Value writer;
      json::Value workload;
      std::shared_ptr<const interpret::Profile> profile;
      std::optional<OverrideState> state;
    } override_read;  // what was read last, and what it was read from
  };
  std::map<std::string, Memory, std::less<>> memory_;  // by migration uid
  kube::Controller controller_;
};

}  // namespace baton::rollout
