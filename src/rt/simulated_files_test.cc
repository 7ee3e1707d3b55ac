// Crashes, faults, full disks and dropped calls of the simulation.
#include "rt/simulated_files.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/files_testing.h"
#include "rt/scope.h"

namespace baton::rt {
namespace {

constexpr uint64_t kSeeds = 100;

using Content = std::map<std::string, std::string>;

const Error kIoError = UnavailableError("Input/output error");

// ---- crashes ----

TEST(SimulatedFilesTest, AKilledProcessLosesNothing) {
  Machine machine(1);
  machine.Must(machine.files().MakeDirectory("d"));
  machine.Append("d/log", "unsynced");
  machine.files().Crash();
  EXPECT_EQ(machine.files().Snapshot(), (Content{{"d/log", "unsynced"}}));
  EXPECT_EQ(machine.Must(machine.files().ReadAll("d/log")), "unsynced");
}

TEST(SimulatedFilesTest, WhatAKilledProcessDidNotSyncIsStillNotDurable) {
  bool lost = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed);
    machine.Append("log", "unsynced");
    machine.files().Crash();
    lost = lost || machine.AfterPowerCut().empty();
  }
  EXPECT_TRUE(lost);
}

TEST(SimulatedFilesTest, HandlesFromBeforeACrashSayThatItIsGone) {
  for (const bool power_cut : {false, true}) {
    Machine machine(1);
    machine.WriteDurably("log", "x");
    std::unique_ptr<File> file = machine.Open("log");
    if (power_cut) {
      machine.files().PowerCut(machine.loop().random());
    } else {
      machine.files().Crash();
    }
    EXPECT_EQ(machine.Run(file->ReadAt(0, 1)).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ(machine.Run(file->Append("y")).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ(machine.Run(file->Truncate(0)).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ(machine.Run(file->Size()).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ(machine.Run(file->Sync()).error().message(), "cannot sync 'log': the file system went away");
    EXPECT_EQ(machine.files().Snapshot(), (Content{{"log", "x"}}));

    const std::unique_ptr<File> again = machine.Open("log");
    file.reset();  // must not close the new one
    machine.Must(machine.files().Remove("log"));
    machine.Must(machine.files().SyncDirectory("."));
    machine.Must(again->Append("y"));
    EXPECT_EQ(machine.Must(again->ReadAt(0, 9)), "xy");
  }
}

const SimulatedFiles::Options kSlow = {.min_latency = milliseconds(10), .max_latency = milliseconds(20)};

TEST(SimulatedFilesTest, ACallUnderWayInACrashIsUnavailableAndMayHaveHappened) {
  std::set<std::string> contents;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, kSlow);
    const std::unique_ptr<File> file = machine.Open("log");
    const auto append = [&]() -> Task<void> {
      EXPECT_EQ((co_await file->Append("x")).error().kind(), ErrorKind::kUnavailable);
    };
    const auto test = [&]() -> Task<void> {
      Scope scope(machine.loop());
      scope.Spawn(append());
      co_await machine.loop().Sleep(milliseconds(5));
      machine.files().Crash();
      co_await scope.Join();
    };
    machine.Run(test());
    contents.insert(machine.files().Snapshot().at("log"));
  }
  EXPECT_EQ(contents, (std::set<std::string>{"", "x"}));
}

// ---- turns ----

TEST(SimulatedFilesTest, CallsTakeAsLongAsTheOptionsSay) {
  std::set<Duration> taken;
  Machine machine(1, kSlow);
  for (int i = 0; i < 50; ++i) {
    const MonotonicTime before = machine.loop().Now();
    machine.Must(machine.files().MakeDirectory("d"));
    taken.insert(machine.loop().Now() - before);
  }
  EXPECT_GE(*taken.begin(), kSlow.min_latency);
  EXPECT_LE(*taken.rbegin(), kSlow.max_latency);
  EXPECT_GT(taken.size(), 40u);
}

TEST(SimulatedFilesTest, WithoutLatencyACallTakesATurnAndNoTime) {
  Machine machine(1);
  const uint64_t steps = machine.loop().steps();
  machine.Must(machine.files().MakeDirectory("d"));
  EXPECT_EQ(machine.loop().steps() - steps, 2u);
  EXPECT_EQ(machine.loop().Now(), MonotonicTime());
}

TEST(SimulatedFilesTest, ADroppedCallMayHaveHappened) {
  std::set<Content> contents;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, kSlow);
    const auto open = [&]() -> Task<void> {
      static_cast<void>(co_await machine.files().Open("log", OpenMode::kCreate));
    };
    const auto test = [&]() -> Task<void> {
      Scope scope(machine.loop());
      scope.Spawn(open());
      co_await machine.loop().Sleep(milliseconds(5));
    };
    machine.Run(test());
    contents.insert(machine.files().Snapshot());
  }
  EXPECT_EQ(contents, (std::set<Content>{{}, {{"log", ""}}}));
}

