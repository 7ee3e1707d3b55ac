// One move after the other.
#include "sim/bad_week.h"

#include <algorithm>

#include "base/strings.h"
#include "sim/actors.h"
#include "sim/day_plan.h"

namespace baton::sim {
namespace {

DayPlan DrawMove(const Scene& scene, BadCalls& chance, rt::SeededRandom& rare, uint64_t seed, bool first) {
  DayPlan drawn = DrawDay(scene, chance, rare, seed);
  drawn.restored = false;
  drawn.wishes = false;
  drawn.operators_err = false;
  drawn.paused = drawn.paused && first;
  drawn.newcomer = drawn.newcomer && first;
  // Who deletes the binding takes the pause with it.
  if (scene.paused_by_a_user || drawn.paused) std::erase(drawn.meddlings, MeddlingCalled("DeleteBinding"));
  return drawn;
}

// From where it runs to one of the other two. False: nobody can say where that is.
rt::Task<bool> ChooseClusters(Scene& scene, rt::SeededRandom& rare) {
  const std::string where = co_await scene.WhereItRuns();
  if (std::ranges::find(kClusters3, where) == kClusters3.end()) co_return false;
  scene.from = where;
  scene.to = where == kClusters3[0] ? kClusters3[1] : kClusters3[0];
  if (rare.Below(2) == 0) scene.to = scene.Third();
  co_return true;
}

// False: there is nothing to be moved after this.
rt::Task<bool> PlayMove(Scene& scene, const DayPlan& drawn, const Course& course) {
  rt::VirtualLoop& loop = scene.world.loop();
  practice::Faults& of_target = scene.world.practice(scene.to).faults();
  of_target.fail_image = drawn.image_fails;
  if (drawn.paused) co_await UserPauses(scene);
  course.chance.Begin();
  co_await scene.Ask(drawn.deadlines, "", drawn.stabilization);
  {
    rt::Scope scope(loop);
    SpawnActors(scope, drawn, course, nullptr);
    co_await WhileFaultsLast(drawn, course);
    course.chance.End();
  }
  co_await FaultsStop(scene, drawn, course.day);
  const Value end = co_await scene.Settled();
  course.day.end = EndOf(end);
  scene.Tell("move", StrCat(scene.move, ": ", end.is_null() ? "gone" : Scene::Said(end)));
  co_await ExpectAfter(scene, end, course.day);
  of_target.fail_image = false;
  co_return scene.problems.empty() && course.day.end != "Held" && !scene.deleted_in_member &&
      !(co_await scene.Template()).is_null();
}

}  // namespace

rt::Task<void> LiveForAWeek(Scene& scene, BadCalls& chance, Day& day) {
  const bool two = chance.OneIn(3);
  day.replicated = two ? 1 : 0;
  if (two) scene.Expect(co_await StartReplicas(scene.world), "no replica was elected");
  rt::SeededRandom seeds(day.seed);
  for (uint64_t nth = 1; nth <= kMovesOfAWeek; ++nth) {
    const uint64_t seed = seeds.Next();
    chance.Reseed(seed);
    rt::SeededRandom rare(~seed);
    if (nth > 1) {
      co_await scene.UntilAllReady();
      if (!co_await ChooseClusters(scene, rare)) break;
      ++day.onwards;
    }
    scene.move = StrCat("move-", nth);
    DayPlan drawn = DrawMove(scene, chance, rare, seed, nth == 1);
    drawn.two = two;
    if (!co_await PlayMove(scene, drawn, Course(scene, chance, rare, day))) break;
  }
  if (day.newcomers > 0 && scene.problems.empty()) co_await ExpectNewcomerRuns(scene);
}

}  // namespace baton::sim
