// HTTP/1.1, server side: one connection, one request after the other. Beast's parser reads; writing is by hand.
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/gzip.h"
#include "net/server_session.h"
#include "rt/when.h"

namespace baton::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Parser = http::request_parser<http::string_body>;

constexpr size_t kReadBytes = size_t{16} << 10;
constexpr size_t kPipelinedBytesMax = size_t{64} << 10;  // read ahead while a handler runs
constexpr size_t kJoinedBytesMax = size_t{64} << 10;     // smaller bodies go out in one write with their head

std::string HexSize(size_t size) {
  std::array<char, 16> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), size, 16).ptr};
}

// The head of a response. Fields that could not be sent safely are left out.
std::string Head(int status, const Headers& headers, bool close) {
  std::string head = StrCat("HTTP/1.1 ", status, " ", StatusText(status), "\r\n");
  for (const auto& [name, value] : headers.fields()) {
    if (Headers::ValidField(name, value)) StrAppend(head, name, ": ", value, "\r\n");
  }
  if (close) head += "connection: close\r\n";
  head += "\r\n";
  return head;
}

class Http1Writer final : public ResponseWriter {
 public:
  Http1Writer(ServerSession& session, ByteStream& stream, const Request& request, bool http10, bool close)
      : session_(session),
        stream_(stream),
        method_(request.method),
        request_headers_(request.headers),
        http10_(http10),
        close_(close) {}

  bool started() const { return started_; }
  bool finished() const { return finished_; }
  bool close() const { return close_; }

  rt::Task<Result<void>> Send(int status, Headers headers, Body body) override {
    INVARIANT(!started_, "one answer per request");
    started_ = true;
    if (!HasBody(method_, status)) {
      // HEAD says what GET would have sent; 204 and 304 have no length at all.
      if (method_ == "HEAD") headers.Set("content-length", StrCat(body.size()));
      body = Body();
    } else {
      co_await MaybeCompress(session_.loop, request_headers_, headers, body);
      headers.Set("content-length", StrCat(body.size()));
    }
    close_ = close_ || session_.shutting_down;
    std::string head = Head(status, headers, close_);
    if (body.size() <= kJoinedBytesMax) {
      for (const Body::Piece& piece : body.pieces()) head.append(piece.view);
      CO_TRY(co_await WriteAll(head));
    } else {
      CO_TRY(co_await WriteAll(head));
      for (const Body::Piece& piece : body.pieces()) CO_TRY(co_await WriteAll(piece.view));
    }
    finished_ = true;
    co_return Result<void>();
  }

  rt::Task<Result<void>> Start(int status, Headers headers) override {
    INVARIANT(!started_, "one answer per request");
    started_ = true;
    body_allowed_ = HasBody(method_, status);
    if (http10_) {
      close_ = true;  // the end of the connection is the end of the body
    } else if (body_allowed_) {
      headers.Set("transfer-encoding", "chunked");
    }
    co_return co_await WriteAll(Head(status, headers, close_));
  }

  rt::Task<Result<void>> Write(Body chunk) override {
    INVARIANT(started_ && !finished_, "Write comes between Start and Finish");
    if (!body_allowed_ || chunk.size() == 0) co_return Result<void>();
    std::string out;
    if (!http10_) StrAppend(out, HexSize(chunk.size()), "\r\n");
    for (const Body::Piece& piece : chunk.pieces()) out.append(piece.view);
    if (!http10_) out += "\r\n";
    co_return co_await WriteAll(out);
  }

  rt::Task<Result<void>> Finish() override {
    INVARIANT(started_ && !finished_, "Finish comes once, after Start");
    if (body_allowed_ && !http10_) CO_TRY(co_await WriteAll("0\r\n\r\n"));
    finished_ = true;
    co_return Result<void>();
  }

  bool shutting_down() const override { return session_.shutting_down; }

