// The kinds of src/practice/kinds, each driven through the API as a person or a control plane would.
#include <algorithm>

#include "base/base64.h"
#include "practice/job_manager.h"
#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

const kube::Resource kConfigMapsForTest{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

const KindSpec& SpecOf(std::string_view kind) {
  const auto at = std::ranges::find_if(KindSpecs(), [&](const KindSpec& spec) { return spec.resource.kind == kind; });
  EXPECT_NE(at, KindSpecs().end()) << kind;
  return *at;
}

struct KindCase {
  std::string kind;
  std::string object;
  std::string hold;
  std::string release;
  std::function<bool(const Value& status)> runs;
  std::function<bool(const Value& status)> stopped;
};

bool HasCondition(const Value& status, std::string_view type, std::string_view is) {
  return std::ranges::any_of(status["conditions"].items(),
                             [&](const Value& one) { return one["type"].str() == type && one["status"].str() == is; });
}

std::string Manifest(std::string_view kind, std::string_view spec, std::string_view more = "") {
  const KindSpec& known = SpecOf(kind);
  return StrCat("{apiVersion: ", known.resource.group, known.resource.group.empty() ? "" : "/", known.resource.version,
                ", kind: ", kind,
                ", metadata: {name: w, namespace: default, annotations: {practice.baton.io/rate: '40', ",
                "rollout.karmada.io/seq: '3'", more, "}}, spec: ", spec, "}");
}

constexpr std::string_view kPodTemplate =
    "selector: {matchLabels: {app: w}}, template: {metadata: {labels: {app: w}}, "
    "spec: {containers: [{name: c, image: 'nginx:1'}]}}";

std::vector<KindCase> KindCases() {
  return {
      {"Deployment", Manifest("Deployment", StrCat("{replicas: 2, ", kPodTemplate, "}")), "{spec: {replicas: 0}}",
       "{spec: {replicas: 2}}", [](const Value& s) { return s["availableReplicas"].int_or(0) == 2; },
       [](const Value& s) { return s["replicas"].int_or(0) == 0; }},
      {"StatefulSet",
       Manifest(
           "StatefulSet",
           StrCat("{replicas: 2, serviceName: w, ", kPodTemplate, ", volumeClaimTemplates: [{metadata: {name: data}, ",
                  "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}")),
       "{spec: {replicas: 0}}", "{spec: {replicas: 2}}",
       [](const Value& s) { return s["readyReplicas"].int_or(0) == 2; },
       [](const Value& s) { return s["replicas"].int_or(0) == 0; }},
      {"Job",
       Manifest(
           "Job",
           "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'batch:1'}]}}, suspend: false}"),
       "{spec: {suspend: true}}", "{spec: {suspend: false}}", [](const Value& s) { return s["ready"].int_or(0) == 1; },
       [](const Value& s) { return HasCondition(s, "Suspended", "True") && s["active"].int_or(0) == 0; }},
      {"KafkaConnector", Manifest("KafkaConnector", "{class: x, tasksMax: 1, state: running}"),
       "{spec: {state: stopped}}", "{spec: {state: running}}",
       [](const Value& s) { return s["connectorStatus"]["tasks"].size() == 1; },
       [](const Value& s) { return s["connectorStatus"]["connector"]["state"].str() == "STOPPED"; }},
      {"SparkApplication", Manifest("SparkApplication", "{image: 'spark:4', type: Java, mode: cluster}"),
       "{spec: {suspend: true}}", "{spec: {suspend: false}}",
       [](const Value& s) { return s["applicationState"]["state"].str() == "RUNNING"; },
       [](const Value& s) { return s["applicationState"]["state"].str() == "SUSPENDED"; }},
      {"RayJob", Manifest("RayJob", "{entrypoint: python a.py, shutdownAfterJobFinishes: true}"),
       "{spec: {suspend: true}}", "{spec: {suspend: false}}",
       [](const Value& s) { return s["jobDeploymentStatus"].str() == "Running"; },
       [](const Value& s) { return s["jobDeploymentStatus"].str() == "Suspended"; }},
      {"Pipeline", Manifest("Pipeline", "{vertices: []}"), "{spec: {lifecycle: {desiredPhase: Paused}}}",
       "{spec: {lifecycle: {desiredPhase: Running}}}",
       [](const Value& s) { return s["phase"].str() == "Running" && HasCondition(s, "Deployed", "True"); },
       [](const Value& s) { return s["phase"].str() == "Paused" && s["drainedOnPause"].bool_or(false); }},
      {"Cluster", Manifest("Cluster", "{instances: 2, bootstrap: {initdb: {}}}"),
       "{spec: {replica: {self: blue, primary: green, source: green}}}", "{spec: {replica: null}}",
       [](const Value& s) { return s["instancesReportedState"]["w-1"]["isPrimary"].bool_or(false); },
       [](const Value& s) {
         return !s["instancesReportedState"]["w-1"]["isPrimary"].bool_or(true) &&
                (s["demotionToken"].is_string() || s["systemID"].is_null());
       }},
  };
}

void PrintTo(const KindCase& kind, std::ostream* out) { *out << kind.kind; }

// One kind in practice clusters.
class Drive {
 public:
  Drive(PracticeWorld& world, std::string kind) : world(world), spec(SpecOf(kind)) {}

  PracticeWorld& world;
  const KindSpec& spec;

  rt::Task<void> Create(Member& member, std::string_view yaml) {
    Result<Value> made = NotFoundError("not asked yet");
    for (int i = 0; i < 100 && !made.ok() && made.error().kind() == ErrorKind::kNotFound; ++i) {
      made = co_await member.api->Create(spec.resource, FromYaml(yaml));
      co_await world.loop.Sleep(milliseconds(50));  // until the kind is served
    }
    EXPECT_TRUE(made.ok()) << made.error().ToString();
  }
  rt::Task<void> Patch(Member& member, std::string_view yaml) {
    const auto made =
        co_await member.api->Patch(spec.resource, {"default", "w"}, kube::PatchType::kMerge, FromYaml(yaml));
    EXPECT_TRUE(made.ok()) << made.error().ToString();
  }
  rt::Task<Value> Get(Member& member) {
    const auto got = co_await member.api->Get(spec.resource, {"default", "w"});
    co_return got.ok() ? *got : Value();
  }
  rt::Task<Value> Until(Member& member, std::function<bool(const Value& status)> wanted, std::string_view what) {
    Value object;
    for (int i = 0; i < 1200; ++i) {
      object = co_await Get(member);
      const Value& seen = object["status"]["observedGeneration"];
      const bool newest = seen.is_null() || seen == object["metadata"]["generation"];
      if (newest && wanted(object["status"])) co_return object;
      co_await world.loop.Sleep(milliseconds(100));
    }
    ADD_FAILURE() << spec.resource.kind << ": it never " << what << "; the status is " << object["status"];
    co_return object;
  }
  rt::Task<size_t> PodCount(Member& member) {
    const auto pods = co_await member.api->ListAll(Pods(), {.ns = "default"});
    co_return pods.ok() ? pods->items.size() : 99;
  }
  rt::Task<JudgeReport> Judged() {
    const auto report = co_await Judge(world.files, "", "default", StrCat("w.", ToLower(spec.resource.kind)));
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    co_return report.ok() ? *report : JudgeReport();
  }
};

class KindsTest : public testing::TestWithParam<KindCase> {};

INSTANTIATE_TEST_SUITE_P(Every, KindsTest, testing::ValuesIn(KindCases()),
                         [](const auto& info) { return info.param.kind; });

TEST_P(KindsTest, RunsWritesStopsAndGoesOnWhereItWas) {
  const KindCase& kind = GetParam();
  InPractice(1, [&](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, kind.kind);
    Member& blue = *co_await world.Add("blue");
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    EXPECT_NE(blue.cluster->Process(kind.kind, "default/w"), nullptr);
    co_await world.loop.Sleep(seconds(22));
    const JudgeReport first = co_await drive.Judged();
    EXPECT_GT(first.out, 100U);
    EXPECT_EQ(first.epochs, std::vector<std::string>{"3"});
    EXPECT_TRUE(first.clean()) << first.Text();

    co_await drive.Patch(blue, kind.hold);
    co_await drive.Until(blue, kind.stopped, "stopped");
    co_await world.loop.Sleep(seconds(1));  // Spark says so before its driver is gone
    EXPECT_EQ(blue.cluster->Process(kind.kind, "default/w"), nullptr);
    EXPECT_EQ(co_await drive.PodCount(blue), kind.kind == "Cluster" ? 2U : 0U);
    const uint64_t before = (co_await drive.Judged()).out;
    co_await world.loop.Sleep(seconds(10));
    EXPECT_EQ((co_await drive.Judged()).out, before) << "it wrote while it was stopped";

    co_await drive.Patch(blue, kind.release);
    co_await drive.Until(blue, kind.runs, "ran again");
    co_await world.loop.Sleep(seconds(12));
    const JudgeReport last = co_await drive.Judged();
    EXPECT_GT(last.out, before);
    EXPECT_EQ(last.lost, 0U) << last.Text();
    EXPECT_EQ(last.overlap_count, 0U) << last.Text();
    EXPECT_EQ(last.writers.size(), 2U);
    // What is killed and shows its rows at once shows some of them again.
    if (drive.spec.drains || drive.spec.exactly_once) EXPECT_TRUE(last.clean()) << last.Text();
  });
}

