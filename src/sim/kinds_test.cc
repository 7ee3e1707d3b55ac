// A whole move of every kind that has a built-in profile, in the simulated world: from apply to the judge's table, with
// the operators of practice clusters.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "practice/volumes.h"
#include "sim/bad_calls.h"
#include "sim/scene_for_test.h"
#include "sim/workloads.h"

namespace baton::sim {
namespace {

struct KindMove {
  std::string kind;
  std::string guarantee;
  bool exact = true;  // nothing twice; else only nothing lost, and never two writers
};

void PrintTo(const KindMove& move, std::ostream* out) { *out << move.kind; }

std::vector<KindMove> Kinds() {
  return {
      {"Deployment", "FencedOnly"},      {"StatefulSet", "ExactlyOnce"},     {"Job", "FencedOnly"},
      {"KafkaConnector", "AtLeastOnce"}, {"SparkApplication", "FencedOnly"}, {"RayJob", "FencedOnly", false},
      {"Pipeline", "AtLeastOnce"},       {"Cluster", "ExactlyOnce"},
  };
}

// One workload of one kind, moved about.
class Move {
 public:
  Move(World& world, const KindMove& kind)
      : world(world), kind(kind), workload(*Workload::Of(kind.kind, "default/w")), resource(workload.resource) {}

  World& world;
  const KindMove& kind;
  Workload workload;
  kube::Resource resource;
  std::string from;
  std::vector<std::string> problems;

