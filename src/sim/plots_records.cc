// Plots of templates, policies and records.
#include <algorithm>
#include <map>
#include <memory>

#include "sim/plots_all.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

const kube::Resource& Deployments() {
  static const kube::Resource kAll{"apps", "v1", "deployments", "Deployment", true};
  return kAll;
}

rt::Task<void> PatchPolicy(Scene& scene, std::string patch) {
  scene.Tell("person", StrCat("patches the policy: ", patch));
  const auto patched = co_await scene.world.hub().Patch(federation::kPropagationPolicies, kube::Name::Of(Yaml(kPolicy)),
                                                        kube::PatchType::kMerge, Yaml(patch));
  scene.Expect(patched.ok(), "the policy was not taken");
}

// All of that kind, whatever would keep them.
rt::Task<void> Lose(Scene& scene, const kube::Resource& resource) {
  const auto now = co_await scene.world.hub().ListAll(resource);
  for (const Value& object : now.ok() ? now->items : std::vector<Value>()) {
    [[maybe_unused]] const auto freed = co_await scene.world.hub().Patch(
        resource, kube::Name::Of(object), kube::PatchType::kMerge, Yaml("{metadata: {finalizers: null}}"));
    [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(resource, kube::Name::Of(object));
  }
}

// A move under faults, which must have gone well. Gives where the workload runs; "": nowhere, or a person is asked.
rt::Task<std::string> AfterAMove(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 3m}");
  const Value end = co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
  co_return Scene::IsOver(end) ? co_await scene.WhereItRuns() : std::string();
}

void LeadersDie(Course& course) {
  course.world.KillController();
  for (size_t which = 0; which < kReplicas && course.day.replicated > 0; ++which) course.world.KillReplica(which);
}

void LeadersComeBack(Course& course) {
  if (course.day.replicated > 0) {
    HealReplicas(course.world);
  } else {
    course.world.StartController();
  }
}

}  // namespace

