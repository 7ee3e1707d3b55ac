// Job: one running instance of a practice job. It reads the workload's source, keeps a count and a sum for each key,
// writes a row for each record, makes checkpoints from time to time and savepoints when asked, all as Flink would:
//
//   INITIALIZING -> RUNNING -> FINISHED (stopped with a savepoint) | CANCELED | FAILED
//
// A snapshot is taken between two records; rows up to there are prepared under a transaction, the state that names it
// is written, and only then the transaction is committed. Whoever restores the state commits what it names first. So
// nothing is lost or written twice wherever it ends, as long as exactly one instance goes on from its last state.
//
// A job lives in its cluster's JobManager (practice/job_manager.h) and knows nothing of operators.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "practice/commons.h"
#include "practice/faults.h"
#include "practice/state.h"
#include "rt/event.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace baton::practice {

inline constexpr size_t kRecordsPerTurn = 20'000;  // then others have a turn

// What a job is started with. Kept as JSON in the annotation kJobAnnotation of its JobManager's Deployment.
struct JobConfig {
  std::string cluster;
  WorkloadName workload;
  std::string job_id;  // 32 hexadecimal digits
  std::string epoch = "0";
  std::string restore_from;    // URL of a checkpoint or savepoint; "": begins anew
  bool start_latest = false;   // where it begins anew: only what comes from now on
  std::string checkpoint_dir;  // URL; "": makes no checkpoints
  std::string savepoint_dir;   // URL; where savepoints go whose place nobody named
  int task_managers = 1;
  bool high_availability = false;
  bool exactly_once = true;
  Duration checkpoint_every = seconds(10);
  Duration start_time = seconds(1);
  Duration stop_time = milliseconds(100);
  uint64_t state_bytes = uint64_t{10} << 20;  // what a snapshot is said to weigh: only for its time
  uint64_t bytes_per_second = uint64_t{100} << 20;
  SourceOptions source;
  std::vector<std::string> pointers;  // files that are to hold the newest state's URL; not kept in the annotation

  json::Value ToJson() const;
  static JobConfig FromJson(const json::Value& value);
};

enum class JobPhase : uint8_t { kInitializing, kRunning, kFinished, kCanceled, kFailed };
std::string_view JobPhaseName(JobPhase phase);  // "RUNNING", as Flink's REST API says it
inline bool IsTerminal(JobPhase phase) { return phase >= JobPhase::kFinished; }

struct SnapshotRef {
  uint64_t id = 0;
  std::string url;
  WallTime at{};
};

enum class SnapshotKind : uint8_t { kCheckpoint, kSavepoint, kStopWithSavepoint };

// What is known outside of a JobManager's process: its job's id, and in a second line the URL of the state it goes on
// from, or FINISHED and in a third line the savepoint it stopped with. High availability reads it.
std::string MemoryPath(const Storage& storage, const std::string& cluster, const WorkloadName& workload);

class Job {
 public:
  // All outlive this. `faults` may change at any time.
  Job(Commons& commons, JobConfig config, Faults& faults);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  void Start();
  // `how` is CANCELED, FAILED, or KILLED (its process is gone: it says nothing any more). At once; not twice.
  void End(JobPhase phase, std::string_view how, std::string error = {});

  // The URL of the snapshot. kUnavailable: the job ended before it was made. It is asked for by the call, and goes on
  // when nobody waits for it any more.
  rt::Task<Result<std::string>> Snapshot(SnapshotKind kind, std::string dir);

  const JobConfig& config() const { return config_; }
  JobPhase phase() const { return phase_; }
  const std::string& error() const { return error_; }
  WallTime started() const { return started_; }
  const std::optional<SnapshotRef>& restored() const { return restored_; }
  const std::optional<SnapshotRef>& last_checkpoint() const { return last_checkpoint_; }
  uint64_t completed_checkpoints() const { return completed_; }
  // The newest of restored, checkpoint and savepoint; none before the first.
  std::optional<SnapshotRef> Newest() const;
  // Called when the phase changes; may be null.
  std::function<void()> on_change;

 private:
  struct Request {
    SnapshotKind kind;
    std::string dir;
    Result<std::string> result = UnavailableError("the job has not ended yet");
    rt::Event done;
  };
  using RequestPtr = std::shared_ptr<Request>;

  static rt::Task<Result<std::string>> ResultOf(RequestPtr request);
  rt::Task<void> Run();
  rt::Task<Result<void>> Restore();
  rt::Task<Result<void>> Begin();
  rt::Task<void> CheckpointTimer();
  size_t ReadRecords();
  rt::Task<Result<void>> ShowRows();
  void BeginSnapshot();
  rt::Task<void> MakeSnapshot(RequestPtr request, JobState state, std::string transaction, SinkRows rows);
  rt::Task<Result<std::string>> TakeSnapshot(const Request& request, const JobState& state, std::string transaction,
                                             SinkRows rows);
  rt::Task<Result<void>> Completed(SnapshotKind kind, SnapshotRef made, std::vector<std::string> transactions);
  rt::Task<Result<void>> WriteMemory(std::string text);
  rt::Task<Result<void>> WritePointers(std::string url);
  std::string UrlFor(const Request& request, uint64_t id);
  Duration SnapshotTime() const;
  SinkWriter Writer() const;

  Commons& commons_;
  JobConfig config_;
  Faults& faults_;
  Sink& sink_;
  Source& source_;
  JobPhase phase_ = JobPhase::kInitializing;
  std::string error_;
  WallTime started_{};
  bool may_write_ = false;  // its S line is in the sink
  std::string instance_;    // tells the transactions of two lives of one job id apart
  JobState state_;
  SinkRows rows_;                         // of records since the last snapshot
  std::vector<std::string> uncommitted_;  // transactions that were prepared
  std::optional<SnapshotRef> restored_;
  std::optional<SnapshotRef> last_checkpoint_;
  std::optional<SnapshotRef> last_savepoint_;
  uint64_t completed_ = 0;
  std::deque<RequestPtr> requests_;
  RequestPtr current_;
  bool stopping_ = false;  // reads nothing until the stop failed
  rt::Event wake_;
  uint64_t subscription_ = 0;
  rt::Scope scope_;  // last, so that it goes first
};

}  // namespace baton::practice
