// The fault gate.
#include "net/fault_gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rt/event.h"
#include "rt/random.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::net {
namespace {

constexpr size_t kSliceBytesMax = 7;

class FaultGate final : public ByteStream {
 public:
  FaultGate(rt::Loop& loop, std::unique_ptr<ByteStream> inner, FaultPlan plan)
      : loop_(loop), inner_(std::move(inner)), plan_(std::move(plan)), random_(plan_.seed) {}

  rt::Task<Result<size_t>> Read(std::span<char> buffer) override {
    while (true) {
      const Act act = Next(/*sent=*/false, received_, buffer.size());
      if (act.delay > Duration::zero()) co_await loop_.Sleep(act.delay);
      Apply(act.fault);
      if (stalled_) co_await Forever();
      if (closed_) co_return size_t{0};
      if (cut_) co_return UnavailableError("reading: the fault gate cut the connection");
      // Read into memory of our own first: the caller's is filled with no suspension behind it (see ByteStream::Read).
      std::string bytes(std::min(act.bytes, buffer.size()), '\0');
      std::vector<rt::Task<Result<size_t>>> first;
      first.push_back(inner_->Read(bytes));
      first.push_back(WhenCut());
      const rt::AnyResult<Result<size_t>> read = co_await rt::WhenAny(std::move(first));
      const size_t got = CO_TRY(read.value);
      if (got == 0) co_return size_t{0};
      received_ += got;
      bytes.resize(got);
      Damage(act.fault, bytes);
      if (bytes.empty()) continue;
      std::copy(bytes.begin(), bytes.end(), buffer.begin());
      co_return bytes.size();
    }
  }

  rt::Task<Result<void>> Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const Act act = Next(/*sent=*/true, sent_, bytes.size());
      if (act.delay > Duration::zero()) co_await loop_.Sleep(act.delay);
      Apply(act.fault);
      if (cut_) co_return UnavailableError("writing: the fault gate cut the connection");
      std::string piece(bytes.substr(0, act.bytes));
      bytes.remove_prefix(piece.size());
      sent_ += piece.size();
      if (closed_) continue;  // lost
      if (stalled_) co_await Forever();
      Damage(act.fault, piece);
      CO_TRY(co_await inner_->Write(piece));
    }
    co_return Result<void>();
  }

  // Without waiting only when slicing is all that can happen.
  Result<size_t> TryWrite(std::string_view bytes) override {
    const double others = plan_.delay + plan_.corrupt + plan_.drop + plan_.cut + plan_.close + plan_.stall;
    if (others > 0 || !plan_.script.empty() || bytes.empty()) return size_t{0};
    return inner_->TryWrite(bytes.substr(0, Next(/*sent=*/true, sent_, bytes.size()).bytes));
  }

  rt::Task<Result<void>> CloseWrite() override {
    if (stalled_) co_await Forever();
    if (cut_) co_return UnavailableError("closing: the fault gate cut the connection");
    if (closed_) co_return Result<void>();
    co_return co_await inner_->CloseWrite();
  }

  std::string peer_address() const override { return inner_->peer_address(); }
  std::string_view alpn() const override { return plan_.alpn.empty() ? inner_->alpn() : plan_.alpn; }
  const PeerIdentity& peer_identity() const override { return inner_->peer_identity(); }

 private:
  // What one read or write does: a fault on its first byte, and how many bytes go with it.
  struct Act {
    Duration delay = Duration::zero();
    std::optional<Fault> fault;
    size_t bytes = 0;
  };

  Act Next(bool sent, size_t passed, size_t wanted) {
    Act act{.bytes = wanted};
    if (plan_.slice > 0 && random_.Chance(plan_.slice)) {
      act.bytes = std::min<size_t>(wanted, 1 + random_.Below(kSliceBytesMax));
    }
    if (plan_.delay > 0 && random_.Chance(plan_.delay)) {
      act.delay = random_.Between(Duration::zero(), plan_.delay_max);
    }
    const std::pair<double, Fault> chances[] = {{plan_.cut, Fault::kCut},
                                                {plan_.close, Fault::kClose},
                                                {plan_.stall, Fault::kStall},
                                                {plan_.drop, Fault::kDrop},
                                                {plan_.corrupt, Fault::kCorrupt}};
    for (const auto& [chance, fault] : chances) {
      if (chance > 0 && random_.Chance(chance)) act.fault = fault;
    }
    for (const FaultPlan::Step& step : plan_.script) {
      if (step.sent != sent || step.at < passed) continue;
      if (step.at == passed) {
        act.fault = step.fault;
        if (step.fault == Fault::kDelay) act.delay = plan_.delay_max;
        act.bytes = std::min<size_t>(act.bytes, 1);
      } else {
        act.bytes = std::min(act.bytes, step.at - passed);
      }
    }
    return act;
  }

  void Apply(std::optional<Fault> fault) {
    if (fault == Fault::kStall) stalled_ = true;
    if (fault == Fault::kClose) closed_ = true;
    if (fault == Fault::kCut) {
      cut_ = true;
      gone_.Set();
    }
  }

  void Damage(std::optional<Fault> fault, std::string& bytes) {
    if (fault == Fault::kDrop) bytes.erase(0, 1);
    if (fault == Fault::kCorrupt && !bytes.empty()) {
      bytes[0] = static_cast<char>(bytes[0] ^ (1 << random_.Below(8)));
    }
  }

  rt::Task<Result<size_t>> WhenCut() {
    co_await gone_.Wait();
    co_return UnavailableError("reading: the fault gate cut the connection");
  }

  // Until the task is dropped; a cut does not end a stall, which nobody is told of.
  rt::Task<void> Forever() {
    rt::Event never;
    co_await never.Wait();
  }

  rt::Loop& loop_;
  std::unique_ptr<ByteStream> inner_;
  FaultPlan plan_;
  rt::SeededRandom random_;
  size_t received_ = 0;
  size_t sent_ = 0;
  bool cut_ = false;
  bool closed_ = false;
  bool stalled_ = false;
  rt::Event gone_;
};

