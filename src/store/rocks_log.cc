// Writing the log: one batch and one sync a call, and what comes after a batch that failed.
#include "store/rocks_log.h"

#include <rocksdb/db.h>
#include <rocksdb/slice.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "store/log_format.h"
#include "store/rocks_db.h"

namespace baton::store {

RocksLog::RocksLog(RocksOptions options) : options_(std::move(options)) {}
RocksLog::~RocksLog() = default;

Result<Engine::Loaded> RocksLog::Load(const Engine::LoadEach& each) {
  const std::lock_guard guard(mutex_);
  INVARIANT(!open_, "an engine is loaded once");
  DirectoryLock lock;
  if (options_.file_system_for_test == nullptr) {
    TRY(MakePrivateDirectory(options_.directory));
    lock = TRY(DirectoryLock::Take(options_.directory));
  }
  std::unique_ptr<RocksDb> db = TRY(RocksDb::Open(options_));
  const Engine::Loaded loaded = TRY(db->Read(each));
  lock_ = std::move(lock);
  db_ = std::move(db);
  newest_ = loaded.revision;
  open_ = true;
  return loaded;
}

Result<void> RocksLog::Write(const std::vector<LogRecord>& records) {
  const std::lock_guard guard(mutex_);
  if (records.empty()) return {};
  TRY(Recover());
  rocksdb::WriteBatch batch;
  TakeBack(batch);
  for (const LogRecord& record : records) {
    for (size_t i = 0; i < record.changes.size(); ++i) {
      const Change& change = record.changes[i];
      const std::string key = EncodeLogKey({record.revision, static_cast<uint32_t>(i)});
      const std::string head = EncodeLogHead(record.create_revisions[i], change);
      const rocksdb::Slice key_part(key);
      const std::array<rocksdb::Slice, 2> parts = {head, change.value != nullptr ? *change.value : rocksdb::Slice()};
      batch.Put(db_->log(), rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(parts.data(), parts.size()))
          .PermitUncheckedError();
    }
  }
  const Revision last = records.back().revision;
  batch.Put(db_->meta(), kNewestKey, EncodeRevision(last)).PermitUncheckedError();
  TRY(Commit(batch, records.front().revision));
  newest_ = last;
  return {};
}

Result<void> RocksLog::Compact(Revision compacted, const std::vector<Superseded>& superseded) {
  const std::lock_guard guard(mutex_);
  TRY(Recover());
  // One that failed, of a later revision, may be on disk: then what it forgot is gone, and the mark must not go back.
  compacted = std::max(compacted, TRY(db_->ReadMeta(kCompactedKey)));
  rocksdb::WriteBatch batch;
  TakeBack(batch);
  for (const Superseded& change : superseded) {
    batch.Delete(db_->log(), EncodeLogKey({change.revision, change.index})).PermitUncheckedError();
  }
  batch.Put(db_->meta(), kCompactedKey, EncodeRevision(compacted)).PermitUncheckedError();
  return Commit(batch, newest_.Next());
}

void RocksLog::Close() {
  const std::lock_guard guard(mutex_);
  if (open_ && uncertain_ && Recover().ok()) {
    // A disk that still fails keeps it: as after a crash, it may then count.
    rocksdb::WriteBatch batch;
    TakeBack(batch);
    (void)Commit(batch, *uncertain_);
  }
  open_ = false;
  db_ = nullptr;
  lock_ = DirectoryLock();
}

// After a failed commit RocksDB refuses everything. When the disk was full, resuming may be enough; otherwise it wants
// to be opened anew.
Result<void> RocksLog::Recover() {
  if (!open_) return UnavailableError("the store is closed");
  if (!failed_) return {};
  const bool was_full = *failed_ == ErrorKind::kNoSpace;
  if (db_ == nullptr || !was_full || !db_->db().Resume().ok()) {
    db_ = nullptr;
    db_ = TRY(RocksDb::Open(options_, /*trust_logs=*/was_full));
  }
  failed_.reset();
  return {};
}

// In the same batch as what is written next, so that both happen or none.
void RocksLog::TakeBack(rocksdb::WriteBatch& batch) {
  if (!uncertain_) return;
  batch.DeleteRange(db_->log(), EncodeLogKey({*uncertain_, 0}), kAfterTheLog).PermitUncheckedError();
  batch.Put(db_->meta(), kNewestKey, EncodeRevision(newest_)).PermitUncheckedError();
}

Result<void> RocksLog::Commit(rocksdb::WriteBatch& batch, Revision first) {
  rocksdb::WriteOptions durably;
  durably.sync = options_.sync_for_test;
  const rocksdb::Status status = db_->db().Write(durably, &batch);
  Result<void> result =
      status.ok() ? db_->MarkLog() : db_->ToError(StrCat("writing to '", options_.directory, "'"), status);
  if (!result.ok()) {
    failed_ = result.error().kind();
    uncertain_ = std::min(uncertain_.value_or(first), first);
    return result;
  }
  uncertain_.reset();
  return {};
}

}  // namespace baton::store
