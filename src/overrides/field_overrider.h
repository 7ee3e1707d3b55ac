// fieldOverrider: changes a JSON or YAML document that is the text of a string, for example a file in a ConfigMap.
//
//   {fieldPath: /data/config.yaml, yaml: [{subPath: /app/database/port, operator: replace, value: 3306}]}
//
// The operations are those of JSON Patch, all or none. Only what they change is written anew: the rest of the text
// keeps its comments, order and layout (Karmada prints the whole document again and loses them); both mean the same. A
// value keeps its type: "3306" is a string and is written so that it stays one, as in Karmada.
#pragma once

#include "base/result.h"
#include "json/pointer.h"
#include "json/value.h"
#include "overrides/work.h"

namespace baton::overrides {

class FieldOverrider {
 public:
  // Without operations it changes nothing; both json and yaml are an error.
  static Result<FieldOverrider> Compile(const json::Value& item);

  // An error when there is no string at the path, when its text is no such document or when an operation does not
  // apply:
  // "/data/config.yaml: operation 0 (replace /app/port): ...".
  Result<void> Apply(json::Value& object, Work& work) const;

 private:
  json::Pointer path_;
  bool is_json_ = false;
  json::Value patch_;  // JSON Patch operations
};

}  // namespace baton::overrides
