// The pipe, bounded writing over it, and the fault gate: what the other tests stand on.
#include <gtest/gtest.h>

#include "net/fault_gate.h"
#include "net/net_for_test.h"
#include "net/signal.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::Task;
using rt::VirtualLoop;

Task<Result<void>> WriteAndClose(ByteStream& stream, std::string bytes) {
  CO_TRY(co_await stream.Write(bytes));
  co_return co_await stream.CloseWrite();
}

std::string Pattern(size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i * i % 26);
  return text;
}

TEST(PipeTest, CarriesEverythingInOrderWhateverTheBufferAndTheSlices) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    VirtualLoop loop(seed);
    auto [a, b] = MakePipe(1 + seed * 13 % 100);
    const std::unique_ptr<ByteStream> sliced = Sliced(loop, std::move(b), seed);
    const std::string forth = Pattern(3000);
    const std::string back = Pattern(1000);
    auto [sent_forth, sent_back, got_forth, got_back] =
        loop.Run(rt::WhenAll(WriteAndClose(*a, forth), WriteAndClose(*sliced, back), ReadAll(*sliced), ReadAll(*a)));
    EXPECT_TRUE(sent_forth.ok() && sent_back.ok());
    EXPECT_EQ(got_forth.bytes, forth);
    EXPECT_EQ(got_forth.error, "");
    EXPECT_EQ(got_back.bytes, back);
  }
}

Task<void> ReadsWhatIsLeft(ByteStream& a, std::unique_ptr<ByteStream> b) {
  EXPECT_TRUE((co_await b->Write("last words")).ok());
  b.reset();
  const Received received = co_await ReadAll(a);
  EXPECT_EQ(received.bytes, "last words");
  EXPECT_NE(received.error, "") << "an end that is gone did not close cleanly";
  EXPECT_FALSE((co_await a.Write("x")).ok());
  EXPECT_FALSE(a.TryWrite("x").ok());
}

TEST(PipeTest, WhatWasWrittenBeforeTheEndWentCanBeRead) {
  VirtualLoop loop(1);
  auto [a, b] = MakePipe();
  loop.Run(ReadsWhatIsLeft(*a, std::move(b)));
}

Task<void> DropsAReader(rt::Loop& loop, ByteStream& a, ByteStream& b) {
  std::vector<char> buffer(100);
  const Result<size_t> none =
      co_await rt::WithDeadline(Deadline::After(loop, milliseconds(1)), "nothing", a.Read(buffer));
  EXPECT_FALSE(none.ok());
  EXPECT_TRUE((co_await b.Write("kept")).ok());
  const Result<size_t> got = co_await a.Read(buffer);
  EXPECT_EQ(*got, 4u);
}

TEST(PipeTest, ADroppedReadTakesNothingWithIt) {
  VirtualLoop loop(1);
  auto [a, b] = MakePipe();
  loop.Run(DropsAReader(loop, *a, *b));
}

TEST(PipeTest, TryWriteTakesWhatFits) {
  VirtualLoop loop(1);
  auto [a, b] = MakePipe(10);
  EXPECT_EQ(*a->TryWrite("12345678"), 8u);
  EXPECT_EQ(*a->TryWrite("12345678"), 2u);
  EXPECT_EQ(*a->TryWrite("12345678"), 0u);
  EXPECT_EQ(*a->TryWrite(""), 0u);
}

// ---- WriteWithin ----

Task<void> ReadSlowly(rt::Loop& loop, ByteStream& stream, size_t piece, Duration pause, size_t total) {
  std::vector<char> buffer(piece);
  for (size_t got = 0; got < total;) {
    co_await loop.Sleep(pause);
    got += *co_await stream.Read(buffer);
  }
}

