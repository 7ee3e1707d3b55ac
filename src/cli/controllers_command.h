// `baton controllers`: the controllers, on any hub.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int ControllersCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
