// The disk's model (Disk) and RocksDB's view of it (System and the files it opens).
#include "store/testing/power_cut_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/io_status.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/invariant.h"
#include "rt/random.h"

namespace baton::store {

namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr size_t kSectorBytes = 512;
constexpr double kSectorUnwritten = 0.2;  // of those that were not synced

struct Inode;
using InodePtr = std::shared_ptr<Inode>;
using Entries = std::map<std::string, InodePtr>;

// A change of a directory that is not synced: each name to what it then stands for, or to nothing.
using EntryChange = std::vector<std::pair<std::string, InodePtr>>;

struct Inode {
  bool is_directory = false;
  std::string content;
  size_t synced = 0;  // bytes from the beginning
  Entries entries;
  Entries synced_entries;
  std::vector<EntryChange> changes;  // from synced_entries to entries

  void Change(const EntryChange& change) {
    Apply(change, entries);
    changes.push_back(change);
  }
  static void Apply(const EntryChange& change, Entries& to) {
    for (const auto& [name, inode] : change) {
      if (inode == nullptr) {
        to.erase(name);
      } else {
        to[name] = inode;
      }
    }
  }
};

// "a/b/c" as {"a/b", "c"}; without a slash at the end or doubled ones.
std::pair<std::string, std::string> SplitPath(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

class PowerCutFileSystem::Disk {
 public:
  explicit Disk(uint64_t seed) : random_(seed) { root_->is_directory = true; }

  // ---- power, room, faults ----

  void PowerCut() {
    const std::lock_guard lock(mutex_);
    Cut();
  }
  void CutAfter(uint64_t changes) {
    const std::lock_guard lock(mutex_);
    cut_at_ = changes_ + changes;
  }
  bool is_off() const {
    const std::lock_guard lock(mutex_);
    return off_;
  }
  void Restart() {
    const std::lock_guard lock(mutex_);
    INVARIANT(off_, "only a disk without power is restarted");
    off_ = false;
    root_ = std::move(after_cut_);
    locks_.clear();
    ++generation_;
  }
  uint64_t changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  void SetCapacity(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes;
  }
  void FailSyncs(int count) {
    const std::lock_guard lock(mutex_);
    failing_syncs_ = count;
  }
  uint64_t UsedBytes() const {
    const std::lock_guard lock(mutex_);
    return Used(*root_);
  }
  uint64_t FreeBytes() const {
    const std::lock_guard lock(mutex_);
    return capacity_ - std::min(capacity_, Used(*root_));
  }
  uint64_t generation() const {
    const std::lock_guard lock(mutex_);
    return generation_;
  }

  // ---- looking and damaging ----

  void MakeDirectory(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto directory = std::make_shared<Inode>();
    directory->is_directory = true;
    root_->entries[name] = root_->synced_entries[name] = directory;
  }
  std::vector<std::string> Paths() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    AddPaths(*root_, "", paths);
    return paths;
  }
  std::string Content(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const InodePtr file = Find(path);
    INVARIANT(file != nullptr && !file->is_directory, path);
    return file->content;
  }
  void Overwrite(const std::string& path, std::string content) {
    const std::lock_guard lock(mutex_);
    const InodePtr file = Find(path);
    INVARIANT(file != nullptr && !file->is_directory, path);
    file->synced = content.size();
    file->content = std::move(content);
  }

  // ---- what RocksDB does; every function takes the lock, and fails when the power is off ----

  IOStatus Open(const std::string& path, InodePtr& file) {
    const std::lock_guard lock(mutex_);
    if (off_) return Dead();
    file = Find(path);
    return file == nullptr ? Missing(path) : IOStatus::OK();
  }
  IOStatus Create(const std::string& path, bool directory, InodePtr& file) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation_); !s.ok()) return s;
    const auto [parent_path, name] = SplitPath(path);
    const InodePtr parent = Find(parent_path);
    if (parent == nullptr || !parent->is_directory) return Missing(parent_path);
    if (directory && parent->entries.contains(name)) return IOStatus::IOError(path, "exists");
    if (Used(*root_) >= capacity_) return IOStatus::NoSpace(path);
    file = std::make_shared<Inode>();
    file->is_directory = directory;
    parent->Change({{name, file}});
    return IOStatus::OK();
  }
  IOStatus Delete(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation_); !s.ok()) return s;
    const InodePtr file = Find(path);
    if (file == nullptr) return Missing(path);
    if (!file->entries.empty()) return IOStatus::IOError(path, "not empty");
    const auto [parent_path, name] = SplitPath(path);
    Find(parent_path)->Change({{name, nullptr}});
    return IOStatus::OK();
  }
  IOStatus Rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation_); !s.ok()) return s;
    const InodePtr file = Find(from);
    const auto [from_parent, from_name] = SplitPath(from);
    const auto [to_parent, to_name] = SplitPath(to);
    if (file == nullptr) return Missing(from);
    if (from_parent != to_parent) return IOStatus::NotSupported("renaming between directories");
    Find(from_parent)->Change({{from_name, nullptr}, {to_name, file}});
    return IOStatus::OK();
  }
  IOStatus Append(Inode& file, uint64_t generation, const Slice& data) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation); !s.ok()) return s;
    const uint64_t used = capacity_ == kUnlimited ? 0 : Used(*root_);
    const uint64_t room = capacity_ - std::min(capacity_, used);
    file.content.append(data.data(), std::min<uint64_t>(room, data.size()));
    return room < data.size() ? IOStatus::NoSpace("the disk is full") : IOStatus::OK();
  }
  IOStatus Truncate(Inode& file, uint64_t generation, uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation); !s.ok()) return s;
    file.content.resize(size);
    file.synced = std::min(file.synced, file.content.size());
    return IOStatus::OK();
  }
  IOStatus Sync(Inode& file, uint64_t generation) {
    const std::lock_guard lock(mutex_);
    if (IOStatus s = BeginChange(generation); !s.ok()) return s;
    if (failing_syncs_ > 0) {
      --failing_syncs_;
      return IOStatus::IOError("the disk does not sync");
    }
    file.synced = file.content.size();
    file.synced_entries = file.entries;
    file.changes.clear();
    return IOStatus::OK();
  }
  IOStatus Read(const Inode& file, uint64_t generation, uint64_t offset, size_t n, Slice* result, char* scratch) const {
    const std::lock_guard lock(mutex_);
    if (off_ || generation != generation_) return Dead();
    const size_t from = std::min<size_t>(offset, file.content.size());
    const size_t count = std::min(n, file.content.size() - from);
    std::memcpy(scratch, file.content.data() + from, count);
    *result = Slice(scratch, count);
    return IOStatus::OK();
  }
  uint64_t Size(const Inode& file) const {
    const std::lock_guard lock(mutex_);
    return file.content.size();
  }
  IOStatus List(const std::string& path, std::vector<std::string>* names) const {
    const std::lock_guard lock(mutex_);
    if (off_) return Dead();
    const InodePtr directory = Find(path);
    if (directory == nullptr) return Missing(path);
    names->clear();
    for (const auto& [name, inode] : directory->entries) names->push_back(name);
    return IOStatus::OK();
  }
  bool Lock(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return locks_.insert(path).second;
  }
  void Unlock(const std::string& path) {
    const std::lock_guard lock(mutex_);
    locks_.erase(path);
  }

 private:
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max() / 2;

  static IOStatus Dead() { return IOStatus::IOError("the power is off"); }
  static IOStatus Missing(const std::string& path) { return IOStatus::PathNotFound(path); }

  IOStatus BeginChange(uint64_t generation) {
    if (!off_ && changes_ == cut_at_) Cut();
    if (off_ || generation != generation_) return Dead();
    ++changes_;
    return IOStatus::OK();
  }

  InodePtr Find(const std::string& path) const {
    InodePtr at = root_;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) {
        const auto entry = at->entries.find(path.substr(begin, end - begin));
        if (entry == at->entries.end()) return nullptr;
        at = entry->second;
      }
      begin = end + 1;
    }
    return at;
  }

  static uint64_t Used(const Inode& inode) {
    uint64_t bytes = inode.content.size();
    for (const auto& [name, child] : inode.entries) bytes += Used(*child);
    return bytes;
  }
  static void AddPaths(const Inode& directory, const std::string& prefix, std::vector<std::string>& paths) {
    for (const auto& [name, child] : directory.entries) {
      if (child->is_directory) {
        AddPaths(*child, prefix + name + "/", paths);
      } else {
        paths.push_back(prefix + name);
      }
    }
  }

  void Cut() {
    off_ = true;
    cut_at_ = kUnlimited;
    std::map<const Inode*, InodePtr> kept;
    after_cut_ = AfterCut(*root_, kept);
  }

  InodePtr AfterCut(const Inode& inode, std::map<const Inode*, InodePtr>& kept) {
    InodePtr& after = kept[&inode];
    if (after != nullptr) return after;
    after = std::make_shared<Inode>();
    InodePtr result = after;
    result->is_directory = inode.is_directory;
    result->content = inode.content.substr(0, inode.synced);
    const size_t unsynced = inode.content.size() - inode.synced;
    if (unsynced > 0) AddUnsynced(inode, random_.Chance(0.5) ? random_.Below(unsynced + 1) : 0, result->content);
    result->synced = result->content.size();
    Entries entries = inode.synced_entries;
    const size_t happened = random_.Chance(0.5) ? random_.Below(inode.changes.size() + 1) : 0;
    for (size_t i = 0; i < happened; ++i) Inode::Apply(inode.changes[i], entries);
    for (const auto& [name, child] : entries) result->entries[name] = AfterCut(*child, kept);
    result->synced_entries = result->entries;
    return result;
  }

  void AddUnsynced(const Inode& inode, size_t count, std::string& content) {
    const bool holes = random_.Chance(0.5);
    for (size_t at = inode.synced; at < inode.synced + count;) {
      const size_t end = std::min(inode.synced + count, (at / kSectorBytes + 1) * kSectorBytes);
      if (holes && random_.Chance(kSectorUnwritten)) {
        content.append(end - at, '\0');
      } else {
        content.append(inode.content, at, end - at);
      }
      at = end;
    }
  }

  mutable std::mutex mutex_;
  rt::SeededRandom random_;
  InodePtr root_ = std::make_shared<Inode>();
  InodePtr after_cut_;
  std::set<std::string> locks_;
  bool off_ = false;
  uint64_t changes_ = 0;
  uint64_t cut_at_ = kUnlimited;
  uint64_t capacity_ = kUnlimited;
  uint64_t generation_ = 0;  // what was opened before a restart is dead
  int failing_syncs_ = 0;
};

