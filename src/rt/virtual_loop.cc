// The deterministic loop.
#include "rt/virtual_loop.h"

#include <utility>

namespace baton::rt {

VirtualLoop::VirtualLoop(uint64_t seed) : schedule_(seed), random_(schedule_.Fork()) {}

VirtualLoop::~VirtualLoop() {
  for (const std::shared_ptr<OffloadJob>& job : offloaded_) job->RunToItsEnd();
}

WallTime VirtualLoop::WallNow() const {
  WallTime::rep wall = kStart.time_since_epoch().count();
  for (const Duration part : {now_.time_since_epoch(), wall_offset_}) {
    if (__builtin_add_overflow(wall, part.count(), &wall)) return part.count() > 0 ? WallTime::max() : WallTime::min();
  }
  return WallTime(Duration(wall));
}

void VirtualLoop::MakeReady(Fiber& fiber) {
  if (fiber.abandoned_) return;
  INVARIANT(fiber.ready_index_ == Fiber::kNotReady, "a fiber is woken once per suspension");
  fiber.ready_index_ = ready_.size();
  ready_.push_back(&fiber);
}

void VirtualLoop::RemoveReady(Fiber& fiber) {
  const size_t index = std::exchange(fiber.ready_index_, Fiber::kNotReady);
  Fiber* last = ready_.back();
  ready_.pop_back();
  if (last == &fiber) return;
  ready_[index] = last;
  last->ready_index_ = index;
}

// The pool of the virtual world: a job runs and is seen as done at a later turn, in seeded order, at no cost of time.
void VirtualLoop::StartOffload(std::shared_ptr<OffloadJob> job) { offloaded_.push_back(std::move(job)); }

void VirtualLoop::RunUntil(const bool& done) {
  while (!done) {
    const size_t choices = ready_.size() + offloaded_.size();
    if (choices == 0) {
      const std::optional<MonotonicTime> next = NextTimer();
      INVARIANT(next.has_value(), "deadlock: every fiber waits and no timer is set");
      if (*next > now_) steps_at_instant_ = steps_;
      now_ = std::max(now_, *next);
      FireWakesOrOneDeadline(now_);
      continue;
    }
    const size_t pick = schedule_.Below(choices);
    if (pick < ready_.size()) {
      Fiber& fiber = *ready_[pick];
      RemoveReady(fiber);
      INVARIANT(++steps_ - steps_at_instant_ <= steps_per_instant_max_,
                "livelock: fibers run on and on at one instant");
      Resume(fiber);
      if (on_step_) on_step_();
      continue;
    }
    const size_t index = pick - ready_.size();
    const std::shared_ptr<OffloadJob> job = std::exchange(offloaded_[index], std::move(offloaded_.back()));
    offloaded_.pop_back();
    job->RunToItsEnd();
    if (job->on_done != nullptr) job->on_done();
  }
}

}  // namespace baton::rt
