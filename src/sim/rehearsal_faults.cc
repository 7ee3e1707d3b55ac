// What goes wrong in a rehearsal.
#include "base/strings.h"
#include "rollout/records.h"
#include "sim/actors.h"
#include "sim/rehearsal_stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr Duration kGitOpsEvery = seconds(10);  // at most
constexpr uint64_t kGitOpsSalt = 0x676974;      // so that other chances stay as they are

}  // namespace

// A person who has second thoughts.
rt::Task<void> RehearsalStage::Aborts() {
  co_await world_.loop().Sleep(chance_.UpTo(chance_.OneIn(4) ? 2'000 : 60'000));
  ++result_.day.meddlings;
  story_.Tell("person", "aborts the move");
  const kube::Name move{std::string(kube::NamespaceOf(workloads_.front()->object)), std::string(kRehearsedMove)};
  [[maybe_unused]] const auto asked =
      co_await world_.hub().Patch(kMigrations, move, kube::PatchType::kMerge, Yaml("{spec: {abort: true}}"));
}

// What is in git is applied again and again.
rt::Task<void> RehearsalStage::GitOps() {
  rt::SeededRandom random(result_.day.seed ^ kGitOpsSalt);
  while (true) {
    co_await world_.loop().Sleep(milliseconds(static_cast<int64_t>(random.Below(kGitOpsEvery / milliseconds(1)))));
    const FleetWorkload& one = *workloads_[random.Below(workloads_.size())];
    ++result_.day.syncs;
    const auto applied =
        co_await world_.hub().Apply(ResourceOf(one), TemplateOf(one), {.field_manager = "gitops", .force = true});
    Expect(applied.ok(),
           applied.ok() ? "" : StrCat(one.Name(), ": what is in git was not taken: ", applied.error().message()));
  }
}

rt::Task<void> RehearsalStage::Troubles() {
  while (true) {
    co_await world_.loop().Sleep(chance_.UpTo(15'000));
    const std::string& name = names_[chance_.Below(names_.size())];
    practice::PracticeCluster& cluster = world_.practice(name);
    ++result_.day.troubles;
    const auto tell = [&](std::string_view what) { story_.Tell(StrCat("cluster ", name), what); };
    switch (chance_.Below(5)) {
      case 0:
        tell("its operator dies");
        cluster.KillOperator(chance_.UpTo(10'000));
        break;
      case 1:
        tell("its operator stalls");
        cluster.faults().stall_operator = chance_.UpTo(5'000);
        break;
      case 2:
        tell("it becomes slow");
        cluster.faults().slow = 1 + static_cast<double>(chance_.Below(5));
        break;
      case 3:
        tell("images cannot be pulled");
        cluster.faults().fail_image = true;
        break;
      default:
        tell("its next savepoint fails");
        cluster.faults().fail_savepoints = 1;
        break;
    }
  }
}

rt::Task<void> RehearsalStage::Partitions() {
  while (true) {
    co_await world_.loop().Sleep(chance_.UpTo(30'000));
    const std::string name = names_[chance_.Below(names_.size())];
    ++result_.day.partitions;
    world_.CutOff(name, chance_.OneIn(3) ? Cut::kAnswers : Cut::kBothWays);
    co_await world_.loop().Sleep(chance_.UpTo(60'000));
    world_.CutOff(name, Cut::kNone);
  }
}

rt::Task<void> RehearsalStage::Disturb(bool gitops) {
  const bool two = chance_.OneIn(3);
  const bool leaders = chance_.OneIn(2);
  const bool troubles = chance_.OneIn(2);
  const bool cuts = chance_.OneIn(3);
  const bool hub_dies = chance_.OneIn(6);
  const bool aborts = wish_.drain.empty() && chance_.OneIn(4);
  const bool quota = chance_.OneIn(10);
  const auto lasts = seconds(static_cast<int64_t>(10 + chance_.Below(110)));
  const bool karmada_dies = !world_.own_hub() && chance_.OneIn(3);
  rt::SeededRandom rare(~result_.day.seed);
  const Hands hands{.world = world_, .chance = chance_, .rare = rare, .day = result_.day};
  if (two) Expect(co_await StartReplicas(world_), "no replica was elected");
  result_.day.replicated = two ? 1 : 0;
  {
    rt::Scope scope(world_.loop());
    if (two) scope.Spawn(Replicas(hands));
    if (!two && leaders) scope.Spawn(Leaders(hands));
    if (troubles) scope.Spawn(Troubles());
    if (cuts) scope.Spawn(Partitions());
    if (hub_dies) scope.Spawn(HubDies(hands));
    if (aborts) scope.Spawn(wish_.upgrades || wish_.wishes ? AbortsOne() : Aborts());
    if (wish_.wishes) scope.Spawn(Wishes());
    if (wish_.upgrades) scope.Spawn(Edits());
    if (gitops) scope.Spawn(GitOps());
    if (karmada_dies) scope.Spawn(KarmadaDies(hands));
    if (quota) {
      const std::string& where = wish_.to.empty() ? names_[chance_.Below(names_.size())] : wish_.to;
      scope.Spawn(QuotaIsSpent(hands, where, ResourceOf(*workloads_.front()).plural));
    }
    co_await world_.loop().Sleep(lasts);
    chance_.End();
  }
  story_.Tell("world", "the faults stop");
  world_.SetSlowestSync({});
  co_await world_.ReviveHub();
  for (const std::string& name : names_) {
    world_.SpendQuota(name, "");
    world_.practice(name).faults() = {};
    world_.CutOff(name, Cut::kNone);
  }
  world_.KillDeposed();
  if (two) HealReplicas(world_);
  if (!two && !world_.controller_runs()) world_.StartController();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
