// Kinds of others, described by tables: which fields travel, how the members' values become one, where the pods are.
//
//   ThirdPartyKind clone_set{.replicas = "spec.replicas", .pods = {"spec.template"}, .reflect = kFields, ...};
//
// The facts come from each project's API; behaviour follows Karmada's except where a comment says why not. What a table
// cannot say is a function of the kind's own (`custom`).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "interpret/handlers.h"

namespace baton::interpret {

// How one field of several members becomes one. Members without the field do not count.
enum class Fold : uint8_t {
  kSum,            // numbers
  kLast,           // the last that is not empty, by cluster name
  kFirst,          // the first that is not empty
  kMax,            // the largest number
  kEarliest,       // times in RFC 3339, as text
  kLatest,         //
  kConcat,         // lists one after the other
  kMerge,          // objects; of equal keys the last
  kSumTree,        // objects of objects of counts
  kQuantity,       // quantities, summed
  kAll,            // true only if all are
  kWorst,          // the one that comes last in `order`; what is not in it comes first
  kConditions,     // joined by type, status and reason, with "cluster=" before each message
  kJobConditions,  // Created, Running, `order[0]` (all must have it) and Failed (one is enough)
};

struct FieldFold {
  std::string_view name;
  Fold fold = Fold::kSum;
  std::vector<std::string_view> order = {};
};

struct ThirdPartyKind {
  std::string_view replicas = {};                // path of the count; "": the kind has none
  std::optional<int64_t> default_replicas = {};  // when absent; nothing: that is an error
  bool revise = false;                           // the count can be written
  std::vector<std::string_view> pods = {};  // paths of pod templates: the first for requirements, all for dependencies
  std::vector<std::string_view> retain = {};   // paths copied from the member when it has them
  std::vector<std::string_view> reflect = {};  // status fields that travel
  std::vector<FieldFold> aggregate = {};
  bool generations = false;   // reflect and aggregate them, as for a Deployment
  bool single_as_is = false;  // the status of a single member is taken whole
  std::function<Result<bool>(const json::Value& observed)> health = nullptr;
};

// The handlers that the table describes; what it leaves empty they leave empty.
Handlers MakeHandlers(const ThirdPartyKind& kind);

// The value at a dotted path ("spec.template").
const json::Value& AtDotted(const json::Value& object, std::string_view path);

// One component of a pod template. `replicas` null: `fallback`.
Result<Component> PodComponent(std::string_view name, const json::Value& replicas, int64_t fallback,
                               const json::Value& pod_template);

// Health as most operators report it.
Result<bool> IsRolledOutWorkload(const json::Value& observed);   // generation, updated and available
Result<bool> HasNoFailedCondition(const json::Value& observed);  // conditions, none of them Failed
std::function<Result<bool>(const json::Value&)> IsReadyFor(
    std::vector<std::string_view> reasons);  // Ready for one of them

void AddKruise(HandlerTable& table);  // thirdparty_kruise.cc
void AddFlux(HandlerTable& table);    // thirdparty_gitops.cc: and Kyverno
void AddJobs(HandlerTable& table);    // thirdparty_jobs.cc: Volcano, Kubeflow, Argo
void AddRay(HandlerTable& table);     // thirdparty_ray.cc
void AddSpark(HandlerTable& table);   // thirdparty_spark.cc
void AddFlink(HandlerTable& table);   // thirdparty_flink.cc

}  // namespace baton::interpret
