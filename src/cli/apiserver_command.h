// `baton apiserver`: a Kubernetes API server in this process.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

// Exit code: 0 after a clean stop, 1 when it could not start, 2 for a wrong command line.
int ApiServerCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
