// Result: values, errors, TRY and CO_TRY, and what must not compile.
#include "base/result.h"

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/strings.h"

namespace baton {
namespace {

// A value becomes a Result only where it would become a T without a word; a Result never becomes another Result's
// value.
static_assert(std::is_convertible_v<int, Result<int>>);
static_assert(std::is_convertible_v<const char*, Result<std::string>>);
static_assert(std::is_convertible_v<Error, Result<int>>);
static_assert(std::is_convertible_v<Error, Result<void>>);
static_assert(!std::is_convertible_v<int, Result<Epoch>>);
static_assert(!std::is_convertible_v<std::string, Result<ClusterName>>);
static_assert(!std::is_convertible_v<int, Result<std::vector<int>>>);
static_assert(!std::is_constructible_v<Result<bool>, Result<int>>);
static_assert(!std::is_constructible_v<Result<bool>, Result<void>>);
static_assert(!std::is_convertible_v<Result<int>, bool>);
static_assert(std::is_constructible_v<Result<Epoch>, int>);

Result<int> ParseDigit(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '9') return InvalidError(StrCat(Quote(text), " is not a digit"));
  return text[0] - '0';
}

Result<void> CheckSmall(int number) {
  if (number > 5) return TooLargeError("more than 5");
  return {};
}

Result<std::string> Describe(std::string_view text) {
  const int digit = TRY(ParseDigit(text));
  TRY(CheckSmall(digit));
  return StrCat("digit ", digit);
}

TEST(ResultTest, HoldsAValueOrAnError) {
  Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(good.value(), 7);
  EXPECT_EQ(*good, 7);
  *good = 8;
  EXPECT_EQ(std::move(good).value(), 8);

  const Result<int> bad = NotFoundError("no");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error(), NotFoundError("no"));
  EXPECT_EQ(bad.value_or(3), 3);
  EXPECT_EQ(Result<int>(4).value_or(3), 4);
}

TEST(ResultTest, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  EXPECT_EQ(**result, 5);
  std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
  EXPECT_EQ(Result<std::unique_ptr<int>>(InvalidError("x")).value_or(nullptr), nullptr);
}

TEST(ResultTest, ArrowReachesTheValue) {
  Result<std::string> result = "text";
  EXPECT_EQ(result->size(), 4U);
  const Result<std::string>& constant = result;
  EXPECT_EQ(constant->size(), 4U);
}

TEST(ResultTest, ContextIsAddedToErrorsOnly) {
  EXPECT_EQ(ParseDigit("x").Context("reading").error().message(), "reading: \"x\" is not a digit");
  EXPECT_EQ(*ParseDigit("4").Context("reading"), 4);
  EXPECT_EQ(CheckSmall(6).Context("checking").error().message(), "checking: more than 5");
  EXPECT_TRUE(CheckSmall(1).Context("checking").ok());
}

TEST(ResultTest, TryPassesValuesOnAndReturnsErrors) {
  EXPECT_EQ(*Describe("3"), "digit 3");
  EXPECT_EQ(Describe("?").error(), InvalidError("\"?\" is not a digit"));
  EXPECT_EQ(Describe("9").error(), TooLargeError("more than 5"));
}

TEST(ResultTest, TryNests) {
  const auto digit_of_digit = [](std::string_view text) -> Result<int> {
    return TRY(ParseDigit(StrCat(TRY(ParseDigit(text)))));
  };
  EXPECT_EQ(*digit_of_digit("3"), 3);
  EXPECT_FALSE(digit_of_digit("x").ok());
}

TEST(ResultTest, TryMovesTheValueOut) {
  const auto take = [](Result<std::unique_ptr<int>> result) -> Result<int> {
    std::unique_ptr<int> owned = TRY(std::move(result));
    return *owned;
  };
  EXPECT_EQ(*take(std::make_unique<int>(5)), 5);
}

// Counts the living; the string makes ASan see one that is destroyed twice or never.
class Tracked {
 public:
  explicit Tracked(int& alive) : alive_(alive), text_(100, 'x') { ++alive_; }
  Tracked(const Tracked& other) : alive_(other.alive_), text_(other.text_) { ++alive_; }
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --alive_; }

 private:
  int& alive_;
  std::string text_;
};

