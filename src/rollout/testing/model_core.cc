// Worlds into questions, decisions into bytes.
#include "rollout/testing/model_core.h"

#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "base/strings.h"

namespace baton::rollout::model {
namespace {

constexpr std::string_view kNames[] = {"A", "B"};
constexpr std::string_view kUids[] = {"a", "b"};

std::string Uid(int which, uint8_t uid) { return StrCat(kUids[which], static_cast<int>(uid)); }

// A state's name ends with its number.
int8_t StateOf(const std::string& ref) { return ref.empty() ? kNothing : static_cast<int8_t>(ref.back() - '0'); }
std::string StateName(std::string_view dir, int8_t state) { return StrCat(dir, "/", static_cast<int>(state)); }

uint8_t Mask(const std::set<std::string>& clusters) {
  return static_cast<uint8_t>((clusters.contains("A") ? 1 : 0) | (clusters.contains("B") ? 2 : 0));
}

Spec SpecOf(const SideRule& rule) {
  using Mode = SideRule::Mode;
  Spec spec{.seq = static_cast<int8_t>(rule.seq)};
  switch (rule.mode) {
    case Mode::kAsIs:
      spec.form = Form::kAsIs;
      break;
    case Mode::kHeld:
      spec.form = Form::kHeld;
      break;
    case Mode::kStopping:
      spec.form = Form::kStopping;
      spec.dir = spec.seq;
      break;
    case Mode::kRunning:
      spec.form = Form::kRunning;
      spec.ref = StateOf(rule.ref);
      break;
  }
  return spec;
}

enum Flag : uint8_t {
  kAbortFlag = 1,
  kPausedFlag = 2,
  kLateFlag = 4,
  kTemplateFlag = 8,
  kValidFlag = 16,
  kBrokenFlag = 32
};

}  // namespace

Core::Core(bool own_hub) : own_hub_(own_hub) {
  Writer first{.exists = true, .seq = 1, .holder = {.cluster = "A", .cluster_id = "idA", .member_uid = "a0"}};
  InternWriter(first);
  overrides_.emplace_back();  // 0: none
}

Id Core::InternWriter(Writer writer) {
  writer.version.clear();
  if (writer.claim) writer.claim->why.clear();  // only told
  for (size_t i = 0; i < writers_.size(); ++i) {
    if (writers_[i].writer == writer) return i;
  }
  INVARIANT(writers_.size() < kIdsMax, "the model has too many Writers");
  WriterFacts facts{.writer = writer};
  facts.holder = writer.holder.cluster == "B" ? kTarget : kSource;
  facts.claimed = writer.claim.has_value();
  facts.forward = writer.claim && writer.claim->intent == Intent::kForward;
  facts.verified = writer.claim && writer.claim->verified;
  facts.fence = writer.claim ? writer.claim->fence : 0;
  if (writer.claim) {
    const OverrideState wanted = *WantedOverride(writer, 0);
    const Spec specs[2] = {SpecOf(wanted.source), SpecOf(wanted.target)};
    for (int i = 0; i < 2; ++i) facts.may_run[i] = facts.holder == i && !specs[i].Held();
    facts.run_seq = specs[facts.holder].seq;
  } else {
    facts.may_run[facts.holder] = true;
  }
  if (writer.stop) {
    facts.stop_cluster = writer.stop->cluster == "B" ? kTarget : kSource;
    facts.stop_seq = static_cast<int8_t>(writer.stop->seq);
  }
  if (writer.receipt) {
    facts.granted_state = StateOf(writer.receipt->capture);
    facts.attested = writer.receipt->how == "Attested";
  }
  writers_.push_back(std::move(facts));
  return writers_.size() - 1;
}

Id Core::InternOverride(const OverrideState& state) {
  for (size_t i = 1; i < overrides_.size(); ++i) {
    if (overrides_[i].state == state) return i;
  }
  INVARIANT(overrides_.size() < kIdsMax, "the model has too many overrides");
  overrides_.push_back({.state = state, .spec = {SpecOf(state.source), SpecOf(state.target)}});
  return overrides_.size() - 1;
}

Core::Look Core::LookAt(const World& world, int which) const {
  const Cluster& cluster = world.cluster[which];
  Look look{};
  look.seq = look.capture = kNothing;
  if (cluster.silent || cluster.fenced) return look;
  look.answered = 1;
  look.same_id = cluster.swapped ? 0 : 1;
  if (cluster.swapped) return look;
  look.found = cluster.exists;
  look.remains = cluster.job_manager || cluster.job == Job::kRunning;
  if (!cluster.exists) return look;
  look.uid = cluster.uid;
  look.deleting = cluster.deleting;
  look.seq = cluster.spec.seq;
  look.held = cluster.spec.Held();
  look.runs = cluster.read && !look.held && cluster.record == Record::kRunning && cluster.job == Job::kRunning;
  const WriterFacts& writer = writers_[world.writer];
  const bool ended = cluster.job != Job::kRunning && !cluster.job_manager;
  if (writer.stop_cluster == which) {
    // A CR that was never deployed has no acknowledgement at all: its operator may have a start under way.
    const bool never = cluster.record == Record::kNone;
    look.stop_proven = ended && (never || (cluster.record == Record::kHeld && cluster.read));
    // The path shows as soon as it is written, long before the rest of the proof.
    if (cluster.capture_dir == writer.stop_seq) look.capture = cluster.capture;
    look.stop_failed = look.stop_proven && cluster.spec.seq == writer.stop_seq && look.capture == kNothing && !never;
    look.progress = static_cast<uint8_t>(Sighting::Progress::kUnknown);
    if (look.stop_proven && !never) {
      // Against the state it was granted, not against its last start.
      const bool none = cluster.state == writer.granted_state;
      look.progress = static_cast<uint8_t>(none ? Sighting::Progress::kNone : Sighting::Progress::kSome);
    }
  }
  look.start_proven = look.runs && cluster.read && cluster.progressed && cluster.started_from == writer.granted_state;
  look.start_failed = cluster.start_failed || (cluster.record == Record::kRunning && cluster.job == Job::kFailed);
  return look;
}

Core::Question Core::Ask(const World& world, int64_t fence) const {
  Question question{};
  question.writer = world.writer;
  question.fence = static_cast<uint8_t>(fence);
  question.phase = static_cast<uint8_t>(world.phase);
  question.flags =
      static_cast<uint8_t>((world.abort ? kAbortFlag : 0) | (world.paused ? kPausedFlag : 0) |
                           (world.late ? kLateFlag : 0) | (world.template_there ? kTemplateFlag : 0) |
                           (world.target_valid ? kValidFlag : 0) | (world.override_broken ? kBrokenFlag : 0));
  question.override_id = world.override_id;
  question.attested = world.attested;
  question.attested_cluster = world.attested_cluster;
  question.attested_abort = world.attested_abort;
  question.binding = world.binding;
  if (world.attested != kNothing || !world.template_there)
    question.pipe_knows = static_cast<uint8_t>((world.seen_template ? 0 : 1) | (world.seen_override != 0 ? 2 : 0));
  question.look[0] = LookAt(world, kSource);
  question.look[1] = LookAt(world, kTarget);
  return question;
}

Sighting Core::See(const Look& look, int which, const Writer& writer) const {
  Sighting sighting{.answered = look.answered != 0};
  if (!sighting.answered) return sighting;
  sighting.cluster_id = look.same_id != 0 ? StrCat("id", kNames[which]) : "other";
  sighting.found = look.found != 0;
  sighting.remains = look.remains != 0;
  if (!sighting.found) return sighting;
  sighting.uid = Uid(which, look.uid);
  sighting.deleting = look.deleting != 0;
  sighting.seq = look.seq;
  sighting.held = look.held != 0;
  sighting.runs = look.runs != 0;
  sighting.prior_path = "old";
  sighting.stop_proven = look.stop_proven != 0;
  if (look.capture != kNothing) sighting.capture = StateName(writer.stop->state_dir, look.capture);
  if (!sighting.stop_proven) sighting.stop_missing = "not yet";
  if (look.stop_failed != 0) sighting.stop_failed = "stopped without a capture";
  sighting.start_proven = look.start_proven != 0;
  if (!sighting.start_proven) sighting.start_missing = "not yet";
  if (look.start_failed != 0) sighting.start_failed = "failed";
  sighting.progress = static_cast<Sighting::Progress>(look.progress);
  return sighting;
}

void Core::PutEffect(const Decision& decision, const Question& question, Verdict& verdict) {
  Pending& effect = verdict.effect;
  effect.valid = true;
  effect.phase_was = static_cast<Phase>(question.phase);
  effect.phase = decision.phase;
  if (const auto* swap = std::get_if<SwapWriter>(&decision.effect)) {
    effect.what = Do::kSwapWriter;
    effect.id = InternWriter(swap->writer);
    verdict.grant = writers_[effect.id].holder != writers_[question.writer].holder;
  } else if (const auto* put = std::get_if<PutOverride>(&decision.effect)) {
    effect.what = Do::kPutOverride;
    effect.id = InternOverride(put->state);
    effect.create = question.override_id == 0;
  } else if (std::holds_alternative<RemoveOverride>(decision.effect)) {
    effect.what = Do::kRemoveOverride;
  } else if (const auto* bind = std::get_if<PutBinding>(&decision.effect)) {
    effect.what = Do::kPutBinding;
    effect.binding.locked = bind->state.locked;
    effect.binding.fence = static_cast<uint8_t>(bind->state.fence);
    effect.binding.attempt = static_cast<uint8_t>(bind->state.attempt);
    effect.binding.clusters = Mask(bind->state.clusters);
    effect.binding.kept = Mask(bind->state.kept);
  } else if (std::holds_alternative<ValidateTarget>(decision.effect)) {
    effect.what = Do::kValidate;
  }
}

Verdict Core::Answer(const Question& question) {
  const Writer writer = writers_[question.writer].writer;
  Migration migration{.name = "m", .uid = "m", .phase = static_cast<Phase>(question.phase)};
  migration.abort = (question.flags & kAbortFlag) != 0;
  migration.paused = (question.flags & kPausedFlag) != 0;
  if (question.attested != kNothing)
    migration.attestation = Attestation{.cluster = question.attested_cluster == kTarget ? "B" : "",
                                        .by = "ann",
                                        .reason = "dead",
                                        .state_ref = StateName("ann", question.attested),
                                        .aborted_attempt = question.attested_abort};
  Observation seen{.fence = question.fence, .own_hub = own_hub_};
  seen.template_found = (question.flags & kTemplateFlag) != 0;
  seen.preflight_done = true;
  seen.proposal = Claim{.migration = "m",
                        .migration_uid = "m",
                        .source = {.cluster = "A", .cluster_id = "idA", .member_uid = "a0"},
                        .target = {.cluster = "B", .cluster_id = "idB"}};
  seen.override_exists = question.override_id != 0;
  // Whoever edits it leaves our annotation, which says whose it is. Without it the Writer is read once more before it
  // is written (Engine::WriterStands).
  if (seen.override_exists) seen.override_fence = overrides_[question.override_id].state.fence;
  if (question.override_id != 0 && (question.flags & kBrokenFlag) == 0)
    seen.override_state = overrides_[question.override_id].state;
  for (int i = 0; i < 2; ++i) {
    if ((question.binding.clusters >> i & 1) != 0) seen.binding.clusters.insert(std::string(kNames[i]));
    if ((question.binding.kept >> i & 1) != 0) seen.binding.kept.insert(std::string(kNames[i]));
  }
  seen.binding.locked = question.binding.locked;
  seen.binding.fence = question.binding.fence;
  seen.binding.attempt = question.binding.attempt;
  seen.removal_ordered = (question.pipe_knows & 1) != 0;
  seen.source_rendered = (question.pipe_knows & 2) != 0;
  seen.source = See(question.look[0], kSource, writer);
  seen.target = See(question.look[1], kTarget, writer);
  seen.target_valid = (question.flags & kValidFlag) != 0;
  seen.in_phase = (question.flags & kLateFlag) != 0 ? Duration(hours(1)) : Duration{};
  seen.proven_for = migration.stabilization;

  const Decision decision = Next(writer, migration, seen);
  Verdict verdict{.blocked = decision.blocked,
                  .has_deadline = decision.deadline.has_value(),
                  .waits = !decision.waiting_for.empty(),
                  .phase = decision.phase};
  PutEffect(decision, question, verdict);
  const auto [text, fresh] = message_ids_.try_emplace(decision.message, static_cast<uint32_t>(messages_.size()));
  if (fresh) messages_.push_back(decision.message);
  verdict.text = text->second;
  return verdict;
}

const Verdict& Core::Decide(const World& world, int64_t fence) {
  const Question question = Ask(world, fence);
  std::string key(reinterpret_cast<const char*>(&question), sizeof question);
  const auto found = answers_.find(key);
  if (found != answers_.end()) return found->second;
  const Verdict verdict = Answer(question);
  return answers_.emplace(std::move(key), verdict).first->second;
}

}  // namespace baton::rollout::model
