// FlinkDeployment (flink.apache.org/v1beta1). Karmada's, but for what decides a migration:
//  - health tells the truth: a job that FAILED is not healthy, and one that is held or suspended on purpose is;
//  - the reflected status also says which spec it belongs to (generation, specState, specInitialSavepointPath);
//  - the aggregated status is that of one member, the one that runs, instead of the one whose name sorts last;
//  - dependencies are known.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/status.h"
#include "interpret/thirdparty.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Quantity;
using json::Value;

constexpr std::array<std::string_view, 8> kStatusFields = {
    "clusterInfo",        "error",          "jobManagerDeploymentStatus", "jobStatus",
    "observedGeneration", "lifecycleState", "reconciliationStatus",       "taskManager"};

// ---- replicas ----

// A number that may be written as text, as everything in flinkConfiguration is.
std::optional<double> NumberOf(const Value& value) {
  if (value.is_number()) return value.number_or(0);
  const std::string_view text = value.str();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<int64_t> Count(double number, std::string_view what) {
  if (!(number >= 0 && number <= INT32_MAX)) return InvalidError(StrCat(what, ": not a count of replicas"));
  return static_cast<int64_t>(number);
}

Result<int64_t> JobManagers(const Value& object) {
  return Count(NumberOf(At(object, {"spec", "jobManager", "replicas"})).value_or(1), "spec.jobManager.replicas");
}

Result<int64_t> TaskManagers(const Value& object) {
  if (const auto replicas = NumberOf(At(object, {"spec", "taskManager", "replicas"})))
    return Count(*replicas, "spec.taskManager.replicas");
  const auto parallelism = NumberOf(At(object, {"spec", "job", "parallelism"}));
  const auto slots = NumberOf(At(object, {"spec", "flinkConfiguration", "taskmanager.numberOfTaskSlots"}));
  if (!parallelism || !slots || *slots == 0) return 1;
  return Count(std::ceil(*parallelism / *slots), "spec.job.parallelism");
}

// Flink writes memory with small letters and powers of 1024 (2048m, 2g, "2 gb"), Kubernetes with its own suffixes
// (2Gi); the operator takes both. Karmada reads 2048m as two bytes.
std::string KubernetesMemory(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits.push_back(c);
  }
  std::string_view number = digits;
  if (number.ends_with('b')) number.remove_suffix(1);
  constexpr std::string_view kFlinkUnits = "kmgt";
  if (number.empty() || kFlinkUnits.find(number.back()) == std::string_view::npos) return digits;
  const char unit = number.back() == 'k' ? 'K' : static_cast<char>(number.back() - 'a' + 'A');
  return StrCat(number.substr(0, number.size() - 1), unit, "i");
}

Result<Quantity> ResourceOf(const Value& object, std::string_view manager, std::string_view resource) {
  const Value& value = At(object, {"spec", manager, "resource", resource});
  const bool memory = resource == "memory" && value.is_string();
  return (memory ? Quantity::Parse(KubernetesMemory(value.str())) : Quantity::FromJson(value))
      .Context(StrCat("spec.", manager, ".resource.", resource));
}

// Where the pods may run, from the common pod template.
Result<Value> Claims(const Value& object) {
  Value requirements = json::Object();
  const Value& spec = At(object, {"spec", "podTemplate", "spec"});
  Value claim = json::Object();
  if (spec["nodeSelector"].is_object()) claim.Set("nodeSelector", spec["nodeSelector"]);
  if (!spec["tolerations"].empty()) claim.Set("tolerations", spec["tolerations"]);
  if (!claim.empty()) requirements.Set("nodeClaim", std::move(claim));
  if (!spec["priorityClassName"].str().empty()) requirements.Set("priorityClassName", spec["priorityClassName"]);
  return requirements;
}

Result<Replicas> FlinkReplicas(const Value& object) {
  Replicas replicas{TRY(JobManagers(object)) + TRY(TaskManagers(object)), TRY(Claims(object))};
  Value request = json::Object();
  for (const std::string_view resource : {"cpu", "memory"}) {
    const Quantity largest =
        std::max(TRY(ResourceOf(object, "jobManager", resource)), TRY(ResourceOf(object, "taskManager", resource)));
    if (!largest.IsZero()) request.Set(resource, largest.ToJson());
  }
  if (!request.empty()) replicas.requirements.Set("resourceRequest", std::move(request));
  if (const std::string_view name_space = At(object, {"metadata", "namespace"}).str(); !name_space.empty())
    replicas.requirements.Set("namespace", name_space);
  return replicas;
}

Result<Component> FlinkComponent(const Value& object, std::string_view name, std::string_view manager,
                                 int64_t replicas) {
  Component component{std::string(name), replicas, TRY(Claims(object))};
  Value request = json::Object();
  for (const std::string_view resource : {"cpu", "memory"}) {
    const Quantity amount = TRY(ResourceOf(object, manager, resource));
    if (!amount.IsZero()) request.Set(resource, amount.ToJson());
  }
  if (!request.empty()) component.requirements.Set("resourceRequest", std::move(request));
  return component;
}

Result<std::vector<Component>> FlinkComponents(const Value& object) {
  return std::vector<Component>{TRY(FlinkComponent(object, "jobmanager", "jobManager", TRY(JobManagers(object)))),
                                TRY(FlinkComponent(object, "taskmanager", "taskManager", TRY(TaskManagers(object))))};
}

