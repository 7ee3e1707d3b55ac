// Opening and reading a RocksDB that holds our log.
#include "store/rocks_db.h"

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "store/log_format.h"
#include "store/rocks_files.h"

namespace baton::store {

namespace {
constexpr size_t kReadAheadBytes = size_t{2} << 20;
constexpr int kReadOnlyTries = 40;  // each waits longer for a quiet moment; together some seconds

std::string PathOf(const RocksOptions& options, std::string_view name) { return StrCat(options.directory, "/", name); }
}  // namespace

RocksDb::RocksDb(const RocksOptions& options, std::string_view name)
    : options_(options), path_(PathOf(options, name)), files_(std::make_unique<RocksFiles>(options)) {}

RocksDb::~RocksDb() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  if (db_ != nullptr) db_->Close().PermitUncheckedError();
}

Error RocksDb::ToError(std::string_view what, const rocksdb::Status& status) const {
  return files_->ToErrorWithNames(what, status, path_);
}

// ---- opening ----

Result<std::unique_ptr<RocksDb>> RocksDb::Open(const RocksOptions& options, bool trust_logs) {
  std::unique_ptr<RocksDb> opened(new RocksDb(options, kDbName));
  if (!opened->files_->Exists(opened->path_)) {
    TRY(CreateNew(options));
    TRY(PublishNew(options));
  }
  TRY(opened->OpenFiles(trust_logs ? Mode::kReadWrite : Mode::kRewriteLogs));
  TRY(opened->CheckFormat());
  return opened;
}

Result<std::unique_ptr<RocksDb>> RocksDb::CreateNew(const RocksOptions& options) {
  std::unique_ptr<RocksDb> created(new RocksDb(options, kNewDbName));
  if (created->files_->Exists(created->path_)) TRY(created->files_->RemoveDirectory(created->path_));
  TRY(created->files_->MakeDirectory(created->path_));
  TRY(created->OpenFiles(Mode::kCreate));
  rocksdb::WriteBatch batch;
  std::string format;
  AppendU32(format, kFormatVersion);
  const std::string none = EncodeRevision(Revision(0));
  batch.Put(created->meta_, kFormatKey, format).PermitUncheckedError();
  batch.Put(created->meta_, kCompactedKey, none).PermitUncheckedError();
  batch.Put(created->meta_, kNewestKey, none).PermitUncheckedError();
  rocksdb::WriteOptions durably;
  durably.sync = true;
  const rocksdb::Status written = created->db_->Write(durably, &batch);
  if (!written.ok()) return created->ToError(StrCat("writing to '", created->path_, "'"), written);
  return created;
}

Result<void> RocksDb::PublishNew(const RocksOptions& options) {
  return RocksFiles(options).Rename(options.directory, kNewDbName, kDbName);
}

Result<std::unique_ptr<RocksDb>> RocksDb::OpenReadOnly(const RocksOptions& options) {
  for (int tries = 1;; ++tries) {
    std::unique_ptr<RocksDb> opened(new RocksDb(options, kDbName));
    if (!opened->files_->Exists(opened->path_)) {
      return NotFoundError(StrCat("'", options.directory, "' holds no store: there is no '", opened->path_, "'"));
    }
    // All table files are open afterwards, so what the writer deletes later stays ours. What it does while we open
    // could leave us without both a log and the table made of it: then again.
    const auto before = opened->files_->Fingerprint(opened->path_);
    const Result<void> result = opened->OpenFiles(Mode::kReadOnly);
    const bool undisturbed = before == opened->files_->Fingerprint(opened->path_);
    if (undisturbed && !result.ok()) return result.error();
    if (undisturbed) {
      TRY(opened->CheckFormat());
      return opened;
    }
    if (tries == kReadOnlyTries) {
      return UnavailableError(StrCat("the store in '", options.directory,
                                     "' is written to so fast that its files never stand still: try again when it is "
                                     "quieter"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * tries));
  }
}

Result<void> RocksDb::OpenFiles(Mode mode) {
  const std::string what = StrCat("opening '", path_, "'");
  rocksdb::DBOptions options = files_->DatabaseOptions();
  std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName, std::string(kLogFamily),
                                    std::string(kMetaFamily)};
  if (mode == Mode::kCreate) {
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.error_if_exists = true;
  } else {
    // A newer format may have more: it is opened so that it can be named.
    const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, path_, &names);
    if (!listed.ok()) {
      // Without the list of its files it is no database any more, whatever RocksDB calls that.
      const Error error = ToError(what, listed);
      return listed.IsPathNotFound() || listed.IsNotFound() ? CorruptError(error.message()) : error;
    }
    TRY(files_->CheckMark(options_.directory, path_));
    TRY(files_->CheckTail(path_, mode != Mode::kReadOnly));
    options.avoid_flush_during_recovery = mode == Mode::kReadWrite;  // so it needs hardly any time or room
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, files_->FamilyOptions());
  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  if (mode == Mode::kReadOnly) {
    options.max_open_files = -1;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;  // the writer may be in its last record
    status = rocksdb::DB::OpenForReadOnly(options, path_, families, &families_, &db);
  } else {
    status = rocksdb::DB::Open(options, path_, families, &families_, &db);
  }
  if (!status.ok()) return ToError(what, status);
  db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family->GetName() == kLogFamily) log_ = family;
    if (family->GetName() == kMetaFamily) meta_ = family;
  }
  if (log_ == nullptr || meta_ == nullptr) return CorruptError(StrCat("'", path_, "' is not a store of Baton"));
  return {};
}

