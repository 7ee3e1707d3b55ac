// HTTP/2, client side: one connection, many requests at a time.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/client_connection.h"
#include "net/gzip.h"
#include "net/http2_session.h"
#include "net/signal.h"
#include "rt/when.h"

namespace baton::net {
namespace {

// Streams that a server allows at least, until its SETTINGS say how many (RFC 9113 recommends no less than 100).
constexpr size_t kStreamsBeforeSettings = 100;

// One request and its answer. Shared by the connection and the ResponseStream that the caller reads.
struct ClientStream {
  int32_t id = -1;
  Http2Sender sender;
  int status = 0;
  Headers headers;
  size_t header_bytes = 0;
  bool sent = false;           // the request's head went out
  bool received = false;       // something of the answer came
  bool head_complete = false;  // of the final answer
  std::string body;            // bytes that the caller has not read yet
  bool ended = false;          // the body is complete
  bool closed = false;
  bool unprocessed = false;    // refused, or above the server's GOAWAY
  std::optional<Error> error;  // why it was closed before its end
  Signal changed;
};

class Http2ClientConnection final : public ClientConnection,
                                    public Http2Session,
                                    public std::enable_shared_from_this<Http2ClientConnection> {
 public:
  Http2ClientConnection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                        std::shared_ptr<const ClientOptions> options, std::string authority)
      : Http2Session(loop, *stream, options->timeouts),
        options_(std::move(options)),
        authority_(std::move(authority)),
        owned_(std::move(stream)),
        active_at_(loop.Now()) {
    Open(/*server=*/false, options_->limits);
  }

  rt::Task<Outcome> Start(std::shared_ptr<const Request> request) override;
  bool usable() const override {
    return !dead_ && !going_away_ && streams_.size() < StreamsMax() &&
           nghttp2_session_check_request_allowed(session_) != 0;
  }
  bool idle() const override { return streams_.empty(); }
  void Close() override {
    going_away_ = true;
    if (!dead_ && streams_.empty()) Terminate();
  }

  rt::Task<void> Run() override {
    const std::shared_ptr<Http2ClientConnection> self = shared_from_this();
    Ending ending(*this);
    std::vector<rt::Task<Result<void>>> first;
    first.push_back(ReadLoop());
    first.push_back(Writing());
    first.push_back(KeepAlive());
    const rt::AnyResult<Result<void>> end = co_await rt::WhenAny(std::move(first));
    ending.why = end.value.ok() ? UnavailableError("the server closed the connection") : end.value.error();
  }

  // The caller has read this much: the server may send as much again.
  void Consumed(const ClientStream& stream, size_t bytes) {
    if (dead_ || stream.closed) return;
    nghttp2_session_consume_stream(session_, stream.id, bytes);
    Kick();
  }

  // The caller is no longer interested.
  void Abandon(const ClientStream& stream) {
    if (dead_ || stream.closed) return;
    streams_.erase(stream.id);
    Reset(stream.id, NGHTTP2_CANCEL);
    if (going_away_ && streams_.empty()) Terminate();
  }

 private:
  friend class Http2ResponseStream;

  // Run is over, or was dropped.
  struct Ending {
    explicit Ending(Http2ClientConnection& c) : connection(c) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() { connection.Die(why); }
    Http2ClientConnection& connection;
    Error why = UnavailableError("the connection was closed");
  };

  void Die(const Error& why) {
    dead_ = true;
    for (auto& [id, stream] : std::exchange(streams_, {})) {
      stream->closed = true;
      if (!stream->ended && !stream->error) stream->error = why;
      stream->changed.Set();
    }
  }

  void Terminate() {
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    Kick();
  }

  size_t StreamsMax() const {
    const size_t theirs = greeted_
                              ? nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
                              : kStreamsBeforeSettings;
    return std::min(options_->limits.streams_per_connection_max, theirs);
  }

  // A server that reads no more may have sent answers that are still on their way: reading goes on until that ends,
  // too.
  rt::Task<Result<void>> Writing() {
    Result<void> end = co_await WriteLoop();
    if (end.ok()) co_return end;
    going_away_ = true;
    Signal never;
    static_cast<void>(co_await never.Wait());
    co_return end;
  }

