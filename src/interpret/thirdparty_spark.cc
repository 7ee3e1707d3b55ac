// SparkApplication (sparkoperator.k8s.io/v1beta2).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/status.h"
#include "interpret/thirdparty.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Value;

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kLeastOverhead = 384 * kMebi;  // Spark's own minimum
constexpr double kJvmOverheadFactor = 0.1;
constexpr double kOtherOverheadFactor = 0.4;
constexpr double kMostBytes = 1e18;

// Bytes of a JVM memory text: "512m", "2g", "1.5gb", "1024" (bytes).
Result<double> JvmBytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit = ToLower(text.substr(static_cast<size_t>(end - text.data())));
  if (unit.size() == 2 && unit.ends_with('b')) unit.pop_back();
  constexpr std::string_view kUnits = "bkmgtp";
  const size_t power = unit.empty() ? 0 : kUnits.find(unit[0]);
  if (error != std::errc() || unit.size() > 1 || power == std::string_view::npos || !(number >= 0))
    return InvalidError(StrCat("memory: ", Quote(text), " is no amount of memory (512m, 2g)"));
  const double bytes = number * std::pow(1024.0, static_cast<double>(power));
  if (!(bytes < kMostBytes)) return InvalidError(StrCat("memory: ", Quote(text), " is too much"));
  return bytes;
}

Result<Component> SparkComponent(const Value& object, std::string_view name, int64_t replicas) {
  const Value& pod = At(object, {"spec", name});
  const std::string type = ToLower(At(object, {"spec", "type"}).str());
  const bool jvm = type == "java" || type == "scala";
  double factor = jvm ? kJvmOverheadFactor : kOtherOverheadFactor;
  if (const std::string_view text = At(object, {"spec", "memoryOverheadFactor"}).str(); !text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (error != std::errc() || end != text.data() + text.size() || !(factor >= 0 && factor < 100))
      return InvalidError(StrCat("spec.memoryOverheadFactor: ", Quote(text), " is no factor"));
  }
  const double memory = TRY(JvmBytes(pod["memory"].str_or("1g")));
  const std::string_view overhead_text = pod["memoryOverhead"].str();
  const double overhead =
      overhead_text.empty() ? std::max(memory * factor, kLeastOverhead) : TRY(JvmBytes(overhead_text));
  const auto bytes = static_cast<int64_t>(std::ceil(memory + overhead));

  Value request =
      json::Object({{"cpu", json::Quantity::FromInt(TRY(IntAt(pod, {"cores"})).value_or(1)).ToJson()},
                    {"memory", json::Quantity::FromInt(bytes, json::Quantity::Format::kBinarySi).ToJson()}});
  const int64_t gpus = TRY(CountAt(pod, {"gpu", "quantity"}));
  const std::string_view gpu = At(pod, {"gpu", "name"}).str();
  if (gpus > 0 && !gpu.empty()) request.Set(gpu, json::Quantity::FromInt(gpus).ToJson());
  // The driver and the executor hold the fields of a pod's spec that choose nodes; the rest is above.
  Value spec = pod.is_object() ? pod : json::Object();
  for (const std::string_view field : {"containers", "initContainers", "overhead"}) spec.Erase(field);
  Value requirements = TRY(PodRequirements(json::Object({{"spec", spec}})));
  requirements.Set("resourceRequest", std::move(request));
  if (!pod["priorityClassName"].str().empty()) requirements.Set("priorityClassName", pod["priorityClassName"]);
  return Component{std::string(name), replicas, std::move(requirements)};
}

Result<std::vector<Component>> SparkComponents(const Value& object) {
  int64_t executors = TRY(IntAt(object, {"spec", "executor", "instances"})).value_or(1);
  const Value& dynamic = At(object, {"spec", "dynamicAllocation"});
  if (dynamic["enabled"].bool_or(false)) {
    executors = std::max({executors, TRY(IntAt(dynamic, {"initialExecutors"})).value_or(1),
                          TRY(IntAt(dynamic, {"minExecutors"})).value_or(1)});
  }
  return std::vector<Component>{TRY(SparkComponent(object, "driver", 1).Context("spec.driver")),
                                TRY(SparkComponent(object, "executor", executors).Context("spec.executor"))};
}

// The application state that needs attention most.
Value WorstState(std::span<const MemberStatus> members) {
  constexpr std::array<std::string_view, 13> kMildFirst = {
      "SUBMITTED",  "PENDING_RERUN", "COMPLETED", "SUSPENDING", "SUSPENDED",         "RUNNING",          "RESUMING",
      "SUCCEEDING", "INVALIDATING",  "FAILING",   "FAILED",     "SUBMISSION_FAILED", "FAILED_SUBMISSION"};
  Value worst;
  ptrdiff_t worst_rank = -1;
  for (const MemberStatus& member : members) {
    if (member.status == nullptr || !(*member.status)["applicationState"].is_object()) continue;
    const auto at = std::ranges::find(kMildFirst, At(*member.status, {"applicationState", "state"}).str());
    const ptrdiff_t rank = at == kMildFirst.end() ? 0 : at - kMildFirst.begin() + 1;
    if (rank <= worst_rank) continue;
    worst_rank = rank;
    worst = (*member.status)["applicationState"];
  }
  return worst;
}

}  // namespace

void AddSpark(HandlerTable& table) {
  Handlers spark = MakeHandlers(
      {.reflect = {"applicationState", "driverInfo", "executorState", "sparkApplicationId", "lastSubmissionAttemptTime",
                   "submissionAttempts", "executionAttempts", "submissionID", "terminationTime"},
       .aggregate = {{"executionAttempts"},
                     {"submissionAttempts"},
                     {"executorState", Fold::kMerge},
                     {"lastSubmissionAttemptTime", Fold::kLatest},
                     {"terminationTime", Fold::kLatest}},
       .single_as_is = true});
  spark.aggregate = [fields = spark.aggregate](Value object, const Items& items, WallTime now) -> Result<Value> {
    object = TRY(fields(std::move(object), items, now));
    const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
    if (members.size() <= 1) return object;
    if (Value state = WorstState(members); !state.is_null())
      object.Edit("status").Set("applicationState", std::move(state));
    return object;
  };
  spark.components = SparkComponents;
  // SUBMISSION_FAILED is as dead as FAILED; Karmada takes it for healthy.
  spark.health = [](const Value& observed) -> Result<bool> {
    const std::string_view state = At(observed, {"status", "applicationState", "state"}).str();
    return !state.empty() && state != "FAILED" && state != "SUBMISSION_FAILED";
  };
  table[{"sparkoperator.k8s.io/v1beta2", "SparkApplication"}] = std::move(spark);
}

}  // namespace baton::interpret
