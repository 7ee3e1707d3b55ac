// Alignment in three rounds: equal ends, longest common subsequence of equal items, and inside each remaining gap the
// longest common subsequence of items with the same identity; what is left is paired by position.
#include "json/diff_align.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "json/diff.h"

namespace baton::json {
namespace {

// Members that name an item of a list in Kubernetes and in most other configuration, the more telling ones first.
constexpr std::array<std::string_view, 10> kIdentityMembers = {"name",          "key",       "id",   "uid", "type",
                                                               "containerPort", "mountPath", "port", "ip",  "path"};

// Items that are "the same" in one round have the same class; kNoClass is never the same as anything.
using Class = uint32_t;
constexpr Class kNoClass = 0;

struct Match {
  size_t from;
  size_t to;
};

// A part of both arrays.
struct Window {
  size_t from_begin, from_end, to_begin, to_end;
  size_t from_size() const { return from_end - from_begin; }
  size_t to_size() const { return to_end - to_begin; }
};

// What an item is called, or null.
Value Identity(const Value& item) {
  for (const std::string_view key : kIdentityMembers) {
    const Value& name = item[key];
    if (name.is_string() || name.is_number()) return Array({key, name});
  }
  return {};
}

// Equal values get equal classes, null values (only in identities) none.
std::vector<Class> Classify(std::span<const Value> values, bool null_is_a_value) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Value::Compare(values[a], values[b]) < 0; });
  std::vector<Class> classes(values.size(), kNoClass);
  Class last = kNoClass;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || Value::Compare(values[order[i - 1]], values[order[i]]) != 0) ++last;
    if (null_is_a_value || !values[order[i]].is_null()) classes[order[i]] = last;
  }
  return classes;
}

// The longest common subsequence, by the textbook table; the caller has bounded its size, and with it the length.
static_assert(kMaxAlignedPairs < size_t{UINT16_MAX} * UINT16_MAX);
std::vector<Match> CommonSubsequence(std::span<const Class> from, std::span<const Class> to) {
  const size_t width = to.size() + 1;
  std::vector<uint16_t> length((from.size() + 1) * width, 0);  // of the best from [i, j) to both ends
  const auto same = [&](size_t i, size_t j) { return from[i] != kNoClass && from[i] == to[j]; };
  for (size_t i = from.size(); i-- > 0;) {
    for (size_t j = to.size(); j-- > 0;) {
      length[i * width + j] = same(i, j) ? static_cast<uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                         : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  std::vector<Match> matches;
  for (size_t i = 0, j = 0; i < from.size() && j < to.size();) {
    if (same(i, j)) {
      matches.push_back({i++, j++});
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return matches;
}

class Aligner {
 public:
  Aligner(std::span<const Value> from, std::span<const Value> to, size_t* pairs_left)
      : from_(from), to_(to), pairs_left_(pairs_left) {}

  std::vector<AlignStep> Run() {
    size_t head = 0;
    while (head < std::min(from_.size(), to_.size()) && from_[head] == to_[head]) ++head;
    size_t tail = 0;
    while (tail < std::min(from_.size(), to_.size()) - head &&
           from_[from_.size() - 1 - tail] == to_[to_.size() - 1 - tail]) {
      ++tail;
    }
    steps_.reserve(from_.size() + to_.size() - head - tail);
    for (size_t i = 0; i < head; ++i) Pair(i, i);
    Align({head, from_.size() - tail, head, to_.size() - tail}, Round::kEqualItems);
    for (size_t i = tail; i > 0; --i) Pair(from_.size() - i, to_.size() - i);
    return std::move(steps_);
  }

 private:
  enum class Round { kEqualItems, kSameIdentity, kPosition };

  void Pair(size_t from, size_t to) { steps_.push_back({AlignStep::What::kPair, from, to}); }

  void Align(const Window& window, Round round) {
    if (round == Round::kPosition || !Afford(window)) return ByPosition(window);
    const std::vector<Class> classes = ClassesOf(window, round);
    const std::span<const Class> all(classes);
    const auto next = round == Round::kEqualItems ? Round::kSameIdentity : Round::kPosition;
    Window gap = window;
    for (const Match& match : CommonSubsequence(all.first(window.from_size()), all.subspan(window.from_size()))) {
      gap.from_end = window.from_begin + match.from;
      gap.to_end = window.to_begin + match.to;
      Align(gap, next);
      Pair(gap.from_end, gap.to_end);
      gap.from_begin = gap.from_end + 1;
      gap.to_begin = gap.to_end + 1;
    }
    gap.from_end = window.from_end;
    gap.to_end = window.to_end;
    Align(gap, next);
  }

  bool Afford(const Window& window) {
    const size_t rows = window.from_size() + 1;
    const size_t columns = window.to_size() + 1;
    if (rows == 1 || columns == 1 || rows > *pairs_left_ / columns) return false;
    *pairs_left_ -= rows * columns;
    return true;
  }

  // Of the items of both parts, one after the other.
  std::vector<Class> ClassesOf(const Window& window, Round round) const {
    std::vector<Value> values;
    values.reserve(window.from_size() + window.to_size());
    for (size_t i = window.from_begin; i < window.from_end; ++i) values.push_back(from_[i]);
    for (size_t i = window.to_begin; i < window.to_end; ++i) values.push_back(to_[i]);
    if (round == Round::kSameIdentity) {
      for (Value& value : values) value = Identity(value);
    }
    return Classify(values, round == Round::kEqualItems);
  }

  void ByPosition(const Window& window) {
    size_t from = window.from_begin;
    size_t to = window.to_begin;
    while (from < window.from_end && to < window.to_end) Pair(from++, to++);
    while (from < window.from_end) steps_.push_back({AlignStep::What::kRemove, from++, to});
    while (to < window.to_end) steps_.push_back({AlignStep::What::kAdd, from, to++});
  }

  std::span<const Value> from_;
  std::span<const Value> to_;
  size_t* pairs_left_;
  std::vector<AlignStep> steps_;
};

}  // namespace

std::vector<AlignStep> AlignArrays(std::span<const Value> from, std::span<const Value> to, size_t* pairs_left) {
  return Aligner(from, to, pairs_left).Run();
}

}  // namespace baton::json
