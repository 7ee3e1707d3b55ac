// The store against a model: random writers, watchers, readers and compactions at once, on a disk that fails and
// crashes, over many seeds of the virtual loop. What the disk took is the truth; every answer that the store
// gave, every list and every watch must follow from it.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rt/scope.h"
#include "rt/virtual_loop.h"
#include "store/store.h"
#include "store/testing/fake_engine.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

constexpr int kCrashes = 3;

struct ModelEntry {
  std::string value;
  Revision create_revision;
  Revision mod_revision;
};
using ModelState = std::map<std::string, ModelEntry>;

// A transaction as the test planned it, and what the store answered.
struct Attempt {
  std::vector<std::pair<std::string, Revision>> conditions;
  std::vector<std::pair<std::string, std::optional<std::string>>> changes;  // a value that ends in # is a made one
  Revision before;                                                          // the store's revision when it began
  Revision after;                                                           // and when it was answered
  std::optional<Result<Revision>> answer;
};

struct Watched {
  std::string prefix;
  Revision from;
  std::vector<std::string> events;
  Revision position;
};

class World {
 public:
  explicit World(uint64_t seed) : loop_(seed), random_(seed * 7919), disk_(std::make_shared<FakeDisk>()) {
    // Some worlds have a perfect disk, some a bad one.
    const double failure = random_.Chance(0.5) ? 0 : 0.15;
    disk_->fate = [this, failure] {
      if (!random_.Chance(failure)) return FakeDisk::Fate::kWorks;
      return random_.Chance(0.5) ? FakeDisk::Fate::kFails : FakeDisk::Fate::kFailsButIs;
    };
    disk_->latency = [this] { return random_.Between(microseconds(0), milliseconds(2)); };
  }

  void Run() { loop_.Run(Live()); }
  size_t conflicts() const { return conflicts_; }
  size_t commits() const { return commits_; }
  size_t failures() const { return failures_; }
  size_t events() const { return events_; }

 private:
  rt::Task<void> Live() {
    for (int life = 0; life <= kCrashes; ++life) {
      store_ = (co_await Store::Open(loop_, MakeFakeEngine(loop_, disk_))).value();
      CheckLoaded();
      attempts_.clear();
      watched_.clear();
      {
        rt::Scope scope(loop_);
        for (int i = 0; i < 5; ++i) scope.Spawn(Write(life * 10 + i));
        for (int i = 0; i < 4; ++i) scope.Spawn(WatchAndRead());
        scope.Spawn(CompactNowAndThen());
        co_await loop_.Sleep(random_.Between(milliseconds(5), milliseconds(60)));
      }  // a crash: nobody finishes what he does
      CheckAnswers();
      CheckWatches();
      CheckList(store_->revision());
      store_ = nullptr;
    }
  }

  // ---- what happens ----

  std::string RandomKey() { return std::string(random_.Chance(0.5) ? "a/" : "b/") + std::to_string(random_.Below(3)); }

  rt::Task<void> Write(int writer) {
    for (int i = 0;; ++i) {
      co_await loop_.Sleep(random_.Between(microseconds(0), milliseconds(1)));
      auto attempt = std::make_shared<Attempt>();
      attempts_.push_back(attempt);
      for (uint64_t n = random_.Below(3); n > 0; --n) {
        const std::string key = RandomKey();
        const std::optional<Entry> entry = store_->Get(key).value();
        Revision expected = entry ? entry->mod_revision : Revision(0);
        if (random_.Chance(0.1)) expected = Revision(static_cast<int64_t>(random_.Below(20)));
        attempt->conditions.emplace_back(key, expected);
      }
      if (random_.Chance(0.3)) co_await loop_.Sleep(milliseconds(1));  // decided on what has become old
      for (uint64_t n = random_.Below(4); n > 0; --n) {
        std::optional<std::string> value;
        if (random_.Chance(0.7)) value = std::to_string(writer) + "." + std::to_string(i) + "." + std::to_string(n);
        if (value && random_.Chance(0.3)) *value += '#';
        attempt->changes.emplace_back(RandomKey(), value);
      }
      if (random_.Chance(0.2)) {
        rt::Scope dropped(loop_);
        dropped.Spawn(Commit(attempt));
        co_await loop_.Sleep(random_.Between(microseconds(0), milliseconds(1)));
      } else {
        co_await Commit(attempt);
      }
    }
  }

