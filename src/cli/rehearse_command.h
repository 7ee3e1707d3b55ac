// `baton simulate migrate` and `baton simulate drain`: rehearsed in a simulated world that is a copy of the user's own
// fleet.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

// `arguments` begin with "migrate" or "drain".
int RehearseCommand(std::span<const std::string_view> arguments);
bool IsRehearsal(std::span<const std::string_view> arguments);

}  // namespace baton::cli
