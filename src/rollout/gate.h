// Gate: the answer to the pipe's one question (federation/run_gate.h): may this cluster run this workload now? It reads
// the Writer, live, at every write to a member. What is not the writer gets the held form, whatever was rendered; what
// was rendered for another epoch is not written at all.
//
// A managed workload gets its Writer here, before its first object is created: when its binding has exactly one
// cluster. One that is on several by its policy has many writers by its owner's wish and is not managed. A hub that has
// lost its records cannot tell a new workload from one that it once moved, but the members can: every one of them is
// asked first, and one that does not answer is waited for (or a person says that nothing runs there).
//
// A workload that its owner takes out of our hands goes where the pipe puts it, and the Writer does not hear of that.
// When it is given back, in another cluster, the Writer takes it up there if nothing of it is left where it was; else
// it is left as it is, and told.
//
// The Writer goes on guarding when no move is under way: an object that vanished, or that was made anew by somebody
// else, is held and not started empty; an epoch in a member that the Writer does not know of stops everything.
#pragma once

#include <string>
#include <vector>

#include "federation/members.h"
#include "federation/run_gate.h"
#include "kube/api.h"
#include "kube/events.h"
#include "rollout/profiles.h"
#include "rollout/state.h"

namespace baton::rollout {

// "true" on a Cluster, by a person: nothing of ours runs there, whether or not it answers.
inline constexpr std::string_view kNothingRunsAnnotation = "rollout.karmada.io/nothing-runs-here";

class Gate final : public federation::RunGate {
 public:
  // All outlive this.
  Gate(kube::Api& hub, ProfileSet& profiles) : hub_(hub), profiles_(profiles) {}
  // The members that a first placement asks; the Rollout says so (the federation needs this before it has any).
  void LookIn(federation::Members& members) { members_ = &members; }

  rt::Task<Result<federation::Admitted>> Admit(std::string cluster, json::Value manifest,
                                               json::Value observed) override;
  rt::Task<Result<bool>> MayRemove(std::string cluster, json::Value object) override;
  rt::Task<Result<std::string>> WhyNotYet(std::string cluster, json::Value live) override;
  rt::Task<Result<bool>> MayLeave(std::string cluster, json::Value object) override;
  rt::Task<Result<std::vector<std::string>>> MovesOf(std::string cluster) override;
  int64_t EpochOf(const json::Value& object) const override;
  bool Manages(const json::Value& object) const override { return profiles_.Managing(object) != nullptr; }

 private:
  rt::Task<Result<json::Value>> FirstPlacement(const std::string& cluster, const json::Value& manifest,
                                               const json::Value& observed, const interpret::Profile& profile);
  rt::Task<Result<void>> RunsNowhereElse(const std::string& cluster, const json::Value& manifest, bool starts,
                                         const interpret::Profile& profile);
  rt::Task<Result<void>> LookAt(const std::string& here, const json::Value& cluster, const json::Value& manifest,
                                bool starts, const interpret::Profile& profile);
  rt::Task<Result<json::Value>> Renew(json::Value object, const std::string& cluster, const json::Value& manifest,
                                      const json::Value& observed, const interpret::Profile& profile);
  rt::Task<Result<json::Value>> TakeUp(json::Value object, const std::string& cluster, const json::Value& manifest,
                                       const json::Value& observed, std::shared_ptr<const interpret::Profile> profile);
  rt::Task<Result<void>> RememberUid(json::Value writer, std::string uid);

  kube::Api& hub_;
  ProfileSet& profiles_;
  federation::Members* members_ = nullptr;
};

}  // namespace baton::rollout
