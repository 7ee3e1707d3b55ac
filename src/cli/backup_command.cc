// The command lines of backup and restore.
#include "cli/backup_command.h"

#include <cstdio>
#include <string>

#include "base/result.h"
#include "cli/flags.h"
#include "store/backup.h"

namespace baton::cli {

namespace {

constexpr const char* kBackupHelp =
    "Usage: baton backup --data-dir DIR --out FILE\n"
    "\n"
    "Writes everything that the store in DIR holds, at one revision, to the new file FILE, with a digest. The server "
    "may\n"
    "be running: what it had acknowledged when this began is in the backup.\n"
    "\n"
    "  --data-dir DIR   the server's data directory\n"
    "  --out FILE       where to; must not exist\n";

constexpr const char* kRestoreHelp =
    "Usage: baton restore --from FILE --data-dir DIR\n"
    "\n"
    "Makes a store in DIR, which must be missing or empty, from the backup FILE. The digest is checked first, and "
    "what\n"
    "was written is read back. Then start the server with that directory.\n"
    "\n"
    "  --from FILE      a file that `baton backup` wrote\n"
    "  --data-dir DIR   where to\n";

void PrintInfo(const char* what, const store::BackupInfo& info, const std::string& where) {
  std::printf("%s '%s': revision %lld, %llu records, %llu bytes, sha256 %s\n", what, where.c_str(),
              static_cast<long long>(info.revision.value()), static_cast<unsigned long long>(info.records),
              static_cast<unsigned long long>(info.bytes), info.sha256.c_str());
}

}  // namespace

int BackupCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kBackupHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--data-dir", "DIR"}, {"--out", "FILE"}});
  if (const Result<void> parsed = flags.ParseAll(arguments); !parsed.ok()) return UsageError("backup", parsed.error());
  const Result<store::BackupInfo> info = store::BackupDirectory(flags.Get("--data-dir"), flags.Get("--out"));
  if (!info.ok()) return Failure("backup", info.error());
  PrintInfo("wrote", *info, flags.Get("--out"));
  return 0;
}

int RestoreCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kRestoreHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--from", "FILE"}, {"--data-dir", "DIR"}});
  if (const Result<void> parsed = flags.ParseAll(arguments); !parsed.ok()) return UsageError("restore", parsed.error());
  const Result<store::BackupInfo> info = store::RestoreBackup(flags.Get("--from"), flags.Get("--data-dir"));
  if (!info.ok()) return Failure("restore", info.error());
  PrintInfo("restored", *info, flags.Get("--data-dir"));
  return 0;
}

}  // namespace baton::cli
