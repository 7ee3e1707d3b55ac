// One row for each edge of the diagram in next.h and for each wait: what is seen, and what is decided.
#include "rollout/next.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::rollout {
namespace {

struct Case {
  Writer writer;
  Migration migration;
  Observation seen;
};

using Mode = SideRule::Mode;
constexpr Duration kLate = hours(1);

// ---- places along the way, each with everything as it should be there

Case Pending() {
  Case c;
  c.writer = {.exists = true, .seq = 1, .holder = {"A", "idA", "a1"}};
  c.migration = {.name = "move", .uid = "m", .phase = Phase::kPending};
  c.seen.fence = 7;
  c.seen.preflight_done = true;
  c.seen.proposal =
      Claim{.migration = "move", .migration_uid = "m", .source = {"A", "idA", "a1"}, .target = {"B", "idB", ""}};
  c.seen.binding.clusters = {"A"};
  c.seen.source = {.answered = true, .cluster_id = "idA", .found = true, .uid = "a1", .seq = 1, .runs = true};
  c.seen.source.prior_path = "old";
  c.seen.source.stop_missing = "it runs";
  c.seen.target = {.answered = true, .cluster_id = "idB"};
  c.seen.target.start_missing = "no checkpoint yet";
  return c;
}

void OursNow(Case& c, const std::set<std::string>& clusters, bool locked = true) {
  c.seen.override_state = WantedOverride(c.writer, 7);
  c.seen.override_exists = true;
  c.seen.override_fence = 7;
  c.seen.binding = {.clusters = clusters, .locked = locked, .fence = locked ? 7 : 0};
  if (locked) c.seen.binding.attempt = c.writer.claim->attempt;
}

Case Planned() {
  Case c = Pending();
  c.writer.claim = c.seen.proposal;
  c.writer.claim->fence = 7;
  c.migration.phase = Phase::kPlanned;
  OursNow(c, {"A"});
  return c;
}

Case Staged() {
  Case c = Planned();
  c.migration.phase = Phase::kStaged;
  c.seen.target_valid = true;
  c.seen.target.found = c.seen.target.held = true;
  c.seen.target.uid = "b1";
  c.seen.target.seq = 1;
  OursNow(c, {"A", "B"});
  return c;
}

Case Quiescing() {
  Case c = Staged();
  c.migration.phase = Phase::kQuiescing;
  c.writer.seq = 2;
  c.writer.stop = Stop{.seq = 2, .cluster = "A", .uid = "a1", .prior_path = "old", .state_dir = "m-1-2"};
  OursNow(c, {"A", "B"});
  c.seen.source.seq = 2;
  c.seen.source.held = true;
  return c;
}

Case Stopped() {
  Case c = Quiescing();
  c.seen.source.runs = false;
  c.seen.source.stop_proven = true;
  c.seen.source.stop_missing.clear();
  c.seen.source.capture = "m-1-2/sp";
  return c;
}

Case Granted() {
  Case c = Stopped();
  c.migration.phase = Phase::kGranted;
  c.writer.seq = 3;
  c.writer.holder = {"B", "idB", "b1"};
  c.writer.receipt =
      Receipt{.seq = 3, .migration_uid = "m", .from = "A", .to = "B", .capture = "m-1-2/sp", .how = "StopProof"};
  return c;  // the override is still the one of Quiescing
}

Case Verifying() {
  Case c = Granted();
  c.migration.phase = Phase::kVerifying;
  OursNow(c, {"A", "B"});
  c.seen.target.held = false;
  c.seen.target.seq = 3;
  c.seen.target.runs = true;
  return c;
}

Case Proven() {
  Case c = Verifying();
  c.seen.target.start_proven = true;
  c.seen.proven_for = seconds(10);
  return c;
}

Case Cleaning() {
  Case c = Proven();
  c.migration.phase = Phase::kCleaning;
  c.writer.claim->verified = true;
  OursNow(c, {"B"});
  return c;
}

Case Cleaned() {
  Case c = Cleaning();
  c.seen.source = {.answered = true, .cluster_id = "idA"};
  return c;
}

Case Aborting() {
  Case c = Stopped();
  c.migration.phase = Phase::kAborting;
  c.writer.claim->intent = Intent::kAbort;
  c.writer.seq = 3;
  OursNow(c, {"A"});
  return c;
}

Case AbortedWell() {
  Case c = Aborting();
  c.seen.source.seq = 3;
  c.seen.source.held = false;
  c.seen.source.runs = true;
  c.seen.target = {.answered = true, .cluster_id = "idB"};
  return c;
}

Case Withdrawing() {
  Case c = Verifying();
  c.migration.phase = Phase::kWithdrawing;
  c.writer.claim->intent = Intent::kWithdraw;
  c.writer.seq = 4;
  c.writer.stop = Stop{.seq = 4, .cluster = "B", .uid = "b1", .state_dir = "m-1-4"};
  OursNow(c, {"A", "B"});
  c.seen.target.seq = 4;
  c.seen.target.held = true;
  c.seen.target.stop_missing = "it runs";
  return c;
}

Case TargetStopped() {
  Case c = Withdrawing();
  c.seen.target.runs = false;
  c.seen.target.stop_proven = true;
  c.seen.target.capture = "m-1-4/sp";
  c.seen.target.progress = Sighting::Progress::kSome;
  return c;
}

Case TargetRemoved() {
  Case c = TargetStopped();
  c.writer.stop->proven = true;
  c.writer.stop->capture = "m-1-4/sp";
  OursNow(c, {"A"});
  c.seen.target = {.answered = true, .cluster_id = "idB"};
  return c;
}

Case Resuming() {
  Case c = TargetRemoved();
  c.writer.seq = 5;
  c.writer.holder = {"A", "idA", "a1"};
  c.writer.receipt->capture = "m-1-4/sp";
  OursNow(c, {"A"});
  return c;
}

Case Resumed() {
  Case c = Resuming();
  c.seen.source.seq = 5;
  c.seen.source.held = false;
  c.seen.source.runs = true;
  return c;
}

Case EndOnRecord(Phase end) {
  Case c = Pending();
  c.writer.ended_uid = "m";
  c.writer.ended = end;
  return c;
}

// ---- the table

struct Row {
  std::string_view name;
  Case (*place)();
  std::function<void(Case&)> change;
  Phase phase;
  std::string_view effect;  // as EffectName tells
  std::string_view says;    // a part of the message
  bool blocked = false;
};

void Same(Case&) {}
void Late(Case& c) { c.seen.in_phase = kLate; }
void Hold(Case& c) { c.migration.hold_on_failure = true; }
void AskAbort(Case& c) { c.migration.abort = true; }
void Free(Case& c, const std::string& cluster) { OursNow(c, {cluster}, false); }
void SilentSource(Case& c) { c.seen.source = {}; }
void SilentTarget(Case& c) { c.seen.target = {}; }
void Vouched(Case& c) { c.migration.attestation = Attestation{"", "ann", "burnt down", "ref"}; }
void Ordered(Case& c) { c.seen.removal_ordered = true; }
void VouchedInAbort(Case& c) { Vouched(c), c.migration.attestation->aborted_attempt = 1; }
void LeftNoState(Case& c) { c.seen.source.state_lost = "nothing was captured"; }
void KeptStopped(Case& c, bool any_way = false) {
  c.seen.override_state->source = {.mode = Mode::kStopping, .seq = 2, .state_dir = "m-1-2", .any_way = any_way};
}
void CancelInHand(Case& c) { c.writer.stop->any_way = c.seen.source.in_hand = true, c.seen.source.stop_proven = false; }
void VouchedForTarget(Case& c) { c.migration.attestation = Attestation{"B", "ann", "burnt down", "ref"}; }
void LostTarget(Case& c) { SilentTarget(c), VouchedForTarget(c); }
void SourceRanAgain(Case& c) { c.writer.stop->capture = "m-1-2/other"; }  // as the step back found it
void MayFallBack(Case& c) { c.migration.last_checkpoint = true; }
void FellBack(Case& c) {
  MayFallBack(c);
  c.writer.stop->any_way = true;
  OursNow(c, {"A", "B"});
}
void TakenBack(Case& c) {
  c.seen.own_hub = false;
  KeptStopped(c), c.seen.override_state->source.seq = c.writer.seq;
}
void Foreign(Case& c) {
  c.seen.own_hub = false;
  c.seen.target = {.answered = true, .cluster_id = "idB"};
  c.seen.binding = {.clusters = {"A"}, .kept = {"B"}, .locked = true, .fence = 7};
}

const std::vector<Row>& Before() {
  static const std::vector<Row> kRows = {
      {"claims", Pending, Same, Phase::kPending, "swap-writer", "claiming"},
      {"checks first", Pending, [](Case& c) { c.seen.preflight_done = false; }, Phase::kPending, "none", "the checks"},
      {"rejects", Pending, [](Case& c) { c.seen.problems = {"no", "never"}, c.writer.refused_uid = "m"; },
       Phase::kRejected, "none", "no; never"},
      {"a refusal is on record before it is told", Pending, [](Case& c) { c.seen.problems = {"no"}; }, Phase::kPending,
       "swap-writer", "refusing it: no"},
      {"what another leader has refused is not claimed", Pending, [](Case& c) { c.writer.refused_uid = "m"; },
       Phase::kRejected, "none", "ask for it again"},
      {"what was refused is told with the reason of then", Pending,
       [](Case& c) {
         c.writer.refused_uid = "m";
         c.writer.refused_why = "cluster B is not ready";
       },
       Phase::kRejected, "none", "cluster B is not ready"},
      {"what was aborted before it began stays so when the abort is taken back", Pending,
       [](Case& c) {
         c.writer.refused_uid = "m";
         c.writer.refused = Phase::kAborted;
       },
       Phase::kAborted, "none", "ask for it again"},
      {"that another move was refused is no matter", Pending, [](Case& c) { c.writer.refused_uid = "another"; },
       Phase::kPending, "swap-writer", "claiming"},
      {"there is no record yet", Pending, [](Case& c) { c.seen.problems = {"no"}, c.writer = {}; }, Phase::kRejected,
       "none", "no"},
      {"loses to another", Planned, [](Case& c) { c.migration.uid = "other", c.migration.phase = Phase::kPending; },
       Phase::kRejected, "none", "is moving this workload"},
      {"aborted before it began", Pending,
       [](Case& c) {
         AskAbort(c);
         c.writer.refused_uid = "m";
       },
       Phase::kAborted, "none", "before it began"},
      {"that is on record, too", Pending, AskAbort, Phase::kPending, "swap-writer", "before it began"},
      {"what was rejected stays so", Pending, [](Case& c) { c.migration.phase = Phase::kRejected; }, Phase::kRejected,
       "none", "ended"},
      {"record gone", Planned, [](Case& c) { c.writer = {}; }, Phase::kPlanned, "none", "was deleted", true},
      {"new leader", Planned, [](Case& c) { c.seen.fence = 8; }, Phase::kPlanned, "swap-writer", "a new leader"},
      {"old leader", Planned, [](Case& c) { c.seen.fence = 6; }, Phase::kPlanned, "none", "another leader"},
      {"old leader by the override", Planned, [](Case& c) { c.seen.override_fence = 8; }, Phase::kPlanned, "none",
       "another leader"},
      {"the same, and somebody has edited it", Planned,
       [](Case& c) { c.seen.override_fence = 8, c.seen.override_state.reset(); }, Phase::kPlanned, "none",
       "another leader"},
      {"old leader by the lock", Planned, [](Case& c) { c.seen.binding.fence = 8; }, Phase::kPlanned, "none",
       "another leader"},
      {"the same, and somebody has lifted it", Planned,
       [](Case& c) { c.seen.binding.fence = 8, c.seen.binding.locked = false; }, Phase::kPlanned, "none",
       "another leader"},
      {"template gone, workload there", Planned, [](Case& c) { c.seen.template_found = false; }, Phase::kPlanned,
       "none", "gone from both clusters"},
      {"the same, late", Planned, [](Case& c) { c.seen.template_found = false, Late(c); }, Phase::kPlanned, "none",
       "look at what keeps it", true},
      {"the same, and the source is lost", Quiescing,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, SilentSource(c),
         Late(c);
       },
       Phase::kQuiescing, "none", "`baton attest move --cluster A`", true},
      {"the same, and the target is lost", Verifying,
       [](Case& c) {
         c.seen.template_found = false, c.seen.source = {.answered = true, .cluster_id = "idA"}, SilentTarget(c),
         Late(c);
       },
       Phase::kVerifying, "none", "`baton attest move --cluster B`", true},
      {"template gone, a person vouches for the lost source", Quiescing,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, SilentSource(c),
         Vouched(c), Ordered(c);
       },
       Phase::kQuiescing, "swap-writer", "the template is gone"},
      {"the same, and the pipe has not heard of it", Quiescing,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, SilentSource(c),
         Vouched(c);
       },
       Phase::kQuiescing, "none", "gone from both clusters"},
      {"the same, late", Quiescing,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, SilentSource(c),
         Vouched(c), Late(c);
       },
       Phase::kQuiescing, "none", "binding and Works are not being deleted", true},
      {"the same of the lost target", Verifying,
       [](Case& c) {
         c.seen.template_found = false, c.seen.source = {.answered = true, .cluster_id = "idA"}, LostTarget(c),
         Ordered(c);
       },
       Phase::kVerifying, "swap-writer", "the template is gone"},
      {"the same, and the other is not gone", Verifying,
       [](Case& c) { c.seen.template_found = false, LostTarget(c), Ordered(c); }, Phase::kVerifying, "none",
       "gone from both clusters"},
      {"vouched for, but it answers", Quiescing,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, Vouched(c);
       },
       Phase::kQuiescing, "none", "gone from both clusters"},
      {"template and workload gone", Cleaned,
       [](Case& c) {
         c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, Ordered(c);
       },
       Phase::kCleaning, "swap-writer", "the template is gone"},
      {"the same, and the pipe has not heard of it: it may make it anew", Cleaned,
       [](Case& c) { c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}; },
       Phase::kCleaning, "none", "gone from both clusters"},
      {"the same, late", Cleaned,
       [](Case& c) { c.seen.template_found = false, c.seen.target = {.answered = true, .cluster_id = "idB"}, Late(c); },
       Phase::kCleaning, "none", "binding and Works are not being deleted", true},
      {"no override", Planned, [](Case& c) { c.seen.override_state.reset(); }, Phase::kPlanned, "put-override",
       "override"},
      {"not locked", Planned, [](Case& c) { c.seen.binding.locked = false; }, Phase::kPlanned, "put-binding",
       "locking"},
      {"an emptied list", Planned, [](Case& c) { c.seen.binding.clusters = {}; }, Phase::kPlanned, "put-binding",
       "locking"},
      {"silent source", Planned, SilentSource, Phase::kPlanned, "none", "cluster A to answer"},
      {"source is another cluster", Planned, [](Case& c) { c.seen.source.cluster_id = "x"; }, Phase::kPlanned, "none",
       "another one answers under its name"},
      {"source is another object", Planned, [](Case& c) { c.seen.source.uid = "a2"; }, Phase::kPlanned, "none",
       "not the one", true},
      {"epoch not there", Planned, [](Case& c) { c.seen.source.seq = 0; }, Phase::kPlanned, "none", "to show epoch 1"},
      {"validates", Planned, Same, Phase::kPlanned, "validate-target", "asking B"},
      {"target refuses", Planned, [](Case& c) { c.seen.target_invalid = "no CRD"; }, Phase::kPlanned, "swap-writer",
       "no CRD"},
      {"target refuses, Hold", Planned, [](Case& c) { c.seen.target_invalid = "no CRD", Hold(c); }, Phase::kPlanned,
       "none", "baton abort", true},
      {"adds the target", Planned, [](Case& c) { c.seen.target_valid = true; }, Phase::kPlanned, "put-binding",
       "locking"},
      {"silent target", Staged, SilentTarget, Phase::kStaged, "none", "cluster B to answer"},
      {"target not created", Staged, [](Case& c) { c.seen.target.found = false; }, Phase::kStaged, "none",
       "the held workload"},
      {"target not held", Staged, [](Case& c) { c.seen.target.held = false; }, Phase::kStaged, "none",
       "the held workload"},
      {"target not ready for it", Staged, [](Case& c) { c.seen.target.unprepared = "an old claim"; }, Phase::kStaged,
       "none", "to be ready for it: an old claim"},
      {"foreign: target withheld", Staged, Foreign, Phase::kStaged, "swap-writer", "ordering the stop"},
      {"foreign: target not empty", Staged, [](Case& c) { Foreign(c), c.seen.target.found = true; }, Phase::kStaged,
       "none", "to have nothing"},
      {"foreign: target started by somebody else", Staged,
       [](Case& c) { Foreign(c), c.seen.target.found = c.seen.target.runs = true; }, Phase::kStaged, "swap-writer",
       "somebody else started the workload in B"},
      {"foreign: pods left", Staged, [](Case& c) { Foreign(c), c.seen.target.remains = true; }, Phase::kStaged, "none",
       "to have nothing"},
      {"paused", Staged, [](Case& c) { c.migration.paused = true; }, Phase::kStaged, "none", "baton resume"},
      {"paused is never late", Staged, [](Case& c) { c.migration.paused = true, Late(c); }, Phase::kStaged, "none",
       "baton resume"},
      {"not approved", Staged,
       [](Case& c) { c.migration.approved = false, c.migration.waiting_for_approval = "approval by ops"; },
       Phase::kStaged, "none", "approval by ops"},
      {"source does not run", Staged, [](Case& c) { c.seen.source.runs = false; }, Phase::kStaged, "none",
       "to run, so that"},
      {"source does not run and may be moved from what it left, soon", Staged,
       [](Case& c) { c.seen.source.runs = false, MayFallBack(c); }, Phase::kStaged, "none", "to run, so that"},
      {"the same, after a while", Staged,
       [](Case& c) { c.seen.source.runs = false, MayFallBack(c), c.seen.in_phase = c.migration.deadlines.stage / 8; },
       Phase::kStaged, "swap-writer", "ordering a stop from its last checkpoint"},
      {"planned late", Planned, Late, Phase::kPlanned, "swap-writer", "waited too long for cluster B to accept"},
      {"staged late", Staged, [](Case& c) { c.seen.target.found = false, Late(c); }, Phase::kStaged, "swap-writer",
       "waited too long for the held workload"},
      {"silent source, late", Staged, [](Case& c) { SilentSource(c), Late(c); }, Phase::kStaged, "swap-writer",
       "waited too long for cluster A"},
      // Its time went into waiting for a person or a window, which is over.
      {"prepared, and late", Staged, Late, Phase::kStaged, "swap-writer", "ordering the stop in A"},
      {"before its window", Staged, [](Case& c) { c.migration.waiting_for_window = "tonight", Late(c); },
       Phase::kStaged, "none", "all is prepared; waiting for tonight"},
      {"staged, abort", Staged, AskAbort, Phase::kStaged, "swap-writer", "asked for"},
      {"orders the stop", Staged, Same, Phase::kStaged, "swap-writer", "ordering the stop in A"},
      {"vouched for, not stopped yet", Staged, [](Case& c) { SilentSource(c), Vouched(c); }, Phase::kStaged,
       "swap-writer", "as ann attested"},
  };
  return kRows;
}

