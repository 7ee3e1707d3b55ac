// For tests of Files only: a directory that goes when the test does, and the two worlds that one test can run in.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "rt/files.h"
#include "rt/files_internal.h"
#include "rt/real_loop.h"
#include "rt/simulated_files.h"
#include "rt/virtual_loop.h"

namespace baton::rt {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "baton-files-XXXXXX").string()) {
    INVARIANT(mkdtemp(path_.data()) != nullptr, "no temporary directory could be made");
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

// A loop with an empty file system.
class FilesWorld {
 public:
  virtual ~FilesWorld() = default;
  virtual Loop& loop() = 0;
  virtual Files& files() = 0;
};

class RealFilesWorld final : public FilesWorld {
 public:
  Loop& loop() override { return loop_; }
  Files& files() override { return *files_; }
  const std::string& root() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  RealLoop loop_;
  std::unique_ptr<Files> files_ = MakeRealFiles(loop_, directory_.path());
};

class SimulatedFilesWorld final : public FilesWorld {
 public:
  explicit SimulatedFilesWorld(uint64_t seed, const SimulatedFiles::Options& options = {})
      : loop_(seed), files_(loop_, options) {}
  VirtualLoop& loop() override { return loop_; }
  SimulatedFiles& files() override { return files_; }

 private:
  VirtualLoop loop_;
  SimulatedFiles files_;
};

// A simulated world with shorthands: what is not expected to fail ends the test program when it does.
class Machine {
 public:
  explicit Machine(uint64_t seed, const SimulatedFiles::Options& options = {}) : world_(seed, options) {}

  SimulatedFiles& files() { return world_.files(); }
  VirtualLoop& loop() { return world_.loop(); }
  template <class T>
  T Run(Task<T> task) {
    return loop().Run(std::move(task));
  }
  template <class T>
  T Must(Task<Result<T>> task) {
    return loop().Run(std::move(task)).value();
  }
  std::unique_ptr<File> Open(const std::string& path, OpenMode mode = OpenMode::kOpenOrCreate) {
    return Must(files().Open(path, mode));
  }
  void Append(const std::string& path, const std::string& bytes) { Must(Open(path)->Append(bytes)); }
  void WriteDurably(const std::string& path, const std::string& bytes) {  // its entry too
    const std::unique_ptr<File> file = Open(path);
    Must(file->Append(bytes));
    Must(file->Sync());
    Must(files().SyncDirectory(std::string(files_internal::ParentOf(path))));
  }
  std::map<std::string, std::string> AfterPowerCut() {
    files().PowerCut(loop().random());
    return files().Snapshot();
  }

 private:
  SimulatedFilesWorld world_;
};

}  // namespace baton::rt
