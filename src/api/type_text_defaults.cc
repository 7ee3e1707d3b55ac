// Types that no other gets by default are taken away, again and again; what is left gets itself.
#include "api/type_text_defaults.h"

#include <vector>

#include "base/strings.h"

namespace baton::api {
namespace {

// The named type whose own defaults a field's default brings in; null when there is none.
const Schema* DefaultedType(const Schema* schema) {
  if (!schema->default_value) return nullptr;
  while (schema->name.empty()) {
    const SchemaPtr& inner = schema->items != nullptr ? schema->items : schema->additional_properties;
    if (inner == nullptr) return nullptr;
    schema = inner.get();
  }
  return schema->use_of != nullptr ? schema->use_of.get() : schema;
}

}  // namespace

Result<void> CheckThatDefaultsEnd(const NamedTypes& types) {
  std::map<const Schema*, size_t> got_by;
  std::map<const Schema*, std::vector<const Schema*>> gets;
  for (const auto& [name, type] : types) {
    std::vector<const Schema*>& own = gets[type];
    for (const auto& [field, schema] : type->properties) {
      const Schema* got = DefaultedType(schema.get());
      if (got == nullptr) continue;
      own.push_back(got);
      ++got_by[got];
    }
  }
  std::vector<const Schema*> gone;
  for (const auto& [name, type] : types) {
    if (!got_by.contains(type)) gone.push_back(type);
  }
  for (size_t i = 0; i < gone.size(); ++i) {
    for (const Schema* got : gets[gone[i]]) {
      if (--got_by[got] == 0 && gets.contains(got)) gone.push_back(got);
    }
  }
  for (const auto& [name, type] : types) {
    if (got_by[type] > 0) return InvalidError(StrCat("the type ", name, " gets itself by default, without end"));
  }
  return {};
}

}  // namespace baton::api
