// MigrationProfiles: those that come with Baton, and what a wrong one is told.
#include "interpret/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/strings.h"
#include "json/yaml.h"

namespace baton::interpret {
namespace {

using json::Value;

Value Yaml(std::string_view text) {
  const Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << value.error().ToString() << text;
  return value.ok() ? *value : Value();
}

std::shared_ptr<const Profile> Builtin(std::string_view name) {
  for (const Value& object : BuiltinProfiles()) {
    if (object["metadata"]["name"].str() != name) continue;
    const auto profile = Profile::Compile(object);
    EXPECT_TRUE(profile.ok()) << profile.error().ToString();
    return profile.ok() ? *profile : nullptr;
  }
  ADD_FAILURE() << "no profile " << name;
  return nullptr;
}

Value WorkloadOf(const Profile& profile) {
  return Yaml(StrCat("{apiVersion: ", profile.kind().api_version, ", kind: ", profile.kind().kind,
                     ", metadata: {name: w, namespace: default}, spec: {replicas: 2, job: {}, selector: {matchLabels: "
                     "{a: b}}}}"));
}

TEST(ProfileTest, WhatComesWithBatonHoldsStopsAndRuns) {
  std::map<std::string, std::string> guarantees;
  for (const Value& object : BuiltinProfiles()) {
    const auto compiled = Profile::Compile(object);
    ASSERT_TRUE(compiled.ok()) << compiled.error().ToString();
    const Profile& profile = **compiled;
    guarantees[profile.name()] = profile.guarantee();
    const Value workload = WorkloadOf(profile);
    const Question question{.seq = 7, .ref = "state", .cluster = "blue", .peer = "green"};
    const auto held = profile.Held(workload, question);
    ASSERT_TRUE(held.ok()) << held.error().ToString();
    EXPECT_TRUE(profile.IsHeld(*held)) << profile.name() << *held;
    EXPECT_EQ(profile.EpochOf(*held), 7) << profile.name();
    const auto stopping = profile.Stopping(workload, question);
    ASSERT_TRUE(stopping.ok()) << stopping.error().ToString();
    EXPECT_TRUE(profile.IsHeld(*stopping)) << profile.name() << *stopping;
    const auto running = profile.Running(workload, question);
    ASSERT_TRUE(running.ok()) << running.error().ToString();
    EXPECT_FALSE(profile.IsHeld(*running)) << profile.name() << *running;
    EXPECT_FALSE(profile.IsHeld(workload)) << profile.name();
    // An object that nobody has looked at yet proves nothing.
    const Value nothing = json::Object({{"remains", json::Array()}, {"kept", json::Array()}});
    Value seen = *stopping;
    seen.Edit("metadata").Set("generation", 3);
    const auto judged = profile.Judge(seen, nothing, {.stop_seq = 7});
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_FALSE(judged->stop_proven && !judged->capture.empty()) << profile.name();
    EXPECT_FALSE(judged->runs) << profile.name();
    const auto started = profile.Judge(*running, nothing, {.start_seq = 7});
    ASSERT_TRUE(started.ok()) << started.error().ToString();
    EXPECT_FALSE(started->start_proven) << profile.name();
  }
  const std::map<std::string, std::string> expected = {
      {"cnpgcluster", "ExactlyOnce"}, {"deployment", "FencedOnly"},       {"flinkdeployment", "ExactlyOnce"},
      {"job", "FencedOnly"},          {"kafkaconnector", "AtLeastOnce"},  {"numaflowpipeline", "AtLeastOnce"},
      {"rayjob", "FencedOnly"},       {"sparkapplication", "FencedOnly"}, {"statefulset", "ExactlyOnce"}};
  EXPECT_EQ(guarantees, expected);
}

TEST(ProfileTest, WhatMustBePreparedNeedsATargetThatIsHeldFirst) {
  for (const std::string_view name : {"statefulset", "kafkaconnector", "cnpgcluster"})
    EXPECT_TRUE(Builtin(name)->needs_staging()) << name;
  for (const std::string_view name : {"flinkdeployment", "deployment", "job", "rayjob"})
    EXPECT_FALSE(Builtin(name)->needs_staging()) << name;
}

TEST(ProfileTest, TheScriptIsAskedAgainOnlyWhenSomethingIsNew) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  Value object = WorkloadOf(*profile);
  const Value related = Yaml("{remains: []}");
  const Question question{.seq = 7, .state_dir = "s3://a/7", .stop_seq = 7, .cluster = "blue", .peer = "green"};
  const auto all = [&](const Value& about, const Value& beside, const Question& asked) {
    const uint64_t before = profile->questions_missed();
    for (const auto& formed : {profile->Held(about, asked), profile->Stopping(about, asked)})
      EXPECT_TRUE(formed.ok()) << formed.error().ToString();
    EXPECT_TRUE(profile->Judge(about, beside, asked).ok());
    EXPECT_TRUE(profile->StateDir(about, asked.state_dir).ok());
    return profile->questions_missed() - before;
  };
  EXPECT_EQ(all(object, related, question), 4);
  EXPECT_EQ(all(object, related, question), 0);
  EXPECT_EQ(all(Yaml(object.ToString()), Yaml(related.ToString()), question), 0) << "equal is enough";
  EXPECT_EQ(all(object, Yaml("{remains: [{kind: Pod}]}"), question), 1) << "only the judge sees what is beside it";
  EXPECT_EQ(all(object, related, question), 0) << "with and without what is beside it are kept side by side";
  Question other = question;
  other.start_ref = "x";
  EXPECT_EQ(all(object, related, other), 3);
  object.Edit("spec").Set("replicas", 3);
  EXPECT_EQ(all(object, related, question), 4);
  EXPECT_EQ((*profile->Held(object, question))["spec"]["replicas"], 3);
}

TEST(ProfileTest, WhatAFlinkJobLeftIsACaptureOnlyWhereThatIsAskedFor) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  EXPECT_TRUE(profile->has_last_checkpoint());
  EXPECT_FALSE(Builtin("deployment")->has_last_checkpoint());
  const auto failed_with = [](std::string_view path) {
    return Yaml(StrCat(R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: w, generation: 5}
spec: {job: {state: suspended}}
status:
  observedGeneration: 5
  jobManagerDeploymentStatus: MISSING
  jobStatus: {state: FAILED, upgradeSavepointPath: ")",
                       path, R"("}
  reconciliationStatus:
    state: DEPLOYED
    lastReconciledSpec: '{"spec": {"job": {"state": "suspended", "upgradeMode": "savepoint"},
      "flinkConfiguration": {"kubernetes.operator.baton.seq": "7"}}}'
)"));
  };
  const Value related = Yaml("{remains: []}");
  Question question{.seq = 7, .state_dir = "s3://a/7", .stop_seq = 7, .prior_path = "s3://a/6/sp"};
  const struct {
    std::string_view path;
    bool asked;
    std::string_view capture;
  } rows[] = {
      {"s3://c/chk-19", false, ""},
      {"s3://c/chk-19", true, "s3://c/chk-19"},
      {"s3://a/6/sp", true, "s3://a/6/sp"},  // no checkpoint since it was started from there
      {"KUBERNETES_OPERATOR_LAST_STATE", true, ""},
      {"", true, ""},
  };
  for (const auto& row : rows) {
    question.last_checkpoint = row.asked;
    const auto judged = profile->Judge(failed_with(row.path), related, question);
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_TRUE(judged->stop_proven) << judged->stop_missing;
    EXPECT_EQ(judged->capture, row.capture) << row.path;
    EXPECT_EQ(judged->stop_failed.empty(), !row.capture.empty()) << row.path;
  }
}

