// What reaches a probe that random days rarely or never reach: a scene that is made for it. So a mark in the engine
// that nothing comes to any more is noticed.
//
//   if (HasReach("rollout.gate_holds_another_object")) hits = PlayReach("rollout.gate_holds_another_object");
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::sim {

bool HasReach(std::string_view probe);
// How often the probe was hit; the scene may have several tries. Sets all other probes to zero.
uint64_t PlayReach(std::string_view probe);

// Why nothing in this program reaches it, and what does instead; "": no such reason.
std::string_view WhyNotReached(std::string_view probe);

}  // namespace baton::sim
