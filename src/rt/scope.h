// Scope: structured concurrency. Tasks spawned in a scope run beside each other and beside their owner, and never
// outlive the scope: Join() waits for them, destroying the scope cancels those still there.
//
//   Scope scope(loop);
//   for (Member& member : members) scope.Spawn(Heartbeat(member));
//   co_await stop.Wait();
//   // leaving the block cancels every heartbeat
//
// Children may use what outlives the scope, so declare the scope last. A child may cancel its own scope (CancelAll), or
// one further up, but must not destroy it: that ends the process. To cancel one child alone, give it a scope of its
// own. A scope counts as part of the fiber that made it: when it is handed to another, its children must not cancel
// that one.
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

  // Until no child is left, those spawned meanwhile included. Not from a child, which would wait for itself. Nobody may
  // be waiting here when the scope is destroyed: that ends the process.
  Task<void> Join();

  // No child runs again. Each is destroyed before this returns, in the order they were spawned, except one that the
  // caller itself runs in: that one ends where the caller next suspends. Also from destructors of a child's frames.
  void CancelAll();

  size_t active() const { return active_; }

 private:
  class Child;

  void Gone(Child& child);

  Loop& loop_;
  WeakFiber owner_;  // the fiber that made this scope
  IntrusiveList<Child> children_;
  IntrusiveList<Child> cancelled_from_inside_;  // the loop destroys them at the end of this turn, or the scope before
  size_t active_ = 0;
  size_t joining_ = 0;  // how many wait in Join()
  Event idle_;          // set while there are no children
};

}  // namespace baton::rt
