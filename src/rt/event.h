// Event: a flag that can be waited for. Set() wakes all who wait and lets later ones pass until Reset().
#pragma once

#include <coroutine>

#include "rt/intrusive_list.h"
#include "rt/task.h"

namespace baton::rt {

class Event {
 public:
  class EventWait : private WaitBase, public ListHook<EventWait> {
   public:
    explicit EventWait(Event& event) : event_(event) {}
    bool await_ready() const { return event_.set_; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      event_.waiters_.PushBack(*this);
    }
    void await_resume() const {}

   private:
    friend class Event;
    Event& event_;
  };

  bool is_set() const { return set_; }
  void Set() {
    set_ = true;
    while (EventWait* wait = waiters_.PopFront()) wait->Wake();
  }
  void Reset() { set_ = false; }

  // Returns when the event was set. It may have been reset since: check what you waited for.
  EventWait Wait() { return EventWait(*this); }

 private:
  bool set_ = false;
  IntrusiveList<EventWait> waiters_;
};

}  // namespace baton::rt
