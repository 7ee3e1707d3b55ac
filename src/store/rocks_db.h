// RocksDb: one open RocksDB with our settings and column families: created all or nothing, its end repaired after a
// crash, its errors turned into ours. Private to the store; every call blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/engine.h"
#include "store/rocks_engine.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Status;
}  // namespace rocksdb

namespace baton::store {

class RocksFiles;

inline constexpr std::string_view kDbName = "db";
inline constexpr std::string_view kNewDbName = "db.new";

class RocksDb {
 public:
  // Creates it when there is none. The caller has made and locked the directory. After a disk that failed, what the
  // logs have is written to tables anew: their pages may be in memory only, and no sync would ever say so.
  static Result<std::unique_ptr<RocksDb>> Open(const RocksOptions& options, bool trust_logs = true);

  // A new one under kNewDbName, for filling: PublishNew gives it its name, all or nothing. What an earlier one left
  // there goes.
  static Result<std::unique_ptr<RocksDb>> CreateNew(const RocksOptions& options);
  static Result<void> PublishNew(const RocksOptions& options);

  // As it is on disk now, while another process may be writing to it. kUnavailable when it changes too fast.
  static Result<std::unique_ptr<RocksDb>> OpenReadOnly(const RocksOptions& options);

  ~RocksDb();

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* log() { return log_; }
  rocksdb::ColumnFamilyHandle* meta() { return meta_; }

  // To be called after every write, before it is acknowledged: see RocksFiles::MarkLog. Mostly does nothing.
  Result<void> MarkLog();

  // Every change in order, with checks of the log's order and end.
  Result<Engine::Loaded> Read(const Engine::LoadEach& each);

  // One of the revisions beside the log: kCompactedKey, kNewestKey.
  Result<Revision> ReadMeta(std::string_view key);

  // kNoSpace, kCorrupt (with the file's name), kAlreadyExists (locked) or kUnavailable.
  Error ToError(std::string_view what, const rocksdb::Status& status) const;

 private:
  enum class Mode : uint8_t { kReadWrite, kRewriteLogs, kCreate, kReadOnly };

  RocksDb(const RocksOptions& options, std::string_view name);
  Result<void> OpenFiles(Mode mode);
  Result<void> CheckFormat();

  RocksOptions options_;
  std::string path_;
  std::unique_ptr<RocksFiles> files_;  // what the database uses, so it goes after it
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::ColumnFamilyHandle* log_ = nullptr;
  rocksdb::ColumnFamilyHandle* meta_ = nullptr;
  uint64_t marked_log_ = 0;
};

}  // namespace baton::store
