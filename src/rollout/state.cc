// Names of phases and intents.
#include "rollout/state.h"

#include <array>
#include <string_view>

namespace baton::rollout {
namespace {

constexpr std::array<std::string_view, 14> kPhases = {"Pending",     "Planned",    "Staged",    "Quiescing", "Granted",
                                                      "Verifying",   "Cleaning",   "Succeeded", "Aborting",  "Aborted",
                                                      "Withdrawing", "RolledBack", "Rejected",  "Cancelled"};

}  // namespace

std::string_view PhaseName(Phase phase) { return kPhases.at(static_cast<size_t>(phase)); }

std::optional<Phase> PhaseFromName(std::string_view name) {
  for (size_t i = 0; i < kPhases.size(); ++i) {
    if (kPhases.at(i) == name) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

bool IsEnd(Phase phase) {
  switch (phase) {
    case Phase::kSucceeded:
    case Phase::kAborted:
    case Phase::kRolledBack:
    case Phase::kRejected:
    case Phase::kCancelled:
      return true;
    default:
      return false;
  }
}

std::string_view IntentName(Intent intent) {
  switch (intent) {
    case Intent::kForward:
      return "Forward";
    case Intent::kAbort:
      return "Abort";
    case Intent::kWithdraw:
      return "Withdraw";
  }
  return "";
}

}  // namespace baton::rollout
