// Internal to net: one connection of an HttpClient, in either protocol.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "net/client.h"
#include "net/http.h"
#include "net/stream.h"
#include "rt/loop.h"

namespace baton::net {

class ClientConnection {
 public:
  virtual ~ClientConnection() = default;

  // Sends the request and reads the response's head. An error with `unprocessed` set means that the server certainly
  // did not see the request (refused stream, GOAWAY below it, a kept connection that was dead), so it may be sent
  // again.
  struct Outcome {
    Result<std::unique_ptr<ResponseStream>> response;
    bool unprocessed = false;
  };
  virtual rt::Task<Outcome> Start(const Request& request) = 0;

  // May take another request now.
  virtual bool usable() const = 0;
  // No request is under way.
  virtual bool idle() const = 0;
  // Runs the connection's own reading and writing until it ends; HttpClient keeps it in a scope. HTTP/1.1 needs none
  // and returns at once.
  virtual rt::Task<void> Run() = 0;
};

// Each keeps itself alive (shared_from_this) in the ResponseStreams it gives out.
std::shared_ptr<ClientConnection> MakeHttp1Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      const ClientOptions& options, std::string authority);
std::shared_ptr<ClientConnection> MakeHttp2Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      const ClientOptions& options, std::string authority);

}  // namespace baton::net
