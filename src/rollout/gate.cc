// Deciding what a cluster may be given.
#include "rollout/gate.h"

#include <utility>
#include <vector>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/invariant.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/engine.h"
#include "rollout/next.h"
#include "rollout/preflight.h"
#include "rollout/question.h"
#include "rollout/records.h"
#include "rollout/writer_end.h"
#include "rt/when.h"

namespace baton::rollout {
namespace {

using federation::Admitted;
using json::Value;
using Mode = SideRule::Mode;

// What the Writer says about one cluster.
SideRule RuleOf(const Writer& writer, const std::string& cluster) {
  const std::optional<OverrideState> wanted = WantedOverride(writer, 0);
  if (wanted) {
    if (cluster == writer.claim->source.cluster) return wanted->source;
    if (cluster == writer.claim->target.cluster) return wanted->target;
    return {.mode = Mode::kHeld, .seq = writer.seq};
  }
  return {.mode = cluster == writer.holder.cluster ? Mode::kAsIs : Mode::kHeld, .seq = writer.seq};
}

Error NotYet(const std::string& cluster, const Value& manifest, std::string_view why) {
  return UnavailableError(
      StrCat(kube::KindOf(manifest), " ", kube::NameOf(manifest), " is not written to ", cluster, " now: ", why));
}

std::string UnknownEpoch(int64_t epoch, const std::string& cluster) {
  return StrCat("it has epoch ", epoch, " in ", cluster,
                " and no Writer on this hub: the hub was restored or the Writer deleted; a person must look at all "
                "clusters first (docs/ROLLOUT.md, 'The record is gone')");
}

// The Writer was read after the member, and a member gets a number only when the Writer has it: so the hub has lost
// what it knew.
std::string OlderRecord(int64_t epoch, const std::string& cluster, const Value& writer) {
  return StrCat("it has epoch ", epoch, " in ", cluster, ", and Writer ", kube::NameOf(writer),
                " on this hub knows of ", writer["spec"]["seq"].int_or(0),
                " only: the hub was restored from an older backup; a person must look at all clusters, and say who may "
                "write (docs/ROLLOUT.md, 'The record is gone')");
}

// What a person must know of an object that is not the one on record, and how they let it run if that is what they
// want.
std::string StrayMessage(const std::string& cluster, const Value& writer, const Value& manifest, std::string_view uid) {
  return StrCat(
      kube::KindOf(manifest), " ", kube::NameOf(manifest), " in ", cluster, " has uid ", uid, ", and ",
      writer["spec"]["holder"]["memberUID"].str(),
      " is the one that may write: it was deleted or made anew there, has lost its state, and is held. Find the "
      "state that the first one left, put it into the template, and let this one run: kubectl -n ",
      kube::NamespaceOf(writer), " patch writer ", kube::NameOf(writer),
      " --type=merge -p '{\"spec\":{\"holder\":{\"memberUID\":\"", uid, "\"}}}'");
}

}  // namespace

int64_t Gate::EpochOf(const Value& object) const {
  const auto profile = profiles_.ForKind(kube::ApiVersionOf(object), kube::KindOf(object));
  return profile == nullptr ? -1 : profile->EpochOf(object);
}

// One other cluster: an epoch there is of a workload that this hub knew once. One that does not answer may have it too,
// which matters where something would be started.
rt::Task<Result<void>> Gate::LookAt(const std::string& here, const Value& cluster, const Value& manifest, bool starts,
                                    const interpret::Profile& profile) {
  const std::string name(kube::NameOf(cluster));
  const bool vouched = cluster["metadata"]["annotations"][kNothingRunsAnnotation].str() == "true";
  if (vouched) co_return Result<void>();
  const auto unknown = [&](std::string_view why) -> Result<void> {
    if (!starts) return Result<void>();
    SOMETIMES("rollout.first_placement_waits_for_a_member");
    return NotYet(here, manifest,
                  StrCat("it may run in ", name, " already, which does not answer (", why,
                         "). It is started when that cluster answers or has left, or when you know that nothing of "
                         "this hub's runs there: kubectl annotate cluster ",
                         name, " ", kNothingRunsAnnotation, "=true"));
  };
  const std::shared_ptr<federation::Member> member = members_->Find(name);
  if (member == nullptr) co_return unknown(members_->WhyNot(name));
  if (!member->closed().empty()) co_return unknown(member->closed());  // another cluster's "not found" says nothing
  Result<kube::Resource> resource = co_await member->mapper().ForObject(manifest);
  if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) co_return Result<void>();  // not even the kind
  if (!resource.ok()) co_return unknown(resource.error().message());
  const Result<Value> there = co_await rt::WithDeadline(rt::Deadline::After(hub_.loop(), kSightTimeout), "its answer",
                                                        member->api().Get(*resource, kube::Name::Of(manifest)));
  if (!there.ok() && there.error().kind() == ErrorKind::kNotFound) co_return Result<void>();
  if (!there.ok()) co_return unknown(there.error().message());
  if (profile.EpochOf(*there) <= 0) co_return Result<void>();  // somebody's own, of the same name
  SOMETIMES("rollout.first_placement_finds_it_elsewhere");
  co_return NotYet(here, manifest, UnknownEpoch(profile.EpochOf(*there), name));
}

