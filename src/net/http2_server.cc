// HTTP/2, server side: many requests at a time, each handler in a fiber of its own.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "net/http2_session.h"
#include "net/http2_writer.h"
#include "net/server_session.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::net {
namespace {

// Incomplete request bodies of one connection that are taken at the client's pace; beyond, only its oldest request goes
// on, so that many half-sent bodies cost little and none waits for ever.
constexpr size_t kBodiesBytesMax = size_t{8} << 20;

// Streams that a client resets, or makes us reset (rapid reset): this many at once, and so many per second.
constexpr double kResetBurst = 1000;
constexpr double kResetsPerSecond = 100;

// A client that was answered before its request was complete (413) gets this long to stop sending by itself before the
// stream is reset: curl, for one, takes the reset for an error and does not show the answer.
constexpr Duration kLingerTime = seconds(1);

// Header blocks beyond this many times the limit are not even read to their end.
constexpr size_t kHeaderBytesFactor = 4;

class Http2ServerConnection final : public Http2Session, private ShutdownHook, private Http2StreamPort {
 public:
  Http2ServerConnection(ServerSession& session, ByteStream& stream)
      : Http2Session(session.loop, stream, session.options.timeouts),
        server_(session),
        opened_(session.loop.Now()),
        active_at_(opened_),
        taken_at_(opened_),
        resets_at_(opened_) {
    Open(/*server=*/true, session.options.limits);
    server_.told.PushBack(*this);
  }

  rt::Task<void> Serve(std::string received) {
    if (!received.empty() && !Receive(received).ok()) co_return;
    std::vector<rt::Task<bool>> first;
    first.push_back(Reading());
    first.push_back(Writing());
    first.push_back(Watching());
    const rt::AnyResult<bool> end = co_await rt::WhenAny(std::move(first));
    streams_.clear();  // drops the handlers
    if (end.value) co_await CloseGently(loop_, stream_);
  }

 private:
  // Each ends the connection; true: in good order.
  rt::Task<bool> Reading() {
    static_cast<void>(co_await ReadLoop());
    co_return false;
  }
  rt::Task<bool> Writing() { co_return (co_await WriteLoop()).ok(); }

  // Looks from time to time: ends what is idle for too long, asks a silent peer whether it is there, resets streams
  // that are stuck, and says good-bye at shutdown.
  rt::Task<bool> Watching() {
    const Duration pause = std::max<Duration>(
        milliseconds(1),
        std::min({timeouts_.http2_ping / 2, timeouts_.keep_alive_idle / 4, timeouts_.request_header / 2,
                  timeouts_.request_body / 4, timeouts_.write_stall / 4}));
    bool pinged = false;
    while (true) {
      const MonotonicTime now = loop_.Now();
      if (server_.shutting_down && !std::exchange(told_, true)) {
        nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                              NGHTTP2_NO_ERROR, nullptr, 0);
        Kick();
      }
      if (!streams_.empty()) active_at_ = now;
      if ((told_ || now - active_at_ >= timeouts_.keep_alive_idle) && streams_.empty()) {
        nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
        Kick();
      }
      if (!greeted_ && now - opened_ >= timeouts_.request_header) co_return false;
      EndWhoAsksAndTakesNothing(now);
      const Duration silence = now - last_received_;
      if (silence < timeouts_.http2_ping) pinged = false;
      if (pinged && silence >= 2 * timeouts_.http2_ping) co_return false;  // no answer: gone
      if (silence >= timeouts_.http2_ping && !std::exchange(pinged, true)) {
        nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
        Kick();
      }
      ResetStuckStreams(now);
      static_cast<void>(co_await look_.Wait(rt::Deadline::After(loop_, pause)));
    }
  }

  void OnShutdown() override { look_.Set(); }

  // ---- what writers ask for ----

  int SubmitAnswer(int32_t id, std::span<const nghttp2_nv> fields, bool with_body) override {
    const nghttp2_data_provider provider = SenderProvider();
    const int failed =
        nghttp2_submit_response(session_, id, fields.data(), fields.size(), with_body ? &provider : nullptr);
    if (failed != 0) Reset(id, NGHTTP2_INTERNAL_ERROR);
    Kick();
    return failed;
  }
  void MoreToSend(int32_t id, Http2Sender& sender) override { ResumeSender(id, sender); }
  size_t queued_bytes() const override { return unsent_.bytes; }

