// The matcher: backtracking as the Lua manual describes patterns, every comparison metered.
#include "interpret/lua_pattern.h"

#include <cctype>

#include "base/strings.h"

namespace baton::interpret {

namespace {

constexpr char kEscape = '%';
constexpr std::string_view kSpecials = "^$*+?.([%-";

bool IsLetterClass(unsigned char c, char letter) {
  bool member = false;
  switch (std::tolower(letter)) {
    case 'a':
      member = std::isalpha(c) != 0;
      break;
    case 'c':
      member = std::iscntrl(c) != 0;
      break;
    case 'd':
      member = std::isdigit(c) != 0;
      break;
    case 'l':
      member = std::islower(c) != 0;
      break;
    case 'p':
      member = std::ispunct(c) != 0;
      break;
    case 's':
      member = std::isspace(c) != 0;
      break;
    case 'u':
      member = std::isupper(c) != 0;
      break;
    case 'w':
      member = std::isalnum(c) != 0;
      break;
    case 'x':
      member = std::isxdigit(c) != 0;
      break;
    case 'z':
      member = c == 0;
      break;
    default:
      return letter == static_cast<char>(c);
  }
  return std::isupper(static_cast<unsigned char>(letter)) != 0 ? !member : member;
}

}  // namespace

bool LuaPattern::IsPlain(std::string_view pattern) {
  return pattern.find_first_of(kSpecials) == std::string_view::npos;
}

size_t LuaPattern::Fail(Fault fault, const char* why) {
  if (fault_ == Fault::kNone) {
    fault_ = fault;
    why_ = why;
  }
  return kNoMatch;
}

bool LuaPattern::Step() {
  if (fault_ != Fault::kNone) return false;
  if (*steps_ == 0) return Fail(Fault::kSteps) != kNoMatch;
  --*steps_;
  return true;
}

Result<bool> LuaPattern::Find(std::string_view subject, size_t from, bool anchors) {
  subject_ = subject;
  const bool anchored = anchors && pattern_.starts_with('^');
  for (size_t s = from; s <= subject.size(); ++s) {
    level_ = 0;
    nesting_ = 0;
    const size_t end = Match(s, anchored ? 1 : 0);
    if (fault_ == Fault::kSteps) return TooLargeError("the pattern takes too many steps");
    if (fault_ == Fault::kTooComplex) return InvalidError("pattern too complex");
    if (fault_ == Fault::kMalformed) return InvalidError(why_);
    if (end != kNoMatch) {
      for (size_t i = 0; i < level_; ++i) {
        if (open_[i]) return InvalidError("unfinished capture");
      }
      start_ = s;
      end_ = end;
      return true;
    }
    if (anchored) break;
  }
  return false;
}

size_t LuaPattern::Match(size_t s, size_t p) {
  if (nesting_ >= kMaxNesting) return Fail(Fault::kTooComplex);
  ++nesting_;
  const size_t end = MatchItem(s, p);
  --nesting_;
  return end;
}

// One item after the other, without recursion as long as nothing can be tried twice.
size_t LuaPattern::MatchItem(size_t s, size_t p) {
  while (true) {
    if (!Step()) return kNoMatch;
    if (p == pattern_.size()) return s;
    const char c = pattern_[p];
    if (c == '(') {
      const bool position = p + 1 < pattern_.size() && pattern_[p + 1] == ')';
      return StartCapture(s, p + (position ? 2 : 1), position);
    }
    if (c == ')') return EndCapture(s, p + 1);
    if (c == '$' && p + 1 == pattern_.size()) return s == subject_.size() ? s : kNoMatch;
    if (c == kEscape && p + 1 < pattern_.size()) {
      const char next = pattern_[p + 1];
      if (next == 'b') {
        s = MatchBalance(s, p + 2);
        if (s == kNoMatch) return kNoMatch;
        p += 4;
        continue;
      }
      if (next == 'f') {
        p += 2;
        if (p >= pattern_.size() || pattern_[p] != '[')
          return Fail(Fault::kMalformed, "missing '[' after '%f' in pattern");
        const size_t set_end = ClassEnd(p);
        if (fault_ != Fault::kNone) return kNoMatch;
        const char before = s == 0 ? '\0' : subject_[s - 1];
        const char here = s < subject_.size() ? subject_[s] : '\0';
        if (InSet(before, p, set_end - 1) || !InSet(here, p, set_end - 1)) return kNoMatch;
        p = set_end;
        continue;
      }
      if (std::isdigit(static_cast<unsigned char>(next)) != 0) {
        s = MatchBack(s, next);
        if (s == kNoMatch) return kNoMatch;
        p += 2;
        continue;
      }
    }
    const size_t item_end = ClassEnd(p);
    if (fault_ != Fault::kNone) return kNoMatch;
    const char repeat = item_end < pattern_.size() ? pattern_[item_end] : '\0';
    const bool here = SingleMatch(s, p, item_end);
    if (repeat == '?') {
      if (here) {
        const size_t end = Match(s + 1, item_end + 1);
        if (end != kNoMatch || fault_ != Fault::kNone) return end;
      }
      p = item_end + 1;
      continue;
    }
    if (repeat == '*') return MaxExpand(s, p, item_end);
    if (repeat == '+') return here ? MaxExpand(s + 1, p, item_end) : kNoMatch;
    if (repeat == '-') return MinExpand(s, p, item_end);
    if (!here) return kNoMatch;
    ++s;
    p = item_end;
  }
}

size_t LuaPattern::StartCapture(size_t s, size_t p, bool position) {
  if (level_ >= kMaxCaptures) return Fail(Fault::kMalformed, "too many captures");
  captures_[level_] = {s, 0, position};
  open_[level_] = !position;
  ++level_;
  const size_t end = Match(s, p);
  if (end == kNoMatch) --level_;
  return end;
}

size_t LuaPattern::EndCapture(size_t s, size_t p) {
  size_t level = level_;
  while (level > 0 && !open_[level - 1]) --level;
  if (level == 0) return Fail(Fault::kMalformed, "invalid pattern capture");
  --level;
  captures_[level].size = s - captures_[level].start;
  open_[level] = false;
  const size_t end = Match(s, p);
  if (end == kNoMatch) open_[level] = true;
  return end;
}

size_t LuaPattern::MatchBalance(size_t s, size_t p) {
  if (p + 1 >= pattern_.size()) return Fail(Fault::kMalformed, "unbalanced pattern");
  if (s >= subject_.size() || subject_[s] != pattern_[p]) return kNoMatch;
  const char open = pattern_[p];
  const char close = pattern_[p + 1];
  size_t depth = 1;
  for (size_t i = s + 1; i < subject_.size(); ++i) {
    if (!Step()) return kNoMatch;
    if (subject_[i] == close) {
      if (--depth == 0) return i + 1;
    } else if (subject_[i] == open) {
      ++depth;
    }
  }
  return kNoMatch;
}

size_t LuaPattern::MatchBack(size_t s, char digit) {
  const auto index = static_cast<size_t>(digit - '1');
  if (digit == '0' || index >= level_ || open_[index]) return Fail(Fault::kMalformed, "invalid capture index");
  const std::string_view captured = subject_.substr(captures_[index].start, captures_[index].size);
  if (*steps_ < captured.size()) return Fail(Fault::kSteps);
  *steps_ -= captured.size();
  return subject_.substr(s).starts_with(captured) ? s + captured.size() : kNoMatch;
}

size_t LuaPattern::MaxExpand(size_t s, size_t p, size_t item_end) {
  size_t count = 0;
  while (SingleMatch(s + count, p, item_end)) {
    if (!Step()) return kNoMatch;
    ++count;
  }
  while (true) {
    const size_t end = Match(s + count, item_end + 1);
    if (end != kNoMatch || fault_ != Fault::kNone) return end;
    if (count-- == 0) return kNoMatch;
  }
}

size_t LuaPattern::MinExpand(size_t s, size_t p, size_t item_end) {
  while (true) {
    const size_t end = Match(s, item_end + 1);
    if (end != kNoMatch || fault_ != Fault::kNone) return end;
    if (!SingleMatch(s, p, item_end) || !Step()) return kNoMatch;
    ++s;
  }
}

// After the single item that begins at p.
size_t LuaPattern::ClassEnd(size_t p) {
  const char c = pattern_[p++];
  if (c == kEscape) {
    if (p >= pattern_.size()) {
      Fail(Fault::kMalformed, "malformed pattern (ends with '%')");
      return p;
    }
    return p + 1;
  }
  if (c != '[') return p;
  if (p < pattern_.size() && pattern_[p] == '^') ++p;
  do {  // a ']' that comes first is a character like others
    if (p >= pattern_.size()) {
      Fail(Fault::kMalformed, "malformed pattern (missing ']')");
      return p;
    }
    const bool escaped = pattern_[p] == kEscape;
    ++p;
    if (escaped && p < pattern_.size()) ++p;
  } while (p >= pattern_.size() || pattern_[p] != ']');
  return p + 1;
}

bool LuaPattern::SingleMatch(size_t s, size_t p, size_t item_end) const {
  if (s >= subject_.size()) return false;
  const char c = subject_[s];
  switch (pattern_[p]) {
    case '.':
      return true;
    case kEscape:
      return IsLetterClass(static_cast<unsigned char>(c), pattern_[p + 1]);
    case '[':
      return InSet(c, p, item_end - 1);
    default:
      return pattern_[p] == c;
  }
}

// `p` is at '[', `set_end` at its ']'.
bool LuaPattern::InSet(char c, size_t p, size_t set_end) const {
  bool positive = true;
  const auto byte = static_cast<unsigned char>(c);
  ++p;
  if (p < set_end && pattern_[p] == '^') {
    positive = false;
    ++p;
  }
  for (; p < set_end; ++p) {
    if (pattern_[p] == kEscape && p + 1 < set_end) {
      ++p;
      if (IsLetterClass(byte, pattern_[p])) return positive;
    } else if (p + 2 < set_end && pattern_[p + 1] == '-') {
      if (static_cast<unsigned char>(pattern_[p]) <= byte && byte <= static_cast<unsigned char>(pattern_[p + 2]))
        return positive;
      p += 2;
    } else if (pattern_[p] == c) {
      return positive;
    }
  }
  return !positive;
}

}  // namespace baton::interpret
