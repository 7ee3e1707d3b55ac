// The work queue: one entry per key, and two orders over the entries: what is ready, and what is delayed.
#include "kube/work_queue.h"

#include <algorithm>
#include <coroutine>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/invariant.h"
#include "rt/intrusive_list.h"

namespace baton::kube {

namespace {

enum class Pending : uint8_t { kNone, kDelayed, kDue };

// All that is known of one key. There is at most one request for it beside the work that goes on: adding merges.
struct Entry {
  Pending pending = Pending::kNone;
  Priority priority = Priority::kNormal;  // of what is pending, as the next two
  MonotonicTime at;                       // when it is, or was, due
  uint64_t sequence = 0;                  // its place among equals

  bool working = false;
  Priority taken_priority = Priority::kNormal;  // what was pending when the work began
  MonotonicTime taken_due;
  uint64_t taken_sequence = 0;
  MonotonicTime taken_at;

  size_t failures = 0;
};

using Entries = std::map<std::string, Entry, std::less<>>;
using Node = Entries::value_type;  // stays where it is while it is in the map

struct MoreUrgent {
  bool operator()(const Node* a, const Node* b) const {
    return std::tie(a->second.priority, a->second.sequence) < std::tie(b->second.priority, b->second.sequence);
  }
};
struct Sooner {
  bool operator()(const Node* a, const Node* b) const {
    return std::tie(a->second.at, a->second.sequence) < std::tie(b->second.at, b->second.sequence);
  }
};

}  // namespace

// Invariants between two turns of the loop:
//   - ready_ holds the entries that are due and not worked on, delayed_ those that are delayed, worked on or not;
//   - somebody waits only while each ready key is claimed, and each claim has a key: keys leave ready_ by being taken;
//   - the timer is set to when the first of delayed_ is due.
struct WorkQueue::Impl final : private rt::TimerNode {
 public:
  // A worker in Next(). Once woken it has a claim to some ready key, and takes the first when it runs: until then the
  // key is still the queue's, so that dropping the worker just passes the claim on.
  class TakeWait : private rt::WaitBase, public rt::ListHook<TakeWait> {
   public:
    explicit TakeWait(Impl& queue) : queue_(queue) {}
    ~TakeWait() {
      if (!has_claim_) return;
      --queue_.claimed_;
      queue_.WakeWorkers();
    }
    bool await_ready() const { return queue_.claimed_ < queue_.ready_.size(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      queue_.waiters_.PushBack(*this);
    }
    Item await_resume() {
      if (std::exchange(has_claim_, false)) --queue_.claimed_;
      return queue_.Take();
    }

   private:
    friend struct Impl;
    Impl& queue_;
    bool has_claim_ = false;
  };