  rt::Task<void> Commit(std::shared_ptr<Attempt> attempt) {
    Transaction transaction;
    for (const auto& [key, revision] : attempt->conditions) transaction.If(key, revision);
    for (const auto& [key, value] : attempt->changes) AddChange(transaction, key, value);
    attempt->before = store_->revision();
    Result<Revision> answer = co_await store_->Commit(std::move(transaction));
    attempt->after = store_->revision();
    attempt->answer = std::move(answer);
  }

  static void AddChange(Transaction& transaction, const std::string& key, const std::optional<std::string>& value) {
    if (!value) {
      transaction.Delete(key);
    } else if (value->ends_with('#')) {
      transaction.PutMade(key, 100, [value](Revision revision) { return AsWritten(*value, revision); });
    } else {
      transaction.Put(key, *value);
    }
  }
  static std::string AsWritten(const std::string& value, Revision revision) {
    return value.ends_with('#') ? value + std::to_string(revision.value()) : value;
  }

  rt::Task<void> WatchAndRead() {
    while (true) {
      co_await loop_.Sleep(random_.Between(microseconds(0), milliseconds(3)));
      const Revision from(random_.Between(store_->compacted().value(), store_->revision().value()));
      CheckList(from);
      const std::string prefix = random_.Chance(0.3) ? "" : random_.Chance(0.5) ? "a/" : "b/1";
      const std::unique_ptr<Watch> watch = store_->OpenWatch(prefix, from).value();
      auto watched = std::make_shared<Watched>(Watched{prefix, from, {}, from});
      watched_.push_back(watched);
      for (uint64_t n = random_.Below(8); n > 0; --n) {
        if (random_.Chance(0.3)) co_await loop_.Sleep(milliseconds(2));
        const auto got = random_.Chance(0.5) ? watch->Poll().value() : (co_await watch->Next()).value();
        for (const std::string& text : ToTexts(got)) watched->events.push_back(text);
        watched->position = watch->position();
      }
    }
  }

  rt::Task<void> CompactNowAndThen() {
    while (true) {
      co_await loop_.Sleep(random_.Between(milliseconds(1), milliseconds(20)));
      const Revision to(random_.Between(store_->compacted().value(), store_->revision().value()));
      const Result<void> compacted = co_await store_->Compact(to);
      if (compacted.ok()) EXPECT_GE(store_->compacted(), to);
    }
  }

  // ---- what must follow ----

  ModelState StateAt(Revision at) const {
    ModelState state;
    for (const auto& [place, entry] : disk_->ever) {
      if (place.revision > at) break;
      if (entry.change.value == nullptr) {
        state.erase(entry.change.key);
      } else {
        state[entry.change.key] = {*entry.change.value, entry.create_revision, place.revision};
      }
    }
    return state;
  }

  void CheckLoaded() const {
    EXPECT_EQ(store_->revision(), disk_->newest);
    EXPECT_EQ(store_->compacted(), disk_->compacted);
    CheckList(store_->revision());
    CheckList(store_->compacted());
  }

  void CheckList(Revision at) const {
    if (at == Revision(0)) return;  // means now
    std::string expected;
    for (const auto& [key, entry] : StateAt(at)) expected += Line(key, entry);
    std::string listed;
    for (const Entry& entry : store_->List("", {.at = at}).value().entries) {
      listed += Line(entry.key, {*entry.value, entry.create_revision, entry.mod_revision});
    }
    EXPECT_EQ(listed, expected) << "at " << at.value();
  }
  static std::string Line(const std::string& key, const ModelEntry& entry) {
    return key + "=" + entry.value + "@" + std::to_string(entry.create_revision.value()) + ":" +
           std::to_string(entry.mod_revision.value()) + "\n";
  }

  static bool Holds(const Attempt& attempt, const ModelState& state) {
    for (const auto& [key, revision] : attempt.conditions) {
      const auto found = state.find(key);
      if ((found == state.end() ? Revision(0) : found->second.mod_revision) != revision) return false;
    }
    return true;
  }

  // What the log must have for this attempt at this revision, as text.
  static std::string Effect(const Attempt& attempt, const ModelState& before, Revision revision) {
    std::string effect;
    for (size_t i = 0; i < attempt.changes.size(); ++i) {
      const auto& [key, value] = attempt.changes[i];
      bool last = true;
      for (size_t later = i + 1; later < attempt.changes.size(); ++later)
        last = last && attempt.changes[later].first != key;
      const auto found = before.find(key);
      if (!last || (!value && found == before.end())) continue;
      const Revision created = found == before.end() ? revision : found->second.create_revision;
      effect += key + "=" + AsWritten(value.value_or("-"), revision) + "@" + std::to_string(created.value()) + "\n";
    }
    return effect;
  }
  std::string Logged(Revision revision) const {
    std::string text;
    for (auto at = disk_->ever.lower_bound({revision, 0}); at != disk_->ever.end() && at->first.revision == revision;
         ++at) {
      const LogEntry& entry = at->second;
      text += entry.change.key + "=" + (entry.change.value != nullptr ? *entry.change.value : "-") + "@" +
              std::to_string(entry.create_revision.value()) + "\n";
    }
    return text;
  }

