// Internal to net: the part of HTTP/2 that both sides share. nghttp2 keeps the protocol's state; two fibers move bytes
// between it and the connection; streams queue what they send and are told when there is room.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "net/signal.h"
#include "net/stream.h"
#include "rt/loop.h"

namespace baton::net {

// What all senders of a connection have to send.
struct Http2Unsent {
  size_t bytes = 0;
  size_t senders = 0;  // that have any
  uint64_t taken = 0;  // in all: whether the peer takes anything
};

// The sending half of one stream: queued pieces, and backpressure.
class Http2Sender {
 public:
  Http2Sender() = default;
  // `all` counts what the senders of a connection have, and outlives this.
  explicit Http2Sender(Http2Unsent& all) : all_(&all) {}
  Http2Sender(const Http2Sender&) = delete;
  Http2Sender& operator=(const Http2Sender&) = delete;
  ~Http2Sender() { Count(0); }

  bool finished = false;  // nothing follows what is queued
  bool deferred = false;  // nghttp2 waits for more
  Signal drained;         // whenever bytes left the queue, and at the stream's end

  // So much is about to be added: it counts from now on. The next Add takes its place.
  void Expect(size_t bytes) { Count(queued_bytes_ + bytes); }
  void Add(Body body);
  size_t queued_bytes() const { return queued_bytes_; }
  uint64_t taken_bytes() const { return taken_bytes_; }  // in all: whether the peer makes progress
  // How much of what is queued the next DATA frame takes, for nghttp2, which then asks for it with MoveTo.
  ssize_t Promise(size_t length, uint32_t* flags);
  void MoveTo(std::string& out, size_t length);

 private:
  std::vector<Body::Piece> pieces_;
  size_t first_ = 0;  // of the pieces still to send
  size_t queued_bytes_ = 0;
  uint64_t taken_bytes_ = 0;

  void Count(size_t bytes);  // as ours, of what all have
  size_t counted_bytes_ = 0;
  Http2Unsent* all_ = nullptr;
};

class Http2Session {
 public:
  virtual ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

 protected:
  Http2Session(rt::Loop& loop, ByteStream& stream, const HttpTimeouts& timeouts);

  // Makes the nghttp2 session; the subclass's callbacks below are called from inside Receive and the writer.
  void Open(bool server, const HttpLimits& limits);

  // Feeds received bytes to nghttp2. An error ends the connection.
  Result<void> Receive(std::string_view bytes);

  // Both at once make a connection's life. ReadLoop ends when the connection breaks or the peer closes; WriteLoop also
  // when the session is over and its last frame (GOAWAY) was written.
  rt::Task<Result<void>> ReadLoop();
  rt::Task<Result<void>> WriteLoop();

  // There may be something to send.
  void Kick() { output_.Set(); }

  // ---- what the subclass is told (inside nghttp2: take notes, do not destroy fibers) ----
  virtual void OnBeginHeaders(const nghttp2_frame& frame) = 0;
  virtual int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value) = 0;
  virtual int OnData(int32_t stream_id, std::string_view bytes) = 0;
  virtual void OnFrame(const nghttp2_frame& frame) = 0;
  virtual void OnFrameSent(const nghttp2_frame& frame) = 0;
  virtual void OnStreamClosed(int32_t stream_id, uint32_t error_code) = 0;
  virtual Http2Sender* SenderOf(int32_t stream_id) = 0;
  // After each Receive and each write, with nghttp2 not on the stack: clean up.
  virtual void AfterTurn() = 0;

  // A body for submit_request or submit_response that reads from the stream's Http2Sender.
  static nghttp2_data_provider SenderProvider();
  void ResumeSender(int32_t stream_id, Http2Sender& sender);
  void Reset(int32_t stream_id, uint32_t error_code);

  rt::Loop& loop_;
  ByteStream& stream_;
  const HttpTimeouts timeouts_;
  nghttp2_session* session_ = nullptr;
  MonotonicTime last_received_;

 private:
  struct Callbacks;

  rt::Task<Result<void>> WriteUntilDone();
  bool TooMuchToSay() const;

  std::string* batch_ = nullptr;  // where frames go while nghttp2 is asked for them
  Signal output_;
  Signal written_;            // something left, or nothing more will
  bool write_ended_ = false;  // WriteLoop returned
};

// `name` and `value` must outlive the call that it is given to; nghttp2 copies them.
nghttp2_nv MakeNv(std::string_view name, std::string_view value);

// Header fields that HTTP/2 does not have.
bool IsConnectionSpecific(std::string_view name);

}  // namespace baton::net
