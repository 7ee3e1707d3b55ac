// The operator's decisions, row by row of its contract.
#include "practice/flink_next.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "json/print.h"
#include "json/yaml.h"

namespace baton::practice {
namespace {

using json::Value;

Value Yaml(std::string_view text) {
  const auto value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

constexpr std::string_view kBase = R"(
flinkVersion: v1_20
flinkConfiguration: {state.checkpoints.dir: "s3://b/c", state.savepoints.dir: "s3://b/s"}
)";

FlinkSpec Spec(std::string_view job, std::string_view config = "{}", std::string_view version = "v1_20") {
  Value spec = Yaml(kBase);
  spec.Set("flinkVersion", version);
  spec.Set("job", Yaml(job));
  for (const json::Member& member : Yaml(config).members()) {
    spec.Edit("flinkConfiguration").Set(member.key(), member.value());
  }
  return FlinkSpec::From(spec);
}

Value Status(const FlinkSpec& recorded, std::string_view state = "DEPLOYED") {
  const Value text = json::Print(json::Object({{"spec", recorded.raw}}));
  return json::Object({{"reconciliationStatus", json::Object({{"state", state}, {"lastReconciledSpec", text}})}});
}

std::string Words(const FlinkAction& action) {
  static constexpr const char* kSteps[] = {"nothing",   "hold",    "wait",    "deploy-first", "observe",
                                           "record",    "stop",    "restore", "redeploy",     "fail",
                                           "shut-down", "recover", "restart", "error"};
  static constexpr const char* kStops[] = {"none", "stateless", "savepoint", "cancel", "delete"};
  std::string words = kSteps[static_cast<int>(action.step)];
  if (action.step == FlinkStep::kStop) StrAppend(words, " ", kStops[static_cast<int>(action.stop)]);
  const bool has_mode = action.step == FlinkStep::kStop || action.step == FlinkStep::kRestore ||
                        action.step == FlinkStep::kRecord || action.step == FlinkStep::kRecover;
  if (has_mode) StrAppend(words, " as ", UpgradeModeName(action.mode));
  return words;
}

struct Row {
  const char* what;
  const char* job;     // now
  const char* config;  // now
  const char* last;    // job as recorded; null: nothing is
  FlinkObserved seen;
  const char* wanted;
  const char* state = "DEPLOYED";
  OperatorVersion version = OperatorVersion::kV1x15;
  const char* flink = "v1_20";
};

FlinkObserved Running(bool ha = false) { return {.jm = "READY", .job = "RUNNING", .ha_metadata = ha}; }

TEST(FlinkNextTest, DecidesAsTheOperatorDoes) {
  const FlinkObserved missing{.jm = "MISSING"};
  const Row rows[] = {
      {"held from the first", "{state: suspended}", "{}", nullptr, missing, "hold"},
      {"first", "{state: running}", "{}", nullptr, missing, "deploy-first"},
      {"no change", "{upgradeMode: savepoint}", "{}", "{upgradeMode: savepoint}", Running(), "nothing"},
      {"the mode alone", "{upgradeMode: savepoint}", "{}", "{}", Running(), "observe"},
      {"a path alone is ignored", "{initialSavepointPath: s3://x}", "{}", "{}", Running(), "observe"},
      {"an operator key", "{}", "{kubernetes.operator.baton.seq: '7'}", "{}", Running(), "observe"},
      {"stateless", "{state: suspended}", "{}", "{}", Running(), "stop stateless as stateless"},
      {"stateless, ended",
       "{state: suspended}",
       "{}",
       "{}",
       {.jm = "READY", .job = "FAILED"},
       "stop none as stateless"},
      {"savepoint", "{state: suspended, upgradeMode: savepoint}", "{}", "{}", Running(), "stop savepoint as savepoint"},
      {"a spec change upgrades", "{args: [a], upgradeMode: savepoint}", "{}", "{}", Running(),
       "stop savepoint as savepoint"},
      {"canceled",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "CANCELED", .snapshot_known = true},
       "stop none as savepoint"},
      {"failed, known",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "FAILED", .ha_metadata = true, .snapshot_known = true},
       "stop none as savepoint"},
      {"failed, unknown",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "FAILED"},
       "error"},
      {"cancelling",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "CANCELLING"},
       "wait"},
      {"not running, fallback to a cancel",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "RECONCILING"},
       "stop cancel as savepoint"},
      {"not running, fallback with HA",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "DEPLOYING", .job = "RECONCILING", .ha_metadata = true},
       "stop delete as last-state"},
      {"not running, no fallback",
       "{state: suspended, upgradeMode: savepoint}",
       "{kubernetes.operator.job.upgrade.last-state-fallback.enabled: 'false'}",
       "{}",
       {.jm = "READY", .job = "RECONCILING"},
       "wait"},
      {"not running, no fallback, but another Flink",
       "{state: suspended, upgradeMode: savepoint}",
       "{kubernetes.operator.job.upgrade.last-state-fallback.enabled: 'false'}",
       "{}",
       {.jm = "READY", .job = "RECONCILING"},
       "stop cancel as savepoint",
       "DEPLOYED",
       OperatorVersion::kV1x15,
       "v2_0"},
      {"last-state, another Flink", "{state: suspended, upgradeMode: last-state}", "{}", "{}", Running(true),
       "stop savepoint as savepoint", "DEPLOYED", OperatorVersion::kV1x15, "v2_0"},
      {"last-state with HA", "{state: suspended, upgradeMode: last-state}", "{}", "{}", Running(true),
       "stop delete as last-state"},
      {"last-state by cancel", "{state: suspended, upgradeMode: last-state}",
       "{kubernetes.operator.job.upgrade.last-state.job-cancel.enabled: 'true'}", "{}", Running(true),
       "stop cancel as savepoint"},
      {"last-state without HA", "{state: suspended, upgradeMode: last-state}", "{}", "{}", Running(),
       "stop cancel as savepoint"},
      {"last-state, checkpoint too old",
       "{state: suspended, upgradeMode: last-state}",
       "{kubernetes.operator.job.upgrade.last-state.max.allowed.checkpoint.age: 1 min}",
       "{}",
       {.jm = "READY", .job = "RUNNING", .ha_metadata = true, .checkpoint_age = minutes(2)},
       "stop savepoint as savepoint"},
      {"never started",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "DEPLOYING", .job = "RECONCILING"},
       "fail"},
      {"restarting",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "DEPLOYING", .jm_was_up = true, .job = "RECONCILING"},
       "wait"},
      {"JobManager missing, no HA",
       "{state: suspended, upgradeMode: last-state}",
       "{}",
       "{}",
       {.jm = "MISSING", .job = "RECONCILING"},
       "error"},
      {"resume",
       "{upgradeMode: savepoint}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "FINISHED"},
       "restore as savepoint"},
      {"resume inherits", "{upgradeMode: savepoint}", "{}", "{state: suspended, upgradeMode: last-state}", missing,
       "restore as last-state"},
      {"resume as stateless forgets",
       "{upgradeMode: stateless}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "FINISHED"},
       "restore as stateless"},
      {"upgrade's second half",
       "{args: [b], upgradeMode: stateless}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "FINISHED"},
       "restore as savepoint",
       "UPGRADING"},
      {"suspend by cancel hangs",
       "{state: suspended, upgradeMode: last-state}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "CANCELED"},
       "nothing",
       "UPGRADING"},
      {"suspend by cancel, fixed",
       "{state: suspended, upgradeMode: last-state}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "CANCELED"},
       "record as savepoint",
       "UPGRADING",
       OperatorVersion::kV1x16},
      {"changed while suspended",
       "{state: suspended, args: [c]}",
       "{}",
       "{state: suspended, upgradeMode: savepoint}",
       {.jm = "READY", .job = "FINISHED"},
       "record as savepoint"},
      {"redeploy", "{savepointRedeployNonce: 2, initialSavepointPath: s3://x}", "{}", "{savepointRedeployNonce: 1}",
       Running(), "redeploy"},
      {"a nonce that is removed", "{}", "{}", "{savepointRedeployNonce: 1}", Running(), "observe"},
      {"past its time",
       "{state: suspended}",
       "{}",
       "{state: suspended}",
       {.jm = "READY", .job = "FINISHED", .past_ttl = true},
       "shut-down"},
      {"running past the time", "{}", "{}", "{}", {.jm = "READY", .job = "RUNNING", .past_ttl = true}, "nothing"},
      {"lost JobManager, HA",
       "{upgradeMode: savepoint}",
       "{}",
       "{upgradeMode: savepoint}",
       {.jm = "MISSING", .job = "RECONCILING", .ha_metadata = true},
       "recover as last-state"},
      {"lost JobManager, stateless", "{}", "{}", "{}", {.jm = "MISSING", .job = "RECONCILING"}, "recover as stateless"},
      {"lost JobManager, no way back",
       "{upgradeMode: savepoint}",
       "{}",
       "{upgradeMode: savepoint}",
       {.jm = "MISSING", .job = "RECONCILING"},
       "error"},
      {"manual savepoint pending",
       "{state: suspended, upgradeMode: savepoint}",
       "{}",
       "{}",
       {.jm = "READY", .job = "RUNNING", .savepoint_pending = true},
       "wait"},
      {"failed", "{}", "{}", "{}", {.jm = "READY", .job = "FAILED"}, "nothing"},
      {"failed, to be restarted",
       "{}",
       "{kubernetes.operator.job.restart.failed: 'true'}",
       "{}",
       {.jm = "READY", .job = "FAILED"},
       "restart"},
  };
  for (const Row& row : rows) {
    const FlinkSpec now = Spec(row.job, row.config, row.flink);
    const Value status = row.last == nullptr ? json::Object() : Status(Spec(row.last), row.state);
    EXPECT_EQ(Words(FlinkNext(now, status, row.seen, row.version)), row.wanted) << row.what;
  }
}

