// `baton drain`, `baton uncordon`, `baton undrain`: a cluster is emptied by moves, takes workloads again, and gets back
// what it had.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int DrainCommand(std::span<const std::string_view> arguments);
int UncordonCommand(std::span<const std::string_view> arguments);
int UndrainCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
