// Key order of go-yaml v2, and a sort that no comparison can lead astray.
#include "json/yaml_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "json/yaml_utf8.h"

namespace baton::json {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

struct DigitRun {
  int64_t number;  // wraps around, as in Go
  size_t length;
};

DigitRun ReadDigits(std::string_view text, size_t at, uint64_t number) {
  size_t end = at;
  for (; end < text.size() && IsDigit(text[end]); ++end) number = number * 10 + static_cast<uint64_t>(text[end] - '0');
  return {static_cast<int64_t>(number), end - at};
}

// A zero inside a number counts when a digit other than zero stands before it.
bool IsInsideNumber(std::string_view text, size_t at) {
  for (; at > 0 && IsDigit(text[at - 1]); --at) {
    if (text[at - 1] != '0') return true;
  }
  return false;
}

}  // namespace

bool YamlKeyLess(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t at = 0;
  while (at < shorter && a[at] == b[at]) ++at;
  if (at == shorter) return a.size() < b.size();
  while (at > 0 && (IsUtf8Continuation(a[at]) || IsUtf8Continuation(b[at]))) --at;

  const bool a_is_letter = IsLetter(a[at]);
  const bool b_is_letter = IsLetter(b[at]);
  if (a_is_letter && b_is_letter) return a.substr(at) < b.substr(at);
  if (a_is_letter || b_is_letter) return b_is_letter;
  const uint64_t start = (a[at] == '0' || b[at] == '0') && IsInsideNumber(a, at) ? 1 : 0;
  const DigitRun x = ReadDigits(a, at, start);
  const DigitRun y = ReadDigits(b, at, start);
  if (x.number != y.number) return x.number < y.number;
  if (x.length != y.length) return x.length < y.length;
  return a[at] < b[at];
}

// A merge sort from the bottom up: every step is bounded by indices alone.
std::vector<const Member*> InYamlOrder(std::span<const Member> members) {
  std::vector<const Member*> order;
  order.reserve(members.size());
  for (const Member& member : members) order.push_back(&member);
  const auto less = [](const Member* x, const Member* y) { return YamlKeyLess(x->key(), y->key()); };
  const auto swapped = std::ranges::adjacent_find(order, [&](const Member* x, const Member* y) { return less(y, x); });
  if (swapped == order.end()) return order;

  std::vector<const Member*> merged(order.size());
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, order.size());
      const size_t end = std::min(begin + 2 * width, order.size());
      size_t left = begin;
      size_t right = middle;
      for (size_t i = begin; i < end; ++i) {
        const bool take_right = left == middle || (right < end && less(order[right], order[left]));
        merged[i] = take_right ? order[right++] : order[left++];
      }
    }
    std::swap(order, merged);
  }
  return order;
}

}  // namespace baton::json