TEST(FlinkNextTest, DerivesTheLifecycleInTheOperatorsOrder) {
  const FlinkSpec running = Spec("{}");
  const FlinkSpec suspended = Spec("{state: suspended}");
  const auto with = [](Value status, std::string_view fields) {
    for (const json::Member& member : Yaml(fields).members()) status.Set(member.key(), member.value());
    return status;
  };
  Value stable = Status(running);
  stable.Edit("reconciliationStatus").Set("lastStableSpec", stable["reconciliationStatus"]["lastReconciledSpec"]);
  const struct {
    Value status;
    const char* wanted;
    OperatorVersion version = OperatorVersion::kV1x15;
  } rows[] = {
      {json::Object(), "CREATED"},
      {Yaml("{error: wrong}"), "FAILED"},
      {Status(running, "UPGRADING"), "UPGRADING"},
      {Status(suspended), "SUSPENDED"},
      {with(Status(suspended), "{jobStatus: {state: FAILED}}"), "SUSPENDED"},
      {with(Status(running), "{jobStatus: {state: FAILED}}"), "FAILED"},
      {with(stable, "{jobManagerDeploymentStatus: MISSING, error: Manual restore required.}"), "FAILED"},
      {with(stable, "{jobManagerDeploymentStatus: MISSING, error: Manual restore required.}"), "STABLE",
       OperatorVersion::kV1x12},
      {stable, "STABLE"},
      {Status(running), "DEPLOYED"},
  };
  for (const auto& row : rows) EXPECT_EQ(LifecycleOf(row.status, row.version), row.wanted) << row.status;
}

