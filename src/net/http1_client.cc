// HTTP/1.1, client side: one request at a time on a connection. A fiber of the connection reads all the time, so that a
// server that closes an idle connection is noticed before the next request is lost on it.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/client_connection.h"
#include "net/gzip.h"
#include "net/http1_parser.h"
#include "net/signal.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::net {
namespace {

constexpr size_t kReadBytes = size_t{32} << 10;
constexpr size_t kReadAheadBytes = size_t{64} << 10;  // received and not yet asked for
constexpr size_t kJoinedBytesMax = size_t{16} << 10;  // smaller bodies go out in one write with their head
constexpr int kInterimMax = 32;                       // 1xx answers before the real one

class Http1ClientConnection final : public ClientConnection,
                                    public std::enable_shared_from_this<Http1ClientConnection> {
 public:
  Http1ClientConnection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                        std::shared_ptr<const ClientOptions> options, std::string authority)
      : loop_(loop),
        stream_(std::move(stream)),
        options_(std::move(options)),
        authority_(std::move(authority)),
        idle_since_(loop.Now()) {}

  rt::Task<Outcome> Start(std::shared_ptr<const Request> request) override;
  bool usable() const override { return !busy_ && !broken_; }
  bool idle() const override { return !busy_; }
  void Close() override {
    broken_ = true;
    if (!busy_) close_.Set();
  }

  rt::Task<void> Run() override {
    const std::shared_ptr<Http1ClientConnection> self = shared_from_this();
    const Ending ending(*this);
    std::vector<rt::Task<void>> first;
    first.push_back(Reading());
    first.push_back(Watching());
    co_await rt::WhenAny(std::move(first));
  }

 private:
  friend class Http1ResponseStream;

  // Run is over, or was dropped.
  struct Ending {
    explicit Ending(Http1ClientConnection& c) : connection(c) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() {
      connection.broken_ = true;
      connection.ended_ = true;
      connection.arrived_.Set();
    }
    Http1ClientConnection& connection;
  };

  rt::Task<void> Reading() {
    while (true) {
      while (unread().size() >= kReadAheadBytes) co_await room_.Wait();
      const std::span<char> scratch = ReadScratch().first(kReadBytes);
      const Result<size_t> got = co_await stream_->Read(scratch);
      if (!busy_) co_return;  // its end, or bytes that nobody asked for: either way it is of no more use
      if (!got.ok()) {
        error_ = got.error();
        co_return;
      }
      if (*got == 0) {
        clean_end_ = true;
        co_return;
      }
      if (parsed_ >= kReadBytes) buffer_.erase(0, std::exchange(parsed_, 0));
      buffer_.append(scratch.data(), *got);
      arrived_.Set();
    }
  }

  rt::Task<void> Watching() {
    const Duration patience = options_->timeouts.keep_alive_idle;
    while (true) {
      if (co_await close_.Wait(rt::Deadline::After(loop_, patience))) co_return;
      if (!busy_ && loop_.Now() - idle_since_ >= patience) co_return;
    }
  }

  std::string_view unread() const { return std::string_view(buffer_).substr(parsed_); }
  void Parsed(size_t bytes) {
    parsed_ += bytes;
    if (parsed_ == buffer_.size()) {
      buffer_.clear();
      parsed_ = 0;
    }
    room_.Set();
  }

  // The response was read to its end, or is no longer wanted.
  void Release(bool reusable) {
    busy_ = false;
    idle_since_ = loop_.Now();
    if (!reusable || !unread().empty()) broken_ = true;
    if (broken_) {
      close_.Set();
    } else {
      buffer_ = std::string();
    }
  }

  std::string Head(const Request& request) const;

  rt::Loop& loop_;
  std::unique_ptr<ByteStream> stream_;
  std::shared_ptr<const ClientOptions> options_;
  std::string authority_;
  std::string buffer_;  // received
  size_t parsed_ = 0;   // of its front
  Signal arrived_;      // bytes, or the end
  Signal room_;         // in the buffer
  Signal close_;
  std::optional<Error> error_;  // why the connection broke
  bool clean_end_ = false;      // the server closed its side
  bool ended_ = false;          // nothing more will arrive
  bool busy_ = false;
  bool broken_ = false;  // cannot take another request
  bool used_ = false;    // has answered one
  MonotonicTime idle_since_;
};

class Http1ResponseStream final : public ResponseStream {
 public:
  Http1ResponseStream(std::shared_ptr<Http1ClientConnection> connection, std::shared_ptr<const Request> request)
      : connection_(std::move(connection)), request_(std::move(request)), writing_(connection_->loop_) {
    Expect();
  }
  // Not read to its end: the rest of it stands in the way of another request.
  ~Http1ResponseStream() override {
    if (!released_) connection_->Release(/*reusable=*/false);
  }

  int status() const override { return parser_->status(); }
  const Headers& headers() const override { return parser_->headers(); }

  // Sends what is left of the request while the response is awaited: a server may answer early, and close.
  void WriteLater(std::string head) {
    written_ = false;
    writing_.Spawn(WriteRest(std::move(head)));
  }

  // Until the head is parsed. Interim answers (1xx) are passed over.
  rt::Task<Result<void>> ReadHead() {
    for (int interim = 0; true; ++interim) {
      while (!parser_->head_done()) CO_TRY(co_await Step());
      const int status = parser_->status();
      if (status >= 200 || status == 101) break;
      if (interim == kInterimMax) co_return UnavailableError("the server sends interim answers without end");
      Expect();
    }
    Headers& headers = parser_->headers();
    if (!parser_->done() && headers.HasToken("content-encoding", "gzip")) {
      gunzip_.emplace();
      headers.Remove("content-encoding");
      headers.Remove("content-length");
    }
    co_return Result<void>();
  }

