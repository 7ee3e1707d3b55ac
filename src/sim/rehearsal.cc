// Putting a copy into a world, moving things in it, and looking at what came of it.
#include "sim/rehearsal.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/invariant.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/go_duration.h"
#include "practice/flink_operator.h"
#include "rollout/evacuate.h"
#include "rollout/profiles.h"
#include "rollout/records.h"
#include "rt/test_support.h"
#include "sim/actors.h"
#include "sim/bad_calls.h"
#include "sim/checkers.h"
#include "sim/scene.h"
#include "sim/workloads.h"
#include "sim/world.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr std::string_view kMoveName = "rehearsal";
constexpr int64_t kStabilization = 5;  // seconds of each move
constexpr int kNodes = 20;
constexpr Duration kGitOpsEvery = seconds(10);  // at most
constexpr uint64_t kGitOpsSalt = 0x676974;      // so that other chances stay as they are
constexpr uint64_t kHomeOneIn = 3;              // of drains that may be taken back
constexpr size_t kStatusShown = 400;            // characters of a status in a message
constexpr uint64_t kRestoredOneIn = 8;          // of those that it left for good, in days with faults
constexpr Duration kStuckFor = minutes(5);      // likewise a drain
constexpr Duration kBlockedFor = minutes(1);    // a move that asks a person for that long has ended as far as we go

const kube::Resource& ResourceOf(const FleetWorkload& workload) {
  return *PlayedKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
}

bool Runs(World& world, const std::string& cluster, const FleetWorkload& workload) {
  const std::string key = workload.Key();
  const practice::Job* job = nullptr;
  if (ResourceOf(workload) == practice::FlinkDeployments()) {
    const practice::JobManager* manager = world.practice(cluster).job_managers().Find(key);
    job = manager == nullptr ? nullptr : manager->job.get();
  } else {
    job = world.practice(cluster).Process(kube::KindOf(workload.object), key);
  }
  return job != nullptr && job->phase() == practice::JobPhase::kRunning;
}

// Endings of one beginning.
struct Branches {
  std::span<const uint64_t> seeds;
  const std::function<std::string(Rehearsal& played)>& report;
  const DayDone& done;
};

class Stage {
 public:
  Stage(World& world, const Fleet& fleet, const RehearsalWish& wish, Rehearsal& result, BadCalls& chance, Story& story)
      : world_(world),
        checkers_(world, &story),
        fleet_(fleet),
        wish_(wish),
        result_(result),
        chance_(chance),
        story_(story) {
    checkers_.on_wrong = [this](const std::string& problem) { result_.day.problems.push_back(problem); };
    for (const Value& cluster : fleet.clusters) names_.emplace_back(kube::NameOf(cluster));
    for (const Value& object : fleet.objects) {
      if (kube::KindOf(object) != rollout::kProfiles.kind) continue;
      [[maybe_unused]] const Result<void> taken = profiles_.Set(object);
    }
  }

  // `branches`: null: one seed, that of the result.
  rt::Task<void> Play(const RehearsalOptions& options, const Branches* branches) {
    co_await Put();
    if (!world_.own_hub()) world_.StartKarmada();
    world_.StartController();
    co_await Settle();
    if (workloads_.empty() || options.only_settle) {
      result_.day.end = "NotRehearsed";
      if (branches != nullptr) TellAll(*branches);
      co_return;
    }
    Watch();
    for (const FleetWorkload* one : workloads_) {
      const Result<Workload> workload = Workload::Of(kube::KindOf(one->object), one->Key());
      if (workload.ok()) checkers_.Owns(*workload, co_await world_.OnHub(ResourceOf(*one), one->Key()));
    }
    rt::Scope following(world_.loop());
    following.Spawn(checkers_.Follow());
    world_.OnHubRestored([this] { checkers_.HubForgets(); });
    if (branches == nullptr) {
      co_await PlayOn(options);
    } else {
      co_await PlayEach(options, *branches);
    }
    world_.OnHubRestored(nullptr);
    following.CancelAll();
    world_.loop().OnEveryStep(nullptr);
  }