// Somebody does one thing, at one moment, and nothing else goes wrong: the move ends as it should.
rt::Task<void> Meddled(Course course, Weather& weather) {
  Scene& scene = course.scene;
  std::vector<const Meddling*> some;
  for (const Meddling& one : Meddlings()) {
    if (scene.world.own_hub() || !one.ours_only) some.push_back(&one);
  }
  const Meddling& one = *some[course.rare.Below(some.size())];
  weather.Begin();
  co_await scene.Ask();
  co_await course.chance.Moment(scene.world.loop(), 20'000);
  const bool over = Scene::IsOver(co_await scene.Migration());
  ++course.day.meddlings;
  if (!over) co_await one.meddle(scene);
  if (!over && one.undo != nullptr) {
    co_await scene.world.loop().Sleep(kPersonThinks);
    co_await one.undo(scene);
  }
  const Value end = co_await SettledInCalm(course, weather);
  const std::string phase = PhaseOf(end);
  // Another federation creates what it finds in a binding: a target that is there too early ends the move.
  const bool too_early =
      !scene.world.own_hub() && std::string_view(one.name) == "RescheduleToTarget" && phase == "Aborted";
  const bool right = over || too_early || std::ranges::find(one.ends, phase) != one.ends.end() ||
                     (one.may_ask && Scene::IsBlocked(end));
  scene.Expect(right, StrCat(one.name, ": it ended as '", Scene::Said(end), "'"));
  co_await ExpectAfterMeddling(scene, end);
}

// Right at the grant, or at one of the next writes, somebody empties our override or edits the template: the target
// starts from the state that it was granted, as it was rendered then.
rt::Task<void> MeddledAtTheGrant(Course course, Weather& weather) {
  constexpr uint64_t kWritesAfter = 7;
  Scene& scene = course.scene;
  const std::string_view which = course.rare.Below(2) == 0 ? "EmptyOverride" : "EditTemplate";
  const auto left = std::make_shared<uint64_t>(course.rare.Below(kWritesAfter));
  const auto granted = std::make_shared<bool>(false);
  const auto then = [left, granted, grant = TheGrant(scene).when](const kube::Call& call) {
    const bool is = call.resource.plural == kWriters.plural && grant(call);
    *granted = *granted || is;
    if (!*granted || !call.IsWrite() || call.resource.plural == "events") return false;
    if (*left == 0) return true;
    --*left;
    return false;
  };
  weather.Begin();
  co_await scene.Ask();
  const bool came =
      co_await UntilCall(course, scene.world.hub_faults(), {.plural = {}, .name = {}, .subresource = {}, .when = then},
                         kube::Fault::kDelay, AtWrite::kMoment);
  for (const Meddling& one : Meddlings()) {
    if (came && one.name == which) co_await one.meddle(scene);
  }
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(PhaseOf(end) == "Succeeded", StrCat(which, ": it ended as '", Scene::Said(end), "'"));
  co_await scene.CheckAll();
}

// Another workload of the same name: the move of the first one is over, and the second runs.
rt::Task<void> TemplateMadeAnew(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  co_await course.chance.Moment(scene.world.loop(), 20'000);
  const bool over = Scene::IsOver(co_await scene.Migration());
  co_await scene.DeleteTemplate();
  co_await scene.world.Until([&]() -> rt::Task<bool> { co_return (co_await scene.Template()).is_null(); }, minutes(1));
  co_await scene.world.loop().Sleep(Between(course, 0, 2'000));
  scene.Tell("person", "applies the template again");
  scene.Expect((co_await scene.world.Apply(FlinkDeployments(), scene.job)).ok(), "not taken");
  const Value end = co_await SettledInCalm(course, weather);
  const bool right = over || Scene::IsBlocked(end) || PhaseOf(end) == "Cancelled" || PhaseOf(end) == "Rejected" ||
                     PhaseOf(end) == "Succeeded";
  scene.Expect(right, StrCat("its template is another one, and it ended as ", Scene::Said(end)));
}

// The template is deleted while the source stops; its binding has no owner, and the pipe hears of it late. Nothing of
// it is started any more.
rt::Task<void> TemplateDeletedUnheard(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return (co_await scene.OnMember(scene.from))["spec"]["job"]["state"].str() == "suspended";
      },
      minutes(1));
  co_await scene.world.loop().Sleep(Between(course, 0, 1'500));
  const Duration late = Between(course, 10'000, 30'000);
  for (const std::string& plural : {FlinkDeployments().plural, federation::kResourceBindings.plural}) {
    scene.world.hub_faults().Add({.fault = kube::Fault::kWatchDelay,
                                  .delay = late,
                                  .verb = std::nullopt,
                                  .plural = plural,
                                  .name = {},
                                  .subresource = {},
                                  .when = nullptr});
  }
  [[maybe_unused]] const auto orphaned =
      co_await scene.world.hub().Patch(federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)),
                                       kube::PatchType::kMerge, Yaml("{metadata: {ownerReferences: null}}"));
  co_await scene.DeleteTemplate();
  bool ran = false;
  const MonotonicTime until = scene.world.loop().Now() + minutes(1);
  co_await scene.world.Until([&]() -> rt::Task<bool> { co_return !scene.JobRuns(scene.from); }, seconds(20));
  while (scene.world.loop().Now() < until) {
    co_await scene.world.loop().Sleep(milliseconds(100));
    ran = ran || scene.JobRuns(scene.from) || scene.JobRuns(scene.to);
  }
  scene.Expect(!ran, "its template was deleted while it stopped, and it was started again");
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Cancelled", "its template is gone");
  co_await ExpectGoneWithItsTemplate(scene);
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// What a policy suspends is not carried to any cluster.
rt::Task<void> SuspendedPolicy(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const std::string where = course.rare.Below(2) == 0 ? scene.from : co_await AfterAMove(course, weather);
  if (where != scene.from && where != scene.to) co_return;
  co_await PatchPolicy(scene, "{spec: {suspension: {dispatching: true}}}");
  co_await scene.world.loop().Sleep(Between(course, 10'000, 30'000));
  const Value before = (co_await scene.OnMember(where))["spec"];
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 2048m}}}}");
  co_await scene.world.loop().Sleep(Between(course, 10'000, 60'000));
  scene.Expect((co_await scene.OnMember(where))["spec"] == before, "suspended, and yet it was propagated");
  co_await PatchPolicy(scene, "{spec: {suspension: null}}");
  co_await scene.ExpectRunsAlone(where);
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// What an old leader wrote in a move comes when the move has ended, with a version that was the newest for long enough.
rt::Task<void> LateLockAfterTheEnd(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const std::string where = co_await AfterAMove(course, weather);
  if (where != scene.from && where != scene.to) co_return;
  scene.Tell("leader 1", "its lock of the binding comes late");
  const auto late = co_await scene.world.hub().Patch(
      federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)), kube::PatchType::kMerge,
      Yaml(StrCat("{metadata: {annotations: {", rollout::kFenceAnnotation,
                  ": \"1\"}}, spec: {suspension: {scheduling: true}, gracefulEvictionTasks: [{fromCluster: ", where,
                  ", purgeMode: Never, reason: ", rollout::kTaskReason, ", producer: ", rollout::kTaskProducer,
                  ", suppressDeletion: true}]}}")));
  scene.Expect(late.ok(), "the lock was not taken");
  co_await scene.world.loop().Sleep(seconds(10));
  co_await scene.CheckAll();
}

