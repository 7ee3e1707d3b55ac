// `baton completion bash|zsh`: what a shell reads so that Tab completes commands, flags, and the names of what is on
// the hub.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int CompletionCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
