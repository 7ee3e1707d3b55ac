// What a handoff is decided on: the durable record (Writer), the wish (Migration), and what was seen just now
// (Observation). Plain values without I/O; rollout/next.h decides on them, rollout/records.h reads and writes them as
// API objects.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rollout/restarts.h"

namespace baton::rollout {

enum class Phase : uint8_t {
  kPending,
  kPlanned,
  kStaged,
  kQuiescing,
  kGranted,
  kVerifying,
  kCleaning,
  kSucceeded,  // end
  kAborting,
  kAborted,  // end
  kWithdrawing,
  kRolledBack,  // end
  kRejected,    // end
  kCancelled,   // end: the template is gone
};
std::string_view PhaseName(Phase phase);  // "Quiescing"
std::optional<Phase> PhaseFromName(std::string_view name);
bool IsEnd(Phase phase);

enum class Intent : uint8_t { kForward, kAbort, kWithdraw };
std::string_view IntentName(Intent intent);

// ---- the durable record
// ----------------------------------------------------------------------------------------------

// Who may write.
struct Holder {
  std::string cluster;
  std::string cluster_id;  // kube-system's UID: a cluster that was replaced under its name is another one
  std::string member_uid;  // of the object there; "": not seen yet
  friend bool operator==(const Holder&, const Holder&) = default;
};

// The one migration that may change the Writer now.
struct Claim {
  std::string migration;  // its name
  std::string migration_uid;
  int64_t attempt = 1;  // raised by whatever voids evidence
  Intent intent = Intent::kForward;
  int64_t fence = 0;  // of the leader that acts; grows with every leader
  Holder source;
  Holder target;
  bool verified = false;  // the target has proven itself: the point of no return
  std::string why;        // of a move that goes back
  friend bool operator==(const Claim&, const Claim&) = default;
};

// A stop that was ordered, written down before it is carried out.
struct Stop {
  int64_t seq = 0;
  std::string cluster;
  std::string uid;         // of the object that is stopped
  std::string prior_path;  // what it called its state before: never a capture
  std::string state_dir;   // of this stop alone: only what lies in it is a capture
  // Withdrawing: what the stop gave, kept because the object is deleted next.
  bool proven = false;
  std::string capture;  // "": the target had made no progress. Aborting: what a person named, when the source left none
  // It could not be stopped with a capture: it is stopped without, and judged by what it left. A source only when its
  // migration allows it (last_checkpoint): what it left is then its capture.
  bool any_way = false;
  bool unsure = false;  // and was seen as it may leave more than it is said to (Sighting::unsure)
  friend bool operator==(const Stop&, const Stop&) = default;
};

// The evidence on which the writer changed.
struct Receipt {
  int64_t seq = 0;
  std::string migration_uid;
  int64_t attempt = 0;
  std::string from, from_id, from_uid;
  std::string to, to_id;
  std::string capture;
  std::string how;          // "StopProof", "LastCheckpoint", "Attested", "NeverStarted", "OptedIn"
  std::string attested_by;  // a person, when how is Attested
  std::string why;          // and their reason
  std::string at;           // RFC 3339
  std::string previous;     // hash of the receipt before
  std::string hash;
  friend bool operator==(const Receipt&, const Receipt&) = default;
};

// A cluster that a person vouched for, and their word as it is told.
struct LostCluster {
  std::string cluster;
  std::string word;
  friend bool operator==(const LostCluster&, const LostCluster&) = default;
};

struct Writer {
  bool exists = false;
  std::string version;  // resourceVersion: every swap is on this one
  int64_t seq = 0;      // grows with every change of who may run
  Holder holder;
  std::optional<Claim> claim;
  std::optional<Stop> stop;
  std::optional<Receipt> receipt;  // the newest
  // The move that ended last, so that an end is told even when its status could never be written.
  std::string ended_uid;
  Phase ended = Phase::kPending;
  // The move that ended last before it began, how, and why: what was said against it may not be so any more when
  // somebody tells it, and it has ended all the same.
  std::string refused_uid;
  Phase refused = Phase::kRejected;
  std::string refused_why;
  // Of a move whose template was deleted and whose clusters are both lost: an attestation names one of them, and this
  // is the one that it named before. Stays until the next move begins.
  std::optional<LostCluster> lost;
  friend bool operator==(const Writer&, const Writer&) = default;
};

// ---- the wish
// --------------------------------------------------------------------------------------------------------

// A person's word for a cluster that does not answer and will not. As long as it answers, only proofs count.
struct Attestation {
  std::string cluster;  // that has stopped it for good; empty: the source
  std::string by;
  std::string reason;
  std::string state_ref;
  bool rewind = false;  // state_ref may be the state that the cluster itself began from
  // The attempt that was being aborted when this was said, so that it is no word of before: the source may have run on
  // since. 0: it was said while the move went forward, or of the target.
  int64_t aborted_attempt = 0;
};

struct Deadlines {
  Duration plan = minutes(5);
  Duration stage = minutes(10);
  Duration quiesce = minutes(15);
  Duration start = minutes(15);
  Duration verify = minutes(15);
  Duration clean = minutes(10);
  Duration undo = minutes(15);  // after which an abort or a withdrawal says that it needs a person
};

struct Migration {
  std::string name;
  std::string uid;
  Phase phase = Phase::kPending;  // as its status says: a projection, for "since when" only
  bool abort = false;             // asked for, or the object is being deleted
  bool paused = false;
  bool hold_on_failure = false;  // onFailure: Hold
  bool last_checkpoint = false;  // captureFallback: a source that cannot capture is moved from what it left
  bool approved = true;          // all approvals that the stop needs are there
  std::string waiting_for_approval;
  bool cleanup_approved = true;    // and those that the end needs: until then the way back stays open
  std::string waiting_for_window;  // "": the stop may be ordered now; else what it waits for
  std::optional<Attestation> attestation;
  Duration stabilization = seconds(10);
  Deadlines deadlines;
};

// ---- what was seen
// ---------------------------------------------------------------------------------------------------

// One side as the override has it.
struct SideRule {
  enum class Mode : uint8_t {
    kAsIs,      // pinned as it runs
    kHeld,      // must not run
    kStopping,  // must not run, and must capture its state in state_dir
    kRunning,   // runs, from ref when there is one, else from its own state
  };
  Mode mode = Mode::kHeld;
  int64_t seq = 0;
  std::string ref;
  std::string state_dir;
  bool any_way = false;  // kStopping: without a capture, if there can be none
  friend bool operator==(const SideRule&, const SideRule&) = default;
};

// All that our override says. Every other cluster is held.
struct OverrideState {
  int64_t fence = 0;
  int64_t attempt = 1;
  SideRule source;
  SideRule target;
  friend bool operator==(const OverrideState&, const OverrideState&) = default;
};

// The binding as far as a move is concerned.
struct BindingState {
  std::set<std::string> clusters;
  std::set<std::string>
      kept;             // not listed, and yet what is there is not removed (eviction tasks that suppress deletion)
  bool locked = false;  // scheduling suspended, and eviction tasks for source and target
  int64_t fence = 0;    // of the last leader that wrote it; 0 when it is not locked
  int64_t attempt = 1;  // what an earlier attempt has under way fails on the version
  friend bool operator==(const BindingState&, const BindingState&) = default;
};

// One cluster, as one live look at it showed. Nothing here comes from a cache, but for what makes it less silent.
struct Sighting {
  bool answered = false;  // when not, nothing below says anything
  MonotonicTime at;       // when it was seen like this: the other side of the same look may have taken seconds more
  // It is not silent: part of the look was answered, or the hub calls its cluster ready. No person's word stands in for
  // what it would say.
  bool answers_partly = false;
  std::string cluster_id;
  bool found = false;
  std::string uid;
  bool deleting = false;
  int64_t seq = -1;         // the epoch in its spec; -1: none
  bool held = false;        // its spec says that it must not run
  bool runs = false;        // it runs, its spec says so, and its operator has acknowledged this very spec
  std::string prior_path;   // what it calls its state while it runs: never a capture
  bool remains = false;     // something of it is there (JobManager, pods), whether or not the object is
  bool pods_run = false;    // and of that a pod runs
  Restarts restarts;        // of its pods
  bool restarting = false;  // a container of them has ended, and its next life is yet to come
  // As the profile judges it against Writer.stop:
  bool stop_proven = false;
  std::string capture;
  std::string stop_missing;  // what the proof lacks, in words
  std::string stop_failed;   // it cannot succeed any more, and why; "": it can
  // Told to run on from its own state it would begin from nothing, and why; "": it has one. `ending`: that does not
  // show before it has ended. `in_hand`: its operator may be about to end it, and says that it runs.
  std::string state_lost;
  bool ending = false;
  bool in_hand = false;
  bool unsure = false;  // stopped without a capture now it may be said to have an older state than it has
  // As the profile judges it against the epoch and the reference it was started with:
  bool start_proven = false;  // runs, restored from our reference, made a checkpoint
  std::string start_missing;
  std::string start_failed;
  std::string unprepared;  // what must be beside it before it may start and is not yet; "": all is there
  enum class Progress : uint8_t { kUnknown, kNone, kSome };
  Progress progress = Progress::kUnknown;  // whether its state is newer than what was granted: known only once stopped
  // It was taken for one that never started, and told otherwise before it was gone, while no look came to see it.
  bool started_unseen = false;
  // What is missing may come without any watch telling of it (pods go, a probe ends): to be looked at again soon.
  // Decides nothing.
  bool unheard = true;
};

struct Observation {
  int64_t fence = 0;       // of this leader
  bool kind_known = true;  // there is a profile for its kind
  bool own_hub = true;     // the RunGate stands in the pipe: a target may be created in its held form
  bool prepares = false;   // what this kind starts from is brought to its cluster first: who is silent is not ready
  bool template_found = true;
  std::vector<std::string> problems;  // preflight's, when it was done; only read while Pending
  bool preflight_done = false;
  std::optional<Claim> proposal;                // source and target as preflight found them; read while Pending
  bool target_allowed = true;                   // the policy would leave the workload in the target
  std::optional<OverrideState> override_state;  // as the object is; nothing: there is none, or it was tampered with
  bool override_exists = false;
  int64_t override_fence = 0;  // of the leader that wrote it last, also when it was tampered with since; 0: not known
  bool binding_found = true;
  BindingState binding;
  bool binding_settled = true;  // what the scheduler last decided is what it says
  // By binding and Works on the hub, for what the clusters cannot show; looked at only when the template is gone, or
  // with a person's word.
  bool removal_ordered = false;  // the pipe knows that the template is gone: it takes the workload away everywhere
  bool source_rendered = false;  // the pipe knows our override: it renders the source with this epoch
  // On our own hub, where something is to go (the target of a move that goes back, the source of one that was
  // verified): there is a Work for it yet, by which it is made anew when it is gone.
  bool still_ordered = false;
  Sighting source;
  Sighting target;
  bool target_valid = false;   // the target's API server accepted the object (dry run), this attempt
  std::string target_invalid;  // it refused, and why
  Duration in_phase{};         // how long the migration has been in its phase
  Duration proven_for{};       // how long the start proof has held without a break
};

}  // namespace baton::rollout
