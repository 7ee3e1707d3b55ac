// Files on the disk, by POSIX calls. Every call that may block runs on the loop's pool; what it touches is owned by it,
// so that dropping the waiting task at any point leaks nothing and pulls nothing from under a running call.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "rt/files.h"
#include "rt/files_internal.h"

namespace baton::rt {
namespace {

using files_internal::SystemError;

constexpr uint64_t kMaxOffset = std::numeric_limits<off_t>::max();
constexpr size_t kReadChunkBytes = size_t{1} << 20;  // memory grows with what is there, not with what was asked for

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() {
    if (fd_ >= 0) close(fd_);  // never again on EINTR: Linux has released the number, and it may be someone else's
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Repeats a system call that a signal interrupted.
template <class Call>
auto Uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// ---- calls in order ----

// The calls on one target. They run one at a time and in the order they were begun, also when the task that waited for
// one was dropped and the pool's threads pick up the jobs in another order.
template <class Target>
class CallQueue {
 public:
  using Call = std::move_only_function<void(Target&)>;

  // On the loop; never waits for a running call.
  uint64_t Add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    return ++added_;
  }

  // On the pool: afterwards call number `ticket` and all before it are done.
  void RunThrough(Target& target, uint64_t ticket) {
    const std::lock_guard one_at_a_time(running_);
    for (; done_ < ticket; ++done_) Take()(target);
  }

 private:
  Call Take() {
    const std::lock_guard lock(mutex_);
    Call call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

  std::mutex mutex_;
  std::deque<Call> calls_;
  uint64_t added_ = 0;
  std::mutex running_;
  uint64_t done_ = 0;  // guarded by running_
};

// Runs `function(*target)` on the pool, after all that was begun on `target` before.
template <class Target, class Function>
Task<std::invoke_result_t<Function, Target&>> InOrder(Loop& loop, std::shared_ptr<Target> target, Function function) {
  auto answer = std::make_shared<std::optional<std::invoke_result_t<Function, Target&>>>();
  // The queue is a part of the target, so what is queued does not own the target; the job does.
  const uint64_t ticket = target->calls.Add(
      [answer, function = std::move(function)](Target& self) mutable { answer->emplace(function(self)); });
  co_return co_await loop.Offload([target = std::move(target), answer, ticket] {
    target->calls.RunThrough(*target, ticket);
    return *std::move(*answer);
  });
}

// ---- one file ----

struct OpenFile {
  OpenFile(Fd opened, std::string full_path, bool may_write)
      : fd(std::move(opened)), path(std::move(full_path)), writable(may_write) {}

  const Fd fd;
  const std::string path;  // for errors
  const bool writable;
  std::optional<Error> sync_error;  // of the first Sync that failed; read and written by calls only
  CallQueue<OpenFile> calls;
};

Result<uint64_t> SizeOf(OpenFile& file) {
  struct stat status = {};
  if (fstat(file.fd.get(), &status) != 0) return SystemError("get the size of", file.path, errno);
  return static_cast<uint64_t>(status.st_size);
}

Result<std::string> ReadFrom(OpenFile& file, uint64_t offset, size_t length) {
  std::string bytes;
  while (bytes.size() < length && offset < kMaxOffset) {
    const size_t had = bytes.size();
    const size_t wanted = std::min<uint64_t>({length - had, kReadChunkBytes, kMaxOffset - offset});
    bytes.resize(had + wanted);
    const ssize_t got =
        Uninterrupted([&] { return pread(file.fd.get(), bytes.data() + had, wanted, static_cast<off_t>(offset)); });
    if (got < 0) return SystemError("read", file.path, errno);
    bytes.resize(had + static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
    if (got == 0) break;
  }
  return bytes;
}

Result<void> CheckWritable(const OpenFile& file, std::string_view what) {
  if (!file.writable) return files_internal::OpenedForReading(what, file.path);
  if (file.sync_error) return files_internal::AfterFailedSync(what, file.path, *file.sync_error);
  return {};
}

Result<void> AppendTo(OpenFile& file, std::string_view bytes) {
  constexpr std::string_view kWhat = "append to";
  TRY(CheckWritable(file, kWhat));
  while (!bytes.empty()) {
    const ssize_t put = Uninterrupted([&] { return write(file.fd.get(), bytes.data(), bytes.size()); });
    if (put <= 0) return SystemError(kWhat, file.path, put < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Result<void> SyncOf(OpenFile& file) {
  constexpr std::string_view kWhat = "sync";
  if (file.sync_error) return files_internal::AfterFailedSync(kWhat, file.path, *file.sync_error);
  if (Uninterrupted([&] { return fdatasync(file.fd.get()); }) == 0) return {};
  file.sync_error = SystemError(kWhat, file.path, errno);
  return *file.sync_error;
}

Result<void> TruncateTo(OpenFile& file, uint64_t size) {
  constexpr std::string_view kWhat = "truncate";
  TRY(CheckWritable(file, kWhat));
  const uint64_t had = TRY(SizeOf(file));
  if (size > had) return files_internal::CannotGrow(file.path, had, size);
  if (Uninterrupted([&] { return ftruncate(file.fd.get(), static_cast<off_t>(size)); }) == 0) return {};
  return SystemError(kWhat, file.path, errno);
}

class RealFile final : public File {
 public:
  RealFile(Loop& loop, std::shared_ptr<OpenFile> file) : loop_(loop), file_(std::move(file)) {}

  Task<Result<std::string>> ReadAt(uint64_t offset, size_t length) override {
    return InOrder(loop_, file_, [offset, length](OpenFile& file) { return ReadFrom(file, offset, length); });
  }
  Task<Result<void>> Append(std::string bytes) override {
    return InOrder(loop_, file_, [bytes = std::move(bytes)](OpenFile& file) { return AppendTo(file, bytes); });
  }
  Task<Result<void>> Sync() override { return InOrder(loop_, file_, SyncOf); }
  Task<Result<void>> Truncate(uint64_t size) override {
    return InOrder(loop_, file_, [size](OpenFile& file) { return TruncateTo(file, size); });
  }
  Task<Result<uint64_t>> Size() override { return InOrder(loop_, file_, SizeOf); }

 private:
  Loop& loop_;
  std::shared_ptr<OpenFile> file_;
};

// ---- the tree ----

struct Root {
  explicit Root(std::string root_path) : path(std::move(root_path)) {}

  // Opened by the first call and then kept, so that all calls work on one directory.
  Result<int> Directory() {
    const std::lock_guard lock(mutex);
    if (!fd) {
      Fd opened(Uninterrupted([&] { return open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
      if (!opened.valid()) return SystemError("open the root directory", path, errno);
      fd.emplace(std::move(opened));
    }
    return fd->get();
  }
  std::string Full(std::string_view below) const { return below == "." ? path : StrCat(path, "/", below); }

  const std::string path;
  std::mutex mutex;
  std::optional<Fd> fd;   // guarded by mutex
  CallQueue<Root> calls;  // those that change the tree; others go beside them
};

int FlagsOf(OpenMode mode) {
  // Not blocking: opening a FIFO would otherwise wait for its other end. It means nothing to a regular file.
  constexpr int kAlways = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  switch (mode) {
    case OpenMode::kRead:
      return kAlways | O_RDONLY;
    case OpenMode::kAppend:
      return kAlways | O_RDWR | O_APPEND;
    case OpenMode::kCreate:
      return kAlways | O_RDWR | O_APPEND | O_CREAT | O_EXCL;
    case OpenMode::kOpenOrCreate:
      return kAlways | O_RDWR | O_APPEND | O_CREAT;
  }
  return kAlways | O_RDONLY;
}

Result<std::shared_ptr<OpenFile>> OpenBelow(Root& root, const std::string& path, OpenMode mode) {
  constexpr std::string_view kWhat = "open";
  TRY(files_internal::CheckPath(path));
  const int directory = TRY(root.Directory());
  Fd fd(Uninterrupted([&] { return openat(directory, path.c_str(), FlagsOf(mode), 0600); }));
  if (!fd.valid()) return SystemError(kWhat, root.Full(path), errno);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return SystemError(kWhat, root.Full(path), errno);
  if (S_ISDIR(status.st_mode)) return SystemError(kWhat, root.Full(path), EISDIR);
  if (!S_ISREG(status.st_mode)) return InvalidError(StrCat("cannot open '", root.Full(path), "': not a regular file"));
  return std::make_shared<OpenFile>(std::move(fd), root.Full(path), mode != OpenMode::kRead);
}

Result<void> MakeDirectoryBelow(Root& root, const std::string& path) {
  constexpr std::string_view kWhat = "make the directory";
  TRY(files_internal::CheckDirectoryPath(path));
  const int directory = TRY(root.Directory());
  if (path == ".") return {};
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    if (mkdirat(directory, path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST) {
      return SystemError(kWhat, root.Full(path), errno);
    }
  }
  if (mkdirat(directory, path.c_str(), 0700) == 0) return {};
  const int code = errno;
  struct stat status = {};
  if (code == EEXIST && fstatat(directory, path.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode)) return {};
  return SystemError(kWhat, root.Full(path), code);
}

Result<Fd> OpenDirectory(Root& root, const std::string& path, std::string_view what) {
  TRY(files_internal::CheckDirectoryPath(path));
  const int directory = TRY(root.Directory());
  Fd fd(Uninterrupted([&] { return openat(directory, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd.valid()) return SystemError(what, root.Full(path), errno);
  return fd;
}

bool IsDirectory(int parent, const dirent& entry) {
  if (entry.d_type == DT_DIR) return true;
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return false;
  struct stat status = {};
  return fstatat(parent, entry.d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

Result<std::vector<FileEntry>> ListBelow(Root& root, const std::string& path) {
  constexpr std::string_view kWhat = "list";
  Fd fd = TRY(OpenDirectory(root, path, kWhat));
  const std::unique_ptr<DIR, decltype([](DIR* open) { closedir(open); })> directory(fdopendir(fd.get()));
  if (directory == nullptr) return SystemError(kWhat, root.Full(path), errno);
  fd.Release();  // closedir closes it
  std::vector<FileEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(directory.get());  // this DIR is ours alone, so no other thread is in the way
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back({.name = std::string(name), .is_directory = IsDirectory(dirfd(directory.get()), *entry)});
  }
  if (errno != 0) return SystemError(kWhat, root.Full(path), errno);
  std::sort(entries.begin(), entries.end());
  return entries;
}

Result<void> RenameBelow(Root& root, const std::string& from, const std::string& to) {
  TRY(files_internal::CheckPath(from));
  TRY(files_internal::CheckPath(to));
  const int directory = TRY(root.Directory());
  if (renameat(directory, from.c_str(), directory, to.c_str()) == 0) return {};
  const int code = errno == EEXIST ? ENOTEMPTY : errno;  // POSIX lets a system choose
  if (code == EINVAL) return files_internal::InsideItself(root.Full(from), root.Full(to));
  return SystemError(StrCat("rename '", root.Full(from), "' to"), root.Full(to), code);
}

Result<void> RemoveBelow(Root& root, const std::string& path) {
  TRY(files_internal::CheckPath(path));
  const int directory = TRY(root.Directory());
  if (unlinkat(directory, path.c_str(), 0) == 0) return {};
  int code = errno;
  if (code == EISDIR || code == EPERM) {  // POSIX says EPERM for a directory
    if (unlinkat(directory, path.c_str(), AT_REMOVEDIR) == 0) return {};
    if (errno != ENOTDIR) code = errno == EEXIST ? ENOTEMPTY : errno;
  }
  return SystemError("remove", root.Full(path), code);
}

Result<void> SyncDirectoryBelow(Root& root, const std::string& path) {
  constexpr std::string_view kWhat = "sync the directory";
  const Fd fd = TRY(OpenDirectory(root, path, kWhat));
  if (Uninterrupted([&] { return fsync(fd.get()); }) == 0) return {};
  return SystemError(kWhat, root.Full(path), errno);
}

class RealFiles final : public Files {
 public:
  RealFiles(Loop& loop, std::string root) : loop_(loop), root_(std::make_shared<Root>(std::move(root))) {}

  Task<Result<std::unique_ptr<File>>> Open(std::string path, OpenMode mode) override {
    auto open = [path = std::move(path), mode, loop = &loop_](Root& root) -> Result<std::unique_ptr<File>> {
      return std::make_unique<RealFile>(*loop, TRY(OpenBelow(root, path, mode)));
    };
    const bool may_create = mode == OpenMode::kCreate || mode == OpenMode::kOpenOrCreate;
    return may_create ? InOrder(loop_, root_, std::move(open)) : Beside(std::move(open));
  }
  Task<Result<void>> MakeDirectory(std::string path) override {
    return InOrder(loop_, root_, [path = std::move(path)](Root& root) { return MakeDirectoryBelow(root, path); });
  }
  Task<Result<std::vector<FileEntry>>> List(std::string path) override {
    return Beside([path = std::move(path)](Root& root) { return ListBelow(root, path); });
  }
  Task<Result<void>> Rename(std::string from, std::string to) override {
    return InOrder(loop_, root_,
                   [from = std::move(from), to = std::move(to)](Root& root) { return RenameBelow(root, from, to); });
  }
  Task<Result<void>> Remove(std::string path) override {
    return InOrder(loop_, root_, [path = std::move(path)](Root& root) { return RemoveBelow(root, path); });
  }
  // Beside the changes: it can take long, and it covers what had returned before it was called.
  Task<Result<void>> SyncDirectory(std::string path) override {
    return Beside([path = std::move(path)](Root& root) { return SyncDirectoryBelow(root, path); });
  }

 private:
  template <class Function>
  Task<std::invoke_result_t<Function, Root&>> Beside(Function function) {
    return loop_.Offload([root = root_, function = std::move(function)] { return function(*root); });
  }

  Loop& loop_;
  std::shared_ptr<Root> root_;
};

}  // namespace

std::unique_ptr<Files> MakeRealFiles(Loop& loop, std::string root) {
  return std::make_unique<RealFiles>(loop, std::move(root));
}

}  // namespace baton::rt