const std::vector<Row>& Lost() {
  static const std::vector<Row> kRows = {
      {"foreign: vouched for, target not empty", Staged,
       [](Case& c) { Foreign(c), SilentSource(c), Vouched(c), c.seen.target.found = true; }, Phase::kStaged, "none",
       "to have nothing"},
      {"the same, late", Staged,
       [](Case& c) { Foreign(c), SilentSource(c), Vouched(c), c.seen.target.found = true, Late(c); }, Phase::kStaged,
       "none", "delete what is in B", true},
      {"foreign: vouched for, target empty", Staged,
       [](Case& c) { Foreign(c), SilentSource(c), Vouched(c), c.seen.source_rendered = true; }, Phase::kStaged,
       "swap-writer", "as ann attested"},
      {"foreign: vouched for, and it may not know the override", Staged,
       [](Case& c) { Foreign(c), SilentSource(c), Vouched(c); }, Phase::kStaged, "none", "to have epoch 1"},
      {"foreign: a word of this abort, target not empty", Aborting,
       [](Case& c) { c.seen.own_hub = false, SilentSource(c), VouchedInAbort(c); }, Phase::kAborting, "none",
       "delete what is in it", true},
  };
  return kRows;
}

const std::vector<Row>& Forward() {
  static const std::vector<Row> kRows = {
      {"waits for the proof", Quiescing, Same, Phase::kQuiescing, "none", "the stop proof from A: it runs"},
      {"silent source", Quiescing, SilentSource, Phase::kQuiescing, "none", "silence proves nothing"},
      {"silent source, late", Quiescing, [](Case& c) { SilentSource(c), Late(c); }, Phase::kQuiescing, "swap-writer",
       "not proven in time"},
      {"late, Hold", Quiescing, [](Case& c) { Hold(c), Late(c); }, Phase::kQuiescing, "none", "baton abort", true},
      {"stop failed", Quiescing, [](Case& c) { c.seen.source.stop_failed = "it had failed"; }, Phase::kQuiescing,
       "swap-writer", "it had failed"},
      {"stop failed, may be moved from what it left", Quiescing,
       [](Case& c) { c.seen.source.stop_failed = "it had failed", MayFallBack(c); }, Phase::kQuiescing, "swap-writer",
       "stopping it from its last checkpoint"},
      {"the same, when that failed too", Quiescing,
       [](Case& c) { FellBack(c), c.seen.source.stop_failed = "it had failed"; }, Phase::kQuiescing, "swap-writer",
       "aborting: it had failed"},
      {"does not stop, may be moved from what it left, soon", Quiescing, MayFallBack, Phase::kQuiescing, "none",
       "the stop proof from A"},
      {"the same, after a while", Quiescing,
       [](Case& c) { MayFallBack(c), c.seen.in_phase = c.migration.deadlines.quiesce / 8; }, Phase::kQuiescing,
       "swap-writer", "stopping it from its last checkpoint"},
      {"does not stop, nobody allowed more", Quiescing,
       [](Case& c) { c.seen.in_phase = c.migration.deadlines.quiesce / 8; }, Phase::kQuiescing, "none",
       "the stop proof from A"},
      {"silent, may be moved from what it left", Quiescing,
       [](Case& c) { MayFallBack(c), SilentSource(c), c.seen.in_phase = c.migration.deadlines.quiesce / 8; },
       Phase::kQuiescing, "none", "silence proves nothing"},
      {"grants what it left", Stopped, FellBack, Phase::kQuiescing, "swap-writer", "granting B"},
      {"abort", Stopped, AskAbort, Phase::kQuiescing, "swap-writer", "asked for"},
      {"grants", Stopped, Same, Phase::kQuiescing, "swap-writer", "granting B"},
      {"no capture", Stopped, [](Case& c) { c.seen.source.capture.clear(); }, Phase::kQuiescing, "none",
       "the stop proof"},
      {"another object", Stopped, [](Case& c) { c.seen.source.uid = "a2"; }, Phase::kQuiescing, "none",
       "the stop proof"},
      {"deleting", Stopped, [](Case& c) { c.seen.source.deleting = true; }, Phase::kQuiescing, "none",
       "the stop proof"},
      {"not held", Stopped, [](Case& c) { c.seen.source.held = false; }, Phase::kQuiescing, "none", "the stop proof"},
      {"another epoch", Stopped, [](Case& c) { c.seen.source.seq = 1; }, Phase::kQuiescing, "none", "the stop proof"},
      {"target is another cluster", Stopped, [](Case& c) { c.seen.target.cluster_id = "x"; }, Phase::kQuiescing,
       "swap-writer", "B is another one than the one that joined"},
      {"another cluster", Stopped, [](Case& c) { c.seen.source.cluster_id = "x"; }, Phase::kQuiescing, "none",
       "silence proves nothing"},
      {"vouched for", Quiescing, [](Case& c) { SilentSource(c), Vouched(c); }, Phase::kQuiescing, "swap-writer",
       "ann attested"},
      {"vouched for, from where it began itself", Quiescing,
       [](Case& c) { SilentSource(c), Vouched(c), c.writer.stop->prior_path = "ref"; }, Phase::kQuiescing, "none",
       "ref is the state that A itself began from", true},
      {"the same, late", Quiescing,
       [](Case& c) { SilentSource(c), Vouched(c), Late(c), c.writer.stop->prior_path = "ref"; }, Phase::kQuiescing,
       "swap-writer", "was not proven in time"},
      {"the same, and it is meant", Quiescing,
       [](Case& c) {
         SilentSource(c), Vouched(c), c.writer.stop->prior_path = "ref";
         c.migration.attestation->rewind = true;
       },
       Phase::kQuiescing, "swap-writer", "ann attested"},
      {"vouched for, from what an earlier move granted it", Quiescing,
       [](Case& c) {
         SilentSource(c), Vouched(c);
         c.writer.receipt = Receipt{.from = "B", .to = "A", .capture = "ref"};
       },
       Phase::kQuiescing, "none", "ref is the state that A itself began from", true},
      {"the target is silent: not granted", Stopped, SilentTarget, Phase::kQuiescing, "none",
       "cluster B to answer; it is granted when it does"},
      {"the same, late", Stopped, [](Case& c) { SilentTarget(c), Late(c); }, Phase::kQuiescing, "swap-writer",
       "B does not answer"},
      {"the same, late, Hold", Stopped, [](Case& c) { SilentTarget(c), Late(c), Hold(c); }, Phase::kQuiescing, "none",
       "baton abort", true},
      {"vouched for, the target is silent", Quiescing, [](Case& c) { SilentSource(c), SilentTarget(c), Vouched(c); },
       Phase::kQuiescing, "none", "cluster B to answer; it is granted when it does"},
      {"the same, late", Quiescing, [](Case& c) { SilentSource(c), SilentTarget(c), Vouched(c), Late(c); },
       Phase::kQuiescing, "none", "bring cluster B back", true},
      {"vouched for, and another cluster answers under its name", Quiescing,
       [](Case& c) { c.seen.source.cluster_id = "x", Vouched(c); }, Phase::kQuiescing, "swap-writer", "ann attested"},
      {"another one is vouched for", Quiescing, [](Case& c) { SilentSource(c), VouchedForTarget(c); },
       Phase::kQuiescing, "none", "silence proves nothing"},
      {"vouched for, but it answers", Quiescing, Vouched, Phase::kQuiescing, "none", "the stop proof"},
      {"starts", Granted, Same, Phase::kGranted, "put-override", "override"},
      {"prepares", Granted, [](Case& c) { c.seen.target.unprepared = "no claim yet"; }, Phase::kGranted, "none",
       "B to be ready for it: no claim yet"},
      {"prepares, late", Granted, [](Case& c) { c.seen.target.unprepared = "no claim yet", Late(c); }, Phase::kGranted,
       "swap-writer", "going back"},
      {"prepares, and the target is silent", Granted, [](Case& c) { c.seen.prepares = true, SilentTarget(c); },
       Phase::kGranted, "none", "cluster B to answer"},
      {"the same, late", Granted, [](Case& c) { c.seen.prepares = true, SilentTarget(c), Late(c); }, Phase::kGranted,
       "none", "baton attest", true},
      {"prepares, and the target is not held", Granted,
       [](Case& c) { c.seen.prepares = true, c.seen.target.held = false; }, Phase::kGranted, "none",
       "the held workload in B"},
      {"prepares, and all is there", Granted, [](Case& c) { c.seen.prepares = true, c.seen.target.held = true; },
       Phase::kGranted, "put-override", "override"},
      {"what runs is not prepared any more", Verifying, [](Case& c) { c.seen.target.unprepared = "no claim yet"; },
       Phase::kVerifying, "none", "the start proof from B"},
      {"proof again: silent", Granted, SilentSource, Phase::kGranted, "none", "once more"},
      {"proof again: silent, late", Granted, [](Case& c) { SilentSource(c), Late(c); }, Phase::kGranted, "none",
       "bring A back", true},
      {"proof again: it runs", Granted, [](Case& c) { c.seen.source.stop_proven = false; }, Phase::kGranted, "none",
       "stop it there", true},
      {"proof again: ran in between", Granted, [](Case& c) { c.seen.source.capture = "m-1-2/other"; }, Phase::kGranted,
       "none", "baton abort", true},
      {"proof again: abort", Granted, [](Case& c) { SilentSource(c), AskAbort(c); }, Phase::kGranted, "swap-writer",
       "going back"},
      {"proof again: abort while it runs", Granted, [](Case& c) { c.seen.source.stop_proven = false, AskAbort(c); },
       Phase::kGranted, "none", "stop it there", true},
      {"proof again: abort of what ran in between", Granted,
       [](Case& c) { c.seen.source.capture = "m-1-2/other", AskAbort(c); }, Phase::kGranted, "swap-writer",
       "going back"},
      {"object not on record", Granted, [](Case& c) { c.writer.holder.member_uid.clear(); }, Phase::kGranted,
       "swap-writer", "is the one that may run"},
      {"object not there", Granted, [](Case& c) { c.writer.holder.member_uid.clear(), c.seen.target.found = false; },
       Phase::kGranted, "none", "the held workload in B"},
      {"waits for the start", Verifying, Same, Phase::kVerifying, "none", "no checkpoint yet"},
      {"a new leader does not read it again", Verifying,
       [](Case& c) { SilentSource(c), c.writer.claim->fence = c.seen.fence = 8; }, Phase::kVerifying, "put-override",
       "override"},
      {"another object runs", Verifying, [](Case& c) { c.seen.target.uid = "b2"; }, Phase::kVerifying, "none",
       "not the one that was granted", true},
      {"silent target", Verifying, SilentTarget, Phase::kVerifying, "none", "cluster B to answer"},
      {"silent target, late", Verifying, [](Case& c) { SilentTarget(c), Late(c); }, Phase::kVerifying, "none",
       "bring it back", true},
      {"the target is lost", Granted, LostTarget, Phase::kGranted, "swap-writer", "ann attested that B is stopped"},
      {"the target is lost, and the source came back to life", Granted,
       [](Case& c) { LostTarget(c), c.seen.source.stop_proven = false; }, Phase::kGranted, "none", "stop it there",
       true},
      {"the target is lost, and the source is, too", Granted, [](Case& c) { LostTarget(c), SilentSource(c); },
       Phase::kGranted, "swap-writer", "ann attested that B is stopped"},
      {"the target is lost after its start, whatever the source does", Verifying,
       [](Case& c) { LostTarget(c), c.seen.source.stop_proven = false; }, Phase::kVerifying, "swap-writer",
       "ann attested that B is stopped"},
      {"the target is lost after its start", Verifying, LostTarget, Phase::kVerifying, "swap-writer",
       "ann attested that B is stopped"},
      {"vouched for, and another cluster answers under its name", Verifying,
       [](Case& c) { c.seen.target.cluster_id = "x", VouchedForTarget(c); }, Phase::kVerifying, "swap-writer",
       "going back: ann attested that B is stopped"},
      {"vouched for, but the target answers", Verifying, VouchedForTarget, Phase::kVerifying, "none",
       "no checkpoint yet"},
      {"start failed", Verifying, [](Case& c) { c.seen.target.start_failed = "no quota"; }, Phase::kVerifying,
       "swap-writer", "no quota"},
      {"start failed, Hold", Verifying, [](Case& c) { c.seen.target.start_failed = "no quota", Hold(c); },
       Phase::kVerifying, "none", "baton abort", true},
      {"late", Verifying, Late, Phase::kVerifying, "swap-writer", "did not prove itself in time"},
      {"abort", Verifying, AskAbort, Phase::kVerifying, "swap-writer", "asked for"},
      {"abort goes back also with Hold", Verifying, [](Case& c) { AskAbort(c), Hold(c); }, Phase::kVerifying,
       "swap-writer", "asked for"},
      {"proven, not for long", Proven, [](Case& c) { c.seen.proven_for = seconds(9); }, Phase::kVerifying, "none",
       "to stay healthy for 10 s"},
      {"proven", Proven, Same, Phase::kVerifying, "swap-writer", "has proven itself"},
      {"proven, and its end is not approved", Proven, [](Case& c) { c.migration.cleanup_approved = false, Late(c); },
       Phase::kVerifying, "none", "waiting for an approval of BeforeCleanup"},
      {"not proven any more while it waits for a person", Verifying,
       [](Case& c) { c.migration.cleanup_approved = false, Late(c); }, Phase::kVerifying, "none", "baton abort", true},
      {"keeps the override", Cleaning, [](Case& c) { c.seen.override_state.reset(); }, Phase::kCleaning, "put-override",
       "until the source is gone"},
      {"removes the source", Cleaning, [](Case& c) { OursNow(c, {"A", "B"}); }, Phase::kCleaning, "put-binding",
       "removing the workload from A"},
      {"also when it is gone", Cleaned, [](Case& c) { OursNow(c, {"A", "B"}); }, Phase::kCleaning, "put-binding",
       "removing the workload from A"},
      {"waits until it is gone", Cleaning, Same, Phase::kCleaning, "none", "to be gone from A"},
      {"the same, late", Cleaning, Late, Phase::kCleaning, "none", "look at what keeps it", true},
      {"a lost source is not waited for", Cleaning, [](Case& c) { SilentSource(c), Vouched(c); }, Phase::kCleaning,
       "put-binding", "giving the binding back"},
      {"pods left", Cleaned, [](Case& c) { c.seen.source.remains = true; }, Phase::kCleaning, "none",
       "to be gone from A"},
      {"it is gone, and to be made anew by its Work", Cleaned, [](Case& c) { c.seen.still_ordered = true; },
       Phase::kCleaning, "none", "to be gone from A"},
      {"no abort any more", Cleaning, AskAbort, Phase::kCleaning, "none", "to be gone from A"},
      {"unlocks", Cleaned, Same, Phase::kCleaning, "put-binding", "giving the binding back"},
      {"policy forbids the target", Cleaned, [](Case& c) { c.seen.target_allowed = false; }, Phase::kCleaning, "none",
       "edit the policy", true},
      {"scheduler not settled", Cleaned, [](Case& c) { Free(c, "B"), c.seen.binding_settled = false; },
       Phase::kCleaning, "none", "the scheduler to leave"},
      {"the same, late", Cleaned, [](Case& c) { Free(c, "B"), c.seen.binding_settled = false, Late(c); },
       Phase::kCleaning, "none", "look at the binding", true},
      {"target does not run at the end", Cleaned, [](Case& c) { Free(c, "B"), c.seen.target.runs = false; },
       Phase::kCleaning, "none", "to run, as it did"},
      {"the same, late", Cleaned, [](Case& c) { Free(c, "B"), c.seen.target.runs = false, Late(c); }, Phase::kCleaning,
       "none", "look at cluster B", true},
      {"over", Cleaned, [](Case& c) { Free(c, "B"); }, Phase::kCleaning, "swap-writer", "the move is over"},
  };
  return kRows;
}