rt::Task<Result<void>> Gate::RunsNowhereElse(const std::string& cluster, const Value& manifest, bool starts,
                                             const interpret::Profile& profile) {
  INVARIANT(members_ != nullptr, "a gate without a Rollout places nothing");
  const kube::Listed clusters = CO_TRY(co_await hub_.ListAll(federation::kClusters, {}));
  std::vector<rt::Task<Result<void>>> looks;
  for (const Value& other : clusters.items)
    if (kube::NameOf(other) != cluster) looks.push_back(LookAt(cluster, other, manifest, starts, profile));
  for (const Result<void>& looked : co_await rt::WhenAll(std::move(looks))) CO_TRY(looked);
  co_return Result<void>();
}

// The first Writer of a workload; null when it is not to be managed.
rt::Task<Result<Value>> Gate::FirstPlacement(const std::string& cluster, const Value& manifest, const Value& observed,
                                             const interpret::Profile& profile) {
  const std::string binding_name = api::karmada::BindingName(kube::KindOf(manifest), kube::NameOf(manifest));
  Result<Value> binding =
      co_await hub_.Get(federation::kResourceBindings, {std::string(kube::NamespaceOf(manifest)), binding_name});
  if (!binding.ok()) co_return binding;
  if ((*binding)["spec"]["clusters"].size() != 1) co_return Value();
  if (!GUARD("rollout.unknown_epoch", profile.EpochOf(observed) <= 0)) {
    co_return NotYet(cluster, manifest, UnknownEpoch(profile.EpochOf(observed), cluster));
  }
  if (GUARD_STANDS("rollout.unknown_epoch_elsewhere"))
    CO_TRY(co_await RunsNowhereElse(cluster, manifest, observed.is_null(), profile));
  const Result<Value> cluster_object = co_await hub_.Get(federation::kClusters, {"", cluster});
  if (!cluster_object.ok()) co_return cluster_object;
  Writer writer;
  writer.exists = true;
  writer.seq = 1;
  writer.holder = {.cluster = cluster,
                   .cluster_id = std::string((*cluster_object)["spec"]["id"].str()),
                   .member_uid = std::string(kube::UidOf(observed))};
  Value template_like = manifest;
  template_like.Edit("metadata").Set("uid", manifest["metadata"]["annotations"][api::karmada::kTemplateUid]);
  co_return co_await hub_.Create(kWriters, WriteWriter(writer, Value(), template_like));
}