  // The copy did not come to run: that is the end of every seed.
  void TellAll(const Branches& branches) {
    for (const uint64_t seed : branches.seeds) {
      result_.day.seed = seed;
      branches.done(seed, {.text = branches.report(result_), .died = {}});
    }
  }

 private:
  rt::Task<void> PlayEach(const RehearsalOptions& options, const Branches& branches) {
    for (const uint64_t seed : branches.seeds) {
      const Result<Branch> branch = Branch::Fork();
      if (!branch.ok()) {
        branches.done(seed, {.text = {}, .died = std::string(branch.error().message())});
      } else if (!branch->in_child()) {
        branches.done(seed, branch->output());
      } else {
        ResetProbes();
        result_.day.seed = seed;
        co_await PlayOn(options);
        branch->End(branches.report(result_));
      }
    }
  }

  // What follows on the beginning.
  rt::Task<void> PlayOn(const RehearsalOptions& options) {
    const bool faults = options.faults;
    const uint64_t seed = result_.day.seed;
    chance_.Reseed(seed);
    world_.loop().Reseed(seed);
    const bool gitops = options.gitops_one_in > 0 && rt::SeededRandom(seed).Below(options.gitops_one_in) == 0;
    const MonotonicTime asked = world_.loop().Now();
    const FleetWorkload& first = *workloads_.front();
    const Value before = co_await world_.OnMember(first.cluster, ResourceOf(first), first.Key());
    if (faults) chance_.Begin();
    co_await Ask();
    if (faults) co_await Disturb(gitops);
    co_await Ended();
    result_.took = world_.loop().Now() - asked;
    co_await CheckAll();
    if (wish_.home && result_.day.end.starts_with("Drained") && chance_.OneIn(kHomeOneIn)) co_await GoHome();
    result_.day.moves = checkers_.moves_ended();
    result_.day.outage = checkers_.longest_outage();
    checking_ = false;
    // On a hub of others nobody looks for what came back.
    const bool left = wish_.drain.empty() && result_.day.end == "Succeeded" && world_.own_hub();
    if (faults && left && chance_.OneIn(kRestoredOneIn)) co_await Restore(first, before);
    result_.day.writes_lost = world_.hub_disk().lost();
    result_.day.writes_kept = world_.hub_disk().kept();
    for (const std::string& problem : world_.problems()) Expect(false, problem);
    result_.day.events = world_.loop().steps();
    result_.day.calls = story_.calls();
    result_.day.faults = story_.faults();
  }

  void Expect(bool holds, std::string what) {
    if (holds) return;
    story_.Tell("checker", what);
    result_.day.problems.push_back(std::move(what));
  }

