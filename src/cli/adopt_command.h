// `baton adopt`: what runs in one cluster already becomes templates and a policy on the hub, and back.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int AdoptCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
