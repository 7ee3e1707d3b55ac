// DirectoryLock: a data directory belongs to one process. Held by the kernel, so a killed process holds nothing; the
// lock file says who holds it, so that a second one can tell its user whom to stop.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace baton::store {

inline constexpr const char* kLockFileName = "baton.lock";

class DirectoryLock {
 public:
  // kAlreadyExists when another holds it ("... is in use by process 4711 (baton up)"), also when that is ourselves.
  static Result<DirectoryLock> Take(const std::string& directory);

  DirectoryLock() = default;  // holds nothing
  DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~DirectoryLock();

  bool held() const { return file_ >= 0; }

 private:
  explicit DirectoryLock(int file) : file_(file) {}
  int file_ = -1;
};

// Makes the directory with its parents, those that it makes for this user alone (0700), and on disk when this returns.
// Fine when it is there.
Result<void> MakePrivateDirectory(const std::string& directory);

// The directory's entries are on disk.
Result<void> SyncDirectory(const std::string& directory);

// "No space left on device" and the like, as kNoSpace, kForbidden, kNotFound or kUnavailable: "opening 'x': ...".
Error SystemError(const std::string& what, int error_number);

}  // namespace baton::store
