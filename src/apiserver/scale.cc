// Scale objects.
#include "apiserver/scale.h"

#include <algorithm>
#include <string>

#include "api/field_errors.h"
#include "apiserver/errors.h"
#include "base/strings.h"
#include "json/selector.h"

namespace baton::apiserver {

namespace {

using json::Value;

// ".spec.replicas" as steps; scale paths are simple by the rules of CRDs.
template <class Step>
void Walk(std::string_view path, Step step) {
  path.remove_prefix(path.starts_with('.') ? 1 : 0);
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    step(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
}

Value At(const Value& object, std::string_view path) {
  const Value* value = &object;
  Walk(path, [&](std::string_view key) { value = &(*value)[key]; });
  return *value;
}

// A selector as text: custom resources keep text, built-in kinds an object.
std::string SelectorText(const Value& selector, bool plain_labels) {
  if (selector.is_string()) return std::string(selector.str());
  if (!selector.is_object()) return {};
  const Value labels = plain_labels ? json::Object({{"matchLabels", selector}}) : selector;
  const Result<json::LabelSelector> parsed = json::LabelSelector::FromObject(labels);
  return parsed.ok() ? parsed->ToString() : std::string();
}

}  // namespace

Value ScaleOf(const ResourceType& type, const Value& object) {
  const Value& from = object["metadata"];
  Value metadata = json::Object({{"name", from["name"]},
                                 {"namespace", from["namespace"]},
                                 {"uid", from["uid"]},
                                 {"resourceVersion", from["resourceVersion"]},
                                 {"creationTimestamp", from["creationTimestamp"]}});
  if (from["namespace"].is_null()) metadata.Erase("namespace");
  Value spec = json::Object();
  if (const Value replicas = At(object, type.scale->spec_replicas); replicas.int_or(0) != 0) {
    spec.Set("replicas", replicas);
  }
  Value status = json::Object({{"replicas", At(object, type.scale->status_replicas).int_or(0)}});
  if (!type.scale->label_selector.empty()) {
    const bool plain = type.group.empty();  // ReplicationController selects by plain labels
    const std::string selector = SelectorText(At(object, type.scale->label_selector), plain);
    if (!selector.empty()) status.Set("selector", selector);
  }
  return json::Object({{"apiVersion", "autoscaling/v1"},
                       {"kind", "Scale"},
                       {"metadata", metadata},
                       {"spec", spec},
                       {"status", status}});
}

Result<Value> WithScale(const ResourceType& type, Value object, const Value& scale) {
  const Value& replicas = scale["spec"]["replicas"];
  if (!replicas.is_null() && !replicas.is_int()) {
    return BadRequest("Scale in version \"v1\" cannot be handled as a Scale: spec.replicas must be a number");
  }
  if (replicas.int_or(0) < 0) {
    return InvalidObject("autoscaling", "Scale", scale["metadata"]["name"].str(),
                         {api::InvalidError("spec.replicas", replicas, "must be greater than or equal to 0")});
  }
  Value* place = &object;
  Walk(type.scale->spec_replicas, [&](std::string_view key) { place = &place->Edit(key); });
  *place = replicas.int_or(0);
  return object;
}

}  // namespace baton::apiserver
