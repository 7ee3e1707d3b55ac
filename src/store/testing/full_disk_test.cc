// A real file system that fills up: a small one in memory, mounted where only this process sees it. Where a process may
// not mount, the same on the file layer with a capacity: this is never skipped.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "rt/random.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

constexpr uint64_t kCapacity = uint64_t{24} << 20;

// A directory of this size, or false when we may not have one.
bool MountSmallDisk(const std::string& path) {
  const uid_t user = getuid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("none", path.c_str(), "tmpfs", 0, ("size=" + std::to_string(kCapacity)).c_str()) == 0;
}

std::string Noise(uint64_t seed, size_t bytes) {
  rt::SeededRandom random(seed);
  std::string noise(bytes, '\0');
  random.Fill(std::as_writable_bytes(std::span(noise)));
  return noise;
}

class FullDisk {
 public:
  FullDisk() {
    on_disk_ = MountSmallDisk(directory_.path());
    h_ = std::make_unique<Harness>(on_disk_ ? EngineKind::kRocks : EngineKind::kRocksInMemory);
    if (on_disk_) {
      h_->UseDirectory(directory_.path() + "/data");
      ballast_ = directory_.path() + "/ballast";
    }
    std::printf("on %s\n", on_disk_ ? "a mounted file system" : "the file layer: this process may not mount");
  }
  ~FullDisk() {
    h_ = nullptr;
    if (on_disk_) umount(directory_.path().c_str());
  }
  Harness& h() { return *h_; }

  // Something else takes room, and gives it back.
  void TakeRoom(uint64_t bytes) {
    if (on_disk_) {
      std::ofstream(ballast_, std::ios::binary) << std::string(bytes, 'b');
    } else {
      h_->memory_disk().SetCapacity(kCapacity - bytes);
    }
  }
  void GiveRoom() {
    if (on_disk_) {
      unlink(ballast_.c_str());
    } else {
      h_->memory_disk().SetCapacity(kCapacity);
    }
  }

 private:
  TemporaryDirectory directory_;
  std::string ballast_;
  bool on_disk_ = false;
  std::unique_ptr<Harness> h_;
};

TEST(FullDiskTest, AFullDiskIsToldReadsGoOnAndWritesDoWhenThereIsRoom) {
  FullDisk disk;
  Harness& h = disk.h();
  h.Open();
  uint64_t number = 0;
  h.Put("first", "1");
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    disk.TakeRoom(kCapacity / 2);
    Result<Revision> result = Revision(0);
    for (int i = 0; result.ok() && i < 10'000; ++i) {
      ++number;
      result = h.Commit(Transaction().Put("k" + std::to_string(number % 20), Noise(number, 50'000)));
    }
    ASSERT_FALSE(result.ok()) << "it never filled up";
    EXPECT_EQ(result.error().kind(), ErrorKind::kNoSpace) << result.error().message();
    EXPECT_EQ(result.error().ToStatus().code, 507);
    const Revision reached = h.store().revision();
    const std::string content = h.List();
    for (int i = 0; i < 3; ++i) {
      const Result<Revision> again = h.Commit(Transaction().Put("again", Noise(i, 500'000)));
      if (!again.ok()) EXPECT_EQ(again.error().kind(), ErrorKind::kNoSpace) << again.error().message();
    }
    EXPECT_EQ(h.Value("first"), "1") << "reads go on";
    disk.GiveRoom();
    EXPECT_TRUE(h.Commit(Transaction().Delete("again").Put("room", std::to_string(round))).ok());
    EXPECT_GT(h.store().revision(), reached);
    const std::string before = h.List();
    EXPECT_EQ(before, content + (content.empty() ? "" : " ") + "room=" + std::to_string(round));
    h.Delete("room");
    h.Compact(h.store().revision()).value();
    h.Open();
    EXPECT_EQ(h.List(), content) << "and all is there after a restart";
  }
}

TEST(FullDiskTest, AStoreOpensOnAFullDiskOrSaysWhyNot) {
  FullDisk disk;
  Harness& h = disk.h();
  h.Open();
  h.Put("a", "1");
  const std::string content = h.List();
  h.Drop();
  disk.TakeRoom(kCapacity);
  if (const Result<void> opened = h.TryOpen(); opened.ok()) {
    EXPECT_EQ(h.List(), content);
  } else {
    EXPECT_EQ(opened.error().kind(), ErrorKind::kNoSpace) << opened.error().message();
  }
  disk.GiveRoom();
  h.Open();
  EXPECT_EQ(h.List(), content);
  h.Put("b", "1");
}

}  // namespace
}  // namespace baton::store
