// `baton history` and `baton verify`: the record of past handoffs, told and checked.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int HistoryCommand(std::span<const std::string_view> arguments);
int VerifyCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
