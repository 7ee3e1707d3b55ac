// Channels: order, capacity, closing, and that no value is lost or doubled whoever is dropped.
#include "rt/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

TEST(ChannelTest, KeepsTheOrderAndWaitsWhenFullAndWhenEmpty) {
  for (const size_t capacity : {1, 2, 7, 100}) {
    VirtualLoop loop(capacity);
    auto program = [&]() -> Task<void> {
      Channel<int> channel(capacity);
      int sent = 0;
      auto sender = [&]() -> Task<void> {
        for (int n = 0; n < 50; ++n) {
          EXPECT_TRUE(co_await channel.Send(n));
          ++sent;
          EXPECT_LE(channel.size(), capacity + 1);  // and one that a woken receiver has a claim to
        }
        channel.Close();
      };
      Scope scope(loop);
      scope.Spawn(sender());
      co_await loop.Sleep(seconds(1));
      EXPECT_EQ(sent, std::min<int>(50, static_cast<int>(capacity)));  // one more waits
      int expected = 0;
      while (std::optional<int> value = co_await channel.Receive()) {
        EXPECT_EQ(*value, expected++);
        if (expected % 7 == 0) co_await loop.Sleep(seconds(1));
      }
      EXPECT_EQ(expected, 50);
    };
    loop.Run(program());
  }
}

TEST(ChannelTest, PassesMoveOnlyValues) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<std::unique_ptr<int>> channel(1);
    EXPECT_TRUE(co_await channel.Send(std::make_unique<int>(5)));
    auto full = std::make_unique<int>(6);
    EXPECT_FALSE(channel.TrySend(full));
    EXPECT_EQ(*full, 6);  // not moved from
    EXPECT_EQ(**co_await channel.Receive(), 5);
    EXPECT_TRUE(channel.TrySend(full));
    EXPECT_EQ(full, nullptr);
    EXPECT_EQ(**channel.TryReceive(), 6);
    EXPECT_EQ(channel.TryReceive(), std::nullopt);
  };
  loop.Run(program());
}

TEST(ChannelTest, AClosedChannelTakesNothingAndGivesWhatIsLeft) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<int> channel(2);
    EXPECT_TRUE(co_await channel.Send(1));
    EXPECT_TRUE(co_await channel.Send(2));
    bool waiting_sender_refused = false;
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> { waiting_sender_refused = !co_await channel.Send(3); }));
    co_await loop.Sleep(seconds(1));
    EXPECT_FALSE(channel.closed());
    channel.Close();
    channel.Close();
    EXPECT_TRUE(channel.closed());
    co_await scope.Join();
    EXPECT_TRUE(waiting_sender_refused);
    EXPECT_FALSE(co_await channel.Send(4));
    int five = 5;
    EXPECT_FALSE(channel.TrySend(five));
    EXPECT_EQ(co_await channel.Receive(), 1);
    EXPECT_FALSE(co_await channel.Send(6));  // room makes no difference
    EXPECT_EQ(co_await channel.Receive(), 2);
    EXPECT_EQ(co_await channel.Receive(), std::nullopt);
    EXPECT_EQ(co_await channel.Receive(), std::nullopt);
    EXPECT_EQ(channel.TryReceive(), std::nullopt);
  };
  loop.Run(program());
}

TEST(ChannelTest, ClosingWakesEveryWaitingReceiver) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<int> channel(1);
    int values = 0;
    int ends = 0;
    auto receiver = [&]() -> Task<void> { (co_await channel.Receive() ? values : ends)++; };
    Scope scope(loop);
    for (int n = 0; n < 5; ++n) scope.Spawn(receiver());
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(co_await channel.Send(1));
    EXPECT_TRUE(co_await channel.Send(2));  // both are claimed already
    channel.Close();                        // those with a claim still get their value
    co_await scope.Join();
    EXPECT_EQ(values, 2);
    EXPECT_EQ(ends, 3);
  };
  loop.Run(program());
}

