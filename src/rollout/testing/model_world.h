// The world of the exhaustive check: two clusters with an operator each, the pipe that renders and writes, two leaders,
// a person, and what goes wrong. One World is one state: plain bytes without padding, so that it is hashed as it lies.
//
// What is abstract:
// - A committed state is a number; `newest` is the newest that any job has committed. A job that starts from another
//   one has lost something.
// - A version is not a number. A write under way knows whether its object was changed since it was decided (`valid`).
// - Writers and overrides are numbers of values that Core (model_core.h) knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "rollout/state.h"

namespace baton::rollout::model {

inline constexpr int kSource = 0;  // cluster A
inline constexpr int kTarget = 1;  // cluster B
inline constexpr int8_t kNothing = -1;
inline constexpr uint8_t kStrayUid = 9;  // of an object that the pipe knows nothing of

// The number of a Writer or an override: two bytes, so that a World has no padding.
class Id {
 public:
  constexpr Id(size_t number = 0)  // NOLINT(google-explicit-constructor): it is used as the number that it is
      : low_(static_cast<uint8_t>(number)), high_(static_cast<uint8_t>(number >> 8)) {}
  constexpr operator size_t() const {  // NOLINT(google-explicit-constructor)
    return static_cast<size_t>(low_) | static_cast<size_t>(high_) << 8;
  }

