// `baton practice check|fault`: the judge over what practice jobs wrote, and faults to learn with.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int PracticeCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