// The template was deleted and made anew: another workload of the same name, with a state of its own. The pipe has
// removed the earlier one everywhere before it made a binding for this one; its epochs go on counting.
rt::Task<Result<Value>> Gate::Renew(Value object, const std::string& cluster, const Value& manifest,
                                    const Value& observed, const interpret::Profile& profile) {
  Writer writer = ReadWriter(object);
  if (writer.claim) co_return NotYet(cluster, manifest, "a move of an earlier one of that name has not ended");
  const std::string binding_name = api::karmada::BindingName(kube::KindOf(manifest), kube::NameOf(manifest));
  const Result<Value> binding =
      co_await hub_.Get(federation::kResourceBindings, {std::string(kube::NamespaceOf(manifest)), binding_name});
  if (!binding.ok()) co_return binding;
  const Value& asked = manifest["metadata"]["annotations"][api::karmada::kTemplateUid];
  // Without that mark it was let go (preserveResourcesOnDeletion), and is adopted as any other.
  const Value& made_for = observed["metadata"]["annotations"][api::karmada::kTemplateUid];
  const bool earlier = !made_for.is_null() && made_for != asked;
  if (earlier) co_return NotYet(cluster, manifest, "an earlier one of that name is still there");
  const Value& spec = (*binding)["spec"];
  if (spec["resource"]["uid"] != asked || spec["clusters"].size() != 1 || spec["clusters"][0]["name"].str() != cluster)
    co_return NotYet(cluster, manifest, "it is a later one of that name than its Writer knows, and not placed here");
  // What was let go in another cluster runs on there.
  const Result<void> alone = co_await RunsNowhereElse(cluster, manifest, observed.is_null(), profile);
  if (!alone.ok()) {
    co_return UnavailableError(StrCat("an earlier one of that name may run in another cluster, where it was let go: ",
                                      alone.error().message()));
  }
  const Result<Value> cluster_object = co_await hub_.Get(federation::kClusters, {"", cluster});
  if (!cluster_object.ok()) co_return cluster_object;
  writer.seq += 1;
  writer.holder = {.cluster = cluster,
                   .cluster_id = std::string((*cluster_object)["spec"]["id"].str()),
                   .member_uid = std::string(kube::UidOf(observed))};
  Value next = WriteWriter(writer, object, manifest);
  next.Edit("spec").Edit("workload").Set("uid", asked);
  co_return co_await hub_.Update(kWriters, next);
}

// It was made there while it was not in our hands: it has no number. Nothing is stopped for that; it is the writer from
// now on when it is the only one, seen live wherever the Writer knows of it, and in no other member.
rt::Task<Result<Value>> Gate::TakeUp(Value object, const std::string& cluster, const Value& manifest,
                                     const Value& observed, std::shared_ptr<const interpret::Profile> profile) {
  const Writer before = ReadWriter(object);
  const std::string because =
      StrCat("it runs here since it was taken out of Baton's hands, and Writer ", kube::NameOf(object), " says that ",
             before.holder.cluster, " has it. It is left as it is, and taken up when nothing of it is elsewhere: ");
  const std::string binding_name = api::karmada::BindingName(kube::KindOf(manifest), kube::NameOf(manifest));
  const Result<Value> binding =
      co_await hub_.Get(federation::kResourceBindings, {std::string(kube::NamespaceOf(manifest)), binding_name});
  if (!binding.ok()) co_return binding;
  const Value& clusters = (*binding)["spec"]["clusters"];
  if (clusters.size() != 1 || clusters[0]["name"].str() != cluster)
    co_return NotYet(cluster, manifest, StrCat(because, "its binding must name this cluster alone"));
  for (const NamedCluster& named : ClustersNamedBy(object)) {
    if (named.name == cluster) continue;
    const std::string left = CO_TRY(co_await StillIn(hub_, *members_, object, named, profile));
    if (!left.empty()) co_return NotYet(cluster, manifest, StrCat(because, left));
  }
  const Result<void> alone = co_await RunsNowhereElse(cluster, manifest, true, *profile);
  if (!alone.ok()) co_return UnavailableError(StrCat(because, alone.error().message()));
  const Result<Value> cluster_object = co_await hub_.Get(federation::kClusters, {"", cluster});
  if (!cluster_object.ok()) co_return cluster_object;
  Writer next = before;
  next.seq = before.seq + 1;
  next.holder = {.cluster = cluster,
                 .cluster_id = std::string((*cluster_object)["spec"]["id"].str()),
                 .member_uid = std::string(kube::UidOf(observed))};
  next.receipt = Receipt{.seq = next.seq,
                         .from = before.holder.cluster,
                         .from_id = before.holder.cluster_id,
                         .from_uid = before.holder.member_uid,
                         .to = cluster,
                         .to_id = next.holder.cluster_id,
                         .how = "OptedIn",
                         .previous = before.receipt ? before.receipt->hash : std::string()};
  Value taken = WriteWriter(next, object, manifest);
  SealReceipt(taken, before, next, hub_.loop().WallNow());
  co_return co_await hub_.Update(kWriters, taken);  // of the version that was looked at
}