// ---- status ----

Result<Value> ReflectFlink(const Value& observed) {
  const Value status = TRY(StatusOf(observed));
  if (status.is_null()) return Value();
  Value reflected = json::Object();
  for (const std::string_view field : kStatusFields) {
    if (!status[field].is_null()) reflected.Set(field, status[field]);
  }
  TRY(AddGenerations(observed, reflected));
  const Value& job = At(observed, {"spec", "job"});
  if (!job["state"].is_null()) reflected.Set("specState", job["state"]);
  if (!job["initialSavepointPath"].is_null()) reflected.Set("specInitialSavepointPath", job["initialSavepointPath"]);
  return reflected;
}

// How much a member's status tells about the job: one that runs most, one that never started least.
int Liveliness(const Value& status) {
  constexpr std::array<std::string_view, 4> kEnded = {"FINISHED", "FAILED", "CANCELED", "SUSPENDED"};
  const std::string_view state = At(status, {"jobStatus", "state"}).str();
  if (state.empty()) return status["jobManagerDeploymentStatus"].str() == "READY" ? 3 : 0;
  if (state == "RUNNING") return 3;
  return std::ranges::find(kEnded, state) != kEnded.end() ? 1 : 2;
}

// Never a mixture of two clusters.
Result<Value> AggregateFlink(Value object, const Items& items, WallTime /*now*/) {
  const Value* chosen = nullptr;
  for (const MemberStatus& member : TRY(MemberStatuses(items))) {
    if (member.status == nullptr) continue;
    if (chosen == nullptr || Liveliness(*member.status) >= Liveliness(*chosen)) chosen = member.status;
  }
  if (chosen == nullptr) return object;
  Value status = TRY(StatusOf(object));
  if (status.is_null()) status = json::Object();
  for (const std::string_view field : kStatusFields) {
    if ((*chosen)[field].is_null()) {
      status.Erase(field);
    } else {
      status.Set(field, (*chosen)[field]);
    }
  }
  object.Set("status", std::move(status));
  return object;
}

// ---- health ----

// Not the cluster's fault: another one would fail in the same way, so failing over helps nobody.
bool IsUsersFault(std::string_view error) {
  constexpr std::array<std::string_view, 3> kFaults = {"ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff"};
  return std::ranges::any_of(kFaults,
                             [&](std::string_view fault) { return error.find(fault) != std::string_view::npos; });
}

Result<bool> IsFlinkHealthy(const Value& observed) {
  const Value& status = observed["status"];
  const std::string_view lifecycle = TRY(StringAt(status, {"lifecycleState"}));
  const std::string_view state = TRY(StringAt(status, {"jobStatus", "state"}));
  const std::string_view reconciliation = TRY(StringAt(status, {"reconciliationStatus", "state"}));
  const std::string_view error = TRY(StringAt(status, {"error"}));
  const bool suspended = At(observed, {"spec", "job", "state"}).str() == "suspended";

  if (lifecycle == "FAILED" || state == "FAILED" || state == "FAILING") return false;
  if (lifecycle == "DELETING" || lifecycle == "DELETED") return false;
  if (state == "RUNNING" || state == "CANCELLING" || state == "RESTARTING") return true;
  // Held: created suspended and never started. Lifecycle is CREATED then, and there is no job state.
  if (suspended && state.empty() && (lifecycle.empty() || lifecycle == "CREATED")) return error.empty();
  if (suspended && lifecycle == "SUSPENDED") return true;
  if (state.empty()) return status["jobManagerDeploymentStatus"].str() == "READY" && lifecycle == "STABLE";
  if (state == "FINISHED") return true;  // by itself, or as a suspend leaves it
  // On its way between two specs a job may be stopped for a while; at rest it must not be.
  const bool between = lifecycle == "UPGRADING" || lifecycle == "ROLLING_BACK" || reconciliation == "ROLLING_BACK" ||
                       (lifecycle.empty() && reconciliation == "UPGRADING");
  if (state == "CANCELED" || state == "SUSPENDED") return between && error.empty();
  if (state == "CREATED" || state == "INITIALIZING" || state == "RECONCILING") return IsUsersFault(error);
  return false;
}

// ---- dependencies ----

Result<std::vector<Value>> FlinkDependencies(const Value& object) {
  const std::string_view name_space = At(object, {"metadata", "namespace"}).str();
  std::vector<Value> all = PodDependencies(At(object, {"spec", "podTemplate"}), name_space);
  for (const std::string_view manager : {"jobManager", "taskManager"}) {
    std::vector<Value> own = PodDependencies(At(object, {"spec", manager, "podTemplate"}), name_space);
    all.insert(all.end(), own.begin(), own.end());
  }
  const std::string_view account = At(object, {"spec", "serviceAccount"}).str();
  if (!account.empty() && account != "default") all.push_back(Reference("v1", "ServiceAccount", name_space, account));
  return all;
}

}  // namespace

void AddFlink(HandlerTable& table) {
  Handlers flink;
  flink.replicas = FlinkReplicas;
  flink.components = FlinkComponents;
  flink.reflect = ReflectFlink;
  flink.aggregate = AggregateFlink;
  flink.health = IsFlinkHealthy;
  flink.dependencies = FlinkDependencies;
  table[{"flink.apache.org/v1beta1", "FlinkDeployment"}] = std::move(flink);
}

}  // namespace baton::interpret
