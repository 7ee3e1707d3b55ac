// Actors: who, besides calls that fail, makes a day a bad one (sim/bad_day.h): leaders, replicas, the hub, clusters,
// clocks, people, a GitOps bot. Each is a task that goes on until it is dropped, or does one thing; what they do must
// not be harmful, however often, and at whatever moment. What they did is counted in the day.
//
//   rt::Scope scope(loop);
//   scope.Spawn(Leaders({scene, chance, rare, day}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "rt/random.h"
#include "sim/bad_calls.h"
#include "sim/bad_day.h"
#include "sim/scene.h"

namespace baton::sim {

inline constexpr size_t kReplicas = 2;
inline constexpr std::string_view kNewcomer = "late";  // the other workload's name

// For actors who need no scene: what is moved is not their matter.
struct Hands {
  World& world;
  BadCalls& chance;
  rt::SeededRandom& rare;  // for what few days have: so the others stay as they are when such a thing is added
  Day& day;

  Duration Rarely(int64_t ms) const;  // up to that
};

struct Course : Hands {
  Course(Scene& of, BadCalls& chance_of, rt::SeededRandom& rare_of, Day& day_of)
      : Hands{of.world, chance_of, rare_of, day_of}, scene(of) {}
  Scene& scene;
};

// ---- controllers ----
rt::Task<void> Leaders(Hands hands);         // die, or are deposed and go on
rt::Task<void> KarmadaDies(Hands hands);     // the other federation
rt::Task<bool> StartReplicas(World& world);  // in place of the one leader that there was; false: none was elected
rt::Task<void> Replicas(Hands hands);        // die, are paused, kept from their lease, given another clock
void HealReplicas(World& world);

// ---- hub, clusters, clocks ----
rt::Task<void> HubDies(Hands hands);
// Once, with all controllers, and a backup is put back on its disk. Not beside HubDies.
rt::Task<void> HubIsRestored(Hands hands, std::shared_ptr<const HubDisk::Backup> backup);
// Operators die, stall, are slow, fail savepoints; JobManagers restart.
rt::Task<void> Troubles(Course course);
rt::Task<void> Forgets(Course course);                        // an operator's status, once
rt::Task<void> Lies(Course course, rt::SeededRandom random);  // an operator, for a while, again and again
rt::Task<void> Partitions(Course course);
rt::Task<void> Clocks(Hands hands);
// A cluster's quota for a kind (its plural) is spent for a while.
rt::Task<void> QuotaIsSpent(Hands hands, std::string cluster, std::string plural);
// The other federation evicts what is unhealthy, and from clusters that a person taints for a while.
rt::Task<void> KarmadaEvicts(Course course);

// ---- people and their programs ----
rt::Task<void> Meddler(Course course, int64_t within_ms, size_t which);
rt::Task<void> Newcomer(Course course, Duration after);
rt::Task<void> GitOps(Course course);

}  // namespace baton::sim