rt::Task<Result<void>> Gate::RememberUid(Value writer, std::string uid) {
  writer.Edit("spec").Edit("holder").Set("memberUID", uid);
  const Result<Value> written = co_await hub_.Update(kWriters, writer);
  if (!written.ok()) co_return written.error();
  co_return Result<void>();
}

rt::Task<Result<bool>> Gate::MayRemove(std::string cluster, Value object) {
  if (profiles_.Managing(object) == nullptr) co_return true;
  const Result<Value> found = co_await hub_.Get(
      kWriters, {std::string(kube::NamespaceOf(object)), WriterName(kube::KindOf(object), kube::NameOf(object))});
  if (!found.ok() && found.error().kind() == ErrorKind::kNotFound) co_return true;
  if (!found.ok()) co_return found.error();
  const Writer writer = ReadWriter(*found);
  // A move removes what it has proven stopped: a target that goes back, and the source once its target is verified. A
  // target that waits for its start is needed, too: what is granted is granted to that object.
  // Until then whoever overwrites the binding removes neither, though the move would put it back: what is deleted is
  // gone.
  const bool stopped = writer.stop && writer.stop->proven && writer.stop->cluster == cluster;
  bool needed = writer.holder.cluster == cluster;
  if (writer.claim) {
    const bool way_back = writer.claim->source.cluster == cluster && !writer.claim->verified;
    const bool way_on = writer.claim->target.cluster == cluster && writer.claim->intent == Intent::kForward;
    needed = needed ? !stopped : way_back || way_on;
  }
  co_return GUARD("rollout.writer_is_not_removed", !needed);
}

// A target that goes back was taken for one that had not progressed, and its operator may have had an older order in
// hand: what it says by now of itself, and of a state that it captured, is not deleted before the move has seen it. Nor
// is what its operator has made of it, and not told yet.
rt::Task<Result<std::string>> Gate::WhyNotYet(std::string cluster, Value live) {
  const std::shared_ptr<const interpret::Profile> profile = profiles_.Managing(live);
  if (profile == nullptr) co_return std::string();
  const Result<Value> found = co_await hub_.Get(
      kWriters, {std::string(kube::NamespaceOf(live)), WriterName(kube::KindOf(live), kube::NameOf(live))});
  if (!found.ok() && found.error().kind() == ErrorKind::kNotFound) co_return std::string();
  if (!found.ok()) co_return found.error();
  const Writer writer = ReadWriter(*found);
  const bool goes_back = writer.claim && writer.claim->intent == Intent::kWithdraw && writer.stop &&
                         writer.stop->proven && writer.holder.cluster == cluster;
  if (!goes_back || writer.stop->uid != kube::UidOf(live) || !writer.stop->capture.empty()) co_return std::string();
  const std::shared_ptr<federation::Member> member = members_ == nullptr ? nullptr : members_->Find(cluster);
  if (member == nullptr) co_return StrCat("cluster ", cluster, " is not known yet");
  Value related = CO_TRY(co_await RelatedIn(*member, *profile, std::string(kube::NamespaceOf(live)),
                                            std::string(kube::NameOf(live)), live));
  related.Set("probeUnavailable", true);
  const interpret::Judgement judgement =
      CO_TRY(profile->Judge(live, related, QuestionFor(*found, writer, *profile, true)));
  if (GUARD("rollout.late_start_is_not_deleted", judgement.stop_proven && judgement.progress == "none"))
    co_return std::string();
  SOMETIMES("rollout.late_start_is_kept");
  co_return StrCat(kube::KindOf(live), " ", kube::NameOf(live), " in ", cluster,
                   " may have started after all: it is removed when its move has looked at it");
}

