// Settings, files and errors of RocksDB.
#include "store/rocks_files.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "store/directory_lock.h"
#include "store/wal_tail.h"

namespace baton::store {

namespace {

constexpr size_t kMemtableBytes = size_t{32} << 20;
constexpr size_t kWalBytesMax = size_t{64} << 20;     // bounds what a start after a crash reads again
constexpr size_t kBlockCacheBytes = size_t{4} << 20;  // the store reads from memory; this is for loading only
constexpr size_t kTableBlockBytes = size_t{16} << 10;
constexpr size_t kDeletionWindow = 4096;   // a table file is rewritten early when, of so many entries in a row, ...
constexpr size_t kDeletionTrigger = 2048;  // ... so many are deletions: what compaction forgot gives its room back

// A full disk: RocksDB would look every five seconds and refuse to resume meanwhile. Our next write resumes.
class ResumeByHand final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

}  // namespace

// Keeps RocksDB's last complaint about a file's content, which its errors do not always name, and writes no log file.
class RocksFiles::Complaints final : public rocksdb::Logger {
 public:
  Complaints() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 512> line;
    const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
    const std::string_view text(line.data(), std::min(line.size() - 1, static_cast<size_t>(std::max(length, 0))));
    const size_t dropping = text.find(": dropping ");
    if (dropping == std::string_view::npos) return;
    const std::lock_guard lock(mutex_);
    last_ = text;
  }
  std::string last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  std::string last_;
};

// ---- settings ----

RocksFiles::RocksFiles(const RocksOptions& options)
    : memtable_bytes_(options.memtable_bytes_for_test != 0 ? options.memtable_bytes_for_test : kMemtableBytes),
      on_disk_(options.file_system_for_test == nullptr),
      own_env_(on_disk_ ? nullptr : rocksdb::NewCompositeEnv(options.file_system_for_test)),
      env_(on_disk_ ? rocksdb::Env::Default() : own_env_.get()),
      complaints_(std::make_shared<Complaints>()) {}

RocksFiles::~RocksFiles() = default;

rocksdb::DBOptions RocksFiles::DatabaseOptions() const {
  rocksdb::DBOptions options;
  options.env = env_;
  options.info_log = complaints_;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;  // after CheckTail nothing is torn
  options.track_and_verify_wals_in_manifest = true;
  options.max_total_wal_size = kWalBytesMax;
  options.allow_fallocate = false;       // gains nothing measurable here, and takes a small disk's last room
  options.max_file_opening_threads = 1;  // there are few files
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_bgerror_resume_count = 0;
  options.listeners.push_back(std::make_shared<ResumeByHand>());
  return options;
}

rocksdb::ColumnFamilyOptions RocksFiles::FamilyOptions() const {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = memtable_bytes_;
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

// ---- files ----

bool RocksFiles::Exists(const std::string& path) const { return env_->FileExists(path).ok(); }

Result<void> RocksFiles::MakeDirectory(const std::string& path) const {
  if (on_disk_) return MakePrivateDirectory(path);
  const rocksdb::Status status = env_->CreateDir(path);
  if (!status.ok()) return ToError(StrCat("making '", path, "'"), status);
  return {};
}

Result<void> RocksFiles::RemoveDirectory(const std::string& path) const {
  rocksdb::Status status;
  for (const std::string& name : Names(path, "")) {
    if (status.ok()) status = env_->DeleteFile(StrCat(path, "/", name));
  }
  if (status.ok()) status = env_->DeleteDir(path);
  if (!status.ok()) return ToError(StrCat("removing '", path, "'"), status);
  return {};
}

Result<void> RocksFiles::Rename(const std::string& directory, std::string_view from, std::string_view to) const {
  const std::string path = StrCat(directory, "/", from);
  TRY(SyncDirectory(path));
  const rocksdb::Status status = env_->RenameFile(path, StrCat(directory, "/", to));
  if (!status.ok()) return ToError(StrCat("renaming '", path, "'"), status);
  return SyncDirectory(directory);
}

Result<void> RocksFiles::SyncDirectory(const std::string& path) const {
  std::unique_ptr<rocksdb::Directory> directory;
  rocksdb::Status status = env_->NewDirectory(path, &directory);
  if (status.ok()) status = directory->Fsync();
  if (!status.ok()) return ToError(StrCat("syncing '", path, "'"), status);
  return {};
}

rocksdb::IOStatus RocksFiles::ReadAll(const std::string& path, std::string& content) const {
  const std::shared_ptr<rocksdb::FileSystem> system = env_->GetFileSystem();
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

rocksdb::IOStatus RocksFiles::CutAndSync(const std::string& path, uint64_t size) const {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus status = env_->GetFileSystem()->ReopenWritableFile(path, {}, &file, nullptr);
  if (status.ok()) status = file->Truncate(size, {}, nullptr);
  if (status.ok()) status = file->Fsync({}, nullptr);
  if (status.ok()) status = file->Close({}, nullptr);
  return status;
}

std::vector<std::string> RocksFiles::Names(const std::string& path, std::string_view ending) const {
  std::vector<std::string> names;
  env_->GetChildren(path, &names).PermitUncheckedError();
  std::erase_if(names,
                [ending](const std::string& name) { return name == "." || name == ".." || !name.ends_with(ending); });
  // Numbers of at least six digits: a longer one is greater.
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name.size(), name); });
  return names;
}

