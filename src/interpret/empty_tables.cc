// Empty tables by path.
#include "interpret/empty_tables.h"

#include <set>
#include <string>

#include "json/builder.h"
#include "json/pointer.h"

namespace baton::interpret {

namespace {

using json::Value;

class EmptyPaths {
 public:
  // Recursion is bounded: values have at most json::kMaxDepth levels.
  void Collect(const Value& value) {
    for (const Value& item : value.items()) Note(item);
    for (const json::Member& member : value.members()) {
      const size_t length = path_.size();
      json::AppendPointerToken(path_, member.key());
      Note(member.value());
      path_.resize(length);
    }
  }

  Value Apply(const Value& value) {
    if (value.is_array()) {
      json::ArrayBuilder items;
      for (const Value& item : value.items()) {
        if (IsEmpty(item)) {
          if (objects_.contains(path_)) {
            items.Add(json::Object());
          } else if (arrays_.contains(path_)) {
            items.Add(item);
          }
        } else {
          items.Add(Apply(item));
        }
      }
      return std::move(items).Build();
    }
    if (!value.is_object()) return value;
    json::ObjectBuilder members;
    for (const json::Member& member : value.members()) {
      const size_t length = path_.size();
      json::AppendPointerToken(path_, member.key());
      if (!IsEmpty(member.value())) {
        members.Add(member.shared_key(), Apply(member.value()));
      } else if (objects_.contains(path_)) {
        members.Add(member.shared_key(), json::Object());
      } else if (arrays_.contains(path_)) {
        members.Add(member.shared_key(), member.value());
      }
      path_.resize(length);
    }
    return std::move(members).Build();
  }

 private:
  static bool IsEmpty(const Value& value) { return (value.is_array() || value.is_object()) && value.empty(); }

  void Note(const Value& value) {
    if (IsEmpty(value)) {
      (value.is_array() ? arrays_ : objects_).insert(path_);
    } else {
      Collect(value);
    }
  }

  std::string path_;
  std::set<std::string, std::less<>> arrays_;
  std::set<std::string, std::less<>> objects_;
};

}  // namespace

Value WithEmptyTables(const Value& result, std::span<const Value> references, bool object) {
  if (result.empty() && (result.is_array() || result.is_object())) return object ? json::Object() : json::Array();
  EmptyPaths paths;
  for (const Value& reference : references) paths.Collect(reference);
  return paths.Apply(result);
}

}  // namespace baton::interpret
