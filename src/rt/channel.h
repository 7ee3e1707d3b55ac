// Channel<T>: a bounded queue between fibers of one loop. Send waits while it is full, Receive while it is empty.
//
//   if (!co_await channel.Send(std::move(item))) co_return;        // closed
//   while (std::optional<Item> item = co_await channel.Receive()) Use(*item);
//
// Values are received in the order they were sent. Nothing is lost when a fiber is dropped: a value that was handed to
// a receiver which never ran again goes to the next one, in front of all others.
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
      if (value_) channel_.PutBack(*std::move(value_));
    }
    bool await_ready() {
      value_ = channel_.TryReceive();
      return value_.has_value() || channel_.closed_;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      channel_.receivers_.PushBack(*this);
    }
    std::optional<T> await_resume() { return std::exchange(value_, std::nullopt); }

   private:
    friend class Channel;
    Channel& channel_;
    std::optional<T> value_;
  };

  // True when the value is in the channel, false when the channel is closed.
  SendWait Send(T value) { return {*this, std::move(value)}; }

  // The next value; empty when the channel is closed and nothing is left.
  ReceiveWait Receive() { return ReceiveWait(*this); }

  // Without waiting. `value` is moved from only when this returns true.
  bool TrySend(T& value) {
    if (closed_ || !senders_.empty()) return false;
    if (ReceiveWait* receiver = receivers_.PopFront()) {
      receiver->value_.emplace(std::move(value));
      receiver->Wake();
      return true;
    }
    if (buffer_.size() >= capacity_) return false;
    buffer_.push_back(std::move(value));
    return true;
  }
  std::optional<T> TryReceive() {
    if (buffer_.empty()) return std::nullopt;
    std::optional<T> value(std::move(buffer_.front()));
    buffer_.pop_front();
    if (buffer_.size() < capacity_) {
      if (SendWait* sender = senders_.PopFront()) {
        buffer_.push_back(*std::move(sender->value_));
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
  size_t size() const { return buffer_.size(); }

 private:
  void PutBack(T value) {
    if (ReceiveWait* receiver = receivers_.PopFront()) {
      receiver->value_.emplace(std::move(value));
      receiver->Wake();
      return;
    }
    buffer_.push_front(std::move(value));  // may stand one above capacity until the next Receive
  }

  size_t capacity_;
  bool closed_ = false;
  std::deque<T> buffer_;
  IntrusiveList<SendWait> senders_;       // not empty only while the buffer is full
  IntrusiveList<ReceiveWait> receivers_;  // not empty only while the buffer is empty
};

}  // namespace baton::rt
