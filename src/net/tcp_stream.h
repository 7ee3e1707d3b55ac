// Internal to net: a ByteStream on a TCP socket. TLS takes the socket out of it.
#pragma once

#include <memory>
#include <string>

#include "net/socket.h"
#include "net/stream.h"

namespace baton::net {

class TcpStream final : public ByteStream {
 public:
  TcpStream(std::shared_ptr<Socket> socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}
  ~TcpStream() override;

  rt::Task<Result<size_t>> Read(std::span<char> buffer) override;
  rt::Task<Result<void>> Write(std::string_view bytes) override;
  Result<size_t> TryWrite(std::string_view bytes) override;
  rt::Task<Result<void>> CloseWrite() override;
  std::string peer_address() const override { return peer_; }
  const PeerIdentity& peer_identity() const override { return identity_; }

  std::shared_ptr<Socket> TakeSocket() { return std::move(socket_); }

 private:
  std::shared_ptr<Socket> socket_;  // null after TakeSocket
  std::string peer_;
  PeerIdentity identity_;
};

}  // namespace baton::net
