// Writing, reading and checking backup files.
#include "store/backup.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "store/directory_lock.h"
#include "store/log_format.h"
#include "store/rocks_db.h"

namespace baton::store {

namespace {

constexpr std::string_view kMagic = "BATONBKP";
constexpr size_t kHeaderBytes = 8 + 4 + 8 + 8 + 8;
constexpr size_t kRecordHeadBytes = kLogKeyBytes + 4;
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kBatchBytes = size_t{4} << 20;  // written at once when restoring

std::string_view AsText(const Sha256::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string EncodeHeader(const BackupInfo& info) {
  std::string header(kMagic);
  AppendU32(header, kFormatVersion);
  AppendU64(header, static_cast<uint64_t>(info.revision.value()));
  AppendU64(header, static_cast<uint64_t>(info.compacted.value()));
  AppendU64(header, info.records);
  return header;
}

std::string EncodeRecordHead(LogPlace place, size_t bytes) {
  std::string head = EncodeLogKey(place);
  AppendU32(head, static_cast<uint32_t>(bytes));
  return head;
}

class OpenFile {
 public:
  OpenFile(int file, std::string path) : file_(file), path_(std::move(path)) {}
  OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  int get() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

// A new file under another name until it is finished.
class BackupWriter {
 public:
  static Result<BackupWriter> Create(const std::string& path) {
    if (access(path.c_str(), F_OK) == 0) {
      return AlreadyExistsError(StrCat("'", path, "' exists already: a backup does not overwrite anything"));
    }
    const std::string partial = StrCat(path, ".partial-", getpid());
    OpenFile file(open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), partial);
    if (file.get() < 0) return SystemError(StrCat("creating '", partial, "'"), errno);
    return BackupWriter(std::move(file), path);
  }
  BackupWriter(BackupWriter&&) = default;
  ~BackupWriter() {
    if (file_.get() >= 0) unlink(file_.path().c_str());
  }

  Result<void> Append(std::string_view bytes) {
    digest_.Update(bytes);
    return AppendUnchecked(bytes);
  }
  const std::string& partial() const { return file_.path(); }

  // The digest, and all of it on disk.
  Result<void> Finish() {
    const Sha256::Digest digest = digest_.Finish();
    TRY(AppendUnchecked(AsText(digest)));
    TRY(Flush());
    if (fsync(file_.get()) != 0) return SystemError(StrCat("syncing '", file_.path(), "'"), errno);
    return {};
  }
  Result<void> Publish() {
    if (link(file_.path().c_str(), path_.c_str()) != 0) {
      if (errno == EEXIST) return AlreadyExistsError(StrCat("'", path_, "' has appeared meanwhile"));
      return SystemError(StrCat("giving '", file_.path(), "' its name"), errno);
    }
    const std::string parent = std::filesystem::path(path_).parent_path().string();
    return SyncDirectory(parent.empty() ? "." : parent);
  }

 private:
  BackupWriter(OpenFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<void> AppendUnchecked(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kBufferBytes) TRY(Flush());
    return {};
  }
  Result<void> Flush() {
    for (std::string_view left = buffer_; !left.empty();) {
      const ssize_t written = write(file_.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SystemError(StrCat("writing '", file_.path(), "'"), errno);
      left.remove_prefix(static_cast<size_t>(written));
    }
    buffer_.clear();
    return {};
  }

  OpenFile file_;
  std::string path_;
  std::string buffer_;
  Sha256 digest_;
};

// Bytes in order, with their digest; never past what the digest covers.
class BackupReader {
 public:
  static Result<BackupReader> Open(const std::string& path) {
    OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
    if (file.get() < 0) return SystemError(StrCat("opening '", path, "'"), errno);
    struct stat found;
    if (fstat(file.get(), &found) != 0) return SystemError(StrCat("looking at '", path, "'"), errno);
    if (!S_ISREG(found.st_mode)) return InvalidError(StrCat("'", path, "' is not a file"));
    const auto size = static_cast<uint64_t>(found.st_size);
    if (size < kHeaderBytes + Sha256::kBytes) {
      return CorruptError(StrCat("'", path, "' has only ", size, " bytes: it is not a backup, or cut short"));
    }
    return BackupReader(std::move(file), size);
  }

  uint64_t size() const { return size_; }
  uint64_t left() const { return left_; }  // before the digest

  Result<std::string> Read(size_t count) {
    if (count > left_) return CorruptError(StrCat("'", file_.path(), "' is cut short"));
    std::string bytes = TRY(ReadUnchecked(count));
    left_ -= count;
    digest_.Update(bytes);
    return bytes;
  }
  // The digest, which must be of what was read.
  Result<std::string> Finish() {
    const Sha256::Digest computed = digest_.Finish();
    const std::string stored = TRY(ReadUnchecked(Sha256::kBytes));
    if (stored != AsText(computed)) {
      return CorruptError(StrCat("'", file_.path(), "' was altered or is cut short: its digest does not match"));
    }
    return HexEncode(computed);
  }

 private:
  BackupReader(OpenFile file, uint64_t size)
      : file_(std::move(file)), size_(size), left_(size - Sha256::kBytes), buffer_() {}

  Result<std::string> ReadUnchecked(size_t count) {
    while (buffer_.size() - at_ < count) {
      buffer_.erase(0, std::exchange(at_, 0));
      const size_t have = buffer_.size();
      buffer_.resize(std::max(have + kBufferBytes, count));
      ssize_t got = 0;
      do {
        got = read(file_.get(), buffer_.data() + have, buffer_.size() - have);
      } while (got < 0 && errno == EINTR);
      buffer_.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0) return SystemError(StrCat("reading '", file_.path(), "'"), errno);
      if (got == 0) return CorruptError(StrCat("'", file_.path(), "' is cut short"));
    }
    std::string bytes = buffer_.substr(at_, count);
    at_ += count;
    return bytes;
  }

  OpenFile file_;
  uint64_t size_;
  uint64_t left_;
  std::string buffer_;
  size_t at_ = 0;  // what was handed out of the buffer
  Sha256 digest_;
};

using EachRecord = std::function<Result<void>(const std::string& key, const std::string& record)>;

// Reads all of a backup: structure, order, digest.
Result<BackupInfo> ReadBackup(const std::string& path, const EachRecord& each) {
  BackupReader reader = TRY(BackupReader::Open(path));
  const std::string header = TRY(reader.Read(kHeaderBytes));
  if (!header.starts_with(kMagic)) return CorruptError(StrCat("'", path, "' is not a backup of Baton"));
  const std::string_view numbers = std::string_view(header).substr(kMagic.size());
  if (ReadU32(numbers) > kFormatVersion) {
    return UnsupportedError(StrCat("'", path, "' has the backup format ", ReadU32(numbers),
                                   ", and this Baton knows formats up to ", kFormatVersion));
  }
  BackupInfo info;
  info.revision = TRY(DecodeRevision(numbers.substr(4, 8)));
  info.compacted = TRY(DecodeRevision(numbers.substr(12, 8)));
  info.records = ReadU64(numbers.substr(20));
  info.bytes = reader.size();
  LogOrder order(info.compacted);
  Revision last = info.compacted;
  for (uint64_t i = 0; i < info.records; ++i) {
    const std::string head = TRY(reader.Read(kRecordHeadBytes));
    const std::string key = head.substr(0, kLogKeyBytes);
    const LogPlace place = TRY(DecodeLogKey(key).Context(StrCat("'", path, "'")));
    TRY(order.Next(place).Context(StrCat("'", path, "'")));
    const std::string record = TRY(reader.Read(ReadU32(std::string_view(head).substr(kLogKeyBytes))));
    TRY(DecodeLogEntry(record).Context(StrCat("'", path, "'")));
    TRY(each(key, record));
    last = std::max(last, place.revision);
  }
  if (reader.left() != 0) return CorruptError(StrCat("'", path, "' has ", reader.left(), " bytes too many"));
  info.sha256 = TRY(reader.Finish());
  if (last != info.revision) {
    return CorruptError(StrCat("'", path, "' ends at revision ", last.value(), ", not ", info.revision.value()));
  }
  return info;
}

// The digest of a store's records as they stand in a backup, and how many there are.
struct Content {
  std::string digest;
  uint64_t records = 0;
  Engine::Loaded loaded;
};
Result<Content> ReadContent(RocksDb& db, const std::function<Result<void>(const std::string& bytes)>& each) {
  Content content;
  Sha256 digest;
  content.loaded = TRY(
      db.Read([&](Revision revision, Revision create_revision, uint32_t index, const Change& change) -> Result<void> {
        std::string record = EncodeLogHead(create_revision, change);
        if (change.value != nullptr) record += *change.value;
        const std::string bytes = EncodeRecordHead({revision, index}, record.size()) + record;
        digest.Update(bytes);
        ++content.records;
        return each(bytes);
      }));
  content.digest = HexEncode(digest.Finish());
  return content;
}

Result<void> CheckEmpty(const std::string& directory) {
  std::error_code failed;
  if (!std::filesystem::exists(directory, failed)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const std::string name = entry.path().filename().string();
    // What a restore that was killed leaves, and what file systems have of their own.
    if (name == kLockFileName || name == kNewDbName || name == "lost+found") continue;
    return AlreadyExistsError(
        StrCat("'", directory, "' is not empty: there is '", name, "'. A restore needs a directory of its own"));
  }
  if (failed) return SystemError(StrCat("listing '", directory, "'"), failed.value());
  return {};
}

// Everything of the file into a new database, not yet under its name, and read back.
Result<void> FillNew(const std::string& file, const RocksOptions& options, const BackupInfo& expected) {
  const std::unique_ptr<RocksDb> db = TRY(RocksDb::CreateNew(options));
  const std::string what = StrCat("restoring to '", options.directory, "'");
  rocksdb::WriteBatch batch;
  Sha256 digest;
  const auto write = [&](bool sync) -> Result<void> {
    rocksdb::WriteOptions write_options;
    write_options.sync = sync;
    const rocksdb::Status status = db->db().Write(write_options, &batch);
    batch.Clear();
    if (!status.ok()) return db->ToError(what, status);
    return {};
  };
  const BackupInfo info = TRY(ReadBackup(file, [&](const std::string& key, const std::string& record) -> Result<void> {
    batch.Put(db->log(), key, record).PermitUncheckedError();
    std::string length;
    AppendU32(length, static_cast<uint32_t>(record.size()));
    digest.Update(key).Update(length).Update(record);
    if (batch.GetDataSize() >= kBatchBytes) TRY(write(/*sync=*/false));
    return {};
  }));
  if (info != expected) return CorruptError(StrCat("'", file, "' changed while it was read"));
  batch.Put(db->meta(), kCompactedKey, EncodeRevision(info.compacted)).PermitUncheckedError();
  batch.Put(db->meta(), kNewestKey, EncodeRevision(info.revision)).PermitUncheckedError();
  TRY(write(/*sync=*/true));
  const rocksdb::Status flushed = db->db().Flush(rocksdb::FlushOptions(), {db->log(), db->meta()});
  if (!flushed.ok()) return db->ToError(what, flushed);
  const Content content = TRY(ReadContent(*db, [](const std::string&) -> Result<void> { return {}; }));
  if (content.records != info.records || content.digest != HexEncode(digest.Finish())) {
    return CorruptError(StrCat(what, ": what was written is not what is read back; look at the disk"));
  }
  return {};
}

}  // namespace

Result<BackupInfo> BackupDirectory(const std::string& data_directory, const std::string& file) {
  const std::unique_ptr<RocksDb> db = TRY(RocksDb::OpenReadOnly({.directory = data_directory}));
  BackupWriter writer = TRY(BackupWriter::Create(file));
  // The view does not change, so it can be read twice: the header comes first, and knows how much there is.
  const Content counted = TRY(ReadContent(*db, [](const std::string&) -> Result<void> { return {}; }));
  BackupInfo info;
  info.revision = counted.loaded.revision;
  info.compacted = counted.loaded.compacted;
  info.records = counted.records;
  TRY(writer.Append(EncodeHeader(info)));
  const Content written = TRY(ReadContent(*db, [&writer](const std::string& bytes) { return writer.Append(bytes); }));
  if (written.digest != counted.digest) {
    return CorruptError(StrCat("'", data_directory, "' reads differently each time: look at the disk"));
  }
  TRY(writer.Finish());
  BackupInfo verified = TRY(VerifyBackup(writer.partial()));
  if (verified.revision != info.revision || verified.compacted != info.compacted || verified.records != info.records) {
    return CorruptError(StrCat("'", writer.partial(), "' is not what was written: look at the disk"));
  }
  TRY(writer.Publish());
  return verified;
}

Result<BackupInfo> VerifyBackup(const std::string& file) {
  return ReadBackup(file, [](const std::string&, const std::string&) -> Result<void> { return {}; });
}

Result<BackupInfo> RestoreBackup(const std::string& file, const std::string& data_directory) {
  BackupInfo info = TRY(VerifyBackup(file));
  TRY(CheckEmpty(data_directory));
  TRY(MakePrivateDirectory(data_directory));
  const DirectoryLock lock = TRY(DirectoryLock::Take(data_directory));
  TRY(CheckEmpty(data_directory));
  const RocksOptions options{.directory = data_directory};
  TRY(FillNew(file, options, info));
  TRY(RocksDb::PublishNew(options));
  return info;
}

}  // namespace baton::store
