// HTTP/2, server side: many requests at a time, each handler in a fiber of its own.
#include <map>
#include <utility>

#include "base/strings.h"
#include "net/http2_session.h"
#include "net/server_session.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::net {
namespace {

class Http2ServerConnection;

// One request and its answer.
struct ServerStream {
  explicit ServerStream(rt::Loop& loop) : handler(loop) {}

  Request request;
  size_t header_bytes = 0;
  int refuse_status = 0;  // a limit was passed: answer this instead of calling the handler
  bool request_complete = false;
  bool answered = false;  // a head was submitted
  bool closed = false;    // nghttp2 is done with it
  Http2Sender sender;
  rt::Scope handler;  // last: the handler's fiber uses the rest
};

class Http2Writer final : public ResponseWriter {
 public:
  Http2Writer(Http2ServerConnection& connection, int32_t id, ServerStream& stream, std::string method,
              Headers request_headers)
      : connection_(connection),
        id_(id),
        stream_(stream),
        method_(std::move(method)),
        request_headers_(std::move(request_headers)) {}

  rt::Task<Result<void>> Send(int status, Headers headers, Body body) override;
  rt::Task<Result<void>> Start(int status, Headers headers) override;
  rt::Task<Result<void>> Write(Body chunk) override;
  rt::Task<Result<void>> Finish() override;
  bool shutting_down() const override;

 private:
  Result<void> Submit(int status, const Headers& headers, bool with_body);
  rt::Task<Result<void>> WaitForRoom(size_t queued_max);
  rt::Task<void> Drained();

  Http2ServerConnection& connection_;
  int32_t id_;
  ServerStream& stream_;
  std::string method_;
  Headers request_headers_;
  bool body_allowed_ = true;
};

class Http2ServerConnection final : public Http2Session {
 public:
  Http2ServerConnection(ServerSession& session, ByteStream& stream)
      : Http2Session(session.loop, stream, session.options.timeouts), server_(session) {
    Open(/*server=*/true, session.options.limits);
  }

  rt::Task<void> Serve(std::string received) {
    if (!received.empty() && !Receive(received).ok()) co_return;
    std::vector<rt::Task<void>> first;
    first.push_back(Reading());
    first.push_back(Writing());
    first.push_back(Watching());
    co_await rt::WhenAny(std::move(first));
    streams_.clear();  // drops the handlers
  }

 private:
  friend class Http2Writer;

  rt::Task<void> Reading() { static_cast<void>(co_await ReadLoop()); }
  rt::Task<void> Writing() { static_cast<void>(co_await WriteLoop()); }

  // Ends what is idle for too long, asks a silent peer whether it is there, and says good-bye at shutdown.
  rt::Task<void> Watching() {
    bool told = false;
    bool pinged = false;
    while (true) {
      if (server_.shutting_down && !std::exchange(told, true)) {
        nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                              NGHTTP2_NO_ERROR, nullptr, 0);
        Kick();
      }
      if (told && streams_.empty()) {
        nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
        Kick();
      }
      if (told) {
        changed_.Reset();
        co_await changed_.Wait();
        continue;
      }
      const Duration silence = loop_.Now() - last_received_;
      if (streams_.empty() && silence >= timeouts_.keep_alive_idle) {
        nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
        Kick();
        pinged = true;
      }
      if (silence >= 2 * timeouts_.http2_ping && pinged) co_return;  // no answer: gone
      if (silence >= timeouts_.http2_ping && !std::exchange(pinged, true)) {
        nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
        Kick();
      } else if (silence < timeouts_.http2_ping) {
        pinged = false;
      }
      RefuseSlowRequests();
      static_cast<void>(
          co_await rt::WithDeadline(rt::Deadline::After(loop_, timeouts_.http2_ping / 2), "shutdown", ShutdownComes()));
    }
  }

  rt::Task<void> ShutdownComes() { co_await server_.shutdown.Wait(); }

  void RefuseSlowRequests() {
    for (auto& [id, stream] : streams_) {
      if (stream->request_complete || loop_.Now() - started_[id] < timeouts_.request_body) continue;
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
      Kick();
    }
  }

  // ---- nghttp2 tells ----

  ServerStream* Find(int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second.get();
  }

  Http2Sender* SenderOf(int32_t id) override {
    ServerStream* stream = Find(id);
    return stream == nullptr ? nullptr : &stream->sender;
  }