// Returns when this direction breaks (false), or as the second of the two to end in good order (true).
rt::Task<bool> Pump(ByteStream& from, ByteStream& to, int& ended) {
  std::vector<char> buffer(size_t{16} << 10);
  while (true) {
    const Result<size_t> got = co_await from.Read(buffer);
    if (!got.ok()) co_return false;
    if (*got == 0) break;
    const Result<void> sent = co_await to.Write({buffer.data(), *got});
    if (!sent.ok()) co_return false;
  }
  const Result<void> closed = co_await to.CloseWrite();
  if (!closed.ok()) co_return false;
  if (++ended == 2) co_return true;
  rt::Event never;
  co_await never.Wait();
  co_return true;
}

rt::Task<void> Relay(rt::RealLoop& loop, std::unique_ptr<ByteStream> accepted, Endpoint target, FaultPlan plan) {
  Result<std::unique_ptr<ByteStream>> connected = co_await ConnectTcp(loop, std::move(target));
  if (!connected.ok()) co_return;
  const std::unique_ptr<ByteStream> there = *std::move(connected);
  const std::unique_ptr<ByteStream> here = MakeFaultGate(loop, std::move(accepted), std::move(plan));
  int ended = 0;
  std::vector<rt::Task<bool>> first;
  first.push_back(Pump(*here, *there, ended));
  first.push_back(Pump(*there, *here, ended));
  co_await rt::WhenAny(std::move(first));
}

}  // namespace

std::unique_ptr<ByteStream> MakeFaultGate(rt::Loop& loop, std::unique_ptr<ByteStream> inner, FaultPlan plan) {
  return std::make_unique<FaultGate>(loop, std::move(inner), std::move(plan));
}

rt::Task<void> RunFaultRelay(rt::RealLoop& loop, Listener& listener, Endpoint target, FaultPlan plan) {
  rt::Scope connections(loop);
  while (true) {
    Result<std::unique_ptr<ByteStream>> accepted = co_await listener.Accept();
    if (!accepted.ok()) co_return;
    connections.Spawn(Relay(loop, *std::move(accepted), target, plan));
    ++plan.seed;
  }
}

}  // namespace baton::net
