// Types of places in objects: from a Schema to what structured-merge-diff would see.
#include "api/typed.h"

#include "base/strings.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kRawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension";

SchemaPtr Make(SchemaType type) {
  Schema schema;
  schema.type = type;
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr ListOf(SchemaPtr items, ListType list_type, std::vector<std::string> keys = {}) {
  Schema schema;
  schema.type = SchemaType::kArray;
  schema.items = std::move(items);
  schema.list_type = list_type;
  schema.list_map_keys = std::move(keys);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr MapOf(SchemaPtr values) {
  Schema schema;
  schema.type = SchemaType::kObject;
  schema.additional_properties = std::move(values);
  return std::make_shared<const Schema>(std::move(schema));
}

const Schema& StringSchema() {
  static const SchemaPtr* const schema = new SchemaPtr(Make(SchemaType::kString));
  return **schema;
}

// metadata where a schema does not describe it (CRDs never do): the parts of ObjectMeta that ownership depends on.
const Schema& ObjectMetaSchema() {
  static const Schema* const schema = [] {
    const SchemaPtr text = Make(SchemaType::kString);
    const SchemaPtr number = Make(SchemaType::kInteger);
    Schema time;
    time.type = SchemaType::kString;
    time.format = "date-time";
    const SchemaPtr time_ptr = std::make_shared<const Schema>(std::move(time));

    Schema owner;
    owner.type = SchemaType::kObject;
    owner.map_type = MapType::kAtomic;
    for (const char* name : {"apiVersion", "kind", "name", "uid"}) owner.properties[name] = text;
    for (const char* name : {"blockOwnerDeletion", "controller"}) owner.properties[name] = Make(SchemaType::kBoolean);

    auto* meta = new Schema();
    meta->type = SchemaType::kObject;
    for (const char* name : {"generateName", "name", "namespace", "resourceVersion", "selfLink", "uid"}) {
      meta->properties[name] = text;
    }
    for (const char* name : {"deletionGracePeriodSeconds", "generation"}) meta->properties[name] = number;
    for (const char* name : {"creationTimestamp", "deletionTimestamp"}) meta->properties[name] = time_ptr;
    for (const char* name : {"annotations", "labels"}) meta->properties[name] = MapOf(text);
    meta->properties["finalizers"] = ListOf(text, ListType::kSet);
    meta->properties["ownerReferences"] =
        ListOf(std::make_shared<const Schema>(std::move(owner)), ListType::kMap, {"uid"});
    meta->properties["managedFields"] = ListOf(Make(SchemaType::kAny), ListType::kAtomic);
    return meta;
  }();
  return *schema;
}

// A child's type. A named type starts afresh; an inline one keeps what is around it.
TypeRef Child(const Schema* schema, bool around_preserves) {
  if (schema == nullptr) return {};
  const bool inherited = schema->name.empty() && around_preserves;
  return {.kind = TypeRef::Kind::kSchema, .schema = schema, .preserve = inherited || schema->preserve_unknown_fields};
}

TypeRef Deduced() { return {.kind = TypeRef::Kind::kDeduced}; }
TypeRef Untyped() { return {.kind = TypeRef::Kind::kUntyped}; }

Shape::Scalar ScalarOf(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kString:
      return schema.format.empty() || schema.format == "byte" ? Shape::Scalar::kString : Shape::Scalar::kUntyped;
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return Shape::Scalar::kNumeric;
    case SchemaType::kBoolean:
      return Shape::Scalar::kBoolean;
    case SchemaType::kAny:
    case SchemaType::kIntOrString:
      return Shape::Scalar::kUntyped;
    case SchemaType::kObject:
    case SchemaType::kArray:
      return Shape::Scalar::kNone;
  }
  return Shape::Scalar::kNone;
}

void SetList(const TypeRef& type, Shape& shape) {
  const Schema& schema = *type.schema;
  shape.item = schema.items != nullptr ? Child(schema.items.get(), type.preserve) : Untyped();
  shape.list = Shape::List::kAtomic;
  if (schema.list_type == ListType::kSet) shape.list = Shape::List::kSet;
  if (schema.list_type == ListType::kMap) {
    shape.list = Shape::List::kKeyed;
    shape.keys = schema.list_map_keys;
  } else if (schema.list_type == ListType::kAtomic && schema.patch_merge) {
    // Built-in lists that have a patch strategy and no list type merge by that.
    shape.list = schema.patch_merge_key.empty() ? Shape::List::kSet : Shape::List::kKeyed;
    if (!schema.patch_merge_key.empty()) shape.keys = {&schema.patch_merge_key, 1};
  }
  if (shape.list == Shape::List::kKeyed && shape.keys.empty()) shape.list = Shape::List::kSet;
}

void SetMap(const TypeRef& type, Shape& shape) {
  const Schema& schema = *type.schema;
  shape.map = schema.map_type == MapType::kAtomic ? Shape::Map::kAtomic : Shape::Map::kGranular;
  if (schema.additional_properties != nullptr) {
    shape.additional = Child(schema.additional_properties.get(), type.preserve);
  } else if (type.preserve || schema.properties.empty()) {
    shape.additional = Deduced();
  }
}

}  // namespace

