// Opening and reading a RocksDB with our settings.
#include "store/rocks_db.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "store/directory_lock.h"
#include "store/log_format.h"
#include "store/wal_tail.h"

namespace baton::store {

namespace {

constexpr size_t kMemtableBytes = size_t{32} << 20;
constexpr size_t kWalBytesMax = size_t{64} << 20;     // bounds what a start after a crash reads again
constexpr size_t kBlockCacheBytes = size_t{4} << 20;  // the store reads from memory; this is for loading only
constexpr size_t kTableBlockBytes = size_t{16} << 10;
constexpr size_t kReadAheadBytes = size_t{2} << 20;
constexpr size_t kDeletionWindow = 4096;   // a table file is rewritten early when, of so many entries in a row, ...
constexpr size_t kDeletionTrigger = 2048;  // ... so many are deletions: what compaction forgot gives its room back
constexpr int kReadOnlyTries = 40;         // each waits longer for a quiet moment; together some seconds

// Keeps RocksDB's last complaints, which name files that its errors do not, and writes no log file.
class Complaints final : public rocksdb::Logger {
 public:
  Complaints() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 512> line;
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    const std::lock_guard lock(mutex_);
    last_.assign(line.data(), std::min(line.size() - 1, static_cast<size_t>(std::max(length, 0))));
  }
  std::string last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  std::string last_;
};

}  // namespace

struct RocksDb::Files {
  std::unique_ptr<rocksdb::Env> own_env;  // null on the machine's disk
  rocksdb::Env* env = rocksdb::Env::Default();
  std::shared_ptr<rocksdb::FileSystem> system;
  std::shared_ptr<Complaints> complaints = std::make_shared<Complaints>();

  explicit Files(const RocksOptions& options) {
    if (options.file_system_for_test != nullptr) {
      own_env = rocksdb::NewCompositeEnv(options.file_system_for_test);
      env = own_env.get();
    }
    system = env->GetFileSystem();
  }

  rocksdb::DBOptions Database() const {
    rocksdb::DBOptions options;
    options.env = env;
    options.info_log = complaints;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;  // after CheckTail nothing is torn
    options.track_and_verify_wals_in_manifest = true;
    options.max_total_wal_size = kWalBytesMax;
    options.allow_fallocate = false;  // gains nothing measurable here, and takes a small disk's last room
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.max_bgerror_resume_count = 0;  // the next write resumes
    return options;
  }

  static rocksdb::ColumnFamilyOptions Family() {
    rocksdb::ColumnFamilyOptions options;
    options.write_buffer_size = kMemtableBytes;
    const std::vector<rocksdb::CompressionType> known = rocksdb::GetSupportedCompressions();
    const bool has_lz4 = std::ranges::find(known, rocksdb::kLZ4Compression) != known.end();
    options.compression = has_lz4 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
    options.table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(kDeletionWindow, kDeletionTrigger));
    rocksdb::BlockBasedTableOptions table;
    static const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheBytes);
    table.block_cache = cache;
    table.block_size = kTableBlockBytes;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  bool Exists(const std::string& path) const { return system->FileExists(path, {}, nullptr).ok(); }

  rocksdb::IOStatus SyncDirectory(const std::string& path) const {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    rocksdb::IOStatus status = system->NewDirectory(path, {}, &directory, nullptr);
    return status.ok() ? directory->Fsync({}, nullptr) : status;
  }

  rocksdb::IOStatus RemoveDirectory(const std::string& path) const {
    std::vector<std::string> names;
    rocksdb::IOStatus status = system->GetChildren(path, {}, &names, nullptr);
    for (const std::string& name : names) {
      if (status.ok() && name != "." && name != "..") status = system->DeleteFile(path + "/" + name, {}, nullptr);
    }
    return status.ok() ? system->DeleteDir(path, {}, nullptr) : status;
  }

  rocksdb::IOStatus ReadAll(const std::string& path, std::string& content) const {
    uint64_t size = 0;
    rocksdb::IOStatus status = system->GetFileSize(path, {}, &size, nullptr);
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    if (status.ok()) status = system->NewSequentialFile(path, {}, &file, nullptr);
    content.resize(size);
    size_t have = 0;
    while (status.ok() && have < size) {
      rocksdb::Slice got;
      status = file->Read(size - have, {}, &got, content.data() + have, nullptr);
      if (!status.ok() || got.empty()) break;
      if (got.data() != content.data() + have) std::memmove(content.data() + have, got.data(), got.size());
      have += got.size();
    }
    content.resize(have);
    return status;
  }

  rocksdb::IOStatus Cut(const std::string& path, uint64_t size) const {
    rocksdb::IOStatus status = system->Truncate(path, size, {}, nullptr);
    std::unique_ptr<rocksdb::FSWritableFile> file;
    if (status.ok()) status = system->ReopenWritableFile(path, {}, &file, nullptr);
    if (status.ok()) status = file->Fsync({}, nullptr);
    return status;
  }

  // What tells whether the database's files changed: names, and the size of what lists them.
  std::map<std::string, uint64_t> Fingerprint(const std::string& path) const {
    std::map<std::string, uint64_t> result;
    std::vector<std::string> names;
    system->GetChildren(path, {}, &names, nullptr).PermitUncheckedError();
    for (const std::string& name : names) {
      uint64_t size = 0;
      if (!name.ends_with(".log")) {  // the write-ahead log may grow: we read a beginning of it
        system->GetFileSize(path + "/" + name, {}, &size, nullptr).PermitUncheckedError();
      }
      result[name] = size;
    }
    return result;
  }
};