namespace {

template <class Disk>
struct Handle {
  std::shared_ptr<Disk> disk;
  InodePtr file;
  uint64_t generation;
};

template <class Disk>
class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(Handle<Disk> handle) : handle_(std::move(handle)) {}
  IOStatus Read(size_t n, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*dbg*/) override {
    const IOStatus status = handle_.disk->Read(*handle_.file, handle_.generation, at_, n, result, scratch);
    at_ += status.ok() ? result->size() : 0;
    return status;
  }
  IOStatus Skip(uint64_t n) override {
    at_ += n;
    return IOStatus::OK();
  }

 private:
  Handle<Disk> handle_;
  uint64_t at_ = 0;
};

template <class Disk>
class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(Handle<Disk> handle) : handle_(std::move(handle)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*dbg*/) const override {
    return handle_.disk->Read(*handle_.file, handle_.generation, offset, n, result, scratch);
  }

 private:
  Handle<Disk> handle_;
};

template <class Disk>
class WritableFile final : public rocksdb::FSWritableFile {
 public:
  explicit WritableFile(Handle<Disk> handle) : handle_(std::move(handle)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return handle_.disk->Append(*handle_.file, handle_.generation, data);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& /*info*/,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return handle_.disk->Truncate(*handle_.file, handle_.generation, size);
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return handle_.disk->Sync(*handle_.file, handle_.generation);
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return handle_.disk->Size(*handle_.file);
  }

