// A directory of a test's own, gone when the test is. In memory where the system has room for that (/dev/shm), because
// a sync of a real disk costs milliseconds.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/invariant.h"

namespace baton::store {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const bool in_memory = access("/dev/shm", W_OK | X_OK) == 0;
    const std::filesystem::path parent = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "baton_store_XXXXXX").string();
    INVARIANT(mkdtemp(pattern.data()) != nullptr, "no temporary directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace baton::store
