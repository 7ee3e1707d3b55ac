// The checks before a move.
#include "rollout/preflight.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/strings.h"
#include "federation/resources.h"

namespace baton::rollout {
namespace {

using json::Value;
using Side = Check::Side;

class Checks {
 public:
  explicit Checks(std::vector<Check>& into) : into_(into) {}
  // Gives whether it holds.
  bool Ask(Side side, bool holds, std::string what, std::string problem) {
    if (!holds) failed_ = true;
    into_.push_back({.side = side, .what = std::move(what), .problem = holds ? std::string() : std::move(problem)});
    return holds;
  }
  bool failed() const { return failed_; }

 private:
  std::vector<Check>& into_;
  bool failed_ = false;
};

// What must hold before it makes sense to ask who hands over to whom. False: nothing further can be asked.
bool CheckWorkload(const ProfileSet& profiles, const PreflightQuestion& question, Checks& checks) {
  const MigrationSpec& spec = question.spec;
  if (!checks.Ask(Side::kHub, !question.workload.is_null(), StrCat("the hub has ", spec.kind, " ", spec.workload),
                  StrCat("there is no ", spec.kind, " ", spec.workload, " on the hub"))) {
    return false;
  }
  const bool known = profiles.ForKind(spec.api_version, spec.kind) != nullptr;
  if (!checks.Ask(
          Side::kHub, question.profile != nullptr,
          StrCat("profile ", question.profile == nullptr ? "" : question.profile->name(), " moves it"),
          known ? StrCat("the workload is not managed: annotate it with ", kManagedAnnotation, ": \"true\"")
                : StrCat("no MigrationProfile says how a ", spec.kind, " is moved: `kubectl get migrationprofiles`"))) {
    return false;
  }
  if (!question.own_hub) {
    checks.Ask(Side::kHub, !question.profile->needs_staging(), "it can be started where it was not prepared",
               StrCat("a ", spec.kind,
                      " must be prepared in the target before it starts, which is done on Baton's own ", "hub only"));
  }
  if (!checks.Ask(Side::kHub, !question.binding.is_null(), "a policy propagates it",
                  "no policy propagates it, so it runs nowhere")) {
    return false;
  }
  const size_t clusters = question.binding["spec"]["clusters"].size();
  return checks.Ask(Side::kHub, clusters == 1, "it is placed on one cluster",
                    StrCat("it is placed on ", clusters, " clusters: only a workload with one writer can be moved"));
}

// Who hands over to whom, as the hub has it.
Result<void> CheckPlaces(federation::Federation& federation, const PreflightQuestion& question, Preflight& found,
                         Checks& checks) {
  const MigrationSpec& spec = question.spec;
  const Value& binding = question.binding;
  const std::string& source = found.source = binding["spec"]["clusters"][0]["name"].str();
  std::string& target = found.target = spec.target;
  if (question.writer.exists) {
    checks.Ask(Side::kHub, question.writer.holder.cluster == source,
               StrCat("the Writer and the binding say that it is in ", source),
               StrCat("the Writer says ", question.writer.holder.cluster, " and the binding ", source,
                      ": wait until they agree"));
  }
  if (!spec.source.empty()) {
    checks.Ask(Side::kSource, spec.source == source, StrCat("it runs in ", spec.source),
               StrCat("it runs in ", source, ", not in ", spec.source));
  }
  if (target.empty()) {
    const Result<std::string> chosen = federation.schedule().Elsewhere(
        StrCat(kube::NamespaceOf(binding), "/", kube::NameOf(binding)), binding, {source});
    if (chosen.ok()) target = *chosen;
    checks.Ask(Side::kTarget, chosen.ok(), StrCat("its policy sends it to ", target),
               StrCat("spec.target names no cluster, and ", chosen.ok() ? "" : chosen.error().message()));
  }
  checks.Ask(Side::kTarget, target != source, StrCat(target, " is another cluster than ", source),
             StrCat("it runs in ", target, " already"));
  const Value& object = federation.hub().clusters().Get(target);
  if (!target.empty()) {
    checks.Ask(Side::kTarget, !object.is_null(), StrCat("cluster ", target, " has joined"),
               StrCat("there is no cluster ", target, ": `baton get clusters`"));
  }
  if (!object.is_null()) {
    checks.Ask(Side::kTarget, federation::FindCondition(object["status"], "Ready")["status"].str() == "True",
               StrCat("cluster ", target, " is ready"), StrCat("cluster ", target, " is not ready"));
  }
  checks.Ask(Side::kHub,
             !binding["spec"]["preserveResourcesOnDeletion"].bool_or(false) || !GUARD_STANDS("handoff.preflight"),
             "its policy lets the source's object go at the end (preserveResourcesOnDeletion is off)",
             "preserveResourcesOnDeletion would keep the source's object for ever: switch it off for the move");
  // Where others are evicting it from, our own task cannot stand beside theirs, and the scheduler bars the cluster.
  for (const Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
    const std::string from(task["fromCluster"].str());
    if (task["producer"].str() == kTaskProducer || (from != source && from != target)) continue;
    checks.Ask(from == source ? Side::kSource : Side::kTarget, !GUARD_STANDS("handoff.no_eviction_is_under_way"),
               StrCat("nobody evicts it from ", from),
               StrCat(task["producer"].str_or("somebody"), " is evicting it from ", from, " (", task["reason"].str(),
                      "): wait for that, or remove the task from spec.gracefulEvictionTasks of its ResourceBinding"));
  }
  if (!object.is_null()) {
    const bool reached = federation.schedule().Allows(binding, target);
    if (!reached && question.fresh)
      return UnavailableError(StrCat("the policy's placement does not reach cluster ", target, " yet"));
    checks.Ask(Side::kTarget, reached, StrCat("the policy's placement reaches cluster ", target),
               StrCat("the policy's placement does not reach cluster ", target));
  }
  std::vector<std::string> problems = TRY(question.profile->Preflight(question.workload));
  if (!GUARD_STANDS("handoff.preflight")) problems.clear();
  const std::string what = StrCat("profile ", question.profile->name(), " finds nothing in its spec against a move");
  for (const std::string& problem : problems) checks.Ask(Side::kSource, false, what, problem);
  if (problems.empty()) checks.Ask(Side::kSource, true, what, "");
  if (spec.migration.last_checkpoint) {
    checks.Ask(Side::kSource, question.profile->has_last_checkpoint(),
               StrCat("profile ", question.profile->name(), " can move it from its last checkpoint"),
               StrCat("profile ", question.profile->name(), " has no captureFallback LastCheckpoint: leave it out"));
  }
  return {};
}

// What does not run is moved from what it left, and started to prove it: not where it must not run.
void CheckMayRun(const PreflightQuestion& question, const Preflight& found, const Value& at_source,
                 const Value& at_target, Checks& checks) {
  const bool in_source = question.profile->IsHeld(at_source);
  const std::string& cluster = in_source ? found.source : found.target;
  checks.Ask(in_source ? Side::kSource : Side::kTarget, !in_source && !question.profile->IsHeld(at_target),
             "its spec lets it run",
             StrCat("it is suspended by its own spec in ", cluster,
                    ", and a move from its last checkpoint would start it: let it run first"));
}

// What users made of it. An override of a move that has ended may still be in our copies: what that pinned would be
// pinned again.
bool IsUsers(const overrides::Policy& policy) {
  const bool ours = !policy.cluster_scoped && policy.name.starts_with(OverrideName(""));
  return !(ours && GUARD_STANDS("handoff.pins_what_users_want"));
}

// Of a template whose versions are kept, the one that is moved to is released to the target by its name. Render keeps
// it, a moment after the template was edited.
Result<Value> CheckRevision(federation::Federation& federation, const PreflightQuestion& question, Checks& checks) {
  const bool kept = federation.revisions().Keeps(question.binding, question.workload) &&
                    !federation::ClustersWithRelease(question.binding).empty();
  if (!kept) return Value();
  const Value& newest = federation.revisions().Newest(question.binding, question.workload);
  if (newest.is_null() && question.patient) return UnavailableError("the template's newest version is not kept yet");
  checks.Ask(
      Side::kHub, !newest.is_null(), "the template's newest version is kept",
      "no ControllerRevision keeps the template's newest version: the conditions of its ResourceBinding say why");
  return newest.is_null() ? Value() : Value(kube::NameOf(newest));
}

// One of the two, live.
rt::Task<Result<void>> CheckMember(federation::Federation& federation, const PreflightQuestion& question,
                                   Holder& holder, bool is_source, Checks& checks) {
  const Side side = is_source ? Side::kSource : Side::kTarget;
  const std::string& cluster = holder.cluster;
  federation::Members& members = federation.hub().members();
  // Right after a start it is not known yet who the members are.
  if (!members.Known(cluster)) co_return UnavailableError(members.WhyNot(cluster));
  const std::shared_ptr<federation::Member> member = members.Find(cluster);
  if (!checks.Ask(side, member != nullptr, StrCat("there is a way to cluster ", cluster), members.WhyNot(cluster)))
    co_return Result<void>();
  const Result<Value> home = co_await member->api().Get(federation::kNamespaces, {"", "kube-system"});
  // A call that failed is no reason to refuse a move; a cluster that stays away is.
  if (!home.ok() && question.patient) co_return home.error();
  if (!checks.Ask(side, home.ok(), StrCat("cluster ", cluster, " answers"),
                  StrCat("cluster ", cluster, " does not answer: ", home.ok() ? "" : home.error().message()))) {
    co_return Result<void>();
  }
  holder.cluster_id = kube::UidOf(*home);
  Result<kube::Resource> resource = co_await member->mapper().ForObject(question.workload);
  if (!resource.ok() && question.patient && resource.error().kind() != ErrorKind::kNotFound) co_return resource.error();
  if (!checks.Ask(side, resource.ok(), StrCat("cluster ", cluster, " serves ", question.spec.kind),
                  StrCat("cluster ", cluster, ": ", resource.ok() ? "" : resource.error().message()))) {
    co_return Result<void>();
  }
  const Value object = CO_TRY(co_await GetOrNull(member->api(), *resource, kube::Name::Of(question.workload)));
  holder.member_uid = kube::UidOf(object);
  if (!is_source) {
    checks.Ask(side, object.is_null(), StrCat("cluster ", cluster, " has none of that name"),
               StrCat("cluster ", cluster, " already has one of that name: remove it first"));
    co_return Result<void>();
  }
  checks.Ask(side, !object.is_null(), StrCat("it is in ", cluster), StrCat("nothing of it is in ", cluster, " yet"));
  // One that was made anew is held, and has lost its state: nothing could be captured from it, and an abort would let
  // it run from nothing. (On a hub of others nobody holds it: it runs, and is moved as it is.)
  const std::string& on_record = question.writer.holder.member_uid;
  const bool same = object.is_null() || on_record.empty() || question.writer.holder.cluster != cluster ||
                    !question.own_hub || on_record == holder.member_uid;
  checks.Ask(side, GUARD("handoff.source_is_on_record", same), StrCat("the one in ", cluster, " is the one on record"),
             StrCat("the one in ", cluster,
                    " was made anew there, has lost its state, and is held: condition "
                    "StrayWriter of its binding says how it is let run; it can be moved when it does"));
  // Epochs that begin anew would be refused by the member for ever.
  const int64_t epoch = question.profile->EpochOf(object);
  checks.Ask(side, question.writer.exists || epoch <= 0, StrCat("its epoch in ", cluster, " is on record"),
             StrCat("it has epoch ", epoch, " in ", cluster,
                    " and no Writer on this hub (docs/ROLLOUT.md, 'The record is gone')"));
  co_return Result<void>();
}

}  // namespace

std::string_view SideName(Check::Side side) {
  constexpr std::string_view kNames[] = {"hub", "source", "target"};
  return kNames[static_cast<size_t>(side)];
}

std::vector<std::string> Preflight::Problems() const {
  std::vector<std::string> problems;
  for (const Check& check : checks) {
    if (!check.problem.empty()) problems.push_back(check.problem);
  }
  return problems;
}

rt::Task<Result<Value>> GetOrNull(kube::Api& api, kube::Resource resource, kube::Name name) {
  Result<Value> got = co_await api.Get(std::move(resource), std::move(name));
  if (!got.ok() && GUARD("handoff.only_404_is_absence", got.error().kind() == ErrorKind::kNotFound)) co_return Value();
  co_return got;
}

rt::Task<Result<Preflight>> CheckBefore(federation::Federation& federation, const ProfileSet& profiles,
                                        PreflightQuestion question) {
  Preflight found;
  Checks checks(found.checks);
  // It has a writer: its binding was deleted by somebody, and is made anew.
  if (question.patient && question.writer.exists && question.profile != nullptr && question.binding.is_null())
    co_return UnavailableError("the workload's binding is not there now");
  if (!CheckWorkload(profiles, question, checks)) co_return found;
  CO_TRY(CheckPlaces(federation, question, found, checks));
  if (checks.failed()) co_return found;

  Holder source{.cluster = found.source};
  Holder target{.cluster = found.target};
  // A template that keeps revisions may be newer than what runs in the source.
  Result<Value> at_source = federation.revisions().TemplateIn(question.binding, question.workload, source.cluster);
  if (!at_source.ok() && question.patient && at_source.error().kind() == ErrorKind::kUnavailable)
    co_return at_source.error();
  if (at_source.ok()) {
    const Value there = *at_source;
    at_source = co_await federation.render().Render(question.binding, there, source.cluster, nullptr, IsUsers);
  }
  const Result<Value> at_target =
      co_await federation.render().Render(question.binding, question.workload, target.cluster, nullptr, IsUsers);
  const Value revision = CO_TRY(CheckRevision(federation, question, checks));
  checks.Ask(Side::kSource, at_source.ok(), StrCat("it can be rendered for ", source.cluster),
             at_source.ok() ? std::string() : std::string(at_source.error().message()));
  checks.Ask(Side::kTarget, at_target.ok(), StrCat("it can be rendered for ", target.cluster),
             at_target.ok() ? std::string() : std::string(at_target.error().message()));
  if (question.spec.migration.last_checkpoint && at_source.ok() && at_target.ok())
    CheckMayRun(question, found, *at_source, *at_target, checks);
  CO_TRY(co_await CheckMember(federation, question, source, true, checks));
  CO_TRY(co_await CheckMember(federation, question, target, false, checks));
  if (checks.failed()) co_return found;
  target.member_uid.clear();
  found.proposal = Claim{.migration = question.spec.migration.name,
                         .migration_uid = question.spec.migration.uid,
                         .attempt = 1,
                         .intent = Intent::kForward,
                         .fence = question.fence,
                         .source = source,
                         .target = target};
  found.pinned = json::Object(
      {{"source", (*at_source)["spec"]}, {"target", (*at_target)["spec"]}, {"other", question.workload["spec"]}});
  if (!revision.is_null()) found.pinned.Set("revision", revision);
  const Value& spec = question.binding["spec"];
  found.prior =
      json::Object({{"replicas", spec["clusters"][0]["replicas"]}, {"scheduling", spec["suspension"]["scheduling"]}});
  co_return found;
}

rt::Task<Result<std::string>> WouldTake(federation::Member& member, const Value& workload, const Value& target_spec,
                                        const interpret::Profile& profile, const Claim& claim, int64_t seq) {
  const kube::Resource resource = CO_TRY(co_await member.mapper().ForObject(workload));
  Value object = json::Object({{"apiVersion", workload["apiVersion"]}, {"kind", workload["kind"]}});
  object.Edit("metadata").Set("name", kube::NameOf(workload));
  object.Edit("metadata").Set("namespace", kube::NamespaceOf(workload));
  object.Set("spec", target_spec);
  object = CO_TRY(
      profile.Held(std::move(object), {.seq = seq, .cluster = claim.target.cluster, .peer = claim.source.cluster}));
  const Result<Value> taken = co_await member.api().Create(resource, object, {.dry_run = true});
  const bool there = !taken.ok() && taken.error().kind() == ErrorKind::kAlreadyExists;
  const bool namespace_comes = !taken.ok() && taken.error().kind() == ErrorKind::kNotFound;  // it is propagated, too
  if (taken.ok() || there || namespace_comes) co_return std::string();
  if (taken.error().kind() == ErrorKind::kInvalid || taken.error().kind() == ErrorKind::kForbidden)
    co_return std::string(taken.error().message());
  co_return taken.error();
}

rt::Task<Result<Value>> RelatedIn(federation::Member& member, const interpret::Profile& profile, std::string ns,
                                  std::string name, Value pinned, RelatedPart part) {
  Value remains = json::Array();
  Value kept = json::Array();
  const size_t count = profile.related().size();
  for (size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    if (part != RelatedPart::kAll && last != (part == RelatedPart::kLast)) continue;
    const interpret::Related& related = profile.related()[i];
    const kube::GroupVersion version = kube::ParseApiVersion(related.api_version);
    Result<kube::Resource> resource = co_await member.mapper().ForKind(version.group, version.version, related.kind);
    if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) continue;
    if (!resource.ok()) co_return resource.error();
    Value& list = related.keep ? kept : remains;
    const std::string of = resource->namespaced ? ns : std::string();
    if (!related.name.empty()) {
      Value found = CO_TRY(co_await GetOrNull(member.api(), *resource, {of, interpret::WithName(related.name, name)}));
      if (!found.is_null()) list.Push(found);
      continue;
    }
    const std::string selector = interpret::SelectorFor(related, name, pinned);
    if (selector.empty() && related.label_selector != "*")
      co_return InvalidError(StrCat("nothing says which ", related.kind, "s belong to ", name));
    const kube::Listed listed =
        CO_TRY(co_await member.api().ListAll(*resource, {.ns = of, .label_selector = selector}));
    for (const Value& one : listed.items) {
      if (!profile.IsOfAnother(related, name, one)) list.Push(one);
    }
  }
  co_return json::Object({{"remains", remains}, {"kept", kept}});
}

}  // namespace baton::rollout
