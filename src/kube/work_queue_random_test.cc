// The work queue under many producers, workers and cancellations, held against a model that is slow and plain: 1,000
// seeds. Jitter is off here, so that the model knows every time; work_queue_test.cc has the bounds of the jitter.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "kube/work_queue.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

using rt::Scope;
using rt::Task;
using rt::VirtualLoop;

constexpr uint64_t kSeeds = 1000;
constexpr Duration kFirst = milliseconds(8);
constexpr Duration kMax = milliseconds(50);
constexpr std::array<Duration, 5> kBackoffs = {milliseconds(8), milliseconds(16), milliseconds(32), kMax, kMax};

struct Wanted {
  bool due;
  MonotonicTime at;
  Priority priority;
  uint64_t order;
};

struct ModelKey {
  std::optional<Wanted> wanted;
  std::optional<Wanted> taken;  // while it is worked on
  size_t failures = 0;
  // Independent of the rest of the model: when it was last added and last begun, in numbers of things that happened.
  uint64_t last_add = 0;
  uint64_t last_begin = 0;
};

class Model {
 public:
  explicit Model(const VirtualLoop& loop) : loop_(loop) {}

  void Add(const std::string& name, Duration delay, Priority priority) {
    ModelKey& key = Get(name);
    key.last_add = ++happened_;
    const MonotonicTime at = loop_.Now() + delay;
    if (!key.wanted) {
      key.wanted = Wanted{delay <= Duration::zero(), at, priority, ++happened_};
      return;
    }
    Wanted& wanted = *key.wanted;
    const bool becomes_due = !wanted.due && delay <= Duration::zero();
    const bool raised = priority < wanted.priority;
    const bool sooner = !wanted.due && at < wanted.at;
    if (raised || sooner || becomes_due) wanted.order = ++happened_;
    if (raised) wanted.priority = priority;
    if (sooner) wanted.at = at;
    if (becomes_due) wanted.due = true;
  }
  void Retry(const std::string& name) {
    ModelKey& key = Get(name);
    const Duration delay = kBackoffs[std::min(key.failures, kBackoffs.size() - 1)];
    ++key.failures;
    Add(name, delay, key.taken ? key.taken->priority : Priority::kNormal);
  }
  void Forget(const std::string& name) { Get(name).failures = 0; }

  // Which key is next; the queue must agree.
  std::optional<std::string> Best() {
    LetTimePass();
    std::optional<std::string> best;
    std::tuple<Priority, uint64_t> best_rank;
    for (const auto& [name, key] : keys_) {
      if (key.taken || !key.wanted || !key.wanted->due) continue;
      const std::tuple<Priority, uint64_t> rank(key.wanted->priority, key.wanted->order);
      if (!best || rank < best_rank) std::tie(best, best_rank) = std::tuple(name, rank);
    }
    return best;
  }
  void Take(const std::string& name) {
    ModelKey& key = Get(name);
    key.taken = std::exchange(key.wanted, std::nullopt);
  }
  void Begin(const std::string& name) { Get(name).last_begin = ++happened_; }
  void Release(const std::string& name, bool seen) {
    ModelKey& key = Get(name);
    const Wanted taken = *std::exchange(key.taken, std::nullopt);
    if (seen) return;
    if (!key.wanted || key.wanted->priority >= taken.priority) {
      key.wanted = taken;
    } else {
      key.wanted->due = true;
    }
  }

  size_t Count(auto condition) {
    LetTimePass();
    return static_cast<size_t>(std::ranges::count_if(keys_, [&](const auto& pair) { return condition(pair.second); }));
  }
  size_t waiting() {
    return Count([](const ModelKey& key) { return !key.taken && key.wanted && key.wanted->due; });
  }
  size_t delayed() {
    return Count([](const ModelKey& key) { return key.wanted && !key.wanted->due; });
  }
  size_t working() {
    return Count([](const ModelKey& key) { return key.taken.has_value(); });
  }
  ModelKey& Get(const std::string& name) {
    LetTimePass();
    return keys_[name];
  }
  const std::map<std::string, ModelKey>& keys() const { return keys_; }

