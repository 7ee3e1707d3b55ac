// Lua 5.1 patterns with a meter: matching counts its steps and stops when they are spent, so that a pattern such as
// ("a*"):rep(15) .. "b" costs what the caller allows and no more.
//
//   LuaPattern pattern("^(%w+)=", steps);
//   Result<bool> found = pattern.Find("key=value", 0);
//   pattern.start(), pattern.end(), pattern.captures()
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace baton::interpret {

class LuaPattern {
 public:
  static constexpr size_t kMaxCaptures = 32;
  static constexpr int kMaxNesting = 200;

  struct Capture {
    size_t start = 0;
    size_t size = 0;        // of a position capture: 0
    bool position = false;  // "()": the place itself
  };

  // Steps are taken from `steps`, which must outlive this, as must the pattern's text.
  LuaPattern(std::string_view pattern, uint64_t& steps) : pattern_(pattern), steps_(&steps) {}

  // The first match at or after `from`. Error: kInvalid for a malformed pattern, kTooLarge when the steps are spent.
  // With `anchors` a leading ^ anchors (gmatch has no anchors).
  Result<bool> Find(std::string_view subject, size_t from, bool anchors = true);

  size_t start() const { return start_; }
  size_t end() const { return end_; }
  std::span<const Capture> captures() const { return {captures_.data(), level_}; }

  // True when the pattern matches only itself.
  static bool IsPlain(std::string_view pattern);

 private:
  static constexpr size_t kNoMatch = SIZE_MAX;
  enum class Fault : uint8_t { kNone, kSteps, kTooComplex, kMalformed };

  size_t Match(size_t s, size_t p);
  size_t MatchItem(size_t s, size_t p);
  size_t StartCapture(size_t s, size_t p, bool position);
  size_t EndCapture(size_t s, size_t p);
  size_t MatchBalance(size_t s, size_t p);
  size_t MatchBack(size_t s, char digit);
  size_t MaxExpand(size_t s, size_t p, size_t item_end);
  size_t MinExpand(size_t s, size_t p, size_t item_end);
  size_t ClassEnd(size_t p);
  bool SingleMatch(size_t s, size_t p, size_t item_end) const;
  bool InSet(char c, size_t p, size_t set_end) const;
  size_t Fail(Fault fault, const char* why = "");
  bool Step();

  std::string_view pattern_;
  std::string_view subject_;
  uint64_t* steps_;
  Fault fault_ = Fault::kNone;
  const char* why_ = "";
  int nesting_ = 0;
  size_t start_ = 0;
  size_t end_ = 0;
  size_t level_ = 0;
  std::array<Capture, kMaxCaptures> captures_;
  std::array<bool, kMaxCaptures> open_{};
};

}  // namespace baton::interpret
