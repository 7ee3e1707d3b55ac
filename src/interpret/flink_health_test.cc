// FlinkDeployment's health over every lifecycle, job and reconciliation state that the operator knows.
#include <gtest/gtest.h>

#include "interpret/rows_for_test.h"

namespace baton::interpret {
namespace {

using json::Value;

constexpr std::string_view kLifecycles[] = {"",         "CREATED",  "SUSPENDED",    "UPGRADING",
                                            "DEPLOYED", "STABLE",   "ROLLING_BACK", "ROLLED_BACK",
                                            "FAILED",   "DELETING", "DELETED"};
constexpr std::string_view kJobStates[] = {"",         "INITIALIZING", "CREATED",    "RUNNING",
                                           "FAILING",  "FAILED",       "CANCELLING", "CANCELED",
                                           "FINISHED", "RESTARTING",   "SUSPENDED",  "RECONCILING"};
constexpr std::string_view kReconciliations[] = {"", "DEPLOYED", "UPGRADING", "ROLLING_BACK", "ROLLED_BACK"};

struct Case {
  std::string_view spec_state;
  std::string_view lifecycle;
  std::string_view job;
  std::string_view reconciliation;
  std::string_view job_manager;
  std::string_view error;
};

Value Make(const Case& c) {
  Value object = json::Object({{"apiVersion", "flink.apache.org/v1beta1"}, {"kind", "FlinkDeployment"}});
  if (!c.spec_state.empty()) object.Set("spec", json::Object({{"job", json::Object({{"state", c.spec_state}})}}));
  Value status = json::Object();
  if (!c.lifecycle.empty()) status.Set("lifecycleState", c.lifecycle);
  if (!c.job.empty()) status.Set("jobStatus", json::Object({{"state", c.job}}));
  if (!c.reconciliation.empty()) status.Set("reconciliationStatus", json::Object({{"state", c.reconciliation}}));
  if (!c.job_manager.empty()) status.Set("jobManagerDeploymentStatus", c.job_manager);
  if (!c.error.empty()) status.Set("error", c.error);
  object.Set("status", std::move(status));
  return object;
}

bool IsHealthy(const Case& c) {
  static const Interpreter interpreter;
  return interpreter.InterpretHealth(Make(c)).value();
}

std::string Text(const Case& c) {
  return StrCat("spec ", c.spec_state, ", lifecycle ", c.lifecycle, ", job ", c.job, ", reconciliation ",
                c.reconciliation, ", JM ", c.job_manager, ", error ", c.error);
}

// The rules of thumb that must hold for every combination, whatever the code does.
TEST(FlinkHealthTest, HoldsItsRulesForEveryCombination) {
  size_t cases = 0;
  for (const std::string_view spec : {"running", "suspended"}) {
    for (const std::string_view lifecycle : kLifecycles) {
      for (const std::string_view job : kJobStates) {
        for (const std::string_view reconciliation : kReconciliations) {
          for (const std::string_view job_manager : {"READY", "MISSING"}) {
            const Case c{spec, lifecycle, job, reconciliation, job_manager, ""};
            const bool healthy = IsHealthy(c);
            ++cases;
            if (lifecycle == "FAILED" || job == "FAILED") EXPECT_FALSE(healthy) << Text(c);
            if (lifecycle == "DELETING" || lifecycle == "DELETED") EXPECT_FALSE(healthy) << Text(c);
            const bool over = lifecycle == "FAILED" || lifecycle.starts_with("DELET");
            if (job == "RUNNING" && !over) EXPECT_TRUE(healthy) << Text(c);
            if (job == "FAILING") EXPECT_FALSE(healthy) << Text(c);
            // A held target: created suspended, never started.
            if (spec == "suspended" && lifecycle == "CREATED" && job.empty()) EXPECT_TRUE(healthy) << Text(c);
            // Suspended as asked, however the job ended, unless it failed.
            if (spec == "suspended" && lifecycle == "SUSPENDED" && job != "FAILED" && job != "FAILING")
              EXPECT_TRUE(healthy) << Text(c);
            // Wanted to run, at rest, and not running.
            if (spec == "running" && (lifecycle == "STABLE" || lifecycle == "DEPLOYED") &&
                (job == "CANCELED" || job == "SUSPENDED" || job == "CREATED") && reconciliation == "DEPLOYED")
              EXPECT_FALSE(healthy) << Text(c);
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 2U * 11 * 12 * 5 * 2);
}

TEST(FlinkHealthTest, KnowsTheStatesOfAMigration) {
  const struct {
    const char* what;
    Case c;
    bool healthy;
  } kCases[] = {
      {"a job that runs", {"running", "STABLE", "RUNNING", "DEPLOYED", "READY", ""}, true},
      {"a job that runs its old spec", {"running", "ROLLED_BACK", "RUNNING", "ROLLED_BACK", "READY", ""}, true},
      {"a batch job that ended", {"running", "STABLE", "FINISHED", "DEPLOYED", "READY", ""}, true},
      {"a job that failed for good", {"running", "FAILED", "FAILED", "DEPLOYED", "READY", ""}, false},
      {"a job that failed, the lifecycle not told yet",
       {"running", "STABLE", "FAILED", "DEPLOYED", "READY", ""},
       false},
      {"lost HA metadata",
       {"running", "FAILED", "RECONCILING", "DEPLOYED", "MISSING", "HA metadata is not available"},
       false},
      {"a held target", {"suspended", "CREATED", "", "UPGRADING", "MISSING", ""}, true},
      {"a held target that the operator has not seen", {"suspended", "", "", "", "", ""}, true},
      {"a held target with an invalid spec", {"suspended", "CREATED", "", "", "MISSING", "bad spec"}, false},
      {"a held target with an invalid spec, told as FAILED",
       {"suspended", "FAILED", "", "", "MISSING", "bad spec"},
       false},
      {"a stopped source, fenced", {"suspended", "SUSPENDED", "FINISHED", "DEPLOYED", "MISSING", ""}, true},
      {"a stopped source, its JobManager still there",
       {"suspended", "SUSPENDED", "FINISHED", "DEPLOYED", "READY", ""},
       true},
      {"a source stopped from a checkpoint", {"suspended", "SUSPENDED", "CANCELED", "DEPLOYED", "MISSING", ""}, true},
      {"stopped and degraded, operators up to 1.15",
       {"suspended", "UPGRADING", "CANCELED", "UPGRADING", "READY", ""},
       true},
      {"a source that is stopping", {"suspended", "UPGRADING", "CANCELLING", "UPGRADING", "READY", ""}, true},
      {"a target that starts", {"running", "DEPLOYED", "INITIALIZING", "DEPLOYED", "DEPLOYING", ""}, false},
      {"a target that cannot pull its image",
       {"running", "DEPLOYED", "RECONCILING", "DEPLOYED", "ERROR", "ErrImagePull: x"},
       true},
      {"a job that someone cancelled", {"running", "STABLE", "CANCELED", "DEPLOYED", "READY", ""}, false},
      {"a job between two versions", {"running", "UPGRADING", "CANCELED", "UPGRADING", "READY", ""}, true},
      {"a job between two versions, stuck",
       {"running", "UPGRADING", "CANCELED", "UPGRADING", "READY", "no savepoint dir"},
       false},
      {"a job that restarts", {"running", "STABLE", "RESTARTING", "DEPLOYED", "READY", ""}, true},
      {"a session cluster", {"", "STABLE", "", "DEPLOYED", "READY", ""}, true},
      {"a session cluster that starts", {"", "DEPLOYED", "", "DEPLOYED", "DEPLOYING", ""}, false},
      {"nothing known", {"running", "", "", "", "", ""}, false},
      {"a state that is new to us", {"running", "STABLE", "DREAMING", "DEPLOYED", "READY", ""}, false},
  };
  for (const auto& c : kCases) EXPECT_EQ(IsHealthy(c.c), c.healthy) << c.what << ": " << Text(c.c);
}

}  // namespace
}  // namespace baton::interpret