  // A server that answers nothing, not even a PING, is gone. A connection that nobody uses is closed.
  rt::Task<Result<void>> KeepAlive() {
    const Duration pause = std::min(timeouts_.http2_ping, timeouts_.keep_alive_idle);
    std::optional<MonotonicTime> asked;
    while (true) {
      co_await loop_.Sleep(pause);
      const MonotonicTime now = loop_.Now();
      if (!streams_.empty()) active_at_ = now;
      if (now - active_at_ >= timeouts_.keep_alive_idle) Close();
      if (asked && last_received_ >= *asked) asked.reset();
      if (asked && now - *asked >= timeouts_.http2_ping) {
        co_return UnavailableError("the server does not answer (HTTP/2 PING)");
      }
      if (!asked && now - last_received_ >= timeouts_.http2_ping) {
        asked = now;
        nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
        Kick();
      }
    }
  }

  ClientStream* Find(int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
  }

  Http2Sender* SenderOf(int32_t id) override {
    ClientStream* stream = Find(id);
    return stream == nullptr ? nullptr : &stream->sender;
  }

  void OnBeginHeaders(const nghttp2_frame& /*frame*/) override {}

  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) override {
    constexpr size_t kFieldOverhead = 32;
    ClientStream* stream = Find(frame.hd.stream_id);
    if (stream == nullptr || stream->head_complete) return 0;  // trailers are not looked at
    stream->received = true;
    stream->header_bytes += name.size() + value.size() + kFieldOverhead;
    if (stream->header_bytes > options_->limits.header_bytes_max ||
        stream->headers.fields().size() >= options_->limits.header_count_max) {
      stream->error = UnavailableError("the response's header fields are too large");
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
    }
    if (name == ":status") {
      stream->status = 0;
      for (const char digit : value) stream->status = stream->status * 10 + (digit - '0');
    } else {
      stream->headers.Add(name, value);
    }
    return 0;
  }

  // The connection's window is given back at once, the stream's as its reader goes on: a slow reader stops only itself.
  int OnData(int32_t id, std::string_view bytes) override {
    nghttp2_session_consume_connection(session_, bytes.size());
    ClientStream* stream = Find(id);
    if (stream == nullptr) return 0;
    stream->body.append(bytes);
    stream->changed.Set();
    return 0;
  }

  void OnFrame(const nghttp2_frame& frame) override {
    if (frame.hd.type == NGHTTP2_SETTINGS) greeted_ = true;
    if (frame.hd.type == NGHTTP2_GOAWAY) {
      going_away_ = true;
      for (auto& [id, stream] : streams_) stream->unprocessed = stream->unprocessed || id > frame.goaway.last_stream_id;
      return;
    }
    ClientStream* stream = Find(frame.hd.stream_id);
    if (stream == nullptr) return;
    if (frame.hd.type == NGHTTP2_HEADERS && !stream->head_complete) {
      constexpr int kFirstFinalStatus = 200;
      if (stream->status < kFirstFinalStatus && stream->status != 101) {
        stream->headers = Headers();  // an interim answer; header_bytes goes on, so that they cannot be endless
      } else {
        stream->head_complete = true;
      }
    }
    if ((frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) &&
        (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      stream->ended = true;
    }
    stream->changed.Set();
  }

  void OnFrameSent(const nghttp2_frame& frame) override {
    if (frame.hd.type != NGHTTP2_HEADERS) return;
    if (ClientStream* stream = Find(frame.hd.stream_id)) stream->sent = true;
  }

  void OnStreamClosed(int32_t id, uint32_t error_code) override {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const std::shared_ptr<ClientStream> stream = std::move(found->second);
    streams_.erase(found);
    stream->closed = true;
    if (error_code == NGHTTP2_REFUSED_STREAM) stream->unprocessed = true;
    if (stream->ended) {
      used_ = true;
    } else if (!stream->error) {
      stream->error = UnavailableError(StrCat("the server reset the stream: ", nghttp2_http2_strerror(error_code)));
    }
    stream->changed.Set();
  }

  void AfterTurn() override {
    if (closing_when_idle() && !dead_) Terminate();
  }
  bool closing_when_idle() const { return going_away_ && streams_.empty(); }

  std::shared_ptr<const ClientOptions> options_;
  std::string authority_;
  std::unique_ptr<ByteStream> owned_;
  std::map<int32_t, std::shared_ptr<ClientStream>> streams_;
  MonotonicTime active_at_;
  bool greeted_ = false;  // the server's SETTINGS are known
  bool used_ = false;     // has answered a request
  bool dead_ = false;
  bool going_away_ = false;
};

class Http2ResponseStream final : public ResponseStream {
 public:
  Http2ResponseStream(std::shared_ptr<Http2ClientConnection> connection, std::shared_ptr<ClientStream> stream,
                      bool head_request)
      : connection_(std::move(connection)), stream_(std::move(stream)), head_request_(head_request) {}
  ~Http2ResponseStream() override { connection_->Abandon(*stream_); }

