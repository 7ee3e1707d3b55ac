// Internal to net: a non-blocking socket and waiting for its readiness. At most one wait per direction is outstanding
// in Asio; a dropped task leaves it armed and harmless, so nothing has to be cancelled and no buffer is ever lent out.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <utility>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace baton::net {

class Socket : public std::enable_shared_from_this<Socket> {
 public:
  enum class Direction : uint8_t { kRead, kWrite };

  explicit Socket(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  int fd() { return socket_.native_handle(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

  // Returns when the socket may be ready, or was closed: try again and see. One waiter per direction.
  class ReadyWait : private rt::WaitBase {
   public:
    ReadyWait(Socket& owner, Direction direction) : owner_(owner), direction_(direction) {}
    ~ReadyWait() {
      if (owner_.waiter(direction_) == this) owner_.waiter(direction_) = nullptr;
    }
    bool await_ready() const { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      owner_.waiter(direction_) = this;
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
  ReadyWait*& waiter(Direction direction) { return direction == Direction::kRead ? reader_ : writer_; }
  bool& armed(Direction direction) { return direction == Direction::kRead ? read_armed_ : write_armed_; }
  void Arm(Direction direction);

  boost::asio::ip::tcp::socket socket_;
  ReadyWait* reader_ = nullptr;
  ReadyWait* writer_ = nullptr;
  bool read_armed_ = false;
  bool write_armed_ = false;
};

// "connection reset by peer" and the like, as kUnavailable, with what was tried.
Error SocketError(std::string_view what, int error_number);

}  // namespace baton::net