 private:
  Handle<Disk> handle_;
};

template <class Disk>
class Directory final : public rocksdb::FSDirectory {
 public:
  explicit Directory(Handle<Disk> handle) : handle_(std::move(handle)) {}
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return handle_.disk->Sync(*handle_.file, handle_.generation);
  }

 private:
  Handle<Disk> handle_;
};

class HeldLock final : public rocksdb::FileLock {
 public:
  explicit HeldLock(std::string path) : path(std::move(path)) {}
  std::string path;
};

}  // namespace

class PowerCutFileSystem::System final : public rocksdb::FileSystem {
 public:
  explicit System(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  const char* Name() const override { return "PowerCutFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext* /*dbg*/) override {
    return OpenAs<SequentialFile<Disk>>(path, result);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, IODebugContext* /*dbg*/) override {
    return OpenAs<RandomAccessFile<Disk>>(path, result);
  }
  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* /*dbg*/) override {
    InodePtr file;
    IOStatus status = disk_->Create(path, /*directory=*/false, file);
    if (status.ok()) *result = std::make_unique<WritableFile<Disk>>(Handle<Disk>{disk_, file, disk_->generation()});
    return status;
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                              std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* /*dbg*/) override {
    return OpenAs<WritableFile<Disk>>(path, result);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& /*options*/,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext* /*dbg*/) override {
    return OpenAs<Directory<Disk>>(path, result);
  }
  IOStatus FileExists(const std::string& path, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    InodePtr file;
    const IOStatus status = disk_->Open(path, file);
    return status.IsPathNotFound() ? IOStatus::NotFound(path) : status;
  }
  IOStatus GetChildren(const std::string& path, const IOOptions& /*options*/, std::vector<std::string>* result,
                       IODebugContext* /*dbg*/) override {
    return disk_->List(path, result);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_->Delete(path);
  }
  IOStatus CreateDir(const std::string& path, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    InodePtr file;
    return disk_->Create(path, /*directory=*/true, file);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options, IODebugContext* dbg) override {
    InodePtr file;
    const IOStatus status = disk_->Open(path, file);
    return status.IsPathNotFound() ? CreateDir(path, options, dbg) : status;
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_->Delete(path);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& /*options*/, uint64_t* size,
                       IODebugContext* /*dbg*/) override {
    InodePtr file;
    const IOStatus status = disk_->Open(path, file);
    if (status.ok()) *size = disk_->Size(*file);
    return status;
  }
  IOStatus GetFileModificationTime(const std::string& /*path*/, const IOOptions& /*options*/, uint64_t* time,
                                   IODebugContext* /*dbg*/) override {
    *time = 0;
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& /*options*/,
                      IODebugContext* /*dbg*/) override {
    return disk_->Rename(from, to);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& /*options*/, rocksdb::FileLock** lock,
                    IODebugContext* /*dbg*/) override {
    if (!disk_->Lock(path)) return IOStatus::IOError("While lock file: " + path, "held");
    *lock = new HeldLock(path);
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    const std::unique_ptr<HeldLock> held(static_cast<HeldLock*>(lock));
    disk_->Unlock(held->path);
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions& /*options*/, std::string* path, IODebugContext* /*dbg*/) override {
    *path = "test";
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& /*options*/, std::string* result,
                           IODebugContext* /*dbg*/) override {
    *result = path;
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& /*options*/, bool* result,
                       IODebugContext* /*dbg*/) override {
    InodePtr file;
    const IOStatus status = disk_->Open(path, file);
    if (status.ok()) *result = file->is_directory;
    return status;
  }
  IOStatus GetFreeSpace(const std::string& /*path*/, const IOOptions& /*options*/, uint64_t* free,
                        IODebugContext* /*dbg*/) override {
    *free = disk_->FreeBytes();
    return IOStatus::OK();
  }

