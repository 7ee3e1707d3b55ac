// What every Files promises, checked on the disk and on the simulation, and that the two answer alike.
#include "rt/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/files_internal.h"
#include "rt/files_testing.h"
#include "rt/random.h"
#include "rt/when.h"

namespace baton::rt {
namespace {

using files_internal::SystemError;

// "ok" or the error's kind: what a table can say about any result.
template <class T>
std::string Outcome(const Result<T>& result) {
  return result.ok() ? "ok" : std::string(ErrorKindName(result.error().kind()));
}

enum class WorldKind { kReal, kSimulated };

class FilesTest : public testing::TestWithParam<WorldKind> {
 protected:
  FilesTest() {
    if (GetParam() == WorldKind::kReal) {
      world_ = std::make_unique<RealFilesWorld>();
    } else {
      world_ = std::make_unique<SimulatedFilesWorld>(/*seed=*/7);
    }
  }
  Files& files() { return world_->files(); }
  Loop& loop() { return world_->loop(); }
  template <class T>
  T Run(Task<T> task) {
    return loop().Run(std::move(task));
  }
  std::unique_ptr<File> MustOpen(std::string path, OpenMode mode) {
    return Run(files().Open(std::move(path), mode)).value();
  }
  void Write(const std::string& path, std::string bytes) {
    Run(MustOpen(path, OpenMode::kCreate)->Append(std::move(bytes))).value();
  }
  std::string Read(const std::string& path) { return Run(files().ReadAll(path)).value(); }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    for (const FileEntry& entry : Run(files().List(path)).value()) {
      names.push_back(entry.is_directory ? StrCat(entry.name, "/") : entry.name);
    }
    return names;
  }

 private:
  std::unique_ptr<FilesWorld> world_;
};

using Strings = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(Both, FilesTest, testing::Values(WorldKind::kReal, WorldKind::kSimulated),
                         [](const auto& test) { return test.param == WorldKind::kReal ? "Real" : "Simulated"; });

TEST_P(FilesTest, ReadsBackWhatWasAppended) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  EXPECT_EQ(Run(file->Size()).value(), 0u);
  Run(file->Append("hello ")).value();
  Run(file->Append("")).value();
  Run(file->Append(std::string("w\0rld\xff", 6))).value();
  Run(file->Sync()).value();
  EXPECT_EQ(Run(file->Size()).value(), 12u);
  EXPECT_EQ(Read("log"), std::string("hello w\0rld\xff", 12));
}

TEST_P(FilesTest, ReadAtGivesFewerBytesOnlyAtTheEnd) {
  Write("digits", "0123456789");
  const std::unique_ptr<File> file = MustOpen("digits", OpenMode::kRead);
  const std::vector<std::tuple<uint64_t, size_t, std::string>> rows = {
      {0, 10, "0123456789"},
      {0, 3, "012"},
      {4, 3, "456"},
      {8, 5, "89"},
      {9, 1, "9"},
      {10, 1, ""},
      {11, 5, ""},
      {0, 0, ""},
      {3, 0, ""},
      {7, SIZE_MAX, "789"},
      {1u << 31, 4, ""},
      {INT64_MAX, 4, ""},
      {UINT64_MAX, 1, ""},
      {UINT64_MAX, SIZE_MAX, ""},
  };
  for (const auto& [offset, length, expected] : rows) {
    EXPECT_EQ(Run(file->ReadAt(offset, length)).value(), expected) << offset << "+" << length;
  }
}

TEST_P(FilesTest, KeepsAFileOfManyMegabytes) {
  std::string bytes((size_t{5} << 20) / 2 + 13, '\0');
  SeededRandom random(1);
  random.Fill(std::as_writable_bytes(std::span(bytes)));
  Write("big", bytes);
  EXPECT_TRUE(Read("big") == bytes);
  const std::unique_ptr<File> file = MustOpen("big", OpenMode::kRead);
  EXPECT_TRUE(Run(file->ReadAt(1'000'000, 1'500'000)).value() == bytes.substr(1'000'000, 1'500'000));
}

