// Workers that take keys from the queue and put them back as the outcome says.
#include "kube/controller.h"

#include <utility>

#include "rt/scope.h"

namespace baton::kube {

Controller::Controller(rt::Loop& loop, std::string name, Reconcile reconcile, const ControllerOptions& options)
    : loop_(loop),
      name_(std::move(name)),
      reconcile_(std::move(reconcile)),
      options_(options),
      queue_(loop, options_.queue) {}

rt::Task<void> Controller::Run() {
  rt::Scope workers(loop_);
  for (size_t i = 0; i < options_.workers; ++i) workers.Spawn(Work());
  co_await workers.Join();
}

rt::Task<void> Controller::Work() {
  // Keeps the key when the worker is dropped in the middle of it: the work may be half done.
  struct Unfinished {
    WorkQueue& queue;
    std::string key;
    bool done = false;
    ~Unfinished() {
      if (!done) queue.Add(key);
    }
  };
  while (true) {
    const WorkQueue::Item item = co_await queue_.Next();
    Unfinished unfinished{.queue = queue_, .key = item.key()};
    const MonotonicTime begun = loop_.Now();
    const Outcome outcome = co_await reconcile_(item.key());
    options_.metrics.seconds.Observe(loop_.Now() - begun);
    options_.metrics.reconciles.Add();
    unfinished.done = true;
    Settle(item.key(), outcome);
  }
}

void Controller::Settle(const std::string& key, const Outcome& outcome) {
  switch (outcome.kind()) {
    case Outcome::Kind::kDone:
      queue_.Forget(key);
      break;
    case Outcome::Kind::kWait:
      queue_.Forget(key);
      queue_.AddAfter(key, outcome.wait());
      break;
    case Outcome::Kind::kRetry:
      queue_.Retry(key);
      if (outcome.error()->kind() == ErrorKind::kConflict) break;
      ++failures_;
      options_.metrics.errors.Add();
      if (options_.log != nullptr) {
        options_.log->Warn("failed, will try again",
                           {{"controller", name_}, {"key", key}, {"error", outcome.error()->message()}});
      }
      break;
    case Outcome::Kind::kTerminal:
      queue_.Forget(key);
      ++failures_;
      options_.metrics.terminals.Add();
      if (options_.log != nullptr) {
        options_.log->Error("failed for good",
                            {{"controller", name_}, {"key", key}, {"error", outcome.error()->message()}});
      }
      break;
  }
}

}  // namespace baton::kube