  void OnBeginHeaders(const nghttp2_frame& frame) override {
    if (frame.hd.type != NGHTTP2_HEADERS || frame.headers.cat != NGHTTP2_HCAT_REQUEST) return;
    auto stream = std::make_unique<ServerStream>(loop_);
    stream->request.http2 = true;
    stream->request.peer = stream_.peer_identity();
    stream->request.peer_address = stream_.peer_address();
    started_[frame.hd.stream_id] = loop_.Now();
    streams_[frame.hd.stream_id] = std::move(stream);
  }

  int OnHeader(int32_t id, std::string_view name, std::string_view value) override {
    constexpr size_t kFieldOverhead = 32;  // as HTTP/2 counts it
    ServerStream* stream = Find(id);
    if (stream == nullptr || stream->refuse_status != 0) return 0;
    const HttpLimits& limits = server_.options.limits;
    stream->header_bytes += name.size() + value.size() + kFieldOverhead;
    Request& request = stream->request;
    if (name == ":path" && value.size() > limits.target_bytes_max) {
      stream->refuse_status = 414;
    } else if (stream->header_bytes > limits.header_bytes_max ||
               request.headers.fields().size() >= limits.header_count_max) {
      stream->refuse_status = 431;
    } else if (name == ":method") {
      request.method = std::string(value);
    } else if (name == ":path") {
      request.target = std::string(value);
    } else if (name == ":authority") {
      request.headers.Add("host", value);
    } else if (!name.starts_with(':')) {
      request.headers.Add(name, value);
    }
    return 0;
  }

  int OnData(int32_t id, std::string_view bytes) override {
    ServerStream* stream = Find(id);
    if (stream == nullptr || stream->refuse_status != 0) return 0;
    if (stream->request.body.size() + bytes.size() > server_.options.limits.body_bytes_max) {
      stream->refuse_status = 413;
      stream->request.body.clear();
      due_.push_back(id);  // answered now, not after the rest of it
      return 0;
    }
    stream->request.body.append(bytes);
    return 0;
  }

  void OnFrame(const nghttp2_frame& frame) override {
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (ends && (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA)) {
      ServerStream* stream = Find(frame.hd.stream_id);
      if (stream == nullptr || std::exchange(stream->request_complete, true)) return;
      due_.push_back(frame.hd.stream_id);
    }
  }

  void OnStreamClosed(int32_t id, uint32_t error_code) override {
    ServerStream* stream = Find(id);
    if (stream == nullptr) return;
    stream->closed = true;
    stream->sender.closed = true;
    stream->sender.drained.Set();
    started_.erase(id);
    // An answer that went out whole: its handler may end in peace. Everything else: the client is gone.
    const bool whole = error_code == NGHTTP2_NO_ERROR && stream->sender.finished && stream->sender.pieces.empty();
    ended_.emplace_back(id, whole);
  }

  void AfterTurn() override {
    for (const int32_t id : std::exchange(due_, {})) Dispatch(id);
    for (const auto& [id, whole] : std::exchange(ended_, {})) {
      const auto found = streams_.find(id);
      if (found == streams_.end()) continue;
      if (whole && found->second->handler.active() > 0) continue;  // removed when that has ended (done_)
      // WriteLoop may call this from a fiber of its own, never from a handler: destroying the handler is safe here.
      streams_.erase(found);
    }
    for (const int32_t id : std::exchange(done_, {})) {
      const auto found = streams_.find(id);
      if (found != streams_.end() && found->second->closed && found->second->handler.active() == 0)
        streams_.erase(found);
    }
    changed_.Set();
  }

  // ---- requests ----

  void Dispatch(int32_t id) {
    ServerStream* stream = Find(id);
    if (stream == nullptr || stream->closed || stream->answered || stream->handler.active() > 0) return;
    stream->handler.Spawn(Handle(id, *stream));
  }

