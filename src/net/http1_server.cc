// HTTP/1.x, server side: one connection, one request after the other. Two fibers: one reads all the time, so that a
// client that goes away is noticed while a handler runs; the other parses, runs the handlers and writes.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "net/http1_parser.h"
#include "net/http1_writer.h"
#include "net/server_session.h"
#include "net/signal.h"
#include "rt/when.h"

namespace baton::net {
namespace {

constexpr size_t kReadBytes = size_t{32} << 10;       // at once
constexpr size_t kReadAheadBytes = size_t{64} << 10;  // received and not yet parsed
constexpr size_t kKeptBytes = size_t{4} << 10;        // of buffer that an idle connection keeps

// A client that has closed its side and still reads has this long to get its answer. A client that is gone looks the
// same, so it is not long.
constexpr Duration kHalfClosedGrace = seconds(2);

// After a refusal what the client still sends is thrown away for a moment: closing on unread bytes would reset the
// connection and take the answer with it.
constexpr Duration kLingerTime = seconds(2);
constexpr size_t kLingerBytesMax = size_t{16} << 20;

class Http1Connection final : private ShutdownHook {
 public:
  Http1Connection(ServerSession& session, ByteStream& stream, std::string received)
      : session_(session), stream_(stream), buffer_(std::move(received)) {
    session_.told.PushBack(*this);
  }

  // Until the connection ends.
  rt::Task<void> Serve() {
    std::vector<rt::Task<void>> first;
    first.push_back(Reading());
    first.push_back(Serving());
    co_await rt::WhenAny(std::move(first));
  }

 private:
  void OnShutdown() override { arrived_.Set(); }

  // ---- reading ----

  std::string_view unread() const { return std::string_view(buffer_).substr(parsed_); }

  void Parsed(size_t bytes) {
    parsed_ += bytes;
    if (parsed_ == buffer_.size()) {
      buffer_.clear();
      parsed_ = 0;
    }
    room_.Set();
  }

  rt::Task<void> Reading() {
    while (true) {
      while (!discarding_ && unread().size() >= kReadAheadBytes) co_await room_.Wait();
      const std::span<char> scratch = ReadScratch().first(kReadBytes);
      const Result<size_t> got = co_await stream_.Read(scratch);
      if (!got.ok()) co_return;  // nobody is there to be answered
      if (*got == 0) break;
      if (discarding_) {
        discarded_ += *got;
        if (discarded_ > kLingerBytesMax) co_return;
        co_await session_.loop.Yield();
        continue;
      }
      if (parsed_ >= kReadBytes) buffer_.erase(0, std::exchange(parsed_, 0));
      buffer_.append(scratch.data(), *got);
      arrived_.Set();
    }
    ended_ = true;
    arrived_.Set();
    co_await session_.loop.Sleep(kHalfClosedGrace);
  }

  // ---- serving ----

  rt::Task<void> Serving() {
    const HttpTimeouts& timeouts = session_.options.timeouts;
    Duration patience = timeouts.request_header;  // a new connection says soon what it wants
    while (true) {
      if (unread().empty()) {
        if (buffer_.capacity() > kKeptBytes) buffer_ = std::string();
        const rt::Deadline deadline = rt::Deadline::After(session_.loop, patience);
        bool in_time = true;
        while (in_time && unread().empty() && !ended_ && !session_.shutting_down) {
          in_time = co_await arrived_.Wait(deadline);
        }
      }
      if (unread().empty()) break;  // a request that is here is answered, also when the server shuts down
      if (!co_await ServeOne()) break;
      patience = timeouts.keep_alive_idle;
    }
    if (!cut_) co_await Close();
  }

  // One request and its answer. False: the connection takes no more.
  rt::Task<bool> ServeOne() {
    Http1Parser parser(Http1Parser::Kind::kRequest, session_.options.limits);
    BodyAccount account(session_);
    Http1Parser::Problem problem = Advance(parser, account);
    if (problem.status == 0 && !parser.done()) problem = co_await ReadRest(parser, account);
    if (problem.status != 0) {
      co_await Refuse(problem);
      co_return false;
    }
    account.Set(0);
    Request request;
    request.method = std::move(parser.method());
    request.target = std::move(parser.target());
    request.headers = std::move(parser.headers());
    request.body = parser.TakeBody();
    request.peer = stream_.peer_identity();
    request.peer_address = stream_.peer_address();
    Http1Writer writer(session_, stream_, request, parser.http10(), !parser.keep_alive());
    co_await session_.handler(std::move(request), writer);
    if (!writer.started()) {
      const Result<void> sent =
          co_await writer.Send(500, {{"content-type", "text/plain; charset=utf-8"}}, Body("no answer\n"));
      static_cast<void>(sent);  // seen below
    }
    cut_ = !writer.finished();  // the client sees a body without an end
    co_return !cut_ && !writer.close();
  }

