// A job's life: restoring, reading, ending.
#include "practice/job.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "json/value.h"

namespace baton::practice {

using json::Value;

std::string_view JobPhaseName(JobPhase phase) {
  switch (phase) {
    case JobPhase::kInitializing:
      return "INITIALIZING";
    case JobPhase::kRunning:
      return "RUNNING";
    case JobPhase::kFinished:
      return "FINISHED";
    case JobPhase::kCanceled:
      return "CANCELED";
    case JobPhase::kFailed:
      return "FAILED";
  }
  return "";
}

Value JobConfig::ToJson() const {
  return json::Object({{"cluster", cluster},
                       {"namespace", workload.ns},
                       {"name", workload.name},
                       {"jobId", job_id},
                       {"epoch", epoch},
                       {"restoreFrom", restore_from},
                       {"startLatest", start_latest},
                       {"checkpointDir", checkpoint_dir},
                       {"savepointDir", savepoint_dir},
                       {"taskManagers", task_managers},
                       {"highAvailability", high_availability},
                       {"exactlyOnce", exactly_once},
                       {"checkpointEveryNs", checkpoint_every.count()},
                       {"startTimeNs", start_time.count()},
                       {"stopTimeNs", stop_time.count()},
                       {"stateBytes", state_bytes},
                       {"bytesPerSecond", bytes_per_second},
                       {"partitions", source.partitions},
                       {"keys", source.keys},
                       {"rate", source.rate}});
}

JobConfig JobConfig::FromJson(const Value& value) {
  JobConfig config;
  config.cluster = value["cluster"].str();
  config.workload = {std::string(value["namespace"].str()), std::string(value["name"].str())};
  config.job_id = value["jobId"].str();
  config.epoch = value["epoch"].str();
  config.restore_from = value["restoreFrom"].str();
  config.start_latest = value["startLatest"].bool_or(false);
  config.checkpoint_dir = value["checkpointDir"].str();
  config.savepoint_dir = value["savepointDir"].str();
  config.task_managers = static_cast<int>(value["taskManagers"].int_or(1));
  config.high_availability = value["highAvailability"].bool_or(false);
  config.exactly_once = value["exactlyOnce"].bool_or(true);
  config.checkpoint_every = Duration(value["checkpointEveryNs"].int_or(config.checkpoint_every.count()));
  config.start_time = Duration(value["startTimeNs"].int_or(config.start_time.count()));
  config.stop_time = Duration(value["stopTimeNs"].int_or(config.stop_time.count()));
  config.state_bytes = value["stateBytes"].as_uint64().value_or(config.state_bytes);
  config.bytes_per_second = std::max<uint64_t>(1, value["bytesPerSecond"].as_uint64().value_or(1));
  config.source.partitions = static_cast<uint32_t>(value["partitions"].int_or(config.source.partitions));
  config.source.keys = static_cast<uint32_t>(value["keys"].int_or(config.source.keys));
  config.source.rate = value["rate"].number_or(config.source.rate);
  return config;
}

namespace {

std::string RandomHex(rt::Random& random, size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < digits; ++i) text += kDigits[random.Below(kDigits.size())];
  return text;
}

constexpr size_t kInstanceDigits = 6;

}  // namespace

std::string MemoryPath(const Storage& storage, const std::string& cluster, const WorkloadName& workload) {
  return storage.ClusterPath(cluster, "jobmanager/" + workload.Key());
}

Job::Job(Commons& commons, JobConfig config, Faults& faults)
    : commons_(commons),
      config_(std::move(config)),
      faults_(faults),
      sink_(commons.SinkOf(config_.workload)),
      source_(commons.SourceOf(config_.workload, config_.source)),
      instance_(RandomHex(commons.loop().random(), kInstanceDigits)),
      scope_(commons.loop()) {}

Job::~Job() { End(JobPhase::kFailed, "KILLED"); }

void Job::Start() {
  subscription_ = source_.Subscribe([this] { wake_.Set(); });
  scope_.Spawn(Run());
}

SinkWriter Job::Writer() const {
  return {.cluster = config_.cluster, .job_id = config_.job_id, .epoch = config_.epoch};
}

void Job::End(JobPhase phase, std::string_view how, std::string error) {
  if (IsTerminal(phase_)) return;
  phase_ = phase;
  error_ = std::move(error);
  source_.Unsubscribe(subscription_);
  if (may_write_) sink_.Ended(Writer(), how, state_.offsets);
  if (current_ != nullptr) requests_.push_back(std::exchange(current_, nullptr));
  for (const RequestPtr& request : requests_) {
    request->result = UnavailableError(StrCat("the job is ", JobPhaseName(phase_), " and makes no snapshot any more",
                                              error_.empty() ? "" : ": ", error_));
    request->done.Set();
  }
  requests_.clear();
  if (on_change) on_change();
  scope_.CancelAll();
}

