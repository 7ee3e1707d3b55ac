// The parts that both loops share: fibers' turns, the timer heap, deadlines.
#include "rt/loop.h"

#include <algorithm>
#include <exception>
#include <string>

#include "base/strings.h"

namespace baton::rt {

Deadline Deadline::After(const Clock& clock, Duration timeout) {
  const MonotonicTime now = clock.Now();
  if (timeout >= kForever - now) return Never();
  return Deadline(now + timeout);
}

Duration Deadline::Left(const Clock& clock) const {
  if (never()) return Duration::max();
  const MonotonicTime now = clock.Now();
  return at_ <= now ? Duration::zero() : at_ - now;
}

// ---- fibers ----

Fiber::Fiber(Loop& loop, Fiber* parent) : loop_(loop), parent_(parent) { ++loop_.fibers_; }

Fiber::~Fiber() {
  if (ready_index_ != kNotReady) loop_.RemoveReady(*this);
  --loop_.fibers_;
}

Fiber::Dropping::Dropping(Fiber& fiber) : fiber_(fiber) {
  Loop& loop = fiber.loop_;
  INVARIANT(loop.running_ != &fiber, "a fiber may not destroy the scope it runs in: use Scope::CancelAll");
  fiber.dropping_below_ = std::exchange(loop.dropping_, &fiber);
  fiber.abandoned_ = true;
}

Fiber::Dropping::~Dropping() { fiber_.loop_.dropping_ = fiber_.dropping_below_; }

void Fiber::Start(std::coroutine_handle<> root) {
  resume_point_ = root;
  loop_.MakeReady(*this);
}

void WaitBase::Wake() noexcept { fiber_->loop().MakeReady(*fiber_); }

void EndOnException(std::string_view where) noexcept {
  std::string what = StrCat("an exception tried to leave ", where);
  try {
    throw;
  } catch (const std::exception& exception) {
    StrAppend(what, ": ", exception.what());
  } catch (...) {
    what.append(" (not a std::exception)");
  }
  InvariantBroken("no exception", what);
}

void OffloadJob::RunToItsEnd() noexcept {
  try {
    Run();
  } catch (...) {
    EndOnException("offloaded work");
  }
}

Loop::~Loop() {
  INVARIANT(fibers_ == 0, "a loop outlives its fibers");
  INVARIANT(timers_.empty(), "a loop outlives everything that waits on it");
  FrameCache::Trim();
}

void Loop::Drive(const bool& done) {
  in_run_ = true;
  try {
    RunUntil(done);
  } catch (...) {
    EndOnException("a callback on the loop");
  }
  in_run_ = false;
}

Loop::SleepWait Loop::Sleep(Duration duration) { return {*this, Deadline::After(*this, duration).at()}; }

void Loop::Resume(Fiber& fiber) {
  running_ = &fiber;
  fiber.resume_point_.resume();
  running_ = nullptr;
  if (fiber.finished_ && !fiber.abandoned_) fiber.OnFinished();
  DestroyAbandoned();
}

void Loop::DestroyLater(Fiber& fiber) {
  fiber.abandoned_ = true;
  if (fiber.ready_index_ != Fiber::kNotReady) RemoveReady(fiber);
  abandoned_.PushBack(fiber);
}

// One by one: a destructor may abandon more fibers, or destroy others that are in the list.
void Loop::DestroyAbandoned() {
  while (const Fiber* fiber = abandoned_.PopFront()) delete fiber;
}

bool Loop::CallerIsIn(const Fiber& fiber) const {
  const auto is_at_or_below = [&fiber](const Fiber* lower) {
    while (lower != nullptr && lower != &fiber) lower = lower->parent_.get();
    return lower != nullptr;
  };
  if (is_at_or_below(running_)) return true;
  for (const Fiber* dropped = dropping_; dropped != nullptr; dropped = dropped->dropping_below_) {
    if (is_at_or_below(dropped)) return true;
  }
  return false;
}

// ---- timers ----

TimerNode::~TimerNode() {
  if (loop_ != nullptr) loop_->ClearTimer(*this);
}

bool Loop::Before(size_t a, size_t b) const {
  const TimerNode& x = *timers_[a];
  const TimerNode& y = *timers_[b];
  if (x.at_ != y.at_) return x.at_ < y.at_;
  if (x.kind_ != y.kind_) return x.kind_ == TimerKind::kWake;
  return (x.sequence_ < y.sequence_) == (x.kind_ == TimerKind::kWake);
}

void Loop::Place(size_t index, TimerNode* timer) {
  timers_[index] = timer;
  timer->heap_index_ = index;
}

void Loop::SiftUp(size_t index) {
  while (index > 0 && Before(index, (index - 1) / 2)) {
    TimerNode* parent = timers_[(index - 1) / 2];
    Place((index - 1) / 2, timers_[index]);
    Place(index, parent);
    index = (index - 1) / 2;
  }
}

void Loop::SiftDown(size_t index) {
  while (true) {
    size_t least = index;
    for (size_t child = 2 * index + 1; child <= 2 * index + 2 && child < timers_.size(); ++child) {
      if (Before(child, least)) least = child;
    }
    if (least == index) return;
    TimerNode* moved = timers_[index];
    Place(index, timers_[least]);
    Place(least, moved);
    index = least;
  }
}

void Loop::SetTimer(TimerNode& timer, MonotonicTime at, TimerKind kind) {
  if (timer.loop_ != nullptr) ClearTimer(timer);
  if (at == kForever) return;  // never: nothing to keep
  timer.loop_ = this;
  timer.at_ = at;
  timer.kind_ = kind;
  timer.sequence_ = ++timer_sequence_;
  timers_.push_back(nullptr);
  Place(timers_.size() - 1, &timer);
  SiftUp(timers_.size() - 1);
}

void Loop::ClearTimer(TimerNode& timer) {
  if (timer.loop_ == nullptr) return;
  const size_t index = timer.heap_index_;
  timer.loop_ = nullptr;
  TimerNode* last = timers_.back();
  timers_.pop_back();
  if (last == &timer) return;
  Place(index, last);
  SiftUp(index);
  SiftDown(last->heap_index_);
}

std::optional<MonotonicTime> Loop::NextTimer() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.front()->at_;
}

void Loop::FireFirst() {
  TimerNode& timer = *timers_.front();
  ClearTimer(timer);
  timer.OnTimer();
}

// Timers set while firing wait for the next time, so that one which sets itself again cannot keep this going forever.
void Loop::FireTimers(MonotonicTime now) {
  const uint64_t newest = timer_sequence_;
  while (!timers_.empty() && timers_.front()->at_ <= now && timers_.front()->sequence_ <= newest) FireFirst();
}

void Loop::FireWakesOrOneDeadline(MonotonicTime now) {
  if (timers_.empty() || timers_.front()->at_ > now) return;
  if (timers_.front()->kind_ == TimerKind::kDeadline) return FireFirst();
  const uint64_t newest = timer_sequence_;
  while (!timers_.empty() && timers_.front()->at_ <= now && timers_.front()->kind_ == TimerKind::kWake &&
         timers_.front()->sequence_ <= newest) {
    FireFirst();
  }
}

}  // namespace baton::rt
