// Backups: there and back, while the store is in use, and everything that must be refused.
#include "store/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/hash.h"
#include "store/log_format.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

using testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class BackupTest : public testing::Test {
 protected:
  BackupTest() {
    h.Open();
    h.Put("a", "1");
    h.Put("b", std::string(1000, 'b'));
    h.Put("a", "2");
    h.Delete("b");
    h.Put("c", "3");
    h.Compact(Revision(2)).value();
  }
  std::string Path(const std::string& name) const { return outside.path() + "/" + name; }

  static std::string Everything(Store& store) {
    std::string text = "compacted " + std::to_string(store.compacted().value());
    for (const Entry& entry : store.List("", {.at = store.compacted()}).value().entries) {
      text += " " + entry.key + "@" + std::to_string(entry.create_revision.value());
    }
    for (const auto& event : store.OpenWatch("", store.compacted()).value()->Poll().value())
      text += " " + ToText(*event);
    return text + " revision " + std::to_string(store.revision().value());
  }

  Harness h{EngineKind::kRocks};
  TemporaryDirectory outside;
};

TEST_F(BackupTest, WhatIsRestoredIsWhatWasThereHistoryIncluded) {
  const std::string before = Everything(h.store());
  const BackupInfo info = BackupDirectory(h.directory(), Path("backup")).value();
  EXPECT_EQ(info.revision, Revision(5));
  EXPECT_EQ(info.compacted, Revision(2));
  EXPECT_EQ(info.records, 5U) << "a@1, b@2, and what came after";
  EXPECT_EQ(info.bytes, std::filesystem::file_size(Path("backup")));
  EXPECT_EQ(info.sha256.size(), 64U);
  EXPECT_EQ(VerifyBackup(Path("backup")).value(), info);
  h.Put("later", "is not in it");

  EXPECT_EQ(RestoreBackup(Path("backup"), Path("restored")).value(), info);
  Harness restored(EngineKind::kRocks);
  restored.UseDirectory(Path("restored"));
  restored.Open();
  EXPECT_EQ(Everything(restored.store()), before);
  EXPECT_EQ(restored.Put("d", "4"), Revision(6));
  restored.Open();
  EXPECT_EQ(restored.Value("d"), "4");
}

TEST_F(BackupTest, TheDigestIsOverTheWholeFile) {
  const BackupInfo info = BackupDirectory(h.directory(), Path("backup")).value();
  const std::string content = ReadFile(Path("backup"));
  EXPECT_EQ(Sha256Hex(content.substr(0, content.size() - 32)), info.sha256);
  EXPECT_TRUE(content.starts_with("BATONBKP"));
}

