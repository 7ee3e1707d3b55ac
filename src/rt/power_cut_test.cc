// What a power cut takes and what it leaves on the simulated disk: all that a real one may lose must be lost for some
// seed, and nothing that a real one keeps.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "rt/files_testing.h"
#include "rt/random.h"
#include "rt/simulated_files.h"

namespace baton::rt {
namespace {

constexpr uint64_t kSeeds = 300;  // enough to see each outcome that has a fair chance

using Content = std::map<std::string, std::string>;

SimulatedFiles::Options With(PowerCutOptions power_cut) { return {.power_cut = power_cut}; }

// Everything that can be there after a power cut.
std::set<Content> Outcomes(const PowerCutOptions& power_cut, const std::function<void(Machine&)>& before) {
  std::set<Content> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, With(power_cut));
    before(machine);
    outcomes.insert(machine.AfterPowerCut());
  }
  return outcomes;
}
std::set<Content> Outcomes(const std::function<void(Machine&)>& before) {
  return Outcomes({.torn_tail = false}, before);
}

// ---- bytes ----

TEST(PowerCutTest, UnsyncedBytesAreLostFromTheEnd) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.WriteDurably("log", "ab");
              machine.Append("log", "c");
              machine.Append("log", "de");
            }),
            (std::set<Content>{{{"log", "ab"}}, {{"log", "abc"}}, {{"log", "abcd"}}, {{"log", "abcde"}}}));
}

TEST(PowerCutTest, SyncedBytesStay) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.WriteDurably("log", "ab");
              const std::unique_ptr<File> file = machine.Open("log");
              machine.Must(file->Append("cd"));
              machine.Must(file->Truncate(3));
              machine.Must(file->Append("e"));
              machine.Must(file->Sync());
            }),
            (std::set<Content>{{{"log", "abce"}}}));
}

TEST(PowerCutTest, SyncCoversWhatAnotherHandleWrote) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.WriteDurably("log", "");
              machine.Append("log", "abc");
              machine.Must(machine.Open("log", OpenMode::kRead)->Sync());
            }),
            (std::set<Content>{{{"log", "abc"}}}));
}

TEST(PowerCutTest, AnUnsyncedTruncationMayHaveHappened) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.WriteDurably("log", "abcd");
              const std::unique_ptr<File> file = machine.Open("log");
              machine.Must(file->Truncate(2));
              machine.Must(file->Append("X"));
            }),
            (std::set<Content>{{{"log", "abcd"}}, {{"log", "ab"}}, {{"log", "abX"}}}));
}

TEST(PowerCutTest, ATornTailSpoilsOnlyTheLastUnsyncedBlock) {
  constexpr size_t kBlock = 16;
  const std::string synced(10, 's');
  bool zeroes = false;
  bool garbage = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, With({.torn_tail = true, .block_bytes = kBlock}));
    machine.WriteDurably("log", synced);
    machine.Append("log", std::string(100, 'u'));
    const std::string kept = machine.AfterPowerCut().at("log");
    ASSERT_TRUE(kept.starts_with(synced)) << seed;
    const size_t bad = kept.find_first_not_of('u', synced.size());
    if (bad == std::string::npos) continue;
    EXPECT_GE(bad, (kept.size() - 1) / kBlock * kBlock) << seed;
    (kept.find_first_not_of('\0', bad) == std::string::npos ? zeroes : garbage) = true;
  }
  EXPECT_TRUE(zeroes);
  EXPECT_TRUE(garbage);
}

TEST(PowerCutTest, SpoiltBlocksNeverReachWhatWasSynced) {
  bool spoilt_where_it_was_cut = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, With({.torn_tail = true, .lost_blocks = true, .block_bytes = 4}));
    machine.WriteDurably("log", "0123456789");
    const std::unique_ptr<File> file = machine.Open("log");
    machine.Must(file->Truncate(6));
    machine.Must(file->Append("abcdef"));
    const std::string kept = machine.AfterPowerCut().at("log");
    EXPECT_TRUE(kept.starts_with("012345")) << seed;
    spoilt_where_it_was_cut = spoilt_where_it_was_cut || (kept.size() > 6 && kept[6] != '6' && kept[6] != 'a');
  }
  EXPECT_TRUE(spoilt_where_it_was_cut);
}