TEST(FlinkSpecTest, ReadsFlinksDurations) {
  const struct {
    const char* text;
    std::optional<Duration> wanted;
  } rows[] = {{"10 min", minutes(10)},    {"0 s", seconds(0)},     {"1d", hours(24)},
              {"500", milliseconds(500)}, {" 3 SEC ", seconds(3)}, {"", std::nullopt},
              {"PT1M", std::nullopt},     {"-1 s", std::nullopt},  {"9223372036854775807 d", std::nullopt}};
  for (const auto& row : rows) EXPECT_EQ(ParseFlinkDuration(row.text), row.wanted) << row.text;
}

TEST(FlinkSpecTest, FlattensNestedConfiguration) {
  const FlinkSpec spec = FlinkSpec::From(Yaml("{flinkConfiguration: {a: {b: {c: 1}}, list: [x, z], flag: true}}"));
  EXPECT_EQ(spec.Get("a.b.c"), "1");
  EXPECT_EQ(spec.Get("list"), "x;z");
  EXPECT_TRUE(spec.Flag("flag", false));
}

TEST(FlinkSpecTest, RefusesWhatTheOperatorRefuses) {
  const auto wrong = [](std::string_view spec, const FlinkSpec* last = nullptr, std::string_view name = "orders") {
    return ValidateFlink(name, FlinkSpec::From(Yaml(spec)), last == nullptr ? std::nullopt : std::optional(*last))
        .value_or("fine");
  };
  EXPECT_EQ(wrong("{flinkVersion: v1_20}"), "fine");
  EXPECT_EQ(wrong("{flinkVersion: v1_20, job: {}}"), "fine");
  EXPECT_EQ(wrong("{}"), "Flink Version must be defined.");
  EXPECT_EQ(wrong("{flinkVersion: v1_13}"), "Flink version v1_13 is not supported.");
  EXPECT_EQ(wrong("{flinkVersion: v1_20, flinkConfiguration: {kubernetes.cluster-id: x}}"),
            "Forbidden Flink config key: kubernetes.cluster-id");
  EXPECT_EQ(wrong("{flinkVersion: v1_20, job: {parallelism: 0}}"), "Job parallelism must be larger than 0");
  EXPECT_TRUE(wrong("{flinkVersion: v1_20, job: {upgradeMode: savepoint}}").starts_with("Checkpoint directory"));
  EXPECT_TRUE(
      wrong("{flinkVersion: v1_20, flinkConfiguration: {state.checkpoints.dir: x}, job: {upgradeMode: savepoint}}")
          .starts_with("Job could not be upgraded with savepoint"));
  EXPECT_TRUE(wrong("{flinkVersion: v1_20, jobManager: {replicas: 2}}").starts_with("High availability should"));
  EXPECT_TRUE(wrong("{flinkVersion: v1_20}", nullptr, "Orders").starts_with("The FlinkDeployment name: Orders"));
  EXPECT_TRUE(wrong("{flinkVersion: v1_20}", nullptr, std::string(46, 'a')).starts_with("The FlinkDeployment name"));
  const FlinkSpec last = Spec("{state: suspended, upgradeMode: last-state}");
  EXPECT_EQ(wrong("{flinkVersion: v1_20}", &last), "Cannot switch from job to session cluster");
  EXPECT_EQ(wrong("{flinkVersion: v1_20, job: {savepointRedeployNonce: 1}}", &last),
            "InitialSavepointPath must not be empty for savepoint redeployment");
  EXPECT_TRUE(wrong("{flinkVersion: v2_0, job: {}}", &last).starts_with("Changing flinkVersion after last-state"));
  EXPECT_TRUE(
      wrong("{flinkVersion: v1_20, mode: standalone, job: {}}", &last).starts_with("Cannot switch from native"));
}

}  // namespace
}  // namespace baton::practice
