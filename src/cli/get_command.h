// `baton get`: migrations, writers and clusters as tables.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int GetCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
