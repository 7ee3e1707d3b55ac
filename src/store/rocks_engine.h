// The durable engine: the log in RocksDB (store/log_format.h), in one directory that one process has at a time.
//
//   auto store = CO_TRY(co_await Store::Open(loop, MakeRocksEngine(loop, {.directory = "/var/lib/baton"})));
//
// A Write is one batch and one fdatasync, in the pool. After a kill or a power cut everything acknowledged is there and
// nothing half: a torn last batch is dropped, any other damage is kCorrupt and names the file. A full disk is kNoSpace;
// every later Write tries again, and succeeds when there is room. A disk that fails otherwise is kUnavailable, and the
// next Write closes and opens the files anew.
//
// In the directory (0700): baton.lock names the process that has it; db/ is RocksDB's; newest-log names its log that
// must be there; db.new/ is a database that was never finished.
#pragma once

#include <memory>
#include <string>

#include "rt/loop.h"
#include "store/engine.h"

namespace rocksdb {
class FileSystem;
}

namespace baton::store {

struct RocksOptions {
  std::string directory = {};  // made when it is missing

  // For tests: files elsewhere than on the machine's disk (then there is no baton.lock), a missing sync, tables and
  // logs after few writes already.
  std::shared_ptr<rocksdb::FileSystem> file_system_for_test = nullptr;
  bool sync_for_test = true;
  size_t memtable_bytes_for_test = 0;
};

// Opens nothing yet: Load does. Its errors: kAlreadyExists (in use, and by whom), kCorrupt, kUnsupported (a newer
// format), kNoSpace, kForbidden, kInvalid, kUnavailable.
std::unique_ptr<Engine> MakeRocksEngine(rt::Loop& loop, RocksOptions options);

}  // namespace baton::store