TEST(PowerCutTest, LostBlocksLeaveHolesInWhatWasNotSynced) {
  bool hole_before_good = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed, With({.torn_tail = false, .lost_blocks = true, .block_bytes = 8}));
    machine.WriteDurably("log", "synced");
    machine.Append("log", std::string(40, 'u'));
    const std::string kept = machine.AfterPowerCut().at("log");
    ASSERT_TRUE(kept.starts_with("synced"));
    const size_t hole = kept.find('\0');
    hole_before_good = hole_before_good || (hole != std::string::npos && kept.find('u', hole) != std::string::npos);
  }
  EXPECT_TRUE(hole_before_good);
}

// ---- entries ----

TEST(PowerCutTest, SyncOfANewFileDoesNotKeepItsEntry) {
  const auto write = [](Machine& machine) {
    const std::unique_ptr<File> file = machine.Open("new", OpenMode::kCreate);
    machine.Must(file->Append("x"));
    machine.Must(file->Sync());
  };
  EXPECT_EQ(Outcomes(write), (std::set<Content>{{}, {{"new", "x"}}}));
  EXPECT_EQ(Outcomes([&](Machine& machine) {
              write(machine);
              machine.Must(machine.files().SyncDirectory("."));
            }),
            (std::set<Content>{{{"new", "x"}}}));
}

TEST(PowerCutTest, SyncDirectoryDoesNotKeepItsFilesBytes) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.Append("new", "x");
              machine.Must(machine.files().SyncDirectory("."));
            }),
            (std::set<Content>{{{"new", ""}}, {{"new", "x"}}}));
}

TEST(PowerCutTest, SyncDirectoryKeepsItsOwnEntriesOnly) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.Must(machine.files().MakeDirectory("d"));
              machine.Must(machine.files().SyncDirectory("."));
              machine.Open("a");
              machine.Open("d/b");
              machine.Must(machine.files().SyncDirectory("d"));
            }),
            (std::set<Content>{{{"d/b", ""}}, {{"a", ""}, {"d/b", ""}}}));
}

TEST(PowerCutTest, ARenameHappensWholeOrNotAtAll) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.Must(machine.files().MakeDirectory("d"));
              machine.Must(machine.files().SyncDirectory("."));
              machine.WriteDurably("a", "A");
              machine.WriteDurably("d/b", "B");
              machine.Must(machine.files().Rename("a", "d/b"));
            }),
            (std::set<Content>{{{"a", "A"}, {"d/b", "B"}}, {{"d/b", "A"}}}));
}

TEST(PowerCutTest, ARemovalIsDurableOnceItsDirectoryWasSynced) {
  const auto remove = [](Machine& machine) {
    machine.WriteDurably("a", "A");
    machine.Must(machine.files().Remove("a"));
  };
  EXPECT_EQ(Outcomes(remove), (std::set<Content>{{}, {{"a", "A"}}}));
  EXPECT_EQ(Outcomes([&](Machine& machine) {
              remove(machine);
              machine.Must(machine.files().SyncDirectory("."));
            }),
            (std::set<Content>{{}}));
}

TEST(PowerCutTest, ANewDirectoryThatWasNotSyncedTakesItsFilesAlong) {
  EXPECT_EQ(Outcomes([](Machine& machine) {
              machine.Must(machine.files().MakeDirectory("d"));
              machine.WriteDurably("d/a", "A");  // syncs d, not the directory that d is in
            }),
            (std::set<Content>{{}, {{"d/a", "A"}}}));
}