// ---- errors ----

Error RocksDb::ToError(std::string_view what, const rocksdb::Status& status) const {
  std::string message = StrCat(what, ": ", status.ToString());
  const auto says = [&message](std::string_view text) { return message.find(text) != std::string::npos; };
  if (status.IsNoSpace() || (status.IsIOError() && says("Disk quota exceeded"))) {
    return {ErrorKind::kNoSpace, std::move(message)};
  }
  if (status.IsIOError() && says("/LOCK: ")) return AlreadyExistsError(std::move(message));
  if (status.IsCorruption()) {
    const std::string complaint = files_->complaints->last();
    if (!complaint.empty()) StrAppend(message, " (", complaint, ")");
    return CorruptError(std::move(message));
  }
  return UnavailableError(std::move(message));
}

// ---- opening ----

RocksDb::RocksDb(const RocksOptions& options) : options_(options), files_(std::make_unique<Files>(options)) {}

RocksDb::~RocksDb() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  if (db_ != nullptr) db_->Close().PermitUncheckedError();
}

Result<std::unique_ptr<RocksDb>> RocksDb::Open(const RocksOptions& options) {
  std::unique_ptr<RocksDb> opened(new RocksDb(options));
  const std::string path = StrCat(options.directory, "/", kDbName);
  if (!opened->files_->Exists(path)) {
    TRY(CreateNew(options));
    TRY(PublishNew(options));
  }
  TRY(opened->OpenFiles(path, Mode::kReadWrite));
  TRY(opened->CheckFormat());
  return opened;
}

Result<std::unique_ptr<RocksDb>> RocksDb::CreateNew(const RocksOptions& options) {
  std::unique_ptr<RocksDb> created(new RocksDb(options));
  const Files& files = *created->files_;
  const std::string path = StrCat(options.directory, "/", kNewDbName);
  rocksdb::IOStatus status;
  if (files.Exists(path)) status = files.RemoveDirectory(path);
  if (!status.ok()) return created->ToError(StrCat("removing '", path, "'"), status);
  if (options.file_system_for_test == nullptr) {
    TRY(MakePrivateDirectory(path));
  } else {
    status = files.system->CreateDir(path, {}, nullptr);
    if (!status.ok()) return created->ToError(StrCat("making '", path, "'"), status);
  }
  TRY(created->OpenFiles(path, Mode::kCreate));
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
  if (!written.ok()) return created->ToError(StrCat("writing to '", path, "'"), written);
  return created;
}

Result<void> RocksDb::PublishNew(const RocksOptions& options) {
  const RocksDb unopened(options);
  const Files& files = *unopened.files_;
  const std::string from = StrCat(options.directory, "/", kNewDbName);
  rocksdb::IOStatus status = files.SyncDirectory(from);
  if (status.ok()) status = files.system->RenameFile(from, StrCat(options.directory, "/", kDbName), {}, nullptr);
  if (status.ok()) status = files.SyncDirectory(options.directory);
  if (!status.ok()) return unopened.ToError(StrCat("giving '", from, "' its name"), status);
  return {};
}

