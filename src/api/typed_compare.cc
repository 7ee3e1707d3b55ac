// TypedCompare(): which fields one version of an object removes, changes and adds.
#include <array>
#include <map>

#include "api/typed.h"

namespace baton::api {
namespace {

using json::Value;

enum Change : uint8_t { kRemoved, kModified, kAdded, kChanges };

// What changed at one place: the place itself, and below it.
struct Delta {
  std::array<bool, kChanges> member{};
  std::array<FieldNodePtr, kChanges> below{};
};

class DeltaBuilder {
 public:
  void Add(const PathElement& element, Delta delta) {
    for (size_t i = 0; i < kChanges; ++i) {
      if (delta.member[i]) levels_[i].AddMember(element);
      if (delta.below[i] != nullptr) levels_[i].AddChild(element, std::move(delta.below[i]));
    }
  }
  void Mark(const PathElement& element, Change change) { levels_[change].AddMember(element); }
  Delta Build() && {
    Delta delta;
    for (size_t i = 0; i < kChanges; ++i) delta.below[i] = std::move(levels_[i]).Build();
    return delta;
  }

 private:
  std::array<NodeBuilder, kChanges> levels_;
};

Delta CompareAt(const Value* left, const Value* right, const TypeRef& type);

// Most of two versions of an object is the same storage.
bool IsSameStorage(const Value* left, const Value* right) {
  return left != nullptr && right != nullptr && left->SharesStorageWith(*right);
}

Delta CompareLeaf(const Value* left, const Value* right) {
  Delta delta;
  if (left == nullptr) {
    delta.member[kAdded] = true;
  } else if (right == nullptr) {
    delta.member[kRemoved] = true;
  } else if (!SameFieldValue(*left, *right)) {
    delta.member[kModified] = true;
  }
  return delta;
}

Delta CompareMap(const Value* left, const Value* right, const Shape& shape) {
  const auto x = left == nullptr ? std::span<const json::Member>() : left->members();
  const auto y = right == nullptr ? std::span<const json::Member>() : right->members();
  if (shape.map == Shape::Map::kAtomic || (x.empty() && y.empty())) return CompareLeaf(left, right);
  DeltaBuilder out;
  size_t i = 0;
  size_t j = 0;
  while (i < x.size() || j < y.size()) {
    // Keys are shared, so most that are the same are so at one look.
    const bool same_key = i < x.size() && j < y.size() && x[i].shared_key() == y[j].shared_key();
    const bool take_left = same_key || j == y.size() || (i < x.size() && x[i].key() < y[j].key());
    const bool take_right = same_key || !take_left;
    const Value* of_left = take_left ? &x[i].value() : nullptr;
    const Value* of_right = take_right ? &y[j].value() : nullptr;
    const std::string_view key = take_left ? x[i].key() : y[j].key();
    if (take_left) ++i;
    if (take_right) ++j;
    if (IsSameStorage(of_left, of_right)) continue;
    out.Add(PathElement::Field(key), CompareAt(of_left, of_right, shape.Field(key).first));
  }
  return std::move(out).Build();
}

struct Sides {
  std::vector<const Value*> left;
  std::vector<const Value*> right;
};

bool SameItems(const std::vector<const Value*>& a, const std::vector<const Value*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value* x, const Value* y) { return SameFieldValue(*x, *y); });
}

void CompareItem(const PathElement& element, const Sides& sides, const TypeRef& item, DeltaBuilder& out) {
  const Value* left = sides.left.empty() ? nullptr : sides.left[0];
  const Value* right = sides.right.empty() ? nullptr : sides.right[0];
  const bool many_left = sides.left.size() > 1;
  const bool many_right = sides.right.size() > 1;
  if (!many_left && !many_right) {
    out.Add(element, CompareAt(left, right, item));
  } else if (many_left && many_right) {
    // Duplicates are one thing: they changed together or not at all.
    if (!SameItems(sides.left, sides.right)) out.Mark(element, kModified);
  } else if (many_left) {
    if (right != nullptr) out.Add(element, CompareAt(nullptr, right, item));
    out.Mark(element, kRemoved);
  } else {
    if (left != nullptr) out.Add(element, CompareAt(left, nullptr, item));
    out.Mark(element, kAdded);
  }
}

Delta CompareList(const Value* left, const Value* right, const Shape& shape) {
  const auto x = left == nullptr ? std::span<const Value>() : left->items();
  const auto y = right == nullptr ? std::span<const Value>() : right->items();
  if (shape.list == Shape::List::kAtomic || (x.empty() && y.empty())) return CompareLeaf(left, right);
  std::map<PathElement, Sides> all;
  for (const Value& item : x) {
    if (Result<PathElement> element = ItemElement(shape, item); element.ok()) all[*element].left.push_back(&item);
  }
  for (const Value& item : y) {
    if (Result<PathElement> element = ItemElement(shape, item); element.ok()) all[*element].right.push_back(&item);
  }
  DeltaBuilder out;
  for (const auto& [element, sides] : all) CompareItem(element, sides, shape.item, out);
  return std::move(out).Build();
}

Delta CompareAs(const Value* left, const Value* right, const Shape& shape) {
  if (shape.map != Shape::Map::kNone) return CompareMap(left, right, shape);
  if (shape.scalar != Shape::Scalar::kNone) return CompareLeaf(left, right);
  if (shape.list != Shape::List::kNone) return CompareList(left, right, shape);
  return {};
}

Delta CompareAt(const Value* left, const Value* right, const TypeRef& type) {
  if (IsSameStorage(left, right)) return {};
  const Shape left_shape = ShapeFor(type, left);
  const Shape right_shape = ShapeFor(type, right);
  if (right == nullptr || left == nullptr) {
    Delta delta = CompareAs(left, right, right == nullptr ? left_shape : right_shape);
    delta.member[right == nullptr ? kRemoved : kAdded] = true;
    return delta;
  }
  Delta delta = CompareAs(left, right, right_shape);
  if (left_shape.SameKindsAs(right_shape)) return delta;
  // It changed from one kind of value to another: what was below is gone, too.
  const Delta other = CompareAs(left, right, left_shape);
  for (size_t i = 0; i < kChanges; ++i) {
    delta.member[i] = delta.member[i] || other.member[i];
    delta.below[i] = NodeUnion(delta.below[i], other.below[i]);
  }
  return delta;
}

}  // namespace

Comparison TypedCompare(const Value& before, const Value& after, const TypeRef& type) {
  Delta delta = CompareAt(&before, &after, type);
  return {.removed = FieldSet(std::move(delta.below[kRemoved])),
          .modified = FieldSet(std::move(delta.below[kModified])),
          .added = FieldSet(std::move(delta.below[kAdded]))};
}

}  // namespace baton::api