// The record of a workload that has moved is deleted by force: none is made up, and what runs runs on.
rt::Task<void> LostRecord(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const std::string where = co_await AfterAMove(course, weather);
  if (where != scene.to) co_return;
  LeadersDie(course);
  scene.Tell("person", "deletes the Writer by force");
  co_await Lose(scene, kWriters);
  LeadersComeBack(course);
  co_await scene.world.loop().Sleep(minutes(1));
  scene.Expect((co_await scene.Writer()).is_null(),
               "a record was made up for a workload that has moved before: its epochs begin anew");
  scene.Expect(co_await scene.RunsIn(where), StrCat("it runs in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// Nothing is left on the hub but template and policy, which would place it where it began. The members know better.
rt::Task<void> LostRecords(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const std::string where = co_await AfterAMove(course, weather);
  if (where != scene.to) co_return;
  LeadersDie(course);
  scene.Tell("person", "makes the hub anew, without any of its records");
  for (const kube::Resource& resource :
       {federation::kWorks, federation::kResourceBindings, kWriters, kMigrations, federation::kOverridePolicies})
    co_await Lose(scene, resource);
  co_await PatchPolicy(scene, StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", scene.from, "]}}}}"));
  LeadersComeBack(course);
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect((co_await scene.Writer()).is_null(), "a record was made up for a workload that runs elsewhere");
  scene.Expect(co_await scene.RunsIn(where),
               StrCat("it ran in ", where, ", and now in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// Somebody deletes the record, and the template, whose workload is let go: the record stays for as long as that is
// there.
rt::Task<void> RecordOutlivesItsWorkload(Course course, Weather& weather) {
  Scene& scene = course.scene;
  co_await PatchPolicy(scene, "{spec: {preserveResourcesOnDeletion: true}}");
  co_await scene.world.loop().Sleep(seconds(10));
  weather.Begin();
  [[maybe_unused]] const auto asked =
      co_await scene.world.hub().Delete(kWriters, kube::Name::FromKey(std::string(kBindingKey)));
  co_await scene.world.loop().Sleep(Between(course, 0, 10'000));
  co_await scene.DeleteTemplate();
  co_await weather.Calm();
  co_await scene.world.loop().Sleep(minutes(2));
  const bool there = !(co_await scene.OnMember(scene.from)).is_null();
  scene.Expect(there, "it was to be let go, and is gone");
  scene.Expect(!(co_await scene.Writer()).is_null() || !there, "the record is gone, and its workload is not");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.from).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  const bool went = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return (co_await scene.Writer()).is_null(); }, minutes(3));
  scene.Expect(went, "the workload is gone, and its record stays for good");
}

// A burst of workloads, decided on one look at the clusters: no cluster gets more than it has room for.
rt::Task<void> Herd(Course course, Weather& /*weather*/) {
  constexpr int64_t kRoom = 16;  // cores of a practice cluster
  Scene& scene = course.scene;
  scene.Expect((co_await scene.world.Apply(federation::kPropagationPolicies, Yaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: big, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green, red]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}
)")))
                   .ok(),
               "the policy was not taken");
  co_await scene.world.loop().Sleep(minutes(1));  // the clusters' room is known
  const size_t many = 3 + course.rare.Below(3);
  for (size_t i = 0; i < many; ++i) {
    const std::string name = StrCat("big-", i);
    const Value big =
        Yaml(StrCat("{apiVersion: apps/v1, kind: Deployment, metadata: {name: ", name,
                    ", namespace: default}, spec: {replicas: ", 5 + course.rare.Below(8),
                    ", selector: {matchLabels: {app: ", name, "}}, template: {metadata: {labels: {app: ", name,
                    "}}, spec: {containers: [{name: a, image: a, resources: {requests: {cpu: \"1\"}}}]}}}}"));
    scene.Expect((co_await scene.world.Apply(Deployments(), big)).ok(), "not taken");
  }
  co_await scene.world.loop().Sleep(seconds(30));
  std::map<std::string, int64_t> given;
  const auto bindings = co_await scene.world.hub().ListAll(federation::kResourceBindings);
  for (const Value& binding : bindings->items) {
    if (binding["spec"]["resource"]["kind"].str() != "Deployment") continue;
    for (const Value& cluster : binding["spec"]["clusters"].items())
      given[std::string(cluster["name"].str())] += cluster["replicas"].int_or(0);
  }
  scene.Expect(!given.empty(), "nothing was placed");
  for (const auto& [cluster, replicas] : given)
    scene.Expect(replicas <= kRoom, StrCat(cluster, " was given ", replicas, " cores' worth and has ", kRoom));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
