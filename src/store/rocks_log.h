// RocksLog: the durable log with its lock and its recovery from failed writes. Private to the store; every call blocks,
// and may come from any thread: calls go one after another.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/directory_lock.h"
#include "store/engine.h"
#include "store/rocks_engine.h"

namespace rocksdb {
class WriteBatch;
}

namespace baton::store {

class RocksDb;

class RocksLog {
 public:
  explicit RocksLog(RocksOptions options);
  ~RocksLog();

  Result<Engine::Loaded> Load(const Engine::LoadEach& each);
  Result<void> Write(const std::vector<LogRecord>& records);
  Result<void> Compact(Revision compacted, const std::vector<Superseded>& superseded);
  void Close();

 private:
  Result<void> Recover();
  void TakeBack(rocksdb::WriteBatch& batch);
  Result<void> Commit(rocksdb::WriteBatch& batch, Revision first);

  const RocksOptions options_;
  std::mutex mutex_;
  DirectoryLock lock_;                 // goes after the database
  std::unique_ptr<RocksDb> db_;        // null: not opened, closed, or to be opened anew
  bool open_ = false;                  // between Load and Close
  std::optional<ErrorKind> failed_;    // how the last commit failed: recover before the next
  Revision newest_;                    // acknowledged
  std::optional<Revision> uncertain_;  // from here on, records of failed writes may stand in the log
};

}  // namespace baton::store