  // Its streams alone would be reset one after the other, and each make room for the next.
  void EndWhoAsksAndTakesNothing(MonotonicTime now) {
    if (waiting_ == 0 || std::exchange(taken_seen_, unsent_.taken) != unsent_.taken) taken_at_ = now;
    if (now - taken_at_ < timeouts_.write_stall) return;
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
    Kick();
  }

  void ResetStuckStreams(MonotonicTime now) {
    for (auto& [id, stream] : streams_) {
      if (stream->sender.taken_bytes() != stream->progress || stream->sender.queued_bytes() == 0) {
        stream->progress = stream->sender.taken_bytes();
        stream->progress_at = now;
      }
      const Duration patience = stream->head_complete ? timeouts_.request_body : timeouts_.request_header;
      const bool slow_request = !stream->request_complete && !stream->answered && now - stream->started >= patience;
      if (stream->answered_early && now - *stream->answered_early >= kLingerTime) Reset(id, NGHTTP2_NO_ERROR);
      if (slow_request || now - stream->progress_at >= timeouts_.write_stall) Reset(id, NGHTTP2_CANCEL);
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
    auto stream = std::make_unique<ServerStream>(server_, last_received_, unsent_);
    stream->request.http2 = true;
    stream->request.peer = stream_.peer_identity();
    stream->request.peer_address = stream_.peer_address();
    streams_.emplace_hint(streams_.end(), frame.hd.stream_id, std::move(stream));
  }

  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) override {
    constexpr size_t kFieldOverhead = 32;  // as HTTP/2 counts it
    ServerStream* stream = Find(frame.hd.stream_id);
    if (stream == nullptr) return 0;
    const HttpLimits& limits = server_.options.limits;
    stream->header_bytes += name.size() + value.size() + kFieldOverhead;
    if (stream->header_bytes > kHeaderBytesFactor * limits.header_bytes_max) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (stream->refuse_status != 0 || stream->head_complete) return 0;  // trailers are not for the handler
    Request& request = stream->request;
    if (name == ":path" && value.size() > limits.target_bytes_max) {
      stream->refuse_status = 414;
    } else if (stream->header_bytes > limits.header_bytes_max ||
               request.headers.fields().size() >= limits.header_count_max) {
      stream->refuse_status = 431;
    } else if (name == ":method") {
      request.method = std::string(value);
      stream->head_request = value == "HEAD";
      if (value == "CONNECT") stream->refuse_status = 501;
    } else if (name == ":path") {
      request.target = std::string(value);
    } else if (name == ":authority") {
      request.headers.Add("host", value);
    } else if (name == "content-length" && TooLong(value)) {
      stream->refuse_status = 413;
    } else if (!name.starts_with(':') && (name != "host" || !request.headers.Get("host"))) {
      request.headers.Add(name, value);
    }
    return 0;
  }

  bool TooLong(std::string_view content_length) const {
    uint64_t length = 0;  // nghttp2 has checked that it is a number
    std::from_chars(content_length.data(), content_length.data() + content_length.size(), length);
    return length > server_.options.limits.body_bytes_max;
  }

  int OnData(int32_t id, std::string_view bytes) override {
    nghttp2_session_consume_connection(session_, bytes.size());
    ServerStream* stream = Find(id);
    if (stream == nullptr) return 0;
    if (stream->refuse_status == 0) {
      std::string& body = stream->request.body;
      if (body.size() + bytes.size() > server_.options.limits.body_bytes_max) {
        Refuse(id, *stream, 413);
      } else if (!stream->account.Set(body.size() + bytes.size())) {
        Refuse(id, *stream, 503);
      } else {
        bodies_bytes_ += bytes.size();
        stream->body_counted += bytes.size();
        body.append(bytes);
      }
    }
    if (stream->refuse_status != 0) return 0;  // its window is not given back: the client shall stop
    if (bodies_bytes_ <= kBodiesBytesMax || id == OldestToGoOn()) {
      nghttp2_session_consume_stream(session_, id, bytes.size());
    } else {
      if (stream->window_held == 0) ++streams_held_;
      stream->window_held += bytes.size();
    }
    return 0;
  }

  // Answered now, not after the rest of it.
  void Refuse(int32_t id, ServerStream& stream, int status) {
    stream.refuse_status = status;
    BodyLeft(stream);
    stream.request.body = std::string();
    due_.push_back(id);
  }

