// Moves that are disturbed at one place.
#include "sim/trials.h"

#include <algorithm>
#include <memory>

#include "rt/test_support.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
rt::Task<void> AskFor(Scene& scene, Way way) {
  if (way == Way::kWithdraw) scene.world.practice(scene.to).faults().fail_image = true;
  co_await scene.Ask(way == Way::kWithdraw ? ", deadlines: {Verifying: 30s}" : "");
  if (way != Way::kAbort) co_return;
  co_await scene.UntilStopIsOrdered();  // not by the status, which may be told too late
  co_await scene.Abort();
}

rt::Task<void> ExpectEndOf(Scene& scene, Way way) {
  const Value migration = co_await scene.Migration();
  const std::string phase(migration["status"]["phase"].str());
  const bool forward = way == Way::kForward && phase == "Succeeded";
  const bool back = way == Way::kAbort && (phase == "Aborted" || phase == "RolledBack");
  const bool withdrawn = way == Way::kWithdraw && phase == "RolledBack";
  scene.Expect(forward || back || withdrawn, StrCat("ended as ", Scene::Said(migration)));
}

namespace {

// Once the plan is reached the leader is dead; another one comes within 20 s.
rt::Task<void> DieAndFollow(Scene& scene, AtWrite& plan) {
  rt::VirtualLoop& loop = scene.world.loop();
  co_await plan.reached.Wait();
  scene.Tell("fault", StrCat("the leader dies at write ", plan.writes(), ": ", plan.which()));
  co_await loop.Sleep(AtWrite::kMoment);
  scene.world.KillController();
  co_await loop.Sleep(milliseconds(static_cast<int64_t>(loop.random().Below(20'000))));
  plan.Revive();
  scene.world.StartController();
}

Trial Told(const AtWrite& plan, std::vector<std::string> problems) {
  return {.writes = plan.writes(), .which = plan.which(), .problems = std::move(problems)};
}

}  // namespace

Trial CrashAt(uint64_t seed, Way way, size_t k, AtWrite::Side side, Story* story, HubOf hub) {
  AtWrite plan;
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    plan.Arm(k, side, true);
    rt::Scope scope(scene.world.loop());
    scope.Spawn(DieAndFollow(scene, plan));
    co_await AskFor(scene, way);
    co_await scene.Settled();
    if (k == 0 || plan.writes() >= k)
      co_await scene.world.Until([&]() -> rt::Task<bool> { co_return scene.world.controller_runs(); }, minutes(1));
    co_await ExpectEndOf(scene, way);
    co_await scene.CheckAll();
  };
  return Told(plan, Play(seed, play, &plan, story, nullptr, hub));
}

Trial TwoLeadersFrom(uint64_t seed, Way way, size_t k, Duration delay, Story* story, HubOf hub) {
  AtWrite plan;
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    rt::VirtualLoop& loop = scene.world.loop();
    co_await scene.Begin();
    plan.ArmSlow(k, delay);
    rt::Scope scope(loop);
    scope.Spawn(rt::Do([&]() -> rt::Task<void> {
      co_await plan.reached.Wait();
      scene.Tell("fault", StrCat("the leader is slow from write ", plan.writes(), " on: ", plan.which()));
      co_await loop.Sleep(AtWrite::kMoment);
      scene.world.DeposeController();
      scene.world.SetFaultPlan(nullptr);
      scene.world.StartController();
      co_await loop.Sleep(seconds(60));
      scene.world.KillDeposed();
    }));
    co_await AskFor(scene, way);
    co_await scene.Settled();
    co_await loop.Sleep(seconds(60));
    scene.world.KillDeposed();
    co_await ExpectEndOf(scene, way);
    co_await scene.CheckAll();
  };
  return Told(plan, Play(seed, play, &plan, story, nullptr, hub));
}

Trial WishAt(uint64_t seed, size_t k, AtWrite::Side side, Story* story) {
  AtWrite plan;
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    plan.Arm(k, side, true);
    rt::Scope scope(scene.world.loop());
    scope.Spawn(DieAndFollow(scene, plan));
    co_await scene.PatchTemplate(
        StrCat("{metadata: {annotations: {", rollout::kTriggerAnnotation, ": ", scene.to, "}}}"));
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, kWithin);
    scene.Expect(runs, StrCat("it was wished to ", scene.to, " and runs in '", co_await scene.WhereItRuns(), "'"));
    co_await scene.ExpectClean();
  };
  return Told(plan, Play(seed, play, &plan, story));
}

// ---- meddling ----

namespace {

constexpr int kRescheduleTries = 8;
constexpr Duration kHearsWithin = seconds(1);  // a federation of an override, mostly

rt::Task<void> AbortIt(Scene& scene) { co_await scene.Abort(); }

rt::Task<void> DeleteMigration(Scene& scene) {
  scene.Tell("person", "deletes the migration");
  [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(kMigrations, {"default", scene.move});
}

rt::Task<void> DeleteTemplate(Scene& scene) { return scene.DeleteTemplate(); }

rt::Task<void> EditTemplate(Scene& scene) {
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 2048m}}}}");
}

