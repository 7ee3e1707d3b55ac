// `baton status`: where each managed workload runs, what moves, what is blocked, and who must act.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int StatusCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