// It is said to have the one that it began from also when it was cancelled, or failed, while it was being restored from
// a newer one.
TEST(ProfileTest, WhatAFlinkJobBeganFromIsNoCaptureOfWhatItLeft) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  const struct {
    std::string_view job, path;
    bool is_beginning;
  } rows[] = {
      {"CANCELED", "s3://a/6/sp", true},  // what it was called while it ran
      {"CANCELED", "s3://a/4/sp", true},  // what a move brought it with
      {"FAILED", "s3://a/4/sp", true},    //
      {"FAILED", "s3://a/6/sp", false},   // it had failed before, and that is what it left
      {"CANCELED", "s3://c/chk-19", false},
  };
  const Question question{.seq = 7,
                          .state_dir = "s3://a/7",
                          .last_checkpoint = true,
                          .stop_seq = 7,
                          .prior_path = "s3://a/6/sp",
                          .began_from = "s3://a/4/sp"};
  for (const auto& row : rows) {
    const Value object = Yaml(
        StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w, generation: 5}, ",
               "spec: {job: {state: suspended}}, status: {observedGeneration: 5, ",
               "jobManagerDeploymentStatus: MISSING, jobStatus: {state: ", row.job, ", upgradeSavepointPath: '",
               row.path, "'}, reconciliationStatus: {state: DEPLOYED, ",
               R"(lastReconciledSpec: '{"spec": {"job": {"state": "suspended", "upgradeMode": "savepoint"}, )",
               R"("flinkConfiguration": {"kubernetes.operator.baton.seq": "7"}}}'}}})"));
    const auto judged = profile->Judge(object, Yaml("{remains: []}"), question);
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_EQ(judged->capture, row.is_beginning ? "" : row.path) << row.job;
    EXPECT_EQ(judged->stop_failed.find("the one that it began from") != std::string::npos, row.is_beginning);
    EXPECT_EQ(!judged->state_lost.empty(), row.is_beginning) << row.job << " " << row.path;
  }
}