 private:
  // A peer that takes nothing for too long is cut off.
  rt::Task<Result<void>> WriteAll(std::string_view bytes) {
    co_return co_await rt::WithDeadline(rt::Deadline::After(session_.loop, session_.options.timeouts.write_stall),
                                        "the client to read", stream_.Write(bytes));
  }

  ServerSession& session_;
  ByteStream& stream_;
  std::string method_;
  Headers request_headers_;
  bool http10_;
  bool close_;
  bool started_ = false;
  bool finished_ = false;
  bool body_allowed_ = true;
};

class Http1Connection {
 public:
  Http1Connection(ServerSession& session, ByteStream& stream, std::string received)
      : session_(session), stream_(stream), buffer_(std::move(received)) {}

  rt::Task<void> Serve() {
    while (!session_.shutting_down) {
      if (!co_await WaitForRequest()) co_return;
      std::optional<Request> request = co_await ReadRequest();
      if (!request.has_value()) co_return;
      if (!co_await Answer(*std::move(request))) co_return;
    }
  }

 private:
  // Until the first byte of a request is here. False: nobody wants anything any more.
  rt::Task<bool> WaitForRequest() {
    if (!buffer_.empty()) co_return true;
    std::vector<rt::Task<bool>> first;
    first.push_back(ReadMore(session_.options.timeouts.keep_alive_idle));
    first.push_back(ShutdownComes());
    const rt::AnyResult<bool> result = co_await rt::WhenAny(std::move(first));
    co_return result.value;
  }

  rt::Task<bool> ShutdownComes() {
    co_await session_.shutdown.Wait();
    co_return false;
  }

  // False at the end of the stream, an error or the timeout.
  rt::Task<bool> ReadMore(Duration timeout) {
    std::array<char, kReadBytes> bytes;
    const Result<size_t> got = co_await rt::WithDeadline(rt::Deadline::After(session_.loop, timeout),
                                                         "the client to send", stream_.Read(bytes));
    timed_out_ = !got.ok() && got.error().kind() == ErrorKind::kDeadlineExceeded;
    if (!got.ok() || *got == 0) co_return false;
    buffer_.append(bytes.data(), *got);
    co_return true;
  }

  // An error answer, after which the connection is closed: we no longer know where the next request would begin.
  rt::Task<void> Refuse(int status, std::string_view why) {
    const Headers headers{{"content-type", "text/plain; charset=utf-8"}, {"content-length", StrCat(why.size() + 1)}};
    const std::string text = StrCat(Head(status, headers, /*close=*/true), why, "\n");
    const Result<void> ignored =
        co_await rt::WithDeadline(rt::Deadline::After(session_.loop, session_.options.timeouts.write_stall),
                                  "the client to read", stream_.Write(text));
    static_cast<void>(ignored);
    const Result<void> closed = co_await stream_.CloseWrite();
    static_cast<void>(closed);
  }

  rt::Task<void> RefuseParseError(beast::error_code error) {
    if (error == http::error::header_limit) return Refuse(431, "the request's header fields are too large");
    if (error == http::error::body_limit) return Refuse(413, "the request's body is too large");
    return Refuse(400, StrCat("malformed request: ", error.message()));
  }

  // Feeds the parser until `done` says so. False when the connection is of no more use (an answer was sent if due).
  template <class Done>
  rt::Task<bool> Feed(Parser& parser, Duration timeout, Done done) {
    const rt::Deadline deadline = rt::Deadline::After(session_.loop, timeout);
    while (!done(parser)) {
      beast::error_code error;
      const size_t used = parser.put(boost::asio::buffer(buffer_), error);
      buffer_.erase(0, used);
      if (error == http::error::need_more) {
        if (!co_await ReadMore(deadline.Left(session_.loop))) {
          if (timed_out_) co_await Refuse(408, "the request took too long");
          co_return false;
        }
      } else if (error) {
        co_await RefuseParseError(error);
        co_return false;
      } else if (used == 0 && !done(parser) && !co_await ReadMore(deadline.Left(session_.loop))) {
        co_return false;
      }
    }
    co_return true;
  }

