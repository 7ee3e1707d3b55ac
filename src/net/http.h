// HTTP as the code above sees it: requests, responses and their headers, the same for HTTP/1.1 and HTTP/2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/stream.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::net {

// Header fields in order. Names are lower case (as HTTP/2 has them) and compared without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

  void Add(std::string_view name, std::string_view value);
  void Set(std::string_view name, std::string_view value);  // replaces all of that name
  void Remove(std::string_view name);
  std::optional<std::string_view> Get(std::string_view name) const;    // the first of that name
  bool HasToken(std::string_view name, std::string_view token) const;  // in a comma-separated list, any case

  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  size_t bytes() const;  // names and values, for limits
  // No control characters, names are tokens: what may be sent. Guards against header injection.
  static bool ValidField(std::string_view name, std::string_view value);

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A body that may consist of shared pieces, so that a list is sent from the stored objects without joining them.
class Body {
 public:
  Body() = default;
  Body(std::string bytes);  // NOLINT(google-explicit-constructor)
  void Add(std::string bytes);
  void Add(std::shared_ptr<const std::string> shared);
  // `view` points into what `owner` keeps alive.
  void Add(std::shared_ptr<const void> owner, std::string_view view);
  // A literal, which needs no owner.
  void AddLiteral(std::string_view text) { Add(nullptr, text); }
  void Reserve(size_t pieces) { pieces_.reserve(pieces); }

  struct Piece {
    std::shared_ptr<const void> owner;
    std::string_view view;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::vector<Piece> TakePieces() && { return std::move(pieces_); }
  size_t size() const { return size_; }
  std::string ToString() const;

 private:
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

// The limits of one endpoint. Every one is answered or enforced, never silently passed.
struct HttpLimits {
  size_t header_bytes_max = size_t{64} << 10;  // all header fields of one message; 431 beyond
  size_t header_count_max = 256;
  size_t target_bytes_max = size_t{16} << 10;        // 414 beyond
  size_t body_bytes_max = size_t{3} << 20;           // a request's body; 413 beyond (Kubernetes' own limit)
  size_t body_bytes_total_max = size_t{512} << 20;   // a server's incomplete request bodies together; 503 beyond
  size_t response_body_bytes_max = size_t{1} << 30;  // a response read whole by a client
  size_t connections_max = 10'000;                   // per server; more are closed at once
  size_t streams_per_connection_max = 250;           // HTTP/2 concurrent streams, as kube-apiserver
  size_t write_buffer_bytes_max = size_t{1} << 20;   // unsent bytes of one stream before Write waits
  size_t write_buffers_bytes_max = size_t{4} << 20;  // of all streams of a connection, before each has one chunk only
  // Unsent bytes of answers on one connection: beyond, its next requests wait until the client has read, but for a few
  // streams, so that no large answer alone keeps the others waiting.
  size_t unsent_bytes_max = size_t{64} << 20;
  size_t unsent_streams_min = 4;
};

struct HttpTimeouts {
  Duration handshake = seconds(10);       // TCP accept to TLS done
  Duration request_header = seconds(10);  // first byte to last header: slow-loris ends here
  Duration request_body = seconds(60);
  Duration keep_alive_idle = seconds(180);  // between requests
  Duration write_stall = seconds(60);       // a peer that takes no byte for so long is cut off, or its stream
  Duration http2_ping = seconds(30);        // an idle HTTP/2 connection is asked whether it is there
  Duration connect = seconds(10);           // client: TCP connect and TLS
};

struct Request {
  std::string method = "GET";
  std::string target = "/";  // path and query, as sent
  Headers headers;
  std::string body;  // whole, within the limit
  // Set by the server:
  PeerIdentity peer;
  std::string peer_address;
  bool http2 = false;

  std::string_view path() const;   // before '?', not decoded
  std::string_view query() const;  // after '?', not decoded
};

// Percent-decoding ("%2F" -> "/"; '+' -> ' ' only in a query); an error on bad escapes.
Result<std::string> PercentDecode(std::string_view text, bool plus_is_space);
std::string PercentEncode(std::string_view text);  // all but unreserved characters
// "a=1&b=x%20y&flag" in order, decoded.
Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query);

std::string_view StatusText(int status);  // "Not Found"

// How a handler answers: Send() for a whole answer, or Start(), Write()... and Finish() for a stream. Exactly one
// answer. A handler that returns without one answers 500; one that was started and not finished is cut off so that the
// client notices. HEAD requests and 204/304 get no body whatever is written.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  // Large bodies are gzipped when the client accepts it (see kGzipBytesMin) and the handler set no content-encoding.
  virtual rt::Task<Result<void>> Send(int status, Headers headers, Body body) = 0;

  virtual rt::Task<Result<void>> Start(int status, Headers headers) = 0;
  // Flushed at once. Waits while too much is unsent: see HttpLimits::write_buffer_bytes_max and the one behind it.
  virtual rt::Task<Result<void>> Write(Body chunk) = 0;
  virtual rt::Task<Result<void>> Finish() = 0;

  // Whether the server shuts down: streams should end themselves cleanly, soon. The event is set at that moment, for
  // those that wait for something else too.
  virtual bool shutting_down() const = 0;
  virtual rt::Event& shutdown() = 0;
};

inline constexpr size_t kGzipBytesMin = size_t{128} << 10;  // as kube-apiserver

// Called once per request, each in a fiber of its own. When the client goes away the task is dropped (an HTTP/1.1
// client that only closed its sending side still gets its answer if that comes within moments). Requests arrive
// checked: the target begins with '/' (or is "*" for OPTIONS), field names and values hold no control characters, the
// body is whole, trailers are left out.
using Handler = std::function<rt::Task<void>(Request request, ResponseWriter& writer)>;

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

// A response whose body arrives over time (a watch).
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;  // cancels: RST_STREAM, or closes the connection in HTTP/1.1
  virtual int status() const = 0;
  virtual const Headers& headers() const = 0;
  // The next bytes, decoded (chunks, gzip); empty optional at the clean end; an error when it was cut.
  virtual rt::Task<Result<std::optional<std::string>>> Read() = 0;
};

}  // namespace baton::net
