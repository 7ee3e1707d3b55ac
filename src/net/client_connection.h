// Internal to net: one connection of an HttpClient, in either protocol.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/client.h"
#include "net/http.h"
#include "net/stream.h"
#include "rt/loop.h"

namespace baton::net {

class ClientConnection {
 public:
  virtual ~ClientConnection() = default;

  // Sends the request and reads the response's head. An error with `repeatable` set means that sending the request
  // again does no harm: the server certainly did not process it (refused stream, GOAWAY below it, never sent), or it
  // only reads (MayRepeat) and a kept connection turned out dead before a byte of the answer came.
  struct Outcome {
    Result<std::unique_ptr<ResponseStream>> response;
    bool repeatable = false;
  };
  virtual rt::Task<Outcome> Start(std::shared_ptr<const Request> request) = 0;

  // May take another request now.
  virtual bool usable() const = 0;
  // No request is under way.
  virtual bool idle() const = 0;
  // Takes no more requests and ends when it is idle.
  virtual void Close() = 0;
  // The connection's own reading and writing, until it ends; HttpClient keeps it in a scope. When that is dropped,
  // responses under way end in an error.
  virtual rt::Task<void> Run() = 0;
};

// Methods that change nothing, so that a lost answer can be asked for again. As Go's http.Transport.
inline bool MayRepeat(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

// A gzip body is decoded in slices of this, so that one Read does not make too much of it.
inline constexpr size_t kGunzipSliceBytes = size_t{16} << 10;

// Each keeps itself alive (shared_from_this) in the ResponseStreams it gives out, which may outlive the client.
std::shared_ptr<ClientConnection> MakeHttp1Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      std::shared_ptr<const ClientOptions> options,
                                                      std::string authority);
std::shared_ptr<ClientConnection> MakeHttp2Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      std::shared_ptr<const ClientOptions> options,
                                                      std::string authority);

}  // namespace baton::net
