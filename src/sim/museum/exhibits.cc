// The list. A scene in it is where the search found the mutant first; the check tries its whole family.
#include "sim/museum/exhibits.h"

namespace baton::sim {
namespace {

constexpr std::string_view kOutlives =
    "NOT FOUND here: what a stop captures outlives its object with every profile that there is, so nothing is lost; "
    "the "
    "exhaustive model of the protocol (`rollout_model_test`) finds its loss on a foreign hub";
constexpr std::string_view kWoken =
    "NOT FOUND here: whatever changes on hub or members afterwards wakes the engine again, and after 30 s it looks by "
    "itself: it tells it then";
constexpr std::string_view kUnseen =
    "NOT FOUND here: where a target starts late after it was taken for never started, its records are written twice "
    "with "
    "this guard in, too (docs/SIMULATOR.md, known and not fixed); `rollout_model_test` finds its loss";
constexpr std::string_view kBehind = "the loss of either alone goes well there";

constexpr Exhibit kExhibits[] = {
    // ---- bugs of others ----
    {"flink PR#1154 (FLINK-40092)", "the source is deleted, the target blips, an abort leaves nothing running",
     "handoff.no_return_after_verified", "meddle Abort 60", ""},
    {"flink PR#1161", "the end is done but not told when the leader dies, and is never told",
     "handoff.end_is_on_record", "crash forward after 60", ""},
    {"flink PR#1159 (FLINK-40119)",
     "the time since when the target was ready survives a break: the source goes at once",
     "handoff.start_proof_without_a_break", "story breaks-while-it-proves", ""},
    {"flink PR#1071", "what an aborted try left behind blocks the next one", "handoff.stop_is_of_one_attempt",
     "story aborted-and-again", ""},
    {"flink PR#1072", "done is written before it is done: after a crash the wish is forgotten",
     "handoff.a_wish_is_consumed_last", "wish after 2", ""},
    {"cnpg#11074", "a token is written and then wiped: the next writer starts from an older state",
     "handoff.capture_is_kept", "story running-target-aborted", ""},
    {"cnpg#6317", "a switchover waits for ever for a condition that never comes", "handoff.deadline_of_the_stop",
     "story savepoint-never-ends", ""},
    {"cnpg#9273", "a promotion without the token: two writers", "rollout.gate_holds", "meddle EmptyOverride 30", ""},
    {"karmada#7455", "an answer that failed is taken for an empty one", "handoff.only_404_is_absence",
     "file guards/a_look_that_fails", ""},
    {"karmada 1.3 eviction timeout", "time alone moves the workload on", "handoff.no_grant_by_the_clock",
     "story savepoint-never-ends", ""},
    {"karmada#6510, #5397", "suspended, and yet events propagate it", "federation.suspension_is_total",
     "story suspended-policy", ""},
    {"karmada#6510, #5397", "a paused move goes on", "handoff.pause_is_total", "story paused", ""},
    {"karmada#5782", "an eviction task is never removed", "handoff.binding_is_given_back", "story moves", ""},
    {"karmada#6518", "a herd: many decisions on one old look at the room", "federation.assumed_load_counts",
     "story herd", ""},
    {"kubevirt#15299", "a lost race of a status update, and the object never ends", "handoff.status_is_told_again", "",
     kWoken},
    {"kubevirt#18259", "what is waited for comes without a word, and nobody looks again", "handoff.looks_again",
     "story moves", ""},
    {"kubevirt#18259", "the target never says that it is there, and everybody waits for ever",
     "handoff.deadline_of_the_start", "story start-never-ends", ""},
    {"kubevirt PR#7599", "no abort before the target runs", "handoff.abort_in_every_phase", "story paused", ""},
    {"cluster-api#7407", "what cannot be moved is found out when all is stopped already", "handoff.preflight",
     "story no-savepoint-dir", ""},
    {"cluster-api#12742", "a move takes back a pause that the user had set", "handoff.prior_intent_is_restored",
     "story users-pause", ""},
    {"ramen PR#2401", "the hold is dropped while others still work on it", "rollout.override_outlives_the_workload",
     "file guards/deleted_while_it_stops", ""},
    {"ramen PR#1179", "a hub from an old backup forgets the direction of the last move", "rollout.same_member_object",
     "story hub-restored", ""},
    // ---- attacks on the first design ----
    {"attack 1", "an override is pruned, or an old controller writes late: the source runs again",
     "federation.epoch_at_member", "file guards/late_write_of_an_older_epoch", ""},
    {"attack 1", "an override is pruned or emptied, and the source that was stopped is rendered as it was",
     "rollout.gate_stops", "meddle EmptyOverride 44", ""},
    {"attack 1", "an override is pruned or emptied, and the target starts without the state that it was granted",
     "rollout.gate_starts", "meddle EmptyOverride 29", ""},
    {"attack 2", "an abort with upgradeMode stateless starts empty", "handoff.abort_in_two_steps",
     "story stateless-aborted-1000", ""},
    {"attack 3", "the target's operator acts on an older spec after the source was let go", "rollout.target_seen_gone",
     "", kUnseen},
    {"attack 4", "an old leader acts on old evidence beside the new one", "rollout.fence",
     "file guards/old_leader_missed_a_break", ""},
    {"attack 4", "an old leader writes what a new one has written since", "rollout.fence_of_what_it_writes",
     "file guards/old_leader_with_half_a_look", kBehind, "rollout.gate_stops"},
    {"attack 4", "a proof is used that held some time ago", "rollout.proof_read_again",
     "file guards/source_comes_back_to_life", ""},
    {"attack 5", "another scheduler takes the running workload out of its cluster", "rollout.writer_is_not_removed",
     "story binding-overwritten", ""},
    {"attack 6", "a template with its own nonce restarts the target from an old state when all is cleaned up",
     "handoff.preflight", "story template-with-a-nonce", ""},
    {"attack 7", "the proof is of a generation that is not the newest", "rollout.spec_is_held",
     "file guards/resumed_while_it_stops", ""},
    {"attack 8", "a foreign hub creates the target from an older list", "rollout.target_is_absent", "",
     "only on a foreign hub, which this world does not have: `rollout_model_test` finds it"},
    {"attack 9", "a job that fails is taken for stopped, with an older checkpoint as its state",
     "rollout.capture_is_new", "story job-fails-while-it-stops", ""},
    {"attack 10", "a hub without its record starts the workload anew", "rollout.unknown_epoch", "story writer-lost",
     ""},
    {"attack 10", "a hub without its records places the workload beside the one that runs",
     "rollout.unknown_epoch_elsewhere", "story hub-lost", ""},
    {"attack 11", "a target is taken back by what it had done when last looked at",
     "handoff.progress_is_judged_after_the_stop", "story running-target-aborted", ""},
    {"attack 12", "attesting without naming the state", "", "",
     "the API refuses it (spec.attestation.stateRef is required): api tests, not a guard in the engine"},
    {"attack 13", "a cluster was replaced under its name, and its 'not found' counts", "rollout.same_cluster",
     "file moves/target_is_swapped", ""},
    {"attack 14", "application failover and taint managers of a foreign hub remove a starting target", "", "",
     "the pipe of our own hub has neither of them; on a foreign hub the eviction tasks answer it, tried by hand only"},
    {"attack 15", "the member's object is made anew and starts empty", "rollout.same_member_object",
     "story deleted-by-hand", ""},
    {"attack 16", "the template is edited in the middle of a move", "handoff.spec_is_pinned", "meddle EditTemplate 31",
     ""},
    {"attack 17", "the stop that is proven is not the one that was ordered", "rollout.epoch_of_this_stop",
     "file guards/scaled_down_by_hand", ""},
    {"attack 18", "a JobManager is revived after the stop", "rollout.stop_proof", "story moves", kBehind,
     "rollout.capture_is_new"},
    {"attack 19", "a job that does not run cannot be stopped with its state, and is waited for for ever", "", "",
     "stopping it from its last checkpoint by opt-in (captureFallback) is not built; the deadline ends the move"},
    {"attack 20", "the template is made anew under its name in the middle of a move", "handoff.same_template",
     "story template-made-anew", ""},
    {"attack 20", "the source is made anew, and an abort starts it empty", "rollout.resumes_the_stopped_object",
     "story source-made-anew", kBehind, "rollout.same_member_object"},
    {"attack 21", "the migration is deleted in the middle of its work", "handoff.deleting_is_aborting",
     "meddle DeleteMigration 40", ""},
    {"attack 21", "preserveResourcesOnDeletion: the source's object never goes", "handoff.preflight", "story preserved",
     ""},
    {"attack 22", "an annotation that still names a cluster moves the workload again and again",
     "handoff.a_wish_counts_once", "story wish-counts-once", ""},
    {"attack 23", "a member that is restored after a move runs its old object", "", "",
     "cannot be prevented by a control plane; an object that is not the one on record is held and told (StrayWriter)"},
    // ---- further guards ----
    {"ours", "the object that stopped is not the one that was told to", "rollout.same_object",
     "file guards/stopped_source_made_anew", kBehind, "rollout.capture_is_new"},
    {"ours", "a proof of an object that is being deleted", "rollout.not_deleting", "", kOutlives},
    {"ours", "the source ran again after its state was captured", "rollout.capture_is_the_granted_one",
     "file guards/source_ran_in_between", ""},
    {"ours", "a target that was made anew starts from the capture once more", "rollout.start_is_for_one_object",
     "file guards/start_is_for_one_object", ""},
    {"ours", "the source goes before the target has proven itself", "rollout.start_proof", "story start-never-ends",
     ""},
    {"ours", "success is told while the target does not run", "rollout.target_runs_at_the_end",
     "file guards/target_fails_at_the_end", ""},
    {"ours", "an abort ends before the source runs again", "rollout.source_runs_again", "story slow-way-back", ""},
    {"ours", "the object is gone and its pods are not", "rollout.nothing_remains",
     "file guards/deleted_and_applied_again", ""},
    {"ours", "an older generation of the template overwrites a newer one", "federation.hub_generation",
     "file guards/older_template_overwrites", ""},
    {"ours", "what was admitted for one object is written to its successor", "federation.same_object_at_member",
     "file guards/written_to_its_successor", ""},
};

}  // namespace

std::span<const Exhibit> Exhibits() { return kExhibits; }

}  // namespace baton::sim