const std::vector<Row>& Back() {
  static const std::vector<Row> kRows = {
      {"lets it run", Aborting, [](Case& c) { c.seen.override_state->source.mode = Mode::kStopping; }, Phase::kAborting,
       "put-override", "letting A run on"},
      {"silent, not told yet", Aborting, [](Case& c) { c.seen.override_state.reset(), SilentSource(c); },
       Phase::kAborting, "none", "cluster A to answer"},
      {"the same, late", Aborting, [](Case& c) { c.seen.override_state.reset(), SilentSource(c), Late(c); },
       Phase::kAborting, "none", "bring cluster A back", true},
      {"silent and told, late", Aborting, [](Case& c) { SilentSource(c), Late(c); }, Phase::kAborting, "none",
       "if it is lost for good: `baton attest move`", true},
      {"the same, and a person asked for the abort", Aborting, [](Case& c) { SilentSource(c), AskAbort(c), Late(c); },
       Phase::kAborting, "none", "take the abort back", true},
      {"the source is lost: a word of this abort", Aborting, [](Case& c) { SilentSource(c), VouchedInAbort(c); },
       Phase::kAborting, "swap-writer", "going on without A, as ann attested"},
      {"the same, before anything was stopped", Aborting,
       [](Case& c) { c.writer.stop.reset(), OursNow(c, {"A"}), SilentSource(c), VouchedInAbort(c); }, Phase::kAborting,
       "swap-writer", "going on without A, as ann attested"},
      {"a word of before the abort", Aborting, [](Case& c) { SilentSource(c), Vouched(c); }, Phase::kAborting, "none",
       "A to run again"},
      {"a word of an earlier abort", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.writer.claim->attempt = 2, OursNow(c, {"A"}); },
       Phase::kAborting, "none", "A to run again"},
      {"a word of this abort, and the abort is asked for", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), AskAbort(c); }, Phase::kAborting, "none", "A to run again"},
      {"a word of this abort, and it answers in part", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.seen.source.answers_partly = true; }, Phase::kAborting,
       "none", "A to run again"},
      {"a word of this abort, and it answers", Aborting, VouchedInAbort, Phase::kAborting, "swap-writer",
       "A answers: what ann attested of it does not count any more"},
      {"a word of this abort, and another cluster answers", Aborting,
       [](Case& c) { c.seen.source.cluster_id = "x", VouchedInAbort(c); }, Phase::kAborting, "swap-writer",
       "going on without A"},
      {"a word of this abort, for the target", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.migration.attestation->cluster = "B"; }, Phase::kAborting,
       "none", "A to run again"},
      {"a word of this abort, and the target would refuse it", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.seen.target_invalid = "no CRD"; }, Phase::kAborting, "none",
       "would refuse the workload: no CRD", true},
      {"a word of this abort, with what the stop captured", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.migration.attestation->state_ref = "s3://x/m-1-2/sp"; },
       Phase::kAborting, "none", "may have run on from", true},
      {"the same, and it is meant", Aborting,
       [](Case& c) {
         SilentSource(c), VouchedInAbort(c);
         c.migration.attestation->state_ref = "s3://x/m-1-2/sp", c.migration.attestation->rewind = true;
       },
       Phase::kAborting, "swap-writer", "going on without A"},
      {"a word of this abort, with where it began", Aborting,
       [](Case& c) { SilentSource(c), VouchedInAbort(c), c.migration.attestation->state_ref = "old"; },
       Phase::kAborting, "none", "itself began from", true},
      {"another object", Aborting, [](Case& c) { c.seen.source.uid = "a2"; }, Phase::kAborting, "none",
       "it would start empty", true},
      {"it left no state", Aborting, [](Case& c) { KeptStopped(c), LeftNoState(c); }, Phase::kAborting, "none",
       "a state to go on from in A: nothing was captured; find and `baton attest move --cluster A`", true},
      {"the same, of whoever took our override away", Aborting,
       [](Case& c) { c.seen.override_state.reset(), LeftNoState(c); }, Phase::kAborting, "put-override",
       "keeping it stopped in A"},
      {"the same, and a person names one", Aborting, [](Case& c) { KeptStopped(c), LeftNoState(c), VouchedInAbort(c); },
       Phase::kAborting, "swap-writer", "A goes on from ref, as ann said"},
      {"the same, though the abort was asked for", Aborting,
       [](Case& c) { KeptStopped(c), LeftNoState(c), VouchedInAbort(c), AskAbort(c); }, Phase::kAborting, "swap-writer",
       "A goes on from ref"},
      {"the same, in a word of before the abort", Aborting, [](Case& c) { KeptStopped(c), LeftNoState(c), Vouched(c); },
       Phase::kAborting, "none", "a state to go on from", true},
      {"the same, and it is the one that it began from", Aborting,
       [](Case& c) {
         KeptStopped(c), LeftNoState(c), VouchedInAbort(c);
         c.migration.attestation->state_ref = "old";
       },
       Phase::kAborting, "none", "old is where it began", true},
      {"a state was named: it runs on", Aborting,
       [](Case& c) { KeptStopped(c), LeftNoState(c), c.writer.stop->capture = "ref"; }, Phase::kAborting,
       "put-override", "letting A run on"},
      {"another object left none", Aborting, [](Case& c) { KeptStopped(c), LeftNoState(c), c.seen.source.uid = "a2"; },
       Phase::kAborting, "none", "it would start empty", true},
      {"it is being cancelled", Aborting, [](Case& c) { KeptStopped(c), c.seen.source.ending = true; },
       Phase::kAborting, "none", "the workload in A to have ended"},
      {"the same, late", Aborting, [](Case& c) { KeptStopped(c), c.seen.source.ending = true, Late(c); },
       Phase::kAborting, "none", "look at cluster A", true},
      {"the same, and a person names what it goes on from", Aborting,
       [](Case& c) { KeptStopped(c), c.seen.source.ending = true, VouchedInAbort(c); }, Phase::kAborting, "swap-writer",
       "A goes on from ref, as ann said"},
      {"it runs, with an order to cancel it", Aborting, [](Case& c) { CancelInHand(c), KeptStopped(c, true); },
       Phase::kAborting, "none", "the workload in A to have ended, or to run on"},
      {"the same, and the order is not carried out", Aborting,
       [](Case& c) { CancelInHand(c), KeptStopped(c, true), c.seen.in_phase = minutes(2); }, Phase::kAborting,
       "put-override", "letting A run on"},
      {"on a hub of others such an order is taken back first", Aborting,
       [](Case& c) { CancelInHand(c), KeptStopped(c, true), Foreign(c); }, Phase::kAborting, "put-override",
       "keeping it stopped in A"},
      {"the same, until it shows there", Aborting,
       [](Case& c) { CancelInHand(c), TakenBack(c), c.seen.source.in_hand = false; }, Phase::kAborting, "none",
       "the workload in A to have ended, or to run on"},
      {"the same, and it shows", Aborting,
       [](Case& c) { CancelInHand(c), TakenBack(c), c.seen.source.in_hand = false, c.seen.source.seq = 3; },
       Phase::kAborting, "put-override", "letting A run on"},
      {"takes the target out", Aborting, [](Case& c) { OursNow(c, {"A", "B"}); }, Phase::kAborting, "put-binding",
       "out of B"},
      {"waits until it runs", Aborting, Same, Phase::kAborting, "none", "A to run again"},
      {"the same, late", Aborting, Late, Phase::kAborting, "none", "look at cluster A", true},
      {"target still there", AbortedWell, [](Case& c) { c.seen.target.found = true; }, Phase::kAborting, "none",
       "gone from B"},
      {"the same, late", AbortedWell, [](Case& c) { c.seen.target.found = true, Late(c); }, Phase::kAborting, "none",
       "delete the object there", true},
      {"target gone, and to be made anew by its Work", AbortedWell, [](Case& c) { c.seen.still_ordered = true; },
       Phase::kAborting, "none", "gone from B"},
      {"target lost", AbortedWell, LostTarget, Phase::kAborting, "put-binding", "giving the binding back"},
      {"unlocks", AbortedWell, Same, Phase::kAborting, "put-binding", "giving the binding back"},
      {"aborted", AbortedWell, [](Case& c) { Free(c, "A"); }, Phase::kAborting, "swap-writer", "was aborted"},
      {"stops the target", Withdrawing, [](Case& c) { c.seen.override_state.reset(); }, Phase::kWithdrawing,
       "put-override", "override"},
      {"waits for the proof", Withdrawing, Same, Phase::kWithdrawing, "none", "the stop proof from B: it runs"},
      {"the same, late", Withdrawing, Late, Phase::kWithdrawing, "none", "stop the workload in B", true},
      {"deleted before its stop was seen", Withdrawing,
       [](Case& c) { c.seen.target = {.answered = true, .cluster_id = "idB"}; }, Phase::kWithdrawing, "none",
       "the state that the workload in B left: it was deleted there", true},
      {"the same, and made anew", Withdrawing, [](Case& c) { c.seen.target.uid = "b2", c.seen.target.runs = false; },
       Phase::kWithdrawing, "none", "if it never ran, that is m-1-2/sp", true},
      {"appeared late", Withdrawing, [](Case& c) { c.writer.stop->uid.clear(); }, Phase::kWithdrawing, "swap-writer",
       "appeared in B"},
      {"stopped", TargetStopped, Same, Phase::kWithdrawing, "swap-writer", "its state is captured"},
      {"stopped, none written", TargetStopped,
       [](Case& c) { c.seen.target.progress = Sighting::Progress::kNone, c.seen.target.capture.clear(); },
       Phase::kWithdrawing, "swap-writer", "had not progressed"},
      {"stopped without a capture, none written as it is said, and that was in doubt", TargetStopped,
       [](Case& c) {
         c.seen.target.progress = Sighting::Progress::kNone, c.seen.target.capture.clear();
         c.writer.stop->any_way = c.writer.stop->unsure = true;
         OursNow(c, {"A", "B"});
       },
       Phase::kWithdrawing, "none", "may have written and its state was not captured", true},
      {"to be stopped without a capture, and in doubt", Withdrawing,
       [](Case& c) { c.writer.stop->any_way = c.seen.target.unsure = true, OursNow(c, {"A", "B"}); },
       Phase::kWithdrawing, "swap-writer", "what B leaves may be older"},
      {"the same, on record", Withdrawing,
       [](Case& c) {
         c.writer.stop->any_way = c.seen.target.unsure = c.writer.stop->unsure = true;
         OursNow(c, {"A", "B"});
       },
       Phase::kWithdrawing, "none", "the stop proof from B"},
      {"in doubt, of another object", Withdrawing,
       [](Case& c) {
         c.writer.stop->any_way = c.seen.target.unsure = c.seen.target.remains = true;
         c.seen.target.uid = "b2";
         OursNow(c, {"A", "B"});
       },
       Phase::kWithdrawing, "none", "the stop proof from B"},
      {"stopped, written, not captured", TargetStopped, [](Case& c) { c.seen.target.capture.clear(); },
       Phase::kWithdrawing, "none", "baton attest", true},
      {"stopped, unknown, not captured", TargetStopped,
       [](Case& c) { c.seen.target.progress = Sighting::Progress::kUnknown, c.seen.target.capture.clear(); },
       Phase::kWithdrawing, "none", "baton attest", true},
      {"stopped, its state is named", TargetStopped,
       [](Case& c) { c.seen.target.capture.clear(), VouchedForTarget(c); }, Phase::kWithdrawing, "swap-writer",
       "its state is the one that ann named"},
      {"lost before it stopped", Withdrawing, LostTarget, Phase::kWithdrawing, "swap-writer",
       "ann attested that B is stopped"},
      {"lost before it stopped, and the source ran in between", Withdrawing,
       [](Case& c) { LostTarget(c), SourceRanAgain(c); }, Phase::kWithdrawing, "none",
       "left m-1-2/other; ann named ref", true},
      {"the same, and that state is named", Withdrawing,
       [](Case& c) { LostTarget(c), SourceRanAgain(c), c.migration.attestation->state_ref = "m-1-2/other"; },
       Phase::kWithdrawing, "swap-writer", "ann attested that B is stopped"},
      {"the same, and another one is meant", Withdrawing,
       [](Case& c) { LostTarget(c), SourceRanAgain(c), c.migration.attestation->rewind = true; }, Phase::kWithdrawing,
       "swap-writer", "ann attested that B is stopped"},
      {"stopped, its state is named, and the source ran in between", TargetStopped,
       [](Case& c) { c.seen.target.capture.clear(), VouchedForTarget(c), SourceRanAgain(c); }, Phase::kWithdrawing,
       "none", "left m-1-2/other; ann named ref", true},
      {"gone, its state is named, and the source ran in between", Withdrawing,
       [](Case& c) { c.seen.target.found = false, VouchedForTarget(c), SourceRanAgain(c); }, Phase::kWithdrawing,
       "none", "left m-1-2/other; ann named ref", true},
      {"lost, and what it captured itself is not the source's", Withdrawing,
       [](Case& c) { LostTarget(c), c.writer.stop->capture = "m-1-4/sp"; }, Phase::kWithdrawing, "swap-writer",
       "ann attested that B is stopped"},
      {"lost after it stopped", TargetRemoved, LostTarget, Phase::kWithdrawing, "swap-writer", "granting A again"},
      {"takes it out", TargetRemoved, [](Case& c) { OursNow(c, {"A", "B"}); }, Phase::kWithdrawing, "put-binding",
       "locking"},
      {"not gone", TargetRemoved, [](Case& c) { c.seen.target.found = true; }, Phase::kWithdrawing, "none",
       "gone from B"},
      {"pods left, late", TargetRemoved, [](Case& c) { c.seen.target.remains = true, Late(c); }, Phase::kWithdrawing,
       "none", "delete it there", true},
      {"started late: it has pods", TargetRemoved,
       [](Case& c) {
         c.seen.target.found = c.seen.target.pods_run = true, c.seen.target.uid = c.writer.stop->uid;
         c.writer.stop->capture.clear();
       },
       Phase::kWithdrawing, "swap-writer", "started after all"},
      {"started late: it runs", TargetRemoved,
       [](Case& c) { c.seen.target.found = c.seen.target.runs = true, c.seen.target.uid = c.writer.stop->uid; },
       Phase::kWithdrawing, "swap-writer", "started after all"},
      {"started late: and has stopped with a newer state", TargetRemoved,
       [](Case& c) {
         c.seen.target.found = c.seen.target.stop_proven = true, c.seen.target.uid = c.writer.stop->uid;
         c.seen.target.progress = Sighting::Progress::kSome, c.seen.target.capture = "m-1-5/newer";
       },
       Phase::kWithdrawing, "swap-writer", "had started after all; its state is captured"},
      {"started late, and gone unseen", TargetRemoved,
       [](Case& c) { c.seen.target.started_unseen = true, c.writer.stop->capture.clear(); }, Phase::kWithdrawing,
       "swap-writer", "started after all, while nobody looked"},
      {"started late, and gone unseen, with a state that is known", TargetRemoved,
       [](Case& c) { c.seen.target.started_unseen = true; }, Phase::kWithdrawing, "swap-writer", "granting A again"},
      {"started late, and gone unseen, vouched for", TargetRemoved,
       [](Case& c) { c.seen.target.started_unseen = true, c.writer.stop->capture.clear(), VouchedForTarget(c); },
       Phase::kWithdrawing, "swap-writer", "started after all, while nobody looked"},
      {"gone before it was seen stopped", Withdrawing, [](Case& c) { c.seen.target.found = false, Late(c); },
       Phase::kWithdrawing, "none", "baton attest", true},
      {"gone before it was seen stopped, vouched for", Withdrawing,
       [](Case& c) { c.seen.target.found = false, VouchedForTarget(c); }, Phase::kWithdrawing, "swap-writer",
       "its state is the one that ann named"},
      {"gone, and to be made anew by its Work", TargetRemoved, [](Case& c) { c.seen.still_ordered = true; },
       Phase::kWithdrawing, "none", "gone from B"},
      {"gone from another cluster", TargetRemoved, [](Case& c) { c.seen.target.cluster_id = "x"; }, Phase::kWithdrawing,
       "none", "gone from B"},
      {"grants back", TargetRemoved, Same, Phase::kWithdrawing, "swap-writer", "granting A again"},
      {"prepares the source", Resuming,
       [](Case& c) { c.seen.override_state.reset(), c.seen.source.unprepared = "no claim yet"; }, Phase::kWithdrawing,
       "none", "A to be ready for it: no claim yet"},
      {"prepares the source, which is silent", Resuming,
       [](Case& c) { c.seen.override_state.reset(), c.seen.prepares = true, SilentSource(c); }, Phase::kWithdrawing,
       "none", "cluster A to answer"},
      {"resumes", Resuming, [](Case& c) { c.seen.override_state.reset(); }, Phase::kWithdrawing, "put-override",
       "starting A again"},
      {"waits until it runs", Resuming, Same, Phase::kWithdrawing, "none", "A to run again"},
      {"the same, late", Resuming, Late, Phase::kWithdrawing, "none", "look at cluster A", true},
      {"unlocks", Resumed, Same, Phase::kWithdrawing, "put-binding", "giving the binding back"},
      {"rolled back", Resumed, [](Case& c) { Free(c, "A"); }, Phase::kWithdrawing, "swap-writer", "rolled back"},
  };
  return kRows;
}

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Case c = row.place();
    row.change(c);
    const Decision decision = Next(c.writer, c.migration, c.seen);
    SCOPED_TRACE(std::string(row.name) + ": " + decision.message);
    EXPECT_EQ(PhaseName(decision.phase), PhaseName(row.phase));
    EXPECT_EQ(EffectName(decision.effect), row.effect);
    EXPECT_NE(decision.message.find(row.says), std::string::npos) << "should say " << row.says;
    EXPECT_EQ(decision.blocked, row.blocked);
    // A wait names what it waits for, and has a deadline, or a person or a window that ends it.
    if (row.effect != "none" || IsEnd(decision.phase)) continue;
    EXPECT_NE(decision.waiting_for, "");
    const bool by_user = c.migration.paused || !c.migration.approved || !c.migration.cleanup_approved ||
                         !c.migration.waiting_for_window.empty();
    EXPECT_EQ(decision.deadline.has_value(), !row.blocked && !by_user);
  }
}

