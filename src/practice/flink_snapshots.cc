// Snapshots on demand.
#include "practice/flink_snapshots.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"
#include "rt/scope.h"

namespace baton::practice {

using json::Value;
using kube::Outcome;

namespace {

constexpr Duration kBackoffFirst = seconds(10);
constexpr int64_t kBackoffShiftMax = 10;

bool Ended(std::string_view state) { return state == "COMPLETED" || state == "FAILED" || state == "ABANDONED"; }

}  // namespace

FlinkSnapshots::FlinkSnapshots(kube::Api& api, JobManagers& managers, FlinkOperatorOptions options)
    : api_(api),
      managers_(managers),
      options_(options),
      objects_(api, FlinkStateSnapshots()),
      controller_(api.loop(), "practice-flink-snapshots",
                  [this](std::string key) { return Reconcile(std::move(key)); }) {
  objects_.OnChange([this](const Value&, const Value& now) {
    if (!now.is_null() && !Ended(now["status"]["state"].str())) controller_.Add(kube::Name::Of(now).Key());
  });
}

rt::Task<void> FlinkSnapshots::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(objects_.Run());
  co_await objects_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<Outcome> FlinkSnapshots::Reconcile(std::string key) {
  Value object = objects_.Get(key);
  const std::string_view state = object["status"]["state"].str();
  if (object.is_null() || kube::IsDeleting(object) || Ended(state)) co_return Outcome::Done();
  co_await api_.loop().Sleep(options_.work);
  Result<void> made = co_await Make(object);
  if (!made.ok() && made.error().kind() != ErrorKind::kUnavailable) co_return Outcome::Retry(made.error());
  Value& status = object.Edit("status");
  if (!made.ok()) {
    const int64_t failures = status["failures"].int_or(0) + 1;
    const int64_t limit = object["spec"]["backoffLimit"].int_or(-1);
    status.Set("failures", failures);
    status.Set("error", made.error().message());
    const bool over = limit >= 0 && failures > limit;
    status.Set("state", over ? "FAILED" : "TRIGGER_PENDING");
    const Result<void> written = co_await Write(object);
    if (!written.ok()) co_return Outcome::Retry(written.error());
    if (over) co_return Outcome::Done();
    co_return Outcome::WaitFor(kBackoffFirst * (int64_t{1} << std::min(failures - 1, kBackoffShiftMax)));
  }
  co_return Outcome::Of(co_await Write(object));
}

// kUnavailable: to be tried again, as the back-off limit says. Anything else failed to be written.
rt::Task<Result<void>> FlinkSnapshots::Make(Value& object) {
  const std::string job_key = StrCat(kube::NamespaceOf(object), "/", object["spec"]["jobReference"]["name"].str());
  const Value& savepoint = object["spec"]["savepoint"];
  const bool is_savepoint = savepoint.is_object();
  Value& status = object.Edit("status");
  const std::string now = json::FormatTime(api_.loop().WallNow());
  if (is_savepoint && savepoint["alreadyExists"].bool_or(false)) {
    status.Set("state", "COMPLETED");
    status.Set("path", savepoint["path"]);
    status.Set("resultTimestamp", now);
    co_return Result<void>();
  }
  JobManager* manager = managers_.Find(job_key);
  if (manager == nullptr || manager->job == nullptr || manager->job->phase() != JobPhase::kRunning) {
    status.Set("state", "ABANDONED");
    status.Set("error", "The job is not running: no snapshot can be made of it");
    status.Set("resultTimestamp", now);
    co_return Result<void>();
  }
  std::string dir(savepoint["path"].str());
  const JobConfig& config = manager->job->config();
  if (!is_savepoint) dir = config.checkpoint_dir;
  if (dir.empty()) dir = config.savepoint_dir;
  status.Set("state", "IN_PROGRESS");
  status.Set("triggerId", StrCat(kube::UidOf(object)));
  status.Set("triggerTimestamp", now);
  CO_TRY(co_await Write(object));
  manager = managers_.Find(job_key);  // it may be gone by now
  if (manager == nullptr || manager->job == nullptr) co_return UnavailableError("the JobManager is gone");
  const Result<std::string> url =
      co_await manager->job->Snapshot(is_savepoint ? SnapshotKind::kSavepoint : SnapshotKind::kCheckpoint, dir);
  if (!url.ok()) co_return UnavailableError(url.error().message());
  Value& after = object.Edit("status");
  after.Set("state", "COMPLETED");
  after.Set("path", *url);
  after.Erase("error");
  after.Set("resultTimestamp", json::FormatTime(api_.loop().WallNow()));
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkSnapshots::Write(Value& object) {
  Result<Value> written = co_await api_.UpdateStatus(FlinkStateSnapshots(), object);
  if (!written.ok()) co_return written.error().kind() == ErrorKind::kNotFound ? Result<void>() : written.error();
  objects_.Learn(*written);
  object = *std::move(written);
  co_return Result<void>();
}

}  // namespace baton::practice
