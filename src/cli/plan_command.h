// `baton plan migrate` and `baton plan drain`: what a move or a drain would do, found out without doing it.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int PlanCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
