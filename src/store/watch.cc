// Watches. All watches of one prefix share one queue of events and keep a place in it, so an event costs the writer one
// append per prefix, whatever the number of watchers, and a slow watcher costs nobody anything.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "store/store.h"

namespace baton::store {

namespace {
constexpr size_t kEventsPerPoll = 1000;  // handed out at once
constexpr size_t kTrimEvery = 1024;      // events between two looks at what everybody has read
}  // namespace

// Invariants: first + events.size() is the number of events ever published; a watch's cursor never passes it.
struct Store::WatchGroup {
  std::string prefix;
  std::deque<std::shared_ptr<const Event>> events;
  uint64_t first = 0;  // number of the event in front
  std::vector<Watch*> watches;
  rt::Event changed;

  uint64_t end() const { return first + events.size(); }
};

// ---- the store's side ----

void Store::Publish(const std::shared_ptr<const Event>& event) {
  for (auto at = watch_groups_.begin(); at != watch_groups_.end();) {
    const std::shared_ptr<WatchGroup> group = at->second.lock();
    if (group == nullptr) {
      at = watch_groups_.erase(at);
      continue;
    }
    ++at;
    if (!event->key.starts_with(group->prefix)) continue;
    group->events.push_back(event);
    if (group->events.size() % kTrimEvery == 0) {
      uint64_t slowest = group->end();
      for (const Watch* watch : group->watches) slowest = std::min(slowest, watch->cursor_);
      for (; group->first < slowest && !group->events.empty(); ++group->first) group->events.pop_front();
    }
    if (group->events.size() > limits_.watch_backlog_max) {
      group->events.pop_front();
      ++group->first;
    }
  }
}

void Store::WakeWatchers() {
  for (const auto& [prefix, weak] : watch_groups_) {
    const std::shared_ptr<WatchGroup> group = weak.lock();
    if (group != nullptr) group->changed.Set();
  }
}

Result<std::unique_ptr<Watch>> Store::OpenWatch(std::string prefix, Revision after) {
  if (after < compacted_) {
    return Error(ErrorKind::kGone,
                 StrCat("revision ", after.value(), " is compacted; the oldest kept is ", compacted_.value()));
  }
  if (after > committed_) {
    return InvalidError(StrCat("revision ", after.value(), " is in the future; the newest is ", committed_.value()));
  }
  std::shared_ptr<WatchGroup> group = watch_groups_[prefix].lock();
  if (group == nullptr) {
    group = std::make_shared<WatchGroup>();
    group->prefix = prefix;
    watch_groups_[prefix] = group;
  }
  std::vector<std::shared_ptr<const Event>> past;
  auto at = std::ranges::upper_bound(state_.history, after, {}, [](const auto& event) { return event->revision; });
  for (; at != state_.history.end(); ++at) {
    if ((*at)->key.starts_with(prefix)) past.push_back(*at);
  }
  return std::unique_ptr<Watch>(new Watch(*this, std::move(group), std::move(past), after));
}

// ---- the watcher's side ----

Watch::Watch(Store& store, std::shared_ptr<Store::WatchGroup> group, std::vector<std::shared_ptr<const Event>> past,
             Revision after)
    : store_(store), group_(std::move(group)), cursor_(group_->end()), past_(std::move(past)), position_(after) {
  group_->watches.push_back(this);
}

Watch::~Watch() { std::erase(group_->watches, this); }

Result<std::vector<std::shared_ptr<const Event>>> Watch::Poll() {
  std::vector<std::shared_ptr<const Event>> events;
  if (!past_.empty()) {
    events = std::exchange(past_, {});
  } else {
    if (cursor_ < group_->first) {
      return Error(ErrorKind::kGone, StrCat("the watch of '", group_->prefix, "' fell more than ",
                                            store_.limits_.watch_backlog_max, " events behind: list again"));
    }
    const uint64_t count = std::min<uint64_t>(kEventsPerPoll, group_->end() - cursor_);
    const auto from = group_->events.begin() + static_cast<std::ptrdiff_t>(cursor_ - group_->first);
    events.assign(from, from + static_cast<std::ptrdiff_t>(count));
    cursor_ += count;
  }
  if (!events.empty()) position_ = events.back()->revision;
  return events;
}

rt::Task<Result<std::vector<std::shared_ptr<const Event>>>> Watch::Next() {
  while (true) {
    std::vector<std::shared_ptr<const Event>> events = CO_TRY(Poll());
    if (!events.empty()) co_return events;
    group_->changed.Reset();
    co_await group_->changed.Wait();
  }
}

Revision Watch::position() const {
  const bool all_delivered = past_.empty() && cursor_ == group_->end();
  return all_delivered ? std::max(position_, store_.committed_) : position_;
}

}  // namespace baton::store
