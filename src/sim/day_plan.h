// The plan of a bad day: what else happens on it but calls that fail, drawn before it begins; and the parts that days
// and weeks are made of (sim/bad_day.h, sim/bad_week.h): the actors come, faults last for a while, all is put right,
// and then it must have ended well.
//
//   DayPlan drawn = DrawDay(scene, chance, rare, seed);
//   co_await scene.Ask(drawn.deadlines, "", drawn.stabilization);
//   {
//     rt::Scope scope(loop);
//     SpawnActors(scope, drawn, course, backup);
//     co_await WhileFaultsLast(drawn, course);
//   }
//   co_await FaultsStop(scene, drawn, day);
//   co_await ExpectAfter(scene, co_await scene.Settled(), day);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rt/scope.h"
#include "sim/actors.h"
#include "sim/scene.h"

namespace baton::sim {

struct DayPlan {
  bool two = false;       // replicas
  bool restored = false;  // the hub, from a backup; what people did to it meanwhile would be gone, too, so nobody does
  bool leaders_change = false;
  bool image_fails = false;
  bool troubles = false;
  bool wishes = false;
  bool cuts = false;
  bool newcomer = false;
  bool lingers = false;
  bool paused = false;        // the binding's scheduling, by a user, before the move
  bool operators_err = true;  // they may forget a status, or lie: then what came twice is not counted any more
  std::vector<size_t> meddlings;
  int64_t meddles_within_ms = 0;
  Duration lasts{};
  std::string deadlines;
  int stabilization = 2;
};

DayPlan DrawDay(const Scene& scene, BadCalls& chance, rt::SeededRandom& rare, uint64_t seed);
size_t MeddlingCalled(std::string_view name);

rt::Task<void> UserPauses(Scene& scene);
// `backup`: of before the move, for a hub that is to be restored.
void SpawnActors(rt::Scope& scope, const DayPlan& drawn, const Course& course,
                 const std::shared_ptr<const HubDisk::Backup>& backup);
rt::Task<void> WhileFaultsLast(const DayPlan& drawn, const Course& course);
// Everything is put right that was done to hub, clusters and controllers, and people take back what they wanted to.
rt::Task<void> FaultsStop(Scene& scene, const DayPlan& drawn, Day& day);

// What must hold when the move has ended like that; null: it was deleted.
rt::Task<void> ExpectAfter(Scene& scene, const Value& end, const Day& day);
rt::Task<void> ExpectNewcomerRuns(Scene& scene);
// "Succeeded", "Gone", "Held".
std::string EndOf(const Value& migration);

}  // namespace baton::sim