std::map<std::string, uint64_t> RocksFiles::Fingerprint(const std::string& path) const {
  std::map<std::string, uint64_t> result;
  for (const std::string& name : Names(path, "")) {
    uint64_t size = 0;
    if (!name.ends_with(".log")) env_->GetFileSize(StrCat(path, "/", name), &size).PermitUncheckedError();
    result[name] = size;
  }
  return result;
}

// ---- the write-ahead log ----

// The newest log that is not empty: its end is where a crash leaves something torn. Whether an older one still matters
// only RocksDB knows, and it accepts no damage there.
Result<void> RocksFiles::CheckTail(const std::string& path, bool may_repair) const {
  std::vector<std::string> names = Names(path, ".log");
  std::ranges::reverse(names);
  for (const std::string& name : names) {
    const std::string file = StrCat(path, "/", name);
    std::string content;
    const rocksdb::IOStatus read = ReadAll(file, content);
    if (!read.ok()) return ToError(StrCat("reading '", file, "'"), read);
    if (content.empty()) continue;
    const WalVerdict verdict = CheckWal(content);
    if (verdict.end == WalEnd::kDamaged) {
      return CorruptError(StrCat("the write-ahead log '", file, "' is damaged behind byte ", verdict.good_bytes,
                                 ", in what had been written safely: restore a backup"));
    }
    if (!may_repair) return {};
    const rocksdb::IOStatus repaired =
        CutAndSync(file, verdict.end == WalEnd::kTorn ? verdict.good_bytes : content.size());
    if (!repaired.ok()) return ToError(StrCat("repairing the end of '", file, "'"), repaired);
    return {};
  }
  return {};
}

Result<void> RocksFiles::MarkLog(const std::string& directory, uint64_t number) const {
  const std::string path = StrCat(directory, "/", kMarkName);
  const std::string temporary = StrCat(path, ".tmp");
  rocksdb::Status status = rocksdb::WriteStringToFile(env_, StrCat(number, "\n"), temporary, /*should_sync=*/true);
  if (status.ok()) status = env_->RenameFile(temporary, path);
  if (!status.ok()) return ToError(StrCat("writing '", path, "'"), status);
  return SyncDirectory(directory);
}

Result<void> RocksFiles::CheckMark(const std::string& directory, const std::string& path) const {
  const std::string mark = StrCat(directory, "/", kMarkName);
  if (!Exists(mark)) return {};  // nothing was acknowledged yet
  std::string content;
  const rocksdb::IOStatus read = ReadAll(mark, content);
  if (!read.ok()) return ToError(StrCat("reading '", mark, "'"), read);
  const auto number_in = [](std::string_view text) {
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  const uint64_t marked = number_in(content);
  if (marked == 0) return CorruptError(StrCat("'", mark, "' does not name a log: restore a backup"));
  for (const std::string& name : Names(path, ".log")) {
    if (number_in(name) >= marked) return {};
  }
  const std::string digits = StrCat(marked);
  const std::string zeros(digits.size() < 6 ? 6 - digits.size() : 0, '0');
  return CorruptError(StrCat("the write-ahead log '", path, "/", zeros, digits, ".log' is missing: restore a backup"));
}

// ---- errors ----

Error RocksFiles::ToError(std::string_view what, const rocksdb::Status& status) const {
  std::string message = StrCat(what, ": ", status.ToString());
  const auto says = [&message](std::string_view text) { return message.find(text) != std::string::npos; };
  if (status.IsNoSpace() || (status.IsIOError() && says("Disk quota exceeded"))) {
    return {ErrorKind::kNoSpace, std::move(message)};
  }
  if (status.IsIOError() && says("/LOCK: ")) return AlreadyExistsError(std::move(message));
  if (!status.IsCorruption()) return UnavailableError(std::move(message));
  // RocksDB's oldest name for a table is what it complains about last when it finds none.
  for (size_t at = message.find(".ldb"); at != std::string::npos; at = message.find(".ldb"))
    message.replace(at, 4, ".sst");
  return CorruptError(std::move(message));
}

Error RocksFiles::ToErrorWithNames(std::string_view what, const rocksdb::Status& status,
                                   const std::string& path) const {
  Error error = ToError(what, status);
  if (error.kind() != ErrorKind::kCorrupt) return error;
  std::string message = error.message();
  if (const std::string complaint = complaints_->last(); !complaint.empty()) StrAppend(message, "; ", complaint);
  for (const std::string& name : Names(path, ".sst")) {
    const std::string file = StrCat(path, "/", name);
    rocksdb::SstFileReader reader(rocksdb::Options(DatabaseOptions(), FamilyOptions()));
    rocksdb::Status sound = reader.Open(file);
    if (sound.ok()) sound = reader.VerifyChecksum();
    if (sound.IsCorruption()) StrAppend(message, "; '", file, "' is damaged");
  }
  return CorruptError(StrCat(message, ": restore a backup"));
}

}  // namespace baton::store