  void CheckAnswers() {
    for (const auto& attempt : attempts_) {
      if (!attempt->answer) continue;
      const Result<Revision>& answer = *attempt->answer;
      if (answer.ok()) {
        CheckDone(*attempt, *answer);
      } else if (answer.error().kind() == ErrorKind::kConflict) {
        ++conflicts_;
        bool explained = false;
        for (int64_t at = attempt->before.value(); at <= attempt->after.value() && !explained; ++at) {
          explained = !Holds(*attempt, StateAt(Revision(at)));
        }
        EXPECT_TRUE(explained) << answer.error().message();
      } else {
        ++failures_;
        EXPECT_EQ(answer.error().kind(), ErrorKind::kUnavailable) << answer.error().message();
      }
    }
  }

  void CheckDone(const Attempt& attempt, Revision revision) {
    ++commits_;
    const ModelState before = StateAt(Revision(revision.value() - 1));
    const std::string effect = Effect(attempt, before, revision);
    bool explained = !effect.empty() && Logged(revision) == effect && Holds(attempt, before);
    // Or it changed nothing: then at some moment there was nothing to change.
    for (int64_t at = attempt.before.value(); at <= attempt.after.value() && !explained; ++at) {
      const ModelState state = StateAt(Revision(at));
      explained = Holds(attempt, state) && Effect(attempt, state, revision).empty();
    }
    EXPECT_TRUE(explained) << "revision " << revision.value() << " is\n" << Logged(revision) << "not\n" << effect;
  }

  void CheckWatches() {
    for (const auto& watched : watched_) {
      std::vector<std::string> expected;
      ModelState state = StateAt(watched->from);
      for (auto at = disk_->ever.lower_bound({watched->from.Next(), 0});
           at != disk_->ever.end() && at->first.revision <= watched->position; ++at) {
        const auto& [place, entry] = *at;
        const auto found = state.find(entry.change.key);
        Event event{entry.change.key, entry.change.value, nullptr, place.revision, entry.create_revision};
        if (found != state.end()) event.previous = std::make_shared<const std::string>(found->second.value);
        if (entry.change.key.starts_with(watched->prefix)) expected.push_back(ToText(event));
        if (entry.change.value == nullptr) {
          state.erase(entry.change.key);
        } else {
          state[entry.change.key] = {*entry.change.value, entry.create_revision, place.revision};
        }
      }
      EXPECT_EQ(watched->events, expected) << "from " << watched->from.value() << " to " << watched->position.value();
      events_ += expected.size();
    }
  }

  rt::VirtualLoop loop_;
  rt::SeededRandom random_;
  std::shared_ptr<FakeDisk> disk_;
  std::unique_ptr<Store> store_;
  std::vector<std::shared_ptr<Attempt>> attempts_;
  std::vector<std::shared_ptr<Watched>> watched_;
  size_t commits_ = 0;
  size_t conflicts_ = 0;
  size_t failures_ = 0;
  size_t events_ = 0;
};

void CheckWorlds(uint64_t first_seed, uint64_t count) {
  size_t commits = 0;
  size_t conflicts = 0;
  size_t failures = 0;
  size_t events = 0;
  for (uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.Run();
    commits += world.commits();
    conflicts += world.conflicts();
    failures += world.failures();
    events += world.events();
  }
  // The worlds were not idle.
  EXPECT_GT(commits, 100 * count);
  EXPECT_GT(conflicts, 10 * count);
  EXPECT_GT(failures, count);
  EXPECT_GT(events, 100 * count);
}

TEST(StoreModelTest, EveryAnswerListAndWatchFollowsFromWhatTheDiskTook) { CheckWorlds(1, 50); }

// The same in more worlds: not among the unit tests, which take seconds.
TEST(LongStoreModelTest, EveryAnswerListAndWatchFollowsFromWhatTheDiskTook) { CheckWorlds(51, 450); }

}  // namespace
}  // namespace baton::store
