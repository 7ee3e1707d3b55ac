// What is told of a move, and who tells it.
#include "federation/resources.h"
#include "rollout/records.h"
#include "sim/plots_all.h"
#include "sim/scene.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture

namespace {

constexpr Duration kToldWithin = seconds(15);
constexpr Duration kDeposedFor = seconds(60);

}  // namespace

// The write that tells the end loses a race a few times, as others write the migration, too. The end is told all the
// same, and soon.
rt::Task<void> EndIsToldInARace(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const auto tells_the_end = [](const kube::Call& call) { return Scene::IsOver(call.body); };
  scene.world.hub_faults().Add({.fault = kube::Fault::kConflict,
                                .verb = kube::Verb::kUpdate,
                                .plural = rollout::kMigrations.plural,
                                .name = {},
                                .subresource = "status",
                                .hits = static_cast<size_t>(1 + course.rare.Below(4)),
                                .when = tells_the_end});
  weather.Begin();
  co_await scene.Ask("", "", course.rare.Below(2) == 0 ? 0 : 2);
  const auto over = [&]() -> rt::Task<bool> {
    co_return !(co_await scene.Writer())["spec"]["ended"]["phase"].str().empty();
  };
  scene.Expect(co_await scene.world.Until(over, minutes(10)), "it does not come to an end");
  const auto told = [&]() -> rt::Task<bool> { co_return Scene::IsOver(co_await scene.Migration()); };
  scene.Expect(co_await scene.world.Until(told, kToldWithin), "its end is on record, and nobody is told");
  ExpectEnd(scene, co_await SettledInCalm(course, weather), "Succeeded", "only the telling was disturbed");
  co_await scene.CheckAll();
}

// A leader whose read of the move is answered late reads in the record that the next one has refused it meanwhile, for
// something that is over by then, and does not claim.
rt::Task<void> RefusedBeforeAnotherClaims(Course course, Weather& weather) {
  Scene& scene = course.scene;
  World& world = scene.world;
  const auto place = [&](std::string clusters) -> rt::Task<void> {
    [[maybe_unused]] const auto placed = co_await world.hub().Patch(
        federation::kPropagationPolicies, kube::Name::Of(Yaml(kPolicy)), kube::PatchType::kMerge,
        Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", clusters, "]}}}}")));
  };
  const auto claims = [](const kube::Call& call) { return call.body["spec"]["claim"]["intent"].str() == "Forward"; };
  world.hub_faults().Add({.fault = kube::Fault::kServerError,
                          .verb = kube::Verb::kUpdate,
                          .plural = kWriters.plural,
                          .name = {},
                          .subresource = {},
                          .when = claims});
  world.hub_faults().Add({.fault = kube::Fault::kLateAnswer,
                          .delay = Between(course, 15'000, 30'000),
                          .verb = kube::Verb::kGet,
                          .plural = rollout::kMigrations.plural,
                          .name = {},
                          .subresource = {},
                          .skip = 1,
                          .when = nullptr});
  weather.Begin();
  co_await scene.Ask();
  co_await world.loop().Sleep(Between(course, 500, 2'000));
  co_await place(scene.from);
  world.DeposeController();
  world.StartController();
  const bool refused = co_await scene.UntilPhase("Rejected", minutes(1));
  co_await place(StrCat(scene.from, ", ", scene.to, ", ", scene.Third()));
  co_await world.loop().Sleep(kDeposedFor);
  world.KillDeposed();
  const Value end = co_await SettledInCalm(course, weather);
  if (refused) ExpectEnd(scene, end, "Rejected", "it was refused, and told so");
  co_await scene.CheckAll();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
