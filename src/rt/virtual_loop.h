// VirtualLoop: the deterministic loop of the simulator and of tests.
//
// One thread, virtual time, one seed. Of the runnable fibers the seed picks the next; the clock moves only when nothing
// is runnable, and then straight to the next timer. Deadlines pass last: when nothing else is left to do at their
// instant, one at a time, the innermost first. Two runs of one program with one seed do exactly the same, in every
// build. A program in which nothing is runnable and no timer is set can never go on, nor one that never lets time pass:
// Run() then ends the process and says so.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "rt/loop.h"

namespace baton::rt {

class VirtualLoop final : public Loop {
 public:
  // Virtual time begins here, so that traces are the same whenever they are made.
  static constexpr WallTime kStart = WallTime(std::chrono::seconds(1'893'456'000));  // 2030-01-01T00:00:00Z

  // Turns within one instant of virtual time before it counts as a livelock.
  static constexpr uint64_t kStepsPerInstantMax = 100'000'000;

  explicit VirtualLoop(uint64_t seed);
  ~VirtualLoop() override;

  MonotonicTime Now() const override { return now_; }
  WallTime WallNow() const override;  // stands still at the ends of what a WallTime can tell
  Random& random() override { return random_; }
  void MakeReady(Fiber& fiber) override;

  // A clock that people set: only WallNow() jumps.
  void JumpWallClock(Duration by) { wall_offset_ += by; }

  // From here on it chooses as another seed says: for runs that differ only after a common beginning.
  void Reseed(uint64_t seed);

  uint64_t steps() const { return steps_; }  // turns given to fibers so far

  // ---- simulated processes: fibers that stop together and have a wall clock of their own ----
  // Those that are started while an Inside stands begin a process; a fiber whose parent is of a process is of it, too.
  // All others are process 0, the world, which has no such troubles.
  using ProcessId = uint32_t;
  ProcessId NewProcess();
  class Inside {
   public:
    Inside(VirtualLoop& loop, ProcessId process);
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside();

   private:
    VirtualLoop& loop_;
    ProcessId before_;
  };
  // As SIGSTOP and SIGCONT: its fibers get no turn while time goes on. What wakes them meanwhile they hear of when they
  // go on, in an order that the seed chooses. Not from the process itself.
  void Freeze(ProcessId process);
  void Thaw(ProcessId process);
  bool frozen(ProcessId process) const { return processes_.at(process).frozen; }
  // What WallNow() says to its fibers, beside the world's; not what is said to the servers that they call, when those
  // work in fibers of the world.
  void SetWallSkew(ProcessId process, Duration skew) { processes_.at(process).skew = skew; }

  // For programs that are known to do little at one instant.
  void LimitStepsPerInstant(uint64_t steps) { steps_per_instant_max_ = steps; }

  // Called after every turn, with no fiber running: the simulator's invariants stand here.
  void OnEveryStep(std::function<void()> check) { on_step_ = std::move(check); }

 private:
  void RemoveReady(Fiber& fiber) override;
  void StartOffload(std::shared_ptr<OffloadJob> job) override;
  void RunUntil(const bool& done) override;

  struct Process {
    bool frozen = false;
    Duration skew{0};
  };
  struct Root {
    Root(Fiber& first, ProcessId of) : fiber(&first), process(of) {}
    WeakFiber fiber;
    ProcessId process;
  };
  ProcessId ProcessOf(const Fiber& fiber) const;
  void Move(ProcessId process, std::vector<Fiber*>& from, std::vector<Fiber*>& to);

  // Picks the next fiber; apart from random_, so that asking for numbers does not reorder turns.
  SeededRandom schedule_;
  SeededRandom random_;
  MonotonicTime now_;
  Duration wall_offset_{0};
  std::vector<Fiber*> ready_;
  std::vector<Fiber*> frozen_;  // would be ready, but for their processes
  std::vector<Process> processes_ = {Process{}};
  std::list<Root> roots_;  // the first fibers of processes
  ProcessId inside_ = 0;   // what new fibers begin; 0: nothing
  std::vector<std::shared_ptr<OffloadJob>> offloaded_;
  uint64_t steps_ = 0;
  uint64_t steps_at_instant_ = 0;  // steps_ when the clock last moved
  uint64_t steps_per_instant_max_ = kStepsPerInstantMax;
  std::function<void()> on_step_;
};

}  // namespace baton::rt
