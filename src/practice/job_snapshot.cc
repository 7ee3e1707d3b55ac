// A job's checkpoints and savepoints.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "practice/job.h"

namespace baton::practice {

namespace {
constexpr size_t kJobIdDigits = 6;  // of a savepoint's name
constexpr size_t kNameDigits = 12;
}  // namespace

rt::Task<void> Job::CheckpointTimer() {
  while (true) {
    co_await commons_.loop().Sleep(config_.checkpoint_every);
    if (current_ != nullptr || !requests_.empty()) continue;
    auto request = std::make_shared<Request>(SnapshotKind::kCheckpoint, config_.checkpoint_dir);
    requests_.push_back(request);
    wake_.Set();
    co_await request->done.Wait();
  }
}

// The request is made by the call itself, and the job is not touched by the wait for it: it may be gone by then.
rt::Task<Result<std::string>> Job::Snapshot(SnapshotKind kind, std::string dir) {
  auto request = std::make_shared<Request>(kind, std::move(dir));
  if (phase_ == JobPhase::kRunning) {
    requests_.push_back(request);
    wake_.Set();
  } else {
    request->result = UnavailableError(StrCat("the job is ", JobPhaseName(phase_), ", not RUNNING"));
    request->done.Set();
  }
  return ResultOf(std::move(request));
}

rt::Task<Result<std::string>> Job::ResultOf(RequestPtr request) {
  co_await request->done.Wait();
  co_return request->result;
}

void Job::BeginSnapshot() {
  current_ = requests_.front();
  requests_.pop_front();
  stopping_ = current_->kind == SnapshotKind::kStopWithSavepoint;
  ++state_.checkpoint_id;
  std::string transaction;
  if (rows_.count > 0) {
    transaction = StrCat(config_.job_id, "-", instance_, "-", state_.checkpoint_id);
    uncommitted_.push_back(transaction);
  }
  JobState state = state_;
  state.pending = uncommitted_;
  scope_.Spawn(MakeSnapshot(current_, std::move(state), std::move(transaction), std::exchange(rows_, {})));
}

Duration Job::SnapshotTime() const {
  const double size = static_cast<double>(config_.state_bytes) / static_cast<double>(config_.bytes_per_second);
  return faults_.Slowed(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(size)));
}

rt::Task<void> Job::MakeSnapshot(RequestPtr request, JobState state, std::string transaction, SinkRows rows) {
  Result<std::string> made = co_await TakeSnapshot(*request, state, std::move(transaction), std::move(rows));
  const bool stopped = made.ok() && request->kind == SnapshotKind::kStopWithSavepoint;
  if (stopped) co_await commons_.loop().Sleep(faults_.Slowed(config_.stop_time));
  if (stopped) {
    // A JobManager with high availability that starts again knows by this that its job is over.
    (void)co_await WriteMemory(StrCat("FINISHED\n", *made));
    current_ = nullptr;
    End(JobPhase::kFinished, "FINISHED");
  } else {
    current_ = nullptr;
    stopping_ = false;
    wake_.Set();
  }
  request->result = std::move(made);
  request->done.Set();
}

rt::Task<Result<std::string>> Job::TakeSnapshot(const Request& request, const JobState& state, std::string transaction,
                                                SinkRows rows) {
  if (!transaction.empty()) {
    const Result<void> prepared = co_await sink_.Prepare(transaction, rows);
    if (!prepared.ok()) {
      // As if they had not been taken out: they go with the next snapshot.
      std::erase(uncommitted_, transaction);
      rows.text += rows_.text;
      rows.count += rows_.count;
      rows_ = std::move(rows);
      co_return prepared.error();
    }
  }
  co_await commons_.loop().Sleep(SnapshotTime());
  if (request.kind != SnapshotKind::kCheckpoint && faults_.TakeSavepointFailure()) {
    co_return UnavailableError("the savepoint failed: a fault was set for it");
  }
  const std::string url = UrlFor(request, state.checkpoint_id);
  const std::string path = CO_TRY(commons_.storage().PathOf(config_.cluster, url));
  CO_TRY(co_await commons_.storage().Write(path + "/_metadata", state.Encode()));
  const SnapshotRef made{.id = state.checkpoint_id, .url = url, .at = commons_.loop().WallNow()};
  CO_TRY(co_await Completed(request.kind, made, state.pending));
  co_return url;
}

rt::Task<Result<void>> Job::Completed(SnapshotKind kind, SnapshotRef made, std::vector<std::string> transactions) {
  std::optional<SnapshotRef> old;
  // Before anything is committed: whoever starts after that goes on from this state. From an older one it would write
  // again what this one is about to show.
  if (kind != SnapshotKind::kSavepoint) CO_TRY(co_await WriteMemory(made.url));
  if (kind == SnapshotKind::kCheckpoint) {
    old = std::exchange(last_checkpoint_, made);
    ++completed_;
  } else {
    last_savepoint_ = made;
  }
  if (kind != SnapshotKind::kSavepoint) CO_TRY(co_await WritePointers(made.url));
  // A savepoint that does not stop the job commits nothing: the next checkpoint does (Flink since 1.15).
  if (kind == SnapshotKind::kSavepoint) co_return Result<void>();
  for (const std::string& transaction : transactions) {
    CO_TRY(co_await sink_.Commit(Writer(), transaction));
    std::erase(uncommitted_, transaction);
  }
  if (old && old->url != made.url) {
    const Result<std::string> path = commons_.storage().PathOf(config_.cluster, old->url);
    if (path.ok()) {
      (void)co_await commons_.storage().files().Remove(*path + "/_metadata");
      (void)co_await commons_.storage().files().Remove(*path);
    }
  }
  co_return Result<void>();
}

rt::Task<Result<void>> Job::WriteMemory(std::string text) {
  return commons_.storage().Write(MemoryPath(commons_.storage(), config_.cluster, config_.workload),
                                  StrCat(config_.job_id, "\n", text, "\n"));
}

rt::Task<Result<void>> Job::WritePointers(std::string url) {
  for (const std::string& path : config_.pointers) CO_TRY(co_await commons_.storage().Write(path, url));
  co_return Result<void>();
}

std::string Job::UrlFor(const Request& request, uint64_t id) {
  if (request.kind == SnapshotKind::kCheckpoint) {
    return JoinUrl(request.dir, StrCat(config_.job_id, "/chk-", id));
  }
  std::string name;
  for (size_t i = 0; i < kNameDigits; ++i) name += "0123456789abcdef"[commons_.loop().random().Below(16)];
  return JoinUrl(request.dir, StrCat("savepoint-", config_.job_id.substr(0, kJobIdDigits), "-", name));
}

}  // namespace baton::practice
