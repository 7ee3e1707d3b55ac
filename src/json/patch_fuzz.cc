// Fuzzes all patches: the input is a JSON array [document, patch].
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "json/diff.h"
#include "json/json_patch.h"
#include "json/measure.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/strategic_merge.h"

namespace baton::json {
namespace {

void CheckDiff(const Value& from, const Value& to) {
  const Value patch = MakeJsonPatch(from, to);
  INVARIANT(patch.empty() == (from == to), "a diff is empty exactly when the documents are equal");
  if (patch.size() > kMaxPatchOperations) return;
  const Result<Value> result = ApplyJsonPatch(from, patch);
  INVARIANT(result.ok(), result.error().ToString());
  INVARIANT(*result == to, "a diff leads to its goal");
}

void CheckStrategic(const Value& document, const Value& patch, const PatchSchema* schema) {
  const Result<Value> merged = ApplyStrategicMergePatch(document, patch, schema);
  if (!merged.ok()) return;
  INVARIANT(merged->is_object(), "a strategic merge of objects is an object");
  CheckDiff(document, *merged);
}

void Check(const Value& document, const Value& patch) {
  if (const Result<Value> patched = ApplyJsonPatch(document, patch); patched.ok()) {
    INVARIANT(Measure(*patched, SIZE_MAX).depth <= kMaxDepth, "a patch keeps to the depth limit");
    CheckDiff(document, *patched);
  }
  const Value merged = ApplyMergePatch(document, patch);
  INVARIANT(ApplyMergePatch(merged, patch) == merged, "a merge patch is idempotent");
  CheckDiff(document, merged);
  CheckDiff(document, patch);
  const Value from = ApplyMergePatch(nullptr, document);  // without nulls in objects, which no merge patch can express
  const Value to = ApplyMergePatch(nullptr, patch);
  INVARIANT(ApplyMergePatch(from, MakeMergePatch(from, to)) == to, "a made merge patch leads to its goal");
  CheckStrategic(document, patch, KubernetesPatchSchema("v1", "Pod"));
  CheckStrategic(document, patch, KubernetesPatchSchema("apps/v1", "Deployment"));
  CheckStrategic(document, patch, nullptr);
  const Value three_way = MakeThreeWayJsonPatch(patch, document, merged);
  if (three_way.size() > kMaxPatchOperations) return;
  const Result<Value> applied = ApplyJsonPatch(merged, three_way);
  INVARIANT(applied.ok(), applied.error().ToString());
  INVARIANT(ApplyMergePatch(*applied, document) == *applied, "a three-way patch sets all that is wanted");
}

}  // namespace
}  // namespace baton::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::json;
  const auto input = Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!input.ok() || !input->is_array() || input->size() != 2) return 0;
  const Value document = (*input)[0];
  const Value patch = (*input)[1];
  const std::string document_text = document.ToString();
  const std::string patch_text = patch.ToString();
  Check(document, patch);
  INVARIANT(document.ToString() == document_text, "the document is as it was");
  INVARIANT(patch.ToString() == patch_text, "the patch is as it was");
  return 0;
}