  void Expect(bool holds, std::string what) {
    if (!holds) problems.push_back(std::move(what));
  }
  std::string ApiVersion() const {
    return resource.group.empty() ? resource.version : StrCat(resource.group, "/", resource.version);
  }
  // The processes themselves, not what anyone says of them.
  std::string Running() {
    std::string where;
    for (const std::string& cluster : kClusters3) {
      if (RunsIn(world.practice(cluster), kind.kind, "default/w")) where += (where.empty() ? "" : "+") + cluster;
    }
    return where;
  }
  rt::Task<void> Begin() {
    Expect((co_await world.Apply(federation::kPropagationPolicies, workload.Policy(kClusters3))).ok(),
           "the policy was not taken");
    const auto made = co_await world.Apply(resource, workload.Manifest());
    Expect(made.ok(), made.ok() ? "" : made.error().ToString());
    const bool ran = co_await world.Until([&]() -> rt::Task<bool> { co_return !Running().empty(); }, minutes(5));
    Expect(ran, "it never ran");
    co_await world.loop().Sleep(seconds(12));
    from = Running();
  }
  rt::Task<void> Ask(std::string target, std::string name, std::string more = "") {
    const auto asked = co_await world.Apply(
        kMigrations,
        Yaml(StrCat("{apiVersion: rollout.karmada.io/v1alpha1, kind: StatefulMigration, metadata: {name: ", name,
                    ", namespace: default}, spec: {workload: {apiVersion: ", ApiVersion(), ", kind: ", kind.kind,
                    ", name: w}, target: ", target, ", stabilizationSeconds: 2", more, "}}")));
    Expect(asked.ok(), asked.ok() ? "" : asked.error().ToString());
  }
  rt::Task<Value> Ended(std::string name) {
    Value migration;
    co_await world.Until(
        [&]() -> rt::Task<bool> {
          migration = co_await world.OnHub(kMigrations, "default/" + name);
          co_return Scene::IsOver(migration);
        },
        kWithin);
    co_return migration;
  }
  rt::Task<Value> Go(std::string target, std::string name, std::string more = "") {
    co_await Ask(std::move(target), name, std::move(more));
    co_return co_await Ended(name);
  }
  rt::Task<void> ExpectMoved(const Value& migration, std::string to) {
    Expect(migration["status"]["phase"].str() == "Succeeded",
           StrCat("to ", to, ": ", Scene::Said(migration), co_await Dump()));
    Expect(migration["status"]["guarantee"].str() == kind.guarantee,
           StrCat("guarantee ", migration["status"]["guarantee"].str()));
    co_await world.loop().Sleep(seconds(12));
    Expect(Running() == to, StrCat("it runs in '", Running(), "' and not in ", to));
    for (const std::string& other : kClusters3) {
      const Value object = co_await world.OnMember(other, resource, "default/w");
      Expect((other == to) != object.is_null(), StrCat("the object in ", other));
    }
    const auto overrides = co_await world.hub().ListAll(federation::kOverridePolicies);
    Expect(overrides.ok() && overrides->items.empty(), "residue: an override");
    co_await ExpectNothingBeside();
    co_await ExpectAsTheTemplate(to);
  }
  rt::Task<void> ExpectNothingBeside() {
    for (const std::string& cluster : kClusters3) {
      for (const kube::Resource& one :
           {practice::VolumeSnapshots(), practice::VolumeSnapshotContents(),
            kube::Resource{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"}}) {
        const auto listed =
            co_await world.member(cluster).ListAll(one, {.label_selector = std::string(interpret::kBesideLabel)});
        Expect(listed.ok() && listed->items.empty(), StrCat("residue: ", one.kind, " in ", cluster));
      }
    }
  }
  rt::Task<void> ExpectAsTheTemplate(std::string cluster) {
    const Value object = co_await world.OnMember(cluster, resource, "default/w");
    const Value on_hub = co_await world.OnHub(resource, "default/w");
    Value spec = object["spec"];
    if (kind.kind == "Job") co_return;  // a Job's selector and labels are its cluster's own
    Expect(spec == on_hub["spec"], StrCat("the spec in ", cluster, " is not the template's: ", spec.ToString()));
  }
  rt::Task<std::string> Dump() {
    std::string text;
    for (const std::string& cluster : kClusters3) {
      const Value object = co_await world.OnMember(cluster, resource, "default/w");
      if (object.is_null()) continue;
      text += StrCat("\n  ", cluster, " ", object["metadata"]["annotations"].ToString(), object["spec"].ToString(),
                     object["status"].ToString());
    }
    co_return text;
  }
  rt::Task<void> ExpectJudge(size_t writers) {
    const auto report = co_await world.Judge("default", workload.JudgeName());
    Expect(report.ok(), "the judge could not read");
    if (!report.ok()) co_return;
    Expect(report->out > 100, "nothing came out");
    Expect(report->lost == 0 && report->overlap_count == 0 && report->wrong_state == 0 && report->epochs_back == 0,
           report->Text());
    Expect(!kind.exact || report->clean(), report->Text());
    Expect(report->writers.size() >= writers, StrCat("writers: ", report->writers.size()));
  }
};

template <class Test>
void WithKind(uint64_t seed, const KindMove& kind, Test test, kube::FaultPlan* plan = nullptr) {
  rt::VirtualLoop loop(seed);
  std::vector<std::string> problems;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    world.SetFaultPlan(plan);
    const Result<void> started = co_await world.Start({.clusters = kClusters3, .kinds = true});
    EXPECT_TRUE(started.ok()) << started.error().message();
    Move move(world, kind);
    bool told = false;
    loop.OnEveryStep([&] {
      const std::string running = move.Running();
      if (told || running.find('+') == std::string::npos) return;
      told = true;
      move.Expect(false, StrCat("P1: two writers at once: ", running));
    });
    co_await test(move);
    loop.OnEveryStep(nullptr);
    problems = move.problems;
    co_await world.Stop();
  }));
  for (const std::string& problem : problems) ADD_FAILURE() << kind.kind << ", seed " << seed << ": " << problem;
}

class KindMoveTest : public testing::TestWithParam<KindMove> {};

INSTANTIATE_TEST_SUITE_P(Every, KindMoveTest, testing::ValuesIn(Kinds()),
                         [](const auto& info) { return info.param.kind; });

TEST_P(KindMoveTest, GoesToAnotherClusterAndComesBack) {
  WithKind(1, GetParam(), [](Move& move) -> rt::Task<void> {
    co_await move.Begin();
    if (!move.problems.empty()) co_return;
    const std::string home = move.from;
    const std::string away = home == "green" ? "blue" : "green";
    co_await move.ExpectMoved(co_await move.Go(away, "go"), away);
    if (!move.problems.empty()) co_return;
    co_await move.ExpectMoved(co_await move.Go(home, "back"), home);
    co_await move.ExpectJudge(3);
  });
}

// Whatever the target does not do in time, the source goes on where it was.
TEST_P(KindMoveTest, IsTakenBackWhenTheTargetsImageIsNotThere) {
  WithKind(2, GetParam(), [](Move& move) -> rt::Task<void> {
    co_await move.Begin();
    if (!move.problems.empty()) co_return;
    const std::string away = move.from == "green" ? "blue" : "green";
    move.world.practice(away).faults().fail_image = true;
    const Value migration = co_await move.Go(away, "go", ", deadlines: {Verifying: 60s}");
    move.Expect(migration["status"]["phase"].str() == "RolledBack",
                StrCat(Scene::Said(migration), co_await move.Dump()));
    co_await move.world.loop().Sleep(seconds(12));
    move.Expect(move.Running() == move.from, StrCat("it runs in '", move.Running(), "'"));
    co_await move.ExpectJudge(2);
  });
}

TEST(ManagedKindTest, WithoutTheAnnotationItIsNotManaged) {
  const KindMove kind = Kinds()[1];
  WithKind(3, kind, [](Move& move) -> rt::Task<void> {
    co_await move.Begin();
    (void)co_await move.world.hub().Patch(move.resource, {"default", "w"}, kube::PatchType::kMerge,
                                          Yaml("{metadata: {annotations: {rollout.karmada.io/managed: null}}}"));
    const Value migration = co_await move.Go(move.from == "green" ? "blue" : "green", "go");
    move.Expect(migration["status"]["phase"].str() == "Rejected", Scene::Said(migration));
  });
}

// ---- bad days: BATON_SIM_SEEDS=<from>:<count> sim_test --gtest_filter='*KindSeedsSlowTest.*' ----

class KindSeedsSlowTest : public testing::TestWithParam<KindMove> {};

INSTANTIATE_TEST_SUITE_P(Every, KindSeedsSlowTest, testing::ValuesIn(Kinds()),
                         [](const auto& info) { return info.param.kind; });

rt::Task<void> ChangeLeaders(World& world, BadCalls& day) {
  while (true) {
    co_await world.loop().Sleep(milliseconds(static_cast<int64_t>(day.random().Below(20'000))));
    if (day.random().Below(2) == 0) {
      world.KillController();
    } else {
      world.DeposeController();
    }
    co_await world.loop().Sleep(milliseconds(static_cast<int64_t>(day.random().Below(5'000))));
    world.StartController();
    co_await world.loop().Sleep(milliseconds(static_cast<int64_t>(day.random().Below(10'000))));
    world.KillDeposed();
  }
}

// There and back while calls fail and leaders change: wherever it ends, nothing is lost and there were never two.
TEST_P(KindSeedsSlowTest, BadDaysEndWell) {
  uint64_t from = 1;
  uint64_t count = 5;
  if (const char* asked = std::getenv("BATON_SIM_SEEDS"); asked != nullptr) {
    char* rest = nullptr;
    from = std::strtoull(asked, &rest, 10);
    count = *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1;
  }
  for (uint64_t seed = from; seed < from + count; ++seed) {
    BadCalls day(seed);
    WithKind(
        seed, GetParam(),
        [&](Move& move) -> rt::Task<void> {
          co_await move.Begin();
          if (!move.problems.empty()) co_return;
          const std::string home = move.from;
          const std::string away = home == "green" ? "blue" : "green";
          for (const auto& [target, name] : {std::pair(away, "go"), std::pair(home, "back")}) {
            day.Begin();
            {
              rt::Scope scope(move.world.loop());
              scope.Spawn(ChangeLeaders(move.world, day));
              scope.Spawn(
                  rt::Do([&move, t = target, n = std::string(name)]() -> rt::Task<void> { co_await move.Ask(t, n); }));
              co_await move.world.loop().Sleep(seconds(static_cast<int64_t>(10 + day.random().Below(60))));
              day.End();
            }
            move.world.KillDeposed();
            if (!move.world.controller_runs()) move.world.StartController();
            const Value migration = co_await move.Ended(name);
            move.Expect(Scene::IsOver(migration), StrCat(Scene::Said(migration), co_await move.Dump()));
          }
          co_await move.world.loop().Sleep(seconds(20));
          const std::string running = move.Running();
          move.Expect(running == home || running == away, StrCat("it runs in '", running, "'"));
          co_await move.ExpectNothingBeside();
          co_await move.ExpectJudge(1);
        },
        &day);
  }
}

}  // namespace
}  // namespace baton::sim