  int status() const override { return stream_->status; }
  const Headers& headers() const override { return stream_->headers; }

  rt::Task<Result<void>> ReadHead() {
    while (!stream_->head_complete) {
      if (stream_->closed) co_return Closed();
      static_cast<void>(co_await stream_->changed.Wait());
    }
    if (!head_request_ && stream_->headers.HasToken("content-encoding", "gzip")) {
      gunzip_.emplace();
      stream_->headers.Remove("content-encoding");
      stream_->headers.Remove("content-length");
    }
    co_return Result<void>();
  }

  rt::Task<Result<std::optional<std::string>>> Read() override {
    while (true) {
      if (body_.empty() && !stream_->body.empty()) {
        body_ = std::exchange(stream_->body, {});
        connection_->Consumed(*stream_, body_.size());
      }
      if (!body_.empty()) {
        std::string piece = CO_TRY(Decode());
        if (!piece.empty()) co_return std::optional<std::string>(std::move(piece));
        continue;
      }
      if (stream_->ended) {
        if (gunzip_ && !gunzip_->complete()) co_return UnavailableError("the response's gzip body was cut");
        co_return std::optional<std::string>();
      }
      if (stream_->closed) co_return Closed();
      static_cast<void>(co_await stream_->changed.Wait());
    }
  }

 private:
  Error Closed() const { return stream_->error.value_or(UnavailableError("the stream was closed")); }

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

  std::shared_ptr<Http2ClientConnection> connection_;
  std::shared_ptr<ClientStream> stream_;
  bool head_request_;
  std::optional<GunzipStream> gunzip_;
  std::string body_;    // taken off the stream, to be decoded
  size_t decoded_ = 0;  // of its front
};

rt::Task<ClientConnection::Outcome> Http2ClientConnection::Start(std::shared_ptr<const Request> request) {
  if (dead_ || going_away_) {
    co_return Outcome{.response = UnavailableError("the connection is closed"), .repeatable = true};
  }
  const bool was_used = used_;
  std::vector<nghttp2_nv> list;
  list.reserve(request->headers.fields().size() + 6);
  list.push_back(MakeNv(":method", request->method));
  list.push_back(MakeNv(":scheme", options_->tls ? "https" : "http"));
  list.push_back(MakeNv(":authority", authority_));
  list.push_back(MakeNv(":path", request->target));
  for (const auto& [name, value] : request->headers.fields()) {
    if (!IsConnectionSpecific(name) && name != "content-length") list.push_back(MakeNv(name, value));
  }
  if (!request->headers.Get("accept-encoding")) list.push_back(MakeNv("accept-encoding", "gzip"));
  std::array<char, 20> length;
  if (!request->body.empty()) {
    char* const end = std::to_chars(length.data(), length.data() + length.size(), request->body.size()).ptr;
    list.push_back(MakeNv("content-length", {length.data(), end}));
  }
  auto stream = std::make_shared<ClientStream>();
  Body body;
  body.Add(request, request->body);
  stream->sender.Add(std::move(body));
  stream->sender.finished = true;
  const nghttp2_data_provider provider = SenderProvider();
  const int32_t id = nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                            request->body.empty() ? nullptr : &provider, nullptr);
  if (id < 0) {
    going_away_ = true;  // out of stream numbers: this connection takes no more
    co_return Outcome{.response = UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(id))), .repeatable = true};
  }
  stream->id = id;
  streams_[id] = stream;
  Kick();
  auto response = std::make_unique<Http2ResponseStream>(shared_from_this(), stream, request->method == "HEAD");
  const Result<void> head = co_await response->ReadHead();
  if (head.ok()) co_return Outcome{.response = std::unique_ptr<ResponseStream>(std::move(response))};
  const bool kept_but_dead = dead_ && was_used && !stream->received && MayRepeat(request->method);
  co_return Outcome{.response = head.error(), .repeatable = stream->unprocessed || !stream->sent || kept_but_dead};
}

}  // namespace

std::shared_ptr<ClientConnection> MakeHttp2Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      std::shared_ptr<const ClientOptions> options,
                                                      std::string authority) {
  return std::make_shared<Http2ClientConnection>(loop, std::move(stream), std::move(options), std::move(authority));
}

}  // namespace baton::net
