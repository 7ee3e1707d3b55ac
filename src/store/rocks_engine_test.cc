// What only the durable engine can show: torn ends, damage, full and failing disks, locks, formats.
#include "store/rocks_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "rt/scope.h"
#include "store/directory_lock.h"
#include "store/log_format.h"
#include "store/rocks_db.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

using testing::HasSubstr;

// The newest file of a kind that is not empty.
std::string NewestFile(const PowerCutFileSystem& disk, const std::string& ending) {
  std::string newest;
  for (const std::string& path : disk.Paths()) {
    if (path.ends_with(ending) && !disk.Content(path).empty()) newest = std::max(newest, path);
  }
  EXPECT_FALSE(newest.empty()) << ending;
  return newest;
}

std::string FileWith(const PowerCutFileSystem& disk, const std::string& part) {
  for (const std::string& path : disk.Paths()) {
    if (path.find(part) != std::string::npos) return path;
  }
  ADD_FAILURE() << part;
  return "";
}

// ---- torn ends ----

TEST(RocksEngineTest, ALogCutAnywhereInItsLastBatchLosesThatBatchOnly) {
  Harness h(EngineKind::kRocksInMemory);
  h.Open();
  for (int i = 1; i <= 3; ++i) h.Put("k" + std::to_string(i), std::string(40, 'x'));
  const std::string log = NewestFile(h.memory_disk(), ".log");
  const size_t before = h.memory_disk().Content(log).size();
  h.Commit(Transaction().Put("last/1", std::string(40, 'y')).Put("last/2", std::string(40, 'z'))).value();
  h.Drop();
  const std::string whole = h.memory_disk().Content(log);
  for (size_t size = before; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    Harness copy(EngineKind::kRocksInMemory);
    copy.Open();
    for (int i = 1; i <= 3; ++i) copy.Put("k" + std::to_string(i), std::string(40, 'x'));
    copy.Drop();
    // The same name, because the same was done.
    ASSERT_EQ(NewestFile(copy.memory_disk(), ".log"), log);
    copy.memory_disk().Overwrite(log, whole.substr(0, size));
    copy.Open();
    EXPECT_EQ(copy.store().revision(), Revision(3));
    EXPECT_EQ(copy.store().size(), 3U);
    EXPECT_EQ(copy.Put("next", "1"), Revision(4));
    copy.Open();
    EXPECT_EQ(copy.store().size(), 4U);
    if (size > before + 10) size += 12;  // the head byte by byte, the rest in steps
  }
}

TEST(RocksEngineTest, SectorsThatWereNeverWrittenAreATornEnd) {
  Harness h(EngineKind::kRocksInMemory);
  h.Open();
  h.Put("a", "1");
  const std::string log = NewestFile(h.memory_disk(), ".log");
  const size_t before = h.memory_disk().Content(log).size();
  h.Put("b", std::string(100'000, 'x'));  // over several blocks of the log
  h.Drop();
  const std::string whole = h.memory_disk().Content(log);
  for (const size_t hole : {(before / 512 + 1) * 512, size_t{32'768}, size_t{65'536}, whole.size() / 512 * 512}) {
    SCOPED_TRACE(hole);
    std::string torn = whole;
    for (size_t i = hole; i < std::min(hole + 512, torn.size()); ++i) torn[i] = 0;
    h.memory_disk().Overwrite(log, torn);
    Harness copy(EngineKind::kRocksInMemory);
    copy.Open();
    copy.Put("a", "1");
    copy.Drop();
    copy.memory_disk().Overwrite(log, torn);
    copy.Open();
    EXPECT_EQ(copy.List(), "a=1");
  }
}

// ---- damage ----

// A disk with data in all kinds of files, and what is in it.
struct Filled {
  Filled() {
    h.Open();
    for (int i = 0; i < 20; ++i) h.Put("k" + std::to_string(i), "old" + std::string(200, 'x'));
    h.Compact(Revision(10)).value();
    h.Drop();
    {
      const auto db = RocksDb::Open(h.rocks_options()).value();
      EXPECT_TRUE(db->db().Flush({}, {db->log(), db->meta()}).ok());
    }
    h.Open();
    for (int i = 0; i < 20; ++i) h.Put("k" + std::to_string(i), "new" + std::string(200, 'y'));
    h.Delete("k7");
    content = h.List();
    h.Drop();
  }
  Harness h{EngineKind::kRocksInMemory};
  std::string content;
};

// Whatever byte is damaged: all is there, or it says that it is not, and in which file.
void FlipBytesOf(const std::string& part, size_t step, size_t least_refused) {
  size_t refused = 0;
  size_t tried = 0;
  for (size_t at = 0;; at += step) {
    Filled filled;
    const std::string path =
        part == ".log" ? NewestFile(filled.h.memory_disk(), part) : FileWith(filled.h.memory_disk(), part);
    std::string content = filled.h.memory_disk().Content(path);
    if (at >= content.size()) break;
    ++tried;
    content[at] = static_cast<char>(content[at] ^ 0x10);
    filled.h.memory_disk().Overwrite(path, content);
    const Result<void> opened = filled.h.TryOpen();
    if (opened.ok()) {
      EXPECT_EQ(filled.h.List(), filled.content) << path << " at byte " << at << ": silent loss";
      continue;
    }
    ++refused;
    EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt) << opened.error().message();
    const std::string name = path.substr(path.rfind('/') + 1);
    EXPECT_THAT(opened.error().message(), HasSubstr(name)) << "byte " << at;
    EXPECT_EQ(filled.h.memory_disk().Content(path), content) << "evidence is not destroyed";
  }
  EXPECT_GE(refused * 100, tried * least_refused) << refused << " of " << tried << " were refused";
}

TEST(RocksEngineTest, ADamagedWriteAheadLogIsRefusedByName) { FlipBytesOf(".log", 131, 100); }
TEST(RocksEngineTest, ADamagedTableIsRefusedByName) { FlipBytesOf(".sst", 61, 50); }
TEST(RocksEngineTest, ADamagedManifestIsRefusedByName) { FlipBytesOf("MANIFEST", 23, 90); }

TEST(RocksEngineTest, EveryMissingFileIsRefusedByName) {
  size_t refused = 0;
  const std::vector<std::string> all = Filled().h.memory_disk().Paths();
  for (const std::string& path : all) {
    SCOPED_TRACE(path);
    Filled filled;
    filled.h.memory_disk().Remove(path);
    const Result<void> opened = filled.h.TryOpen();
    if (opened.ok()) {
      EXPECT_EQ(filled.h.List(), filled.content) << "silent loss";
      continue;
    }
    ++refused;
    EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt) << opened.error().message();
    EXPECT_THAT(opened.error().message(), HasSubstr(path.substr(path.rfind('/') + 1)));
  }
  EXPECT_GE(refused, 5U) << "two tables, manifest, its name, the log";
}

