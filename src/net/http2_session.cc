// HTTP/2 on nghttp2: callbacks, limits against floods, and the fibers that move bytes.
#include "net/http2_session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/strings.h"

namespace baton::net {
namespace {

constexpr size_t kPiecesAhead = 4;               // a list's pieces are all over memory: fetched before they are used
constexpr size_t kReadBytes = size_t{16} << 10;  // a TLS record; answers to it are written before the next
constexpr size_t kTlsRecordBytes = size_t{16} << 10;
constexpr size_t kFrameHeadBytes = 9;
constexpr size_t kDataBytesMax = kTlsRecordBytes - kFrameHeadBytes;  // so that a full frame fills a record, no more
constexpr size_t kWriteBatchBytes = 4 * kTlsRecordBytes;             // gathered before a write
constexpr size_t kKeptBytes = size_t{4} << 10;                       // of buffer that an idle connection keeps
constexpr uint32_t kStreamWindowBytes = 256 << 10;                   // what a peer may send ahead on one stream
constexpr int32_t kConnectionWindowBytes = 4 << 20;  // and on all of them, before it is taken off the wire
constexpr size_t kOutboundAcksMax = 1000;            // PING and SETTINGS floods end the connection here
constexpr size_t kSettingsEntriesMax = 32;
constexpr size_t kOutboundFramesMax = 2000;  // with so many to send, nothing more is read from the peer

}  // namespace

// ---- Http2Sender ----

void Http2Sender::Count(size_t bytes) {
  if (all_ == nullptr) return;
  all_->bytes += bytes - counted_bytes_;
  all_->senders += size_t{bytes > 0} - size_t{counted_bytes_ > 0};
  counted_bytes_ = bytes;
}

void Http2Sender::Add(Body body) {
  queued_bytes_ += body.size();
  Count(queued_bytes_);
  if (pieces_.empty()) {
    pieces_ = std::move(body).TakePieces();
  } else {
    pieces_.insert(pieces_.end(), body.pieces().begin(), body.pieces().end());
  }
}

ssize_t Http2Sender::Promise(size_t length, uint32_t* flags) {
  const size_t count = std::min(length, queued_bytes_);
  if (count > 0) *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (count == queued_bytes_ && finished) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  } else if (count == 0) {
    deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(count);
}

void Http2Sender::MoveTo(std::string& out, size_t length) {
  INVARIANT(length <= queued_bytes_, "only what was promised is asked for");
  queued_bytes_ -= length;
  Count(queued_bytes_);
  taken_bytes_ += length;
  if (all_ != nullptr) all_->taken += length;
  drained.Set();
  while (length > 0) {
    std::string_view& view = pieces_[first_].view;
    const size_t count = std::min(length, view.size());
    out.append(view.substr(0, count));
    length -= count;
    view.remove_prefix(count);
    if (!view.empty()) break;
    pieces_[first_++].owner.reset();
    if (first_ + kPiecesAhead < pieces_.size()) {
      const Body::Piece& ahead = pieces_[first_ + kPiecesAhead];
      __builtin_prefetch(ahead.view.data());
      __builtin_prefetch(ahead.owner.get());
    }
  }
  if (first_ == pieces_.size()) {
    pieces_.clear();
    first_ = 0;
  }
}

// ---- callbacks ----

struct Http2Session::Callbacks {
  static Http2Session& Self(void* user_data) { return *static_cast<Http2Session*>(user_data); }

