// TCP: sockets, listening, connecting.
#include "net/tcp_stream.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/strings.h"
#include "net/transport.h"

namespace baton::net {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr int kListenBacklog = 1024;
constexpr Duration kPauseWhenOutOfFiles = milliseconds(50);

// accept(2): errors that are about one connection or a passing state of the network, not about the listening socket.
bool IsPassing(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPERM:  // a firewall rule
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

bool IsOutOfResources(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

// A peer that went away is an error of the call, not a signal.
void IgnoreSigpipe() {
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
}

std::string AddressText(const tcp::endpoint& endpoint) {
  return Endpoint{endpoint.address().to_string(), endpoint.port()}.ToString();
}

void SetOptions(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

Result<tcp::socket> OpenSocket(rt::RealLoop& loop, const tcp& protocol) {
  IgnoreSigpipe();
  tcp::socket socket(loop.io_context());
  boost::system::error_code error;
  (void)socket.open(protocol, error);
  if (!error) (void)socket.native_non_blocking(true, error);
  if (error) return SocketError("opening a socket", error.value());
  SetOptions(socket.native_handle());
  return socket;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// Blocks for names; numbers are answered at once.
Result<std::vector<tcp::endpoint>> Resolve(const Endpoint& endpoint, bool numeric_only) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = numeric_only ? AI_NUMERICHOST : 0;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &list);
  if (failed != 0) return UnavailableError(StrCat("cannot resolve '", endpoint.host, "': ", gai_strerror(failed)));
  const std::unique_ptr<addrinfo, FreeAddresses> owned(list);
  std::vector<tcp::endpoint> found;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    tcp::endpoint address;
    if (at->ai_addrlen > address.capacity()) continue;
    std::memcpy(address.data(), at->ai_addr, at->ai_addrlen);
    address.resize(at->ai_addrlen);
    address.port(endpoint.port);
    found.push_back(address);
  }
  if (found.empty()) return UnavailableError(StrCat("'", endpoint.host, "' has no address"));
  return found;
}

rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectOne(rt::RealLoop& loop, tcp::endpoint address) {
  auto socket = std::make_shared<Socket>(CO_TRY(OpenSocket(loop, address.protocol())));
  auto stream = std::make_unique<TcpStream>(socket, AddressText(address));  // closes when this task is dropped
  const std::string what = StrCat("connecting to ", AddressText(address));
  if (connect(socket->fd(), address.data(), static_cast<socklen_t>(address.size())) != 0) {
    if (errno != EINPROGRESS) co_return SocketError(what, errno);
    int error = 0;
    do {
      co_await socket->Ready(Socket::Direction::kWrite);
      socklen_t length = sizeof error;
      getsockopt(socket->fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    } while (error == EINPROGRESS);
    if (error != 0) co_return SocketError(what, error);
  }
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

class TcpListener final : public Listener {
 public:
  TcpListener(rt::RealLoop& loop, std::shared_ptr<Socket> socket, Endpoint endpoint)
      : loop_(loop), socket_(std::move(socket)), endpoint_(std::move(endpoint)) {}

  ~TcpListener() override { socket_->Close(); }

  Endpoint endpoint() const override { return endpoint_; }

  rt::Task<Result<std::unique_ptr<ByteStream>>> Accept() override {
    co_await loop_.Yield();  // a flood of connections does not keep the others from running
    while (true) {
      tcp::endpoint peer;
      auto length = static_cast<socklen_t>(peer.capacity());
      const int fd = accept4(socket_->fd(), peer.data(), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        peer.resize(length);
        SetOptions(fd);
        tcp::socket accepted(loop_.io_context());
        boost::system::error_code error;
        (void)accepted.assign(peer.protocol(), fd, error);
        if (error) {
          ::close(fd);
          continue;
        }
        co_return std::unique_ptr<ByteStream>(
            new TcpStream(std::make_shared<Socket>(std::move(accepted)), AddressText(peer)));
      }
      const int error = errno;
      if (error == EAGAIN || error == EWOULDBLOCK) {
        co_await socket_->Ready(Socket::Direction::kRead);
      } else if (IsOutOfResources(error)) {
        co_await loop_.Sleep(kPauseWhenOutOfFiles);  // the connection stays in the backlog until something is closed
      } else if (!IsPassing(error)) {
        co_return SocketError(StrCat("accepting on ", endpoint_.ToString()), error);
      }
    }
  }

 private:
  rt::RealLoop& loop_;
  std::shared_ptr<Socket> socket_;
  Endpoint endpoint_;
};

}  // namespace

Error SocketError(std::string_view what, int error_number) {
  const char* text = strerrordesc_np(error_number);
  return UnavailableError(StrCat(what, ": ", text != nullptr ? text : "unknown error"));
}

// ---- Socket ----

void Socket::Close() {
  boost::system::error_code ignored;
  (void)socket_.close(ignored);  // an armed wait ends now and lets go of the socket
}

ssize_t Socket::Receive(char* buffer, size_t size) {
  if (drained_) {
    errno = EAGAIN;
    return -1;
  }
  const ssize_t got = recv(fd(), buffer, size, 0);
  drained_ = got > 0 ? static_cast<size_t>(got) < size : got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return got;
}

ssize_t Socket::Send(const char* bytes, size_t size) {
  return send(fd(), bytes, size, MSG_NOSIGNAL | (more_follows ? MSG_MORE : 0));
}

void Socket::Arm(Direction direction) {
  if (std::exchange(armed(direction), true)) return;
  const auto kind = direction == Direction::kRead ? tcp::socket::wait_read : tcp::socket::wait_write;
  socket_.async_wait(kind, [self = shared_from_this(), direction](const boost::system::error_code&) {
    self->armed(direction) = false;
    if (direction == Direction::kRead) self->drained_ = false;
    while (ReadyWait* wait = self->waiters(direction).PopFront()) wait->Wake();
  });
}

// ---- TcpStream ----

TcpStream::~TcpStream() {
  if (socket_ != nullptr) socket_->Close();
}

rt::Task<Result<size_t>> TcpStream::Read(std::span<char> buffer) {
  while (true) {
    const ssize_t got = socket_->Receive(buffer.data(), buffer.size());
    if (got >= 0) co_return static_cast<size_t>(got);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      co_await socket_->Ready(Socket::Direction::kRead);
    } else if (errno != EINTR) {
      co_return SocketError(StrCat("reading from ", peer_), errno);
    }
  }
}

Result<size_t> TcpStream::TryWrite(std::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = socket_->Send(bytes.data() + sent, bytes.size() - sent);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      return SocketError(StrCat("writing to ", peer_), errno);
    }
  }
  return sent;
}

