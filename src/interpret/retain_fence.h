// RetainFence: the second fence on a hub whose pipe is somebody else's. There, nothing of ours stands between what is
// rendered and what is written to a member; but the other federation (a Karmada) asks a customization what of the
// member's object is to be kept. This one keeps the whole spec of an object with a newer epoch than what is to be
// written, so that a workload that was stopped for a move stays stopped when our override is emptied, pruned, or
// written by a leader that is none any more.
//
//   std::optional<Value> fence = RetainFence(profile);   // a ResourceInterpreterCustomization with only Retain
//
// What is rendered without an epoch (there is no move) is kept back only from an object that is held: one that runs
// takes every change of its template. Creation is not covered: nothing is observed then. Pure.
#pragma once

#include <optional>
#include <string>

#include "interpret/profile.h"
#include "json/value.h"

namespace baton::interpret {

// None: whether one is held is known to a script of the profile only, or the kind is one of Kubernetes' own, whose
// retention is the federation's.
std::optional<json::Value> RetainFence(const Profile& profile);
std::string RetainFenceName(const Profile& profile);  // "baton-fence-flinkdeployment"

}  // namespace baton::interpret