// ---- what another version wrote, and what no version wrote ----

void WriteMeta(const std::string& directory, std::string_view key, const std::string& value) {
  const auto db = RocksDb::Open({.directory = directory}).value();
  ASSERT_TRUE(db->db().Put({}, db->meta(), key, value).ok());
}

TEST(RocksOnDiskTest, ANewerFormatIsRefused) {
  Harness h(EngineKind::kRocks);
  h.Open();
  h.Drop();
  std::string newer;
  AppendU32(newer, kFormatVersion + 1);
  WriteMeta(h.directory(), kFormatKey, newer);
  const Result<void> opened = h.TryOpen();
  EXPECT_EQ(opened.error().kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(opened.error().message(), HasSubstr("has the store format 2, and this Baton knows formats up to 1"));
}

TEST(RocksOnDiskTest, ALogWithAGapIsRefused) {
  Harness h(EngineKind::kRocks);
  h.Open();
  for (int i = 0; i < 5; ++i) h.Put("a", std::to_string(i));
  h.Drop();
  {
    const auto db = RocksDb::Open({.directory = h.directory()}).value();
    ASSERT_TRUE(db->db().Delete({}, db->log(), EncodeLogKey({Revision(3), 0})).ok());
  }
  const Result<void> opened = h.TryOpen();
  EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(opened.error().message(), HasSubstr("from revision 2 to revision 4"));
}

TEST(RocksOnDiskTest, ALogThatEndsTooEarlyIsRefused) {
  Harness h(EngineKind::kRocks);
  h.Open();
  for (int i = 0; i < 5; ++i) h.Put("a", std::to_string(i));
  h.Drop();
  {
    const auto db = RocksDb::Open({.directory = h.directory()}).value();
    ASSERT_TRUE(db->db().Delete({}, db->log(), EncodeLogKey({Revision(5), 0})).ok());
  }
  EXPECT_THAT(h.TryOpen().error().message(), HasSubstr("it ends at revision 4, and the newest written is 5"));
}

TEST(RocksOnDiskTest, AnUnfinishedDatabaseIsStartedAnew) {
  Harness h(EngineKind::kRocks);
  std::filesystem::create_directories(h.directory() + "/db.new");
  std::ofstream(h.directory() + "/db.new/CURRENT") << "MANIFEST-000001\n";
  h.Open();
  h.Put("a", "1");
  EXPECT_FALSE(std::filesystem::exists(h.directory() + "/db.new"));
}

// ---- whose it is ----

TEST(RocksOnDiskTest, ASecondOneIsToldWhoHasIt) {
  Harness h(EngineKind::kRocks);
  h.Open();
  const auto second = h.Run(Store::Open(h.loop(), h.MakeEngine()));
  EXPECT_EQ(second.error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_THAT(second.error().message(), HasSubstr("the data directory '" + h.directory() + "' is in use by process " +
                                                  std::to_string(getpid()) + " ("));
  EXPECT_THAT(second.error().message(), HasSubstr("store_test"));
  h.Put("a", "1");
}

TEST(RocksOnDiskTest, OnlyItsUserMayLook) {
  Harness h(EngineKind::kRocks);
  h.rocks_options().directory = h.directory() + "/deep/er";
  const auto store = h.Run(Store::Open(h.loop(), MakeRocksEngine(h.loop(), h.rocks_options()))).value();
  for (const std::string part : {"/deep", "/deep/er", "/deep/er/db"}) {
    struct stat found;
    ASSERT_EQ(stat((h.directory() + part).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U) << part;
  }
}

TEST(RocksEngineTest, ADirectoryThatCannotBeIsNamed) {
  rt::RealLoop loop;
  const auto open = [&loop](const std::string& directory) {
    return loop.Run(Store::Open(loop, MakeRocksEngine(loop, {.directory = directory}))).error();
  };
  EXPECT_EQ(open("").kind(), ErrorKind::kInvalid);
  EXPECT_EQ(open("/dev/null/x").message(), "'/dev/null' is not a directory");
  EXPECT_FALSE(open("/proc/baton").message().empty());
}

// ---- full and failing disks ----

// Nothing can be gained from compressing it.
std::string Noise(size_t bytes) {
  rt::SeededRandom random(1);
  std::string noise(bytes, '\0');
  random.Fill(std::as_writable_bytes(std::span(noise)));
  return noise;
}

TEST(RocksEngineTest, AFullDiskIsToldAndLeftWhenThereIsRoom) {
  Harness h(EngineKind::kRocksInMemory);
  h.Open();
  const std::string value = Noise(10'000);
  h.Put("first", value);
  for (int round = 0; round < 3; ++round) {
    h.memory_disk().SetCapacity(h.memory_disk().UsedBytes() + 100'000);
    int written = 0;
    Result<Revision> result = h.Commit(Transaction().Put("k", value));
    for (; result.ok() && written < 1000; ++written)
      result = h.Commit(Transaction().Put("k" + std::to_string(written), value));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind(), ErrorKind::kNoSpace) << result.error().message();
    EXPECT_EQ(result.error().ToStatus().code, 507);
    const Revision reached = h.store().revision();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(h.Commit(Transaction().Put("more", value)).error().kind(), ErrorKind::kNoSpace);
    }
    EXPECT_EQ(h.Value("first"), value) << "reads go on";
    EXPECT_EQ(h.Value("more"), "-");
    EXPECT_EQ(h.store().revision(), reached);
    h.memory_disk().SetCapacity(uint64_t{1} << 30);
    EXPECT_EQ(h.Commit(Transaction().Put("room", value)).value(), reached.Next());
    h.Delete("room");
    const std::string before = h.List();
    h.Open();
    EXPECT_EQ(h.List(), before);
    EXPECT_EQ(h.store().revision(), reached.Next().Next());
  }
}

TEST(RocksEngineTest, ACrashOnAFullDiskLosesNothing) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Harness h(EngineKind::kRocksInMemory, seed);
    h.Open();
    h.memory_disk().SetCapacity(h.memory_disk().UsedBytes() + 20'000);
    int written = 0;
    while (h.Commit(Transaction().Put("k" + std::to_string(written), std::string(1000, 'x'))).ok()) ++written;
    h.memory_disk().PowerCut();
    h.Drop();
    h.memory_disk().Restart();
    // Still full: whatever it says, it must not harm what is there.
    if (const Result<void> opened = h.TryOpen(); !opened.ok()) {
      EXPECT_EQ(opened.error().kind(), ErrorKind::kNoSpace) << opened.error().message();
    }
    h.memory_disk().SetCapacity(uint64_t{1} << 30);
    h.Open();
    EXPECT_GE(h.store().size(), static_cast<size_t>(written));
    EXPECT_LE(h.store().size(), static_cast<size_t>(written) + 1);
    h.Put("k", "1");
  }
}

TEST(RocksEngineTest, AfterAFailedSyncTheNextWriteOpensTheFilesAnewAndTakesTheFailedOneBack) {
  for (const bool crash : {false, true}) {
    Harness h(EngineKind::kRocksInMemory);
    h.Open();
    h.Put("a", "1");
    h.memory_disk().FailSyncs(1);
    const Result<Revision> failed = h.Commit(Transaction().Put("a", "2").Put("b", "2"));
    EXPECT_EQ(failed.error().kind(), ErrorKind::kUnavailable) << failed.error().message();
    EXPECT_EQ(h.List(), "a=1");
    EXPECT_EQ(h.Put("c", "3"), Revision(2));
    EXPECT_EQ(h.List(), "a=1 c=3");
    if (crash) {
      h.memory_disk().PowerCut();
      h.Drop();
      h.memory_disk().Restart();
    }
    h.Open();
    EXPECT_EQ(h.List(), "a=1 c=3");
    EXPECT_EQ(h.store().revision(), Revision(2));
  }
}

TEST(RocksEngineTest, AFailedCompactionForgetsNothingAndMayBeRepeated) {
  Harness h(EngineKind::kRocksInMemory);
  h.Open();
  for (int i = 1; i <= 5; ++i) h.Put("a", std::to_string(i));
  h.memory_disk().FailSyncs(1);
  EXPECT_EQ(h.Compact(Revision(4)).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(h.Value("a", Revision(2)), "2");
  h.Compact(Revision(3)).value();
  EXPECT_EQ(h.Value("a", Revision(3)), "3");
  EXPECT_EQ(h.Put("a", "6"), Revision(6));
  h.Open();
  EXPECT_EQ(h.Value("a"), "6");
}

TEST(RocksEngineTest, AFailedCompactionThatIsOnDiskAnywayIsNotMixedUpWithALesserOne) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Harness h(EngineKind::kRocksInMemory, seed);
    h.Open();
    for (int i = 1; i <= 8; ++i) h.Put("a", std::to_string(i));
    h.memory_disk().FailSyncs(1);
    EXPECT_EQ(h.Compact(Revision(7)).error().kind(), ErrorKind::kUnavailable);
    if (seed % 2 == 0) h.Put("b", "1");
    h.Compact(Revision(3)).value();
    EXPECT_EQ(h.store().compacted(), Revision(3));
    EXPECT_EQ(h.Value("a", Revision(5)), "5");
    h.Open();
    // Either of them holds, and all that it left.
    const int64_t compacted = h.store().compacted().value();
    EXPECT_TRUE(compacted == 3 || compacted == 7) << compacted;
    for (int64_t at = compacted; at <= 8; ++at) EXPECT_EQ(h.Value("a", Revision(at)), std::to_string(at));
    h.Compact(h.store().revision()).value();
    h.Open();
    EXPECT_EQ(h.Value("a"), "8");
  }
}

TEST(RocksEngineTest, ACloseTakesBackWhatAFailedWriteLeft) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Harness h(EngineKind::kRocksInMemory, seed);
    h.Open();
    h.Put("a", "1");
    h.memory_disk().FailSyncs(1);
    EXPECT_EQ(h.Commit(Transaction().Put("a", "2").Put("b", "2")).error().kind(), ErrorKind::kUnavailable);
    h.Run(h.store().Close());
    EXPECT_EQ(h.List(), "a=1");
    h.Open();
    EXPECT_EQ(h.List(), "a=1");
    EXPECT_EQ(h.store().revision(), Revision(1));
  }
}