TEST_P(KindsTest, APodThatIsDeletedTakesItsProcessWithIt) {
  const KindCase& kind = GetParam();
  InPractice(2, [&](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, kind.kind);
    Member& blue = *co_await world.Add("blue");
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(8));
    const auto pods = co_await blue.api->ListAll(Pods(), {.ns = "default"});
    for (const Value& pod : pods->items) (void)co_await blue.api->Delete(Pods(), kube::Name::Of(pod));
    co_await world.loop.Sleep(seconds(1));
    co_await drive.Until(blue, kind.runs, "ran again");
    co_await world.loop.Sleep(seconds(8));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_EQ(report.writers.size(), 2U) << report.Text();
    EXPECT_EQ(report.lost, 0U) << report.Text();
    EXPECT_EQ(report.overlap_count, 0U) << report.Text();
  });
}

TEST_P(KindsTest, ARestartOfTheProgramGoesOn) {
  const KindCase& kind = GetParam();
  InPractice(3, [&](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, kind.kind);
    Member& blue = *co_await world.Add("blue");
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(8));
    world.Restart();
    co_await world.loop.Sleep(seconds(12));
    co_await drive.Until(blue, kind.runs, "ran again");
    const JudgeReport report = co_await drive.Judged();
    EXPECT_EQ(report.lost, 0U) << report.Text();
    EXPECT_EQ(report.wrong_state, 0U) << report.Text();
    EXPECT_GE(report.writers.size(), 2U) << report.Text();
  });
}

