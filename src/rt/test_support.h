// What the tests of this module share: objects that are counted, and spawning with a lambda.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {

// Counts its living copies: one in a coroutine's frame shows whether the frame was destroyed, and only once.
class Counted {
 public:
  Counted() { ++alive_; }
  Counted(const Counted&) { ++alive_; }
  Counted(Counted&&) noexcept { ++alive_; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive_; }
  static int alive() { return alive_; }

 private:
  static inline int alive_ = 0;
};

// Appends a word to a log when destroyed.
class Farewell {
 public:
  Farewell(std::vector<std::string>& log, std::string word) : log_(log), word_(std::move(word)) {}
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() { log_.push_back(word_); }

 private:
  std::vector<std::string>& log_;
  std::string word_;
};

// Calls a function when destroyed.
template <class Function>
class AtExit {
 public:
  explicit AtExit(Function function) : function_(std::move(function)) {}
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
  ~AtExit() { function_(); }

 private:
  Function function_;
};

// A task that owns the coroutine lambda it runs, captures included: Spawn(Do([=, &loop]() -> Task<void> {...})).
template <class Function>
std::invoke_result_t<Function&> Do(Function function) {
  co_return co_await function();
}

}  // namespace baton::rt
