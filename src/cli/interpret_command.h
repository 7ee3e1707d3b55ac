// `baton interpret`: asks the resource interpreter from the command line (interpret/interpreter.h).
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

// The exit code: 0 answered, 1 failed (why is on stderr), 2 the command line makes no sense.
int InterpretCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