 private:
  void LetTimePass() {
    std::vector<Wanted*> now_due;
    for (auto& [name, key] : keys_) {
      if (key.wanted && !key.wanted->due && key.wanted->at <= loop_.Now()) now_due.push_back(&*key.wanted);
    }
    std::ranges::sort(now_due, {}, [](const Wanted* wanted) { return std::tuple(wanted->at, wanted->order); });
    for (Wanted* wanted : now_due) {
      wanted->due = true;
      wanted->order = ++happened_;
    }
  }

  const VirtualLoop& loop_;
  uint64_t happened_ = 0;
  std::map<std::string, ModelKey> keys_;
};

// An item and what the model thinks it is. Like the item it may be dropped before anybody has looked at it.
class Held {
 public:
  Held(Model& model, WorkQueue::Item item, std::string name)
      : model_(&model), item_(std::move(item)), name_(std::move(name)) {}
  Held(Held&& other) noexcept
      : model_(std::exchange(other.model_, nullptr)),
        item_(std::move(other.item_)),
        name_(std::move(other.name_)),
        seen_(other.seen_) {}
  ~Held() {
    if (model_ != nullptr) model_->Release(name_, seen_);
  }
  const std::string& See() {
    seen_ = true;
    model_->Begin(name_);
    EXPECT_EQ(item_.key(), name_);
    return name_;
  }
  const WorkQueue::Item& item() const { return item_; }

 private:
  Model* model_;
  WorkQueue::Item item_;
  std::string name_;
  bool seen_ = false;
};

class Trial {
 public:
  explicit Trial(uint64_t seed) : loop_(seed), random_(seed * 7919 + 1), model_(loop_), queue_(loop_, Options()) {
    keys_ = 1 + random_.Below(8);
    loop_.OnEveryStep([this] { CheckStep(); });
  }

  void Run() { loop_.Run(Program()); }
  uint64_t unseen() const { return unseen_; }
  uint64_t works() const { return works_; }

 private:
  static WorkQueueOptions Options() {
    WorkQueueOptions options;
    options.backoff_first = kFirst;
    options.backoff_max = kMax;
    options.jitter = 0;
    options.keys_max = 8;
    return options;
  }

  Task<void> Program() {
    {
      Scope steady(loop_);  // one worker stays, the others come and go
      steady.Spawn(Worker());
      Scope producers(loop_);
      for (uint64_t i = 2 + random_.Below(4); i > 0; --i) producers.Spawn(Producer());
      while (producers.active() > 0) {
        Scope fleeting(loop_);
        for (uint64_t i = random_.Below(4); i > 0; --i) fleeting.Spawn(Worker());
        co_await loop_.Sleep(RandomDelay());
      }
      failing_ = false;
      co_await loop_.Sleep(seconds(10));
    }
    for (const auto& [name, key] : model_.keys()) {
      EXPECT_GT(key.last_begin, key.last_add) << name << " was added and never worked on";
      EXPECT_FALSE(key.wanted) << name;
    }
    EXPECT_EQ(queue_.waiting() + queue_.delayed() + queue_.working(), 0);
  }

  Duration RandomDelay() { return milliseconds(random_.Between(0, 20)); }
  std::string RandomKey() { return StrCat("key-", random_.Below(keys_)); }
  Priority RandomPriority() { return static_cast<Priority>(random_.Below(3)); }

  Task<void> Producer() {
    for (int i = 0; i < 15; ++i) {
      AddSomething(RandomKey());
      if (random_.Chance(0.7)) co_await loop_.Sleep(RandomDelay());
    }
  }
  void AddSomething(const std::string& key) {
    const Priority priority = RandomPriority();
    switch (random_.Below(4)) {
      case 0: {
        const Duration delay = RandomDelay();
        model_.Add(key, delay, priority);
        return queue_.AddAfter(key, delay, priority);
      }
      case 1:
        model_.Retry(key);
        queue_.Retry(key);
        EXPECT_EQ(queue_.Failures(key), model_.Get(key).failures);
        return;
      default:
        model_.Add(key, Duration::zero(), priority);
        return queue_.Add(key, priority);
    }
  }