TEST(RocksEngineTest, ACloseOnADiskThatStillFailsEndsAllTheSame) {
  Harness h(EngineKind::kRocksInMemory);
  h.Open();
  h.Put("a", "1");
  h.memory_disk().FailSyncs(1000);
  EXPECT_FALSE(h.Commit(Transaction().Put("a", "2")).ok());
  h.Run(h.store().Close());
  h.memory_disk().FailSyncs(0);
  h.Open();
  EXPECT_THAT(h.Value("a"), testing::AnyOf("1", "2"));
}

// ---- dropped calls ----

rt::Task<void> OpenAndLeave(Harness& h) {
  rt::Scope scope(h.loop());
  scope.Spawn([](Harness& harness) -> rt::Task<void> {
    // It may be refused: one that was dropped before may still have the directory for a moment.
    std::ignore = co_await Store::Open(harness.loop(), harness.MakeEngine());
  }(h));
  co_await h.loop().Yield();
}

TEST(RocksOnDiskTest, AnOpenThatIsDroppedHarmsNobody) {
  Harness h(EngineKind::kRocks);
  h.Open();
  for (int i = 0; i < 100; ++i) h.Commit(Transaction().Put("k" + std::to_string(i), std::string(1000, 'x'))).value();
  h.Drop();
  for (int i = 0; i < 5; ++i) h.Run(OpenAndLeave(h));
  // The dropped ones may still have it for a moment.
  while (!h.TryOpen().ok()) {
  }
  EXPECT_EQ(h.store().size(), 100U);
}

}  // namespace
}  // namespace baton::store
