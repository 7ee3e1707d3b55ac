// /scale: autoscaling/v1 Scale as a view of an object.
#pragma once

#include "apiserver/registry.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::apiserver {

// The Scale that stands for the object.
json::Value ScaleOf(const ResourceType& type, const json::Value& object);

// The object with the Scale's replicas. 422 for replicas that are no number or negative.
Result<json::Value> WithScale(const ResourceType& type, json::Value object, const json::Value& scale);

}  // namespace baton::apiserver