  rt::Task<Result<std::optional<std::string>>> Read() override {
    while (true) {
      if (body_.empty()) body_ = parser_->TakeBody();
      if (!body_.empty()) {
        std::string piece = CO_TRY(Decode());
        if (!piece.empty()) co_return std::optional<std::string>(std::move(piece));
        continue;
      }
      if (parser_->done()) {
        if (gunzip_ && !gunzip_->complete()) co_return UnavailableError("the response's gzip body was cut");
        if (!std::exchange(released_, true)) connection_->Release(parser_->keep_alive() && written_);
        co_return std::optional<std::string>();
      }
      CO_TRY(co_await Step());
    }
  }

  bool received_anything() const { return parser_->started() || received_; }

 private:
  void Expect() {
    received_ = received_ || (parser_ && parser_->started());
    parser_.emplace(Http1Parser::Kind::kResponse, connection_->options_->limits);
    if (request_->method == "HEAD") parser_->ExpectNoBody();
  }

  // The next piece of what is in body_.
  Result<std::string> Decode() {
    if (!gunzip_) return std::exchange(body_, {});
    const size_t count = std::min(body_.size() - decoded_, kGunzipSliceBytes);
    std::string piece = TRY(gunzip_->Feed(std::string_view(body_).substr(decoded_, count)));
    decoded_ += count;
    if (decoded_ == body_.size()) {
      body_.clear();
      decoded_ = 0;
    }
    return piece;
  }

  // Parses what is there, or waits for more.
  rt::Task<Result<void>> Step() {
    Http1ClientConnection& connection = *connection_;
    while (true) {
      if (!connection.unread().empty()) {
        const size_t used = parser_->Feed(connection.unread());
        connection.Parsed(used);
        if (parser_->failed()) co_return Malformed();
        if (used > 0) co_return Result<void>();
      }
      if (connection.ended_) break;  // only after all that came was offered to the parser
      static_cast<void>(co_await connection.arrived_.Wait());
    }
    if (connection.clean_end_ && parser_->head_done()) {
      parser_->End();  // a body without a length ends with the connection
      if (!parser_->failed()) co_return Result<void>();
    }
    if (connection.error_) co_return *connection.error_;
    if (!connection.clean_end_) co_return UnavailableError("the connection was closed");
    co_return UnavailableError(received_anything() ? "the server closed the connection in the middle of a response"
                                                   : "the server closed the connection without an answer");
  }

  Error Malformed() const { return UnavailableError(StrCat("malformed response: ", parser_->problem().why)); }

  rt::Task<void> WriteRest(std::string head) {
    const Duration stall = connection_->options_->timeouts.write_stall;
    Result<void> done = co_await WriteWithin(*connection_->stream_, connection_->loop_, stall, head);
    if (done.ok() && head_only_) {
      done = co_await WriteWithin(*connection_->stream_, connection_->loop_, stall, request_->body);
    }
    written_ = done.ok();  // when not, reading tells how it ends
  }

  friend class Http1ClientConnection;

  std::shared_ptr<Http1ClientConnection> connection_;
  std::shared_ptr<const Request> request_;
  std::optional<Http1Parser> parser_;
  std::optional<GunzipStream> gunzip_;
  std::string body_;    // received, to be decoded
  size_t decoded_ = 0;  // of its front
  bool received_ = false;
  bool released_ = false;
  bool written_ = true;     // the whole request
  bool head_only_ = false;  // WriteRest has the body to send, too
  rt::Scope writing_;       // last: uses the rest
};

std::string Http1ClientConnection::Head(const Request& request) const {
  std::string text = StrCat(request.method, " ", request.target, " HTTP/1.1\r\nhost: ", authority_, "\r\n");
  for (const auto& [name, value] : request.headers.fields()) {
    if (name != "host" && name != "content-length" && name != "transfer-encoding" && name != "connection") {
      StrAppend(text, name, ": ", value, "\r\n");
    }
  }
  if (!request.headers.Get("accept-encoding")) text += "accept-encoding: gzip\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    StrAppend(text, "content-length: ", request.body.size(), "\r\n");
  }
  text += "\r\n";
  return text;
}

rt::Task<ClientConnection::Outcome> Http1ClientConnection::Start(std::shared_ptr<const Request> request) {
  INVARIANT(usable(), "an HTTP/1.1 connection takes one request at a time");
  busy_ = true;
  const bool was_used = std::exchange(used_, true);
  auto response = std::make_unique<Http1ResponseStream>(shared_from_this(), request);
  std::string text = Head(*request);
  const bool joined = request->body.size() <= kJoinedBytesMax;
  if (joined) text += request->body;
  const Result<size_t> sent = stream_->TryWrite(text);
  Result<void> done;
  if (!sent.ok()) {
    done = sent.error();
  } else {
    if (*sent < text.size() || !joined) {
      response->head_only_ = !joined;
      response->WriteLater(text.substr(*sent));
    }
    done = co_await response->ReadHead();
  }
  if (done.ok()) co_return Outcome{.response = std::unique_ptr<ResponseStream>(std::move(response))};
  broken_ = true;
  co_return Outcome{.response = done.error(),
                    .repeatable = was_used && !response->received_anything() && MayRepeat(request->method)};
}

}  // namespace

std::shared_ptr<ClientConnection> MakeHttp1Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      std::shared_ptr<const ClientOptions> options,
                                                      std::string authority) {
  return std::make_shared<Http1ClientConnection>(loop, std::move(stream), std::move(options), std::move(authority));
}

}  // namespace baton::net
