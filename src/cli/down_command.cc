// `baton down`.
#include "cli/down_command.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/pid_lock.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "down";
constexpr Duration kLookEvery = milliseconds(50);

constexpr const char* kHelp =
    "Usage: baton down [--data-dir DIR] [--timeout TIME]\n"
    "\n"
    "Stops the `baton up` that runs on a data directory, cleanly, and returns when it has ended; its next start goes "
    "on\n"
    "where it was. Fine when none runs. Exit code 1 when it does not end in time.\n"
    "\n"
    "  --data-dir DIR   of `baton up`; default ./baton-data\n"
    "  --timeout TIME   default 30s\n"
    "\n"
    "Examples:\n"
    "  baton down\n"
    "  baton down --data-dir /var/lib/baton\n"
    "  baton down --timeout 2m && baton backup --data-dir baton-data/hub -o hub.backup\n";

Result<void> Stop(const std::string& data_dir, Duration timeout) {
  const std::optional<pid_t> pid = TRY(PidLock::Holder(data_dir));
  if (!pid) {
    std::printf("nothing runs on %s\n", data_dir.c_str());
    return {};
  }
  if (::kill(*pid, SIGTERM) != 0 && errno != ESRCH)
    return UnavailableError(StrCat("process ", *pid, " cannot be stopped: ", std::strerror(errno)));
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (TRY(PidLock::Holder(data_dir)) == pid) {
    if (std::chrono::steady_clock::now() >= end)
      return UnavailableError(StrCat("process ", *pid, " was told to stop and has not ended yet"));
    std::this_thread::sleep_for(kLookEvery);
  }
  std::printf("stopped (process %d)\n", static_cast<int>(*pid));
  return {};
}

}  // namespace

int DownCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--data-dir", "DIR"}, {"--timeout", "TIME"}});
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  const Result<Duration> timeout = flags.GetDuration("--timeout", seconds(30));
  if (!timeout.ok()) return UsageError(kName, timeout.error());
  const Result<void> stopped = Stop(Absolute(flags.Get("--data-dir", "baton-data")), *timeout);
  return stopped.ok() ? 0 : Failure(kName, stopped.error());
}

}  // namespace baton::cli
