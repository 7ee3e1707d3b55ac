// Time types: the two clocks do not mix, and neither can be read. All of it is checked by the compiler.
#include "base/time.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace baton {
namespace {

template <class A, class B>
concept Subtractable = requires(A a, B b) { a - b; };
template <class A, class B>
concept Ordered = requires(A a, B b) { a < b; };
template <class Clock>
concept Readable = requires { Clock::now(); };

static_assert(Subtractable<MonotonicTime, MonotonicTime>);
static_assert(Subtractable<WallTime, WallTime>);
static_assert(!Subtractable<MonotonicTime, WallTime>);
static_assert(!Subtractable<WallTime, MonotonicTime>);
static_assert(!Ordered<MonotonicTime, WallTime>);
static_assert(!std::is_convertible_v<MonotonicTime, WallTime>);
static_assert(!std::is_constructible_v<WallTime, MonotonicTime>);
static_assert(!std::is_constructible_v<WallTime, std::chrono::system_clock::time_point>);
static_assert(!std::is_constructible_v<MonotonicTime, std::chrono::steady_clock::time_point>);
static_assert(!std::is_convertible_v<Duration, MonotonicTime>);
static_assert(!std::is_convertible_v<int, Duration>);
static_assert(!Readable<MonotonicTime::clock>);
static_assert(!Readable<WallTime::clock>);
static_assert(std::is_same_v<decltype(WallTime() - WallTime()), Duration>);
static_assert(MonotonicTime(hours(1)) < kForever);

TEST(TimeTest, ArithmeticIsExactToTheNanosecond) {
  const MonotonicTime start(seconds(5));
  EXPECT_EQ((start + milliseconds(250) + nanoseconds(1)) - start, nanoseconds(250'000'001));
}

}  // namespace
}  // namespace baton
