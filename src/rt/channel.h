// Channel<T>: a bounded queue between fibers of one loop. Send waits while it is full, Receive while it is empty.
//
//   if (!co_await channel.Send(std::move(item))) co_return;        // closed
//   while (std::optional<Item> item = co_await channel.Receive()) Use(*item);
//
// Values are received in the order they were sent. Nothing is lost when a fiber is dropped: a value stays in the
// channel until a receiver really runs, a woken one only has a claim to it. A channel outlives all who wait on it;
// destroying it before them ends the process.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/invariant.h"
#include "rt/intrusive_list.h"
#include "rt/task.h"

namespace baton::rt {

template <class T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) {
    INVARIANT(capacity > 0, "a channel has room for one value at least");
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    INVARIANT(senders_.empty() && receivers_.empty() && claimed_ == 0, "a channel outlives all who wait on it");
  }

  class SendWait : private WaitBase, public ListHook<SendWait> {
   public:
    SendWait(Channel& channel, T value) : channel_(channel), value_(std::move(value)) {}
    bool await_ready() {
      sent_ = channel_.TrySend(*value_);
      return sent_ || channel_.closed_;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      channel_.senders_.PushBack(*this);
    }
    bool await_resume() const { return sent_; }

   private:
    friend class Channel;
    Channel& channel_;
    std::optional<T> value_;
    bool sent_ = false;
  };

  class ReceiveWait : private WaitBase, public ListHook<ReceiveWait> {
   public:
    explicit ReceiveWait(Channel& channel) : channel_(channel) {}
    ~ReceiveWait() {
      if (has_claim_) channel_.GiveUpClaim();
    }
    bool await_ready() const { return channel_.unclaimed() > 0 || channel_.closed_; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      channel_.receivers_.PushBack(*this);
    }
    std::optional<T> await_resume() {
      return std::exchange(has_claim_, false) ? channel_.TakeClaimed() : channel_.TryReceive();
    }

   private:
    friend class Channel;
    Channel& channel_;
    bool has_claim_ = false;
  };

  // True when the value is in the channel; false when the channel is closed, and the value is gone.
  SendWait Send(T value) { return {*this, std::move(value)}; }

  // The next value; empty when the channel is closed and nothing is left.
  ReceiveWait Receive() { return ReceiveWait(*this); }

  // Without waiting, and not past those who wait. `value` is moved from only when this returns true.
  bool TrySend(T& value) {
    if (closed_ || (receivers_.empty() && unclaimed() >= capacity_)) return false;
    values_.push_back(std::move(value));
    ClaimForNextReceiver();
    return true;
  }
  std::optional<T> TryReceive() {
    if (unclaimed() == 0) return std::nullopt;
    std::optional<T> value = PopFront();
    if (unclaimed() < capacity_) {
      if (SendWait* sender = senders_.PopFront()) {
        values_.push_back(*std::move(sender->value_));
        sender->sent_ = true;
        sender->Wake();
      }
    }
    return value;
  }

  // Waiting senders get false, waiting receivers an empty value; what is in the channel can still be received.
  void Close() {
    closed_ = true;
    while (SendWait* sender = senders_.PopFront()) sender->Wake();
    while (ReceiveWait* receiver = receivers_.PopFront()) receiver->Wake();
  }

  bool closed() const { return closed_; }
  size_t size() const { return values_.size(); }  // sent and not yet received; those of waiting senders not counted

 private:
  size_t unclaimed() const { return values_.size() - claimed_; }
  std::optional<T> PopFront() {
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  void ClaimForNextReceiver() {
    if (ReceiveWait* receiver = receivers_.PopFront()) {
      receiver->has_claim_ = true;
      ++claimed_;
      receiver->Wake();
    }
  }
  void GiveUpClaim() {
    --claimed_;
    ClaimForNextReceiver();
  }
  // A claim is to one value, not to a certain one: who runs first gets the oldest.
  std::optional<T> TakeClaimed() {
    --claimed_;
    return PopFront();
  }

  size_t capacity_;
  bool closed_ = false;
  std::deque<T> values_;
  size_t claimed_ = 0;                    // values that woken receivers will take; they do not count as filling it
  IntrusiveList<SendWait> senders_;       // not empty only while capacity_ or more are unclaimed
  IntrusiveList<ReceiveWait> receivers_;  // not empty only while none is unclaimed
};

}  // namespace baton::rt