TEST(SimulatedFilesTest, FilesAndHandleMayGoWhileACallWaits) {
  VirtualLoop loop(1);
  auto files = std::make_unique<SimulatedFiles>(loop, kSlow);
  std::unique_ptr<File> file = loop.Run(files->Open("log", OpenMode::kCreate)).value();
  Task<Result<void>> append = file->Append("x");
  Task<Result<void>> remove = files->Remove("log");
  file.reset();
  files.reset();
  EXPECT_TRUE(loop.Run(std::move(remove)).ok());
  EXPECT_TRUE(loop.Run(std::move(append)).ok());
}

// ---- faults ----

TEST(SimulatedFilesTest, EveryOperationCanFailOnce) {
  Machine machine(1);
  machine.Append("log", "abc");
  SimulatedFiles& files = machine.files();
  const auto check = [&](std::string_view operation, auto call) {
    files.FailNext(operation, kIoError);
    EXPECT_EQ(call().error(), kIoError) << operation;
    if (operation != "sync") {  // a file is not trusted again after that
      EXPECT_TRUE(call().ok()) << operation;
    }
  };
  check("open", [&] { return machine.Run(files.Open("log", OpenMode::kRead)); });
  check("make_directory", [&] { return machine.Run(files.MakeDirectory("d")); });
  check("list", [&] { return machine.Run(files.List(".")); });
  check("rename", [&] { return machine.Run(files.Rename("log", "log2")); });
  check("remove", [&] { return machine.Run(files.Remove("d")); });
  check("sync_directory", [&] { return machine.Run(files.SyncDirectory(".")); });
  const std::unique_ptr<File> file = machine.Open("log2");
  check("read", [&] { return machine.Run(file->ReadAt(0, 1)); });
  check("truncate", [&] { return machine.Run(file->Truncate(1)); });
  check("size", [&] { return machine.Run(file->Size()); });
  check("append", [&] { return machine.Run(file->Append("x")); });
  check("sync", [&] { return machine.Run(file->Sync()); });
}

TEST(SimulatedFilesTest, PlannedFailuresComeInTheirOrder) {
  Machine machine(1);
  machine.files().FailNext("list", InternalError("1"));
  machine.files().FailNext("list", InternalError("2"));
  EXPECT_EQ(machine.Run(machine.files().List(".")).error().message(), "1");
  EXPECT_TRUE(machine.Run(machine.files().SyncDirectory(".")).ok());
  EXPECT_EQ(machine.Run(machine.files().List(".")).error().message(), "2");
  EXPECT_TRUE(machine.Run(machine.files().List(".")).ok());
}

TEST(SimulatedFilesTest, TheHookSeesEveryOperationWithItsPath) {
  Machine machine(1);
  std::vector<std::string> seen;
  machine.files().set_fault([&](std::string_view operation, std::string_view path) -> std::optional<Error> {
    seen.push_back(StrCat(operation, " ", path));
    return std::nullopt;
  });
  machine.Must(machine.files().WriteAtomically("state", "x"));
  machine.Must(machine.files().ReadAll("state"));
  EXPECT_EQ(seen, (std::vector<std::string>{"open state.tmp-0", "append state.tmp-0", "sync state.tmp-0",
                                            "rename state.tmp-0", "sync_directory .", "open state", "size state",
                                            "read state"}));
}

TEST(SimulatedFilesTest, AFailedAppendMayLeaveAPart) {
  std::set<std::string> contents;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed);
    machine.Append("log", "a");
    machine.files().FailNext("append", kIoError);
    EXPECT_FALSE(machine.Run(machine.Open("log")->Append("bc")).ok());
    contents.insert(machine.files().Snapshot().at("log"));
  }
  EXPECT_EQ(contents, (std::set<std::string>{"a", "ab", "abc"}));
}