TEST_P(FilesTest, OpenModesDifferInWhatMustExist) {
  struct Row {
    OpenMode mode;
    std::string file, nothing, directory, below_nothing, below_file;
  };
  const std::vector<Row> rows = {
      {OpenMode::kRead, "ok", "not_found", "invalid", "not_found", "not_found"},
      {OpenMode::kAppend, "ok", "not_found", "invalid", "not_found", "not_found"},
      {OpenMode::kCreate, "already_exists", "ok", "already_exists", "not_found", "not_found"},
      {OpenMode::kOpenOrCreate, "ok", "ok", "invalid", "not_found", "not_found"},
  };
  Write("file", "x");
  Run(files().MakeDirectory("directory")).value();
  for (const Row& row : rows) {
    const int mode = static_cast<int>(row.mode);
    EXPECT_EQ(Outcome(Run(files().Open("file", row.mode))), row.file) << mode;
    EXPECT_EQ(Outcome(Run(files().Open("nothing", row.mode))), row.nothing) << mode;
    EXPECT_EQ(Outcome(Run(files().Open("directory", row.mode))), row.directory) << mode;
    EXPECT_EQ(Outcome(Run(files().Open("nowhere/file", row.mode))), row.below_nothing) << mode;
    EXPECT_EQ(Outcome(Run(files().Open("file/file", row.mode))), row.below_file) << mode;
    static_cast<void>(Run(files().Remove("nothing")));
  }
  EXPECT_EQ(Read("file"), "x");
}

TEST_P(FilesTest, ErrorsNameThePathAndTheReason) {
  const Error error = Run(files().Open("wal/7", OpenMode::kRead)).error();
  EXPECT_NE(error.message().find("cannot open '"), std::string::npos) << error.ToString();
  EXPECT_NE(error.message().find("wal/7'"), std::string::npos) << error.ToString();
  EXPECT_NE(error.message().find("No such file or directory"), std::string::npos) << error.ToString();
}

