// Strays: what runs beside its writer though nobody asked. A member that is restored from a backup runs what it had
// then; that cannot be prevented. It is noticed, put on hold where it is, and told (event StrayWriter on Writer and
// template).
//
// A stray is an object of a managed workload that carries a number of ours and is not held, in a cluster that is not
// the writer, is not part of a move, and that the binding does not name (what the binding names goes through the gate).
// One with a higher number than the Writer knows is told and left alone: then it is the hub that has forgotten
// something.
//
// One that is held and stays does no harm, and is in the way of the next move. What never ran is removed: a leader that
// is none any more made it, with a create that was under way while its move went back. Else (of a move that a restored
// hub has forgotten) it is told (event HeldCopy), and left for a person.
//
// So that it is heard of, every kind that has managed workloads is watched in all members.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "federation/federation.h"
#include "kube/controller.h"
#include "rollout/profiles.h"

namespace baton::rollout {

inline constexpr std::string_view kStrayWriterEvent = "StrayWriter";
inline constexpr std::string_view kHeldCopyEvent = "HeldCopy";
inline constexpr std::string_view kLateCopyEvent = "LateCopyRemoved";

class Strays {
 public:
  // Both outlive this. Before federation.Run().
  Strays(federation::Federation& federation, ProfileSet& profiles);
  rt::Task<void> Run();

 private:
  // Where an object is; also what the queue has.
  struct Place {
    std::string cluster, api_version, kind, ns, name;  // name "": the kind is to be watched there
    std::string Key() const;
    static Place FromKey(std::string_view key);
  };

  void Seen(const std::string& cluster, const json::Value& object, bool gone);
  void WatchIn(const std::string& cluster);
  void Manages(const json::Value& workload);
  bool Binds(const Place& place) const;
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<bool>> HoldStray(const Place& place, federation::Member& member, kube::Resource resource);
  // Whether it was: a late copy (late_copy.h) that no Work is about.
  rt::Task<Result<bool>> RemoveIfItNeverRan(const Place& place, federation::Member& member, kube::Resource resource,
                                            json::Value object, json::Value writer);
  void TellStray(const Place& place, const json::Value& writer, int64_t epoch, bool held);
  void TellHeldCopy(const Place& place, const json::Value& writer, int64_t epoch);
  void Warn(const Place& place, const json::Value& writer, std::string_view reason, const std::string& message);

  federation::Hub& hub_;
  ProfileSet& profiles_;
  std::set<std::pair<std::string, std::string>> kinds_;  // apiVersion and kind that have managed workloads
  // Of what was told: keys, until it is no longer so.
  std::set<std::string> told_;
  std::set<std::string> held_copies_;
  std::map<std::string, MonotonicTime> held_since_;  // of held copies that nothing was found to be about, by key
  kube::Controller controller_;
};

}  // namespace baton::rollout