TEST(SimulatedFilesTest, AfterAFailedSyncTheFileIsNotTrustedAgain) {
  Machine machine(1);
  const std::unique_ptr<File> file = machine.Open("log");
  machine.Must(file->Append("1"));
  machine.files().FailNext("sync", kIoError);
  EXPECT_EQ(machine.Run(file->Sync()).error(), kIoError);
  EXPECT_EQ(machine.Run(file->Sync()).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(machine.Run(file->Append("2")).error().message(),
            "cannot append to 'log' after a failed sync, open it again: Input/output error");
  EXPECT_EQ(machine.Run(file->Truncate(0)).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(machine.Must(file->ReadAt(0, 9)), "1");
}

// The system marks the bytes as written when it reports the error, so syncing again reports success and loses them.
TEST(SimulatedFilesTest, SyncingAgainAfterAFailedSyncIsCaught) {
  const auto fail_sync = [](Machine& machine) {
    machine.WriteDurably("log", "a");
    const std::unique_ptr<File> file = machine.Open("log");
    machine.Must(file->Append("b"));
    machine.files().FailNext("sync", kIoError);
    EXPECT_FALSE(machine.Run(file->Sync()).ok());
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine careless(seed);
    fail_sync(careless);
    const std::unique_ptr<File> same_bytes = careless.Open("log");
    careless.Must(same_bytes->Append("c"));
    careless.Must(same_bytes->Sync());
    EXPECT_EQ(careless.Must(same_bytes->ReadAt(0, 9)), "abc");
    EXPECT_EQ(careless.AfterPowerCut().at("log"), std::string("a\0c", 3));

    Machine careful(seed);
    fail_sync(careful);
    const std::unique_ptr<File> again = careful.Open("log");
    careful.Must(again->Truncate(1));
    careful.Must(again->Append("bc"));
    careful.Must(again->Sync());
    EXPECT_EQ(careful.AfterPowerCut().at("log"), "abc");
  }
}

TEST(SimulatedFilesTest, AHookMayCrashTheProcessInTheMiddleOfACall) {
  Machine machine(1);
  machine.files().set_fault([&](std::string_view operation, std::string_view) -> std::optional<Error> {
    if (operation == "rename") machine.files().Crash();
    return std::nullopt;
  });
  EXPECT_EQ(machine.Run(machine.files().WriteAtomically("state", "x")).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(machine.files().Snapshot().count("state"), 0u);
}

// ---- full disk ----

TEST(SimulatedFilesTest, AFullDiskTakesWhatFits) {
  Machine machine(1);
  machine.files().set_quota(10);
  machine.Append("a", "123456");
  const std::unique_ptr<File> file = machine.Open("b");
  const Error error = machine.Run(file->Append("123456")).error();
  EXPECT_EQ(error.ToString(), "no_space: cannot append to 'b': No space left on device");
  EXPECT_EQ(machine.files().Snapshot(), (Content{{"a", "123456"}, {"b", "1234"}}));
  EXPECT_EQ(machine.files().used_bytes(), 10u);
  EXPECT_EQ(machine.Run(file->Append("5")).error().kind(), ErrorKind::kNoSpace);
  machine.Must(file->Truncate(0));
  machine.Must(file->Append("1234"));
  machine.files().set_quota(SimulatedDisk::kNoQuota);
  machine.Must(file->Append("56"));
}

TEST(SimulatedFilesTest, ARemovedFileGivesItsSpaceBackWhenItIsClosed) {
  Machine machine(1);
  machine.files().set_quota(10);
  std::unique_ptr<File> removed = machine.Open("a");
  machine.Must(removed->Append("1234567890"));
  machine.Must(machine.files().Remove("a"));
  const std::unique_ptr<File> file = machine.Open("b");
  EXPECT_EQ(machine.Run(file->Append("x")).error().kind(), ErrorKind::kNoSpace);
  removed.reset();
  machine.Must(file->Append("x"));
  machine.files().set_quota(0);  // below what is used
  EXPECT_EQ(machine.Run(file->Append("x")).error().kind(), ErrorKind::kNoSpace);
  EXPECT_EQ(machine.files().Snapshot(), (Content{{"b", "x"}}));
}

TEST(SimulatedFilesTest, WriteAtomicallyOnAFullDiskKeepsTheOldContentAndGivesTheSpaceBack) {
  Machine machine(1);
  machine.WriteDurably("state", "old");
  machine.files().set_quota(8);
  const Error error = machine.Run(machine.files().WriteAtomically("state", "longer")).error();
  EXPECT_EQ(error.ToString(), "no_space: writing 'state': cannot append to 'state.tmp-0': No space left on device");
  EXPECT_EQ(machine.files().Snapshot(), (Content{{"state", "old"}}));
  machine.Must(machine.files().WriteAtomically("state", "fits."));
  EXPECT_EQ(machine.files().Snapshot(), (Content{{"state", "fits."}}));
}

}  // namespace
}  // namespace baton::rt
