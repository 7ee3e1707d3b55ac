// Internal to net: a non-blocking socket and waiting for its readiness. At most one wait per direction is outstanding
// in Asio; a dropped task leaves it armed and harmless, so nothing has to be cancelled and no buffer is ever lent out.
// Whoever owns the socket closes it: an armed wait alone would keep it open.
#pragma once

#include <sys/types.h>

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "rt/intrusive_list.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace baton::net {

class Socket : public std::enable_shared_from_this<Socket> {
 public:
  enum class Direction : uint8_t { kRead, kWrite };

  explicit Socket(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  int fd() { return socket_.native_handle(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  void Close();

  // recv(2) and send(2) without blocking and without SIGPIPE. After a short read the socket is known to be empty and is
  // not asked again (EAGAIN at once) until Ready has said so: that spares a system call per message.
  ssize_t Receive(char* buffer, size_t size);
  ssize_t Send(const char* bytes, size_t size);
  bool more_follows = false;  // what is sent next is not the end: the kernel may wait with a part of a segment

  // Returns when the socket may be ready, or was closed: try again and see. Reader and writer may both wait for one
  // direction, because TLS may have to write in order to read.
  class ReadyWait : private rt::WaitBase, public rt::ListHook<ReadyWait> {
   public:
    ReadyWait(Socket& owner, Direction direction) : owner_(owner), direction_(direction) {}
    bool await_ready() const { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      owner_.waiters(direction_).PushBack(*this);
      owner_.Arm(direction_);
    }
    void await_resume() const {}

   private:
    friend class Socket;
    Socket& owner_;
    Direction direction_;
  };
  ReadyWait Ready(Direction direction) { return {*this, direction}; }

 private:
  rt::IntrusiveList<ReadyWait>& waiters(Direction direction) {
    return direction == Direction::kRead ? readers_ : writers_;
  }
  bool& armed(Direction direction) { return direction == Direction::kRead ? read_armed_ : write_armed_; }
  void Arm(Direction direction);

  boost::asio::ip::tcp::socket socket_;
  rt::IntrusiveList<ReadyWait> readers_;
  rt::IntrusiveList<ReadyWait> writers_;
  bool drained_ = false;  // nothing to read when last seen
  bool read_armed_ = false;
  bool write_armed_ = false;
};

// "connection reset by peer" and the like, as kUnavailable, with what was tried.
Error SocketError(std::string_view what, int error_number);

}  // namespace baton::net
