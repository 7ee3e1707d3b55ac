// People and other controllers meddle with a move, at each of its writes: abort it, delete or edit what it works with.
#include <cstdio>

#include "sim/at_write_for_test.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

using Meddle = rt::Task<void> (*)(Scene& scene);

rt::Task<void> AbortIt(Scene& scene) { co_await scene.Abort(); }

rt::Task<void> DeleteMigration(Scene& scene) {
  [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(kMigrations, {"default", "move"});
}

rt::Task<void> DeleteTemplate(Scene& scene) {
  [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(FlinkDeployments(), {"default", "orders"});
}

rt::Task<void> EditTemplate(Scene& scene) {
  scene.template_edited = true;
  [[maybe_unused]] const auto edited =
      co_await scene.world.hub().Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge,
                                       Yaml("{spec: {taskManager: {resource: {memory: 2048m}}}}"));
}

rt::Task<void> DeleteOverride(Scene& scene) {
  for (const Value& policy : co_await scene.Overrides()) {
    [[maybe_unused]] const auto gone =
        co_await scene.world.hub().Delete(federation::kOverridePolicies, kube::Name::Of(policy));
  }
}

rt::Task<void> EmptyOverride(Scene& scene) {
  for (const Value& policy : co_await scene.Overrides()) {
    [[maybe_unused]] const auto edited =
        co_await scene.world.hub().Patch(federation::kOverridePolicies, kube::Name::Of(policy), kube::PatchType::kMerge,
                                         Yaml("{metadata: {finalizers: null}, spec: {overrideRules: []}}"));
  }
}

// Another scheduler: it knows nothing of versions, suspension or tasks.
rt::Task<void> Reschedule(Scene& scene, std::string clusters) {
  // Before and after the move it is the ordinary pipe that would follow it.
  const bool locked = (co_await scene.Binding())["spec"]["suspension"]["scheduling"].bool_or(false);
  if (!locked) co_return;
  [[maybe_unused]] const auto written =
      co_await scene.world.hub().Patch(federation::kResourceBindings, {"default", "orders-flinkdeployment"},
                                       kube::PatchType::kMerge, Yaml(StrCat("{spec: {clusters: [", clusters, "]}}")));
}
rt::Task<void> RescheduleToTarget(Scene& scene) { co_await Reschedule(scene, StrCat("{name: ", scene.to, "}")); }
rt::Task<void> RescheduleElsewhere(Scene& scene) {
  for (const std::string& cluster : kClusters3) {
    if (cluster != scene.from && cluster != scene.to) co_await Reschedule(scene, StrCat("{name: ", cluster, "}"));
  }
}
rt::Task<void> RescheduleNowhere(Scene& scene) { co_await Reschedule(scene, ""); }

struct Case {
  const char* name;
  Meddle meddle;
  std::vector<std::string> ends;  // "": the migration is gone
};

const Case kCases[] = {
    {"Abort", AbortIt, {"Aborted", "RolledBack", "Succeeded"}},
    {"DeleteMigration", DeleteMigration, {""}},
    {"DeleteTemplate", DeleteTemplate, {"Cancelled", "Succeeded", "Rejected"}},
    {"EditTemplate", EditTemplate, {"Succeeded"}},
    {"DeleteOverride", DeleteOverride, {"Succeeded"}},
    {"EmptyOverride", EmptyOverride, {"Succeeded"}},
    {"RescheduleToTarget", RescheduleToTarget, {"Succeeded"}},
    {"RescheduleElsewhere", RescheduleElsewhere, {"Succeeded"}},
    {"RescheduleNowhere", RescheduleNowhere, {"Succeeded"}},
};

struct Told {
  size_t writes = 0;
  std::string which;
  std::vector<std::string> problems;
};

Told MeddleAt(uint64_t seed, const Case& one, size_t k) {
  AtWrite plan;
  Told told;
  told.problems = Play(
      seed,
      [&](Scene& scene) -> rt::Task<void> {
        co_await scene.Begin();
        plan.Arm(k, AtWrite::Side::kBefore);
        rt::Scope scope(scene.world.loop());
        scope.Spawn(rt::Do([&]() -> rt::Task<void> {
          co_await plan.reached.Wait();
          co_await one.meddle(scene);
        }));
        co_await scene.Ask();
        const Value end = co_await scene.Settled();
        const std::string phase(end["status"]["phase"].str());
        const bool right = std::ranges::find(one.ends, phase) != one.ends.end() || plan.writes() < k;
        scene.Expect(right, StrCat("ended as '", Scene::Said(end), "'"));
        if (!right) scene.Expect(false, co_await scene.Dump());
        const bool deleted = (co_await scene.Template()).is_null();
        if (!end.is_null() && !deleted) co_await scene.CheckAll();
        if (end.is_null() && !deleted) {
          const std::string holder((co_await scene.Writer())["spec"]["holder"]["cluster"].str());
          co_await scene.ExpectRunsAlone(holder);
          co_await scene.ExpectNoResidue();
        }
        if (deleted) {
          const bool gone = co_await scene.world.Until(
              [&]() -> rt::Task<bool> {
                for (const std::string& cluster : kClusters3) {
                  if (!(co_await scene.OnMember(cluster)).is_null()) co_return false;
                }
                co_return true;
              },
              minutes(5));
          scene.Expect(gone, "the template is gone and the workload is not");
          scene.Expect((co_await scene.Overrides()).empty(), "residue: the override");
        }
        co_await scene.ExpectClean();
      },
      &plan);
  told.writes = plan.writes();
  told.which = plan.which();
  return told;
}

class DisturbTest : public testing::TestWithParam<Case> {};
class DisturbSlowTest : public testing::TestWithParam<Case> {};

// A move without anybody's help makes about 80 writes.
void MeddleEverywhere(const Case& one, size_t first, size_t step) {
  size_t failed = 0;
  for (size_t k = first; failed < 5; k += step) {
    const Told told = MeddleAt(1, one, k);
    if (!told.problems.empty()) ++failed;
    for (const std::string& problem : told.problems)
      ADD_FAILURE() << one.name << " at write " << k << " (" << told.which << "): " << problem.substr(0, 6000);
    if (told.writes < k) break;
  }
}

// Where something was wrong once: the finalizer is not written yet; the target is starting.
TEST(MeddlingTest, WhereItWasWrongOnce) {
  for (const size_t k : {1U, 44U}) {
    for (const Case* one : {&kCases[0], &kCases[1]}) {
      const Told told = MeddleAt(1, *one, k);
      for (const std::string& problem : told.problems)
        ADD_FAILURE() << one->name << " at write " << k << ": " << problem;
    }
  }
}

TEST_P(DisturbTest, AtSomeWrites) { MeddleEverywhere(GetParam(), 20, 45); }
TEST_P(DisturbSlowTest, AtEveryWrite) { MeddleEverywhere(GetParam(), 1, 1); }

const auto kNames = [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(All, DisturbTest, testing::ValuesIn(kCases), kNames);
INSTANTIATE_TEST_SUITE_P(All, DisturbSlowTest, testing::ValuesIn(kCases), kNames);

}  // namespace
}  // namespace baton::sim