rt::Task<void> DeleteOverride(Scene& scene) {
  scene.Tell("GitOps", "prunes the override");
  for (const Value& policy : co_await scene.Overrides()) {
    [[maybe_unused]] const auto gone =
        co_await scene.world.hub().Delete(federation::kOverridePolicies, kube::Name::Of(policy));
  }
}

rt::Task<void> EmptyOverride(Scene& scene) {
  scene.Tell("person", "empties the override and takes its finalizer away");
  for (const Value& policy : co_await scene.Overrides()) {
    [[maybe_unused]] const auto edited =
        co_await scene.world.hub().Patch(federation::kOverridePolicies, kube::Name::Of(policy), kube::PatchType::kMerge,
                                         Yaml("{metadata: {finalizers: null}, spec: {overrideRules: []}}"));
  }
}

// Another scheduler: it knows nothing of suspension or tasks, nor of versions: but that it writes into a locked
// binding, and not into one that was just given back, is what is meant here. Before and after the move it is the
// ordinary pipe that would follow it. So it would, beside another federation that has not heard of our override yet:
// what is placed anew then runs, by no doing of ours.
rt::Task<void> Reschedule(Scene& scene, std::string clusters) {
  for (int tries = 0; tries < kRescheduleTries; ++tries) {
    const Value binding = co_await scene.Binding();
    if (!binding["metadata"]["annotations"].Has(rollout::kFenceAnnotation)) co_return;
    const Value move = co_await scene.Migration();
    if (!scene.world.own_hub() && !scene.world.KarmadaKnows(rollout::OverrideName(std::string(kube::UidOf(move))))) {
      co_await scene.world.loop().Sleep(kHearsWithin);
      continue;
    }
    Value patch = Yaml(StrCat("{spec: {clusters: [", clusters, "]}}"));
    patch.Set("metadata", json::Object({{"resourceVersion", kube::VersionOf(binding)}}));
    const auto written = co_await scene.world.hub().Patch(
        federation::kResourceBindings, {"default", "orders-flinkdeployment"}, kube::PatchType::kMerge, patch);
    if (!written.ok()) continue;
    scene.Tell("scheduler", StrCat("a foreign one writes [", clusters, "] into the binding"));
    co_return;
  }
}
rt::Task<void> DeleteBinding(Scene& scene) {
  scene.Tell("person", "deletes the binding");
  [[maybe_unused]] const auto gone =
      co_await scene.world.hub().Delete(federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)));
}

rt::Task<void> DeleteWorks(Scene& scene) {
  scene.Tell("person", "deletes the Works");
  const auto works = co_await scene.world.hub().ListAll(federation::kWorks);
  for (const Value& work : works.ok() ? works->items : std::vector<Value>()) {
    if (federation::BindingOfWork(work) != kBindingKey) continue;
    [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(federation::kWorks, kube::Name::Of(work));
  }
}

rt::Task<void> DeleteWriter(Scene& scene) {
  scene.Tell("person", "deletes the Writer");
  [[maybe_unused]] const auto gone =
      co_await scene.world.hub().Delete(kWriters, kube::Name::FromKey(std::string(kBindingKey)));
}

rt::Task<void> DeletePolicy(Scene& scene) {
  scene.Tell("person", "deletes the policy");
  [[maybe_unused]] const auto gone =
      co_await scene.world.hub().Delete(federation::kPropagationPolicies, kube::Name::Of(Yaml(kPolicy)));
}
rt::Task<void> ApplyPolicy(Scene& scene) {
  // What is applied to one that is still being deleted goes with it.
  const kube::Name name = kube::Name::Of(Yaml(kPolicy));
  const auto gone = [&]() -> rt::Task<bool> {
    const Result<Value> there = co_await scene.world.hub().Get(federation::kPropagationPolicies, name);
    co_return (there.ok() && !kube::IsDeleting(*there)) ||
        (!there.ok() && there.error().kind() == ErrorKind::kNotFound);
  };
  [[maybe_unused]] const bool ended = co_await scene.world.Until(gone, kPersonThinks);
  scene.Tell("person", "applies the policy again");
  [[maybe_unused]] const auto again = co_await scene.world.Apply(federation::kPropagationPolicies, Yaml(kPolicy));
}

rt::Task<void> Pause(Scene& scene) { return scene.PatchMigration("{spec: {paused: true}}"); }
rt::Task<void> Resume(Scene& scene) { return scene.PatchMigration("{spec: {paused: false}}"); }

rt::Task<void> DeleteIn(Scene& scene, std::string cluster) {
  if ((co_await scene.OnMember(cluster)).is_null()) co_return;
  scene.deleted_in_member = true;
  scene.Tell(StrCat("cluster ", cluster), "somebody deletes the workload there");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(cluster).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
}
rt::Task<void> DeleteInSource(Scene& scene) { return DeleteIn(scene, scene.from); }
rt::Task<void> DeleteInTarget(Scene& scene) { return DeleteIn(scene, scene.to); }

rt::Task<void> RescheduleToTarget(Scene& scene) { co_await Reschedule(scene, StrCat("{name: ", scene.to, "}")); }
rt::Task<void> RescheduleElsewhere(Scene& scene) { co_await Reschedule(scene, StrCat("{name: ", scene.Third(), "}")); }
rt::Task<void> RescheduleNowhere(Scene& scene) { co_await Reschedule(scene, ""); }

const std::vector<Meddling>& AllMeddlings() {
  static const std::vector<Meddling> kAll = {
      {"Abort", AbortIt, {"Aborted", "RolledBack", "Succeeded"}},
      {"DeleteMigration", DeleteMigration, {""}},
      {"DeleteTemplate", DeleteTemplate, {"Cancelled", "Succeeded", "Rejected"}},
      {"EditTemplate", EditTemplate, {"Succeeded"}},
      {"DeleteOverride", DeleteOverride, {"Succeeded"}},
      {"EmptyOverride", EmptyOverride, {"Succeeded"}, true},
      {"RescheduleToTarget", RescheduleToTarget, {"Succeeded"}},
      {"RescheduleElsewhere", RescheduleElsewhere, {"Succeeded"}},
      {"RescheduleNowhere", RescheduleNowhere, {"Succeeded"}},
      {"DeleteBinding", DeleteBinding, {"Succeeded"}, true},
      {"DeleteWorks", DeleteWorks, {"Succeeded"}, true},
      {"DeleteWriter", DeleteWriter, {"Succeeded"}},
      {"DeletePolicy", DeletePolicy, {"Succeeded"}, false, false, ApplyPolicy},
      {"Pause", Pause, {"Succeeded"}, false, false, Resume},
      {"DeleteInSource", DeleteInSource, {"Succeeded", "Aborted"}, true, true},
      {"DeleteInTarget", DeleteInTarget, {"Succeeded", "RolledBack"}, true, true},
  };
  return kAll;
}

}  // namespace

