// A connection in memory: two bounded buffers between two ends.
#include <algorithm>
#include <memory>
#include <utility>

#include "net/stream.h"
#include "rt/event.h"

namespace baton::net {
namespace {

// One direction. Shared by both ends, so that each may go first.
struct Lane {
  explicit Lane(size_t bytes) : capacity(bytes) {}
  size_t size() const { return buffer.size() - taken; }
  size_t room() const { return capacity - std::min(capacity, size()); }

  std::string buffer;
  size_t taken = 0;  // of the buffer's front, read already
  size_t capacity;
  bool writer_closed = false;  // cleanly: what is in the buffer can still be read
  bool cut = false;            // one end is gone
  rt::Event changed;
};

class PipeEnd final : public ByteStream {
 public:
  PipeEnd(std::shared_ptr<Lane> in, std::shared_ptr<Lane> out) : in_(std::move(in)), out_(std::move(out)) {}
  ~PipeEnd() override {
    for (Lane* lane : {in_.get(), out_.get()}) {
      lane->cut = true;
      lane->changed.Set();
    }
  }

  rt::Task<Result<size_t>> Read(std::span<char> buffer) override {
    while (in_->size() == 0) {
      if (in_->writer_closed) co_return size_t{0};
      if (in_->cut) co_return UnavailableError("reading from a pipe: the connection was cut");
      in_->changed.Reset();
      co_await in_->changed.Wait();
    }
    const size_t count = std::min(buffer.size(), in_->size());
    std::copy_n(in_->buffer.data() + in_->taken, count, buffer.data());
    in_->taken += count;
    if (in_->size() == 0) {
      in_->buffer.clear();
      in_->taken = 0;
    }
    in_->changed.Set();
    co_return count;
  }

  rt::Task<Result<void>> Write(std::string_view bytes) override {
    while (true) {
      bytes.remove_prefix(CO_TRY(TryWrite(bytes)));
      if (bytes.empty()) co_return Result<void>();
      out_->changed.Reset();
      co_await out_->changed.Wait();
    }
  }

  Result<size_t> TryWrite(std::string_view bytes) override {
    if (out_->writer_closed) return UnavailableError("writing to a pipe after closing it");
    if (out_->cut) return UnavailableError("writing to a pipe: the connection was cut");
    const size_t count = std::min(bytes.size(), out_->room());
    if (count == 0) return size_t{0};
    if (out_->taken > out_->capacity) {  // seldom, so that reading bit by bit does not move the rest each time
      out_->buffer.erase(0, std::exchange(out_->taken, 0));
    }
    out_->buffer.append(bytes.substr(0, count));
    out_->changed.Set();
    return count;
  }

  rt::Task<Result<void>> CloseWrite() override {
    out_->writer_closed = true;
    out_->changed.Set();
    co_return Result<void>();
  }

  std::string peer_address() const override { return "pipe"; }
  const PeerIdentity& peer_identity() const override { return identity_; }

 private:
  std::shared_ptr<Lane> in_;
  std::shared_ptr<Lane> out_;
  PeerIdentity identity_;
};

}  // namespace

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakePipe(size_t buffer_bytes) {
  auto forth = std::make_shared<Lane>(buffer_bytes);
  auto back = std::make_shared<Lane>(buffer_bytes);
  return {std::make_unique<PipeEnd>(back, forth), std::make_unique<PipeEnd>(forth, back)};
}

}  // namespace baton::net