rt::Task<Result<void>> TcpStream::Write(std::string_view bytes) {
  while (true) {
    bytes.remove_prefix(CO_TRY(TryWrite(bytes)));
    if (bytes.empty()) co_return Result<void>();
    co_await socket_->Ready(Socket::Direction::kWrite);
  }
}

rt::Task<Result<void>> TcpStream::CloseWrite() {
  if (shutdown(socket_->fd(), SHUT_WR) != 0 && errno != ENOTCONN) {
    co_return SocketError(StrCat("closing to ", peer_), errno);
  }
  co_return Result<void>();
}

// ---- endpoints, listening, connecting ----

std::string Endpoint::ToString() const {
  return host.find(':') != std::string::npos ? StrCat("[", host, "]:", port) : StrCat(host, ":", port);
}

Result<Endpoint> ParseEndpoint(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return InvalidError(StrCat(Quote(text), " is not HOST:PORT: ", why, " (like 127.0.0.1:6443 or [::1]:0)"));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad("no port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad("an IPv6 address needs brackets");
  }
  if (host.empty()) return bad("no host");
  // What would end a header field or begin another part of a URL is in no host name.
  constexpr std::string_view kNotInHosts = "/\\?#@[]<>\"'`{}|^ ";
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || kNotInHosts.find(c) != std::string_view::npos) {
      return bad("the host has a character that no host has");
    }
  }
  const std::string_view port_text = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc() || end != port_text.data() + port_text.size())
    return bad("the port is no number below 65536");
  return Endpoint{std::string(host), port};
}

Result<std::unique_ptr<Listener>> Listen(rt::RealLoop& loop, const Endpoint& endpoint) {
  const Result<std::vector<tcp::endpoint>> addresses = Resolve(endpoint, /*numeric_only=*/endpoint.host != "localhost");
  if (!addresses.ok()) {
    return InvalidError(
        StrCat("cannot listen on ", endpoint.ToString(), ": '", endpoint.host, "' is not an IP address"));
  }
  const tcp::endpoint& address = addresses->front();
  auto socket = std::make_shared<Socket>(TRY(OpenSocket(loop, address.protocol())));
  const int on = 1;
  setsockopt(socket->fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket->fd(), address.data(), static_cast<socklen_t>(address.size())) != 0) {
    if (errno == EADDRINUSE) {
      return AlreadyExistsError(
          StrCat("cannot listen on ", endpoint.ToString(), ": the port is taken; choose another, or 0 for any"));
    }
    return InvalidError(StrCat("cannot listen on ", endpoint.ToString(), ": ", strerrordesc_np(errno)));
  }
  if (listen(socket->fd(), kListenBacklog) != 0)
    return SocketError(StrCat("listening on ", endpoint.ToString()), errno);
  boost::system::error_code error;
  const tcp::endpoint bound = socket->socket().local_endpoint(error);
  if (error) return SocketError("reading the bound address", error.value());
  Endpoint actual{bound.address().to_string(), bound.port()};
  return std::unique_ptr<Listener>(new TcpListener(loop, std::move(socket), std::move(actual)));
}

rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectTcp(rt::RealLoop& loop, Endpoint endpoint) {
  Result<std::vector<tcp::endpoint>> addresses = Resolve(endpoint, /*numeric_only=*/true);
  if (!addresses.ok()) {
    addresses = co_await loop.Offload([endpoint] { return Resolve(endpoint, /*numeric_only=*/false); });
  }
  if (!addresses.ok()) co_return addresses.error();
  Error last = UnavailableError(StrCat("'", endpoint.host, "' has no address"));
  for (const tcp::endpoint& address : *addresses) {
    Result<std::unique_ptr<ByteStream>> stream = co_await ConnectOne(loop, address);
    if (stream.ok()) co_return stream;
    last = stream.error();
  }
  co_return last;
}

}  // namespace baton::net
