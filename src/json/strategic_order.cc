// Ordering merged lists. Ranks are looked up once, so the cost is that of sorting.
#include "json/strategic_order.h"

#include <algorithm>

#include "base/strings.h"
#include "json/strategic_errors.h"

namespace baton::json::strategic {
namespace {

// An item with the place of its key in the list that decides its order, and in the live list.
struct Ranked {
  const Value* item;
  int64_t order;
  int64_t live;
};

// Kubernetes' comparison: an item that has no place in the order is less than everything, and everything than it. That
// is no order (it happens with an empty $setElementOrder list), so the result depends on the algorithm; ours goes the
// same steps as Go's sort.SliceStable: insertion sort of blocks, then merging in place (SymMerge).
bool Less(const Ranked& a, const Ranked& b) {
  return a.order == Positions::kNone || b.order == Positions::kNone || a.order < b.order;
}

class GoStableSort {
 public:
  explicit GoStableSort(std::span<Ranked> items) : items_(items) {}

  void Run() {
    for (size_t begin = 0; begin < items_.size(); begin += kBlock) {
      InsertionSort(begin, std::min(begin + kBlock, items_.size()));
    }
    for (size_t size = kBlock; size < items_.size(); size *= 2) {
      for (size_t begin = 0; begin + size < items_.size(); begin += 2 * size) {
        Merge(begin, begin + size, std::min(begin + 2 * size, items_.size()));
      }
    }
  }

 private:
  static constexpr size_t kBlock = 20;

  bool LessAt(size_t a, size_t b) const { return Less(items_[a], items_[b]); }

  void InsertionSort(size_t begin, size_t end) {
    for (size_t i = begin + 1; i < end; ++i) {
      for (size_t j = i; j > begin && LessAt(j, j - 1); --j) std::swap(items_[j], items_[j - 1]);
    }
  }

  void Rotate(size_t begin, size_t middle, size_t end) {
    const auto at = [&](size_t i) { return items_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::rotate(at(begin), at(middle), at(end));
  }

  // Merges the sorted [a, m) and [m, b). The recursion halves the range.
  void Merge(size_t a, size_t m, size_t b) {
    if (m - a == 1) {
      size_t low = m;
      for (size_t high = b; low < high;) {
        const size_t half = (low + high) / 2;
        if (LessAt(half, a))
          low = half + 1;
        else
          high = half;
      }
      return Rotate(a, a + 1, low);
    }
    if (b - m == 1) {
      size_t low = a;
      for (size_t high = m; low < high;) {
        const size_t half = (low + high) / 2;
        if (!LessAt(m, half))
          low = half + 1;
        else
          high = half;
      }
      return Rotate(low, m, m + 1);
    }
    const size_t middle = (a + b) / 2;
    const size_t n = middle + m;
    size_t start = m > middle ? n - b : a;
    size_t r = m > middle ? middle : m;
    while (start < r) {
      const size_t c = (start + r) / 2;
      if (!LessAt(n - 1 - c, c))
        start = c + 1;
      else
        r = c;
    }
    const size_t end = n - start;
    if (start < m && m < end) Rotate(start, m, end);
    if (a < start && start < middle) Merge(a, start, middle);
    if (middle < end && end < b) Merge(middle, end, b);
  }

  std::span<Ranked> items_;
};

}  // namespace

const Value& KeyOf(const Value& item, std::string_view merge_key) { return merge_key.empty() ? item : item[merge_key]; }

Positions::Positions(std::span<const Value> list, std::string_view merge_key) {
  for (size_t i = 0; i < list.size(); ++i) Add(KeyOf(list[i], merge_key), static_cast<int64_t>(i));
}

int64_t Positions::Find(const Value& key) const {
  const auto at = positions_.find(key);
  return at != positions_.end() ? at->second : kNone;
}

Result<void> CheckMergeKeys(std::span<const Value> list, std::string_view merge_key) {
  if (merge_key.empty()) return {};
  for (const Value& item : list) {
    if (!item.is_object()) return ExpectedMap(item);
    if (!item.Has(merge_key)) return NoMergeKey(item, merge_key);
  }
  return {};
}

Result<std::vector<Value>> OrderItems(std::span<const Value> items, std::span<const Value> patch_order,
                                      std::span<const Value> live_order, std::string_view merge_key) {
  TRY(CheckMergeKeys(items, merge_key));
  for (size_t i = 0; i < patch_order.size() && !merge_key.empty() && !items.empty(); ++i) {
    if (!patch_order[i].is_object()) return DoesNotFit(StrCat("value for key ", i, " is not a map"));
  }
  TRY(CheckMergeKeys(patch_order, merge_key));
  TRY(CheckMergeKeys(live_order, merge_key));
  const Positions in_patch(patch_order, merge_key);
  const Positions in_live(live_order, merge_key);
  std::vector<Ranked> named;
  std::vector<Ranked> others;
  for (const Value& item : items) {
    const Value& key = KeyOf(item, merge_key);
    const int64_t patch = in_patch.Find(key);
    const int64_t live = in_live.Find(key);
    if (patch != Positions::kNone) {
      named.push_back({&item, patch, live});
    } else {
      others.push_back({&item, live, live});
    }
  }
  GoStableSort(named).Run();
  GoStableSort(others).Run();

  std::vector<Value> ordered;
  ordered.reserve(items.size());
  auto other = others.begin();
  for (const Ranked& next : named) {
    while (other != others.end() && other->live != Positions::kNone && next.live != Positions::kNone &&
           other->live < next.live) {
      ordered.push_back(*(other++)->item);
    }
    ordered.push_back(*next.item);
  }
  for (; other != others.end(); ++other) ordered.push_back(*other->item);
  return ordered;
}

}  // namespace baton::json::strategic