// A job that is restored by a JobManager that began anew does not say from what yet.
TEST(ProfileTest, AFlinkJobIsUnsureOfItsStateOnceItHasRunAndItsJobManagerBeganAnew) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  const std::string_view first = "{creationTimestamp: '2030-01-01T00:00:10Z', labels: {component: jobmanager}}";
  const struct {
    std::string_view stable, metadata, containers;
    bool unsure;
  } rows[] = {
      {"running", first, "[{restartCount: 0, state: {running: {}}}]", false},
      {"running", first, "[{restartCount: 1, state: {running: {}}}]", true},
      {"running", first, "[{restartCount: 0, state: {terminated: {exitCode: 1}}}]", true},
      {"running", "{creationTimestamp: '2030-01-01T00:01:00Z', labels: {component: jobmanager}}", "[]", true},
      {"suspended", first, "[{restartCount: 1}]", false},  // it never ran
      {"running", "{labels: {component: taskmanager}}", "[{restartCount: 7}]", false},
  };
  for (const auto& row : rows) {
    const Value object = Yaml(
        StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w}, spec: {job: ",
               "{state: suspended}}, status: {jobStatus: {state: RECONCILING, startTime: '1893456014407'}, ",
               R"(reconciliationStatus: {lastStableSpec: '{"spec": {"job": {"state": ")", row.stable, R"("}}}'}}})"));
    const Value related = Yaml(StrCat("{remains: [{kind: Pod, metadata: ", row.metadata,
                                      ", status: {containerStatuses: ", row.containers, "}}]}"));
    const auto judged = profile->Judge(object, related, {.stop_seq = 7});
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_EQ(judged->unsure, row.unsure) << row.stable << " " << row.metadata << " " << row.containers;
  }
}

// Recorded as last-state: what it did last is in the metadata of its cluster, and what its operator names is older.
TEST(ProfileTest, AFlinkJobWhoseStateIsInItsClusterOnlyHasNoCaptureAndMayHaveProgressed) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  for (const std::string_view mode : {"savepoint", "last-state"}) {
    const Value object = Yaml(
        StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w, generation: 5}, ",
               "spec: {job: {state: suspended}}, status: {observedGeneration: 5, jobManagerDeploymentStatus: MISSING, ",
               "jobStatus: {state: FINISHED, upgradeSavepointPath: 's3://a/6/sp'}, reconciliationStatus: {state: ",
               R"(DEPLOYED, lastReconciledSpec: '{"spec": {"job": {"state": "suspended", "upgradeMode": ")", mode,
               R"("}, "flinkConfiguration": {"kubernetes.operator.baton.seq": "7"}}}'}}})"));
    for (const bool source : {true, false}) {
      const Question question{.seq = 7,
                              .state_dir = "s3://a/7",
                              .any_way = !source,
                              .last_checkpoint = source,
                              .stop_seq = 7,
                              .prior_path = "s3://a/6/sp"};
      const auto judged = profile->Judge(object, Yaml("{remains: []}"), question);
      ASSERT_TRUE(judged.ok()) << judged.error().ToString();
      EXPECT_TRUE(judged->stop_proven) << judged->stop_missing;
      const bool portable = mode == "savepoint";
      EXPECT_EQ(judged->capture, portable && source ? "s3://a/6/sp" : "") << mode;
      EXPECT_EQ(judged->progress, !portable ? "" : (source ? "some" : "none")) << mode;
      EXPECT_EQ(judged->stop_failed.empty(), portable) << mode;
      EXPECT_EQ(judged->state_lost, "") << "told to run on it finds what it did last";
    }
  }
}