  rt::Task<void> Handle(int32_t id, ServerStream& stream) {
    Http2Writer writer(*this, id, stream, stream.request.method, stream.request.headers);
    if (stream.refuse_status != 0) {
      const std::string why = StrCat(StatusText(stream.refuse_status), "\n");
      static_cast<void>(
          co_await writer.Send(stream.refuse_status, {{"content-type", "text/plain; charset=utf-8"}}, Body(why)));
      if (!stream.request_complete) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    } else {
      Request request = std::move(stream.request);
      co_await server_.handler(std::move(request), writer);
      if (!stream.answered) {
        static_cast<void>(
            co_await writer.Send(500, {{"content-type", "text/plain; charset=utf-8"}}, Body("no answer\n")));
      } else if (!stream.sender.finished) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);  // cut: the client notices
      }
    }
    done_.push_back(id);
    Kick();  // the writer's next turn removes this stream, when it is closed by then
  }

  ServerSession& server_;
  std::map<int32_t, std::unique_ptr<ServerStream>> streams_;
  std::map<int32_t, MonotonicTime> started_;
  std::vector<int32_t> due_;                     // complete requests to dispatch
  std::vector<std::pair<int32_t, bool>> ended_;  // closed streams to remove; true: answered whole
  std::vector<int32_t> done_;                    // streams whose handler has ended
  rt::Event changed_;
};

// ---- Http2Writer ----

bool Http2Writer::shutting_down() const { return connection_.server_.shutting_down; }

Result<void> Http2Writer::Submit(int status, const Headers& headers, bool with_body) {
  INVARIANT(!stream_.answered, "one answer per request");
  stream_.answered = true;
  if (stream_.closed) return UnavailableError("the client went away");
  std::vector<std::pair<std::string, std::string>> fields;
  fields.emplace_back(":status", StrCat(status));
  for (const auto& [name, value] : headers.fields()) {
    if (!IsConnectionSpecific(name) && Headers::ValidField(name, value)) fields.emplace_back(name, value);
  }
  const std::vector<nghttp2_nv> list = ToNv(fields);
  const nghttp2_data_provider provider = connection_.SenderProvider();
  const int failed =
      nghttp2_submit_response(connection_.session_, id_, list.data(), list.size(), with_body ? &provider : nullptr);
  if (failed != 0) return UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(failed)));
  connection_.Kick();
  return {};
}

rt::Task<Result<void>> Http2Writer::Send(int status, Headers headers, Body body) {
  const bool with_body = HasBody(method_, status);
  if (with_body) co_await MaybeCompress(connection_.loop_, request_headers_, headers, body);
  if (with_body || method_ == "HEAD") headers.Set("content-length", StrCat(body.size()));
  stream_.sender.finished = true;
  if (with_body) stream_.sender.Add(body);
  co_return Submit(status, headers, with_body && body.size() > 0);
}

rt::Task<Result<void>> Http2Writer::Start(int status, Headers headers) {
  body_allowed_ = HasBody(method_, status);
  stream_.sender.finished = !body_allowed_;
  co_return Submit(status, headers, body_allowed_);
}

rt::Task<void> Http2Writer::Drained() {
  stream_.sender.drained.Reset();
  co_await stream_.sender.drained.Wait();
}

// A client that takes nothing for too long loses this stream.
rt::Task<Result<void>> Http2Writer::WaitForRoom(size_t queued_max) {
  while (stream_.sender.queued_bytes > queued_max && !stream_.closed) {
    const Result<void> moved = co_await rt::WithDeadline(
        rt::Deadline::After(connection_.loop_, connection_.timeouts_.write_stall), "the client to read", Drained());
    if (!moved.ok()) {
      nghttp2_submit_rst_stream(connection_.session_, NGHTTP2_FLAG_NONE, id_, NGHTTP2_CANCEL);
      connection_.Kick();
      co_return moved;
    }
  }
  if (stream_.closed) co_return UnavailableError("the client went away");
  co_return Result<void>();
}

rt::Task<Result<void>> Http2Writer::Write(Body chunk) {
  INVARIANT(stream_.answered, "Write comes after Start");
  if (!body_allowed_ || chunk.size() == 0) co_return Result<void>();
  CO_TRY(co_await WaitForRoom(connection_.server_.options.limits.write_buffer_bytes_max));
  stream_.sender.Add(chunk);
  connection_.ResumeSender(id_, stream_.sender);
  co_return Result<void>();
}

rt::Task<Result<void>> Http2Writer::Finish() {
  INVARIANT(stream_.answered, "Finish comes after Start");
  if (!std::exchange(stream_.sender.finished, true)) connection_.ResumeSender(id_, stream_.sender);
  co_return Result<void>();
}

}  // namespace

rt::Task<void> ServeHttp2(ServerSession& session, ByteStream& stream, std::string received) {
  Http2ServerConnection connection(session, stream);
  co_await connection.Serve(std::move(received));
}

}  // namespace baton::net