Result<void> RocksDb::CheckFormat() {
  std::string value;
  const rocksdb::Status status = db_->Get({}, meta_, kFormatKey, &value);
  if (status.IsNotFound() || (status.ok() && value.size() != 4)) {
    return CorruptError(StrCat("'", options_.directory, "' does not say which format it has"));
  }
  if (!status.ok()) return ToError(StrCat("reading the format of '", options_.directory, "'"), status);
  if (ReadU32(value) > kFormatVersion) {
    return UnsupportedError(StrCat("'", options_.directory, "' has the store format ", ReadU32(value),
                                   ", and this Baton knows formats up to ", kFormatVersion,
                                   ": use the newer version that wrote it"));
  }
  return {};
}

Result<void> RocksDb::MarkLog() {
  std::unique_ptr<rocksdb::LogFile> log;
  const rocksdb::Status status = db_->GetCurrentWalFile(&log);
  if (!status.ok()) return ToError(StrCat("looking for the log in '", path_, "'"), status);
  if (log->LogNumber() == marked_log_) return {};
  TRY(files_->MarkLog(options_.directory, log->LogNumber()));
  marked_log_ = log->LogNumber();
  return {};
}

// ---- reading ----

Result<Revision> RocksDb::ReadMeta(std::string_view key) {
  std::string value;
  const rocksdb::Status status = db_->Get({}, meta_, key, &value);
  if (status.IsNotFound()) return CorruptError(StrCat("'", options_.directory, "' has lost its '", key, "' revision"));
  if (!status.ok()) return ToError(StrCat("reading '", options_.directory, "'"), status);
  return DecodeRevision(value);
}

Result<Engine::Loaded> RocksDb::Read(const Engine::LoadEach& each) {
  const Revision compacted = TRY(ReadMeta(kCompactedKey));
  const Revision newest = TRY(ReadMeta(kNewestKey));
  const std::string where = StrCat("reading the log in '", options_.directory, "'");
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  options.readahead_size = kReadAheadBytes;
  const std::unique_ptr<rocksdb::Iterator> record(db_->NewIterator(options, log_));
  LogOrder order(compacted);
  Revision last = compacted;
  for (record->SeekToFirst(); record->Valid(); record->Next()) {
    const LogPlace place = TRY(DecodeLogKey(record->key().ToStringView()).Context(where));
    TRY(order.Next(place).Context(where));
    LogEntry entry = TRY(DecodeLogEntry(record->value().ToStringView()).Context(where));
    TRY(each(place.revision, entry.create_revision, place.index, std::move(entry.change)).Context(where));
    last = std::max(last, place.revision);
  }
  if (!record->status().ok()) return ToError(where, record->status());
  if (last != newest) {
    return CorruptError(
        StrCat(where, ": it ends at revision ", last.value(), ", and the newest written is ", newest.value()));
  }
  return Engine::Loaded{newest, compacted};
}

}  // namespace baton::store