  Impl(rt::Loop& loop, const WorkQueueOptions& options) : loop_(loop), options_(options) {
    INVARIANT(options_.backoff_first > Duration::zero() && options_.backoff_first <= options_.backoff_max,
              "the first back-off is more than nothing, and not more than the last");
    INVARIANT(options_.backoff_max <= kBackoffLimit, "a back-off is at most kBackoffLimit");
    INVARIANT(options_.jitter >= 0 && options_.jitter <= 1, "the jitter is a part of the back-off, from 0 to 1");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() override {
    INVARIANT(waiters_.empty() && claimed_ == 0 && working_ == 0, "a work queue outlives all who wait or work on it");
    options_.metrics.waiting.Set(0);
  }

  Node& FindOrMake(std::string_view key) {
    auto at = entries_.lower_bound(key);
    if (at == entries_.end() || at->first != key) {
      INVARIANT(entries_.size() < options_.keys_max, "a work queue has more keys than its keys_max");
      at = entries_.emplace_hint(at, std::string(key), Entry());
    }
    return *at;
  }

  // Merges a request with what is pending: the earliest time and the most urgent priority win. A key whose place does
  // not get better keeps the one it has.
  void Request(Node& node, MonotonicTime at, Priority priority) {
    options_.metrics.adds.Add();
    Entry& entry = node.second;
    if (entry.pending != Pending::kNone) {
      at = std::min(at, entry.at);
      priority = std::min(priority, entry.priority);
      if (at == entry.at && priority == entry.priority) return;
    }
    const bool due = at <= loop_.Now();  // what was due stays so, as the earliest time wins
    Unlist(node);
    entry.pending = due ? Pending::kDue : Pending::kDelayed;
    entry.priority = priority;
    entry.at = at;
    entry.sequence = ++sequence_;
    List(node);
  }

  void Retry(std::string_view key) {
    options_.metrics.retries.Add();
    Node& node = FindOrMake(key);
    Entry& entry = node.second;
    ++entry.failures;
    const Duration delay = BackoffAfter(entry.failures);
    Request(node, loop_.Now() + delay, entry.working ? entry.taken_priority : Priority::kNormal);
  }

  void Forget(std::string_view key) {
    const auto at = entries_.find(key);
    if (at == entries_.end()) return;
    at->second.failures = 0;
    EraseIfIdle(at);
  }

  // The work on the key ends; it did not even begin when nobody has seen the key.
  void Release(const std::string& key, bool seen) {
    const auto at = entries_.find(key);
    INVARIANT(at != entries_.end() && at->second.working, "the work on a key ends once");
    Entry& entry = at->second;
    Unlist(*at);
    entry.working = false;
    --working_;
    if (seen) {
      options_.metrics.work_seconds.Observe(loop_.Now() - entry.taken_at);
    } else {
      PutBack(entry);
    }
    List(*at);
    EraseIfIdle(at);
  }

  size_t Failures(std::string_view key) const {
    const auto at = entries_.find(key);
    return at == entries_.end() ? 0 : at->second.failures;
  }
  MonotonicTime After(Duration delay) const { return rt::Deadline::After(loop_, delay).at(); }
  MonotonicTime Now() const { return loop_.Now(); }
  size_t waiting() const { return ready_.size(); }
  size_t delayed() const { return delayed_.size(); }
  size_t working() const { return working_; }

 private:
  // Doubles until the cap; a random part of it is then taken off.
  Duration BackoffAfter(size_t failures) {
    Duration delay = options_.backoff_first;
    for (size_t i = 1; i < failures && delay < options_.backoff_max; ++i) delay *= 2;  // kBackoffLimit: no overflow
    delay = std::min(delay, options_.backoff_max);
    const Duration random_part(static_cast<Duration::rep>(static_cast<double>(delay.count()) * options_.jitter));
    return loop_.random().Between(delay - random_part, delay);
  }

  // Into the order it belongs to by its state, and out of it: around each change of a state.
  void List(Node& node) {
    const Entry& entry = node.second;
    if (entry.pending == Pending::kDelayed) {
      delayed_.insert(&node);
      SetTimerToFirst();
    } else if (entry.pending == Pending::kDue && !entry.working) {
      ready_.insert(&node);
      options_.metrics.waiting.Set(static_cast<double>(ready_.size()));
      WakeWorkers();
    }
  }
  void Unlist(Node& node) {
    const Entry& entry = node.second;
    if (entry.pending == Pending::kDelayed) {
      delayed_.erase(&node);
      SetTimerToFirst();
    } else if (entry.pending == Pending::kDue && !entry.working) {
      ready_.erase(&node);
      options_.metrics.waiting.Set(static_cast<double>(ready_.size()));
    }
  }

  // As if it had never been taken: what was added since merges with that, and only a raise gives it another place.
  void PutBack(Entry& entry) {
    const bool raised = entry.pending != Pending::kNone && entry.priority < entry.taken_priority;
    if (!raised) {
      entry.priority = entry.taken_priority;
      entry.sequence = entry.taken_sequence;
    }
    entry.pending = Pending::kDue;
    entry.at = entry.taken_due;
  }

  void EraseIfIdle(Entries::iterator at) {
    const Entry& entry = at->second;
    if (entry.pending == Pending::kNone && !entry.working && entry.failures == 0) entries_.erase(at);
  }

  Item Take() {
    Node& node = **ready_.begin();
    Entry& entry = node.second;
    Unlist(node);
    entry.working = true;
    entry.taken_priority = entry.priority;
    entry.taken_due = entry.at;
    entry.taken_sequence = entry.sequence;
    entry.taken_at = loop_.Now();
    entry.pending = Pending::kNone;
    ++working_;
    options_.metrics.wait_seconds.Observe(entry.taken_at - entry.taken_due);
    return {*this, node.first, entry.taken_priority};
  }

  void WakeWorkers() {
    while (claimed_ < ready_.size()) {
      TakeWait* const worker = waiters_.PopFront();
      if (worker == nullptr) return;
      worker->has_claim_ = true;
      ++claimed_;
      worker->Wake();
    }
  }

  void SetTimerToFirst() {
    const MonotonicTime at = delayed_.empty() ? kForever : (*delayed_.begin())->second.at;
    if (at == timer_at_) return;
    timer_at_ = at;
    loop_.SetTimer(*this, at);
  }

  // What is due comes in now, in the order of the times it was due at.
  void OnTimer() override {
    timer_at_ = kForever;  // it has rung
    const MonotonicTime now = loop_.Now();
    while (!delayed_.empty() && (*delayed_.begin())->second.at <= now) {
      Node& node = **delayed_.begin();
      delayed_.erase(delayed_.begin());
      node.second.pending = Pending::kDue;
      node.second.sequence = ++sequence_;
      List(node);
    }
    SetTimerToFirst();
  }

  rt::Loop& loop_;
  const WorkQueueOptions options_;
  Entries entries_;
  std::set<Node*, MoreUrgent> ready_;
  std::set<Node*, Sooner> delayed_;
  MonotonicTime timer_at_ = kForever;
  uint64_t sequence_ = 0;
  size_t working_ = 0;
  size_t claimed_ = 0;  // workers that were woken and have not run yet
  rt::IntrusiveList<TakeWait> waiters_;
};

WorkQueue::WorkQueue(rt::Loop& loop, const WorkQueueOptions& options) : impl_(std::make_unique<Impl>(loop, options)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(std::string_view key, Priority priority) {
  impl_->Request(impl_->FindOrMake(key), impl_->Now(), priority);
}
void WorkQueue::AddAfter(std::string_view key, Duration delay, Priority priority) {
  impl_->Request(impl_->FindOrMake(key), impl_->After(std::max(delay, Duration::zero())), priority);
}
void WorkQueue::Retry(std::string_view key) { impl_->Retry(key); }
void WorkQueue::Forget(std::string_view key) { impl_->Forget(key); }
size_t WorkQueue::Failures(std::string_view key) const { return impl_->Failures(key); }
size_t WorkQueue::waiting() const { return impl_->waiting(); }
size_t WorkQueue::delayed() const { return impl_->delayed(); }
size_t WorkQueue::working() const { return impl_->working(); }

rt::Task<WorkQueue::Item> WorkQueue::Next() { co_return co_await Impl::TakeWait(*impl_); }

WorkQueue::Item::Item(Impl& queue, std::string key, Priority priority)
    : queue_(&queue), key_(std::move(key)), priority_(priority) {}
WorkQueue::Item::Item(Item&& other) noexcept
    : queue_(std::exchange(other.queue_, nullptr)),
      key_(std::move(other.key_)),
      priority_(other.priority_),
      seen_(other.seen_) {}
WorkQueue::Item& WorkQueue::Item::operator=(Item&& other) noexcept {
  if (this == &other) return *this;
  Release();
  queue_ = std::exchange(other.queue_, nullptr);
  key_ = std::move(other.key_);
  priority_ = other.priority_;
  seen_ = other.seen_;
  return *this;
}
WorkQueue::Item::~Item() { Release(); }
void WorkQueue::Item::Release() {
  if (Impl* const queue = std::exchange(queue_, nullptr)) queue->Release(key_, seen_);
}

}  // namespace baton::kube
