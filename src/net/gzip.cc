// gzip on zlib.
#include "net/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "base/strings.h"

namespace baton::net {
namespace {
constexpr int kFastLevel = 1;             // as kube-apiserver: lists compress well at any level
constexpr int kGzipWindowBits = 15 + 16;  // 16 says gzip
constexpr int kMemoryLevel = 8;
constexpr size_t kStepBytes = size_t{64} << 10;

Bytef* Input(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }
}  // namespace

std::string Gzip(const Body& body) {
  z_stream stream{};
  INVARIANT(deflateInit2(&stream, kFastLevel, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
            "zlib");
  std::string out;
  std::array<char, kStepBytes> buffer;
  const auto pump = [&](int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = buffer.size();
      deflate(&stream, flush);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (const Body::Piece& piece : body.pieces()) {
    stream.next_in = Input(piece.view);
    stream.avail_in = static_cast<uInt>(piece.view.size());
    pump(Z_NO_FLUSH);
  }
  pump(Z_FINISH);
  deflateEnd(&stream);
  return out;
}

struct GunzipStream::State {
  z_stream stream{};
  bool complete = false;
};

GunzipStream::GunzipStream(size_t output_bytes_max) : state_(std::make_unique<State>()), left_(output_bytes_max) {
  INVARIANT(inflateInit2(&state_->stream, kGzipWindowBits) == Z_OK, "zlib");
}

GunzipStream::~GunzipStream() { inflateEnd(&state_->stream); }

bool GunzipStream::complete() const { return state_->complete; }

Result<std::string> GunzipStream::Feed(std::string_view piece) {
  z_stream& stream = state_->stream;
  stream.next_in = Input(piece);
  stream.avail_in = static_cast<uInt>(piece.size());
  std::string out;
  std::array<char, kStepBytes> buffer;
  while (stream.avail_in > 0) {
    if (state_->complete) return InvalidError("bytes after the end of a gzip body");
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    const size_t made = buffer.size() - stream.avail_out;
    if (made > left_) return TooLargeError("a gzip body grows beyond the limit");
    left_ -= made;
    out.append(buffer.data(), made);
    if (result == Z_STREAM_END) {
      state_->complete = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return InvalidError(StrCat("a broken gzip body: ", stream.msg != nullptr ? stream.msg : "unknown"));
    } else if (result == Z_BUF_ERROR && made == 0) {
      break;
    }
  }
  return out;
}

}  // namespace baton::net
