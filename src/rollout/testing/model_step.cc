// The hub, the pipe, the operators and the leaders, step by step. Faults are in model_faults.cc.
#include "rollout/testing/model_step.h"

#include <utility>

namespace baton::rollout::model {
namespace {

int Fence(int leader) { return leader + 1; }

// Later is larger; only within the same way out.
int Rank(Phase phase) {
  switch (phase) {
    case Phase::kPending:
      return 0;
    case Phase::kPlanned:
      return 1;
    case Phase::kStaged:
      return 2;
    case Phase::kQuiescing:
      return 3;
    case Phase::kGranted:
      return 4;
    case Phase::kVerifying:
      return 5;
    case Phase::kCleaning:
    case Phase::kAborting:
    case Phase::kWithdrawing:
      return 6;
    default:
      return 7;
  }
}

bool MayFollow(Phase from, Phase to) {
  if (IsEnd(from)) return false;
  if (to == Phase::kCancelled) return true;
  if (Rank(to) < Rank(from)) return false;
  if (Rank(from) == 6 && Rank(to) == 6) return false;
  switch (to) {
    case Phase::kAborting:
      return Rank(from) <= 3;
    case Phase::kAborted:
      return Rank(from) <= 3 || from == Phase::kAborting;
    case Phase::kRolledBack:
      return from != Phase::kAborting && from != Phase::kCleaning;
    case Phase::kSucceeded:
      return from != Phase::kAborting && from != Phase::kWithdrawing;
    default:
      return true;
  }
}

bool IsUid(uint8_t uid, const std::string& name) { return !name.empty() && name.back() - '0' == uid; }

void ForgetHalfRead(World& world) {
  world.half_read = false;
  world.read_writer = 0;
  world.read_phase = Phase::kPending;
}

bool Nothing(const Cluster& cluster) { return !cluster.exists && !cluster.job_manager && cluster.job != Job::kRunning; }

}  // namespace

World Steps::First() const {
  World world;
  Cluster& source = world.cluster[kSource];
  source.exists = true;
  source.spec = {.form = Form::kRaw, .seq = static_cast<int8_t>(core_.own_hub() ? 1 : kNothing)};
  source.record = Record::kRunning;
  source.job = Job::kRunning;
  source.job_manager = true;
  source.progressed = true;
  source.state = 1;
  world.binding.clusters = world.seen_binding.clusters = 1;
  return world;
}

// ---- leaders

void Steps::Void(World& world, Do what, Do or_what) {
  for (Pending* slot : {&world.pending[0], &world.pending[1], &world.ghost}) {
    if (!slot->create && (slot->what == what || slot->what == or_what)) slot->valid = false;
  }
}

bool Steps::SetPhase(World& world, Phase phase) {
  if (world.phase == phase) return false;
  // An abort whose source was lost goes forward again, with a word of that abort and as another attempt.
  const std::optional<Claim>& claim = core_.writer(world.writer).writer.claim;
  const bool turned = world.phase == Phase::kAborting && Rank(phase) >= Rank(Phase::kQuiescing) &&
                      world.attested_abort != 0 && (!claim || claim->attempt > world.attested_abort);
  if (!turned && !MayFollow(world.phase, phase)) Break("P5: the phase goes back");
  world.phase = phase;
  world.late = false;
  if (IsEnd(phase)) CheckEnd(world);
  return true;
}

void Steps::CheckEnd(const World& world) {
  const Cluster& source = world.cluster[kSource];
  const Cluster& target = world.cluster[kTarget];
  const WriterFacts& writer = core_.writer(world.writer);
  if (writer.claimed || world.override_id != 0) Break("P4: at the end the claim or the override is still there");
  switch (world.phase) {
    case Phase::kSucceeded:
      if (writer.holder != kTarget) Break("P5: Succeeded, and the target is not the writer");
      if (target.job != Job::kRunning && !world.target_failed) Break("P5: Succeeded, and the target does not run");
      // One that the pipe created again, held, from an old list goes when it learns of the new one.
      if (source.job_manager || source.job == Job::kRunning) Break("P5: Succeeded, and the source is still there");
      if (source.exists && !source.fenced && IsUid(source.uid, writer.writer.receipt->from_uid))
        Break("P5: Succeeded, and the source is still there");
      break;
    case Phase::kAborted:
    case Phase::kRolledBack:
      if (writer.holder != kSource) Break("P5: ended, and the source is not the writer");
      if (source.job != Job::kRunning && !world.source_failed) Break("P5: ended, and the source does not run");
      if (target.job == Job::kRunning) Break("P5: ended, and the target runs");
      if (world.phase == Phase::kRolledBack && target.exists && !target.fenced &&
          IsUid(target.uid, writer.writer.receipt->from_uid))
        Break("P5: RolledBack, and the target that had been granted is still there");
      break;
    case Phase::kCancelled:
      if (target.job == Job::kRunning || (source.job == Job::kRunning && !world.source_put_back))
        Break("P5: Cancelled, and something still runs");
      break;
    default:
      break;
  }
}

bool Steps::Look(World& world, int leader) {
  if (leader == 1 && !world.second_leader) return false;
  Pending& slot = world.pending[leader];
  if (slot.what != Do::kNone || (IsEnd(world.phase) && world.override_id == 0)) return false;
  World read = world;
  if (leader == 0 && world.half_read) {
    read.writer = world.read_writer;
    read.phase = world.read_phase;
    ForgetHalfRead(world);
  }
  const bool stale = read.writer != world.writer || read.phase != world.phase;
  const Verdict& verdict = core_.Decide(read, Fence(leader));
  if (verdict.effect.what == Do::kNone) return (read.phase == world.phase && SetPhase(world, verdict.phase)) || stale;
  // By the Writer it read there is a newer leader. What it remembers (how long a start has held) may miss what that one
  // saw, which is not in this world; so it is told here that it acts at all.
  if (core_.writer(read.writer).claimed && core_.writer(read.writer).fence > Fence(leader))
    Break("P6: an old leader acts beside a newer one");
  // What carries no fence is written only when the Writer still stands, which is read once more (Engine::WriterStands).
  const bool no_fence = (verdict.effect.what == Do::kPutOverride && world.override_id == 0) ||
                        (verdict.effect.what == Do::kPutBinding && world.binding.fence == 0);
  if (no_fence && read.writer != world.writer) return true;
  slot = verdict.effect;
  if (verdict.effect.what != Do::kSwapWriter) return true;
  if (read.writer != world.writer) {
    slot.valid = false;
    return true;
  }
  if (verdict.grant && world.cluster[core_.writer(world.writer).holder].job == Job::kRunning)
    Break("P7: a grant while the old holder runs");
  if (core_.writer(verdict.effect.id).verified && !core_.writer(world.writer).verified) {
    const Cluster& target = world.cluster[kTarget];
    if (target.job != Job::kRunning || !target.progressed) Break("P5: verified, and the target has not committed");
  }
  return true;
}

bool Steps::Land(World& world, Pending& slot, bool with_status) {
  if (slot.what == Do::kNone) return false;
  const Pending effect = slot;
  slot = {};
  if (!effect.valid || (effect.create && world.override_id != 0)) return true;
  const int64_t old_override_fence = world.override_id != 0 ? core_.override_facts(world.override_id).state.fence : 0;
  switch (effect.what) {
    case Do::kSwapWriter:
      if (effect.id == world.writer) break;
      if (core_.writer(effect.id).claimed && core_.writer(effect.id).fence < core_.writer(world.writer).fence)
        Break("P6: an old leader wrote the Writer of a newer one");
      world.writer = effect.id;
      Void(world, Do::kSwapWriter, Do::kSwapWriter);
      break;
    case Do::kPutOverride:
      if (effect.id == world.override_id && !world.override_broken) break;
      if (core_.override_facts(effect.id).state.fence < old_override_fence)
        Break("P6: an old leader wrote the override of a newer one");
      world.override_id = effect.id;
      world.override_broken = false;
      Void(world, Do::kPutOverride, Do::kRemoveOverride);
      break;
    case Do::kRemoveOverride:
      if (world.override_id == 0) break;
      world.override_id = 0;
      world.override_broken = false;
      Void(world, Do::kPutOverride, Do::kRemoveOverride);
      break;
    case Do::kPutBinding:
      if (effect.binding == world.binding) break;
      if (effect.binding.locked && effect.binding.fence < world.binding.fence)
        Break("P6: an old leader wrote the binding of a newer one");
      world.binding = effect.binding;
      Void(world, Do::kPutBinding, Do::kPutBinding);
      break;
    case Do::kValidate:
      world.target_valid = true;
      break;
    case Do::kNone:
      break;
  }
  if (with_status && world.phase == effect.phase_was) SetPhase(world, effect.phase);
  return true;
}

// ---- the pipe

// What the pipe, by its caches, wants in this cluster. False: nothing.
bool Steps::Rendered(const World& world, int which, Spec& spec) const {
  if (!world.seen_template || (world.seen_binding.clusters >> which & 1) == 0) return false;
  spec = world.seen_override != 0 ? core_.override_facts(world.seen_override).spec[which] : Spec{.form = Form::kRaw};
  return true;
}

bool Steps::WriteMember(World& world, int which, const Spec& spec, bool may_create) {
  Cluster& cluster = world.cluster[which];
  if (cluster.deleting) return false;
  if (!cluster.exists) {
    if (!may_create || cluster.job_manager || cluster.job == Job::kRunning) return false;
    const auto uid = static_cast<uint8_t>(cluster.uid + 1);
    const bool silent = cluster.silent;
    cluster = Cluster{};
    cluster.silent = silent;
    cluster.exists = true;
    cluster.uid = uid;
    // Our own hub never creates a running form: nothing at the member could refuse one that comes late.
    cluster.spec = core_.own_hub() ? Spec{.form = Form::kHeld, .seq = spec.seq} : spec;
    cluster.read = false;
    return true;
  }
  if (cluster.spec.seq > spec.seq || cluster.spec == spec) return false;
  if (core_.own_hub() && !spec.Held()) {
    const WriterFacts& writer = core_.writer(world.writer);
    if (!writer.may_run[which] || (writer.claimed && spec.seq != writer.run_seq)) return false;
    const std::string& uid = writer.writer.holder.member_uid;
    if (!uid.empty() && !IsUid(cluster.uid, uid)) return false;
  }
  if (spec.form == Form::kRaw && cluster.spec.seq >= 0) return false;
  cluster.spec = spec;
  cluster.read = false;
  return true;
}

bool Steps::CacheWrite(World& world, int which) {
  Cluster& cluster = world.cluster[which];
  if (cluster.silent || cluster.swapped || cluster.fenced) return false;
  Spec spec;
  if (Rendered(world, which, spec)) return WriteMember(world, which, spec, true);
  const bool kept = world.seen_template && (world.seen_binding.foreign || (world.seen_binding.kept >> which & 1) != 0);
  if (kept || !cluster.exists || cluster.deleting || cluster.uid == kStrayUid) return false;
  cluster.deleting = true;
  return true;
}

// ---- the operator

bool Steps::Read(World& world, int which) {
  Cluster& cluster = world.cluster[which];
  if (!cluster.exists || cluster.deleting || cluster.acting || cluster.read || cluster.fenced) return false;
  cluster.read = cluster.acting = true;
  cluster.inflight = cluster.spec;
  return true;
}

void Steps::Start(World& world, int which, int8_t from) {
  Cluster& cluster = world.cluster[which];
  if (from != kNothing && from == world.disposed) Break("P2: a job starts from a state that is gone");
  if (from != world.newest) Break(from == kNothing ? "P2: a job starts empty" : "P2: a job starts from an older state");
  cluster.job = Job::kRunning;
  cluster.job_manager = true;
  cluster.started_from = cluster.state = from;
  cluster.progressed = false;
  cluster.capture = cluster.capture_dir = kNothing;
  cluster.record = Record::kRunning;
  cluster.start_failed = false;
}

bool Steps::Act(World& world, int which) {
  Cluster& cluster = world.cluster[which];
  if (!cluster.acting || cluster.fenced) return false;
  const Spec spec = cluster.inflight;
  cluster.acting = false;
  cluster.inflight = {};
  if (spec.Held()) {
    if (cluster.job == Job::kRunning) {
      cluster.job = Job::kFinished;
      cluster.capture = cluster.state;
      cluster.capture_dir = spec.dir;
    }
    if (cluster.record != Record::kNone) cluster.record = Record::kHeld;
    return true;
  }
  if (cluster.job == Job::kRunning) {
    cluster.record = Record::kRunning;
    return true;
  }
  if (spec.form == Form::kAsIs && cluster.job == Job::kFailed) return true;
  // The first deployment takes the reference; later ones only with a nonce, which a resumed source has.
  const bool first = cluster.record == Record::kNone;
  int8_t from = cluster.state;
  if (spec.ref != kNothing && (first || which == kSource)) from = spec.ref;
  if (spec.form == Form::kRaw) from = kNothing;
  Start(world, which, from);
  return true;
}

// ---- all

void Steps::CheckAlways(const World& world) {
  if (world.cluster[0].job == Job::kRunning && world.cluster[1].job == Job::kRunning) Break("P1: two jobs run");
}

bool Steps::Normal(World& world, Event event) {
  const auto which = [&](Event first) { return static_cast<int>(event) - static_cast<int>(first); };
  switch (event) {
    case Event::kLook1:
    case Event::kLook2:
      return Look(world, which(Event::kLook1));
    case Event::kLand1:
    case Event::kLand2:
      return Land(world, world.pending[which(Event::kLand1)], true);
    case Event::kGhostLands:
      return Land(world, world.ghost, false);
    case Event::kCacheOverride:
      // On a foreign hub the engine removes the override when the hub has settled on binding and template as they are.
      if (!core_.own_hub() && world.override_id == 0 &&
          !(world.seen_binding == world.binding && world.seen_template == world.template_there))
        return false;
      return std::exchange(world.seen_override, world.override_id) != world.override_id;
    case Event::kCacheBinding:
      if (world.seen_binding == world.binding) return false;
      world.seen_binding = world.binding;
      return true;
    case Event::kCacheTemplate:
      return std::exchange(world.seen_template, world.template_there) != world.template_there;
    case Event::kWriteSource:
    case Event::kWriteTarget:
      return CacheWrite(world, which(Event::kWriteSource));
    case Event::kStashLands: {
      if (!world.stash_full) return false;
      const Cluster& cluster = world.cluster[world.stash_cluster];
      if (!cluster.silent && !cluster.swapped && !cluster.fenced)
        WriteMember(world, world.stash_cluster, world.stash, core_.own_hub());
      world.stash_full = false;
      world.stash_cluster = 0;
      world.stash = {};
      return true;
    }
    case Event::kReadsSource:
    case Event::kReadsTarget:
      return Read(world, which(Event::kReadsSource));
    case Event::kActsSource:
    case Event::kActsTarget:
      return Act(world, which(Event::kActsSource));
    case Event::kCleansSource:
    case Event::kCleansTarget: {
      Cluster& cluster = world.cluster[which(Event::kCleansSource)];
      if (!cluster.deleting || cluster.acting || cluster.fenced) return false;
      // The pods take a moment longer than the object.
      Cluster left{.uid = cluster.uid, .job_manager = cluster.job_manager};
      left.silent = cluster.silent;
      left.swapped = cluster.swapped;
      left.job = cluster.job == Job::kRunning ? Job::kRunning : Job::kNone;
      if (left.job == Job::kRunning) left.state = cluster.state;
      left.progressed = left.job == Job::kRunning && cluster.progressed;
      if (cluster.disposes) world.disposed = cluster.capture;
      cluster = left;
      return true;
    }
    case Event::kPodsGoneSource:
    case Event::kPodsGoneTarget: {
      Cluster& cluster = world.cluster[which(Event::kPodsGoneSource)];
      if (cluster.exists || (!cluster.job_manager && cluster.job != Job::kRunning)) return false;
      cluster.job_manager = false;
      cluster.job = Job::kNone;
      cluster.state = kNothing;
      cluster.progressed = false;
      return true;
    }
    case Event::kManagerGoneSource:
    case Event::kManagerGoneTarget: {
      Cluster& cluster = world.cluster[which(Event::kManagerGoneSource)];
      if (!cluster.job_manager || cluster.record != Record::kHeld || cluster.acting || cluster.fenced) return false;
      cluster.job_manager = false;
      if (cluster.job == Job::kRunning) cluster.job = Job::kFinished;
      return true;
    }
    case Event::kProgressSource:
    case Event::kProgressTarget: {
      Cluster& cluster = world.cluster[which(Event::kProgressSource)];
      // One that was brought back to life without its operator's doing commits nothing here.
      if (cluster.job != Job::kRunning || cluster.progressed || cluster.record == Record::kHeld) return false;
      cluster.progressed = true;
      cluster.state = ++world.newest;
      return true;
    }
    case Event::kAnswersSource:
    case Event::kAnswersTarget: {
      Cluster& cluster = world.cluster[which(Event::kAnswersSource)];
      return !cluster.fenced && std::exchange(cluster.silent, false);
    }
    case Event::kResumed:
      return std::exchange(world.paused, false);
    default:
      return false;
  }
}

bool Steps::Apply(World& world, Event event) {
  broken_ = nullptr;
  const bool happened = event < Event::kFirstFault ? Normal(world, event) : Fault(world, event);
  if (happened) CheckAlways(world);
  return happened;
}

void Steps::Settle(World& world) {
  world.ghost = {};
  ForgetHalfRead(world);
  if (world.second_leader) world.pending[0] = {};
  for (Cluster& cluster : world.cluster) {
    if (!cluster.fenced) cluster.silent = false;
  }
  world.stash_full = false;
  world.stash_cluster = 0;
  world.stash = {};
}

const char* Steps::CheckQuietEnd(const World& world) {
  if (world.override_id != 0) return "P4: an override of ours stays after the end";
  for (const Cluster& cluster : world.cluster) {
    if (cluster.swapped || cluster.fenced) return nullptr;  // what is there nobody can reach
  }
  const bool source_out = world.phase == Phase::kSucceeded;
  const bool target_out = world.phase == Phase::kAborted || world.phase == Phase::kRolledBack;
  if (source_out && !Nothing(world.cluster[kSource])) return "P4: something stays in the source after the end";
  const bool stray = world.cluster[kTarget].uid == kStrayUid;  // was there before, and is not ours
  if (target_out && !stray && !Nothing(world.cluster[kTarget]))
    return "P4: something stays in the target after the end";
  return nullptr;
}

bool Steps::Fair(World& world) {
  static constexpr Event kOrder[] = {Event::kActsSource,
                                     Event::kActsTarget,
                                     Event::kReadsSource,
                                     Event::kReadsTarget,
                                     Event::kCleansSource,
                                     Event::kCleansTarget,
                                     Event::kPodsGoneSource,
                                     Event::kPodsGoneTarget,
                                     Event::kManagerGoneSource,
                                     Event::kManagerGoneTarget,
                                     Event::kProgressSource,
                                     Event::kProgressTarget,
                                     Event::kCacheOverride,
                                     Event::kCacheBinding,
                                     Event::kCacheTemplate,
                                     Event::kWriteSource,
                                     Event::kWriteTarget,
                                     Event::kLand1,
                                     Event::kLand2};
  for (const Event event : kOrder) {
    if (Apply(world, event)) return true;
  }
  return Apply(world, world.second_leader ? Event::kLook2 : Event::kLook1);
}

}  // namespace baton::rollout::model