TEST_P(FilesTest, RefusesPathsThatLeaveTheRootOrAreNotPlain) {
  const Strings paths = {"",
                         "/",
                         "/etc/passwd",
                         "..",
                         "../x",
                         "a/../b",
                         "a/..",
                         "./a",
                         "a/./b",
                         "a//b",
                         "a/",
                         "a/./",
                         "//",
                         std::string("a\0b", 3),
                         std::string(Files::kMaxNameBytes + 1, 'n'),
                         StrCat("d/", std::string(Files::kMaxNameBytes + 1, 'n'), "/e"),
                         std::string(Files::kMaxPathBytes + 1, 'p')};
  Write("fine", "x");
  for (const std::string& path : paths) {
    EXPECT_EQ(Outcome(Run(files().Open(path, OpenMode::kOpenOrCreate))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().MakeDirectory(path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().List(path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().Rename(path, "to"))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().Rename("fine", path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().Remove(path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().SyncDirectory(path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().ReadAll(path))), "invalid") << path;
    EXPECT_EQ(Outcome(Run(files().WriteAtomically(path, "x"))), "invalid") << path;
  }
  EXPECT_EQ(Names("."), Strings{"fine"});
}

TEST_P(FilesTest, TheRootIsADirectoryAndNothingElse) {
  Run(files().MakeDirectory(".")).value();
  Run(files().SyncDirectory(".")).value();
  EXPECT_EQ(Names("."), Strings{});
  EXPECT_EQ(Outcome(Run(files().Open(".", OpenMode::kRead))), "invalid");
  EXPECT_EQ(Outcome(Run(files().Remove("."))), "invalid");
  EXPECT_EQ(Outcome(Run(files().Rename(".", "x"))), "invalid");
}

TEST_P(FilesTest, TakesAnyNameThatTheSystemTakes) {
  Strings names = {" ",           "...",
                   "..data",      "-rf",
                   "a\nb",        "\x01\xff\xfe",
                   "caf\xc3\xa9", "tab\t",
                   "'quoted'",    std::string(Files::kMaxNameBytes, 'n')};
  for (const std::string& name : names) Write(name, name);
  for (const std::string& name : names) EXPECT_EQ(Read(name), name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(Names("."), names);
}

TEST_P(FilesTest, TakesPathsUpToTheLimit) {
  std::string path(Files::kMaxNameBytes, 'd');
  while (path.size() + 1 + Files::kMaxNameBytes < Files::kMaxPathBytes) {
    path += StrCat("/", std::string(Files::kMaxNameBytes, 'd'));
  }
  Run(files().MakeDirectory(path)).value();
  path += StrCat("/", std::string(Files::kMaxPathBytes - path.size() - 1, 'f'));
  ASSERT_EQ(path.size(), Files::kMaxPathBytes);
  Write(path, "deep");
  EXPECT_EQ(Read(path), "deep");
}

TEST_P(FilesTest, TruncateCutsAndTheNextAppendGoesToTheNewEnd) {
  const std::unique_ptr<File> file = MustOpen("log", OpenMode::kCreate);
  Run(file->Append("0123456789")).value();
  Run(file->Truncate(4)).value();
  EXPECT_EQ(Run(file->Size()).value(), 4u);
  Run(file->Append("x")).value();
  EXPECT_EQ(Read("log"), "0123x");
  Run(file->Truncate(5)).value();
  EXPECT_EQ(Outcome(Run(file->Truncate(6))), "invalid");
  EXPECT_EQ(Outcome(Run(file->Truncate(UINT64_MAX))), "invalid");
  EXPECT_EQ(Read("log"), "0123x");
  Run(file->Truncate(0)).value();
  EXPECT_EQ(Read("log"), "");
}

TEST_P(FilesTest, AppendingHandlesOfOneFileSeeEachOthersEnd) {
  const std::unique_ptr<File> first = MustOpen("log", OpenMode::kCreate);
  const std::unique_ptr<File> second = MustOpen("log", OpenMode::kAppend);
  Run(first->Append("1")).value();
  Run(second->Append("2")).value();
  Run(first->Append("3")).value();
  EXPECT_EQ(Run(second->ReadAt(0, 9)).value(), "123");
}

TEST_P(FilesTest, AFileOpenedForReadingIsNotWritten) {
  Write("file", "x");
  const std::unique_ptr<File> file = MustOpen("file", OpenMode::kRead);
  EXPECT_EQ(Outcome(Run(file->Append("y"))), "invalid");
  EXPECT_EQ(Outcome(Run(file->Truncate(0))), "invalid");
  EXPECT_EQ(Outcome(Run(file->Sync())), "ok");
  EXPECT_EQ(Read("file"), "x");
}

TEST_P(FilesTest, AnOpenFileOutlivesItsName) {
  const std::unique_ptr<File> file = MustOpen("old", OpenMode::kCreate);
  Run(files().Rename("old", "new")).value();
  Run(file->Append("1")).value();
  EXPECT_EQ(Read("new"), "1");
  Run(files().Remove("new")).value();
  Run(files().SyncDirectory(".")).value();
  Run(file->Append("2")).value();
  Run(file->Sync()).value();
  EXPECT_EQ(Run(file->ReadAt(0, 9)).value(), "12");
  EXPECT_EQ(Names("."), Strings{});
}

TEST_P(FilesTest, MakeDirectoryMakesParentsAndIsContentWhenItIsThere) {
  Write("file", "x");
  EXPECT_EQ(Outcome(Run(files().MakeDirectory("a/b/c"))), "ok");
  EXPECT_EQ(Outcome(Run(files().MakeDirectory("a/b/c"))), "ok");
  EXPECT_EQ(Outcome(Run(files().MakeDirectory("a"))), "ok");
  EXPECT_EQ(Outcome(Run(files().MakeDirectory("file"))), "already_exists");
  EXPECT_EQ(Outcome(Run(files().MakeDirectory("file/b"))), "not_found");
  EXPECT_EQ(Names("."), (Strings{"a/", "file"}));
  EXPECT_EQ(Names("a"), Strings{"b/"});
  EXPECT_EQ(Names("a/b/c"), Strings{});
}

TEST_P(FilesTest, ListIsSortedByName) {
  for (const char* name : {"b", "a", "B", "10", "9", "a.b", "a-b"}) Write(name, "");
  Run(files().MakeDirectory("aa")).value();
  EXPECT_EQ(Names("."), (Strings{"10", "9", "B", "a", "a-b", "a.b", "aa/", "b"}));
  EXPECT_EQ(Outcome(Run(files().List("nothing"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().List("a"))), "not_found");
}

TEST_P(FilesTest, RenameReplacesAFileAndNothingThatHoldsAnything) {
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"file", "new", "ok"},
      {"file", "other", "ok"},
      {"file", "file", "ok"},
      {"file", "full/new", "ok"},
      {"file", "full/inner", "ok"},
      {"full/inner", "new", "ok"},
      {"nothing", "new", "not_found"},
      {"nothing", "nothing", "not_found"},
      {"nothing/x", "new", "not_found"},
      {"file", "nowhere/new", "not_found"},
      {"file", "other/new", "not_found"},
      {"file", "file/new", "not_found"},
      {"file", "empty", "invalid"},
      {"file", "full", "invalid"},
      {"full/inner", "full", "conflict"},
      {"full", "new", "ok"},
      {"full", "full", "ok"},
      {"full", "empty", "ok"},
      {"empty", "full", "conflict"},
      {"full", "file", "not_found"},
      {"full", "full/new", "invalid"},
      {"empty", "full/new", "ok"},
  };
  for (const auto& [from, to, expected] : rows) {
    Write("file", "file");
    Write("other", "other");
    Run(files().MakeDirectory("empty")).value();
    Run(files().MakeDirectory("full")).value();
    Write("full/inner", "inner");
    const Result<void> renamed = Run(files().Rename(from, to));
    EXPECT_EQ(Outcome(renamed), expected) << from << " -> " << to;
    if (renamed.ok() && from != to) {
      EXPECT_NE(Outcome(Run(files().Rename(from, to))), "ok") << from << " is still there";
      if (from == "file") {
        EXPECT_EQ(Read(to), "file");
      }
      if (from == "full") {
        EXPECT_EQ(Read(StrCat(to, "/inner")), "inner");
      }
    } else {
      EXPECT_EQ(Read("full/inner"), "inner");
    }
    for (const char* path :
         {"file", "other", "new/inner", "new", "empty/inner", "empty", "full/inner", "full/new", "full", "new"}) {
      static_cast<void>(Run(files().Remove(path)));
    }
    ASSERT_EQ(Names("."), Strings{}) << from << " -> " << to;
  }
}

TEST_P(FilesTest, RemoveTakesFilesAndEmptyDirectories) {
  Write("file", "x");
  Run(files().MakeDirectory("full/empty")).value();
  EXPECT_EQ(Outcome(Run(files().Remove("nothing"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().Remove("file/x"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().Remove("full"))), "conflict");
  EXPECT_EQ(Outcome(Run(files().Remove("full/empty"))), "ok");
  EXPECT_EQ(Outcome(Run(files().Remove("full"))), "ok");
  EXPECT_EQ(Outcome(Run(files().Remove("file"))), "ok");
  EXPECT_EQ(Outcome(Run(files().Remove("file"))), "not_found");
  EXPECT_EQ(Names("."), Strings{});
}

TEST_P(FilesTest, SyncDirectoryWantsADirectory) {
  Run(files().MakeDirectory("a/b")).value();
  Write("file", "x");
  EXPECT_EQ(Outcome(Run(files().SyncDirectory("a/b"))), "ok");
  EXPECT_EQ(Outcome(Run(files().SyncDirectory("a/c"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().SyncDirectory("file"))), "not_found");
}

TEST_P(FilesTest, WriteAtomicallyCreatesAndReplacesAndLeavesNothingElse) {
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("state", "one"))), "ok");
  EXPECT_EQ(Read("state"), "one");
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("state", ""))), "ok");
  EXPECT_EQ(Read("state"), "");
  Run(files().MakeDirectory("d/e")).value();
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("d/e/state", "two"))), "ok");
  EXPECT_EQ(Read("d/e/state"), "two");
  EXPECT_EQ(Names("."), (Strings{"d/", "state"}));
  EXPECT_EQ(Names("d/e"), Strings{"state"});
}

