// `baton profile`: the MigrationProfiles that come with Baton, and a user's own tried without a cluster.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int ProfileCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
