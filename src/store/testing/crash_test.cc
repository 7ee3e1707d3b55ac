// kill -9 at random moments, hundreds of times, on one data directory: nothing that was acknowledged is lost, nothing
// is half written, and the history that watches read is whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rt/real_loop.h"
#include "store/rocks_engine.h"
#include "store/store.h"
#include "store/testing/crash_payload.h"

namespace baton::store {
namespace {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kKills = 60;  // every start is several times slower
#else
constexpr int kKills = 200;
#endif
constexpr int kKillsBetweenChecks = 2;

struct Acknowledgement {
  Revision revision;
  int writer;
  int64_t counter;
};

class CrashWorld {
 public:
  explicit CrashWorld(std::string directory) : directory_(std::move(directory)), random_(rt::SystemRandom().Next()) {}

  // Starts the writer, kills it at some moment, and keeps what it had acknowledged by then.
  void StartAndKill() {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl(STORE_CRASH_WRITER, "store_crash_writer", directory_.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    // Some while it opens, most after a number of acknowledgements, and then anywhere in the next write.
    const size_t lines = random_.Chance(0.1) ? 0 : 1 + random_.Below(60);
    std::string said;
    while (static_cast<size_t>(std::count(said.begin(), said.end(), '\n')) < lines) {
      if (!ReadSome(ends[0], said)) break;
    }
    usleep(static_cast<useconds_t>(random_.Below(lines == 0 ? 60'000 : 6'000)));
    kill(child, SIGKILL);
    while (ReadSome(ends[0], said)) {
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended by itself: " << status;
    Keep(said);
  }

  void Check() {
    rt::RealLoop loop;
    Result<std::unique_ptr<Store>> opened = loop.Run(
        Store::Open(loop, MakeRocksEngine(loop, {.directory = directory_, .memtable_bytes_for_test = 4U << 20})));
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    Store& store = **opened;
    for (const Acknowledgement& ack : unchecked_) {
      EXPECT_GE(store.revision(), ack.revision);
      if (ack.revision < store.compacted()) continue;
      for (int which = 0; which < 2; ++which) {
        const auto entry = store.Get(CrashKey(ack.writer, which), ack.revision).value();
        ASSERT_TRUE(entry.has_value()) << "revision " << ack.revision.value() << " is lost";
        EXPECT_EQ(entry->mod_revision, ack.revision);
        EXPECT_EQ(*entry->value, CrashValue(ack.writer, ack.counter));
      }
    }
    acknowledged_ += unchecked_.size();
    unchecked_.clear();
    CheckWriters(store);
    CheckHistory(store);
    loop.Run(store.Close());
  }

  size_t acknowledged() const { return acknowledged_; }

 private:
  static bool ReadSome(int file, std::string& text) {
    char buffer[4096];
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }

  void Keep(const std::string& said) {
    std::istringstream lines(said);
    std::string word;
    while (lines >> word) {
      int64_t revision = 0;
      lines >> revision;
      if (word != "ack") continue;
      Acknowledgement ack{Revision(revision), 0, 0};
      lines >> ack.writer >> ack.counter;
      unchecked_.push_back(ack);
      last_[ack.writer] = std::max(last_[ack.writer], ack.counter);
    }
  }

  // Each is at least where it was told to be, and both its keys are at the same place.
  void CheckWriters(const Store& store) const {
    for (const auto& [writer, counter] : last_) {
      const Entry first = store.Get(CrashKey(writer, 0)).value().value();
      const Entry second = store.Get(CrashKey(writer, 1)).value().value();
      EXPECT_EQ(*first.value, *second.value) << "half a transaction of writer " << writer;
      EXPECT_EQ(first.mod_revision, second.mod_revision);
      const int64_t reached = CrashCounter(*first.value);
      EXPECT_GE(reached, counter);
      EXPECT_LE(reached, counter + kKillsBetweenChecks) << "one write more than acknowledged in each life at most";
      EXPECT_EQ(*first.value, CrashValue(writer, reached));
    }
  }

  // From the oldest revision that is kept, the events lead to what is there now.
  static void CheckHistory(Store& store) {
    std::map<std::string, std::pair<Revision, std::string>> state;
    // At revision zero there is nothing to read, and reading "at 0" means now.
    if (store.compacted() != Revision(0)) {
      for (const Entry& entry : store.List("", {.at = store.compacted()}).value().entries) {
        state[entry.key] = {entry.mod_revision, *entry.value};
      }
    }
    Revision reached = store.compacted();
    const auto watch = store.OpenWatch("", store.compacted()).value();
    for (auto events = watch->Poll().value(); !events.empty(); events = watch->Poll().value()) {
      for (const auto& event : events) {
        EXPECT_TRUE(event->revision == reached || event->revision == reached.Next()) << "a gap";
        reached = event->revision;
        const auto found = state.find(event->key);
        EXPECT_EQ(event->previous != nullptr, found != state.end());
        if (event->deleted()) {
          state.erase(found);
        } else {
          state[event->key] = {event->revision, *event->value};
        }
      }
    }
    EXPECT_EQ(reached, store.revision());
    std::map<std::string, std::pair<Revision, std::string>> now;
    for (const Entry& entry : store.List("").value().entries) now[entry.key] = {entry.mod_revision, *entry.value};
    EXPECT_TRUE(state == now) << "history does not lead to the present";
  }

  std::string directory_;
  rt::SeededRandom random_;
  std::vector<Acknowledgement> unchecked_;
  std::map<int, int64_t> last_;  // writer -> its last acknowledged counter
  size_t acknowledged_ = 0;
};

TEST(CrashTest, KillMinusNineLosesNothingAcknowledgedAndLeavesNothingHalf) {
  std::string directory = (std::filesystem::temp_directory_path() / "baton_crash_XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  CrashWorld world(directory);
  for (int kills = 1; kills <= kKills && !HasFailure(); ++kills) {
    SCOPED_TRACE("kill " + std::to_string(kills) + " of " + directory);
    world.StartAndKill();
    if (kills % kKillsBetweenChecks == 0) world.Check();
  }
  std::printf("%d kills, %zu acknowledged writes checked\n", kKills, world.acknowledged());
  EXPECT_GT(world.acknowledged(), static_cast<size_t>(kKills) * 5);
  if (!HasFailure()) std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace baton::store