size_t Use(const Tracked&, int number, const Tracked&) { return static_cast<size_t>(number); }

TEST(ResultTest, TryDestroysTheTemporariesAroundItWhenItReturns) {
  int alive = 0;
  const auto call = [&alive](std::string_view text) -> Result<size_t> {
    return Use(Tracked(alive), TRY(ParseDigit(text)), Tracked(alive));
  };
  EXPECT_EQ(*call("2"), 2U);
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(call("x").ok());
  EXPECT_EQ(alive, 0);
}

// The smallest coroutine that can end with a Result, and a gate at which it waits.
template <class T>
class Coroutine {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the language names it
    std::optional<Result<T>> result;
    Coroutine get_return_object() { return Coroutine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(Result<T> value) { result.emplace(std::move(value)); }
    void unhandled_exception() { std::terminate(); }
  };

  explicit Coroutine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  ~Coroutine() { handle_.destroy(); }

  bool done() const { return handle_.done(); }
  Result<T> result() const { return *handle_.promise().result; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

class Gate {
 public:
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  Result<std::string> await_resume() { return std::move(*answer_); }

  void Open(Result<std::string> answer) {
    answer_.emplace(std::move(answer));
    waiter_.resume();
  }

 private:
  std::coroutine_handle<> waiter_;
  std::optional<Result<std::string>> answer_;
};

size_t Measure(const Tracked&, const std::string& text, const std::string& more) { return text.size() + more.size(); }

Coroutine<size_t> AskTwice(Gate& first, Gate& second, int& alive) {
  const std::string prefix = CO_TRY(co_await first);
  co_return Measure(Tracked(alive), std::string(50, 'p') + prefix, CO_TRY(co_await second));
}

TEST(ResultTest, CoTryWaitsAndGoesOn) {
  Gate first, second;
  int alive = 0;
  Coroutine<size_t> coroutine = AskTwice(first, second, alive);
  EXPECT_FALSE(coroutine.done());
  first.Open(std::string(40, 'a'));
  EXPECT_FALSE(coroutine.done());
  EXPECT_EQ(alive, 1);
  second.Open(std::string(30, 'b'));
  ASSERT_TRUE(coroutine.done());
  EXPECT_EQ(*coroutine.result(), 120U);
  EXPECT_EQ(alive, 0);
}

TEST(ResultTest, CoTryReturnsTheErrorAndDestroysTheTemporariesAroundIt) {
  Gate first, second;
  int alive = 0;
  Coroutine<size_t> coroutine = AskTwice(first, second, alive);
  first.Open(std::string(40, 'a'));
  second.Open(UnavailableError("the other side is gone"));
  ASSERT_TRUE(coroutine.done());
  EXPECT_EQ(coroutine.result().error(), UnavailableError("the other side is gone"));
  EXPECT_EQ(alive, 0);
}

TEST(ResultTest, ACoroutineDestroyedWhileItWaitsInCoTryLeaksNothing) {
  Gate first, second;
  int alive = 0;
  {
    Coroutine<size_t> coroutine = AskTwice(first, second, alive);
    first.Open(std::string(40, 'a'));
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(ResultDeathTest, TheValueOfAnErrorEndsTheProcessWithTheErrorsText) {
  const Result<int> bad = NotFoundError("no cluster 'blue'");
  EXPECT_DEATH((void)bad.value(), "invariant broken.*not_found: no cluster 'blue'");
  EXPECT_DEATH((void)*bad, "not_found: no cluster 'blue'");
  EXPECT_DEATH(Result<void>(InvalidError("bad")).value(), "invalid: bad");
  EXPECT_DEATH((void)Result<std::string>(InvalidError("bad"))->size(), "invalid: bad");
}

TEST(ResultDeathTest, TheErrorOfAValueEndsTheProcess) {
  EXPECT_DEATH((void)Result<int>(1).error(), "error\\(\\) of a Result that holds a value");
  EXPECT_DEATH((void)Result<void>().error(), "error\\(\\) of a Result that holds a value");
}

}  // namespace
}  // namespace baton
