// The deterministic loop.
#include "rt/virtual_loop.h"

#include <utility>

namespace baton::rt {

VirtualLoop::VirtualLoop(uint64_t seed) : schedule_(seed), random_(schedule_.Fork()) {}

void VirtualLoop::Reseed(uint64_t seed) {
  schedule_ = SeededRandom(seed);
  random_ = schedule_.Fork();
}

VirtualLoop::~VirtualLoop() {
  for (const std::shared_ptr<OffloadJob>& job : offloaded_) job->RunToItsEnd();
}

WallTime VirtualLoop::WallNow() const {
  WallTime::rep wall = kStart.time_since_epoch().count();
  const Duration skew = running() == nullptr ? Duration{0} : processes_[ProcessOf(*running())].skew;
  for (const Duration part : {now_.time_since_epoch(), wall_offset_, skew}) {
    if (__builtin_add_overflow(wall, part.count(), &wall)) return part.count() > 0 ? WallTime::max() : WallTime::min();
  }
  return WallTime(Duration(wall));
}

void VirtualLoop::MakeReady(Fiber& fiber) {
  if (fiber.abandoned_) return;
  INVARIANT(fiber.ready_index_ == Fiber::kNotReady, "a fiber is woken once per suspension");
  if (inside_ != 0) {
    std::erase_if(roots_, [](const Root& root) { return root.fiber.get() == nullptr; });
    roots_.emplace_back(fiber, inside_);
  }
  std::vector<Fiber*>& list = processes_[ProcessOf(fiber)].frozen ? frozen_ : ready_;
  fiber.ready_index_ = list.size();
  list.push_back(&fiber);
}

void VirtualLoop::RemoveReady(Fiber& fiber) {
  const size_t index = std::exchange(fiber.ready_index_, Fiber::kNotReady);
  const bool frozen = index < frozen_.size() && frozen_[index] == &fiber;
  std::vector<Fiber*>& list = frozen ? frozen_ : ready_;
  Fiber* last = list.back();
  list.pop_back();
  if (last == &fiber) return;
  list[index] = last;
  last->ready_index_ = index;
}

VirtualLoop::ProcessId VirtualLoop::NewProcess() {
  processes_.emplace_back();
  return static_cast<ProcessId>(processes_.size() - 1);
}

VirtualLoop::ProcessId VirtualLoop::ProcessOf(const Fiber& fiber) const {
  if (roots_.empty()) return 0;
  for (const Fiber* at = &fiber; at != nullptr; at = at->parent_.get()) {
    for (const Root& root : roots_) {
      if (root.fiber.get() == at) return root.process;
    }
  }
  return 0;
}

VirtualLoop::Inside::Inside(VirtualLoop& loop, ProcessId process)
    : loop_(loop), before_(std::exchange(loop.inside_, process)) {
  INVARIANT(process < loop.processes_.size(), "there is such a process");
}

VirtualLoop::Inside::~Inside() { loop_.inside_ = before_; }

void VirtualLoop::Move(ProcessId process, std::vector<Fiber*>& from, std::vector<Fiber*>& to) {
  std::vector<Fiber*> staying;
  for (Fiber* fiber : from) {
    std::vector<Fiber*>& list = ProcessOf(*fiber) == process ? to : staying;
    fiber->ready_index_ = list.size();
    list.push_back(fiber);
  }
  from = std::move(staying);
}

void VirtualLoop::Freeze(ProcessId process) {
  INVARIANT(process != 0 && (running() == nullptr || ProcessOf(*running()) != process),
            "a process is frozen by others");
  if (std::exchange(processes_.at(process).frozen, true)) return;
  Move(process, ready_, frozen_);
}

void VirtualLoop::Thaw(ProcessId process) {
  if (!std::exchange(processes_.at(process).frozen, false)) return;
  Move(process, frozen_, ready_);
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