TEST(PowerCutTest, EntriesSurviveInTheOrderTheyWereMadeUnlessAskedOtherwise) {
  const auto make = [](Machine& machine) {
    for (const char* name : {"1", "2", "3"}) machine.Open(name);
  };
  EXPECT_EQ(Outcomes(make),
            (std::set<Content>{{}, {{"1", ""}}, {{"1", ""}, {"2", ""}}, {{"1", ""}, {"2", ""}, {"3", ""}}}));
  EXPECT_EQ(Outcomes({.any_records = true}, make).size(), 8u);
}

// One random move, in a tree where each file keeps its name wherever it goes, so that none replaces another.
void MoveSomething(Machine& machine, Random& random) {
  const std::vector<std::string> directories = {"d", "d/e", "f", "f/g", "d/f", "f/d"};
  const auto directory = [&] { return directories[random.Below(directories.size())]; };
  const auto place = [&](const std::string& name) {
    return random.Chance(0.3) ? name : StrCat(directory(), "/", name);
  };
  const std::string name = StrCat(1 + random.Below(4));
  switch (random.Below(6)) {
    case 0:
      return static_cast<void>(machine.Run(machine.files().MakeDirectory(directory())));
    case 1:
      return static_cast<void>(machine.Run(machine.files().SyncDirectory(random.Chance(0.3) ? "." : directory())));
    case 2:
      return static_cast<void>(machine.Run(machine.files().Rename(directory(), directory())));
    case 3:
      return static_cast<void>(machine.Run(machine.files().Remove(directory())));
    default:
      return static_cast<void>(machine.Run(machine.files().Rename(place(name), place(name))));
  }
}

TEST(PowerCutTest, DurableFilesThatAreMovedAboutAreNeverLostNorDoubled) {
  const std::multiset<std::string> all = {"1", "2", "3", "4"};
  const auto bytes_of = [](const Content& content) {
    std::multiset<std::string> bytes;
    for (const auto& [path, text] : content) bytes.insert(text);
    return bytes;
  };
  std::set<Content> outcomes;
  for (uint64_t seed = 0; seed < 4 * kSeeds; ++seed) {
    Machine machine(seed, With({.any_records = seed % 2 == 0}));
    for (const std::string& name : all) machine.WriteDurably(name, name);
    SeededRandom random(seed);
    for (int i = 0; i < 60; ++i) MoveSomething(machine, random);
    ASSERT_EQ(bytes_of(machine.files().Snapshot()), all) << seed;
    const Content after = machine.AfterPowerCut();
    ASSERT_EQ(bytes_of(after), all) << seed;
    outcomes.insert(after);
  }
  EXPECT_GT(outcomes.size(), 100u) << "the moves do something";
}

TEST(PowerCutTest, TheDiskIsWholeAfterTheCutAndAfterTheNext) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Machine machine(seed);
    machine.Append("a", "unsynced");
    const Content first = machine.AfterPowerCut();
    EXPECT_EQ(machine.AfterPowerCut(), first) << "what survived is durable, seed " << seed;
    machine.WriteDurably("b", "B");
    EXPECT_EQ(machine.AfterPowerCut().at("b"), "B");
  }
}

TEST(PowerCutTest, EqualSeedsLeaveEqualDisks) {
  const auto play = [](uint64_t seed) {
    Machine machine(seed, With({.torn_tail = true, .lost_blocks = true, .any_records = true, .block_bytes = 8}));
    SeededRandom random(seed);
    for (const char* name : {"1", "2", "3", "4"}) machine.Append(name, std::string(100, *name));
    for (int i = 0; i < 60; ++i) MoveSomething(machine, random);
    return machine.AfterPowerCut();
  };
  std::set<Content> outcomes;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Content content = play(seed);
    EXPECT_EQ(content, play(seed)) << seed;
    outcomes.insert(content);
  }
  EXPECT_GT(outcomes.size(), 25u);
}

// ---- WriteAtomically ----

