// Steering a move that is under way: `baton abort`, `pause`, `resume`, `approve` and `attest`. Each changes one field
// of a StatefulMigration's spec; the controllers act on it.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int AbortCommand(std::span<const std::string_view> arguments);
int PauseCommand(std::span<const std::string_view> arguments);
int ResumeCommand(std::span<const std::string_view> arguments);
int ApproveCommand(std::span<const std::string_view> arguments);
int AttestCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