TEST(ChannelTest, AReceiverDroppedAfterTheHandOverLosesNothing) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<int> channel(1);
    Scope first(loop);
    Scope second(loop);
    std::optional<int> got;
    auto dropped = [&]() -> Task<void> {
      (void)co_await channel.Receive();
      ADD_FAILURE() << "a dropped fiber ran";
    };
    auto receiver = [&]() -> Task<void> { got = co_await channel.Receive(); };
    first.Spawn(dropped());
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(co_await channel.Send(1));
    first.CancelAll();
    EXPECT_EQ(channel.size(), 1);
    EXPECT_EQ(channel.TryReceive(), 1);  // to who comes next

    first.Spawn(dropped());
    co_await loop.Sleep(seconds(1));
    second.Spawn(receiver());
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(co_await channel.Send(2));
    first.CancelAll();
    co_await second.Join();  // to who waits already
    EXPECT_EQ(got, 2);
  };
  loop.Run(program());
}

TEST(ChannelTest, TheOrderStaysWhenWokenReceiversAreDropped) {
  // Receivers 0, 1, 2 are woken for the values 0, 1, 2; some are dropped before they run. Whoever receives then, gets
  // the values in order.
  for (int dropped = 0; dropped < 8; ++dropped) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      VirtualLoop loop(seed);
      auto program = [&]() -> Task<void> {
        Channel<int> channel(3);
        std::vector<int> got;
        auto receiver = [&]() -> Task<void> { got.push_back(*co_await channel.Receive()); };
        std::deque<Scope> scopes;
        for (int n = 0; n < 3; ++n) {
          scopes.emplace_back(loop).Spawn(receiver());
          co_await loop.Sleep(seconds(1));
        }
        for (int n = 0; n < 3; ++n) EXPECT_TRUE(co_await channel.Send(n));
        for (int n = 0; n < 3; ++n) {
          if (((dropped >> n) & 1) != 0) scopes[n].CancelAll();
        }
        for (Scope& scope : scopes) co_await scope.Join();
        while (std::optional<int> value = channel.TryReceive()) got.push_back(*value);
        EXPECT_EQ(got, (std::vector<int>{0, 1, 2}));
      };
      loop.Run(program());
    }
  }
}

TEST(ChannelTest, ASenderDroppedWhileItWaitsTakesItsValueWithIt) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<int> channel(1);
    EXPECT_TRUE(co_await channel.Send(0));
    std::deque<Scope> scopes;
    auto sender = [&](int n) -> Task<void> { EXPECT_TRUE(co_await channel.Send(n)); };
    for (int n = 1; n <= 3; ++n) {
      scopes.emplace_back(loop).Spawn(sender(n));
      co_await loop.Sleep(seconds(1));
    }
    scopes[1].CancelAll();
    EXPECT_EQ(channel.TryReceive(), 0);  // lets 1 in
    scopes[0].CancelAll();               // woken, not run: its value is sent all the same
    EXPECT_EQ(co_await channel.Receive(), 1);
    EXPECT_EQ(co_await channel.Receive(), 3);
    EXPECT_EQ(channel.size(), 0);
  };
  loop.Run(program());
}

TEST(ChannelTest, ValuesThatComeBackDoNotLetSendersOverfillIt) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Channel<int> channel(1);
    Scope receivers(loop);
    auto receiver = [&]() -> Task<void> { (void)co_await channel.Receive(); };
    for (int n = 0; n < 3; ++n) receivers.Spawn(receiver());
    co_await loop.Sleep(seconds(1));
    for (int n = 0; n < 4; ++n) EXPECT_TRUE(co_await channel.Send(n));  // three are claimed, one fills it
    receivers.CancelAll();
    Scope sender(loop);
    sender.Spawn(Do([&]() -> Task<void> { EXPECT_TRUE(co_await channel.Send(4)); }));
    co_await loop.Sleep(seconds(1));
    int value = 5;
    for (int n = 0; n < 4; ++n) {
      EXPECT_EQ(channel.size(), 4 - n);  // the waiting sender is let in when there is room, not before
      EXPECT_FALSE(channel.TrySend(value));
      EXPECT_EQ(channel.TryReceive(), n);
    }
    EXPECT_EQ(channel.size(), 1);
    EXPECT_EQ(channel.TryReceive(), 4);
    EXPECT_TRUE(channel.TrySend(value));
    EXPECT_EQ(channel.TryReceive(), 5);
    co_await sender.Join();
  };
  loop.Run(program());
}