  // None while complete requests wait for room: it would only wait with them.
  int32_t OldestToGoOn() const {
    if (waiting_ > 0) return 0;
    for (const auto& [id, stream] : streams_) {
      if (!stream->request_complete && !stream->closed && stream->refuse_status == 0) return id;
    }
    return 0;
  }

  // The body is the handler's now, or thrown away: others may go on.
  void BodyLeft(ServerStream& stream) {
    bodies_bytes_ -= std::exchange(stream.body_counted, 0);
    stream.account.Set(0);
    if (std::exchange(stream.window_held, 0) > 0) --streams_held_;
  }

  void GiveWindowsBack() {
    if (streams_held_ == 0) return;
    const int32_t oldest = OldestToGoOn();
    for (auto& [id, stream] : streams_) {
      if (stream->window_held == 0 || (id != oldest && bodies_bytes_ > kBodiesBytesMax)) continue;
      nghttp2_session_consume_stream(session_, id, std::exchange(stream->window_held, 0));
      --streams_held_;
      Kick();
    }
  }

  void OnFrame(const nghttp2_frame& frame) override {
    if (frame.hd.type == NGHTTP2_SETTINGS) greeted_ = true;
    if (frame.hd.type == NGHTTP2_RST_STREAM) CountReset();
    if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
    ServerStream* stream = Find(frame.hd.stream_id);
    if (stream == nullptr) return;
    if (frame.hd.type == NGHTTP2_HEADERS && !std::exchange(stream->head_complete, true)) {
      stream->accepts_gzip = AcceptsGzip(stream->request.headers);
      if (!ValidTarget(stream->request) && stream->refuse_status == 0) stream->refuse_status = 400;
      if (stream->refuse_status != 0) due_.push_back(frame.hd.stream_id);
    }
    if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 || std::exchange(stream->request_complete, true)) return;
    due_.push_back(frame.hd.stream_id);
  }

  static bool ValidTarget(const Request& request) {
    return request.target.starts_with('/') || (request.target == "*" && request.method == "OPTIONS");
  }

  // An answer that went out before its request was complete: the rest of the request is not wanted (ResetStuckStreams).
  // A stream above the limit that was refused: a client that does not learn costs more than it should.
  void OnFrameSent(const nghttp2_frame& frame) override {
    if (frame.hd.type == NGHTTP2_RST_STREAM && frame.rst_stream.error_code == NGHTTP2_REFUSED_STREAM) CountReset();
    if ((frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) ||
        (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
      return;
    }
    ServerStream* stream = Find(frame.hd.stream_id);
    if (stream != nullptr && !stream->request_complete) stream->answered_early = loop_.Now();
  }

  void OnStreamClosed(int32_t id, uint32_t error_code) override {
    ServerStream* stream = Find(id);
    if (stream == nullptr) return;
    BodyLeft(*stream);
    if (error_code == NGHTTP2_PROTOCOL_ERROR || error_code == NGHTTP2_STREAM_CLOSED ||
        error_code == NGHTTP2_FLOW_CONTROL_ERROR) {
      CountReset();
    }
    stream->closed = true;
    stream->sender.drained.Set();
    // An answer that went out whole: its handler may end in peace. Everything else: the client is gone.
    const bool whole = error_code == NGHTTP2_NO_ERROR && stream->sender.finished && stream->sender.queued_bytes() == 0;
    ended_.emplace_back(id, whole);
  }

  // A client whose streams end like this all the time costs more than it should.
  void CountReset() {
    const MonotonicTime now = last_received_;
    const double passed = std::chrono::duration<double>(now - std::exchange(resets_at_, now)).count();
    resets_left_ = std::min(kResetBurst, resets_left_ + passed * kResetsPerSecond) - 1;
    if (resets_left_ < 0) nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }

  void AfterTurn() override {
    for (const int32_t id : std::exchange(due_, {})) Dispatch(id);
    for (const auto& [id, whole] : std::exchange(ended_, {})) {
      const auto found = streams_.find(id);
      if (found == streams_.end()) continue;
      if (whole && found->second->handler.active() > 0) continue;  // removed when that has ended (done_)
      // Called from the reading or the writing fiber, never from a handler: destroying the handler is safe here.
      streams_.erase(found);
    }
    for (const int32_t id : std::exchange(done_, {})) {
      const auto found = streams_.find(id);
      if (found != streams_.end() && found->second->closed && found->second->handler.active() == 0)
        streams_.erase(found);
    }
    AdmitWaiting();
    GiveWindowsBack();
    if (told_ && streams_.empty()) look_.Set();
  }

  // ---- requests ----

  void Dispatch(int32_t id) {
    ServerStream* stream = Find(id);
    if (stream == nullptr || stream->closed || stream->answered || stream->handler.active() > 0) return;
    stream->handler.Spawn(stream->refuse_status != 0 ? AnswerRefusal(id, *stream) : Handle(id, *stream));
    active_at_ = last_received_;
  }

  // Room for another answer.
  bool HasRoom() const {
    const HttpLimits& limits = server_.options.limits;
    return unsent_.bytes <= limits.unsent_bytes_max || unsent_.senders < limits.unsent_streams_min;
  }

  // Whoever is woken looks again, since the first ones may take all the room there is.
  void AdmitWaiting() {
    if (waiting_ == 0 || !HasRoom()) return;
    for (auto& [id, stream] : streams_) {
      if (stream->waits) stream->admitted.Set();
    }
  }

  rt::Task<void> UntilAdmitted(ServerStream& stream) {
    struct Waiting {
      size_t& count;
      ~Waiting() { --count; }
    } const waiting{++waiting_};
    stream.waits = true;
    while (!HasRoom()) static_cast<void>(co_await stream.admitted.Wait());
    stream.waits = false;
  }

  // Looks for room where the handler begins: what it sends at once is counted before the next one looks.
  rt::Task<void> Handle(int32_t id, ServerStream& stream) {
    if (!HasRoom()) co_await UntilAdmitted(stream);
    BodyLeft(stream);
    if (streams_held_ > 0) Kick();  // the writer's next turn gives windows back
    Http2Writer writer(server_, *this, id, stream);
    Request request = std::move(stream.request);
    co_await server_.handler(std::move(request), writer);
    if (!stream.answered) {
      static_cast<void>(
          co_await writer.Send(500, {{"content-type", "text/plain; charset=utf-8"}}, Body("no answer\n")));
    } else if (!stream.sender.finished) {
      Reset(id, NGHTTP2_INTERNAL_ERROR);  // cut: the client notices
    }
    done_.push_back(id);
    Kick();  // the writer's next turn removes this stream, when it is closed by then
  }

  rt::Task<void> AnswerRefusal(int32_t id, ServerStream& stream) {
    Http2Writer writer(server_, *this, id, stream);
    ErrorPage page = server_.options.PageFor(stream.refuse_status, StatusText(stream.refuse_status));
    Headers headers{{"content-type", page.content_type}};
    if (stream.refuse_status == 503) headers.Add("retry-after", "1");
    static_cast<void>(co_await writer.Send(stream.refuse_status, std::move(headers), Body(std::move(page.body))));
    done_.push_back(id);
    Kick();
  }

  ServerSession& server_;
  Http2Unsent unsent_;  // by the streams' senders
  size_t waiting_ = 0;  // complete requests that wait for room
  std::map<int32_t, std::unique_ptr<ServerStream>> streams_;
  MonotonicTime opened_;
  MonotonicTime active_at_;  // when there was last a stream
  bool greeted_ = false;     // the client sent its preface and SETTINGS
  bool told_ = false;        // GOAWAY was sent
  size_t bodies_bytes_ = 0;  // of bodies that no handler has yet
  uint64_t taken_seen_ = 0;  // of what was sent, when last looked at...
  MonotonicTime taken_at_;   // ...and when it last changed, or nothing waited
  size_t streams_held_ = 0;  // with window_held > 0
  double resets_left_ = kResetBurst;
  MonotonicTime resets_at_;
  std::vector<int32_t> due_;                     // requests to dispatch or refuse
  std::vector<std::pair<int32_t, bool>> ended_;  // closed streams to remove; true: answered whole
  std::vector<int32_t> done_;                    // streams whose handler has ended
  Signal look_;                                  // something for Watching
};

}  // namespace

rt::Task<void> ServeHttp2(ServerSession& session, ByteStream& stream, std::string received) {
  Http2ServerConnection connection(session, stream);
  co_await connection.Serve(std::move(received));
}

}  // namespace baton::net