TEST_F(BackupTest, EveryAcknowledgedWriteIsInABackupThatBeginsAfterIt) {
  for (int i = 0; i < 20; ++i) {
    const Revision acknowledged = h.Put("k" + std::to_string(i), std::string(10'000, 'x'));
    const std::string path = Path("backup" + std::to_string(i));
    EXPECT_EQ(BackupDirectory(h.directory(), path).value().revision, acknowledged);
  }
}

TEST_F(BackupTest, AnEmptyStoreHasABackup) {
  Harness empty(EngineKind::kRocks);
  empty.Open();
  const BackupInfo info = BackupDirectory(empty.directory(), Path("empty")).value();
  EXPECT_EQ(info.records, 0U);
  EXPECT_EQ(info.revision, Revision(0));
  EXPECT_EQ(RestoreBackup(Path("empty"), Path("restored")).value(), info);
  Harness restored(EngineKind::kRocks);
  restored.UseDirectory(Path("restored"));
  restored.Open();
  EXPECT_EQ(restored.store().revision(), Revision(0));
}

TEST_F(BackupTest, AStoreThatWasCompactedToNothingKeepsItsRevision) {
  h.Commit(Transaction().Delete("a").Delete("c")).value();
  h.Compact(h.store().revision()).value();
  EXPECT_EQ(BackupDirectory(h.directory(), Path("backup")).value().records, 0U);
  RestoreBackup(Path("backup"), Path("restored")).value();
  Harness restored(EngineKind::kRocks);
  restored.UseDirectory(Path("restored"));
  restored.Open();
  EXPECT_EQ(restored.store().revision(), Revision(6));
}

TEST_F(BackupTest, NothingIsOverwrittenAndNothingIsLeftBehind) {
  WriteFile(Path("backup"), "precious");
  const Result<BackupInfo> refused = BackupDirectory(h.directory(), Path("backup"));
  EXPECT_EQ(refused.error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(ReadFile(Path("backup")), "precious");
  EXPECT_EQ(BackupDirectory(Path("nothing"), Path("other")).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(BackupDirectory(h.directory(), Path("no/such/place")).error().kind(), ErrorKind::kNotFound);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(outside.path())) ++files;
  EXPECT_EQ(files, 1U);
}

TEST_F(BackupTest, OnlyItsUserMayReadIt) {
  BackupDirectory(h.directory(), Path("backup")).value();
  struct stat found;
  ASSERT_EQ(stat(Path("backup").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST_F(BackupTest, AFileThatIsCutShortIsRefusedWhereverItIsCut) {
  BackupDirectory(h.directory(), Path("backup")).value();
  const std::string whole = ReadFile(Path("backup"));
  for (size_t size = 0; size < whole.size(); size += 13) {
    WriteFile(Path("cut"), whole.substr(0, size));
    EXPECT_EQ(VerifyBackup(Path("cut")).error().kind(), ErrorKind::kCorrupt) << size;
    EXPECT_FALSE(RestoreBackup(Path("cut"), Path("restored")).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(Path("restored")));
}

TEST_F(BackupTest, AFileThatWasAlteredIsRefusedWhereverItWas) {
  BackupDirectory(h.directory(), Path("backup")).value();
  const std::string whole = ReadFile(Path("backup"));
  for (size_t at = 0; at < whole.size(); at += 7) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    WriteFile(Path("altered"), altered);
    EXPECT_FALSE(RestoreBackup(Path("altered"), Path("restored")).ok()) << at;
  }
  WriteFile(Path("altered"), whole + "x");
  EXPECT_EQ(VerifyBackup(Path("altered")).error().kind(), ErrorKind::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(Path("restored")));
}

// A file whose digest is right and whose content is not.
std::string Sealed(std::string content) {
  const Sha256::Digest digest = Sha256Of(content);
  content.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return content;
}

TEST_F(BackupTest, WhatIsNoBackupIsRefusedWithItsReason) {
  std::string newer = "BATONBKP";
  AppendU32(newer, 2);
  newer.append(24, '\0');
  std::string too_many = "BATONBKP";
  AppendU32(too_many, 1);
  AppendU64(too_many, 5);
  AppendU64(too_many, 0);
  AppendU64(too_many, uint64_t{1} << 60);
  std::string huge_record = "BATONBKP";
  AppendU32(huge_record, 1);
  AppendU64(huge_record, 1);
  AppendU64(huge_record, 0);
  AppendU64(huge_record, 1);
  huge_record += EncodeLogKey({Revision(1), 0});
  AppendU32(huge_record, 0xffffffff);
  struct Row {
    std::string content;
    ErrorKind kind;
    std::string says;
  };
  for (const Row& row :
       {Row{"", ErrorKind::kCorrupt, "only 0 bytes"}, Row{std::string(100, 'x'), ErrorKind::kCorrupt, "not a backup"},
        Row{Sealed(newer), ErrorKind::kUnsupported, "backup format 2"},
        Row{Sealed(too_many), ErrorKind::kCorrupt, "cut short"},
        Row{Sealed(huge_record), ErrorKind::kCorrupt, "cut short"}}) {
    WriteFile(Path("file"), row.content);
    const Result<BackupInfo> result = RestoreBackup(Path("file"), Path("restored"));
    EXPECT_EQ(result.error().kind(), row.kind) << result.error().message();
    EXPECT_THAT(result.error().message(), HasSubstr(row.says));
    EXPECT_THAT(result.error().message(), HasSubstr(Path("file")));
  }
  EXPECT_EQ(VerifyBackup(Path("missing")).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(VerifyBackup(outside.path()).error().kind(), ErrorKind::kInvalid);
}

TEST_F(BackupTest, ARestoreNeedsADirectoryOfItsOwn) {
  BackupDirectory(h.directory(), Path("backup")).value();
  const Result<BackupInfo> in_use = RestoreBackup(Path("backup"), h.directory());
  EXPECT_EQ(in_use.error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_THAT(in_use.error().message(), HasSubstr("is not empty"));
  EXPECT_EQ(RestoreBackup(Path("backup"), outside.path()).error().kind(), ErrorKind::kAlreadyExists);
  // What a killed restore left is no obstacle.
  std::filesystem::create_directories(Path("killed/db.new"));
  WriteFile(Path("killed/db.new/000004.log"), "half");
  WriteFile(Path("killed/baton.lock"), "process 1 (baton restore)\n");
  RestoreBackup(Path("backup"), Path("killed")).value();
}

TEST_F(BackupTest, ADamagedStoreHasNoBackup) {
  h.Drop();
  for (const auto& entry : std::filesystem::directory_iterator(h.directory() + "/db")) {
    if (!entry.path().string().ends_with(".log") || entry.file_size() == 0) continue;
    std::string content = ReadFile(entry.path());
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    WriteFile(entry.path(), content);
  }
  EXPECT_EQ(BackupDirectory(h.directory(), Path("backup")).error().kind(), ErrorKind::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(Path("backup")));
}

}  // namespace
}  // namespace baton::store
