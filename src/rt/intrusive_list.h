// A doubly linked list whose links live in its elements: no allocation, and an element leaves its list when destroyed.
// What the runtime keeps its waiters in, so that destroying a suspended coroutine takes it off every list it waits on.
#pragma once

#include "base/invariant.h"

namespace baton::rt {

template <class T>
class IntrusiveList;

// Derive from ListHook<T> to be listable in one IntrusiveList<T> at a time.
template <class T>
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  ~ListHook() { Unlink(); }

  bool linked() const { return next_ != nullptr; }
  void Unlink() {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = nullptr;
    previous_ = nullptr;
  }

 private:
  friend class IntrusiveList<T>;
  ListHook* next_ = nullptr;
  ListHook* previous_ = nullptr;
};

template <class T>
class IntrusiveList {
 public:
  IntrusiveList() { head_.next_ = head_.previous_ = &head_; }
  ~IntrusiveList() {
    while (PopFront() != nullptr) {
    }
    head_.next_ = nullptr;  // so that head_'s own destructor has nothing to unlink
  }

  bool empty() const { return head_.next_ == &head_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(head_.next_); }

  void PushBack(T& element) { Link(element, *head_.previous_, head_); }
  void PushFront(T& element) { Link(element, head_, *head_.next_); }
  T* PopFront() {
    T* first = front();
    if (first != nullptr) static_cast<ListHook<T>*>(first)->Unlink();
    return first;
  }

 private:
  static void Link(ListHook<T>& element, ListHook<T>& before, ListHook<T>& after) {
    INVARIANT(!element.linked(), "an element is in one list at a time");
    element.previous_ = &before;
    element.next_ = &after;
    before.next_ = &element;
    after.previous_ = &element;
  }

  ListHook<T> head_;
};

}  // namespace baton::rt