TEST(NextTest, BeforeTheStop) { Check(Before()); }
TEST(NextTest, WithASourceThatIsLost) { Check(Lost()); }
TEST(NextTest, OnTheWayForward) { Check(Forward()); }
TEST(NextTest, OnTheWayBack) { Check(Back()); }

TEST(NextTest, TellsAnEndOnlyWhenTheOverrideIsGone) {
  for (const Phase end : {Phase::kSucceeded, Phase::kAborted, Phase::kRolledBack, Phase::kCancelled}) {
    Case c = EndOnRecord(end);
    c.seen.override_exists = true;
    EXPECT_EQ(EffectName(Next(c.writer, c.migration, c.seen).effect), "remove-override");
    c.seen.override_exists = false;
    EXPECT_EQ(Next(c.writer, c.migration, c.seen).phase, end);
  }
}

TEST(NextTest, AGrantRaisesTheEpochAndKeepsTheEvidence) {
  const Case c = Stopped();
  const Decision decision = Next(c.writer, c.migration, c.seen);
  const Writer& next = std::get<SwapWriter>(decision.effect).writer;
  EXPECT_EQ(next.seq, 3);
  EXPECT_EQ(next.holder, (Holder{"B", "idB", "b1"}));
  EXPECT_EQ(next.receipt->capture, "m-1-2/sp");
  EXPECT_EQ(next.receipt->how, "StopProof");
  EXPECT_EQ(next.receipt->from_uid, "a1");
  EXPECT_EQ(next.stop->seq, 2) << "the stop stays: the source is held by it";
}

