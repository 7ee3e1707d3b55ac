// `baton practice operators`: the practice operators and their jobs, against API servers of others.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int PracticeOperatorsCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