TEST_P(KindsTest, TwoOfThemAreTwoWriters) {
  const KindCase& kind = GetParam();
  InPractice(4, [&](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, kind.kind);
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await drive.Create(blue, kind.object);
    co_await drive.Create(green, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await drive.Until(green, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_GT(report.overlap_count, 0U) << report.Text();
    EXPECT_FALSE(report.clean());
  });
}

TEST_P(KindsTest, AKilledOperatorLeavesTheProcessAlone) {
  const KindCase& kind = GetParam();
  InPractice(5, [&](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, kind.kind);
    Member& blue = *co_await world.Add("blue");
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    const Job* job = blue.cluster->Process(kind.kind, "default/w");
    blue.cluster->KillOperator(seconds(20));
    co_await world.loop.Sleep(seconds(10));
    const uint64_t while_away = (co_await drive.Judged()).out;
    EXPECT_GT(while_away, 0U);
    co_await world.loop.Sleep(seconds(20));
    EXPECT_EQ(blue.cluster->Process(kind.kind, "default/w"), job);
    EXPECT_TRUE((co_await drive.Judged()).clean());
  });
}

TEST(DeploymentTest, AnImageOfTheRegistryFakeIsNeverPulled) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "Deployment");
    Member& blue = *co_await world.Add("blue");
    Value object = FromYaml(KindCases()[0].object);
    object.Edit("spec").Edit("template").Edit("spec").Edit("containers").Edit(size_t{0}).Set("image", "fake/nginx:1");
    const auto made = co_await blue.api->Create(drive.spec.resource, object);
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    co_await world.loop.Sleep(minutes(2));
    const Value status = (co_await drive.Get(blue))["status"];
    EXPECT_EQ(status["replicas"].int_or(-1), 2);
    EXPECT_EQ(status["availableReplicas"].int_or(0), 0);
    EXPECT_EQ(status["unavailableReplicas"].int_or(0), 2);
    EXPECT_TRUE(HasCondition(status, "Available", "False"));
    const auto pods = co_await blue.api->ListAll(Pods(), {.ns = "default"});
    for (const Value& pod : pods->items) {
      EXPECT_EQ(pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].str(), "ImagePullBackOff");
      EXPECT_EQ(pod["status"]["phase"].str(), "Pending");
    }
    // A good one: pods of the new template come, and the old ones go.
    co_await drive.Patch(blue, "{spec: {template: {spec: {containers: [{name: c, image: 'nginx:2'}]}}}}");
    co_await drive.Until(blue, KindCases()[0].runs, "ran");
    EXPECT_EQ(co_await drive.PodCount(blue), 2U);
  });
}

