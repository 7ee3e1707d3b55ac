// What goes wrong, and what people do. Each at most once in a run, and only so many together.
#include <bit>
#include <utility>

#include "rollout/testing/model_step.h"

namespace baton::rollout::model {

// A person names the newest state, and has looked whether it is there.
static bool MayBeNamed(const World& world, int8_t state) { return state == world.newest && state != world.disposed; }

std::string_view EventStory(Event event) {
  static constexpr std::string_view kStories[] = {
      "leader 1 looks and decides",
      "leader 2 looks and decides",
      "the write of leader 1 lands",
      "the write of leader 2 lands",
      "the write that nobody waited for lands",
      "the pipe learns of the override as it is",
      "the pipe learns of the binding as it is",
      "the pipe learns of the template as it is",
      "the pipe writes to the source",
      "the pipe writes to the target",
      "the delayed manifest of the pipe arrives",
      "the source's operator reads the spec",
      "the target's operator reads the spec",
      "the source's operator acts on what it read",
      "the target's operator acts on what it read",
      "the source's operator lets the deleted object go",
      "the target's operator lets the deleted object go",
      "the last pods of the source are gone",
      "the last pods of the target are gone",
      "the source's JobManager is removed",
      "the target's JobManager is removed",
      "the source's job commits",
      "the target's job commits",
      "the source answers again",
      "the target answers again",
      "the move is resumed",
      "FAULT: leader 1 loses track of its write, which is still under way",
      "FAULT: leader 2 loses track of its write, which is still under way",
      "FAULT: leader 2 takes over; leader 1 does not know",
      "FAULT: the pipe renders for the source, and is delayed before it writes",
      "FAULT: the pipe renders for the target, and is delayed before it writes",
      "FAULT: the target fails to start",
      "FAULT: the JobManager in the source revives its job",
      "FAULT: the JobManager in the target revives its job",
      "FAULT: the source's job fails",
      "FAULT: the target's job fails",
      "FAULT: the source is silent",
      "FAULT: the target is silent",
      "FAULT: the source's name now stands for another cluster",
      "FAULT: the target's name now stands for another cluster",
      "FAULT: someone deletes the object in the source",
      "FAULT: someone deletes the object in the target",
      "FAULT: someone resumes the source by hand",
      "FAULT: someone suspends the target by hand",
      "the user aborts",
      "the user pauses",
      "FAULT: someone deletes our override",
      "FAULT: another scheduler overwrites the binding",
      "the template is deleted",
      "a person vouches that the silent source is dead, and sees to it",
      "the deadline of the phase passes",
      "the deadline of the phase passes, again",
      "FAULT: the target has a stopped object of an earlier stay",
      "FAULT: someone replaces the source's object by one from a backup, and it runs from an older state",
      "FAULT: leader 1 reads migration and Writer, and is paused before it reads anything else",
      "a person vouches that the silent target is dead, and sees to it",
      "FAULT: someone deletes the object in the target, again",
      "FAULT: the source is lost with what ran there, and a person vouches for that, and names its last state",
  };
  static_assert(std::size(kStories) == static_cast<size_t>(Event::kCount));
  return kStories[static_cast<size_t>(event)];
}

bool Steps::Fault(World& world, Event event) {
  const uint32_t bit = FaultBit(event);
  static_assert(static_cast<int>(Event::kCount) - static_cast<int>(Event::kFirstFault) <= 32);
  if ((only_ & bit) == 0 || (world.Faults() & bit) != 0 || std::popcount(world.Faults()) >= faults_) return false;
  if (IsEnd(world.phase)) return false;
  if (!FaultOfMachines(world, event) && !FaultOfPeople(world, event)) return false;
  world.AddFault(bit);
  return true;
}

bool Steps::FaultOfMachines(World& world, Event event) {
  const auto which = [&](Event first) { return static_cast<int>(event) - static_cast<int>(first); };
  switch (event) {
    case Event::kAnswerLost1:
    case Event::kAnswerLost2: {
      Pending& slot = world.pending[which(Event::kAnswerLost1)];
      if (slot.what == Do::kNone || world.ghost.what != Do::kNone) return false;
      world.ghost = std::exchange(slot, {});
      return true;
    }
    case Event::kTakeOver:
      return !std::exchange(world.second_leader, true);
    case Event::kReadsWriterOnly:
      if (world.pending[0].what != Do::kNone) return false;
      world.half_read = true;
      world.read_writer = world.writer;
      world.read_phase = world.phase;
      return true;
    case Event::kStashSource:
    case Event::kStashTarget: {
      const int cluster = which(Event::kStashSource);
      if (world.stash_full || !Rendered(world, cluster, world.stash)) return false;
      world.stash_full = true;
      world.stash_cluster = static_cast<uint8_t>(cluster);
      return true;
    }
    case Event::kStartFails: {
      Cluster& cluster = world.cluster[kTarget];
      if (!cluster.acting || cluster.inflight.Held() || cluster.job == Job::kRunning) return false;
      cluster.acting = false;
      cluster.inflight = {};
      cluster.start_failed = true;
      return true;
    }
    case Event::kRevivedSource:
    case Event::kRevivedTarget: {
      Cluster& cluster = world.cluster[which(Event::kRevivedSource)];
      if (cluster.job != Job::kFinished || !cluster.job_manager || cluster.fenced) return false;
      cluster.job = Job::kRunning;
      return true;
    }
    case Event::kJobFailsSource:
    case Event::kJobFailsTarget: {
      const int cluster = which(Event::kJobFailsSource);
      if (world.cluster[cluster].job != Job::kRunning || !world.cluster[cluster].exists) return false;
      world.cluster[cluster].job = Job::kFailed;
      (cluster == kSource ? world.source_failed : world.target_failed) = true;
      return true;
    }
    case Event::kSilentSource:
    case Event::kSilentTarget:
      return !std::exchange(world.cluster[which(Event::kSilentSource)].silent, true);
    case Event::kSwappedSource:
    case Event::kSwappedTarget:
      world.cluster[which(Event::kSwappedSource)].swapped = true;
      return true;
    case Event::kLate1:
    case Event::kLate2:
      return !std::exchange(world.late, true);
    default:
      return false;
  }
}

bool Steps::FaultOfPeople(World& world, Event event) {
  Cluster& source = world.cluster[kSource];
  Cluster& target = world.cluster[kTarget];
  switch (event) {
    case Event::kDeletedSource:
    case Event::kDeletedTarget:
    case Event::kDeletedTargetAgain: {
      const int deleted = event == Event::kDeletedSource ? kSource : kTarget;
      Cluster& cluster = world.cluster[deleted];
      if (!cluster.exists || cluster.deleting) return false;
      // A foreign hub creates anew, running and empty, what was deleted while it ran; that is not ours to prevent.
      // So are creations there from an old list of clusters: nothing at the member can refuse them.
      const bool runs =
          !cluster.spec.Held() || StartOrdered(world, deleted) || core_.writer(world.writer).holder == kTarget;
      if (!core_.own_hub() && runs) return false;
      NoLieAfterwards(world, deleted);
      cluster.deleting = true;
      // Who deletes it when its state was handed over takes that away from who goes on from it; nobody can prevent
      // that.
      cluster.disposes = deleted == kSource && !IsGranted(world);
      return true;
    }
    case Event::kHandResume:
      // Who does it after the target was told to run makes two writers; nobody can prevent that.
      if (!source.exists || !source.spec.Held() || StartOrdered(world, kTarget)) return false;
      // Nor that who starts it while the move goes back, or when that was decided on its having stopped, loses what it
      // then does: it is started again from the state that the move knows (docs/ROLLOUT.md).
      if (!core_.writer(world.writer).forward || GoesBack(world)) return false;
      if (source.state != world.newest) return false;  // who starts one that is not the newest has lost it before
      source.spec.form = Form::kRunning;
      source.spec.dir = kNothing;
      source.read = false;
      return true;
    case Event::kHandSuspend:
      if (!target.exists || target.spec.Held()) return false;
      NoLieAfterwards(world, kTarget);
      target.spec = {.form = Form::kHeld, .seq = target.spec.seq};
      target.read = false;
      return true;
    case Event::kAbort:
      return !std::exchange(world.abort, true);
    case Event::kPause:
      return !std::exchange(world.paused, true);
    case Event::kOverrideBroken:
      if (world.override_id == 0 || world.override_broken) return false;
      // On a foreign hub the finalizer keeps it at work; on ours the RunGate does not need it.
      if (core_.own_hub()) {
        world.override_id = 0;
      } else {
        world.override_broken = true;
      }
      VoidOverrideWrites(world);
      return true;
    case Event::kForeign:
      if (!world.binding.locked || world.binding.foreign) return false;
      // Before the pipe knows our override it is a hub without us: a scheduler that moves a workload starts it empty.
      if (!core_.own_hub() && world.seen_override == 0) return false;
      // A lock that came late, when the end was decided on, guards nothing any more (the engine takes it away:
      // sweep.cc, which is not in this world). Where others then place the workload is no residue of the move.
      if (world.template_there && Ends(world)) return false;
      world.binding.clusters = world.binding.clusters == 2 ? 0 : 2;
      world.binding.foreign = true;
      VoidBindingWrites(world);
      return true;
    case Event::kTemplateGone:
      world.source_failed = world.target_failed = true;
      return std::exchange(world.template_there, false);
    case Event::kAttest:
      if (!source.silent || source.job == Job::kRunning || !MayBeNamed(world, source.state)) return false;
      source.fenced = true;
      source.job_manager = false;
      world.attested = source.state;
      world.attested_cluster = kSource;
      return true;
    case Event::kLostSource: {
      if (source.fenced || source.swapped || !MayBeNamed(world, source.state)) return false;
      NoLieAfterwards(world, kSource);
      source.silent = source.fenced = true;
      source.job_manager = false;
      if (source.job == Job::kRunning) source.job = Job::kFinished;
      world.attested = source.state;
      world.attested_cluster = kSource;
      const std::optional<Claim>& claim = core_.writer(world.writer).writer.claim;
      if (claim && claim->intent == Intent::kAbort) world.attested_abort = static_cast<uint8_t>(claim->attempt);
      return true;
    }
    case Event::kAttestTarget:
      if (!target.silent || target.job == Job::kRunning || source.job == Job::kRunning) return false;
      if (!MayBeNamed(world, world.newest)) return false;
      target.fenced = true;
      target.job_manager = false;
      world.attested = world.newest;
      world.attested_cluster = kTarget;
      return true;
    case Event::kLeftover:
      if (core_.own_hub() || world.phase != Phase::kPending || target.exists) return false;
      target.exists = true;
      target.uid = kStrayUid;
      target.record = Record::kHeld;
      target.job = Job::kFinished;
      target.state = 0;
      return true;
    case Event::kRestored:
      // Until they are told, people may do so; what must not happen is that the move goes on with that state.
      if (!source.exists || source.deleting || source.acting || source.job_manager || source.fenced) return false;
      if (!core_.writer(world.writer).forward || StartOrdered(world, kTarget)) return false;
      // One that is put back when the end was decided on is behind everyone's back: no look comes after it. The move
      // says what was true; what runs there then is its owner's, who deleted the template (docs/ROLLOUT.md).
      world.source_put_back = Ends(world);
      ++source.uid;
      source.spec = {.form = Form::kRunning, .seq = source.spec.seq};
      source.read = true;
      source.record = Record::kRunning;
      source.job = Job::kRunning;
      source.job_manager = source.progressed = true;
      source.state = source.started_from = 0;
      source.capture = source.capture_dir = kNothing;
      return true;
    default:
      return false;
  }
}

// A state was handed over in this move, or that was decided on.
bool Steps::IsGranted(const World& world) const {
  const auto grants = [&](Id writer) { return core_.writer(writer).granted_state != kNothing; };
  bool granted = grants(world.writer);
  for (const Pending* slot : {&world.pending[0], &world.pending[1], &world.ghost}) {
    granted = granted || (slot->what == Do::kSwapWriter && slot->valid && grants(slot->id));
  }
  return granted;
}

// That the move does not go forward was decided on: no look before that is made any more.
bool Steps::GoesBack(const World& world) const {
  for (const Pending* slot : {&world.pending[0], &world.pending[1], &world.ghost}) {
    if (slot->what == Do::kSwapWriter && slot->valid && !core_.writer(slot->id).forward) return true;
  }
  return false;
}

// The end was decided on, or is on record: no look before it is made any more.
bool Steps::Ends(const World& world) const {
  bool ends = !core_.writer(world.writer).claimed;
  for (const Pending* slot : {&world.pending[0], &world.pending[1], &world.ghost}) {
    ends = ends || (slot->what == Do::kSwapWriter && !core_.writer(slot->id).claimed);
  }
  return ends;
}

// What is broken after the last look before the end is no lie of the end.
void Steps::NoLieAfterwards(World& world, int which) const {
  if (Ends(world)) (which == kSource ? world.source_failed : world.target_failed) = true;
}

// Whether anything that tells this cluster to run is in the hub or on its way there.
bool Steps::StartOrdered(const World& world, int which) const {
  const auto runs = [&](Id id) { return id != 0 && !core_.override_facts(id).spec[which].Held(); };
  if (runs(world.override_id) || runs(world.seen_override)) return true;
  if (which == kTarget) {
    const Cluster& target = world.cluster[kTarget];
    const bool stashed = world.stash_full && world.stash_cluster == kTarget && !world.stash.Held();
    const bool reading = target.acting && !target.inflight.Held();
    if (stashed || reading || (target.exists && !target.spec.Held())) return true;
    if (target.job != Job::kNone || target.record != Record::kNone) return true;
  }
  for (const Pending* slot : {&world.pending[0], &world.pending[1], &world.ghost}) {
    if (slot->what == Do::kPutOverride && runs(slot->id)) return true;
  }
  return false;
}

}  // namespace baton::rollout::model