TEST(ChannelTest, OnTheRealLoopThoseWhoWaitAreServedInTheOrderTheyCame) {
  for (const bool receivers_first : {false, true}) {
    RealLoop loop(1);
    auto program = [&]() -> Task<void> {
      constexpr int kFibers = 200;
      Channel<int> channel(1);
      std::vector<std::pair<int, int>> pairs;  // receiver, value
      auto sender = [&](int id) -> Task<void> { EXPECT_TRUE(co_await channel.Send(id)); };
      auto receiver = [&](int id) -> Task<void> { pairs.emplace_back(id, *co_await channel.Receive()); };
      Scope scope(loop);
      for (const bool receivers : {receivers_first, !receivers_first}) {
        for (int n = 0; n < kFibers; ++n) scope.Spawn(receivers ? receiver(n) : sender(n));
        co_await loop.Yield();  // all of the first kind wait now
      }
      co_await scope.Join();
      std::vector<std::pair<int, int>> expected;
      for (int n = 0; n < kFibers; ++n) expected.emplace_back(n, n);
      EXPECT_EQ(pairs, expected);
    };
    loop.Run(program());
  }
}

TEST(ChannelTest, OnTheRealLoopManySendersShareAFullChannelEvenly) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    constexpr int kSenders = 50;
    constexpr int kRounds = 40;
    Channel<std::pair<int, int>> channel(1);
    std::vector<int> next_from(kSenders);
    auto sender = [&](int id) -> Task<void> {
      for (int n = 0; n < kRounds; ++n) EXPECT_TRUE(co_await channel.Send({id, n}));
    };
    Scope senders(loop);
    for (int n = 0; n < kSenders; ++n) senders.Spawn(sender(n));
    co_await loop.Yield();  // all of them wait, but for the first
    for (int n = 0; n < kSenders * kRounds; ++n) {
      const std::pair<int, int> value = *co_await channel.Receive();
      EXPECT_EQ(value.second, next_from[value.first]++);
      EXPECT_LE(value.second, *std::min_element(next_from.begin(), next_from.end()) + 1);
      co_await loop.Yield();
    }
    co_await senders.Join();
  };
  loop.Run(program());
}

TEST(ChannelTest, NothingIsLostDoubledOrReorderedWhileReceiversAreDropped) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      constexpr int kSenders = 5;
      constexpr int kValues = 20;
      Channel<std::pair<int, int>> channel(1 + seed % 4);
      std::map<int, int> next_from;
      int received = 0;
      const auto take = [&](const std::pair<int, int>& value) {
        EXPECT_EQ(value.second, next_from[value.first]++) << "from " << value.first;
        ++received;
      };
      auto sender = [&](int id) -> Task<void> {
        for (int n = 0; n < kValues; ++n) EXPECT_TRUE(co_await channel.Send({id, n}));
      };
      auto receiver = [&]() -> Task<void> {
        while (auto value = co_await channel.Receive()) {
          take(*value);
          if (loop.random().Chance(0.3)) co_await loop.Yield();
        }
      };
      Scope senders(loop);
      for (int n = 0; n < kSenders; ++n) senders.Spawn(sender(n));
      while (senders.active() > 0) {
        Scope receivers(loop);
        for (int n = 0; n < 4; ++n) receivers.Spawn(receiver());
        for (uint64_t n = loop.random().Below(12); n > 0; --n) co_await loop.Yield();
      }
      channel.Close();
      co_await receiver();
      EXPECT_EQ(received, kSenders * kValues);
    };
    loop.Run(program());
  }
}

TEST(ChannelDeathTest, ACapacityOfZeroEndsTheProcess) {
  EXPECT_DEATH(Channel<int>(0), "a channel has room for one value at least");
}

TEST(ChannelDeathTest, GoingBeforeThoseWhoWaitEndsTheProcess) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto channel = std::make_unique<Channel<int>>(1);
    auto receiver = [&]() -> Task<void> { (void)co_await channel->Receive(); };
    Scope scope(loop);
    scope.Spawn(receiver());
    co_await loop.Sleep(seconds(1));
    channel.reset();
  };
  EXPECT_DEATH(loop.Run(program()), "a channel outlives all who wait on it");
}

}  // namespace
}  // namespace baton::rt