 private:
  template <class File, class Base>
  IOStatus OpenAs(const std::string& path, std::unique_ptr<Base>* result) {
    InodePtr file;
    const IOStatus status = disk_->Open(path, file);
    if (status.ok()) *result = std::make_unique<File>(Handle<Disk>{disk_, file, disk_->generation()});
    return status;
  }

  std::shared_ptr<Disk> disk_;
};

PowerCutFileSystem::PowerCutFileSystem(uint64_t seed)
    : disk_(std::make_shared<Disk>(seed)), system_(std::make_shared<System>(disk_)) {}
PowerCutFileSystem::~PowerCutFileSystem() = default;
std::shared_ptr<rocksdb::FileSystem> PowerCutFileSystem::system() const { return system_; }
void PowerCutFileSystem::MakeDirectory(const std::string& name) { disk_->MakeDirectory(name); }
void PowerCutFileSystem::PowerCut() { disk_->PowerCut(); }
void PowerCutFileSystem::CutAfter(uint64_t changes) { disk_->CutAfter(changes); }
bool PowerCutFileSystem::is_off() const { return disk_->is_off(); }
void PowerCutFileSystem::Restart() { disk_->Restart(); }
uint64_t PowerCutFileSystem::changes() const { return disk_->changes(); }
void PowerCutFileSystem::SetCapacity(uint64_t bytes) { disk_->SetCapacity(bytes); }
uint64_t PowerCutFileSystem::UsedBytes() const { return disk_->UsedBytes(); }
void PowerCutFileSystem::FailSyncs(int count) { disk_->FailSyncs(count); }
std::vector<std::string> PowerCutFileSystem::Paths() const { return disk_->Paths(); }
std::string PowerCutFileSystem::Content(const std::string& path) const { return disk_->Content(path); }
void PowerCutFileSystem::Overwrite(const std::string& path, std::string content) {
  disk_->Overwrite(path, std::move(content));
}
void PowerCutFileSystem::Remove(const std::string& path) { disk_->Delete(path).PermitUncheckedError(); }

}  // namespace baton::store