TEST(NextTest, AReceiptTellsThatTheStateWasNotMadeByTheStop) {
  Case c = Stopped();
  FellBack(c);
  EXPECT_TRUE(WantedOverride(c.writer, 7)->source.any_way);
  for (const auto& [capture, how] :
       {std::pair("s3://c/chk-19", "LastCheckpoint"), std::pair("m-1-2/sp", "StopProof")}) {
    c.seen.source.capture = capture;
    const Decision decision = Next(c.writer, c.migration, c.seen);
    EXPECT_EQ(std::get<SwapWriter>(decision.effect).writer.receipt->how, how);
  }
}

TEST(NextTest, TheSourceGoesOnFromWhatTheTargetWrote) {
  const Case c = Resuming();
  const OverrideState wanted = *WantedOverride(c.writer, 7);
  EXPECT_EQ(wanted.source.mode, Mode::kRunning);
  EXPECT_EQ(wanted.source.ref, "m-1-4/sp");
  EXPECT_EQ(wanted.target.mode, Mode::kHeld);
}

TEST(NextTest, GoingBackStopsTheTargetThatWasToldToRun) {
  const auto goes_back_from = [](void (*change)(Case& c)) {
    Case c = Verifying();
    AskAbort(c);
    change(c);
    return std::get<SwapWriter>(Next(c.writer, c.migration, c.seen).effect).writer.stop->uid;
  };
  EXPECT_EQ(goes_back_from([](Case&) {}), "b1");
  EXPECT_EQ(goes_back_from([](Case& c) { c.seen.target.uid = "b2"; }), "b1") << "another one in its place never ran";
  EXPECT_EQ(goes_back_from([](Case& c) { c.seen.target = {.answered = true, .cluster_id = "idB"}; }), "b1");
  EXPECT_EQ(goes_back_from([](Case& c) {
              c.seen.override_state->target.mode = Mode::kHeld;
              c.seen.target.uid = "b2";
            }),
            "b2")
      << "nothing was told to run yet";
  EXPECT_EQ(goes_back_from([](Case& c) {
              c.seen.override_state.reset();
              c.seen.target.uid = "b2";
            }),
            "b1")
      << "whoever took the override away";
}