rt::Task<void> Job::Run() {
  rt::Loop& loop = commons_.loop();
  co_await loop.Sleep(faults_.Slowed(config_.start_time));
  Result<void> begun = co_await Restore();
  if (begun.ok()) begun = co_await Begin();
  if (!begun.ok()) {
    End(JobPhase::kFailed, "FAILED", begun.error().message());
    co_return;
  }
  while (true) {
    wake_.Reset();
    const size_t read = stopping_ ? 0 : ReadRecords();
    if (!config_.exactly_once && rows_.count > 0) {
      const Result<void> shown = co_await ShowRows();
      if (!shown.ok()) {
        End(JobPhase::kFailed, "FAILED", shown.error().message());
        co_return;
      }
    }
    if (current_ == nullptr && !requests_.empty()) BeginSnapshot();
    if (read == kRecordsPerTurn) {
      co_await loop.Yield();
    } else {
      co_await wake_.Wait();
    }
  }
}

rt::Task<Result<void>> Job::Restore() {
  while (!source_.ready()) {
    wake_.Reset();
    co_await wake_.Wait();
  }
  const SourceOptions& source = source_.options();
  if (config_.restore_from.empty()) {
    state_ = JobState::Fresh(source.partitions, source.keys);
    if (config_.start_latest) state_.offsets = source_.ends();
    state_.job_id = config_.job_id;
    co_return Result<void>();
  }
  std::string path = CO_TRY(commons_.storage().PathOf(config_.cluster, config_.restore_from));
  if (!path.ends_with("/_metadata")) path += "/_metadata";
  Result<std::string> text = co_await commons_.storage().files().ReadAll(path);
  if (!text.ok() && text.error().kind() == ErrorKind::kNotFound) {
    co_return NotFoundError(StrCat("Cannot find checkpoint or savepoint file/directory '", config_.restore_from, "'"));
  }
  Result<JobState> state = JobState::Decode(CO_TRY(std::move(text)));
  if (!state.ok()) co_return state.error().Context(StrCat("restoring '", config_.restore_from, "'"));
  if (state->offsets.size() != source.partitions || state->keys != source.keys) {
    co_return InvalidError(StrCat("the state in '", config_.restore_from, "' is of another source"));
  }
  state_ = *std::move(state);
  state_.job_id = config_.job_id;
  restored_ = SnapshotRef{.id = state_.checkpoint_id, .url = config_.restore_from, .at = commons_.loop().WallNow()};
  co_return Result<void>();
}

rt::Task<Result<void>> Job::Begin() {
  may_write_ = true;  // from here on it counts as a writer, and its end is told
  CO_TRY(co_await sink_.Started(Writer(), config_.restore_from, state_.offsets));
  std::vector<std::string> pending = std::exchange(state_.pending, {});
  for (std::string& transaction : pending) CO_TRY(co_await sink_.Commit(Writer(), std::move(transaction)));
  if (config_.high_availability) CO_TRY(co_await WriteMemory(config_.restore_from));
  phase_ = JobPhase::kRunning;
  started_ = commons_.loop().WallNow();
  if (on_change) on_change();
  if (!config_.checkpoint_dir.empty() && config_.checkpoint_every > Duration{0}) scope_.Spawn(CheckpointTimer());
  co_return Result<void>();
}

size_t Job::ReadRecords() {
  size_t read = 0;
  const std::vector<uint64_t>& ends = source_.ends();
  const uint32_t keys = state_.keys;
  for (uint32_t partition = 0; partition < state_.offsets.size(); ++partition) {
    uint64_t& offset = state_.offsets[partition];
    for (; offset < ends[partition] && read < kRecordsPerTurn; ++offset, ++read) {
      const Record record = RecordAt(partition, offset, keys);
      KeyState& key = state_.states[(size_t{partition} * keys) + record.key];
      ++key.count;
      key.sum += record.value;
      rows_.Add(partition, offset, record.key, key.count, key.sum);
    }
  }
  return read;
}

rt::Task<Result<void>> Job::ShowRows() { return sink_.Append(Writer(), std::exchange(rows_, {})); }

std::optional<SnapshotRef> Job::Newest() const {
  std::optional<SnapshotRef> newest = restored_;
  for (const auto& other : {last_checkpoint_, last_savepoint_}) {
    if (other && (!newest || other->id >= newest->id)) newest = other;
  }
  return newest;
}

}  // namespace baton::practice
