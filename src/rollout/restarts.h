// Restarts: whether a process has begun anew between two looks, told by its pods. A status is of the moment at which it
// was written: what stopped and started again while nobody looked (the hub was away, or its operator) is not in it.
//
//   const Restarts now = RestartsOf(related["remains"]);
//   if (HasRestarted(before, now)) ...                     // it has not been healthy since `before`
//   if (IsBetweenLives(related["remains"])) ...            // nor is it again yet, whatever its status says
//
// Pods come and go as a workload is scaled, so one that went tells nothing as long as another of them stays, nor does
// one that is new.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "json/value.h"

namespace baton::rollout {

// How many lives of its containers have ended, by the pod's uid.
using Restarts = std::map<std::string, int64_t>;

// Of the pods among these objects that are not on their way out.
Restarts RestartsOf(const json::Value& objects);
// Whether a container of theirs has ended and its next life is yet to come.
bool IsBetweenLives(const json::Value& objects);
// A container of a pod that stays ended, begun anew or not, or no pod stays.
bool HasRestarted(const Restarts& before, const Restarts& now);

}  // namespace baton::rollout