  static int BeginHeaders(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user_data) {
    Self(user_data).OnBeginHeaders(*frame);
    return 0;
  }
  static int Header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const uint8_t* name, size_t name_length,
                    const uint8_t* value, size_t value_length, uint8_t /*flags*/, void* user_data) {
    return Self(user_data).OnHeader(*frame, {reinterpret_cast<const char*>(name), name_length},
                                    {reinterpret_cast<const char*>(value), value_length});
  }
  static int DataChunk(nghttp2_session* /*session*/, uint8_t /*flags*/, int32_t stream_id, const uint8_t* data,
                       size_t length, void* user_data) {
    return Self(user_data).OnData(stream_id, {reinterpret_cast<const char*>(data), length});
  }
  static int FrameReceived(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user_data) {
    Self(user_data).OnFrame(*frame);
    return 0;
  }
  static int FrameSent(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user_data) {
    Self(user_data).OnFrameSent(*frame);
    return 0;
  }
  static int StreamClosed(nghttp2_session* /*session*/, int32_t stream_id, uint32_t error_code, void* user_data) {
    Self(user_data).OnStreamClosed(stream_id, error_code);
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session* /*session*/, int32_t stream_id, uint8_t* /*buffer*/, size_t length,
                          uint32_t* flags, nghttp2_data_source* /*source*/, void* user_data) {
    Http2Sender* sender = Self(user_data).SenderOf(stream_id);
    if (sender == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return sender->Promise(length, flags);
  }
  static ssize_t DataLength(nghttp2_session* /*session*/, uint8_t /*frame_type*/, int32_t /*stream_id*/,
                            int32_t session_window, int32_t stream_window, uint32_t frame_bytes_max,
                            void* /*user_data*/) {
    const int32_t window = std::min(session_window, stream_window);
    return static_cast<ssize_t>(std::min({static_cast<size_t>(window), size_t{frame_bytes_max}, kDataBytesMax}));
  }
  // A DATA frame goes from the pieces into the batch, and through no buffer of nghttp2's.
  static int SendData(nghttp2_session* /*session*/, nghttp2_frame* frame, const uint8_t* head, size_t length,
                      nghttp2_data_source* /*source*/, void* user_data) {
    std::string& batch = *Self(user_data).batch_;
    if (batch.size() + kFrameHeadBytes + length > kWriteBatchBytes && !batch.empty()) return NGHTTP2_ERR_WOULDBLOCK;
    Http2Sender* sender = Self(user_data).SenderOf(frame->hd.stream_id);
    if (sender == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    batch.append(reinterpret_cast<const char*>(head), kFrameHeadBytes);
    sender->MoveTo(batch, length);
    return 0;
  }

  // Made once: they are the same for every session.
  static const nghttp2_session_callbacks* Table() {
    static nghttp2_session_callbacks* const table = [] {
      nghttp2_session_callbacks* made = nullptr;
      INVARIANT(nghttp2_session_callbacks_new(&made) == 0, "out of memory");
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, BeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(made, Header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, DataChunk);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, FrameReceived);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, FrameSent);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, StreamClosed);
      nghttp2_session_callbacks_set_send_data_callback(made, SendData);
      nghttp2_session_callbacks_set_data_source_read_length_callback(made, DataLength);
      return made;
    }();
    return table;
  }

  static const nghttp2_option* Options() {
    static nghttp2_option* const options = [] {
      nghttp2_option* made = nullptr;
      INVARIANT(nghttp2_option_new(&made) == 0, "out of memory");
      nghttp2_option_set_max_outbound_ack(made, kOutboundAcksMax);
      nghttp2_option_set_max_settings(made, kSettingsEntriesMax);
      nghttp2_option_set_no_closed_streams(made, 1);
      // Resets are counted by the server itself, on the loop's clock and with those that a client provokes.
      nghttp2_option_set_stream_reset_rate_limit(made, std::numeric_limits<uint64_t>::max(), 0);
      // Windows are given back by hand: as a stream's bytes are used, so that a slow reader slows its own stream only.
      nghttp2_option_set_no_auto_window_update(made, 1);
      return made;
    }();
    return options;
  }
};

Http2Session::Http2Session(rt::Loop& loop, ByteStream& stream, const HttpTimeouts& timeouts)
    : loop_(loop), stream_(stream), timeouts_(timeouts), last_received_(loop.Now()) {}

