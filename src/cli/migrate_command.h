// `baton migrate` and `baton undo`: ask for a move, and wait for it.
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

int MigrateCommand(std::span<const std::string_view> arguments);
int UndoCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