TEST(JobTest, CompletesAfterItsTimeAndIsNotRunAgain) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "Job");
    Member& blue = *co_await world.Add("blue");
    Value object = FromYaml(KindCases()[2].object);
    object.Edit("metadata").Edit("annotations").Set("practice.baton.io/run-time", "20 s");
    const auto made = co_await blue.api->Create(drive.spec.resource, object);
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    co_await drive.Until(blue, [](const Value& s) { return HasCondition(s, "Complete", "True"); }, "completed");
    EXPECT_EQ((co_await drive.Get(blue))["status"]["succeeded"].int_or(0), 1);
    world.Restart();
    co_await world.loop.Sleep(seconds(20));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_EQ(report.writers.size(), 1U);
    EXPECT_TRUE(report.clean()) << report.Text();
  });
}

// ---- CloudNativePG ----

rt::Task<std::string> Demote(Drive& drive, Member& member) {
  co_await drive.Patch(member, "{spec: {replica: {self: blue, primary: green, source: green}}}");
  const Value object =
      co_await drive.Until(member, [](const Value& s) { return s["demotionToken"].is_string(); }, "was demoted");
  co_return std::string(object["status"]["demotionToken"].str());
}

constexpr std::string_view kReplica =
    "{instances: 1, bootstrap: {recovery: {source: blue}}, replica: {self: green, primary: blue, source: blue}}";

TEST(PostgresTest, AnOperatorThatDiesInADemotionGivesTheTokenWhenItIsBack) {
  for (int away = 0; away < 20; ++away) {
    InPractice(1, [away](PracticeWorld& world) -> rt::Task<void> {
      world.options.kinds = true;
      Drive drive(world, "Cluster");
      Member& blue = *co_await world.Add("blue");
      co_await drive.Create(blue, KindCases()[7].object);
      co_await drive.Until(blue, KindCases()[7].runs, "ran");
      co_await drive.Patch(blue, "{spec: {replica: {self: blue, primary: green, source: green}}}");
      co_await world.loop.Sleep(away * milliseconds(50));
      blue.cluster->KillOperator(seconds(20));
      const Value object =
          co_await drive.Until(blue, [](const Value& s) { return s["demotionToken"].is_string(); }, "was demoted");
      EXPECT_FALSE(Base64Decode(object["status"]["demotionToken"].str()).value().empty());
    });
  }
}

TEST(PostgresTest, APromotionTokenHandsOverExactly) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "Cluster");
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await drive.Create(blue, KindCases()[7].object);
    co_await drive.Until(blue, KindCases()[7].runs, "ran");
    co_await drive.Create(green, Manifest("Cluster", kReplica));
    co_await world.loop.Sleep(seconds(13));
    EXPECT_EQ((co_await drive.Judged()).overlap_count, 0U) << "a replica writes nothing";
    const std::string token = co_await Demote(drive, blue);
    co_await drive.Patch(green, StrCat("{spec: {replica: {primary: green, promotionToken: '", token, "'}}}"));
    const Value promoted = co_await drive.Until(green, KindCases()[7].runs, "was promoted");
    EXPECT_EQ(promoted["status"]["lastPromotionToken"].str(), token);
    EXPECT_EQ(promoted["status"]["timelineID"].int_or(0), 2);
    EXPECT_EQ(promoted["status"]["currentPrimary"].str(), "w-1");
    EXPECT_EQ(promoted["status"]["systemID"], (co_await drive.Get(blue))["status"]["systemID"]);
    co_await world.loop.Sleep(seconds(12));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.reprocessed, 0U);
    EXPECT_EQ(report.writers.size(), 2U);
  });
}