 private:
  uint8_t low_, high_;
};
inline constexpr size_t kIdsMax = 1 << 16;

// What is written to a member: held, being stopped into a directory, pinned as it runs, running, or the raw template
// (running, and stateless: a job that does not run starts empty).
enum class Form : uint8_t { kHeld, kStopping, kAsIs, kRunning, kRaw };

struct Spec {
  Form form = Form::kHeld;
  int8_t seq = kNothing;
  int8_t ref = kNothing;  // the state to start from
  int8_t dir = kNothing;  // the seq of the stop whose directory it names
  friend bool operator==(const Spec&, const Spec&) = default;
  bool Held() const { return form == Form::kHeld || form == Form::kStopping; }
};

enum class Job : uint8_t { kNone, kRunning, kFinished, kFailed };
enum class Record : uint8_t { kNone, kHeld, kRunning };  // what the operator says it last carried out

struct Cluster {
  // The object.
  bool exists = false;
  bool deleting = false;
  uint8_t uid = 0;
  Spec spec;
  // The operator. It acknowledges a generation when it reads it and acts on it later.
  bool read = true;     // the newest spec was read
  bool acting = false;  // it is about to act on `inflight`
  Spec inflight;
  Record record = Record::kNone;
  bool start_failed = false;
  // The job.
  Job job = Job::kNone;
  bool job_manager = false;
  bool progressed = false;
  int8_t started_from = kNothing;
  int8_t state = kNothing;        // what it would go on from; kNothing: it has none
  int8_t capture = kNothing;      // the state that the last stop wrote,
  int8_t capture_dir = kNothing;  // and where: the seq of the stop; kNothing: nowhere of ours
  bool disposes = false;          // being deleted: what it captured goes with it (Flink: dispose-on-delete)
  // The cluster.
  bool silent = false;
  bool fenced = false;   // a person saw to it that nothing ever runs there again
  bool swapped = false;  // its name stands for another, empty cluster; this one goes on unseen
};

enum class Do : uint8_t { kNone, kSwapWriter, kPutOverride, kRemoveOverride, kPutBinding, kValidate };

struct Binding {
  uint8_t clusters = 0;  // bit 0: source, bit 1: target
  uint8_t kept = 0;
  bool locked = false;
  uint8_t fence = 0;
  uint8_t attempt = 1;
  bool foreign = false;  // another scheduler wrote the list; the eviction tasks still keep the works
  friend bool operator==(const Binding&, const Binding&) = default;
};

// A write that was decided and has not landed.
struct Pending {
  Do what = Do::kNone;
  bool valid = false;
  bool create = false;  // has no version to be wrong about: works whenever there is none
  Id id;                // the Writer or the override that it writes
  Binding binding;
  Phase phase_was = Phase::kPending;  // the status it was decided on, and the one it writes
  Phase phase = Phase::kPending;
};

struct World {
  Cluster cluster[2];
  // The hub.
  Id writer;
  Id override_id;                // 0: none
  bool override_broken = false;  // being deleted, or edited: it still works where the finalizer protects it
  Binding binding;
  bool template_there = true;
  // The wish and its status.
  Phase phase = Phase::kPending;
  bool abort = false, paused = false;
  int8_t attested = kNothing;    // the state that a person named
  uint8_t attested_cluster = 0;  // and the cluster that they vouched for
  uint8_t attested_abort = 0;    // the attempt that was being aborted when they said so; 0: none was
  bool late = false;             // the deadline of the phase has passed
  bool target_valid = false;
  // The pipe's caches: each only moves forward.
  Id seen_override;
  Binding seen_binding;
  bool seen_template = true;
  bool stash_full = false;  // a manifest that the pipe rendered and did not write yet
  uint8_t stash_cluster = 0;
  Spec stash;
  // The leaders; the second comes later. The ghost is a write whose answer nobody waits for any more.
  bool second_leader = false;
  Pending pending[2];
  Pending ghost;
  // Leader 1 has read the migration and the Writer, and nothing else yet.
  bool half_read = false;
  Id read_writer;
  Phase read_phase = Phase::kPending;
  // The truth.
  int8_t newest = 1;
  int8_t disposed = kNothing;                         // a state that is gone
  bool source_failed = false, target_failed = false;  // by a fault, so that not running is no lie
  bool source_put_back = false;                       // from a backup, after the last look before the end
  // Which faults were used: bytes, so that a World has no padding.
  uint8_t fault_bits[4] = {};
  uint32_t Faults() const {
    uint32_t bits = 0;
    std::memcpy(&bits, fault_bits, sizeof bits);
    return bits;
  }
  void AddFault(uint32_t bit) {
    bit |= Faults();
    std::memcpy(fault_bits, &bit, sizeof bit);
  }
};
static_assert(std::has_unique_object_representations_v<World>);

// Everything that can happen. Those from kFirstFault on are faults and wishes: each at most once, and only so many.
enum class Event : uint8_t {
  kLook1,
  kLook2,
  kLand1,
  kLand2,
  kGhostLands,
  kCacheOverride,
  kCacheBinding,
  kCacheTemplate,
  kWriteSource,
  kWriteTarget,
  kStashLands,
  kReadsSource,
  kReadsTarget,
  kActsSource,
  kActsTarget,
  kCleansSource,
  kCleansTarget,
  kPodsGoneSource,
  kPodsGoneTarget,
  kManagerGoneSource,
  kManagerGoneTarget,
  kProgressSource,
  kProgressTarget,
  kAnswersSource,
  kAnswersTarget,
  kResumed,
  kFirstFault,
  kAnswerLost1 = kFirstFault,
  kAnswerLost2,
  kTakeOver,
  kStashSource,
  kStashTarget,
  kStartFails,
  kRevivedSource,
  kRevivedTarget,
  kJobFailsSource,
  kJobFailsTarget,
  kSilentSource,
  kSilentTarget,
  kSwappedSource,
  kSwappedTarget,
  kDeletedSource,
  kDeletedTarget,
  kHandResume,
  kHandSuspend,
  kAbort,
  kPause,
  kOverrideBroken,
  kForeign,
  kTemplateGone,
  kAttest,
  kLate1,
  kLate2,
  kLeftover,
  kRestored,
  kReadsWriterOnly,
  kAttestTarget,
  kDeletedTargetAgain,
  kLostSource,
  kCount,
};
std::string_view EventStory(Event event);
constexpr uint32_t FaultBit(Event event) {
  return 1U << (static_cast<int>(event) - static_cast<int>(Event::kFirstFault));
}

}  // namespace baton::rollout::model