TypeRef TypeRef::Root(const Schema& schema) {
  if (schema.type == SchemaType::kAny) return Deduced();
  return {.kind = Kind::kSchema, .schema = &schema, .preserve = schema.preserve_unknown_fields, .root = true};
}

Shape ShapeOf(const TypeRef& type) {
  Shape shape;
  shape.self = type;
  if (type.kind == TypeRef::Kind::kNone) return shape;
  const bool raw = type.kind == TypeRef::Kind::kSchema && type.schema->name == kRawExtension;
  if (type.kind != TypeRef::Kind::kSchema || raw) {
    const bool deduced = type.kind == TypeRef::Kind::kDeduced;
    shape.scalar = Shape::Scalar::kUntyped;
    shape.list = Shape::List::kAtomic;
    shape.map = deduced ? Shape::Map::kGranular : Shape::Map::kAtomic;
    shape.item = Untyped();
    shape.additional = deduced ? Deduced() : Untyped();
    return shape;
  }
  shape.scalar = ScalarOf(*type.schema);
  const SchemaType kind = type.schema->type;
  if (kind == SchemaType::kArray || kind == SchemaType::kAny) SetList(type, shape);
  if (kind == SchemaType::kObject || kind == SchemaType::kAny) SetMap(type, shape);
  return shape;
}

Shape ShapeFor(const TypeRef& type, const Value* value) {
  Shape shape = ShapeOf(type);
  if (value == nullptr || value->is_null()) return shape;
  const bool list = value->is_array() && shape.list != Shape::List::kNone;
  const bool map = value->is_object() && shape.map != Shape::Map::kNone;
  const bool scalar = !value->is_array() && !value->is_object() && shape.scalar != Shape::Scalar::kNone;
  if (!list && !map && !scalar) return shape;
  if (!list) shape.list = Shape::List::kNone;
  if (!map) shape.map = Shape::Map::kNone;
  if (!scalar) shape.scalar = Shape::Scalar::kNone;
  return shape;
}

std::pair<TypeRef, bool> Shape::Field(std::string_view key) const {
  if (self.kind != TypeRef::Kind::kSchema) return {additional, false};
  const Schema& schema = *self.schema;
  const auto at = schema.properties.find(key);
  const Schema* named = at != schema.properties.end() ? at->second.get() : nullptr;
  if ((self.root || schema.embedded_resource) && schema.type == SchemaType::kObject) {
    if (key == "metadata" && (named == nullptr || named->properties.empty())) named = &ObjectMetaSchema();
    if (named == nullptr && (key == "apiVersion" || key == "kind")) named = &StringSchema();
  }
  if (named != nullptr) return {Child(named, self.preserve), true};
  return {additional, false};
}

Result<PathElement> ItemElement(const Shape& list, const Value& item) {
  if (list.list == Shape::List::kSet) {
    if (item.is_object()) return InvalidError("associative list without keys has an element that's a map type");
    if (item.is_array()) return InvalidError("not supported: associative list with lists as elements");
    if (item.is_null()) return InvalidError("associative list without keys has an element that's an explicit null");
    return PathElement::OfValue(item);
  }
  if (item.is_null()) return InvalidError("associative list with keys may not have a null element");
  if (!item.is_object()) return InvalidError("associative list with keys may not have non-map elements");
  Value key = json::Object();
  for (const std::string& name : list.keys) {
    const Value* given = item.Find(name);
    if (given == nullptr) {
      const auto [type, named] = ShapeOf(list.item).Field(name);
      if (named && type.kind == TypeRef::Kind::kSchema && type.schema->default_value.has_value()) {
        given = &*type.schema->default_value;
      }
    }
    if (given == nullptr || (given->is_null() && !item.Has(name))) {
      return InvalidError(StrCat("associative list with keys has an element that omits key field ", Quote(name),
                                 " (and doesn't have default value)"));
    }
    key.Set(name, *given);
  }
  return PathElement::Key(std::move(key));
}

}  // namespace baton::api