Http2Session::~Http2Session() { nghttp2_session_del(session_); }

void Http2Session::Open(bool server, const HttpLimits& limits) {
  const int made = server ? nghttp2_session_server_new2(&session_, Callbacks::Table(), this, Callbacks::Options())
                          : nghttp2_session_client_new2(&session_, Callbacks::Table(), this, Callbacks::Options());
  INVARIANT(made == 0, "out of memory");
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<uint32_t>(limits.streams_per_connection_max)},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.header_bytes_max)},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), server ? 3 : 4);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
}

Result<void> Http2Session::Receive(std::string_view bytes) {
  last_received_ = loop_.Now();
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Kick();  // acknowledgements, window updates, GOAWAY
  AfterTurn();
  if (used < 0) return UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(static_cast<int>(used))));
  return {};
}

// A peer that asks and does not listen (refused streams, resets) is not heard until it does; WriteLoop's stall limit
// ends it if it never does.
bool Http2Session::TooMuchToSay() const {
  return !write_ended_ && nghttp2_session_get_outbound_queue_size(session_) > kOutboundFramesMax;
}

rt::Task<Result<void>> Http2Session::ReadLoop() {
  while (true) {
    while (TooMuchToSay()) static_cast<void>(co_await written_.Wait());
    const std::span<char> scratch = ReadScratch().first(kReadBytes);
    const size_t got = CO_TRY(co_await stream_.Read(scratch));
    if (got == 0) co_return UnavailableError("the peer closed the connection");
    CO_TRY(Receive({scratch.data(), got}));
    if (nghttp2_session_want_read(session_) == 0) break;
    co_await loop_.Yield();  // a peer that never stops sending does not keep the others from running
  }
  Signal never;
  co_await never.Wait();  // the writer ends this, when it has written why
  co_return Result<void>();
}

rt::Task<Result<void>> Http2Session::WriteLoop() {
  Result<void> end = co_await WriteUntilDone();
  write_ended_ = true;
  written_.Set();
  co_return end;
}

rt::Task<Result<void>> Http2Session::WriteUntilDone() {
  std::string batch;
  while (true) {
    batch.clear();
    batch_ = &batch;
    while (batch.size() + kFrameHeadBytes < kWriteBatchBytes) {
      const uint8_t* data = nullptr;
      const ssize_t length = nghttp2_session_mem_send(session_, &data);
      if (length < 0) co_return UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(static_cast<int>(length))));
      if (length == 0) break;
      batch.append(reinterpret_cast<const char*>(data), static_cast<size_t>(length));
    }
    batch_ = nullptr;
    AfterTurn();
    if (!batch.empty()) {
      const size_t sent = CO_TRY(stream_.TryWrite(batch));
      if (sent < batch.size()) {
        CO_TRY(co_await WriteWithin(stream_, loop_, timeouts_.write_stall, std::string_view(batch).substr(sent)));
      } else if (batch.size() > kWriteBatchBytes - kTlsRecordBytes) {
        co_await loop_.Yield();
      }
      written_.Set();
      continue;
    }
    if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) co_return Result<void>();
    if (batch.capacity() > kKeptBytes) batch = std::string();
    co_await output_.Wait();
  }
}

nghttp2_data_provider Http2Session::SenderProvider() {
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::ReadBody;
  return provider;
}

void Http2Session::ResumeSender(int32_t stream_id, Http2Sender& sender) {
  if (std::exchange(sender.deferred, false)) nghttp2_session_resume_data(session_, stream_id);
  Kick();
}

void Http2Session::Reset(int32_t stream_id, uint32_t error_code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream_id, error_code);
  Kick();
}

nghttp2_nv MakeNv(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

bool IsConnectionSpecific(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" || name == "transfer-encoding" ||
         name == "upgrade" || name == "host" || name == "te";
}

}  // namespace baton::net