rt::Task<Result<bool>> Gate::MayLeave(std::string cluster, Value object) {
  if (profiles_.Managing(object) == nullptr) co_return true;
  const Result<Value> found = co_await hub_.Get(
      kWriters, {std::string(kube::NamespaceOf(object)), WriterName(kube::KindOf(object), kube::NameOf(object))});
  if (!found.ok() && found.error().kind() == ErrorKind::kNotFound) co_return true;
  if (!found.ok()) co_return found.error();
  const Writer writer = ReadWriter(*found);
  if (writer.holder.cluster == cluster) co_return false;
  co_return !writer.claim || (writer.claim->source.cluster != cluster && writer.claim->target.cluster != cluster);
}

rt::Task<Result<std::vector<std::string>>> Gate::MovesOf(std::string cluster) {
  const kube::Listed writers = CO_TRY(co_await hub_.ListAll(kWriters, {}));
  std::vector<std::string> moves;
  for (const Value& object : writers.items) {
    const Writer writer = ReadWriter(object);
    if (!writer.claim || (writer.claim->source.cluster != cluster && writer.claim->target.cluster != cluster)) continue;
    const Value& workload = object["spec"]["workload"];
    moves.push_back(StrCat(workload["kind"].str(), " ", kube::NamespaceOf(object), "/", workload["name"].str()));
  }
  co_return moves;
}

