// Scope: structured concurrency. Tasks spawned in a scope run beside each other and beside their owner, and never
// outlive the scope: Join() waits for them, destroying the scope cancels those still there.
//
//   Scope scope(loop);
//   for (Member& member : members) scope.Spawn(Heartbeat(member));
//   co_await stop.Wait();
//   // leaving the block cancels every heartbeat
//
// Children may use what outlives the scope, so declare the scope last. A child may cancel its own scope (CancelAll) but
// must not destroy it: that ends the process. To cancel one child alone, give it a scope of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "rt/event.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {

class Scope {
 public:
  explicit Scope(Loop& loop);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  // Runs when the caller next suspends, not now.
  void Spawn(Task<void> task);

  // Until no child is left, those spawned meanwhile included.
  Task<void> Join();

  // No child runs again. Each is destroyed before this returns, except one that the caller itself runs in: that one
  // ends where the caller next suspends.
  void CancelAll();

  size_t active() const { return active_; }

 private:
  class Child;

  void Gone(Child& child);

  Loop& loop_;
  WeakFiber owner_;  // the fiber that made this scope
  IntrusiveList<Child> children_;
  size_t active_ = 0;
  Event idle_;  // set while there are no children
};

}  // namespace baton::rt
