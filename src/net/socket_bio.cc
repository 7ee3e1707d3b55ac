// A BIO on a Socket.
#include "net/socket_bio.h"

#include <cerrno>

namespace baton::net {
namespace {

Socket& SocketOf(BIO* bio) { return *static_cast<Socket*>(BIO_get_data(bio)); }

bool TryAgain(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

int Read(BIO* bio, char* buffer, size_t size, size_t* got) {
  BIO_clear_retry_flags(bio);
  const ssize_t count = SocketOf(bio).Receive(buffer, size);
  if (count > 0) {
    *got = static_cast<size_t>(count);
    return 1;
  }
  *got = 0;
  if (count == 0) {
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
  }
  if (TryAgain(errno)) BIO_set_retry_read(bio);
  return -1;
}

int Write(BIO* bio, const char* bytes, size_t size, size_t* sent) {
  BIO_clear_retry_flags(bio);
  const ssize_t count = SocketOf(bio).Send(bytes, size);
  if (count > 0) {
    *sent = static_cast<size_t>(count);
    return 1;
  }
  *sent = 0;
  if (count < 0 && TryAgain(errno)) BIO_set_retry_write(bio);
  return -1;
}

long Control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

// Made once and kept for the life of the process, as OpenSSL's own are.
const BIO_METHOD* Method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made == nullptr) return made;
    BIO_meth_set_read_ex(made, Read);
    BIO_meth_set_write_ex(made, Write);
    BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

}  // namespace

BIO* NewSocketBio(Socket& socket) {
  const BIO_METHOD* method = Method();
  if (method == nullptr) return nullptr;
  BIO* bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, &socket);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace baton::net
