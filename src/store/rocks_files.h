// RocksFiles: the files of one RocksDB as we handle them ourselves: settings, the check of the log's end, errors with
// names. Private to the store; every call blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rocks_engine.h"

namespace rocksdb {
class Env;
class IOStatus;
class Status;
struct ColumnFamilyOptions;
struct DBOptions;
}  // namespace rocksdb

namespace baton::store {

inline constexpr std::string_view kMarkName = "newest-log";

class RocksFiles {
 public:
  explicit RocksFiles(const RocksOptions& options);
  ~RocksFiles();

  rocksdb::DBOptions DatabaseOptions() const;
  rocksdb::ColumnFamilyOptions FamilyOptions() const;

  bool Exists(const std::string& path) const;
  Result<void> MakeDirectory(const std::string& path) const;    // 0700
  Result<void> RemoveDirectory(const std::string& path) const;  // with its files
  // Either it has the new name after a crash or it has not.
  Result<void> Rename(const std::string& directory, std::string_view from, std::string_view to) const;
  Result<void> SyncDirectory(const std::string& path) const;

  // Looks at the end of the newest write-ahead log (store/wal_tail.h): kCorrupt when it is damaged. When we may repair,
  // what is torn is cut off, and what is whole is synced: a later log must not survive what stands before it.
  Result<void> CheckTail(const std::string& path, bool may_repair) const;

  // RocksDB does not miss a log that is gone. So the name of the newest one that holds something acknowledged is kept
  // in a file of its own, kMarkName in the data directory. kCorrupt when neither that one nor a newer one is there.
  Result<void> MarkLog(const std::string& directory, uint64_t number) const;
  Result<void> CheckMark(const std::string& directory, const std::string& path) const;

  // What tells whether the database's files changed: their names, and the sizes of those that list others.
  std::map<std::string, uint64_t> Fingerprint(const std::string& path) const;

  // kNoSpace, kCorrupt, kAlreadyExists (locked) or kUnavailable.
  Error ToError(std::string_view what, const rocksdb::Status& status) const;
  // As ToError, for the database in `path`. When it is damaged, tables are read to say which ones are.
  Error ToErrorWithNames(std::string_view what, const rocksdb::Status& status, const std::string& path) const;

 private:
  class Complaints;

  rocksdb::IOStatus ReadAll(const std::string& path, std::string& content) const;
  rocksdb::IOStatus CutAndSync(const std::string& path, uint64_t size) const;
  std::vector<std::string> Names(const std::string& path, std::string_view ending) const;

  size_t memtable_bytes_;
  bool on_disk_;                           // not on a test's file system
  std::unique_ptr<rocksdb::Env> own_env_;  // null on disk
  rocksdb::Env* env_;
  std::shared_ptr<Complaints> complaints_;
};

}  // namespace baton::store
