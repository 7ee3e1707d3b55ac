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

}  // namespace

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

Result<void> ValidateObject(const ResourceType& type, const Value& object, const Value* live) {
  std::vector<api::FieldError> errors = ValidateMetadata(object, live, type);
  if (type.custom && type.schema != nullptr) {
    std::vector<api::FieldError> more = api::Validate(object, *type.schema);
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