TEST(NextTest, AWordForASilentSourceDoesNotCountWhileItAnswersInPart) {
  Case c = Quiescing();
  SilentSource(c);
  Vouched(c);
  c.seen.source.answers_partly = true;
  const Decision partly = Next(c.writer, c.migration, c.seen);
  EXPECT_FALSE(std::holds_alternative<SwapWriter>(partly.effect)) << partly.message;
  c.seen.source.answers_partly = false;
  const Decision silent = Next(c.writer, c.migration, c.seen);
  EXPECT_TRUE(std::holds_alternative<SwapWriter>(silent.effect)) << silent.message;
}

TEST(NextTest, AnAbortWhoseSourceIsLostGoesForwardAsAnotherAttempt) {
  Case c = Aborting();
  SilentSource(c);
  VouchedInAbort(c);
  const Decision turn = Next(c.writer, c.migration, c.seen);
  const Writer next = std::get<SwapWriter>(turn.effect).writer;
  EXPECT_EQ(turn.why, "ann attested that A is stopped: burnt down");
  EXPECT_EQ(next.claim->attempt, 2);
  EXPECT_EQ(next.claim->intent, Intent::kForward);
  EXPECT_EQ(next.holder, c.writer.holder) << "nothing is granted yet";
  EXPECT_GT(next.stop->seq, c.writer.seq) << "it outranks the order to run on";
  EXPECT_EQ(next.stop->uid, "a1");
  EXPECT_EQ(next.stop->prior_path, "old");
  EXPECT_EQ(next.stop->state_dir, "m-2-4");
  EXPECT_EQ(WantedOverride(next, 7)->source.mode, Mode::kStopping);
  // The override and the binding are put right before anything is granted, and what is being removed is granted
  // nothing.
  c.writer = next;
  c.migration.phase = Phase::kQuiescing;
  EXPECT_EQ(EffectName(Next(c.writer, c.migration, c.seen).effect), "put-override");
  OursNow(c, {"A", "B"});
  c.seen.binding.attempt = 1;
  EXPECT_EQ(EffectName(Next(c.writer, c.migration, c.seen).effect), "put-binding") << "what the abort has under way";
  OursNow(c, {"A", "B"});
  c.seen.target.deleting = true;
  const Writer granted = std::get<SwapWriter>(Next(c.writer, c.migration, c.seen).effect).writer;
  EXPECT_EQ(granted.holder, (Holder{"B", "idB", ""}));
  EXPECT_EQ(granted.receipt->how, "Attested");
  // A state of the stop before is still none when the word is changed meanwhile.
  c.migration.attestation->state_ref = "s3://x/m-1-2/sp";
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked);
}

