// HTTP/2 on nghttp2: callbacks, limits against floods, and the fibers that move bytes.
#include "net/http2_session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/strings.h"
#include "rt/when.h"

namespace baton::net {
namespace {

constexpr size_t kReadBytes = size_t{32} << 10;
constexpr size_t kWriteBatchBytes = size_t{64} << 10;  // gathered before a write
constexpr uint32_t kStreamWindowBytes = 256 << 10;     // what a peer may send ahead on one stream
constexpr int32_t kConnectionWindowBytes = 4 << 20;    // and on all of them
constexpr size_t kOutboundAcksMax = 1000;              // PING and SETTINGS floods end the connection here
constexpr size_t kSettingsEntriesMax = 32;
constexpr uint64_t kResetBurst = 1000;      // streams reset at once by the peer (rapid reset)...
constexpr uint64_t kResetsPerSecond = 100;  // ...and steadily

}  // namespace

// ---- Http2Sender ----

void Http2Sender::Add(const Body& body) {
  for (const Body::Piece& piece : body.pieces()) {
    pieces.push_back(piece);
    queued_bytes += piece.view.size();
  }
}

ssize_t Http2Sender::Take(uint8_t* buffer, size_t length, uint32_t* flags) {
  size_t copied = 0;
  while (copied < length && !pieces.empty()) {
    std::string_view& view = pieces.front().view;
    const size_t count = std::min(length - copied, view.size());
    std::memcpy(buffer + copied, view.data(), count);
    copied += count;
    view.remove_prefix(count);
    if (view.empty()) pieces.pop_front();
  }
  queued_bytes -= copied;
  if (copied > 0) drained.Set();
  if (pieces.empty() && finished) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  } else if (copied == 0) {
    deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(copied);
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
    return Self(user_data).OnHeader(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_length},
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
  static int StreamClosed(nghttp2_session* /*session*/, int32_t stream_id, uint32_t error_code, void* user_data) {
    Self(user_data).OnStreamClosed(stream_id, error_code);
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session* /*session*/, int32_t stream_id, uint8_t* buffer, size_t length,
                          uint32_t* flags, nghttp2_data_source* /*source*/, void* user_data) {
    Http2Sender* sender = Self(user_data).SenderOf(stream_id);
    if (sender == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return sender->Take(buffer, length, flags);
  }
};

Http2Session::Http2Session(rt::Loop& loop, ByteStream& stream, const HttpTimeouts& timeouts)
    : loop_(loop), stream_(stream), timeouts_(timeouts), last_received_(loop.Now()) {}

Http2Session::~Http2Session() { nghttp2_session_del(session_); }

void Http2Session::Open(bool server, const HttpLimits& limits) {
  nghttp2_session_callbacks* callbacks = nullptr;
  INVARIANT(nghttp2_session_callbacks_new(&callbacks) == 0, "out of memory");
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::BeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::Header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::DataChunk);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::FrameReceived);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::StreamClosed);
  nghttp2_option* option = nullptr;
  INVARIANT(nghttp2_option_new(&option) == 0, "out of memory");
  nghttp2_option_set_max_outbound_ack(option, kOutboundAcksMax);
  nghttp2_option_set_max_settings(option, kSettingsEntriesMax);
  nghttp2_option_set_stream_reset_rate_limit(option, kResetBurst, kResetsPerSecond);
  nghttp2_option_set_no_closed_streams(option, 1);
  // The client gives its window back as its caller reads, so that a slow reader slows the server and nobody's memory.
  if (!server) nghttp2_option_set_no_auto_window_update(option, 1);
  const int made = server ? nghttp2_session_server_new2(&session_, callbacks, this, option)
                          : nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
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

rt::Task<Result<void>> Http2Session::ReadLoop() {
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const size_t got = CO_TRY(co_await stream_.Read(buffer));
    if (got == 0) co_return UnavailableError("the peer closed the connection");
    CO_TRY(Receive({buffer.data(), got}));
    if (nghttp2_session_want_read(session_) == 0) co_return Result<void>();
  }
}

rt::Task<Result<void>> Http2Session::WriteLoop() {
  std::string batch;
  while (true) {
    batch.clear();
    while (batch.size() < kWriteBatchBytes) {
      const uint8_t* data = nullptr;
      const ssize_t length = nghttp2_session_mem_send(session_, &data);
      if (length < 0) co_return UnavailableError(StrCat("HTTP/2 error: ", nghttp2_strerror(static_cast<int>(length))));
      if (length == 0) break;
      batch.append(reinterpret_cast<const char*>(data), static_cast<size_t>(length));
    }
    AfterTurn();
    if (!batch.empty()) {
      CO_TRY(co_await rt::WithDeadline(rt::Deadline::After(loop_, timeouts_.write_stall), "the peer to read",
                                       stream_.Write(batch)));
      continue;
    }
    if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) co_return Result<void>();
    output_.Reset();
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

std::vector<nghttp2_nv> ToNv(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<nghttp2_nv> list;
  list.reserve(fields.size());
  for (const auto& [name, value] : fields) {
    list.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                    reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                    NGHTTP2_NV_FLAG_NONE});
  }
  return list;
}

bool IsConnectionSpecific(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" || name == "transfer-encoding" ||
         name == "upgrade" || name == "host";
}

}  // namespace baton::net