TEST(WriteWithinTest, ASlowReaderIsNotAStalledOne) {
  VirtualLoop loop(3);
  auto [a, b] = MakePipe(4096);
  const std::string bytes = Pattern(200'000);
  // 4 KiB every half second is 25 seconds in all, far more than the stall.
  auto [written, read] = loop.Run(rt::WhenAll(WriteWithin(*a, loop, seconds(5), bytes),
                                              ReadSlowly(loop, *b, 4096, milliseconds(500), bytes.size())));
  EXPECT_TRUE(written.ok());
}

TEST(WriteWithinTest, AReaderThatTakesNothingEndsTheWrite) {
  VirtualLoop loop(3);
  auto [a, b] = MakePipe(4096);
  const Result<void> written = loop.Run(WriteWithin(*a, loop, seconds(5), Pattern(200'000)));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind(), ErrorKind::kDeadlineExceeded);
  EXPECT_EQ(loop.Now().time_since_epoch(), seconds(5));
}

// ---- Signal ----

Task<void> WaitsTwice(rt::Loop& loop, Signal& signal, std::string& trace) {
  trace += co_await signal.Wait() ? "set " : "late ";
  trace += co_await signal.Wait(Deadline::After(loop, seconds(1))) ? "set " : "late ";
  trace += co_await signal.Wait(Deadline::After(loop, seconds(1))) ? "set " : "late ";
}

Task<void> SetsOnce(rt::Loop& loop, Signal& signal) {
  co_await loop.Sleep(milliseconds(1500));
  signal.Set();
}

TEST(SignalTest, ASignalIsKeptForTheNextWaitAndADeadlineEndsTheWait) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    VirtualLoop loop(seed);
    Signal signal;
    std::string trace;
    signal.Set();
    signal.Set();  // counts once
    loop.Run(rt::WhenAll(WaitsTwice(loop, signal, trace), SetsOnce(loop, signal)));
    EXPECT_EQ(trace, "set late set ");
  }
}

Task<void> DropsAWaiter(rt::Loop& loop, Signal& signal) {
  {
    rt::Scope scope(loop);
    std::string trace;
    scope.Spawn(WaitsTwice(loop, signal, trace));
    co_await loop.Sleep(milliseconds(1));
  }
  signal.Set();
  EXPECT_TRUE(co_await signal.Wait());
}

TEST(SignalTest, ADroppedWaiterTakesNothingWithIt) {
  VirtualLoop loop(1);
  Signal signal;
  loop.Run(DropsAWaiter(loop, signal));
}

// ---- the gate ----

Task<Received> Through(rt::Loop& loop, FaultPlan plan, std::string bytes) {
  auto [a, b] = MakePipe();
  EXPECT_TRUE((co_await WriteAndClose(*a, std::move(bytes))).ok());
  const std::unique_ptr<ByteStream> gate = MakeFaultGate(loop, std::move(b), std::move(plan));
  Result<Received> received = co_await rt::WithDeadline(Deadline::After(loop, seconds(60)), "the gate", ReadAll(*gate));
  co_return received.ok() ? *std::move(received) : Received{"", "stalled"};
}

TEST(FaultGateTest, DoesWhatItsScriptSays) {
  struct Case {
    Fault fault;
    std::string bytes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {Fault::kCut, "0123", "reading: the fault gate cut the connection"},
           {Fault::kClose, "0123", ""},
           {Fault::kStall, "", "stalled"},
           {Fault::kDrop, "012356789", ""},
           {Fault::kDelay, "0123456789", ""},
       }) {
    VirtualLoop loop(1);
    const Received got = loop.Run(Through(loop, {.script = {{.at = 4, .fault = c.fault}}}, "0123456789"));
    EXPECT_EQ(got.bytes, c.bytes);
    EXPECT_EQ(got.error, c.error);
    if (c.fault == Fault::kDelay) EXPECT_EQ(loop.Now().time_since_epoch(), milliseconds(200));
  }
  VirtualLoop loop(1);
  const Received got = loop.Run(Through(loop, {.script = {{.at = 4, .fault = Fault::kCorrupt}}}, "0123456789"));
  EXPECT_EQ(got.bytes.substr(0, 4) + got.bytes.substr(5), "012356789");
  EXPECT_NE(got.bytes[4], '4');
}

TEST(FaultGateTest, TheSameSeedDoesTheSame) {
  const auto run = [](uint64_t seed) {
    VirtualLoop loop(seed);
    const FaultPlan plan{.seed = seed, .slice = 0.5, .delay = 0.3, .corrupt = 0.02, .drop = 0.02, .cut = 0.001};
    const Received got = loop.Run(Through(loop, plan, Pattern(2000)));
    return StrCat(got.bytes, got.error, loop.Now().time_since_epoch().count());
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace baton::net
