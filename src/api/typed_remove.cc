// Taking fields out of objects, and bringing sets in line with a schema.
#include "api/typed.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using json::Value;

Value RemoveAt(const Value& value, const FieldNodePtr& remove, const TypeRef& type);

Value RemoveFromList(const Value& value, const FieldNode& remove, const Shape& shape) {
  if (shape.list == Shape::List::kAtomic) return {};
  json::ArrayBuilder out;
  for (const Value& item : value.items()) {
    const Result<PathElement> element = ItemElement(shape, item);
    if (!element.ok()) continue;
    if (remove.HasMember(*element)) continue;
    const FieldNodePtr below = remove.Below(*element);
    out.Add(below != nullptr ? RemoveAt(item, below, shape.item) : item);
  }
  if (out.size() == 0) return {};
  return std::move(out).Build();
}

Value RemoveFromMap(const Value& value, const FieldNode& remove, const Shape& shape) {
  if (shape.map == Shape::Map::kAtomic) return {};
  json::ObjectBuilder out;
  for (const json::Member& field : value.members()) {
    const PathElement element = PathElement::Field(field.key());
    if (remove.HasMember(element)) continue;
    const FieldNodePtr below = remove.Below(element);
    out.Add(field.shared_key(),
            below != nullptr ? RemoveAt(field.value(), below, shape.Field(field.key()).first) : field.value());
  }
  if (out.size() == 0) return {};
  return std::move(out).Build();
}

Value RemoveAt(const Value& value, const FieldNodePtr& remove, const TypeRef& type) {
  const Shape shape = ShapeFor(type, &value);
  if (shape.map != Shape::Map::kNone) return RemoveFromMap(value, *remove, shape);
  if (shape.scalar != Shape::Scalar::kNone) return value;
  return RemoveFromList(value, *remove, shape);
}

// The type below an element of a set, by the element alone.
TypeRef TypeBelow(const Shape& shape, const PathElement& element) {
  if (element.kind == PathElement::Kind::kField && shape.map != Shape::Map::kNone)
    return shape.Field(element.field).first;
  if (element.kind == PathElement::Kind::kKey && shape.list != Shape::List::kNone) return shape.item;
  return {};
}

FieldNodePtr NamedFieldsAt(const FieldNodePtr& node, const TypeRef& type) {
  if (node == nullptr) return nullptr;
  const Shape shape = ShapeOf(type);
  NodeBuilder out;
  for (const PathElement& member : node->members) out.AddMember(member);
  for (const FieldNode::Child& child : node->children) {
    const PathElement& element = child.element;
    if (element.kind == PathElement::Kind::kField && shape.map != Shape::Map::kNone &&
        shape.Field(element.field).second) {
      out.AddMember(element);
    }
    out.AddChild(element, NamedFieldsAt(child.below, TypeBelow(shape, element)));
  }
  return std::move(out).Build();
}

// Whether a place of this shape is one atomic thing now, so that nothing below it can be owned.
bool BecameAtomic(const Shape& shape) {
  if (shape.map != Shape::Map::kNone) return shape.map == Shape::Map::kAtomic;
  return shape.scalar == Shape::Scalar::kNone && shape.list == Shape::List::kAtomic;
}

FieldNodePtr ReconcileAt(const FieldNodePtr& node, const Shape& shape) {
  const bool map = shape.map != Shape::Map::kNone;
  const bool deduced_map = map && shape.additional.kind == TypeRef::Kind::kDeduced &&
                           (shape.self.kind != TypeRef::Kind::kSchema || shape.self.schema->properties.empty()) &&
                           !shape.self.root;
  const bool list = !map && shape.scalar == Shape::Scalar::kNone && shape.list != Shape::List::kNone;
  if (node == nullptr || deduced_map || (!map && !list)) return node;
  std::vector<FieldNodePtr> belows;  // null: it became atomic
  belows.reserve(node->children.size());
  bool same = true;
  for (const FieldNode::Child& child : node->children) {
    TypeRef type = list ? shape.item : TypeRef{};
    if (map)
      type =
          child.element.kind == PathElement::Kind::kField ? shape.Field(child.element.field).first : shape.additional;
    const Shape below = ShapeOf(type);
    belows.push_back(BecameAtomic(below) ? nullptr : ReconcileAt(child.below, below));
    same = same && belows.back() == child.below;
  }
  if (same) return node;
  NodeBuilder out;
  for (const PathElement& member : node->members) out.AddMember(member);
  for (size_t i = 0; i < belows.size(); ++i) {
    const PathElement& element = node->children[i].element;
    if (belows[i] == nullptr) {
      out.AddMember(element);
    } else {
      out.AddChild(element, std::move(belows[i]));
    }
  }
  return std::move(out).Build();
}

}  // namespace

Value TypedRemove(const Value& object, const FieldSet& remove, const TypeRef& type) {
  return remove.empty() ? object : RemoveAt(object, remove.root(), type);
}

FieldSet WithNamedFields(const FieldSet& set, const TypeRef& type) { return FieldSet(NamedFieldsAt(set.root(), type)); }

FieldSet ReconcileWithSchema(const FieldSet& set, const TypeRef& type) {
  return FieldSet(ReconcileAt(set.root(), ShapeOf(type)));
}

}  // namespace baton::api
