// Fuzz: any object under any policies. The input is JSON: [object, cluster, policy...]. What compiles applies or fails
// with an error that names the policy; the object given is not changed, the order of the policies does not matter, and
// the annotations are JSON with one item per rule.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "json/parse.h"
#include "json/print.h"
#include "overrides/apply.h"

namespace {

using namespace baton;
using namespace baton::overrides;

// Policies of one kind and namespace have different names; the API server sees to that.
std::vector<Policy> Compile(std::span<const json::Value> objects) {
  std::vector<Policy> policies;
  std::set<std::string> titles;
  for (const json::Value& object : objects) {
    Result<Policy> policy = CompilePolicy(object);
    if (policy.ok() && titles.insert(policy->Title()).second) policies.push_back(*std::move(policy));
  }
  return policies;
}

size_t ItemsOf(const std::string& annotation) {
  if (annotation.empty()) return 0;
  const Result<json::Value> items = json::Parse(annotation);
  INVARIANT(items.ok() && !items->empty(), annotation);
  return items->size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<json::Value> input = json::Parse({reinterpret_cast<const char*>(data), size});
  if (!input.ok() || input->size() < 2) return 0;
  const json::Value& object = (*input)[0];
  const std::string before = json::Print(object);
  const Target cluster = Target::FromCluster((*input)[1]);
  std::vector<Policy> policies = Compile(input->items().subspan(std::min<size_t>(2, input->items().size())));
  const Result<Applied> applied = Apply(object, cluster, policies);
  INVARIANT(json::Print(object) == before, before);
  if (!applied.ok()) {
    INVARIANT(applied.error().message().find("OverridePolicy ") != std::string::npos, applied.error().message());
    return 0;
  }
  INVARIANT(ItemsOf(applied->overrides) + ItemsOf(applied->cluster_overrides) == applied->rules.size(), before);
  if (applied->rules.empty()) INVARIANT(applied->object.SharesStorageWith(object), before);

  std::vector<Policy> reversed(policies.rbegin(), policies.rend());
  const Result<Applied> again = Apply(object, cluster, reversed);
  INVARIANT(again.ok() && again->object == applied->object, before);
  INVARIANT(again->overrides == applied->overrides && again->cluster_overrides == applied->cluster_overrides, before);
  return 0;
}