  Task<Held> TakeOne() {
    ++asking_;
    std::optional<rt::AtExit<std::function<void()>>> counted(std::in_place, [this] { --asking_; });
    WorkQueue::Item item = co_await queue_.Next();
    counted.reset();
    const std::optional<std::string> best = model_.Best();
    EXPECT_TRUE(best.has_value()) << "a key came that is not due, or is worked on";
    const std::string name = best.value_or("none");
    if (!best) model_.Add(name, Duration::zero(), item.priority());
    EXPECT_EQ(item.priority(), model_.Get(name).wanted->priority);
    model_.Take(name);
    co_return Held(model_, std::move(item), name);
  }
  // In the ways in which a taken key can fail to reach anybody.
  Task<std::optional<Held>> TakeSomehow() {
    switch (random_.Below(3)) {
      case 0: {
        std::vector<Task<Held>> two;
        two.push_back(TakeOne());
        two.push_back(TakeOne());
        auto first = co_await rt::WhenAny(std::move(two));
        co_return std::move(first.value);
      }
      case 1: {
        auto held = co_await rt::WithDeadline(rt::Deadline::After(loop_, RandomDelay()), "a key", TakeOne());
        if (!held.ok()) co_return std::nullopt;
        co_return *std::move(held);
      }
      default:
        co_return co_await TakeOne();
    }
  }

  Task<void> Worker() {
    while (true) {
      std::optional<Held> held = co_await TakeSomehow();
      if (!held) {
        co_await loop_.Sleep(milliseconds(1));  // a deadline of no time must not make this spin
        continue;
      }
      if (random_.Chance(0.1)) {
        ++unseen_;
        if (random_.Chance(0.5)) co_await loop_.Sleep(RandomDelay());
        continue;
      }
      const std::string& key = held->See();
      ++works_;
      EXPECT_TRUE(at_work_.insert(key).second) << "two workers on " << key;
      const rt::AtExit leaving([this, key] { at_work_.erase(key); });
      if (random_.Chance(0.8)) co_await loop_.Sleep(RandomDelay());
      if (failing_ && random_.Chance(0.3)) {
        AddSomething(key);
      } else {
        model_.Forget(key);
        queue_.Forget(key);
        EXPECT_EQ(queue_.Failures(key), 0);
      }
    }
  }

  void CheckStep() {
    if (loop_.Now() != last_step_) EXPECT_FALSE(last_idle_with_work_) << "time passed while a worker and a key waited";
    last_step_ = loop_.Now();
    EXPECT_EQ(queue_.waiting(), model_.waiting());
    EXPECT_EQ(queue_.delayed(), model_.delayed());
    EXPECT_EQ(queue_.working(), model_.working());
    last_idle_with_work_ = asking_ > 0 && queue_.waiting() > 0;
  }

  VirtualLoop loop_;
  rt::SeededRandom random_;
  Model model_;
  WorkQueue queue_;
  uint64_t keys_ = 0;
  bool failing_ = true;
  int asking_ = 0;  // how many are in Next()
  uint64_t unseen_ = 0;
  uint64_t works_ = 0;
  std::set<std::string> at_work_;
  MonotonicTime last_step_;
  bool last_idle_with_work_ = false;
};

TEST(WorkQueueRandomTest, NoKeyIsLostOrWorkedOnTwiceAtOnceAndTheOrderIsThatOfTheModel) {
  uint64_t works = 0;
  uint64_t unseen = 0;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Trial trial(seed);
    trial.Run();
    works += trial.works();
    unseen += trial.unseen();
  }
  EXPECT_GT(works, kSeeds * 20);  // the trials are worth their name
  EXPECT_GT(unseen, kSeeds);
}

}  // namespace
}  // namespace baton::kube
