// Objects as C++ structs. The structs come from the same text as the schemas (src/api/{federation,builtin}/*.types): a
// build step writes `api/types/PACKAGE.h` into the build folder, one for each package in src/api/CMakeLists.txt.
//
//   #include "api/types/work_v1alpha2.h"
//
//   auto binding = TRY(api::FromJson<api::work_v1alpha2::ResourceBinding>(object));
//   binding.spec.replicas = 3;                          // std::optional<int32_t>: not required
//   for (TargetCluster& one : binding.spec.clusters) Use(one.name, one.replicas.value_or(0));
//   json::Value changed = api::ToJson(binding);         // `object` with that one field changed
//
// Nothing is lost on the way. Each struct keeps the value that it was read from (`raw`), and ToJson() writes into
// it what the fields say by now: fields that nobody described stay, and so do `null`, `[]` and `{}` where a field says
// nothing. An object that was read and not changed is given back as it was, storage shared (but with apiVersion and
// kind, if it had none: they are what the struct is, and an object of another kind is an error).
//
// How a described type looks:
//   required                  T         an error when it is absent; always written
//   required with a default   T         T() when it is absent
//   not required              std::optional<T>; lists and maps: empty when absent, and not written when empty
//   metadata of a kind        meta_v1::ObjectMeta, empty when absent
//   string, bytes, time       std::string, as it stands there (json/rfc3339.h reads times)
//   int32; other integers     int32_t; int64_t
//   [T], {T}                  std::vector<T>, std::map<std::string, T>
//   enum                      std::string, with constants: PropagationSpec::kConflictResolutionAbort. Other values are
//                             kept: whether they may be there is the schema's word (api::Validate)
//   int-or-string, object, any, and types that contain themselves (JSONSchemaProps): json::Value
//
// Members are snake_case (memberUID is member_uid); a word of C++ gets a trailing line (namespace_). A kind has its
// names: kGroup, kVersion, kKind, kPlural, kNamespaced (kube/typed.h calls the API with them).
//
// Errors (kInvalid) name kind, field and what is wrong: 'ResourceBinding: spec.clusters[2].replicas: "three" is not an
// integer'. Conversion checks what a struct cannot hold and what is required, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/builder.h"
#include "json/value.h"

namespace baton::api {

class FieldReader;
class FieldWriter;

// A struct made from a description.
template <class T>
concept Described = requires(T mutable_value, const T value, FieldReader& in, FieldWriter& out) {
  mutable_value.Read(in);
  value.Write(out);
  { mutable_value.raw } -> std::same_as<json::Value&>;
};

// One that is an object of its own in the API.
template <class T>
concept DescribedKind = Described<T> && requires {
  { T::kKind } -> std::convertible_to<std::string_view>;
  { T::kPlural } -> std::convertible_to<std::string_view>;
};

// ---- what the generated code calls ----

// Where a value stands, for messages: a chain on the stack.
struct Place {
  const Place* parent = nullptr;
  std::string_view key;
  size_t index = 0;
  enum class Step : uint8_t { kTop, kField, kItem, kEntry } step = Step::kTop;

  std::string ToString() const;  // "spec.clusters[2].name", "metadata.labels[app]"
};

// The first error of a conversion; what comes after it is not looked at.
using FirstError = std::optional<Error>;

void Refuse(const json::Value& value, std::string_view what, const Place& at, FirstError& error);
void ReadValue(const json::Value& value, std::string& into, const Place& at, FirstError& error);
void ReadValue(const json::Value& value, int32_t& into, const Place& at, FirstError& error);
void ReadValue(const json::Value& value, int64_t& into, const Place& at, FirstError& error);
void ReadValue(const json::Value& value, double& into, const Place& at, FirstError& error);
void ReadValue(const json::Value& value, bool& into, const Place& at, FirstError& error);
inline void ReadValue(const json::Value& value, json::Value& into, const Place&, FirstError&) { into = value; }
template <Described T>
void ReadValue(const json::Value& value, T& into, const Place& at, FirstError& error);
template <class T>
void ReadValue(const json::Value& value, std::vector<T>& into, const Place& at, FirstError& error);
template <class T>
void ReadValue(const json::Value& value, std::map<std::string, T>& into, const Place& at, FirstError& error);

// What to write for a field that was `before` (null when it was not there).
inline json::Value WriteValue(const std::string& value, const json::Value&) { return value; }
inline json::Value WriteValue(int32_t value, const json::Value&) { return value; }
inline json::Value WriteValue(int64_t value, const json::Value&) { return value; }
json::Value WriteValue(double value, const json::Value& before);
inline json::Value WriteValue(bool value, const json::Value&) { return value; }
inline json::Value WriteValue(const json::Value& value, const json::Value&) { return value; }
template <Described T>
json::Value WriteValue(const T& value, const json::Value& before);
template <class T>
json::Value WriteValue(const std::vector<T>& value, const json::Value& before);
template <class T>
json::Value WriteValue(const std::map<std::string, T>& value, const json::Value& before);

// Reads the fields of one object.
class FieldReader {
 public:
  FieldReader(const json::Value& object, const Place& at, FirstError& error)
      : object_(object), at_(at), error_(error) {}

