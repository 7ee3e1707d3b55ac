// `baton backup` and `baton restore`: a store into a file and back (store/backup.h).
#pragma once

#include <span>
#include <string_view>

namespace baton::cli {

// The exit code: 0 done, 1 failed (why is on stderr), 2 the command line makes no sense.
int BackupCommand(std::span<const std::string_view> arguments);
int RestoreCommand(std::span<const std::string_view> arguments);

}  // namespace baton::cli