TEST_P(FilesTest, WriteAtomicallyFailsWithoutATrace) {
  Write("file", "x");
  Run(files().MakeDirectory("directory")).value();
  const std::string too_long_with_suffix(Files::kMaxNameBytes - 2, 'n');
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("nowhere/state", "new"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("file/state", "new"))), "not_found");
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("directory", "new"))), "invalid");
  EXPECT_EQ(Outcome(Run(files().WriteAtomically(too_long_with_suffix, "new"))), "invalid");
  EXPECT_EQ(Names("."), (Strings{"directory/", "file"}));
}

TEST_P(FilesTest, WriteAtomicallyReplacesATemporaryThatACrashLeft) {
  Write("state.tmp-0", "half of a much longer text");
  const std::unique_ptr<File> zombie = MustOpen("state.tmp-0", OpenMode::kAppend);
  EXPECT_EQ(Outcome(Run(files().WriteAtomically("state", "new"))), "ok");
  Run(zombie->Append("!")).value();  // a call that was dropped may still write into the old temporary
  EXPECT_EQ(Read("state"), "new");
  EXPECT_EQ(Names("."), Strings{"state"});
}

TEST_P(FilesTest, OverlappingAtomicWritesLeaveOneOfThemWhole) {
  std::vector<Task<Result<void>>> writes;
  Strings candidates;
  for (int i = 0; i < 8; ++i) {
    candidates.push_back(std::string(10'000 + static_cast<size_t>(i), static_cast<char>('a' + i)));
    writes.push_back(files().WriteAtomically("state", candidates.back()));
  }
  for (const Result<void>& written : Run(WhenAll(std::move(writes)))) EXPECT_EQ(Outcome(written), "ok");
  EXPECT_TRUE(std::find(candidates.begin(), candidates.end(), Read("state")) != candidates.end());
  EXPECT_EQ(Names("."), Strings{"state"});
}

TEST(FileNamesTest, TemporariesAreKnownByTheirName) {
  for (const char* name : {"state.tmp-0", "d/state.tmp-17", "a.tmp-1.tmp-0"})
    EXPECT_TRUE(Files::IsTemporary(name)) << name;
  for (const char* name : {"state", "state.tmp", "state.tmp-", "state.tmp-x", ".tmp-0", "d/.tmp-0", "a.tmp-0/b", ""}) {
    EXPECT_FALSE(Files::IsTemporary(name)) << name;
  }
}

TEST(FileErrorsTest, EverySystemErrorHasItsKind) {
  const std::vector<std::tuple<int, std::string, std::string>> rows = {
      {ENOENT, "not_found", "No such file or directory"},
      {ENOTDIR, "not_found", "Not a directory"},
      {EEXIST, "already_exists", "File exists"},
      {ENOTEMPTY, "conflict", "Directory not empty"},
      {ENOSPC, "no_space", "No space left on device"},
      {EDQUOT, "no_space", "Disk quota exceeded"},
      {EFBIG, "no_space", "File too large"},
      {EACCES, "forbidden", "Permission denied"},
      {EPERM, "forbidden", "Operation not permitted"},
      {EROFS, "forbidden", "Read-only file system"},
      {EISDIR, "invalid", "Is a directory"},
      {ENAMETOOLONG, "invalid", "File name too long"},
      {ELOOP, "invalid", "Too many levels of symbolic links"},
      {EIO, "unavailable", "Input/output error"},
      {EMFILE, "unavailable", "Too many open files"},
      {ESTALE, "unavailable", "Stale file handle"},
      {99'999, "unavailable", "system error 99999"},
  };
  for (const auto& [code, kind, text] : rows) {
    const Error error = SystemError("sync", "wal/1", code);
    EXPECT_EQ(error.ToString(), StrCat(kind, ": cannot sync 'wal/1': ", text));
  }
}

}  // namespace
}  // namespace baton::rt
