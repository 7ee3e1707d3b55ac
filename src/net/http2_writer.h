// Internal to net: one stream of an HTTP/2 server, and how a handler's answer is written to it.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/http2_session.h"
#include "net/server_session.h"
#include "rt/scope.h"

namespace baton::net {

// One request and its answer.
struct ServerStream {
  ServerStream(ServerSession& session, MonotonicTime now, Http2Unsent& unsent)
      : started(now), account(session), progress_at(now), sender(unsent), handler(session.loop) {}

  MonotonicTime started;
  Request request;
  BodyAccount account;
  size_t header_bytes = 0;
  size_t body_counted = 0;  // of the connection's bodies
  size_t window_held = 0;   // received, but not yet given back to the client
  int refuse_status = 0;    // a limit was passed: answer this instead of calling the handler
  bool head_request = false;
  bool accepts_gzip = false;
  bool head_complete = false;
  bool request_complete = false;
  bool answered = false;                        // a head was submitted
  bool closed = false;                          // nghttp2 is done with it
  std::optional<MonotonicTime> answered_early;  // when all of the answer was sent, and the request is not complete
  uint64_t progress = 0;                        // sender.taken_bytes() when last looked at...
  MonotonicTime progress_at;                    // ...and when it last changed
  Http2Sender sender;
  bool waits = false;  // the request is complete, but too much is unsent
  Signal admitted;     // ...and now perhaps not
  rt::Scope handler;   // last: the handler's fiber uses the rest
};

// What a writer needs of its connection.
class Http2StreamPort {
 public:
  // Sends the answer's head; its body comes from the stream's sender. Not 0: nghttp2's error, and the stream is reset.
  virtual int SubmitAnswer(int32_t id, std::span<const nghttp2_nv> fields, bool with_body) = 0;
  // The sender has more, or is finished.
  virtual void MoreToSend(int32_t id, Http2Sender& sender) = 0;
  // What all streams of the connection have queued.
  virtual size_t queued_bytes() const = 0;

 protected:
  ~Http2StreamPort() = default;
};

class Http2Writer final : public ResponseWriter {
 public:
  Http2Writer(ServerSession& session, Http2StreamPort& port, int32_t id, ServerStream& stream)
      : session_(session), port_(port), id_(id), stream_(stream) {}

  rt::Task<Result<void>> Send(int status, Headers headers, Body body) override;
  rt::Task<Result<void>> Start(int status, Headers headers) override;
  rt::Task<Result<void>> Write(Body chunk) override;
  rt::Task<Result<void>> Finish() override;
  bool shutting_down() const override { return session_.shutting_down; }
  rt::Event& shutdown() override { return session_.shutdown; }

 private:
  bool MayQueue() const;
  Result<void> Submit(int status, const Headers& headers, bool with_body, std::optional<size_t> content_length);

  ServerSession& session_;
  Http2StreamPort& port_;
  int32_t id_;
  ServerStream& stream_;
  bool body_allowed_ = true;
};

}  // namespace baton::net
