// `baton join` and `baton unjoin`: members come and go.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int JoinCommand(std::span<const std::string_view> arguments);
int UnjoinCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
