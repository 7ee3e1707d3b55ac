// TypedMerge(): a configuration laid over an object.
#include <map>
#include <optional>
#include <set>

#include "api/typed.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using json::Value;

// Nothing: the place is not there afterwards.
using Merged = std::optional<Value>;

Merged MergeAt(const Value* left, const Value* right, const TypeRef& type);

Merged TakeRight(const Value* left, const Value* right) {
  if (right != nullptr) return *right;
  return left != nullptr ? Merged(*left) : std::nullopt;
}

Merged MergeMap(const Value* left, const Value* right, const Shape& shape) {
  const bool left_empty = left == nullptr || left->members().empty();
  const bool right_empty = right == nullptr || right->members().empty();
  if (shape.map == Shape::Map::kAtomic || (left_empty && right_empty)) return TakeRight(left, right);
  const auto x = left_empty ? std::span<const json::Member>() : left->members();
  const auto y = right_empty ? std::span<const json::Member>() : right->members();
  json::ObjectBuilder out;
  const auto add = [&](const json::Member& key, const Value* l, const Value* r) {
    if (Merged merged = MergeAt(l, r, shape.Field(key.key()).first)) out.Add(key.shared_key(), *std::move(merged));
  };
  size_t i = 0;
  size_t j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].key() < y[j].key())) {
      add(x[i], &x[i].value(), nullptr);
      ++i;
    } else if (i == x.size() || y[j].key() < x[i].key()) {
      add(y[j], nullptr, &y[j].value());
      ++j;
    } else {
      add(x[i], &x[i].value(), &y[j].value());
      ++i;
      ++j;
    }
  }
  if (out.size() == 0) return std::nullopt;
  return std::move(out).Build();
}

// One side of a list, by element. Of an element that comes more than once (only live objects have them) the value is
// null here: duplicates are not merged into.
struct Indexed {
  std::vector<PathElement> elements;
  std::vector<const Value*> items;  // of each element
  std::map<PathElement, const Value*> by_element;

  Indexed(const Value* list, const Shape& shape) {
    if (list == nullptr) return;
    static const Value kNull;
    for (const Value& item : list->items()) {
      Result<PathElement> element = ItemElement(shape, item);
      if (!element.ok()) continue;
      const auto [at, fresh] = by_element.try_emplace(*element, &item);
      if (!fresh) at->second = &kNull;
      elements.push_back(*std::move(element));
      items.push_back(&item);
    }
  }
  bool Has(const PathElement& element) const { return by_element.contains(element); }
  const Value* Find(const PathElement& element) const {
    const auto at = by_element.find(element);
    return at == by_element.end() ? nullptr : at->second;
  }
};

// Items that both have come in the right side's order; items of one side stay near their neighbours there.
class ListMerger {
 public:
  ListMerger(const Value* left, const Value* right, const Shape& shape)
      : shape_(shape), left_(left, shape), right_(right, shape) {
    for (const PathElement& element : right_.elements) {
      if (left_.Has(element)) shared_.push_back(&element);
    }
  }

  Merged Merge() && {
    size_t l = 0;
    size_t r = 0;
    while (l < left_.elements.size() || r < right_.elements.size()) {
      if (l < left_.elements.size() && r < right_.elements.size()) {
        const PathElement& element = left_.elements[l];
        if (element == right_.elements[r]) {
          TakeBoth(element);
          ++l;
          ++r;
          ++next_shared_;
          continue;
        }
        if (right_.Has(element) && NextShared() != nullptr && *NextShared() != element) {
          ++l;  // both have it, but its turn comes later
          continue;
        }
      }
      if (l < left_.elements.size()) {
        const PathElement& element = left_.elements[l];
        if (!right_.Has(element)) {
          Add(MergeAt(left_.items[l], nullptr, shape_.item));
          ++l;
          continue;
        }
        if (done_.contains(element)) ++l;
      }
      if (r < right_.elements.size()) {
        const PathElement& element = right_.elements[r];
        TakeBoth(element);
        ++r;
        if (NextShared() != nullptr && *NextShared() == element) ++next_shared_;
      }
    }
    if (out_.size() == 0) return std::nullopt;
    return std::move(out_).Build();
  }

 private:
  const PathElement* NextShared() const { return next_shared_ < shared_.size() ? shared_[next_shared_] : nullptr; }
  void TakeBoth(const PathElement& element) {
    done_.insert(element);
    Add(MergeAt(left_.Find(element), right_.Find(element), shape_.item));
  }
  void Add(Merged item) {
    if (item) out_.Add(*std::move(item));
  }

  const Shape& shape_;
  Indexed left_;
  Indexed right_;
  std::vector<const PathElement*> shared_;
  size_t next_shared_ = 0;
  std::set<PathElement> done_;
  json::ArrayBuilder out_;
};

Merged MergeList(const Value* left, const Value* right, const Shape& shape) {
  const bool left_empty = left == nullptr || left->items().empty();
  const bool right_empty = right == nullptr || right->items().empty();
  if (shape.list == Shape::List::kAtomic || (left_empty && right_empty)) return TakeRight(left, right);
  return ListMerger(left, right, shape).Merge();
}

Merged MergeAt(const Value* left, const Value* right, const TypeRef& type) {
  if (left == nullptr && right == nullptr) return std::nullopt;
  const Shape shape = ShapeFor(type, right != nullptr ? right : left);
  if (shape.map != Shape::Map::kNone) return MergeMap(left, right, shape);
  if (shape.scalar != Shape::Scalar::kNone) return TakeRight(left, right);
  if (shape.list != Shape::List::kNone) return MergeList(left, right, shape);
  return std::nullopt;
}

}  // namespace

Value TypedMerge(const Value& base, const Value& config, const TypeRef& type) {
  return MergeAt(&base, &config, type).value_or(Value());
}

}  // namespace baton::api
