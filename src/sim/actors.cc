// Who does what on a bad day.
#include "sim/actors.h"

#include <array>
#include <optional>
#include <string>

#include "base/strings.h"
#include "sim/checkers.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr Duration kSlowestSync = milliseconds(5);  // of the hub's disk, where a crash may come before it has ended
constexpr double kStandsStill = 30;                 // times slower: what takes seconds takes minutes
constexpr Duration kDriftMax = milliseconds(200);   // of clocks in a second

}  // namespace

Duration Hands::Rarely(int64_t ms) const {
  return milliseconds(static_cast<int64_t>(rare.Below(static_cast<uint64_t>(ms))));
}

rt::Task<void> Leaders(Hands hands) {
  World& world = hands.world;
  while (true) {
    co_await hands.chance.Moment(world.loop(), 40'000);
    ++hands.day.leaders;
    if (hands.chance.OneIn(2)) {
      world.KillController();
    } else {
      world.DeposeController(hands.chance.OneIn(2) ? hands.chance.UpTo(8'000) : Duration{});
    }
    co_await world.loop().Sleep(hands.chance.UpTo(10'000));
    world.StartController();
    co_await world.loop().Sleep(hands.chance.UpTo(20'000));
    world.KillDeposed();
  }
}

// The other federation dies now and then, and begins again at once.
rt::Task<void> KarmadaDies(Hands hands) {
  while (true) {
    co_await hands.world.loop().Sleep(hands.chance.UpTo(40'000));
    hands.world.StartKarmada();
  }
}

// Two replicas in place of the one leader that there was.
rt::Task<bool> StartReplicas(World& world) {
  world.KillController();
  for (size_t which = 0; which < kReplicas; ++which) world.StartReplica(which);
  co_return co_await world.Until([&]() -> rt::Task<bool> { co_return world.LeadingReplica().has_value(); }, minutes(1));
}

void HealReplicas(World& world) {
  for (size_t which = 0; which < kReplicas; ++which) {
    world.ResumeReplica(which);
    world.CutLease(which, false);
    if (world.replica(which) == nullptr) world.StartReplica(which);
  }
}

// As people do who want another leader.
static rt::Task<void> DeleteLease(World& world) {
  world.TellStory("person", "deletes the lease");
  world.LeaseDeleted();
  [[maybe_unused]] const auto gone = co_await world.hub().Delete(kube::Leases(), {"kube-system", "baton-controllers"});
}

// One after the other has trouble, mostly the one that leads.
rt::Task<void> Replicas(Hands hands) {
  World& world = hands.world;
  BadCalls& chance = hands.chance;
  rt::VirtualLoop& loop = world.loop();
  while (true) {
    co_await chance.Moment(loop, 20'000);
    ++hands.day.leaders;
    const std::optional<size_t> leading = world.LeadingReplica();
    const size_t which = leading && !chance.OneIn(4) ? *leading : chance.Below(kReplicas);
    switch (chance.Below(9)) {  // the clock and the lease are not as often as the rest
      case 0:
      case 1:
        world.PauseReplica(which);
        co_await loop.Sleep(chance.UpTo(45'000));
        world.ResumeReplica(which);
        break;
      case 2:
      case 3:
        world.KillReplica(which);
        co_await loop.Sleep(chance.UpTo(20'000));
        world.StartReplica(which);
        break;
      case 4:
      case 5:
        world.CutLease(which, true);
        co_await loop.Sleep(chance.UpTo(40'000));
        world.CutLease(which, false);
        break;
      case 6:
        co_await DeleteLease(world);
        break;
      default:
        world.SkewReplica(which, chance.UpTo(600'000) - minutes(5));
        break;
    }
  }
}

// The hub dies, mostly while a write is on its way to its disk, and is back after a while.
rt::Task<void> HubDies(Hands hands) {
  World& world = hands.world;
  rt::VirtualLoop& loop = world.loop();
  world.SetSlowestSync(kSlowestSync);
  while (true) {
    co_await loop.Sleep(hands.Rarely(30'000));
    if (hands.rare.Below(4) != 0) co_await world.WriteUnderWay();
    ++hands.day.hub_deaths;
    world.CrashHub(hands.rare.Below(2) == 0);
    co_await loop.Sleep(hands.Rarely(hands.rare.Below(2) == 0 ? 500 : 20'000));
    co_await world.ReviveHub();
  }
}

rt::Task<void> HubIsRestored(Hands hands, std::shared_ptr<const HubDisk::Backup> backup) {
  World& world = hands.world;
  co_await hands.chance.Moment(world.loop(), 60'000);
  // What a target that goes back has left is named in no cluster once it is deleted there: a person finds it in the
  // directory of states (docs/ROLLOUT.md). Nobody here plays that part.
  while (true) {
    const Value writer = (co_await world.OnHub(kWriters, std::string(kBindingKey)))["spec"];
    if (writer["claim"]["intent"].str() != "Withdraw" || writer["stop"]["state"].str().empty()) break;
    co_await world.loop().Sleep(seconds(1));
  }
  ++hands.day.hub_restores;
  // As docs/ROLLOUT.md says: no controller goes on with what it knew.
  world.KillDeposed();
  for (size_t which = 0; which < kReplicas; ++which) world.KillReplica(which);
  world.CrashHub(true);
  world.RestoreHub(*backup);
  co_await world.loop().Sleep(hands.Rarely(20'000));
  co_await world.ReviveHub();
  if (hands.day.replicated > 0) HealReplicas(world);
}

rt::Task<void> QuotaIsSpent(Hands hands, std::string cluster, std::string plural) {
  co_await hands.world.loop().Sleep(hands.Rarely(20'000));
  ++hands.day.quotas;
  hands.world.TellStory(StrCat("cluster ", cluster), StrCat("its quota for ", plural, " is spent"));
  hands.world.SpendQuota(cluster, plural);
  co_await hands.world.loop().Sleep(hands.Rarely(90'000));
  hands.world.SpendQuota(cluster, "");
}

rt::Task<void> KarmadaEvicts(Course course) {
  constexpr std::string_view kTaint = "example.com/power";
  World& world = course.world;
  world.KarmadaFailsOver(seconds(1) + course.Rarely(20'000));
  while (true) {
    co_await world.loop().Sleep(course.Rarely(40'000));
    const std::string cluster = course.rare.Below(2) == 0 ? course.scene.from : course.scene.to;
    ++course.day.taints;
    world.TellStory("person", StrCat("taints cluster ", cluster));
    for (const std::string_view taints : {StrCat("[{key: ", kTaint, ", effect: NoExecute}]"), std::string("null")}) {
      [[maybe_unused]] const auto tainted =
          co_await world.hub().Patch(federation::kClusters, {"", cluster}, kube::PatchType::kMerge,
                                     Yaml(StrCat("{spec: {taints: ", taints, "}}")));
      co_await world.loop().Sleep(course.Rarely(30'000));
    }
  }
}

// What is in git is applied again and again, and edits of it are taken back.
rt::Task<void> GitOps(Course course) {
  Scene& scene = course.scene;
  while (true) {
    co_await scene.world.loop().Sleep(course.Rarely(10'000));
    ++course.day.syncs;
    // It would be made anew; that is another story (stories.h has it).
    if ((co_await scene.Template()).is_null()) continue;
    const auto applied =
        co_await scene.world.hub().Apply(FlinkDeployments(), scene.job, {.field_manager = "gitops", .force = true});
    scene.Expect(applied.ok(), "what is in git was not taken");
  }
}

// The clocks of replicas go fast or slow, each in its own way.
rt::Task<void> Clocks(Hands hands) {
  World& world = hands.world;
  std::array<Duration, kReplicas> drift;  // in a second
  for (Duration& each : drift) each = hands.Rarely(2 * kDriftMax / milliseconds(1)) - kDriftMax;
  world.TellStory("world", StrCat("the replicas' clocks gain ", drift[0] / milliseconds(1), " and ",
                                  drift[1] / milliseconds(1), " ms a second"));
  ++hands.day.drifts;
  for (int64_t passed = 1;; ++passed) {
    co_await world.loop().Sleep(seconds(1));
    for (size_t which = 0; which < kReplicas; ++which) world.DriftReplica(which, passed * drift.at(which));
  }
}

// An operator loses what it had told of its workloads.
rt::Task<void> Forgets(Course course) {
  Scene& scene = course.scene;
  co_await scene.world.loop().Sleep(course.Rarely(30'000));
  const std::string& name = course.rare.Below(2) == 0 ? scene.from : scene.to;
  ++course.day.forgotten;
  scene.operator_forgot = true;
  scene.checkers->OperatorsForget();
  scene.Tell(StrCat("cluster ", name), "its operator forgets a status");
  scene.world.practice(name).faults().forget_status = true;
}

// An operator says for a while that all is as it should be.
rt::Task<void> Lies(Course course, rt::SeededRandom random) {
  World& world = course.world;
  const auto up_to = [&](uint64_t ms) { return milliseconds(static_cast<int64_t>(random.Below(ms))); };
  while (true) {
    co_await world.loop().Sleep(up_to(20'000));
    const std::string cluster = random.Below(2) == 0 ? course.scene.from : course.scene.to;
    ++course.day.lies;
    course.scene.operator_lied = true;
    world.Lie(cluster, true);
    co_await world.loop().Sleep(up_to(20'000));
    world.Lie(cluster, false);
  }
}

// What goes wrong in the clusters themselves.
rt::Task<void> Troubles(Course course) {
  World& world = course.scene.world;
  while (true) {
    co_await course.chance.Moment(world.loop(), 15'000);
    const std::string& name = kClusters3[course.chance.Below(kClusters3.size())];
    practice::PracticeCluster& cluster = world.practice(name);
    ++course.day.troubles;
    const auto tell = [&](std::string_view what) { course.scene.Tell(StrCat("cluster ", name), what); };
    switch (course.chance.Below(course.scene.outlives_its_manager() ? 6 : 5)) {
      case 0:
        tell("its operator dies");
        cluster.KillOperator(course.chance.UpTo(10'000));
        break;
      case 1:
        tell("its operator stalls");
        cluster.faults().stall_operator = course.chance.UpTo(5'000);
        break;
      case 2:
        tell("it becomes slow");
        cluster.faults().slow = 1 + static_cast<double>(course.chance.Below(5));
        break;
      case 3:
        tell("its next savepoint fails");
        cluster.faults().fail_savepoints = 1;
        break;
      case 4:
        tell("hardly anything gets done in it");
        cluster.faults().slow = kStandsStill;
        break;
      default:
        tell("its JobManager restarts");
        [[maybe_unused]] const Result<void> restarted = cluster.RestartJobManager(kWorkload);
        break;
    }
  }
}

// People and other controllers; what they do must not be harmful, and is one thing a day.
rt::Task<void> Meddler(Course course, int64_t within_ms, size_t which) {
  co_await course.chance.Moment(course.world.loop(), within_ms);
  ++course.day.meddlings;
  const Meddling& one = Meddlings()[which];
  co_await one.meddle(course.scene);
  if (one.undo == nullptr) co_return;
  co_await course.scene.world.loop().Sleep(kPersonThinks);
  co_await one.undo(course.scene);
}

static rt::Task<void> UntilToldToStop(Scene& scene) {
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return (co_await scene.OnMember(scene.from))["spec"]["job"]["state"].str() == "suspended";
      },
      minutes(1));
}

// A cluster is cut off for a while, or for so long that a person, who has seen that nothing runs there, attests it.
rt::Task<void> Partitions(Course course) {
  Scene& scene = course.scene;
  rt::VirtualLoop& loop = scene.world.loop();
  co_await course.chance.Moment(loop, 30'000);
  const std::string cluster = course.chance.OneIn(2) ? scene.from : scene.to;
  // The worst moment for the source: it was told to stop, and nobody has heard yet that it did.
  if (cluster == scene.from && course.chance.OneIn(2)) co_await UntilToldToStop(scene);
  ++course.day.partitions;
  scene.world.CutOff(cluster, course.rare.Below(3) == 0 ? Cut::kAnswers : Cut::kBothWays);
  co_await loop.Sleep(course.chance.UpTo(60'000));
  if (cluster == scene.from && course.chance.OneIn(2) && !scene.JobRuns(cluster)) {
    const Value object = co_await scene.OnMember(cluster);
    const std::string state(object["status"]["jobStatus"]["upgradeSavepointPath"].str());
    const bool stopped = object["status"]["jobStatus"]["state"].str() == "FINISHED" &&
                         object["spec"]["job"]["state"].str() == "suspended" && !state.empty();
    if (stopped)
      co_await scene.PatchMigration(
          StrCat("{spec: {attestation: {by: ann, reason: 'it is off', stateRef: '", state, "'}}}"));
    co_await loop.Sleep(course.chance.UpTo(60'000));
  }
  scene.world.CutOff(cluster, Cut::kNone);
}

// Another workload is put on the hub, and placed for the first time while all this happens.
rt::Task<void> Newcomer(Course course, Duration after) {
  co_await course.scene.world.loop().Sleep(after);
  course.scene.Tell("person", "puts another job on the hub");
  Value job = Yaml(kJob);
  job.Edit("metadata").Set("name", kNewcomer);
  const auto made = co_await course.scene.world.Apply(FlinkDeployments(), std::move(job));
  course.scene.Expect(made.ok(), "the other job was not taken");
  ++course.day.newcomers;  // not before: when the hub is down, it may never be
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