TEST(NextTest, WhatASourceDidAfterItsCaptureIsFoundBeforeItIsToldToGoOn) {
  Case c = Granted();
  LostTarget(c);
  c.seen.source.stop_proven = false;  // somebody let it run
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked);
  c.seen.source.stop_proven = true;  // and the override has stopped it again
  c.seen.source.capture = "m-1-2/other";
  const Writer back = std::get<SwapWriter>(Next(c.writer, c.migration, c.seen).effect).writer;
  EXPECT_EQ(back.claim->intent, Intent::kWithdraw);
  EXPECT_EQ(back.stop->capture, "m-1-2/other");
  c.writer = back;
  c.migration.phase = Phase::kWithdrawing;
  OursNow(c, {"A", "B"});
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked) << "the word is of before, or did not know of it";
  c.migration.attestation->state_ref = "m-1-2/other";
  const Writer granted = std::get<SwapWriter>(Next(c.writer, c.migration, c.seen).effect).writer;
  EXPECT_EQ(granted.holder.cluster, "A");
  EXPECT_EQ(granted.receipt->capture, "m-1-2/other");
}

TEST(NextTest, ACancelOnAPersonsWordSaysWhose) {
  Case c = Verifying();
  c.seen.template_found = false;
  c.seen.source = {.answered = true, .cluster_id = "idA"};
  LostTarget(c);
  Ordered(c);
  const Decision decision = Next(c.writer, c.migration, c.seen);
  EXPECT_EQ(std::get<SwapWriter>(decision.effect).writer.ended, Phase::kCancelled);
  EXPECT_EQ(decision.why, "ann attested that B is stopped: burnt down");
  c.seen.target = {.answered = true, .cluster_id = "idB"};
  EXPECT_EQ(Next(c.writer, c.migration, c.seen).why, "") << "it was seen gone: nobody's word was needed";
}