TEST(ProfileTest, AFlinkJobThatWasStoppedWithoutAStateWouldRunOnFromNothing) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  const struct {
    std::string_view job, recorded, mode, path;
    bool lost, ending;
  } rows[] = {
      {"CANCELED", "suspended", "savepoint", "", true, false},
      {"CANCELED", "suspended", "savepoint", "KUBERNETES_OPERATOR_LAST_STATE", true, false},
      {"CANCELED", "suspended", "savepoint", "s3://c/chk-19", false, false},
      {"FINISHED", "suspended", "last-state", "", false, false},  // it is in the HA metadata
      {"CANCELED", "running", "savepoint", "", false, false},     // the operator asks for a restore by hand
      {"RUNNING", "running", "stateless", "", false, false},
      {"CANCELLING", "running", "savepoint", "", false, true},
  };
  for (const auto& row : rows) {
    const Value object =
        Yaml(StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w, generation: 5},",
                    "spec: {job: {state: suspended}}, status: {observedGeneration: 4, jobStatus: {state: ", row.job,
                    ", upgradeSavepointPath: '", row.path, "'}, reconciliationStatus: {state: UPGRADING, ",
                    R"(lastReconciledSpec: '{"spec": {"job": {"state": ")", row.recorded, R"(", "upgradeMode": ")",
                    row.mode, R"("}}}'}}})"));
    const auto judged = profile->Judge(object, Yaml("{remains: []}"), {.seq = 8, .stop_seq = 7});
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_EQ(!judged->state_lost.empty(), row.lost) << row.job << " " << row.recorded << " '" << row.path << "'";
    EXPECT_EQ(judged->ending, row.ending) << row.job << " " << row.recorded;
  }
}

// Its JobManager ended with it and began anew, and found it finished: where its savepoint is nobody knows any more.
TEST(ProfileTest, AFlinkJobOfWhoseStopNoStateIsKnownWouldRunOnFromAnOlderOne) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  const struct {
    std::string_view job, path;
    bool any_way, lost;
  } rows[] = {
      {"FINISHED", "s3://a/6/sp", false, true},     // what it had before it was stopped
      {"FINISHED", "s3://a/7/sp", false, false},    // of this stop
      {"FINISHED", "s3://c/chk-19", false, false},  // newer than what it had, wherever it is
      {"FAILED", "s3://a/6/sp", false, false},      // its operator starts that again by itself
      {"FINISHED", "s3://a/6/sp", true, false},     // a target: what it had done is judged by what it left
  };
  for (const auto& row : rows) {
    const Value object = Yaml(
        StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w, generation: 5}, ",
               "spec: {job: {state: suspended}}, status: {observedGeneration: 5, jobManagerDeploymentStatus: MISSING, ",
               "jobStatus: {state: ", row.job, ", upgradeSavepointPath: '", row.path, "'}, reconciliationStatus: ",
               R"({state: DEPLOYED, lastReconciledSpec: '{"spec": {"job": {"state": "suspended", "upgradeMode": )",
               R"("savepoint"}, "flinkConfiguration": {"kubernetes.operator.baton.seq": "7"}}}'}}})"));
    const auto judged = profile->Judge(
        object, Yaml("{remains: []}"),
        {.seq = 7, .state_dir = "s3://a/7", .any_way = row.any_way, .stop_seq = 7, .prior_path = "s3://a/6/sp"});
    ASSERT_TRUE(judged.ok()) << judged.error().ToString();
    EXPECT_EQ(!judged->state_lost.empty(), row.lost) << row.job << " " << row.path << " " << judged->state_lost;
    if (row.lost) EXPECT_NE(judged->state_lost.find("is in s3://a/7"), std::string::npos) << judged->state_lost;
  }
}

