// Schemas and values: the input is a JSON array [schema, value]. Whatever they are, nothing crashes; and when the
// schema is one, pruning and defaulting are idempotent, and the schema survives its own manifest.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/crd_schema.h"
#include "api/schema.h"
#include "base/invariant.h"
#include "json/parse.h"
#include "json/value.h"

using namespace baton;       // NOLINT(google-build-using-namespace)
using namespace baton::api;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto pair = json::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!pair.ok()) return 0;
  const CrdSchemaResult read = ReadCrdSchema((*pair)[size_t{0}], "schema");
  INVARIANT((read.schema == nullptr) == !read.errors.empty(), "errors");
  if (read.schema == nullptr) return 0;
  const Schema& schema = *read.schema;

  const json::Value written = ToCrdSchema(schema);
  const CrdSchemaResult again = ReadCrdSchema(written, "schema");
  INVARIANT(again.schema != nullptr, written.ToString());
  INVARIANT(ToCrdSchema(*again.schema) == written, written.ToString());
  ToOpenApi(schema, true, nullptr);
  ToOpenApi(schema, false, nullptr);

  const json::Value& input = (*pair)[size_t{1}];
  const std::vector<FieldError> errors = Validate(input, schema);
  INVARIANT(errors.size() <= kFieldErrorsMax, "errors");
  json::Value once = input;
  Prune(once, schema);
  json::Value twice = once;
  Prune(twice, schema);
  INVARIANT(twice.SharesStorageWith(once), once.ToString());
  ApplyDefaults(once, schema);
  twice = once;
  ApplyDefaults(twice, schema);
  INVARIANT(twice == once, once.ToString());
  return 0;
}