  // ---- the copy ----
  rt::Task<void> Create(kube::Resource resource, Value object) {
    const std::string told = StrCat(kube::KindOf(object), " ", kube::Name::Of(object).Key());
    const Result<Value> made = co_await world_.hub().Create(std::move(resource), std::move(object));
    if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists)
      result_.refused.push_back(StrCat(told, ": ", made.error().message()));
  }

  rt::Task<void> Namespaces() {
    std::set<std::string> all;
    for (const Value& object : fleet_.objects) all.emplace(kube::NamespaceOf(object));
    for (const FleetWorkload& workload : fleet_.workloads) all.emplace(kube::NamespaceOf(workload.object));
    for (const std::string& ns : all) {
      if (ns.empty()) continue;
      co_await Create(
          federation::kNamespaces,
          json::Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", ns}})}}));
    }
  }

  static const kube::Resource* PolicyKind(const Value& object) {
    static const std::vector<kube::Resource> kKinds = {federation::kPropagationPolicies,
                                                       federation::kClusterPropagationPolicies,
                                                       federation::kOverridePolicies,
                                                       federation::kClusterOverridePolicies,
                                                       federation::kClusterTaintPolicies,
                                                       federation::kCustomizations,
                                                       rollout::kProfiles};
    const auto at = std::ranges::find_if(kKinds, [&](const kube::Resource& one) {
      return one.kind == kube::KindOf(object) && one.ApiVersion() == kube::ApiVersionOf(object);
    });
    return at == kKinds.end() ? nullptr : &*at;
  }

  // Each binding is there before the controllers are: they find everything placed, as after a restart.
  rt::Task<void> Put() {
    co_await Namespaces();
    for (const Value& object : fleet_.objects) {
      if (const kube::Resource* resource = PolicyKind(object)) co_await Create(*resource, object);
    }
    for (const FleetWorkload& workload : fleet_.workloads) {
      const Result<Value> made = co_await world_.hub().Create(ResourceOf(workload), workload.object);
      if (!made.ok()) {
        result_.unsettled[workload.Name()] = made.error().message();
        continue;
      }
      Value binding = workload.binding;
      binding.Edit("spec").Edit("resource").Set("uid", kube::UidOf(*made));
      binding.Edit("spec").Edit("resource").Erase("resourceVersion");
      const Value status = binding["status"];
      binding.Erase("status");
      Result<Value> bound = co_await world_.hub().Create(federation::kResourceBindings, binding);
      if (!bound.ok()) {
        result_.unsettled[workload.Name()] = StrCat("its binding: ", bound.error().message());
        continue;
      }
      if (!status.is_null()) {
        bound->Set("status", status);
        [[maybe_unused]] const Result<Value> told =
            co_await world_.hub().UpdateStatus(federation::kResourceBindings, *bound);
      }
      workloads_.push_back(&workload);
    }
  }

  rt::Task<void> Settle() {
    const auto settled = [this](const FleetWorkload* one) { return Runs(world_, one->cluster, *one); };
    co_await world_.Until([&]() -> rt::Task<bool> { co_return std::ranges::all_of(workloads_, settled); },
                          kRehearsalSettles);
    for (const FleetWorkload* one : workloads_) {
      if (settled(one)) continue;
      const Value there = co_await world_.OnMember(one->cluster, ResourceOf(*one), one->Key());
      const Value binding = co_await BindingOf(*one);
      result_.unsettled[one->Name()] =
          StrCat("it does not run in ", one->cluster,
                 "; its status there: ", there["status"].ToString().substr(0, kStatusShown),
                 ", on the hub: ", binding["status"]["conditions"].ToString().substr(0, kStatusShown));
    }
    std::erase_if(workloads_, [&](const FleetWorkload* one) { return !settled(one); });
    co_await world_.loop().Sleep(seconds(10));  // a few checkpoints
  }

  rt::Task<Value> BindingOf(const FleetWorkload& workload) {
    return world_.OnHub(federation::kResourceBindings, kube::Name::Of(workload.binding).Key());
  }

  // ---- what must hold at every step ----
  void Watch() {
    if (workloads_.size() * names_.size() > kWritersWatchedMax) return;  // the judge counts overlaps, too
    world_.loop().OnEveryStep([this] {
      if (!checking_) return;
      bool changed = false;
      for (const FleetWorkload* one : workloads_) {
        std::string where;
        int running = 0;
        for (const std::string& name : names_) {
          if (!Runs(world_, name, *one)) continue;
          ++running;
          where += (where.empty() ? "" : " and ") + name;
        }
        std::string& before = running_[one];
        changed = changed || before != where;
        before = where;
        if (running < 2 || !doubled_.insert(one).second) continue;
        story_.Tell("checker", StrCat("TWO WRITERS of ", one->Name(), ": ", where));
        Expect(false, StrCat(one->Name(), ": two writers at once: ", where));
      }
      if (changed) checkers_.Look();
    });
  }

  // ---- the wish ----
  rt::Task<void> Ask() {
    if (!wish_.drain.empty()) co_return co_await AskDrain();
    const FleetWorkload& one = *workloads_.front();
    story_.Tell("person", StrCat("asks for a move of ", one.Name(), " to ", wish_.to));
    Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
    migration.Edit("metadata").Set("name", kMoveName);
    migration.Edit("metadata").Set("namespace", kube::NamespaceOf(one.object));
    migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", kube::ApiVersionOf(one.object)},
                                                                   {"kind", kube::KindOf(one.object)},
                                                                   {"name", kube::NameOf(one.object)}})},
                                        {"target", wish_.to},
                                        {"stabilizationSeconds", kStabilization}}));
    const Result<Value> made = co_await world_.hub().Create(kMigrations, migration);
    Expect(made.ok(), made.ok() ? "" : StrCat("the move was not taken: ", made.error().message()));
  }

  // As `baton drain` does: what is to be done, then the taint.
  rt::Task<void> AskDrain() {
    story_.Tell("person", StrCat("drains ", wish_.drain));
    Value spec =
        json::Object({{"cluster", wish_.drain}, {"round", int64_t{1}}, {"stabilizationSeconds", kStabilization}});
    if (wish_.most > 0) spec.Set("maxConcurrent", wish_.most);
    co_await Create(rollout::kEvacuations, json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"},
                                                         {"kind", "ClusterEvacuation"},
                                                         {"metadata", json::Object({{"name", wish_.drain}})},
                                                         {"spec", spec}}));
    // Controllers write to Clusters all the time.
    constexpr int kTries = 50;
    for (int tries = 0; tries < kTries; ++tries) {
      Value cluster = co_await world_.OnHub(federation::kClusters, wish_.drain);
      cluster.Edit("spec").Edit("taints").Push(json::Object({{"key", rollout::kDrainTaint}, {"effect", "NoExecute"}}));
      const Result<Value> written = co_await world_.hub().Update(federation::kClusters, cluster);
      if (written.ok()) co_return;
      co_await world_.loop().Sleep(milliseconds(10));
    }
    Expect(false, "the taint was not taken");
  }

  // ---- faults ----
  // A person who has second thoughts.
  rt::Task<void> Aborts() {
    co_await world_.loop().Sleep(chance_.UpTo(chance_.OneIn(4) ? 2'000 : 60'000));
    ++result_.day.meddlings;
    story_.Tell("person", "aborts the move");
    const kube::Name move{std::string(kube::NamespaceOf(workloads_.front()->object)), std::string(kMoveName)};
    [[maybe_unused]] const auto asked =
        co_await world_.hub().Patch(kMigrations, move, kube::PatchType::kMerge, Yaml("{spec: {abort: true}}"));
  }

  // What is in git is applied again and again.
  rt::Task<void> GitOps() {
    rt::SeededRandom random(result_.day.seed ^ kGitOpsSalt);
    while (true) {
      co_await world_.loop().Sleep(milliseconds(static_cast<int64_t>(random.Below(kGitOpsEvery / milliseconds(1)))));
      const FleetWorkload& one = *workloads_[random.Below(workloads_.size())];
      ++result_.day.syncs;
      const auto applied =
          co_await world_.hub().Apply(ResourceOf(one), one.object, {.field_manager = "gitops", .force = true});
      Expect(applied.ok(),
             applied.ok() ? "" : StrCat(one.Name(), ": what is in git was not taken: ", applied.error().message()));
    }
  }

  rt::Task<void> Troubles() {
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

  rt::Task<void> Partitions() {
    while (true) {
      co_await world_.loop().Sleep(chance_.UpTo(30'000));
      const std::string name = names_[chance_.Below(names_.size())];
      ++result_.day.partitions;
      world_.CutOff(name, chance_.OneIn(3) ? Cut::kAnswers : Cut::kBothWays);
      co_await world_.loop().Sleep(chance_.UpTo(60'000));
      world_.CutOff(name, Cut::kNone);
    }
  }

  rt::Task<void> Disturb(bool gitops) {
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
      if (aborts) scope.Spawn(Aborts());
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

  // ---- the end ----
  rt::Task<std::vector<Value>> Moves() {
    Result<kube::Listed> listed = co_await world_.hub().ListAll(kMigrations);
    co_return listed.ok() ? std::move(listed->items) : std::vector<Value>();
  }

  // All that is under way has asked a person for a while.
  rt::Task<bool> Held() {
    bool any = false;
    bool all = true;
    for (const Value& move : co_await Moves()) {
      if (Scene::IsOver(move)) continue;
      any = true;
      all = all && Scene::IsBlocked(move);
    }
    if (!any || !all) blocked_.reset();
    if (any && all && !blocked_) blocked_ = world_.loop().Now();
    co_return blocked_.has_value() && world_.loop().Now() - *blocked_ > kBlockedFor;
  }

  rt::Task<void> Ended() {
    const bool drain = !wish_.drain.empty();
    bool held = false;
    const auto over = [&]() -> rt::Task<bool> {
      held = co_await Held();
      if (held) co_return true;
      if (!drain) {
        const Value move =
            co_await world_.OnHub(kMigrations, StrCat(kube::NamespaceOf(workloads_.front()->object), "/", kMoveName));
        result_.day.end = move["status"]["phase"].str();
        result_.said = move["status"]["message"].str();
        co_return Scene::IsOver(move);
      }
      const Value status = (co_await world_.OnHub(rollout::kEvacuations, wish_.drain))["status"];
      result_.day.end = status["phase"].str();
      result_.said = status["message"].str();
      // A cluster that was away may be somewhere to go again.
      if (result_.day.end != "Stuck") stuck_.reset();
      if (result_.day.end == "Stuck" && !stuck_) stuck_ = world_.loop().Now();
      co_return result_.day.end == "Drained" || (stuck_ && world_.loop().Now() - *stuck_ > kStuckFor);
    };
    const bool ended = co_await world_.Until(over, drain ? kDrainEnds : kMoveEnds);
    if (held) result_.day.end = "Held";
    Expect(ended, StrCat("no end in time: ", result_.day.end, ": ", result_.said));
    std::map<std::string, int> phases;
    Duration longest{};
    for (const Value& move : co_await Moves()) {
      ++phases[std::string(move["status"]["phase"].str())];
      const std::string_view downtime = move["status"]["downtime"].str();
      const Result<Duration> length = json::ParseDuration(downtime);
      if (!length.ok() || *length < longest) continue;
      longest = *length;
      result_.downtime = downtime;
    }
    if (!drain) co_return;
    std::string moves;
    for (const auto& [phase, count] : phases) StrAppend(moves, moves.empty() ? "" : ", ", count, " ", phase);
    StrAppend(result_.day.end, " (", moves, ")");
  }

  rt::Task<void> CheckAll() {
    const bool held = result_.day.end.starts_with("Held");
    const std::string end = std::string(Split(result_.day.end, ' ')[0]);
    for (const FleetWorkload* one : workloads_) {
      if (!held) co_await ExpectRunsAlone(*one, end);
      co_await ExpectJudge(*one);
    }
    if (!held) co_await ExpectNothingIsLeft();
  }

  rt::Task<void> ExpectNothingIsLeft() {
    co_await world_.Until(
        [this]() -> rt::Task<bool> {
          co_return std::ranges::all_of(co_await Moves(), [](const Value& move) {
            return !Scene::IsOver(move) || move["metadata"]["finalizers"].empty();
          });
        },
        kube::kCallTimeout + seconds(10));
    for (const Value& move : co_await Moves()) {
      Expect(!Scene::IsOver(move) || move["metadata"]["finalizers"].empty(),
             StrCat("left: the finalizer of migration ", kube::NameOf(move)));
    }
    const Result<kube::Listed> overrides = co_await world_.hub().ListAll(federation::kOverridePolicies);
    for (const Value& policy : overrides.ok() ? overrides->items : std::vector<Value>()) {
      Expect(!kube::NameOf(policy).starts_with(rollout::OverrideName("")),
             StrCat("left: OverridePolicy ", kube::NameOf(policy)));
    }
    for (const FleetWorkload* one : workloads_) {
      // One that came late, of a leader that is gone, is taken away when it is seen.
      const auto unlocked = [&]() -> rt::Task<bool> {
        const Value binding = co_await BindingOf(*one);
        co_return binding["spec"]["gracefulEvictionTasks"].is_null() && binding["spec"]["suspension"].is_null();
      };
      Expect(co_await world_.Until(unlocked, seconds(30)), StrCat(one->Name(), ": left: the lock of its binding"));
    }
    co_await world_.loop().Sleep(kLastCalls);
    co_await checkers_.NothingIsLeft();
  }

  // The cluster that it left has again what it had. For a moment two may run; that is noticed, not prevented.
  rt::Task<void> Restore(const FleetWorkload& workload, Value before) {
    before = federation::Pruned(std::move(before));
    ++result_.day.restores;
    story_.Tell(StrCat("cluster ", workload.cluster), "is restored from a backup");
    const auto made = co_await world_.member(workload.cluster).Create(ResourceOf(workload), before);
    Expect(made.ok(), made.ok() ? "" : StrCat("not restored: ", made.error().message()));
    const auto held = [&]() -> rt::Task<bool> {
      const auto profile = profiles_.ForKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
      const Value now = co_await world_.OnMember(workload.cluster, ResourceOf(workload), workload.Key());
      // Or it is removed: the cluster may not have told yet that it had gone before.
      co_return profile != nullptr && (now.is_null() || profile->IsHeld(now)) &&
          !Runs(world_, workload.cluster, workload);
    };
    Expect(co_await world_.Until(held, minutes(2)),
           StrCat(workload.Name(), ": a second writer came back, and nobody stops it"));
    Expect(co_await world_.Until(
               [&]() -> rt::Task<bool> { co_return wish_.to.empty() || Runs(world_, wish_.to, workload); }, minutes(2)),
           StrCat(workload.Name(), ": a second writer came back, and the first one was stopped"));
  }

  // What was moved away is moved back, one after the other, as `baton drain --return` does.
  rt::Task<void> GoHome() {
    story_.Tell("person", StrCat("takes the taint off ", wish_.drain, ", and wants everything home"));
    const auto patched = [this](kube::Resource resource, std::string_view patch) -> rt::Task<void> {
      const auto taken =
          co_await world_.hub().Patch(std::move(resource), {"", wish_.drain}, kube::PatchType::kMerge, Yaml(patch));
      Expect(taken.ok(), taken.ok() ? "" : StrCat("not taken: ", taken.error().message()));
    };
    co_await patched(federation::kClusters, "{spec: {taints: null}}");
    co_await patched(rollout::kEvacuations, "{spec: {return: true}}");
    Value status;
    const bool home = co_await world_.Until(
        [&]() -> rt::Task<bool> {
          status = (co_await world_.OnHub(rollout::kEvacuations, wish_.drain))["status"];
          co_return status["phase"].str() == "Returned";
        },
        kDrainEnds);
    Expect(home, StrCat("not home in time: ", status.ToString().substr(0, kStatusShown)));
    for (const FleetWorkload* one : workloads_) {
      co_await ExpectAlone(*one, wish_.drain, "home again");
      co_await ExpectJudge(*one);
    }
    result_.day.end = StrCat("Returned after ", result_.day.end);
    co_await ExpectNothingIsLeft();
  }

  rt::Task<void> ExpectRunsAlone(const FleetWorkload& workload, std::string end) {
    const bool drains = !wish_.drain.empty();
    const std::string& meant = end == "Succeeded" ? wish_.to : workload.cluster;
    const std::string where = co_await ExpectAlone(workload, drains ? "" : meant, end);
    if (drains)
      Expect(end != "Drained" || where != wish_.drain, StrCat(workload.Name(), ": it runs in the drained cluster"));
  }

  // In one cluster, and in that one; "": in any. Gives where.
  rt::Task<std::string> ExpectAlone(const FleetWorkload& workload, std::string meant, std::string end) {
    std::string where;
    const auto alone = [&]() -> rt::Task<bool> {
      where.clear();
      size_t objects = 0;
      for (const std::string& name : names_) {
        if (Runs(world_, name, workload)) where += (where.empty() ? "" : "+") + name;
        if (!(co_await world_.OnMember(name, ResourceOf(workload), workload.Key())).is_null()) ++objects;
      }
      co_return objects == 1 && !where.empty() && where.find('+') == std::string::npos;
    };
    const bool holds = co_await world_.Until(alone, minutes(5));
    Expect(holds, StrCat(workload.Name(), ": it does not run in one cluster, alone, but in '", where, "'"));
    Expect(meant.empty() || where == meant,
           StrCat(workload.Name(), ": ", end, ", and it runs in '", where, "', not in ", meant));
    co_return where;
  }

  rt::Task<void> ExpectJudge(const FleetWorkload& workload) {
    std::string name(kube::NameOf(workload.object));
    if (ResourceOf(workload) != practice::FlinkDeployments())
      StrAppend(name, ".", ToLower(kube::KindOf(workload.object)));
    Result<practice::JudgeReport> report = co_await world_.Judge(std::string(kube::NamespaceOf(workload.object)), name);
    Expect(report.ok(), StrCat(workload.Name(), ": the judge could not read"));
    if (!report.ok()) co_return;
    if (!world_.own_hub()) report->epochs_back = 0;  // as in Scene::ExpectClean
    Expect(report->out > 0, StrCat(workload.Name(), ": nothing came out"));
    const auto profile = profiles_.ForKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
    const bool exact = profile != nullptr && profile->guarantee() == "ExactlyOnce";
    const bool held = report->lost == 0 && report->overlap_count == 0 && report->wrong_state == 0 &&
                      report->invented == 0 && report->unreadable == 0 && report->epochs_back == 0;
    const bool well = exact ? report->clean() : held;
    Expect(well, StrCat(workload.Name(), ": ", report->Text()));
  }

  World& world_;
  Checkers checkers_;
  const Fleet& fleet_;
  const RehearsalWish& wish_;
  Rehearsal& result_;
  BadCalls& chance_;
  Story& story_;
  std::vector<std::string> names_;
  std::vector<const FleetWorkload*> workloads_;          // that run
  std::set<const FleetWorkload*> doubled_;               // told once
  std::map<const FleetWorkload*, std::string> running_;  // where, at the last step
  std::optional<MonotonicTime> blocked_;
  std::optional<MonotonicTime> stuck_;
  bool checking_ = true;  // what must hold at every step
  rollout::ProfileSet profiles_;
};

uint64_t BeginningOf(uint64_t seed, const RehearsalOptions& options) {
  return options.beginning.value_or(seed / kSeedsOfOneBeginning);
}

// `result` has the seed, or gets that of each branch.
void PlayIn(const Fleet& fleet, const RehearsalWish& wish, const RehearsalOptions& options, uint64_t beginning,
            const Branches* branches, Rehearsal& result) {
  rt::VirtualLoop loop(beginning);
  loop.LimitStepsPerInstant(kStepsPerInstant);
  Story story(options.detail);
  story.Begin(loop);
  BadCalls chance(beginning);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    world.SetFaultPlan(&chance);
    world.SetKarmadaPlan(&chance);
    world.SetStory(&story);
    Stage stage(world, fleet, wish, result, chance, story);
    const bool kinds = std::ranges::any_of(
        fleet.workloads, [](const FleetWorkload& one) { return ResourceOf(one) != practice::FlinkDeployments(); });
    Result<void> started = co_await world.Start(
        {.clusters = {}, .kinds = kinds, .controllers = false, .nodes = kNodes, .own_hub = options.own_hub});
    for (const Value& cluster : fleet.clusters) {
      if (!started.ok()) break;
      Value more = cluster["metadata"];
      more.Set("spec", cluster["spec"]);
      started = co_await world.Join(std::string(kube::NameOf(cluster)), std::move(more));
    }
    if (started.ok()) {
      co_await stage.Play(options, branches);
    } else {
      result.day.problems.push_back(StrCat("the copy does not start: ", started.error().message()));
      if (branches != nullptr) stage.TellAll(*branches);
    }
    co_await world.Stop();
  }));
  story.End();
  result.day.story = story.Text();
}

}  // namespace

Rehearsal Rehearse(const Fleet& fleet, const RehearsalWish& wish, uint64_t seed, const RehearsalOptions& options) {
  Rehearsal result;
  result.day.seed = seed;
  PlayIn(fleet, wish, options, BeginningOf(seed, options), nullptr, result);
  return result;
}

void RehearseAll(const Fleet& fleet, const RehearsalWish& wish, std::span<const uint64_t> seeds,
                 const RehearsalOptions& options, const std::function<std::string(Rehearsal& played)>& report,
                 const DayDone& done) {
  if (seeds.empty()) return;
  const uint64_t beginning = BeginningOf(seeds.front(), options);
  for (const uint64_t seed : seeds) INVARIANT(BeginningOf(seed, options) == beginning, "seeds of one beginning");
  Rehearsal result;
  const Branches branches{.seeds = seeds, .report = report, .done = done};
  PlayIn(fleet, wish, options, beginning, &branches, result);
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