rt::Task<Result<Admitted>> Gate::Admit(std::string cluster, Value manifest, Value observed) {
  const std::shared_ptr<const interpret::Profile> profile = profiles_.Managing(manifest);
  if (profile == nullptr) co_return Admitted{.manifest = std::move(manifest)};
  const std::string ns(kube::NamespaceOf(manifest));
  const std::string name = WriterName(kube::KindOf(manifest), kube::NameOf(manifest));
  Result<Value> object = co_await hub_.Get(kWriters, {ns, name});
  if (!object.ok() && object.error().kind() == ErrorKind::kNotFound) {
    object = co_await FirstPlacement(cluster, manifest, observed, *profile);
    if (object.ok() && object->is_null()) co_return Admitted{.manifest = std::move(manifest)};
  }
  if (!object.ok()) co_return std::move(object).error();
  const std::string_view recorded = (*object)["spec"]["workload"]["uid"].str();
  const std::string_view asked = manifest["metadata"]["annotations"][api::karmada::kTemplateUid].str();
  if (!recorded.empty() && !asked.empty() && recorded != asked) {
    object = co_await Renew(*std::move(object), cluster, manifest, observed, *profile);
    if (!object.ok()) co_return std::move(object).error();
  }
  Writer writer = ReadWriter(*object);
  // Of the pipe's own making, without a number, and told to run: what is on hold would be started by that, empty.
  const bool opted_out = observed["metadata"]["labels"][api::karmada::kManaged].str() == api::karmada::kTrue &&
                         profile->EpochOf(observed) <= 0 && !kube::IsDeleting(observed) && !profile->IsHeld(observed);
  if (!writer.claim && opted_out && writer.holder.cluster != cluster) {
    object = co_await TakeUp(*std::move(object), cluster, manifest, observed, profile);
    if (!object.ok()) co_return std::move(object).error();
    writer = ReadWriter(*object);
  }
  if (const int64_t there = profile->EpochOf(observed); !GUARD("rollout.older_record_is_told", there <= writer.seq)) {
    SOMETIMES("rollout.record_is_older_than_the_member");
    co_return NotYet(cluster, manifest, OlderRecord(there, cluster, *object));
  }
  if (!IsWhole(writer)) {
    co_return NotYet(cluster, manifest,
                     StrCat("the claim in Writer ", name,
                            " lacks the stop or the receipt that it rests on; a person must "
                            "look at both clusters first (docs/ROLLOUT.md, 'The record is gone')"));
  }
  const SideRule rule = RuleOf(writer, cluster);
  const int64_t rendered = profile->EpochOf(manifest);
  const bool held = profile->IsHeld(manifest);
  const auto hold = [&]() -> Result<Admitted> {
    interpret::Question question{.seq = rule.seq, .cluster = cluster};
    if (writer.claim) {
      const bool at_source = cluster == writer.claim->source.cluster;
      question.peer = at_source ? writer.claim->target.cluster : writer.claim->source.cluster;
    } else if (writer.holder.cluster != cluster) {
      question.peer = writer.holder.cluster;
    }
    Value formed = TRY(profile->Held(manifest, question));
    return Admitted{.manifest = std::move(formed), .seq = rule.seq, .held = true};
  };
  switch (rule.mode) {
    case Mode::kHeld:
      SOMETIMES("rollout.gate_holds_another_cluster");
      if (!GUARD("rollout.gate_holds", false)) co_return hold();
      break;
    case Mode::kStopping:
      if (held && rendered == rule.seq)
        co_return Admitted{.manifest = std::move(manifest), .seq = rule.seq, .held = true};
      SOMETIMES("rollout.gate_waits_for_the_stop");
      if (!GUARD("rollout.gate_stops", false)) co_return NotYet(cluster, manifest, "its stop is not rendered yet");
      break;
    case Mode::kRunning:
      // What is not there is made, held: it may be that which the start waits for.
      if (held && observed.is_null()) co_return hold();
      if (held || rendered != rule.seq) {
        SOMETIMES("rollout.gate_waits_for_the_start");
        if (!GUARD("rollout.gate_starts", false)) co_return NotYet(cluster, manifest, "its start is not rendered yet");
      }
      break;
    case Mode::kAsIs:
      // While a move is under way only what was rendered for it may run; a raw template never does.
      if (writer.claim && rendered != rule.seq)
        co_return NotYet(cluster, manifest, "it is not rendered for this move yet");
      if (rendered >= 0 && rendered != rule.seq)
        co_return NotYet(cluster, manifest, "it was rendered for another epoch");
      break;
  }
  // Nothing is ever created running: a create that comes late cannot be refused at the member, an update can.
  if (observed.is_null()) co_return hold();
  const std::string_view uid = kube::UidOf(observed);
  const bool ours = writer.holder.cluster == cluster;
  if (ours && !writer.holder.member_uid.empty() && uid != writer.holder.member_uid) {
    // Made anew by somebody, or recreated by us after it vanished: it has lost its state and is not started empty.
    SOMETIMES("rollout.gate_holds_another_object");
    if (!GUARD("rollout.same_member_object", false)) {
      Admitted stray = CO_TRY(hold());
      stray.stray = StrayMessage(cluster, *object, manifest, uid);
      co_return stray;
    }
  }
  if (ours && !writer.claim && writer.holder.member_uid.empty()) {
    CO_TRY(co_await RememberUid(*object, std::string(uid)));
  }
  Value stamped = CO_TRY(profile->Stamped(std::move(manifest), rule.seq));
  co_return Admitted{.manifest = std::move(stamped), .seq = rule.seq};
}

}  // namespace baton::rollout
