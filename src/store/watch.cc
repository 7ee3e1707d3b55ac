// Watches, and the hub that events reach them through.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "store/store.h"
#include "store/watch_hub.h"

namespace baton::store {

namespace {
// Handed out at once, and then to the end of their revision.
constexpr size_t kEventsPerPoll = 1000;
constexpr size_t kBytesPerPoll = size_t{4} << 20;
}  // namespace

// ---- the store's side ----

// Groups are sorted, and a prefix stands before what begins with it. So looking down from the key, a group that does
// not match tells how long a matching prefix further down can be at most: what the two have in common.
void WatchHub::Publish(const std::shared_ptr<const Event>& event) {
  const std::string_view key = event->key;
  auto at = groups_.upper_bound(key);
  while (at != groups_.begin()) {
    --at;
    if (key.starts_with(at->first)) {
      Append(*at->second, event);
      continue;
    }
    const auto differ = std::ranges::mismatch(key, at->first).in1;
    at = groups_.upper_bound(std::string_view(key.begin(), differ));
  }
}

void WatchHub::Append(WatchGroup& group, const std::shared_ptr<const Event>& event) {
  group.slots.push_back({event, group.readers});
  group.bytes += event->past_bytes();
  if (group.slots.size() > backlog_max_ || group.bytes > backlog_bytes_max_) {
    const uint64_t by_count = group.end() - std::min<uint64_t>(group.slots.size(), backlog_max_);
    const uint64_t kept = std::max(by_count, group.KeptFrom(backlog_bytes_max_));
    for (Watch* watch : group.watches) {
      if (watch->cursor_ < kept) watch->CutOff();
    }
  }
  group.DropRead();
  if (!std::exchange(group.touched, true)) touched_.push_back(&group);
}

void WatchGroup::DropRead() {
  for (; !slots.empty() && slots.front().readers == 0; ++first) {
    bytes -= slots.front().event->past_bytes();
    slots.pop_front();
  }
}

uint64_t WatchGroup::KeptFrom(size_t bytes_max) const {
  uint64_t kept = first;
  for (size_t left = bytes; left > bytes_max; ++kept) left -= slots[kept - first].event->past_bytes();
  return kept;
}

void WatchHub::Wake(Revision committed) {
  committed_ = committed;
  for (WatchGroup* group : touched_) {
    group->touched = false;
    group->changed.Set();
  }
  touched_.clear();
}

void WatchHub::Close() {
  closed_ = true;
  for (const auto& [prefix, group] : groups_) group->changed.Set();
}

WatchGroup& WatchHub::Join(const std::string& prefix, Watch& watch) {
  std::unique_ptr<WatchGroup>& group = groups_[prefix];
  if (group == nullptr) {
    group = std::make_unique<WatchGroup>();
    group->prefix = prefix;
  }
  group->watches.insert(&watch);
  ++group->readers;
  return *group;
}

void WatchHub::Leave(WatchGroup& group, Watch& watch) {
  watch.CutOff();
  group.DropRead();
  group.watches.erase(&watch);
  if (group.watches.empty()) groups_.erase(groups_.find(group.prefix));
}

Result<std::unique_ptr<Watch>> Store::OpenWatch(const std::string& prefix, Revision after) {
  if (after < compacted_) {
    return Error(ErrorKind::kGone,
                 StrCat("revision ", after.value(), " is compacted; the oldest kept is ", compacted_.value()));
  }
  if (after > committed_) {
    return InvalidError(StrCat("revision ", after.value(), " is in the future; the newest is ", committed_.value()));
  }
  std::deque<std::shared_ptr<const Event>> past;
  size_t past_bytes = 0;
  auto at = std::ranges::upper_bound(state_.history, after, {}, [](const auto& event) { return event->revision; });
  for (; at != state_.history.end(); ++at) {
    if (!(*at)->key.starts_with(prefix)) continue;
    past_bytes += (*at)->past_bytes();
    if (past_bytes > limits_.watch_backlog_bytes_max) {
      return Error(ErrorKind::kGone, StrCat("the changes of '", prefix, "' since revision ", after.value(),
                                            " are more than ", limits_.watch_backlog_bytes_max, " bytes: list again"));
    }
    past.push_back(*at);
  }
  return std::unique_ptr<Watch>(new Watch(hub_, prefix, std::move(past), after));
}

// ---- the watcher's side ----

Watch::Watch(std::shared_ptr<WatchHub> hub, const std::string& prefix, std::deque<std::shared_ptr<const Event>> past,
             Revision after)
    : hub_(std::move(hub)),
      group_(hub_->Join(prefix, *this)),
      cursor_(group_.end()),
      past_(std::move(past)),
      position_(after) {}

Watch::~Watch() { hub_->Leave(group_, *this); }

// Its place in the queue is given up; the caller drops what then nobody waits for.
void Watch::CutOff() {
  if (std::exchange(cut_off_, true)) return;
  --group_.readers;
  for (uint64_t number = cursor_; number < group_.end(); ++number) --group_.At(number).readers;
}

Result<std::vector<std::shared_ptr<const Event>>> Watch::Poll() {
  std::vector<std::shared_ptr<const Event>> events;
  size_t bytes = 0;
  const auto whole = [&](const Event& next) {  // a revision is not split over two calls
    const bool room = events.size() < kEventsPerPoll && bytes < kBytesPerPoll;
    return room || next.revision == events.back()->revision;
  };
  const auto hand_out = [&](std::shared_ptr<const Event> event) {
    const Bytes& told = event->deleted() ? event->previous : event->value;
    bytes += told == nullptr ? 0 : told->size();
    events.push_back(std::move(event));
  };
  while (!past_.empty() && whole(*past_.front())) {
    hand_out(std::move(past_.front()));
    past_.pop_front();
  }
  if (past_.empty() && !cut_off_) {
    for (; cursor_ < group_.end() && whole(*group_.At(cursor_).event); ++cursor_) {
      WatchGroup::Slot& slot = group_.At(cursor_);
      hand_out(slot.event);
      --slot.readers;
    }
    group_.DropRead();
  }
  if (!events.empty()) {
    position_ = events.back()->revision;
  } else if (cut_off_) {
    return Error(ErrorKind::kGone, StrCat("the watch of '", group_.prefix, "' fell more than ", hub_->backlog_max(),
                                          " events or ", hub_->backlog_bytes_max(), " bytes behind: list again"));
  }
  return events;
}

rt::Task<Result<std::vector<std::shared_ptr<const Event>>>> Watch::Next() {
  while (true) {
    std::vector<std::shared_ptr<const Event>> events = CO_TRY(Poll());
    if (!events.empty()) co_return events;
    if (hub_->closed()) co_return UnavailableError("the store is closed");
    group_.changed.Reset();
    co_await group_.changed.Wait();
  }
}

Revision Watch::position() const {
  const bool all_delivered = past_.empty() && !cut_off_ && cursor_ == group_.end();
  return all_delivered ? std::max(position_, hub_->committed()) : position_;
}

}  // namespace baton::store