TEST(NextTest, ACancelWithBothClustersLostNeedsAWordForEach) {
  Case c = Verifying();
  c.seen.template_found = false;
  Ordered(c), SilentSource(c), LostTarget(c);
  const Decision kept = Next(c.writer, c.migration, c.seen);
  c.writer = std::get<SwapWriter>(kept.effect).writer;
  EXPECT_EQ(c.writer.lost->cluster, "B");
  EXPECT_TRUE(c.writer.claim) << "one word is not enough";
  Late(c);
  const Decision asks = Next(c.writer, c.migration, c.seen);
  EXPECT_TRUE(asks.blocked);
  EXPECT_NE(asks.message.find("--cluster A`"), std::string::npos) << asks.message;
  EXPECT_EQ(asks.message.find("--cluster B`"), std::string::npos) << asks.message;
  c.migration.attestation = Attestation{"A", "bob", "flooded", "ref"};
  c.seen.removal_ordered = false;
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked) << "and the first word stays on record";
  Ordered(c);
  const Decision ends = Next(c.writer, c.migration, c.seen);
  EXPECT_EQ(std::get<SwapWriter>(ends.effect).writer.ended, Phase::kCancelled);
  EXPECT_EQ(ends.why, "bob attested that A is stopped: flooded; ann attested that B is stopped: burnt down");
  // What is on record counts no more than a word that is given: not while the cluster answers.
  c.seen.target = {.answered = true, .cluster_id = "idB", .found = true, .uid = "b1"};
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked);
  c.seen.target = {.answers_partly = true};
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked);
}

TEST(NextTest, AWordOnRecordIsOfOneMoveAndOfADeletedTemplate) {
  Case c = Quiescing();
  c.writer.lost = LostCluster{.cluster = "A", .word = "ann attested that A is stopped"};
  SilentSource(c);
  EXPECT_FALSE(std::holds_alternative<SwapWriter>(Next(c.writer, c.migration, c.seen).effect)) << "nothing is granted";
  c = Pending();
  c.writer.lost = LostCluster{.cluster = "A", .word = "ann attested that A is stopped"};
  EXPECT_FALSE(std::get<SwapWriter>(Next(c.writer, c.migration, c.seen).effect).writer.lost);
}

TEST(NextTest, AClaimWithoutWhatItRestsOnAsksAPerson) {
  Case c = Quiescing();
  c.writer.holder = {"B", "idB", "b1"};  // as a person wrote it: no receipt
  EXPECT_FALSE(IsWhole(c.writer));
  EXPECT_TRUE(Next(c.writer, c.migration, c.seen).blocked);
  c = Quiescing();
  c.writer.claim->intent = Intent::kWithdraw;
  EXPECT_FALSE(IsWhole(c.writer));
  EXPECT_TRUE(IsWhole(Quiescing().writer));
}

TEST(NextTest, WithoutAProfileNothingIsDone) {
  Case c = Quiescing();
  c.seen.kind_known = false;
  const Decision decision = Next(c.writer, c.migration, c.seen);
  EXPECT_TRUE(decision.blocked);
  EXPECT_NE(decision.waiting_for.find("MigrationProfile"), std::string::npos) << decision.waiting_for;
}

}  // namespace
}  // namespace baton::rollout