TEST(PostgresTest, AForgedTokenLeavesItAReplica) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "Cluster");
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await drive.Create(blue, KindCases()[7].object);
    co_await drive.Until(blue, KindCases()[7].runs, "ran");
    co_await drive.Create(green, Manifest("Cluster", kReplica));
    co_await world.loop.Sleep(seconds(10));
    co_await Demote(drive, blue);
    const std::string forged = Base64Encode(R"({"databaseSystemIdentifier":"1","latestCheckpointREDOWALFile":"x"})");
    co_await drive.Patch(green, StrCat("{spec: {replica: {primary: green, promotionToken: '", forged, "'}}}"));
    co_await world.loop.Sleep(seconds(20));
    const Value status = (co_await drive.Get(green))["status"];
    EXPECT_NE(status["phase"].str().find("mismatching system identifiers"), std::string::npos) << status;
    EXPECT_EQ((co_await drive.Judged()).writers.size(), 1U);
  });
}

// ---- Strimzi ----

TEST(ConnectorTest, OffsetsAreListedAndAlteredOnlyWhileItIsStopped) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "KafkaConnector");
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    const KindCase kind = KindCases()[3];
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    co_await drive.Patch(blue,
                         "{metadata: {annotations: {strimzi.io/connector-offsets: alter}}, spec: "
                         "{alterOffsets: {fromConfigMap: {name: o}}}}");
    co_await drive.Until(blue, [](const Value& s) { return HasCondition(s, "Warning", "True"); }, "warned");
    EXPECT_TRUE((co_await drive.Get(blue))["metadata"]["annotations"].Has(kOffsetsAnnotation));
    co_await drive.Patch(blue,
                         "{metadata: {annotations: {strimzi.io/connector-offsets: null}}, spec: {state: stopped}}");
    co_await drive.Until(blue, kind.stopped, "stopped");
    co_await drive.Patch(blue,
                         "{metadata: {annotations: {strimzi.io/connector-offsets: list}}, spec: "
                         "{listOffsets: {toConfigMap: {name: o}}}}");
    co_await world.loop.Sleep(seconds(2));
    EXPECT_FALSE((co_await drive.Get(blue))["metadata"]["annotations"].Has(kOffsetsAnnotation));
    const auto map = co_await blue.api->Get(kConfigMapsForTest, {"default", "o"});
    EXPECT_TRUE(map.ok()) << map.error().ToString();
    if (!map.ok()) co_return;
    // Without them the other cluster would begin anew.
    Value copy = json::Object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", (*map)["data"]}});
    copy.Edit("metadata").Set("name", "o");
    copy.Edit("metadata").Set("namespace", "default");
    EXPECT_TRUE((co_await green.api->Create(kConfigMapsForTest, copy)).ok());
    co_await drive.Create(green,
                          Manifest("KafkaConnector", "{state: stopped, alterOffsets: {fromConfigMap: {name: o}}}",
                                   ", strimzi.io/connector-offsets: alter"));
    co_await drive.Until(green, kind.stopped, "stopped");
    co_await world.loop.Sleep(seconds(2));
    EXPECT_FALSE((co_await drive.Get(green))["metadata"]["annotations"].Has(kOffsetsAnnotation));
    co_await drive.Patch(green, kind.release);
    co_await drive.Until(green, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(10));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.writers.size(), 2U);
  });
}

// ---- volumes ----

