// Decoding: from what a client sent to an object of a type: names checked, types checked, unknown fields dropped (and
// told, as strictly as the client asked), defaults filled in.
#pragma once

#include <string>
#include <vector>

#include "apiserver/core.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::apiserver {

// kind and apiVersion may be absent. Errors are bad requests in kube-apiserver's words:
//   Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.foo"
// `settled`: an object of this type that IsSettled; what is in its storage is not looked at again. Null: none is known.
Result<json::Value> DecodeObject(const ResourceType& type, json::Value object, const WriteOptions& options,
                                 std::vector<std::string>& warnings, const json::Value* settled = nullptr);

// Whether decoding, tracking and validation would find nothing to do and nothing wrong.
bool IsSettled(const ResourceType& type, const json::Value& object);

// Defaults alone, for what a patch or admission made.
void FillDefaults(const ResourceType& type, json::Value& object, const json::Value* settled = nullptr);

}  // namespace baton::apiserver
