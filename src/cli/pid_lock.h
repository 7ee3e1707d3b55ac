// PidLock: one `baton up` for a data directory, and how another process finds it. The file DIR/baton.lock is locked for
// as long as the process lives, whatever ends it, and holds its id; so an id that is read while the lock is held is no
// other process's.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace baton::cli {

class PidLock {
 public:
  // kConflict: another process has it.
  static Result<std::unique_ptr<PidLock>> Take(const std::string& data_dir);
  // Who has it; nothing: nobody.
  static Result<std::optional<pid_t>> Holder(const std::string& data_dir);

  explicit PidLock(int fd) : fd_(fd) {}
  PidLock(const PidLock&) = delete;
  PidLock& operator=(const PidLock&) = delete;
  ~PidLock();

 private:
  int fd_;
};

}  // namespace baton::cli