TEST(ProfileTest, ACloudNativePgReplicaIsReadyWhenItHasBeenCopiedAndAnswers) {
  const auto profile = Builtin("cnpgcluster");
  ASSERT_NE(profile, nullptr);
  EXPECT_TRUE(profile->prepares());
  const struct {
    std::string_view status;
    int64_t start_seq;
    bool ready;
  } rows[] = {
      {"{}", -1, false},
      {"{phase: Setting up primary}", 5, false},
      {"{systemID: '7', readyInstances: 0}", -1, false},
      {"{systemID: '7', readyInstances: 2}", -1, true},
      {"{systemID: '7', readyInstances: 0}", 5, true},  // a source that is to run again
  };
  for (const auto& row : rows) {
    Value object = WorkloadOf(*profile);
    object.Set("status", Yaml(row.status));
    const auto why = profile->Prepared(object, Yaml("{remains: []}"), {.start_seq = row.start_seq});
    ASSERT_TRUE(why.ok()) << why.error().ToString();
    EXPECT_EQ(why->empty(), row.ready) << row.status << ": " << *why;
  }
}

TEST(ProfileTest, AFlinkJobWhoseOperatorHasNotRecordedAStopWithoutACaptureMayYetBeCancelled) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  const struct {
    std::string_view wanted, job, recorded;
    bool ending, in_hand;
  } rows[] = {
      {"suspended", "RECONCILING", "running", true, false}, {"suspended", "FAILED", "running", true, false},
      {"suspended", "RUNNING", "running", false, true},     {"suspended", "FINISHED", "suspended", false, false},
      {"running", "RECONCILING", "running", false, false},
  };
  for (const auto& row : rows) {
    const Value object =
        Yaml(StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, metadata: {name: w, generation: 5}, "
                    "spec: {job: ",
                    "{state: ", row.wanted, "}}, status: {observedGeneration: 4, jobStatus: {state: ", row.job,
                    ", upgradeSavepointPath: 's3://c/chk-19'}, reconciliationStatus: {state: DEPLOYED, ",
                    R"(lastReconciledSpec: '{"spec": {"job": {"state": ")", row.recorded,
                    R"(", "upgradeMode": "savepoint"}}}'}}})"));
    for (const bool without : {false, true}) {
      const auto judged =
          profile->Judge(object, Yaml("{remains: []}"), {.seq = 8, .last_checkpoint = without, .stop_seq = 7});
      ASSERT_TRUE(judged.ok()) << judged.error().ToString();
      EXPECT_EQ(judged->ending, row.ending && without) << row.wanted << " " << row.job << " " << row.recorded;
      EXPECT_EQ(judged->in_hand, row.in_hand && without) << row.wanted << " " << row.job << " " << row.recorded;
    }
  }
}

TEST(ProfileTest, AJobAndASparkApplicationRunOnlyWhereAPodOfThemDoes) {
  const struct {
    std::string_view profile, status;
  } kinds[] = {{"job", "{active: 1, ready: 1}"}, {"sparkapplication", "{applicationState: {state: RUNNING}}"}};
  const struct {
    std::string_view remains;
    bool runs;
  } rows[] = {
      {"[{kind: Pod, metadata: {name: p}, status: {phase: Running}}]", true},
      {"[]", false},
      {"[{kind: Pod, metadata: {name: p}, status: {phase: Pending}}]", false},
      {"[{kind: Pod, metadata: {name: p, deletionTimestamp: '2030-01-01T00:00:00Z'}, status: {phase: Running}}]",
       false},
  };
  for (const auto& kind : kinds) {
    const auto profile = Builtin(kind.profile);
    ASSERT_NE(profile, nullptr);
    Value object = WorkloadOf(*profile);
    object.Set("status", Yaml(kind.status));
    for (const auto& row : rows) {
      const auto judged = profile->Judge(object, Yaml(StrCat("{remains: ", row.remains, "}")), {.start_seq = 3});
      ASSERT_TRUE(judged.ok()) << judged.error().ToString();
      EXPECT_EQ(judged->runs, row.runs) << kind.profile << " " << row.remains;
      EXPECT_EQ(judged->start_proven, row.runs) << kind.profile << " " << row.remains;
    }
  }
}

