// The fields that an object sets: TypedFields() and FieldsOf().
#include <map>

#include "api/typed.h"

namespace baton::api {
namespace {

using json::Value;

struct Owned {
  bool member = false;  // the place itself
  FieldNodePtr below;
};

Owned FieldsAt(const Value& value, const TypeRef& type);

Owned FieldsOfMap(const Value& value, const Shape& shape) {
  if (shape.map == Shape::Map::kAtomic) return {.member = true, .below = nullptr};
  NodeBuilder builder;
  for (const json::Member& field : value.members()) {
    const auto [type, named] = shape.Field(field.key());
    Owned owned = FieldsAt(field.value(), type);
    const bool hollow = field.value().is_null() || (field.value().is_object() && field.value().empty());
    // What the schema does not name exists only because somebody set it, so the field itself is owned too.
    if (owned.member || hollow || !named) builder.AddMember(PathElement::Field(field.key()));
    builder.AddChild(PathElement::Field(field.key()), std::move(owned.below));
  }
  return {.member = false, .below = std::move(builder).Build()};
}

Owned FieldsOfList(const Value& value, const Shape& shape) {
  if (shape.list == Shape::List::kAtomic) return {.member = true, .below = nullptr};
  std::map<PathElement, size_t> counts;
  std::vector<PathElement> elements;
  for (const Value& item : value.items()) {
    Result<PathElement> element = ItemElement(shape, item);
    if (!element.ok()) return {};
    ++counts[*element];
    elements.push_back(*std::move(element));
  }
  NodeBuilder builder;
  for (size_t i = 0; i < elements.size(); ++i) {
    builder.AddMember(elements[i]);
    if (counts[elements[i]] > 1) continue;  // of duplicates nobody can own a part
    builder.AddChild(elements[i], FieldsAt(value[i], shape.item).below);
  }
  return {.member = false, .below = std::move(builder).Build()};
}

Owned FieldsAt(const Value& value, const TypeRef& type) {
  const Shape shape = ShapeFor(type, &value);
  if (shape.map != Shape::Map::kNone) return FieldsOfMap(value, shape);
  if (shape.scalar != Shape::Scalar::kNone) return {.member = true, .below = nullptr};
  if (shape.list != Shape::List::kNone) return FieldsOfList(value, shape);
  return {};
}

}  // namespace

FieldSet TypedFields(const Value& object, const TypeRef& type) { return FieldSet(FieldsAt(object, type).below); }

Result<FieldSet> FieldsOf(const Value& object, const Schema& schema) {
  const TypeRef type = TypeRef::Root(schema);
  TRY(CheckTyped(object, type, true));
  return TypedFields(object, type);
}

}  // namespace baton::api
