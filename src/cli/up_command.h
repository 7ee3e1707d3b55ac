// `baton up`: the whole control plane in one process.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int UpCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
