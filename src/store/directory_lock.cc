// The lock file, by flock(2).
#include "store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/strings.h"

namespace baton::store {

namespace {
constexpr size_t kHolderBytesMax = 1024;

// The program and its arguments as its user typed them, on one line.
std::string OwnCommand() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command((std::istreambuf_iterator<char>(file)), {});
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return command.substr(0, kHolderBytesMax / 2);
}

// "process 4711 (baton up)", as the holder wrote it; it may be writing right now, or be unreadable to us.
std::string HolderIn(int file) {
  std::array<char, kHolderBytesMax> text;
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  const std::string_view line = Trim(std::string_view(text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))));
  return line.starts_with("process ") ? std::string(line) : std::string("another process");
}

}  // namespace

Error SystemError(const std::string& what, int error_number) {
  const std::string message = StrCat(what, ": ", std::generic_category().message(error_number));
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return {ErrorKind::kNoSpace, message};
    case EACCES:
    case EPERM:
    case EROFS:
      return {ErrorKind::kForbidden, message};
    case ENOENT:
      return NotFoundError(message);
    case ENOTDIR:
    case ENAMETOOLONG:
      return InvalidError(message);
    default:
      return UnavailableError(message);
  }
}

Result<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  const std::string path = StrCat(directory, "/", kLockFileName);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return SystemError(StrCat("opening '", path, "'"), errno);
  DirectoryLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError(StrCat("locking '", path, "'"), errno);
    return AlreadyExistsError(
        StrCat("the data directory '", directory, "' is in use by ", HolderIn(file), ": stop it first"));
  }
  // Only a hint for people, so a disk that does not take it is no reason to fail.
  const std::string holder = StrCat("process ", getpid(), " (", OwnCommand(), ")\n");
  if (ftruncate(file, 0) == 0) std::ignore = pwrite(file, holder.data(), holder.size(), 0);
  return lock;
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) close(file_);
}

Result<void> MakePrivateDirectory(const std::string& directory) {
  if (directory.empty()) return InvalidError("the data directory has no name");
  std::string path;
  for (const std::filesystem::path& part : std::filesystem::path(directory)) {
    const std::string parent = path.empty() ? std::string(".") : path;
    path = (std::filesystem::path(path) / part).string();
    struct stat found;
    if (stat(path.c_str(), &found) == 0) {
      if (!S_ISDIR(found.st_mode)) return InvalidError(StrCat("'", path, "' is not a directory"));
      continue;
    }
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return SystemError(StrCat("making the directory '", path, "'"), errno);
    }
    TRY(SyncDirectory(parent));
  }
  return {};
}

Result<void> SyncDirectory(const std::string& directory) {
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return SystemError(StrCat("opening '", directory, "'"), errno);
  const int failed = fsync(file) == 0 ? 0 : errno;
  close(file);
  if (failed != 0) return SystemError(StrCat("syncing '", directory, "'"), failed);
  return {};
}

}  // namespace baton::store
