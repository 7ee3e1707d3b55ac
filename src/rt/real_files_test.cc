// What only the disk can show: full disks, refusals of the system, interrupted calls, and tasks dropped while a pool
// thread is inside a call.
//
// write() and fdatasync() of this test program are the ones below: they ask a hook first, so that a test can make the
// system fail, or hold it, at a chosen moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/files.h"
#include "rt/files_testing.h"
#include "rt/scope.h"

namespace {

// What a hooked call does: an errno, or nothing to go on; `length` may be made less. A call under way keeps its hook.
using Hook = std::function<std::optional<int>(size_t& length)>;
using SharedHook = std::shared_ptr<const Hook>;
std::mutex hooks_mutex;
SharedHook on_write;      // only of regular files: the loop itself writes to wake up
SharedHook on_fdatasync;  // its `length` means nothing

SharedHook Get(const SharedHook& hook) {
  const std::lock_guard lock(hooks_mutex);
  return hook;
}
void Set(SharedHook& hook, SharedHook to) {
  const std::lock_guard lock(hooks_mutex);
  hook = std::move(to);
}

bool IsRegular(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

extern "C" ssize_t write(int fd, const void* bytes, size_t length) {
  if (const SharedHook hook = Get(on_write); hook != nullptr && IsRegular(fd)) {
    if (const std::optional<int> code = (*hook)(length)) {
      errno = *code;
      return -1;
    }
  }
  return syscall(SYS_write, fd, bytes, length);
}

extern "C" int fdatasync(int fd) {
  size_t length = 0;
  if (const SharedHook hook = Get(on_fdatasync)) {
    if (const std::optional<int> code = (*hook)(length)) {
      errno = *code;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace baton::rt {
namespace {

class Hooked {
 public:
  Hooked(SharedHook& hook, Hook with) : hook_(hook) { Set(hook_, std::make_shared<const Hook>(std::move(with))); }
  ~Hooked() { Set(hook_, nullptr); }
  Hooked(const Hooked&) = delete;
  Hooked& operator=(const Hooked&) = delete;

 private:
  SharedHook& hook_;
};

size_t OpenFds() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class RealFilesTest : public testing::Test {
 protected:
  explicit RealFilesTest(size_t threads = 1) : loop_(threads), files_(MakeRealFiles(loop_, directory_.path())) {
    Run(files_->MakeDirectory(".")).value();  // opens the root, so that later counts of descriptors do not see that
  }
  template <class T>
  T Run(Task<T> task) {
    return loop_.Run(std::move(task));
  }
  std::unique_ptr<File> MustOpen(const std::string& path, OpenMode mode) {
    return Run(files_->Open(path, mode)).value();
  }
  std::string Read(const std::string& path) { return Run(files_->ReadAll(path)).value(); }

  TemporaryDirectory directory_;
  RealLoop loop_;
  std::unique_ptr<Files> files_;
};

// ---- the system says no ----

TEST_F(RealFilesTest, AMissingRootIsNamed) {
  const std::string root = StrCat(directory_.path(), "/absent");
  const std::unique_ptr<Files> files = MakeRealFiles(loop_, root);
  const Error error = Run(files->MakeDirectory("a")).error();
  EXPECT_EQ(error.ToString(),
            StrCat("not_found: cannot open the root directory '", root, "': No such file or directory"));
  std::filesystem::create_directory(root);
  EXPECT_TRUE(Run(files->MakeDirectory("a")).ok()) << "the root is looked for again";
}

TEST_F(RealFilesTest, TheRootStaysTheSameDirectoryWhenItIsRenamed) {
  const std::string root = StrCat(directory_.path(), "/root");
  std::filesystem::create_directory(root);
  const std::unique_ptr<Files> files = MakeRealFiles(loop_, root);
  Run(files->WriteAtomically("state", "mine")).value();
  std::filesystem::rename(root, StrCat(root, "-moved"));
  std::filesystem::create_directory(root);
  EXPECT_EQ(Run(files->ReadAll("state")).value(), "mine");
}

TEST_F(RealFilesTest, WhatTheSystemForbidsIsForbidden) {
  // Nobody removes from or creates in /proc, whoever runs the test.
  const std::unique_ptr<Files> proc = MakeRealFiles(loop_, "/proc/self");
  EXPECT_EQ(Run(proc->Remove("status")).error().kind(), ErrorKind::kForbidden);
  EXPECT_EQ(Run(proc->Rename("status", "stat")).error().kind(), ErrorKind::kForbidden);
}

TEST_F(RealFilesTest, ReadsFilesThatClaimToBeEmpty) {
  const std::unique_ptr<Files> proc = MakeRealFiles(loop_, "/proc/self");
  const std::unique_ptr<File> file = Run(proc->Open("status", OpenMode::kRead)).value();
  EXPECT_EQ(Run(file->Size()).value(), 0u);
  EXPECT_TRUE(Run(proc->ReadAll("status")).value().starts_with("Name:"));
}

TEST_F(RealFilesTest, OnlyRegularFilesAreOpened) {
  const std::string fifo = StrCat(directory_.path(), "/fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Run(files_->Open("fifo", OpenMode::kRead)).error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(Run(files_->Open("fifo", OpenMode::kOpenOrCreate)).error().kind(), ErrorKind::kInvalid);
  const std::unique_ptr<Files> devices = MakeRealFiles(loop_, "/dev");
  EXPECT_EQ(Run(devices->Open("full", OpenMode::kAppend)).error().kind(), ErrorKind::kInvalid);
}

TEST_F(RealFilesTest, CreatedFilesAndDirectoriesAreTheOwnersOnly) {
  MustOpen("file", OpenMode::kCreate);
  Run(files_->MakeDirectory("d/e")).value();
  const auto mode_of = [&](const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(StrCat(directory_.path(), "/", path).c_str(), &status), 0);
    return status.st_mode & 0777u;
  };
  EXPECT_EQ(mode_of("file"), 0600u);
  EXPECT_EQ(mode_of("d"), 0700u);
  EXPECT_EQ(mode_of("d/e"), 0700u);
}

TEST_F(RealFilesTest, DescriptorsAreNotInherited) {
  const std::unique_ptr<File> file = MustOpen("file", OpenMode::kCreate);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || !target.starts_with(directory_.path())) continue;
    EXPECT_TRUE((fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC) != 0) << target;
  }
}

TEST_F(RealFilesTest, ListFollowsLinksToDirectories) {
  Run(files_->MakeDirectory("d")).value();
  std::filesystem::create_symlink("d", StrCat(directory_.path(), "/link"));
  std::filesystem::create_symlink("nowhere", StrCat(directory_.path(), "/dangling"));
  const std::vector<FileEntry> expected = {{"d", true}, {"dangling", false}, {"link", true}};
  EXPECT_EQ(Run(files_->List(".")).value(), expected);
}

TEST_F(RealFilesTest, ReadAllRefusesMoreThanItsLimit) {
  const std::unique_ptr<File> file = MustOpen("huge", OpenMode::kCreate);
  ASSERT_EQ(truncate(StrCat(directory_.path(), "/huge").c_str(), Files::kMaxReadAllBytes + 1), 0);  // takes no space
  EXPECT_EQ(Run(files_->ReadAll("huge")).error().kind(), ErrorKind::kTooLarge);
}

// ---- full disk, interrupted and short calls, failed syncs ----

TEST_F(RealFilesTest, AppendBeyondTheLimitIsNoSpaceAndLeavesAPart) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  struct rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tiny = {.rlim_cur = 1000, .rlim_max = old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const Result<void> appended = Run(file->Append(std::string(600, 'a')));
  const Result<void> too_much = Run(file->Append(std::string(600, 'b')));
  const Result<void> atomically = Run(files_->WriteAtomically("state", std::string(2000, 'c')));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, old_handler);

  EXPECT_TRUE(appended.ok());
  EXPECT_EQ(too_much.error().kind(), ErrorKind::kNoSpace);
  EXPECT_EQ(Read("log"), std::string(600, 'a') + std::string(400, 'b'));
  EXPECT_EQ(atomically.error().kind(), ErrorKind::kNoSpace);
  EXPECT_EQ(Run(files_->List(".")).value(), (std::vector<FileEntry>{{"log", false}})) << "the temporary is gone";
}

TEST_F(RealFilesTest, InterruptedAndShortWritesAreGoneOnWith) {
  int calls = 0;
  const Hooked hooked(on_write, [&](size_t& length) -> std::optional<int> {
    if (++calls % 2 == 1) return EINTR;
    length = std::min<size_t>(length, 3);
    return std::nullopt;
  });
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  Run(file->Append("0123456789")).value();
  EXPECT_EQ(Read("log"), "0123456789");
  EXPECT_EQ(calls, 8);
}

TEST_F(RealFilesTest, AWriteThatFailsMidwayLeavesAPart) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  int calls = 0;
  {
    const Hooked hooked(on_write, [&](size_t& length) -> std::optional<int> {
      if (++calls == 2) return ENOSPC;
      length = 4;
      return std::nullopt;
    });
    const Error error = Run(file->Append("0123456789")).error();
    EXPECT_EQ(error.ToString(),
              StrCat("no_space: cannot append to '", directory_.path(), "/log': No space left on device"));
  }
  EXPECT_EQ(Read("log"), "0123");
}

TEST_F(RealFilesTest, AfterAFailedSyncTheFileIsNotTrustedAgain) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  Run(file->Append("1")).value();
  {
    int calls = 0;
    const Hooked hooked(on_fdatasync, [&](size_t&) -> std::optional<int> { return ++calls == 1 ? EINTR : EIO; });
    EXPECT_EQ(Run(file->Sync()).error().message(),
              StrCat("cannot sync '", directory_.path(), "/log': Input/output error"));
    EXPECT_EQ(calls, 2);
  }
  // The system would now say that all is well.
  EXPECT_EQ(Run(file->Sync()).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(Run(file->Append("2")).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(Run(file->Truncate(0)).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(Run(file->ReadAt(0, 9)).value(), "1");
  const std::unique_ptr<File> again = MustOpen("log", OpenMode::kAppend);
  EXPECT_TRUE(Run(again->Append("2")).ok());
  EXPECT_TRUE(Run(again->Sync()).ok());
}

TEST_F(RealFilesTest, WriteAtomicallyKeepsTheOldContentWhenTheSyncFails) {
  Run(files_->WriteAtomically("state", "old")).value();
  {
    const Hooked hooked(on_fdatasync, [&](size_t&) -> std::optional<int> { return EIO; });
    EXPECT_EQ(Run(files_->WriteAtomically("state", "new")).error().kind(), ErrorKind::kUnavailable);
  }
  EXPECT_EQ(Read("state"), "old");
  EXPECT_EQ(Run(files_->List(".")).value(), (std::vector<FileEntry>{{"state", false}}));
}

// ---- dropped tasks ----

template <class T>
Task<void> Discard(Task<Result<T>> task) {
  static_cast<void>(co_await std::move(task));
}

// Begins `task`, and drops it when it waits for the pool.
template <class T>
Task<void> BeginAndDrop(Loop& loop, Task<Result<T>> task) {
  Scope scope(loop);
  scope.Spawn(Discard(std::move(task)));
  co_await loop.Yield();
}

Task<void> HoldPool(Loop& loop, std::shared_ptr<std::latch> gate) {
  co_await loop.Offload([gate] { gate->wait(); });
}

TEST_F(RealFilesTest, ACallDroppedBeforeThePoolGotToItStillOwnsItsFile) {
  std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  const size_t with_file_open = OpenFds();
  const auto test = [&]() -> Task<void> {
    const auto gate = std::make_shared<std::latch>(1);
    Scope scope(loop_);
    scope.Spawn(HoldPool(loop_, gate));
    co_await loop_.Yield();
    co_await BeginAndDrop(loop_, file->Append("dropped"));
    file.reset();
    EXPECT_EQ(OpenFds(), with_file_open) << "the job waits for the pool and holds the file";
    gate->count_down();
    co_await scope.Join();
    co_await loop_.Offload([] {});  // the pool has one thread: the job is over, and its end was seen before this one's
    EXPECT_EQ(OpenFds(), with_file_open - 1);
  };
  Run(test());
  EXPECT_EQ(Read("log"), "dropped");
}

TEST_F(RealFilesTest, ACallDroppedInsideTheSystemKeepsItsFileOpenUntilItReturns) {
  std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  const size_t with_file_open = OpenFds();
  std::latch entered(1);
  std::latch gate(1);
  size_t open_during_sync = 0;
  const Hooked hooked(on_fdatasync, [&](size_t&) -> std::optional<int> {
    entered.count_down();
    gate.wait();
    open_during_sync = OpenFds();
    return std::nullopt;
  });
  const auto test = [&]() -> Task<void> {
    co_await BeginAndDrop(loop_, file->Sync());
    entered.wait();
    file.reset();
    EXPECT_EQ(OpenFds(), with_file_open);
    gate.count_down();
    co_await loop_.Offload([] {});
    EXPECT_EQ(OpenFds(), with_file_open - 1);
  };
  Run(test());
  EXPECT_EQ(open_during_sync, with_file_open);
}

TEST_F(RealFilesTest, ADroppedOpenClosesWhatItOpened) {
  const size_t before = OpenFds();
  const auto test = [&]() -> Task<void> {
    co_await BeginAndDrop(loop_, files_->Open("created", OpenMode::kCreate));
    co_await loop_.Offload([] {});
    EXPECT_EQ(OpenFds(), before);
    co_await BeginAndDrop(loop_, files_->Open("created", OpenMode::kRead));
    co_await BeginAndDrop(loop_, files_->List("."));
    co_await BeginAndDrop(loop_, files_->SyncDirectory("."));
    co_await loop_.Offload([] {});
    EXPECT_EQ(OpenFds(), before);
  };
  Run(test());
  EXPECT_EQ(Read("created"), "") << "what was begun happens";
}

TEST_F(RealFilesTest, NothingLeaksWhenTheLoopEndsWithCallsUnderWay) {
  const size_t before = OpenFds();
  {
    RealLoop loop(1);
    const std::unique_ptr<Files> files = MakeRealFiles(loop, directory_.path());
    std::unique_ptr<File> file = loop.Run(files->Open("log", OpenMode::kCreate)).value();
    loop.Run(BeginAndDrop(loop, file->Append("late")));
    loop.Run(BeginAndDrop(loop, files->Open("other", OpenMode::kCreate)));
  }
  EXPECT_EQ(OpenFds(), before);
  EXPECT_EQ(Read("log"), "late");
}

TEST_F(RealFilesTest, AFileMayOutliveItsFiles) {
  std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  files_.reset();
  EXPECT_TRUE(Run(file->Append("1")).ok());
  EXPECT_EQ(Run(file->ReadAt(0, 9)).value(), "1");
}

class ManyThreadsTest : public RealFilesTest {
 protected:
  ManyThreadsTest() : RealFilesTest(/*threads=*/3) {}

  // Time for a pool thread to do wrong what it should not do: it comes to nothing when all is right.
  Task<void> GiveThePoolTime() {
    for (int i = 0; i < 200; ++i) co_await loop_.Offload([] {});
  }
};

TEST_F(ManyThreadsTest, WhatADroppedCallDoesComesBeforeWhatLaterCallsDo) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  std::latch entered(1);
  std::latch gate(1);
  std::atomic<int> writes = 0;
  const Hooked hooked(on_write, [&](size_t&) -> std::optional<int> {
    if (writes.fetch_add(1) == 0) {
      entered.count_down();
      gate.wait();
    }
    return std::nullopt;
  });
  const auto test = [&]() -> Task<void> {
    co_await BeginAndDrop(loop_, file->Append("1"));
    entered.wait();
    Scope scope(loop_);
    scope.Spawn(Discard(file->Append("2")));
    co_await GiveThePoolTime();
    EXPECT_EQ(writes, 1);
    gate.count_down();
    co_await scope.Join();
  };
  Run(test());
  EXPECT_EQ(Read("log"), "12");
}

TEST_F(ManyThreadsTest, AnAtomicWriteAfterADroppedOneWins) {
  struct Shared {  // with a call that may outlast this test by a moment
    std::latch entered{1};
    std::latch gate{1};
    std::atomic<int> syncs = 0;
  };
  const auto shared = std::make_shared<Shared>();
  const Hooked hooked(on_fdatasync, [shared](size_t&) -> std::optional<int> {
    if (shared->syncs.fetch_add(1) == 0) {
      shared->entered.count_down();
      shared->gate.wait();
    }
    return std::nullopt;
  });
  const auto test = [&]() -> Task<void> {
    Scope scope(loop_);
    scope.Spawn(Discard(files_->WriteAtomically("state", "first")));
    while (!shared->entered.try_wait()) co_await loop_.Offload([] {});
    scope.CancelAll();
    EXPECT_TRUE((co_await files_->WriteAtomically("state", "second")).ok());
    shared->gate.count_down();
    co_await GiveThePoolTime();
    EXPECT_EQ((co_await files_->ReadAll("state")).value(), "second");
  };
  Run(test());
  EXPECT_EQ(Run(files_->List(".")).value(), (std::vector<FileEntry>{{"state", false}}));
}

TEST_F(ManyThreadsTest, ManyFibersWorkBesideEachOther) {
  const auto work = [](Files& files, int number) -> Task<void> {
    const std::string path = StrCat("d/", number);
    EXPECT_TRUE((co_await files.MakeDirectory("d")).ok());
    Result<std::unique_ptr<File>> file = co_await files.Open(path, OpenMode::kCreate);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE((co_await (*file)->Append(StrCat(number))).ok());
    EXPECT_TRUE((co_await (*file)->Sync()).ok());
    EXPECT_TRUE((co_await files.Rename(path, StrCat(path, "-done"))).ok());
    EXPECT_TRUE((co_await files.WriteAtomically("shared", path)).ok());
  };
  const auto test = [&]() -> Task<void> {
    Scope scope(loop_);
    for (int i = 0; i < 12; ++i) scope.Spawn(work(*files_, i));
    co_await scope.Join();
  };
  Run(test());
  for (int i = 0; i < 12; ++i) {
    std::string expected;
    for (int k = 0; k < 5; ++k) StrAppend(expected, i);
    EXPECT_EQ(Read(StrCat("d/", i, "-done")), expected);
  }
  EXPECT_TRUE(Read("shared").starts_with("d/"));
}

}  // namespace
}  // namespace baton::rt