  template <class T>
  void Required(std::string_view name, T& into) {
    if (const json::Value* value = Find(name, true)) ReadValue(*value, into, Below(name), error_);
  }
  template <class T>
  void Plain(std::string_view name, T& into) {
    if (const json::Value* value = Find(name, false)) ReadValue(*value, into, Below(name), error_);
  }
  template <class T>
  void Items(std::string_view name, T& into) {
    Plain(name, into);
  }
  template <class T>
  void Optional(std::string_view name, std::optional<T>& into) {
    if (const json::Value* value = Find(name, false)) ReadValue(*value, into.emplace(), Below(name), error_);
  }
  // Null is a value of its own.
  void Anything(std::string_view name, std::optional<json::Value>& into);
  // What it says it is, if it does, must be this.
  void OfKind(std::string_view api_version, std::string_view kind);

 private:
  Place Below(std::string_view name) const { return {.parent = &at_, .key = name, .step = Place::Step::kField}; }
  const json::Value* Find(std::string_view name, bool required);  // null pointer: not there, or an error before

  const json::Value& object_;
  const Place& at_;
  FirstError& error_;
};

// Writes the fields of one object into what it was read from.
class FieldWriter {
 public:
  explicit FieldWriter(json::Value& object) : object_(object) {}

  template <class T>
  void Required(std::string_view name, const T& value) {
    Set(name, WriteValue(value, object_[name]));
  }
  // What says nothing is written only over something that did.
  template <class T>
  void Plain(std::string_view name, const T& value) {
    json::Value now = WriteValue(value, object_[name]);
    if (!SaysNothing(now) || !SaysNothing(object_[name])) Set(name, std::move(now));
  }
  // A list or a map: an empty one is not written.
  template <class T>
  void Items(std::string_view name, const T& value) {
    if (!value.empty()) return Set(name, WriteValue(value, object_[name]));
    if (!object_[name].empty()) object_.Erase(name);
  }
  template <class T>
  void Optional(std::string_view name, const std::optional<T>& value) {
    if (value) return Set(name, WriteValue(*value, object_[name]));
    if (!object_[name].is_null()) object_.Erase(name);
  }
  void Anything(std::string_view name, const std::optional<json::Value>& value);
  void OfKind(std::string_view api_version, std::string_view kind);

 private:
  static bool SaysNothing(const json::Value& value);  // null, false, 0, "", [] or {}
  void Set(std::string_view name, json::Value now);

  json::Value& object_;
};

// ---- what callers use ----

template <Described T>
Result<T> FromJson(const json::Value& value) {
  T made;
  FirstError error;
  ReadValue(value, made, Place(), error);
  if (!error) return made;
  if constexpr (DescribedKind<T>) return error->Context(T::kKind);
  return *std::move(error);
}

template <Described T>
json::Value ToJson(const T& value) {
  return WriteValue(value, value.raw);
}

// ---- templates ----

template <Described T>
void ReadValue(const json::Value& value, T& into, const Place& at, FirstError& error) {
  if (!value.is_object()) return Refuse(value, "an object", at, error);
  into.raw = value;
  FieldReader in(value, at, error);
  into.Read(in);
}

template <class T>
void ReadValue(const json::Value& value, std::vector<T>& into, const Place& at, FirstError& error) {
  if (!value.is_array()) return Refuse(value, "a list", at, error);
  into.resize(value.size());
  for (size_t i = 0; i < into.size() && !error; ++i)
    ReadValue(value[i], into[i], Place{.parent = &at, .key = {}, .index = i, .step = Place::Step::kItem}, error);
}

template <class T>
void ReadValue(const json::Value& value, std::map<std::string, T>& into, const Place& at, FirstError& error) {
  if (!value.is_object()) return Refuse(value, "a map", at, error);
  for (const json::Member& member : value.members()) {
    const Place place{.parent = &at, .key = member.key(), .step = Place::Step::kEntry};
    ReadValue(member.value(), into[std::string(member.key())], place, error);
    if (error) return;
  }
}

template <Described T>
json::Value WriteValue(const T& value, const json::Value&) {
  json::Value made = value.raw.is_object() ? value.raw : json::Object();
  FieldWriter out(made);
  value.Write(out);
  return made;
}

template <class T>
json::Value WriteValue(const std::vector<T>& value, const json::Value& before) {
  json::ArrayBuilder items;
  items.Reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) items.Add(WriteValue(value[i], before[i]));
  return std::move(items).Build();
}

template <class T>
json::Value WriteValue(const std::map<std::string, T>& value, const json::Value& before) {
  json::ObjectBuilder entries;
  for (const auto& [key, one] : value) entries.Add(key, WriteValue(one, before[key]));
  return std::move(entries).Build();
}

}  // namespace baton::api
