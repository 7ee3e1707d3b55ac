// gzip on zlib.
#include "net/gzip.h"

#include <zlib.h>

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
  bool between_members = true;  // before the first, or behind one whose trailer was right
  bool broken = false;
};

GunzipStream::GunzipStream() : state_(std::make_unique<State>()) {
  INVARIANT(inflateInit2(&state_->stream, kGzipWindowBits) == Z_OK, "zlib");
}

GunzipStream::~GunzipStream() { inflateEnd(&state_->stream); }

bool GunzipStream::complete() const { return state_->between_members && !state_->broken; }

Result<std::string> GunzipStream::Feed(std::string_view piece) {
  z_stream& stream = state_->stream;
  if (state_->broken) return InvalidError("a broken gzip body");
  stream.next_in = Input(piece);
  stream.avail_in = static_cast<uInt>(piece.size());
  std::string out;
  std::array<char, kStepBytes> buffer;
  bool pending = true;  // zlib may hold output although it has taken all input
  while (stream.avail_in > 0 || pending) {
    if (state_->between_members) {  // a gzip body is one member or more
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
      state_->between_members = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    pending = stream.avail_out == 0;
    out.append(buffer.data(), buffer.size() - stream.avail_out);
    if (result == Z_STREAM_END) {
      state_->between_members = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {  // Z_BUF_ERROR: nothing left to do
      state_->broken = true;
      return InvalidError(StrCat("a broken gzip body: ", stream.msg != nullptr ? stream.msg : "unknown"));
    }
  }
  return out;
}

}  // namespace baton::net