TEST(ProfileTest, WhatIsLargeIsNotRemembered) {
  const auto profile = Builtin("flinkdeployment");
  ASSERT_NE(profile, nullptr);
  Value object = WorkloadOf(*profile);
  object.Edit("spec").Set("text", std::string(size_t{1} << 20, 'x'));
  for (int i = 1; i <= 2; ++i) {
    EXPECT_TRUE(profile->Judge(object, Value(), {}).ok());
    EXPECT_EQ(profile->questions_missed(), i);
  }
}

TEST(ProfileTest, TheExampleOfTheManualIsAProfile) {
  const auto read = [](const std::string& name) {
    std::ifstream file(StrCat(BATON_SOURCE_DIR, "/docs/examples/", name));
    std::stringstream text;
    text << file.rdbuf();
    return Yaml(text.str());
  };
  const auto profile = Profile::Compile(read("profile-widget.yaml"));
  ASSERT_TRUE(profile.ok()) << profile.error().ToString();
  const Value widget = read("widget.yaml");
  const Value related = Yaml("{remains: [], kept: []}");
  const Question stop{.state_dir = "s3://widgets/example-4", .stop_seq = 4};
  const auto judged = (*profile)->Judge(widget, related, stop);
  ASSERT_TRUE(judged.ok()) << judged.error().ToString();
  EXPECT_TRUE(judged->held);
  EXPECT_TRUE(judged->stop_proven) << judged->stop_missing;
  EXPECT_EQ(judged->capture, "s3://widgets/example-4/state");
  const auto with_pod = (*profile)->Judge(widget, Yaml("{remains: [{kind: Pod}]}"), stop);
  ASSERT_TRUE(with_pod.ok());
  EXPECT_FALSE(with_pod->stop_proven);
  EXPECT_EQ(with_pod->stop_missing, "pods are still there");
}

constexpr std::string_view kMinimal =
    "{metadata: {name: m}, spec: {target: {apiVersion: a/v1, kind: A}, epoch: /spec/seq, hold: [{path: /spec/off, "
    "value: "
    "true}], script: 'function Judge() return {} end'}}";

TEST(ProfileTest, SaysWhatIsWrong) {
  EXPECT_TRUE(Profile::Compile(Yaml(kMinimal)).ok());
  struct Row {
    std::string path;
    std::string value;
    std::string says;
  };
  for (const Row& row :
       std::vector<Row>{{"target", "{}", "apiVersion and kind are needed"},
                        {"guarantee", "Sometimes", "must be ExactlyOnce, AtLeastOnce or FencedOnly"},
                        {"epoch", "/status/seq", "must be a JSON pointer into /spec"},
                        {"hold", "[]", "something must keep a workload from running"},
                        {"hold", "[{path: spec}]", "path must be a JSON pointer"},
                        {"related", "[{apiVersion: v1, kind: Pod}]", "one of name, labelSelector, selector"},
                        {"related", "[{apiVersion: v1, kind: Pod, name: a, selector: /spec/selector}]",
                         "one of name, labelSelector"},
                        {"related", "[{apiVersion: v1, kind: Pod, selector: spec}]", "selector must be a JSON pointer"},
                        {"related", "[{apiVersion: v1, kind: Pod, labelSelector: a, others: 'b in c'}]",
                         "others must be \"*\" or a label selector: "},
                        {"related", "[{apiVersion: v1, kind: Pod, labelSelector: a, others: ''}]", "others must be"},
                        {"script", "'function Other() end'", "must define Judge"}}) {
    Value object = Yaml(kMinimal);
    object.Edit("spec").Set(row.path, Yaml(row.value));
    const auto compiled = Profile::Compile(object);
    ASSERT_FALSE(compiled.ok()) << row.path << row.value;
    EXPECT_NE(compiled.error().message().find(row.says), std::string::npos) << compiled.error().message();
  }
}

