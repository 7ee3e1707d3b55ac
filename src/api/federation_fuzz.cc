// Admission of the federation's kinds: the input is a JSON array [object, old], taken for every kind in turn. Whatever
// they are, nothing crashes, mutation is idempotent, and errors are few enough to be read.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/federation_admission.h"
#include "api/federation_types.h"
#include "base/invariant.h"
#include "json/parse.h"
#include "json/value.h"

using namespace baton;       // NOLINT(google-build-using-namespace)
using namespace baton::api;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto pair = json::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!pair.ok()) return 0;
  const json::Value& old = (*pair)[size_t{1}];
  FederationContext context;
  context.new_uid = [] { return std::string("3f2a9c1e-7b64-4d18-9e0f-5a6b7c8d9e0f"); };
  const json::Value neighbours[] = {old};
  context.customizations = neighbours;
  for (const ResourceTypePtr& type : FederationTypes()) {
    json::Value object = (*pair)[size_t{0}];
    ApplyDefaults(object, *type->schema);
    const auto once = MutateFederation(*type, object, old, context);
    INVARIANT(once.ok(), object.ToString());
    const auto twice = MutateFederation(*type, *once, old, context);
    INVARIANT(twice.ok() && *twice == *once, object.ToString());
    INVARIANT(FederationErrors(*type, *once, old, context).size() <= kFieldErrorsMax, "errors");
    FederationErrors(*type, object, *once, context);
  }
  return 0;
}
