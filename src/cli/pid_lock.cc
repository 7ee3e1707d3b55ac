// The lock of a data directory.
#include "cli/pid_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/strings.h"

namespace baton::cli {
namespace {

std::string PathOf(const std::string& data_dir) { return StrCat(data_dir, "/baton.lock"); }

Result<pid_t> ReadPid(int fd, const std::string& path) {
  char text[32];
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  pid_t pid = 0;
  if (got > 0) std::from_chars(text, text + got, pid);
  if (pid <= 0) return UnavailableError(StrCat("'", path, "' is locked and does not say by whom: try again"));
  return pid;
}

}  // namespace

Result<std::unique_ptr<PidLock>> PidLock::Take(const std::string& data_dir) {
  const std::string path = PathOf(data_dir);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return InvalidError(StrCat("'", path, "' cannot be opened: ", std::strerror(errno)));
  auto lock = std::make_unique<PidLock>(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const Result<pid_t> pid = ReadPid(fd, path);
    return ConflictError(StrCat("'", data_dir, "' is in use by another `baton up`",
                                pid.ok() ? StrCat(" (process ", *pid, ")") : std::string(), ": `baton down` stops it"));
  }
  const std::string text = StrCat(::getpid(), "\n");
  const bool written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) == ssize_t(text.size());
  if (!written) return InvalidError(StrCat("'", path, "' cannot be written: ", std::strerror(errno)));
  return lock;
}

Result<std::optional<pid_t>> PidLock::Holder(const std::string& data_dir) {
  const std::string path = PathOf(data_dir);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::optional<pid_t>();
  if (fd < 0) return InvalidError(StrCat("'", path, "' cannot be opened: ", std::strerror(errno)));
  const PidLock closes(fd);
  if (::flock(fd, LOCK_SH | LOCK_NB) == 0) return std::optional<pid_t>();
  return std::optional<pid_t>(TRY(ReadPid(fd, path)));
}

PidLock::~PidLock() { ::close(fd_); }

}  // namespace baton::cli