TEST(ProfileTest, WhatIsFoundIsFoundByTheObjectsOwnSelector) {
  const Related by_object{.api_version = "v1", .kind = "Pod", .selector = "/spec/selector"};
  EXPECT_EQ(SelectorFor(by_object, "w", Yaml("{spec: {selector: {matchLabels: {b: '2', a: '1'}}}}")), "a=1,b=2");
  EXPECT_EQ(SelectorFor(by_object, "w", Yaml("{spec: {}}")), "");
  EXPECT_EQ(SelectorFor({.label_selector = "app=${name}"}, "w", Value()), "app=w");
  EXPECT_EQ(SelectorFor({.label_selector = "*"}, "w", Value()), "");
}

// A pod that is taken for another's is not waited for: only what surely is another's may be.
TEST(ProfileTest, InDoubtAPodWithTheRightLabelIsTheWorkloads) {
  struct Row {
    std::string_view labels, controller;
    bool of_another_job;  // than the FlinkDeployment w
    bool of_another_set;  // than the StatefulSet w
  };
  const Row rows[] = {
      {"", "", false, false},
      {"type: flink-native-kubernetes, component: jobmanager", "ReplicaSet w-1", false, true},
      {"type: flink-native-kubernetes, component: taskmanager", "Deployment w", false, true},
      {"type: flink-standalone-kubernetes, component: taskmanager", "ReplicaSet w-taskmanager-1", false, true},
      {"component: jobmanager", "ReplicaSet somebody-1", false, true},
      {"type: flink-native-kubernetes", "ReplicaSet somebody-1", false, true},
      {"", "Deployment w", false, true},
      {"", "FlinkDeployment w", false, true},
      {"", "StatefulSet w", true, false},
      {"", "StatefulSet other", true, true},
      {"type: web, component: front", "ReplicaSet w-front-1", true, true},
  };
  const auto job = Builtin("flinkdeployment");
  const auto set = Builtin("statefulset");
  const auto is_of_another = [](const Profile& profile, const Value& pod) {
    const auto rule = std::ranges::find(profile.related(), "Pod", &Related::kind);
    return profile.IsOfAnother(*rule, "w", pod);
  };
  for (const Row& row : rows) {
    Value pod = Yaml(StrCat("{metadata: {labels: {app: w, ", row.labels, "}}}"));
    const auto words = Split(row.controller, ' ');
    if (words.size() == 2) {
      pod.Edit("metadata")
          .Set("ownerReferences",
               Yaml(StrCat("[{kind: Node, name: n}, {kind: ", words[0], ", name: ", words[1], ", controller: true}]")));
    }
    EXPECT_EQ(is_of_another(*job, pod), row.of_another_job) << pod;
    EXPECT_EQ(is_of_another(*set, pod), row.of_another_set) << pod;
    pod.Edit("metadata").Erase("ownerReferences");
    EXPECT_FALSE(is_of_another(*job, pod) || is_of_another(*set, pod)) << pod;
  }
}

TEST(ProfileTest, WhatIsBesideMustBeNamed) {
  const auto with = [](std::string_view beside) {
    Value object = Yaml(kMinimal);
    object.Edit("spec").Set("script",
                            StrCat("function Judge() return {} end\nfunction Beside(o, r, q) return {", beside,
                                   "} end\nfunction Prepared(o, r, q) return q.cluster .. q.peer end"));
    const auto profile = Profile::Compile(object);
    EXPECT_TRUE(profile.ok());
    return *profile;
  };
  const Value object = Yaml("{apiVersion: a/v1, kind: A, metadata: {name: w}, spec: {}}");
  const Question question{.cluster = "blue", .peer = "green"};
  EXPECT_TRUE(with("")->HasBeside());
  EXPECT_TRUE(with("")->Beside(object, Value(), question).ok());
  EXPECT_FALSE(with("{kind = 'X'}")->Beside(object, Value(), question).ok());
  const auto one = with("{apiVersion = 'v1', kind = 'ConfigMap', metadata = {name = 'x'}}");
  const auto made = one->Beside(object, Value(), question);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->size(), 1U);
  EXPECT_FALSE(with("{remove = true, apiVersion = 'v1', kind = 'ConfigMap', metadata = {name = 'x'}}")
                   ->Beside(object, Value(), question)
                   .ok());
  const auto prepared = one->Prepared(object, Value(), question);
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(*prepared, "bluegreen");
}

