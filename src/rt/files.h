// Files: the file system as code above rt sees it. RealFiles works on the disk; SimulatedFiles (rt/simulated_files.h)
// keeps everything in memory and can cut the power.
//
//   std::unique_ptr<File> log = CO_TRY(co_await files.Open("wal/000001", OpenMode::kCreate));
//   CO_TRY(co_await files.SyncDirectory("wal"));        // only now does the file survive a power cut,
//   CO_TRY(co_await log->Append(record));
//   CO_TRY(co_await log->Sync());                       // and only now the record in it
//
// What a power cut leaves, in both: bytes that were synced; directory entries (creations, renames, removals) whose
// directory was synced. Everything later may be there, be there in part, or be gone. Syncing a new file does not make
// its entry durable, nor does syncing a directory make its files' bytes so: a new file needs both.
//
// Dropping the task of a call does not stop what has begun: it may still happen. If it does, then before anything that
// a later call of the same File does; creations, renames and removals likewise happen in the order they were called.
//
// Errors are kNotFound (also when a parent is a file), kAlreadyExists, kConflict (a directory is not empty), kNoSpace
// (disk or quota full), kForbidden (permissions), kTooLarge (ReadAll), kInvalid (the call makes no sense: a bad path, a
// directory where a file is wanted) or kUnavailable (any other I/O error). Their messages name the path and carry the
// system's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
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
  // The file's bytes and size are on disk (fdatasync). After an error, what was not yet synced may be lost although it
  // can still be read, and the system would call the next try a success. So this File then refuses Append, Truncate and
  // Sync with the same error: write to a new file, or open this one again, cut it back to what was synced before, and
  // append anew.
  virtual Task<Result<void>> Sync() = 0;
  // Cuts the file to `size` bytes; kInvalid when it has fewer.
  virtual Task<Result<void>> Truncate(uint64_t size) = 0;
  virtual Task<Result<uint64_t>> Size() = 0;
};

enum class OpenMode : uint8_t {
  kRead,    // must exist; Append and Truncate are kInvalid
  kAppend,  // must exist; reads too, as the following
  kCreate,  // must not exist; mode 0600
  kOpenOrCreate,
};

struct FileEntry {
  std::string name;  // without its directory
  bool is_directory = false;
  friend auto operator<=>(const FileEntry&, const FileEntry&) = default;
};

// Paths are relative to the root that a Files was made with: names with '/' between them, none of them empty, "." or
// "..", no NUL byte. The root itself, where a directory is wanted, is ".".
class Files {
 public:
  static constexpr size_t kMaxPathBytes = 4095;  // as the system's PATH_MAX and NAME_MAX
  static constexpr size_t kMaxNameBytes = 255;
  static constexpr size_t kMaxReadAllBytes = size_t{1} << 30;

  virtual ~Files() = default;

  virtual Task<Result<std::unique_ptr<File>>> Open(std::string path, OpenMode mode) = 0;
  virtual Task<Result<void>> MakeDirectory(std::string path) = 0;  // its parents too; fine when it is there; 0700
  virtual Task<Result<std::vector<FileEntry>>> List(std::string path) = 0;  // sorted by name
  // Replaces a file `to` by a file, and an empty directory by a directory.
  virtual Task<Result<void>> Rename(std::string from, std::string to) = 0;
  virtual Task<Result<void>> Remove(std::string path) = 0;         // a file or an empty directory
  virtual Task<Result<void>> SyncDirectory(std::string path) = 0;  // its entries are on disk

  // ---- made of the above ----
  Task<Result<std::string>> ReadAll(std::string path);

  // Either the old content or all of the new one is there after a crash: temporary file, sync, rename, directory sync.
  // Once it returned without an error, the new one is; after an error it is either. Writers of one path may overlap:
  // the last rename wins.
  // A crash may leave the temporary `<path>.tmp-<number>` behind, and the next writer of `path` then removes it: names
  // of that form are reserved.
  Task<Result<void>> WriteAtomically(std::string path, std::string bytes);
  static bool IsTemporary(std::string_view path);

 private:
  class TemporaryName;
  Task<Result<void>> WriteAndRename(std::string temporary, std::string path, std::string bytes);

  std::shared_ptr<std::set<std::string>> temporaries_ = std::make_shared<std::set<std::string>>();  // in use now
};

// Below `root` on the disk, a directory that must be there and stays the same one once it was used, whatever it is
// renamed to. Symbolic links are followed. Calls block a pool thread, never the loop.
std::unique_ptr<Files> MakeRealFiles(Loop& loop, std::string root);

}  // namespace baton::rt
