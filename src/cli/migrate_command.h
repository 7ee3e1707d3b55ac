// `baton migrate` and `baton undo`: ask for a move, and wait for it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/client.h"
#include "cli/flags.h"
#include "json/value.h"

namespace baton::cli {

int MigrateCommand(std::span<const std::string_view> arguments);
int UndoCommand(std::span<const std::string_view> arguments);

// The spec of a StatefulMigration as the flags of `baton migrate` ask for it, and whether they make sense. `target` "":
// its policy chooses.
Result<void> CheckMoveFlags(const Flags& flags);
json::Value MoveSpecOf(const WorkloadArgument& workload, const std::string& target, const Flags& flags);

}  // namespace baton::cli