TEST(VolumesTest, ASnapshotCarriesAVolumeToAnotherCluster) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "StatefulSet");
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    const KindCase kind = KindCases()[1];
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    co_await drive.Patch(blue, kind.hold);
    co_await drive.Until(blue, kind.stopped, "stopped");
    const auto snap = co_await blue.api->Create(
        VolumeSnapshots(),
        FromYaml("{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {name: s, "
                 "namespace: default}, spec: {source: {persistentVolumeClaimName: data-w-0}}}"));
    EXPECT_TRUE(snap.ok()) << snap.error().ToString();
    co_await world.loop.Sleep(seconds(3));
    const auto ready = co_await blue.api->Get(VolumeSnapshots(), {"default", "s"});
    EXPECT_TRUE((*ready)["status"]["readyToUse"].bool_or(false)) << *ready;
    const auto content = co_await blue.api->Get(
        VolumeSnapshotContents(), {"", std::string((*ready)["status"]["boundVolumeSnapshotContentName"].str())});
    EXPECT_TRUE(content.ok());
    const std::string handle((*content)["status"]["snapshotHandle"].str());
    EXPECT_FALSE(handle.empty());
    EXPECT_TRUE((co_await green.api->Create(
                     VolumeSnapshotContents(),
                     FromYaml(StrCat("{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotContent, metadata: "
                                     "{name: c}, spec: {driver: practice.baton.io, deletionPolicy: Retain, source: "
                                     "{snapshotHandle: ",
                                     handle, "}, volumeSnapshotRef: {name: s, namespace: default}}}"))))
                    .ok());
    EXPECT_TRUE((co_await green.api->Create(
                     VolumeSnapshots(),
                     FromYaml("{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: {name: s, "
                              "namespace: default}, spec: {source: {volumeSnapshotContentName: c}}}")))
                    .ok());
    const auto claim = co_await green.api->Create(
        Claims(), FromYaml("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-w-0, namespace: "
                           "default}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, "
                           "dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: s}}}"));
    EXPECT_TRUE(claim.ok()) << claim.error().ToString();
    co_await drive.Create(green, kind.object);
    co_await drive.Until(green, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    const JudgeReport report = co_await drive.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.writers.size(), 2U);
    EXPECT_EQ(report.reprocessed, 0U);
  });
}

TEST(VolumesTest, AnEmptyVolumeInAnotherClusterIsARewindThatTheJudgeSees) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    world.options.kinds = true;
    Drive drive(world, "StatefulSet");
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    const KindCase kind = KindCases()[1];
    co_await drive.Create(blue, kind.object);
    co_await drive.Until(blue, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    co_await drive.Patch(blue, kind.hold);
    co_await drive.Until(blue, kind.stopped, "stopped");
    co_await drive.Create(green, kind.object);
    co_await drive.Until(green, kind.runs, "ran");
    co_await world.loop.Sleep(seconds(12));
    EXPECT_GT((co_await drive.Judged()).duplicated, 0U);
  });
}

TEST(KindSpecTest, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(KindSpec::Parse("{kind: X}").ok());
  EXPECT_FALSE(KindSpec::Parse("{kind: X, plural: xs, apiVersion: a/v1, progress: nowhere}").ok());
  EXPECT_FALSE(KindSpec::Parse("{kind: X, plural: xs, apiVersion: a/v1, status: {gone: {}}}").ok());
  EXPECT_FALSE(KindSpec::Parse("{kind: X, plural: xs, apiVersion: a/v1, held: [{path: spec}]}").ok());
  EXPECT_TRUE(KindSpec::Parse("{kind: X, plural: xs, apiVersion: a/v1}").ok());
}

TEST(KindSpecTest, FillsAStatus) {
  const auto spec = KindSpec::Parse(
      "{kind: X, plural: xs, apiVersion: a/v1, status: {running: {count: '${pods}', t: 'a-${name}', e: '${error}', l: "
      "['${pods}']}}}");
  ASSERT_TRUE(spec.ok());
  const Value status = spec->Status(KindStep::kRunning, {{"pods", "2"}, {"name", "x"}, {"error", ""}});
  EXPECT_EQ(status.ToString(), R"({"count":2,"l":[2],"t":"a-x"})");
}

TEST(KindSpecTest, KnowsFakeImages) {
  EXPECT_TRUE(IsFakeImage("fake/nginx:1"));
  EXPECT_TRUE(IsFakeImage("fake:5000/nginx"));
  EXPECT_FALSE(IsFakeImage("fake"));
  EXPECT_FALSE(IsFakeImage("registry/fake"));
}

}  // namespace
}  // namespace baton::practice
