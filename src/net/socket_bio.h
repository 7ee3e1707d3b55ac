// Internal to net: OpenSSL's view of a Socket. Unlike OpenSSL's own socket BIO it knows when the socket is empty, never
// raises SIGPIPE, and leaves closing to the Socket's owner.
#pragma once

#include <openssl/bio.h>

#include "net/socket.h"

namespace baton::net {

// `socket` outlives the BIO. Null when OpenSSL is out of memory.
BIO* NewSocketBio(Socket& socket);

}  // namespace baton::net
