// The command lines of backup and restore.
#include "cli/backup_command.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "store/backup.h"

namespace baton::cli {

namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;

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

// An option that takes a value and must be given once.
struct Option {
  std::string_view name;
  std::string value;
};

// "--name value" and "--name=value". Whatever else is there is an error.
Result<void> Parse(std::span<const std::string_view> arguments, std::vector<Option>& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t equals = arguments[i].find('=');
    const std::string_view name = arguments[i].substr(0, equals);
    Option* found = nullptr;
    for (Option& option : options) found = option.name == name ? &option : found;
    if (found == nullptr) return InvalidError(StrCat("'", arguments[i], "' is not an option"));
    if (!found->value.empty()) return InvalidError(StrCat(name, " is given twice"));
    if (equals == std::string_view::npos && i + 1 == arguments.size()) {
      return InvalidError(StrCat(name, " needs a value"));
    }
    found->value = equals == std::string_view::npos ? arguments[++i] : arguments[i].substr(equals + 1);
    if (found->value.empty()) return InvalidError(StrCat(name, " needs a value"));
  }
  for (const Option& option : options) {
    if (option.value.empty()) return InvalidError(StrCat(option.name, " is missing"));
  }
  return {};
}

bool AsksForHelp(std::span<const std::string_view> arguments) {
  return arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
}

int UsageError(std::string_view command, const Error& error) {
  std::fputs(
      StrCat("baton ", command, ": ", error.message(), ". `baton ", command, " --help` tells how to use it.\n").c_str(),
      stderr);
  return kUsageError;
}

int Failure(std::string_view command, const Error& error) {
  std::fputs(StrCat("baton ", command, ": ", error.message(), "\n").c_str(), stderr);
  return kFailed;
}

void PrintInfo(const char* what, const store::BackupInfo& info, const std::string& where) {
  std::printf("%s '%s': revision %lld, %llu records, %llu bytes, sha256 %s\n", what, where.c_str(),
              static_cast<long long>(info.revision.value()), static_cast<unsigned long long>(info.records),
              static_cast<unsigned long long>(info.bytes), info.sha256.c_str());
}

}  // namespace

int BackupCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kBackupHelp, stdout) >= 0 ? 0 : kFailed;
  std::vector<Option> options = {{"--data-dir", ""}, {"--out", ""}};
  if (const Result<void> parsed = Parse(arguments, options); !parsed.ok()) return UsageError("backup", parsed.error());
  const Result<store::BackupInfo> info = store::BackupDirectory(options[0].value, options[1].value);
  if (!info.ok()) return Failure("backup", info.error());
  PrintInfo("wrote", *info, options[1].value);
  return 0;
}

int RestoreCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kRestoreHelp, stdout) >= 0 ? 0 : kFailed;
  std::vector<Option> options = {{"--from", ""}, {"--data-dir", ""}};
  if (const Result<void> parsed = Parse(arguments, options); !parsed.ok()) return UsageError("restore", parsed.error());
  const Result<store::BackupInfo> info = store::RestoreBackup(options[0].value, options[1].value);
  if (!info.ok()) return Failure("restore", info.error());
  PrintInfo("restored", *info, options[1].value);
  return 0;
}

}  // namespace baton::cli