TEST(StatefulSetProfileTest, CarriesEveryClaimByItsHandle) {
  const auto profile = Builtin("statefulset");
  ASSERT_NE(profile, nullptr);
  const Value object = Yaml(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default, generation: 2}
spec: {replicas: 0, selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: data}}]}
status: {observedGeneration: 2, replicas: 0}
)");
  const Value claims = Yaml(R"(
remains: []
kept:
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-0, uid: u0}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-1, uid: u1}, spec: {accessModes: [ReadWriteOnce]}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-db-x, uid: u2}, spec: {}}
)");
  const Question stop{.stop_seq = 4};
  const auto beside = profile->Beside(object, claims, stop);
  ASSERT_TRUE(beside.ok()) << beside.error().ToString();
  ASSERT_EQ(beside->size(), 2U);
  EXPECT_EQ((*beside)[0]["metadata"]["name"].str(), "data-db-0-baton-4");
  const auto early = profile->Judge(object, claims, stop);
  ASSERT_TRUE(early.ok());
  EXPECT_FALSE(early->stop_proven);
  Value all = claims;
  for (const std::string_view n : {"0", "1"}) {
    all.Edit("kept").Push(
        Yaml(StrCat("{kind: VolumeSnapshot, metadata: {name: data-db-", n,
                    "-baton-4}, status: {readyToUse: true, boundVolumeSnapshotContentName: c", n, "}}")));
    all.Edit("kept").Push(Yaml(StrCat("{kind: VolumeSnapshotContent, metadata: {name: c", n,
                                      "}, spec: {driver: csi}, status: {snapshotHandle: h", n, "}}")));
  }
  const auto judged = profile->Judge(object, all, stop);
  ASSERT_TRUE(judged.ok()) << judged.error().ToString();
  EXPECT_TRUE(judged->stop_proven) << judged->stop_missing;
  EXPECT_EQ(judged->capture, "csi data-db-0=h0 1Gi ReadWriteOnce;data-db-1=h1 1Gi ReadWriteOnce");
  // Before it starts elsewhere: a claim of an earlier life goes, then the captured one comes.
  const Question start{.ref = judged->capture, .start_seq = 5};
  const auto first = profile->Beside(object, claims, start);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->size(), 2U);
  EXPECT_TRUE((*first)[0]["remove"].bool_or(false));
  EXPECT_EQ((*first)[0]["metadata"]["uid"].str(), "u0");
  const auto then = profile->Beside(object, Yaml("{remains: [], kept: []}"), start);
  ASSERT_TRUE(then.ok());
  EXPECT_EQ(then->size(), 6U);
  const auto not_yet = profile->Prepared(object, claims, start);
  ASSERT_TRUE(not_yet.ok());
  EXPECT_EQ(*not_yet, "claim data-db-0 is of an earlier life");
}

TEST(StatefulSetProfileTest, AnOlderLeaderDoesNotRemoveANewerClaim) {
  const auto profile = Builtin("statefulset");
  ASSERT_NE(profile, nullptr);
  const Value object = Yaml(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 0, selector: {matchLabels: {a: "
      "b}}, "
      "volumeClaimTemplates: [{metadata: {name: data}}]}}");
  const Value related = Yaml(
      "{remains: [], kept: [{kind: PersistentVolumeClaim, metadata: {name: data-db-0, uid: u, annotations: "
      "{rollout.karmada.io/seq: '9'}}, spec: {}}]}");
  const auto beside = profile->Beside(object, related, {.ref = "csi data-db-0=h 1Gi ReadWriteOnce", .start_seq = 5});
  ASSERT_TRUE(beside.ok()) << beside.error().ToString();
  EXPECT_TRUE(beside->empty());
}

}  // namespace
}  // namespace baton::interpret