Result<std::unique_ptr<RocksDb>> RocksDb::OpenReadOnly(const RocksOptions& options) {
  const std::string path = StrCat(options.directory, "/", kDbName);
  for (int tries = 1;; ++tries) {
    std::unique_ptr<RocksDb> opened(new RocksDb(options));
    if (!opened->files_->Exists(path)) {
      return NotFoundError(StrCat("'", options.directory, "' holds no store: there is no '", path, "'"));
    }
    // All table files are open afterwards, so what the writer deletes later stays ours. What it does while we open
    // could leave us without both a log and the table made of it: then again.
    const auto before = opened->files_->Fingerprint(path);
    const Result<void> result = opened->OpenFiles(path, Mode::kReadOnly);
    const bool undisturbed = before == opened->files_->Fingerprint(path);
    if (undisturbed && !result.ok()) return result.error();
    if (undisturbed) {
      TRY(opened->CheckFormat());
      return opened;
    }
    if (tries == kReadOnlyTries) {
      return UnavailableError(StrCat("the store in '", options.directory,
                                     "' is written to so fast that its files "
                                     "never stand still: try again when it is quieter"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * tries));
  }
}

Result<void> RocksDb::OpenFiles(const std::string& path, Mode mode) {
  rocksdb::DBOptions options = files_->Database();
  std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName, std::string(kLogFamily),
                                    std::string(kMetaFamily)};
  if (mode == Mode::kCreate) {
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.error_if_exists = true;
  } else {
    // A newer format may have more: it is opened so that it can be named.
    const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, path, &names);
    if (!listed.ok()) {
      // No list, no data: RocksDB calls that an I/O error, but it stood there once.
      const Error error = ToError(StrCat("opening '", path, "'"), listed);
      return listed.IsPathNotFound() || listed.IsNotFound() ? CorruptError(error.message()) : error;
    }
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, Files::Family());
  TRY(CheckTail(path, mode));
  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  if (mode == Mode::kReadOnly) {
    options.max_open_files = -1;
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;  // the writer may be in its last record
    status = rocksdb::DB::OpenForReadOnly(options, path, families, &families_, &db);
  } else {
    status = rocksdb::DB::Open(options, path, families, &families_, &db);
  }
  if (!status.ok()) return ToError(StrCat("opening '", path, "'"), status);
  db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family->GetName() == kLogFamily) log_ = family;
    if (family->GetName() == kMetaFamily) meta_ = family;
  }
  if (log_ == nullptr || meta_ == nullptr) return CorruptError(StrCat("'", path, "' is not a store of Baton"));
  return {};
}

// The newest write-ahead log that is not empty: its end is where a crash leaves something torn. Whether an older one
// still matters only RocksDB knows, and it accepts no damage there.
Result<void> RocksDb::CheckTail(const std::string& path, Mode mode) {
  std::vector<std::string> names;
  const rocksdb::IOStatus listed = files_->system->GetChildren(path, {}, &names, nullptr);
  if (!listed.ok()) return ToError(StrCat("listing '", path, "'"), listed);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  // Numbers of at least six digits: a longer one is greater.
  std::ranges::sort(names, std::greater(), [](const std::string& name) { return std::pair(name.size(), name); });
  for (const std::string& name : names) {
    const std::string file = StrCat(path, "/", name);
    std::string content;
    const rocksdb::IOStatus read = files_->ReadAll(file, content);
    if (!read.ok()) return ToError(StrCat("reading '", file, "'"), read);
    if (content.empty()) continue;
    const WalVerdict verdict = CheckWal(content);
    if (verdict.end == WalEnd::kDamaged) {
      return CorruptError(StrCat("the write-ahead log '", file, "' is damaged at byte ", verdict.good_bytes,
                                 " and goes on behind that: restore a backup"));
    }
    if (verdict.end == WalEnd::kTorn && mode == Mode::kReadWrite) {
      const rocksdb::IOStatus cut = files_->Cut(file, verdict.good_bytes);
      if (!cut.ok()) return ToError(StrCat("cutting the torn end off '", file, "'"), cut);
    }
    return {};
  }
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
