// Power cuts at random moments, on a disk that forgets what was not synced: every acknowledged write is there
// afterwards, and no transaction in part. The same check finds the loss when the sync is taken out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rt/scope.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

constexpr int kWriters = 4;
constexpr int kKeys = 3;  // of each writer; a transaction writes the same value to all

struct Findings {
  size_t acknowledged = 0;  // writes that were checked after a cut
  size_t lost = 0;
  size_t halves = 0;
  size_t unopened = 0;  // disks that could not be opened again
  std::string first;    // the first of the bad ones
};

// One disk through several lives, each ended by a cut.
class PoweredWorld {
 public:
  PoweredWorld(uint64_t seed, bool sync) : h_(EngineKind::kRocksInMemory, seed), random_(seed) {
    h_.rocks_options().sync_for_test = sync;
    h_.rocks_options().memtable_bytes_for_test = seed % 8 == 0 ? size_t{512} << 10 : 0;
  }

  Findings Live(int lives) {
    for (int life = 0; life < lives && findings_.first.empty(); ++life) {
      // Mostly somewhere in the writes; now and then while it is being opened.
      disk_.CutAfter(random_.Chance(0.3) ? random_.Below(80) : random_.Below(800));
      if (h_.TryOpen().ok()) h_.Run(Write(life));
      h_.Drop();
      if (!disk_.is_off()) disk_.PowerCut();
      disk_.Restart();
      Check();
    }
    return findings_;
  }

 private:
  rt::Task<void> Write(int life) {
    rt::Scope scope(h_.loop());
    for (int writer = 0; writer < kWriters; ++writer) scope.Spawn(WriteUntilDark(life, writer));
    scope.Spawn(CompactUntilDark());
    co_await scope.Join();
  }

  rt::Task<void> WriteUntilDark(int life, int writer) {
    for (int i = 0; i < 200; ++i) {
      const std::string value = std::to_string(life) + "." + std::to_string(writer) + "." + std::to_string(i) +
                                std::string(random_.Below(2000), '.');
      Transaction transaction;
      for (int key = 0; key < kKeys; ++key) transaction.Put(KeyOf(writer, key), value);
      const Result<Revision> done = co_await h_.store().Commit(std::move(transaction));
      if (!done.ok()) {
        if (disk_.is_off()) co_return;
        continue;
      }
      acknowledged_[writer] = {*done, value};
      co_await h_.loop().Sleep(random_.Between(microseconds(0), milliseconds(1)));
    }
  }

  rt::Task<void> CompactUntilDark() {
    while (!disk_.is_off()) {
      co_await h_.loop().Sleep(milliseconds(7));
      const Revision to = h_.store().revision();
      if ((co_await h_.store().Compact(to)).ok()) compacted_ = to;
      if (h_.loop().Now() - MonotonicTime() > seconds(100)) co_return;
    }
  }

  static std::string KeyOf(int writer, int key) { return "w" + std::to_string(writer) + "/" + std::to_string(key); }

  void Check() {
    if (const Result<void> opened = h_.TryOpen(); !opened.ok()) {
      ++findings_.unopened;
      findings_.first = opened.error().ToString();
      return;
    }
    if (h_.store().compacted() < compacted_) Lost("a compaction came back");
    for (const auto& [writer, acknowledgement] : acknowledged_) {
      const auto& [revision, value] = acknowledgement;
      ++findings_.acknowledged;
      if (h_.store().revision() < revision) Lost("revision " + std::to_string(revision.value()));
      // A later write of the same writer may be there, too: it was cut off before its answer.
      const auto entry = h_.store().Get(KeyOf(writer, 0)).value();
      if (!entry || entry->mod_revision < revision) {
        Lost(KeyOf(writer, 0));
      } else if (entry->mod_revision == revision && *entry->value != value) {
        Lost(KeyOf(writer, 0) + " has another value");
      }
    }
    for (int writer = 0; writer < kWriters; ++writer) {
      for (int key = 1; key < kKeys; ++key) {
        if (h_.Value(KeyOf(writer, key)) != h_.Value(KeyOf(writer, 0))) {
          ++findings_.halves;
          findings_.first = "half a transaction of writer " + std::to_string(writer);
        }
      }
    }
    h_.Drop();
  }
  void Lost(const std::string& what) {
    ++findings_.lost;
    findings_.first = "lost: " + what;
  }

  Harness h_;
  PowerCutFileSystem& disk_ = h_.memory_disk();
  rt::SeededRandom random_;
  std::map<int, std::pair<Revision, std::string>> acknowledged_;  // the last of each writer
  Revision compacted_;
  Findings findings_;
};

TEST(PowerCutTest, EveryAcknowledgedWriteSurvivesAndNoneInPart) {
  Findings all;
  for (uint64_t seed = 1; seed <= 48 && all.first.empty(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Findings found = PoweredWorld(seed, /*sync=*/true).Live(4);
    EXPECT_EQ(found.first, "");
    all.acknowledged += found.acknowledged;
    all.first = found.first;
  }
  EXPECT_GT(all.acknowledged, 250U);
}

TEST(PowerCutTest, TheLossIsSeenWhenTheSyncIsTakenOut) {
  size_t lost = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) lost += PoweredWorld(seed, /*sync=*/false).Live(4).lost;
  EXPECT_GE(lost, 6U) << "a missing sync must not go unnoticed";
}

}  // namespace
}  // namespace baton::store
