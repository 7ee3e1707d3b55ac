// Type text: whatever the input is, it is read or refused with a line; and what was read is a closed graph whose types
// can be walked, rendered and used. The input is the types, and behind a zero byte the docs.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/crd_schema.h"
#include "api/schema.h"
#include "api/type_text.h"
#include "base/invariant.h"
#include "json/value.h"

using namespace baton;       // NOLINT(google-build-using-namespace)
using namespace baton::api;  // NOLINT(google-build-using-namespace)

namespace {

constexpr size_t kTypesToDefault = 8;  // each may double what a default brings in

void CheckPlaces(const Schema& schema) {
  for (const auto& [name, property] : schema.properties) INVARIANT(property != nullptr, name);
  INVARIANT((schema.type == SchemaType::kArray) == (schema.items != nullptr), schema.name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = input.find('\0');
  const TypeText types[] = {{"types", input.substr(0, zero)}};
  const TypeText docs[] = {{"docs", zero == std::string_view::npos ? "" : input.substr(zero + 1)}};
  const Result<TypeTable> table = TypeTable::Parse(types, docs);
  if (!table.ok()) {
    INVARIANT(!table.error().message().empty(), "no reason");
    return 0;
  }
  const json::Value object = json::Object({{"a", json::Array({1, "x", nullptr})}, {"metadata", json::Object()}});
  for (const std::string_view name : table->Names()) {
    const SchemaPtr schema = table->Find(name);
    INVARIANT(schema != nullptr && schema->name == name, name);
    CheckPlaces(*schema);
    std::map<std::string, SchemaPtr> referenced;
    ToOpenApi(*schema, true, &referenced);
    ToOpenApi(*schema, false, &referenced);
    for (const auto& [inner, found] : referenced) INVARIANT(table->Find(inner) == found, inner);
    Validate(object, *schema);
    json::Value pruned = object;
    Prune(pruned, *schema);
    if (table->size() <= kTypesToDefault) ApplyDefaults(pruned, *schema);
  }
  return 0;
}