  rt::Task<std::optional<Request>> ReadRequest() {
    Parser parser;
    parser.header_limit(static_cast<uint32_t>(session_.options.limits.header_bytes_max));
    parser.body_limit(session_.options.limits.body_bytes_max);
    if (!co_await Feed(parser, session_.options.timeouts.request_header,
                       [](const Parser& p) { return p.is_header_done(); })) {
      co_return std::nullopt;
    }
    const auto& message = parser.get();
    Request request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message) request.headers.Add(field.name_string(), field.value());
    if (request.target.size() > session_.options.limits.target_bytes_max) {
      co_await Refuse(414, "the request's target is too long");
      co_return std::nullopt;
    }
    if (request.headers.fields().size() > session_.options.limits.header_count_max) {
      co_await Refuse(431, "the request has too many header fields");
      co_return std::nullopt;
    }
    // Two framings, or an unknown one, are how requests are smuggled past a proxy.
    if (request.headers.Get("transfer-encoding") && request.headers.Get("content-length")) {
      co_await Refuse(400, "both transfer-encoding and content-length");
      co_return std::nullopt;
    }
    http10_ = message.version() < 11;
    close_ = !message.keep_alive();
    if (!http10_ && !request.headers.Get("host")) {
      co_await Refuse(400, "no host");
      co_return std::nullopt;
    }
    if (request.headers.HasToken("expect", "100-continue")) {
      const Result<void> sent = co_await stream_.Write("HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent.ok()) co_return std::nullopt;
    }
    parser.eager(true);
    if (!co_await Feed(parser, session_.options.timeouts.request_body, [](const Parser& p) { return p.is_done(); })) {
      co_return std::nullopt;
    }
    request.body = std::move(parser.get().body());
    request.peer = stream_.peer_identity();
    request.peer_address = stream_.peer_address();
    co_return request;
  }

  // Runs the handler while watching for the client to go away. True: the connection can serve another request.
  rt::Task<bool> Answer(Request request) {
    Http1Writer writer(session_, stream_, request, http10_, close_);
    std::vector<rt::Task<bool>> first;
    first.push_back(Handle(std::move(request), writer));
    first.push_back(ClientGone());
    const rt::AnyResult<bool> result = co_await rt::WhenAny(std::move(first));
    if (!result.value) co_return false;
    if (!writer.started()) {
      const Result<void> sent =
          co_await writer.Send(500, {{"content-type", "text/plain; charset=utf-8"}}, Body("no answer\n"));
      if (!sent.ok()) co_return false;
    }
    if (!writer.finished()) co_return false;  // cut off in the middle: the client sees a body without an end
    if (!writer.close() && !session_.shutting_down) co_return true;
    const Result<void> closed = co_await stream_.CloseWrite();
    static_cast<void>(closed);
    co_return false;
  }

  rt::Task<bool> Handle(Request request, Http1Writer& writer) {
    co_await session_.handler(std::move(request), writer);
    co_return true;
  }

  // False when the client closed or the connection broke. Requests that it sent ahead are kept.
  rt::Task<bool> ClientGone() {
    std::array<char, kReadBytes> bytes;
    while (buffer_.size() < kPipelinedBytesMax) {
      const Result<size_t> got = co_await stream_.Read(bytes);
      if (!got.ok() || *got == 0) co_return false;
      buffer_.append(bytes.data(), *got);
    }
    rt::Event never;
    co_await never.Wait();
    co_return false;
  }

  ServerSession& session_;
  ByteStream& stream_;
  std::string buffer_;  // received, not yet parsed
  bool timed_out_ = false;
  bool http10_ = false;
  bool close_ = false;
};

}  // namespace

rt::Task<void> ServeHttp1(ServerSession& session, ByteStream& stream, std::string received) {
  Http1Connection connection(session, stream, std::move(received));
  co_await connection.Serve();
}

}  // namespace baton::net
