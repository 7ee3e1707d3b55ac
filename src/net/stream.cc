// What every ByteStream's users share: bounded writing, and the scratch buffer for reading.
#include "net/stream.h"

#include <memory>

#include "rt/when.h"

namespace baton::net {
namespace {

constexpr size_t kScratchBytes = size_t{64} << 10;

// A slow peer has `stall` for each slice, so that a large write to a slow link is not taken for a stalled one.
constexpr size_t kSliceBytes = size_t{16} << 10;

// Bytes written in one go before others get a turn.
constexpr size_t kBytesPerTurn = size_t{256} << 10;

}  // namespace

std::span<char> ReadScratch() {
  thread_local const std::unique_ptr<char[]> scratch(new char[kScratchBytes]);
  return {scratch.get(), kScratchBytes};
}

rt::Task<Result<void>> WriteWithin(ByteStream& stream, rt::Loop& loop, Duration stall, std::string_view bytes) {
  size_t since_yield = 0;
  while (!bytes.empty()) {
    const size_t sent = CO_TRY(stream.TryWrite(bytes.substr(0, kBytesPerTurn)));
    bytes.remove_prefix(sent);
    since_yield += sent;
    if (bytes.empty()) break;
    if (since_yield >= kBytesPerTurn) {
      since_yield = 0;
      co_await loop.Yield();
    }
    if (sent > 0) continue;
    const std::string_view slice = bytes.substr(0, kSliceBytes);
    CO_TRY(co_await rt::WithDeadline(rt::Deadline::After(loop, stall), "the peer to read", stream.Write(slice)));
    bytes.remove_prefix(slice.size());
  }
  co_return Result<void>();
}

}  // namespace baton::net
