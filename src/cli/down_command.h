// `baton down`: stops the `baton up` of a data directory.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int DownCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
