// HTTP/2, client side: one connection, many requests at a time.
#include <map>
#include <utility>

#include "base/strings.h"
#include "net/client_connection.h"
#include "net/gzip.h"
#include "net/http2_session.h"
#include "rt/event.h"
#include "rt/when.h"

namespace baton::net {
namespace {

class Http2ClientConnection;

// One request and its answer. Shared by the connection and the ResponseStream that the caller reads.
struct ClientStream {
  int32_t id = -1;
  Http2Sender sender;
  int status = 0;
  Headers headers;
  size_t header_bytes = 0;
  bool head_complete = false;
  std::string received;  // body bytes that the caller has not read yet
  bool ended = false;    // the body is complete
  bool closed = false;
  bool unprocessed = false;  // refused, or above the server's GOAWAY
  std::string error;         // why it was closed before its end
  rt::Event changed;
};

class Http2ClientConnection final : public ClientConnection,
                                    public Http2Session,
                                    public std::enable_shared_from_this<Http2ClientConnection> {
 public:
  Http2ClientConnection(rt::Loop& loop, std::unique_ptr<ByteStream> stream, const ClientOptions& options,
                        std::string authority)
      : Http2Session(loop, *stream, options.timeouts),
        options_(options),
        authority_(std::move(authority)),
        owned_(std::move(stream)) {
    Open(/*server=*/false, options.limits);
  }

  rt::Task<Outcome> Start(const Request& request) override;
  bool usable() const override {
    return !dead_ && !going_away_ && streams_.size() < options_.limits.streams_per_connection_max &&
           nghttp2_session_check_request_allowed(session_) != 0;
  }
  bool idle() const override { return streams_.empty(); }

  rt::Task<void> Run() override {
    const std::shared_ptr<Http2ClientConnection> self = shared_from_this();
    std::vector<rt::Task<Result<void>>> first;
    first.push_back(ReadLoop());
    first.push_back(WriteLoop());
    first.push_back(KeepAlive());
    const rt::AnyResult<Result<void>> end = co_await rt::WhenAny(std::move(first));
    dead_ = true;
    const std::string why = end.value.ok() ? "the server closed the connection" : end.value.error().message();
    for (auto& [id, stream] : std::exchange(streams_, {})) {
      stream->closed = true;
      if (!stream->ended && stream->error.empty()) stream->error = why;
      stream->changed.Set();
    }
  }

  // The caller has read this much: the server may send as much again.
  void Consumed(ClientStream& stream, size_t bytes) {
    if (dead_) return;
    if (stream.closed) {
      nghttp2_session_consume_connection(session_, bytes);
    } else {
      nghttp2_session_consume(session_, stream.id, bytes);
    }
    Kick();
  }

  // The caller is no longer interested.
  void Abandon(ClientStream& stream) {
    if (dead_) return;
    if (!stream.received.empty())
      nghttp2_session_consume_connection(session_, std::exchange(stream.received, {}).size());
    if (!stream.closed) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
    streams_.erase(stream.id);
    Kick();
  }

 private:
  // A server that answers nothing, not even a PING, is gone.
  rt::Task<Result<void>> KeepAlive() {
    while (true) {
      co_await loop_.Sleep(timeouts_.http2_ping);
      if (loop_.Now() - last_received_ < timeouts_.http2_ping) continue;
      const MonotonicTime asked = loop_.Now();
      nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
      Kick();
      co_await loop_.Sleep(timeouts_.http2_ping);
      if (last_received_ < asked) co_return UnavailableError("the server does not answer (HTTP/2 PING)");
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

  int OnHeader(int32_t id, std::string_view name, std::string_view value) override {
    constexpr size_t kFieldOverhead = 32;
    ClientStream* stream = Find(id);
    if (stream == nullptr || stream->head_complete) return 0;  // trailers are not looked at
    stream->header_bytes += name.size() + value.size() + kFieldOverhead;
    if (stream->header_bytes > options_.limits.header_bytes_max) {
      stream->error = "the response's header fields are too large";
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

  int OnData(int32_t id, std::string_view bytes) override {
    ClientStream* stream = Find(id);
    if (stream == nullptr) {
      nghttp2_session_consume_connection(session_, bytes.size());
      return 0;
    }
    stream->received.append(bytes);
    stream->changed.Set();
    return 0;
  }

  void OnFrame(const nghttp2_frame& frame) override {
    if (frame.hd.type == NGHTTP2_GOAWAY) {
      going_away_ = true;
      for (auto& [id, stream] : streams_) stream->unprocessed = stream->unprocessed || id > frame.goaway.last_stream_id;
      return;
    }
    ClientStream* stream = Find(frame.hd.stream_id);
    if (stream == nullptr) return;
    if (frame.hd.type == NGHTTP2_HEADERS) {
      constexpr int kFirstFinalStatus = 200;
      if (stream->status < kFirstFinalStatus && stream->status != 101) {
        stream->headers = Headers();  // an interim answer
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

  void OnStreamClosed(int32_t id, uint32_t error_code) override {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    ClientStream& stream = *found->second;
    stream.closed = true;
    stream.sender.closed = true;
    if (error_code == NGHTTP2_REFUSED_STREAM) stream.unprocessed = true;
    if (!stream.ended && stream.error.empty()) {
      stream.error = StrCat("the server reset the stream: ", nghttp2_http2_strerror(error_code));
    }
    stream.changed.Set();
    streams_.erase(found);
  }

  void AfterTurn() override {}

  const ClientOptions& options_;
  std::string authority_;
  std::unique_ptr<ByteStream> owned_;
  std::map<int32_t, std::shared_ptr<ClientStream>> streams_;
  bool dead_ = false;
  bool going_away_ = false;
};

class Http2ResponseStream final : public ResponseStream {
 public:
  Http2ResponseStream(std::shared_ptr<Http2ClientConnection> connection, std::shared_ptr<ClientStream> stream)
      : connection_(std::move(connection)), stream_(std::move(stream)) {}
  ~Http2ResponseStream() override { connection_->Abandon(*stream_); }

  int status() const override { return stream_->status; }
  const Headers& headers() const override { return stream_->headers; }

  rt::Task<Result<void>> ReadHead(size_t body_bytes_max) {
    while (!stream_->head_complete) {
      if (stream_->closed)
        co_return UnavailableError(stream_->error.empty() ? "the stream was closed" : stream_->error);
      stream_->changed.Reset();
      co_await stream_->changed.Wait();
    }
    if (stream_->headers.HasToken("content-encoding", "gzip")) {
      gunzip_.emplace(body_bytes_max);
      stream_->headers.Remove("content-encoding");
      stream_->headers.Remove("content-length");
    }
    co_return Result<void>();
  }

  rt::Task<Result<std::optional<std::string>>> Read() override {
    while (true) {
      if (!stream_->received.empty()) {
        std::string body = std::exchange(stream_->received, {});
        connection_->Consumed(*stream_, body.size());
        if (gunzip_) body = CO_TRY(gunzip_->Feed(body));
        if (!body.empty()) co_return std::optional<std::string>(std::move(body));
        continue;
      }
      if (stream_->ended) {
        if (gunzip_ && !gunzip_->complete()) co_return UnavailableError("the response's gzip body was cut");
        co_return std::optional<std::string>();
      }
      if (stream_->closed) co_return UnavailableError(stream_->error);
      stream_->changed.Reset();
      co_await stream_->changed.Wait();
    }
  }

 private:
  std::shared_ptr<Http2ClientConnection> connection_;
  std::shared_ptr<ClientStream> stream_;
  std::optional<GunzipStream> gunzip_;
};

rt::Task<ClientConnection::Outcome> Http2ClientConnection::Start(const Request& request) {
  if (dead_) co_return Outcome{.response = UnavailableError("the connection is closed"), .unprocessed = true};
  std::vector<std::pair<std::string, std::string>> fields = {
      {":method", request.method}, {":scheme", "https"}, {":authority", authority_}, {":path", request.target}};
  for (const auto& [name, value] : request.headers.fields()) {
    if (!IsConnectionSpecific(name) && Headers::ValidField(name, value)) fields.emplace_back(name, value);
  }
  if (!request.headers.Get("accept-encoding")) fields.emplace_back("accept-encoding", "gzip");
  auto stream = std::make_shared<ClientStream>();
  stream->sender.Add(Body(request.body));
  stream->sender.finished = true;
  const std::vector<nghttp2_nv> list = ToNv(fields);
  const nghttp2_data_provider provider = SenderProvider();
  const int32_t id = nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                            request.body.empty() ? nullptr : &provider, nullptr);
  if (id < 0) {
    going_away_ = true;  // out of stream numbers: this connection takes no more
    co_return Outcome{.response = UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(id))),
                      .unprocessed = true};
  }
  stream->id = id;
  streams_[id] = stream;
  Kick();
  auto response = std::make_unique<Http2ResponseStream>(shared_from_this(), stream);
  const Result<void> head = co_await response->ReadHead(options_.limits.response_body_bytes_max);
  if (!head.ok()) co_return Outcome{.response = head.error(), .unprocessed = stream->unprocessed};
  co_return Outcome{.response = std::unique_ptr<ResponseStream>(std::move(response))};
}

}  // namespace

std::shared_ptr<ClientConnection> MakeHttp2Connection(rt::Loop& loop, std::unique_ptr<ByteStream> stream,
                                                      const ClientOptions& options, std::string authority) {
  return std::make_shared<Http2ClientConnection>(loop, std::move(stream), options, std::move(authority));
}

}  // namespace baton::net
