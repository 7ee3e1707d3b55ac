// Production's loop on Boost.Asio.
#include "rt/real_loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <utility>

namespace baton::rt {

namespace asio = boost::asio;

namespace {
constexpr size_t kFirstMark = size_t{1} << 62;  // indices in `first` have it, those in ready_ do not
}  // namespace

struct RealLoop::Asio {
  explicit Asio(size_t threads) : pool(threads) {}

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_running{io.get_executor()};
  asio::steady_timer alarm{io};
  MonotonicTime alarm_at = kForever;  // when `alarm` rings; kForever when it is not set

  // Who waited for the pool goes before everybody else, and is looked for after every turn: mostly it is the one who
  // writes to the disk for all, and while that one waits in the queue the disk is idle.
  std::deque<Fiber*> first;            // a removed fiber leaves a null behind
  size_t first_base = kFirstMark;      // ready_index_ of first.front()
  bool in_first = false;               // who is woken now goes there
  std::atomic<bool> job_done = false;  // since the last look at callbacks

  asio::thread_pool pool;
};

RealLoop::RealLoop(size_t pool_threads) : asio_(std::make_unique<Asio>(pool_threads)) {
  INVARIANT(pool_threads > 0, "a pool without threads would never do its work");
}

RealLoop::~RealLoop() {
  asio_->pool.join();  // jobs that nobody waits for still finish: they own what they use
}

MonotonicTime RealLoop::Now() const {
  return MonotonicTime(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallTime RealLoop::WallNow() const {
  return WallTime(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

void RealLoop::MakeReady(Fiber& fiber) {
  if (fiber.abandoned_) return;
  INVARIANT(fiber.ready_index_ == Fiber::kNotReady, "a fiber is woken once per suspension");
  if (asio_->in_first) {
    fiber.ready_index_ = asio_->first_base + asio_->first.size();
    asio_->first.push_back(&fiber);
    return;
  }
  fiber.ready_index_ = ready_base_ + ready_.size();
  ready_.push_back(&fiber);
}

void RealLoop::RemoveReady(Fiber& fiber) {
  const size_t index = std::exchange(fiber.ready_index_, Fiber::kNotReady);
  if ((index & kFirstMark) != 0) {
    asio_->first[index - asio_->first_base] = nullptr;
  } else {
    ready_[index - ready_base_] = nullptr;
  }
}

void RealLoop::Post(std::function<void()> function) { asio::post(asio_->io, std::move(function)); }

asio::io_context& RealLoop::io_context() { return asio_->io; }

void RealLoop::StartOffload(std::shared_ptr<OffloadJob> job) {
  asio::post(asio_->pool, [this, job = std::move(job)]() mutable {
    job->RunToItsEnd();
    asio::post(asio_->io, [this, job = std::move(job)] {
      if (job->on_done == nullptr) return;
      asio_->in_first = true;
      job->on_done();
      asio_->in_first = false;
    });
    asio_->job_done.store(true, std::memory_order_release);
  });
}

// Sockets and finished jobs come before timers: an answer that was there in time is seen before its deadline is, also
// when the loop was busy meanwhile.
void RealLoop::RunUntil(const bool& done) {
  while (true) {
    RunReady(done);
    if (done) return;
    if (ready_.empty() && asio_->first.empty() && NextTimer().value_or(kForever) > Now()) {
      WaitForEvents();
    } else {
      RunCallbacks();
    }
    FireTimers(Now());
  }
}

void RealLoop::RunReady(const bool& done) {
  bool others_ran = false;  // one of them each time, however many jobs end
  for (size_t turns = 0; turns < kTurnsBetweenPolls && !done;) {
    const bool first = !asio_->first.empty();
    std::deque<Fiber*>& queue = first ? asio_->first : ready_;
    if (queue.empty() || (!first && others_ran && asio_->job_done.load(std::memory_order_relaxed))) return;
    others_ran = others_ran || !first;
    Fiber* fiber = queue.front();
    queue.pop_front();
    ++(first ? asio_->first_base : ready_base_);
    if (fiber == nullptr) continue;
    fiber->ready_index_ = Fiber::kNotReady;
    ++turns;
    Resume(*fiber);
  }
}

void RealLoop::WaitForEvents() {
  const MonotonicTime next = NextTimer().value_or(kForever);
  if (next < asio_->alarm_at) {  // an alarm that rings too early does no harm, so it is only ever moved forward
    asio_->alarm_at = next;
    asio_->alarm.expires_at(std::chrono::steady_clock::time_point(next.time_since_epoch()));
    asio_->alarm.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) asio_->alarm_at = kForever;
    });
  }
  asio_->io.run_one();
  RunCallbacks();
}

void RealLoop::RunCallbacks() {
  asio_->job_done.store(false, std::memory_order_relaxed);
  for (size_t left = kCallbacksPerRound; left > 0 && asio_->io.poll_one() > 0; --left) {
  }
}

}  // namespace baton::rt