  // Parses what is there. The problem's status is 0 while there is none.
  Http1Parser::Problem Advance(Http1Parser& parser, BodyAccount& account) {
    size_t used = 0;
    do {  // stops behind the head once
      used = parser.Feed(unread());
      Parsed(used);
    } while (used > 0 && !unread().empty() && !parser.done() && !parser.failed());
    if (parser.failed()) return parser.problem();
    if (!account.Set(parser.body_bytes())) return {503, "too many request bodies at a time"};
    return {};
  }

  rt::Task<Http1Parser::Problem> ReadRest(Http1Parser& parser, BodyAccount& account) {
    const HttpTimeouts& timeouts = session_.options.timeouts;
    bool in_body = false;
    rt::Deadline deadline = rt::Deadline::After(session_.loop, timeouts.request_header);
    while (true) {
      if (parser.head_done() && !std::exchange(in_body, true)) {
        deadline = rt::Deadline::After(session_.loop, timeouts.request_body);
        if (parser.expects_continue() && parser.body_bytes() == 0) {
          const Result<void> sent =
              co_await WriteWithin(stream_, session_.loop, timeouts.write_stall, "HTTP/1.1 100 Continue\r\n\r\n");
          if (!sent.ok()) co_return Gone();
        }
      }
      if (ended_) co_return Gone();
      if (!co_await arrived_.Wait(deadline)) co_return Http1Parser::Problem{408, "the request took too long"};
      const Http1Parser::Problem problem = Advance(parser, account);
      if (problem.status != 0 || parser.done()) co_return problem;
    }
  }

  // ---- ending ----

  static Http1Parser::Problem Gone() { return {kGoneStatus, ""}; }

  // An error answer, after which the connection is closed: we no longer know where the next request would begin.
  rt::Task<void> Refuse(Http1Parser::Problem problem) {
    cut_ = problem.status == kGoneStatus;
    if (cut_) co_return;
    const ErrorPage page = session_.options.PageFor(problem.status, problem.why);
    const std::string text =
        StrCat("HTTP/1.1 ", problem.status, " ", StatusText(problem.status), "\r\ncontent-type: ", page.content_type,
               "\r\ncontent-length: ", page.body.size(), problem.status == 503 ? "\r\nretry-after: 1" : "",
               "\r\ndate: ", session_.DateText(), "\r\nconnection: close\r\n\r\n", page.body);
    const Result<void> sent = co_await WriteWithin(stream_, session_.loop, session_.options.timeouts.write_stall, text);
    cut_ = !sent.ok();
    linger_ = true;
  }

  rt::Task<void> Close() {
    const bool linger = linger_ || !unread().empty();
    discarding_ = true;
    buffer_ = std::string();
    parsed_ = 0;
    room_.Set();
    co_await CloseGently(session_.loop, stream_);
    const rt::Deadline deadline = rt::Deadline::After(session_.loop, kLingerTime);
    bool in_time = true;
    while (linger && in_time && !ended_) in_time = co_await arrived_.Wait(deadline);
  }

  static constexpr int kGoneStatus = -1;  // nobody to answer

  ServerSession& session_;
  ByteStream& stream_;
  std::string buffer_;  // received
  size_t parsed_ = 0;   // of its front
  Signal arrived_;      // bytes, the end, or the server's shutdown
  Signal room_;         // in the buffer
  bool ended_ = false;  // the client sends no more
  bool discarding_ = false;
  size_t discarded_ = 0;
  bool linger_ = false;
  bool cut_ = false;  // close without a word
};

}  // namespace

rt::Task<void> ServeHttp1(ServerSession& session, ByteStream& stream, std::string received) {
  Http1Connection connection(session, stream, std::move(received));
  co_await connection.Serve();
}

}  // namespace baton::net