// At operation number `step` the power goes, and nothing works until the next start.
void CutPowerAt(Machine& machine, int step) {
  machine.files().set_fault(
      [&machine, step, count = std::make_shared<int>(0)](std::string_view, std::string_view) -> std::optional<Error> {
        if ((*count)++ == step) machine.files().PowerCut(machine.loop().random());
        if (*count > step) return UnavailableError("the machine is off");
        return std::nullopt;
      });
}

struct Cuts {
  std::set<std::string> contents;  // of "state", which was "old"
  std::set<int> steps;             // how many operations a write took that was not cut
};

// Cuts a write of "new" at each of its operations and after the last.
Cuts CutEverywhere(const std::function<Task<Result<void>>(Files&)>& write) {
  Cuts cuts;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    bool finished = false;
    for (int step = 0; !finished; ++step) {
      Machine machine(seed, With({.torn_tail = true, .lost_blocks = seed % 2 == 0, .any_records = seed % 4 < 2}));
      machine.WriteDurably("state", "old");
      CutPowerAt(machine, step);
      finished = machine.Run(write(machine.files())).ok();
      machine.files().set_fault(nullptr);
      if (finished) cuts.steps.insert(step);
      const Content after = finished ? machine.AfterPowerCut() : machine.files().Snapshot();
      const std::string state = after.contains("state") ? after.at("state") : "(no file)";
      cuts.contents.insert(finished && state == "old" ? "old although it was done" : state);
    }
  }
  return cuts;
}

TEST(PowerCutTest, WriteAtomicallyLeavesOldOrNewWhereverItIsCut) {
  const Cuts cuts = CutEverywhere([](Files& files) { return files.WriteAtomically("state", "new"); });
  EXPECT_EQ(cuts.contents, (std::set<std::string>{"old", "new"}));
  EXPECT_EQ(cuts.steps, std::set<int>{5}) << "open, append, sync, rename, sync_directory";
}

// WriteAtomically with a part left out: the simulation must catch each, else the test above shows nothing.
Task<Result<void>> WriteCarelessly(Files& files, bool sync, bool sync_directory) {
  const std::unique_ptr<File> file = CO_TRY(co_await files.Open("temporary", OpenMode::kCreate));
  CO_TRY(co_await file->Append("new"));
  if (sync) CO_TRY(co_await file->Sync());
  CO_TRY(co_await files.Rename("temporary", "state"));
  if (sync_directory) CO_TRY(co_await files.SyncDirectory("."));
  co_return Result<void>();
}

TEST(PowerCutTest, AnAtomicWriteThatForgetsSyncIsCaught) {
  const Cuts cuts = CutEverywhere([](Files& files) { return WriteCarelessly(files, false, true); });
  EXPECT_TRUE(cuts.contents.contains("")) << "renamed into place, and empty";
  EXPECT_TRUE(cuts.contents.contains("ne"));
  EXPECT_TRUE(cuts.contents.contains(std::string(3, '\0')));
}

TEST(PowerCutTest, AnAtomicWriteThatForgetsSyncDirectoryIsCaught) {
  const Cuts cuts = CutEverywhere([](Files& files) { return WriteCarelessly(files, true, false); });
  EXPECT_EQ(cuts.contents, (std::set<std::string>{"old", "new", "old although it was done"}));
}

TEST(PowerCutTest, WritingInPlaceIsCaught) {
  const Cuts cuts = CutEverywhere([](Files& files) -> Task<Result<void>> {
    const std::unique_ptr<File> file = CO_TRY(co_await files.Open("state", OpenMode::kAppend));
    CO_TRY(co_await file->Truncate(0));
    CO_TRY(co_await file->Append("new"));
    co_return co_await file->Sync();
  });
  EXPECT_TRUE(cuts.contents.contains(""));
  EXPECT_TRUE(cuts.contents.contains("ne"));
}

}  // namespace
}  // namespace baton::rt
