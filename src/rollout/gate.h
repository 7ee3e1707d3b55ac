// Gate: the answer to the pipe's one question (federation/run_gate.h): may this cluster run this workload now? It reads
// the Writer, live, at every write to a member. What is not the writer gets the held form, whatever was rendered; what
// was rendered for another epoch is not written at all.
//
// A managed workload gets its Writer here, before its first object is created: when its binding has exactly one
// cluster. One that is on several by its policy has many writers by its owner's wish and is not managed.
//
// The Writer goes on guarding when no move is under way: an object that vanished, or that was made anew by somebody
// else, is held and not started empty; an epoch in a member that the Writer does not know of stops everything.
#pragma once

#include <string>

#include "federation/run_gate.h"
#include "kube/api.h"
#include "kube/events.h"
#include "rollout/profiles.h"
#include "rollout/state.h"

namespace baton::rollout {

class Gate final : public federation::RunGate {
 public:
  // All outlive this.
  Gate(kube::Api& hub, ProfileSet& profiles) : hub_(hub), profiles_(profiles) {}

  rt::Task<Result<federation::Admitted>> Admit(std::string cluster, json::Value manifest,
                                               json::Value observed) override;
  rt::Task<Result<bool>> MayRemove(std::string cluster, json::Value object) override;
  rt::Task<Result<bool>> MayLeave(std::string cluster, json::Value object) override;
  int64_t EpochOf(const json::Value& object) const override;
  bool Manages(const json::Value& object) const override { return profiles_.Managing(object) != nullptr; }

 private:
  rt::Task<Result<json::Value>> FirstPlacement(const std::string& cluster, const json::Value& manifest,
                                               const json::Value& observed, const interpret::Profile& profile);
  rt::Task<Result<json::Value>> Renew(json::Value object, const std::string& cluster, const json::Value& manifest,
                                      const json::Value& observed);
  rt::Task<Result<void>> RememberUid(json::Value writer, std::string uid);

  kube::Api& hub_;
  ProfileSet& profiles_;
};

}  // namespace baton::rollout
