// Files: the file system as code above rt sees it. RealFiles works on the disk; SimulatedFiles (rt/simulated_files.h)
// keeps everything in memory and can cut the power.
//
//   std::unique_ptr<File> log = CO_TRY(co_await files.Open("wal/000001", OpenMode::kCreate));
//   CO_TRY(co_await log->Append(record));
//   CO_TRY(co_await log->Sync());                       // only now does the record survive a power cut
//
// What a power cut leaves, in both: bytes that were synced; directory entries (creations, renames, removals) whose
// directory was synced. Everything later may be there, be there in part, or be gone. Errors are kNotFound,
// kAlreadyExists, kNoSpace (disk or quota full), kForbidden (permissions), kInvalid (bad path) or kUnavailable (any
// other I/O error, with the path and the system's text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {

// One open file. Calls of one File must not overlap. Closed by its destructor, which does not sync.
class File {
 public:
  virtual ~File() = default;

  // Up to `length` bytes from `offset`; fewer only at the end of the file.
  virtual Task<Result<std::string>> ReadAt(uint64_t offset, size_t length) = 0;
  // At the end. All or an error; after an error the file may have grown by a part of it.
  virtual Task<Result<void>> Append(std::string bytes) = 0;
  // The file's bytes and size are on disk (fdatasync).
  virtual Task<Result<void>> Sync() = 0;
  virtual Task<Result<void>> Truncate(uint64_t size) = 0;
  virtual Task<Result<uint64_t>> Size() = 0;
};

enum class OpenMode : uint8_t {
  kRead,    // must exist
  kAppend,  // must exist
  kCreate,  // must not exist; mode 0600
  kOpenOrCreate,
};

struct FileEntry {
  std::string name;  // without its directory
  bool is_directory = false;
  friend auto operator<=>(const FileEntry&, const FileEntry&) = default;
};

// Paths are relative to the root that a Files was made with, with '/' between names and no "..".
class Files {
 public:
  virtual ~Files() = default;

  virtual Task<Result<std::unique_ptr<File>>> Open(std::string path, OpenMode mode) = 0;
  virtual Task<Result<void>> MakeDirectory(std::string path) = 0;  // its parents too; fine when it is there; 0700
  virtual Task<Result<std::vector<FileEntry>>> List(std::string path) = 0;  // sorted by name
  virtual Task<Result<void>> Rename(std::string from, std::string to) = 0;  // replaces a file `to`
  virtual Task<Result<void>> Remove(std::string path) = 0;                  // a file or an empty directory
  virtual Task<Result<void>> SyncDirectory(std::string path) = 0;           // its entries are on disk

  // ---- made of the above ----
  static constexpr size_t kMaxReadAllBytes = size_t{1} << 30;
  Task<Result<std::string>> ReadAll(std::string path);
  // Either the old content or all of the new one is there after a crash: temporary file, sync, rename, directory sync.
  Task<Result<void>> WriteAtomically(std::string path, std::string bytes);
};

// Below `root` on the disk. Calls block a pool thread, never the loop.
std::unique_ptr<Files> MakeRealFiles(Loop& loop, std::string root);

}  // namespace baton::rt