rt::Task<bool> IsHeldAsStray(Scene& scene) {
  bool told = false;
  const bool either = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        told = co_await scene.StrayIsTold();
        // What runs while it is being deleted stops when its operator gets to it.
        const std::string where = co_await scene.WhereItRuns();
        const bool stays = std::ranges::find(kClusters3, where) != kClusters3.end() &&
                           !kube::IsDeleting(co_await scene.OnMember(where));
        co_return told || stays;
      },
      minutes(5));
  scene.Expect(either, "somebody deleted it in its cluster; it does not run, and nobody is told");
  co_return told;
}

rt::Task<void> ExpectGoneWithItsTemplate(Scene& scene) {
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

rt::Task<void> ExpectAfterMeddling(Scene& scene, const Value& end) {
  const bool deleted = (co_await scene.Template()).is_null();
  const bool held = scene.deleted_in_member && !deleted && !Scene::IsBlocked(end) && co_await IsHeldAsStray(scene);
  if (held) co_return co_await scene.ExpectClean();
  if (!end.is_null() && !deleted) co_await scene.CheckAll();
  if (end.is_null() && !deleted) {
    const std::string holder((co_await scene.Writer())["spec"]["holder"]["cluster"].str());
    co_await scene.ExpectRunsAlone(holder);
    co_await scene.ExpectNoResidue();
    co_await scene.world.loop().Sleep(kCommitted);
  }
  if (deleted) co_await ExpectGoneWithItsTemplate(scene);
  co_await scene.ExpectClean();
}

std::span<const Meddling> Meddlings() { return AllMeddlings(); }

Trial MeddleAt(uint64_t seed, const Meddling& one, size_t k, Story* story, HubOf hub) {
  AtWrite plan;
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    plan.Arm(k, AtWrite::Side::kBefore);
    auto meddler = std::make_unique<rt::Scope>(scene.world.loop());
    meddler->Spawn(rt::Do([&]() -> rt::Task<void> {
      co_await plan.reached.Wait();
      co_await one.meddle(scene);
      if (one.undo == nullptr) co_return;
      co_await scene.world.loop().Sleep(kPersonThinks);
      co_await one.undo(scene);
    }));
    co_await scene.Ask();
    const Value end = co_await scene.Settled();
    // Some of its writes only tell, and come a moment after its end: they are not meddled with.
    if (plan.writes() < k) meddler.reset();
    const std::string phase(end["status"]["phase"].str());
    // Another federation creates what it finds in a binding: a target that is there too early ends the move.
    const bool too_early = hub != HubOf::kBaton && one.meddle == RescheduleToTarget && phase == "Aborted";
    const bool right = std::ranges::find(one.ends, phase) != one.ends.end() || too_early || plan.writes() < k ||
                       (one.may_ask && Scene::IsBlocked(end));
    scene.Expect(right, StrCat("ended as '", Scene::Said(end), "'"));
    if (!right) scene.Expect(false, StrCat(kOfTheRecord, co_await scene.Dump()));
    co_await ExpectAfterMeddling(scene, end);
  };
  return Told(plan, Play(seed, play, &plan, story, nullptr, hub));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
