// What happens to objects on their way into the store.
#include "apiserver/strategy.h"

#include <utility>
#include <vector>

#include "apiserver/errors.h"
#include "apiserver/metadata.h"

namespace baton::apiserver {

namespace {

using json::Value;

Value WithoutTimes(Value object) {
  Value& fields = object.Edit("metadata").Edit("managedFields");
  for (size_t i = 0; i < fields.size(); ++i) fields.Edit(i).Erase("time");
  return object;
}

// Structs that are always there have the default {}, lists are required.
Value ZeroOf(const api::Schema& schema, size_t depth) {
  Value zero = json::Object();
  if (depth == 0) return zero;
  for (const auto& [name, property] : schema.properties) {
    const bool always =
        property->default_value && property->default_value->is_object() && property->default_value->empty();
    if (always) zero.Set(name, ZeroOf(*property, depth - 1));
  }
  for (const std::string& name : schema.required) {  // lists that JSON always has, as null
    const api::Schema* property = schema.Property(name);
    if (property != nullptr && property->type == api::SchemaType::kArray) zero.Set(name, nullptr);
  }
  return zero;
}

}  // namespace

Value ZeroObject(const ResourceType& type) {
  constexpr size_t kDepthMax = 32;  // a type that contains itself has no struct of its own that is always there
  Value zero = type.schema == nullptr || type.custom ? json::Object() : ZeroOf(*type.schema, kDepthMax);
  zero.Set("apiVersion", type.ApiVersion());
  zero.Set("kind", type.kind);
  zero.Set("metadata", json::Object());
  return zero;
}

void PrepareForCreate(const ResourceType& type, Value& object, rt::Random& random, WallTime now) {
  InitializeMetadata(object, type, random, now);
  if (type.has_status && type.custom) object.Erase("status");
  if (type.prepare != nullptr) type.prepare(object, nullptr);
}

void PrepareForUpdate(const ResourceType& type, std::string_view subresource, Value& object, const Value& live) {
  if (subresource == "status") {
    Value next = live;
    next.Set("apiVersion", object["apiVersion"]);
    if (const Value* status = object.Find("status")) {
      next.Set("status", *status);
    } else {
      next.Erase("status");
    }
    if (const Value* managed = object["metadata"].Find("managedFields")) {
      next.Edit("metadata").Set("managedFields", *managed);
    }
    object = std::move(next);
    return;
  }
  if (subresource == "finalize") {  // of a namespace, whose finalizers nothing else changes
    KeepServerMetadata(object, live);
    if (const Value* status = live.Find("status")) object.Set("status", *status);
    return;
  }
  KeepServerMetadata(object, live);
  if (type.has_status) {
    if (const Value* status = live.Find("status")) {
      object.Set("status", *status);
    } else {
      object.Erase("status");
    }
  }
  if (type.prepare != nullptr) type.prepare(object, &live);
  CountGeneration(object, live, type);
}

Result<void> ValidateObject(const ResourceType& type, const Value& object, const Value* live, const Value* settled) {
  std::vector<api::FieldError> errors = ValidateMetadata(object, live, type, settled);
  if (type.custom && type.schema != nullptr) {
    // What was wrong before and is not touched may stay.
    std::vector<api::FieldError> more = api::Validate(object, *type.schema, {}, settled, live);
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (type.validate != nullptr) {
    std::vector<api::FieldError> more = type.validate(object, live);
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (errors.empty()) return {};
  return InvalidObject(type.group, type.kind, object["metadata"]["name"].str(), errors);
}

bool SameButForTimes(const Value& a, const Value& b) { return a == b || WithoutTimes(a) == WithoutTimes(b); }

}  // namespace baton::apiserver
