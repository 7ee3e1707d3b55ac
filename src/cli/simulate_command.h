// `baton simulate`: random moves in a simulated world, with faults (sim/bad_day.h).
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int SimulateCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
