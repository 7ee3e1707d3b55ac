// From an object to its process, and back to its status.
#include "practice/kind_operator.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"
#include "practice/job_manager.h"
#include "practice/wishes.h"
#include "rt/scope.h"

namespace baton::practice {

using json::Value;
using kube::Outcome;

namespace {

constexpr std::string_view kByWorkload = "workload";
constexpr size_t kWorkers = 8;
constexpr size_t kJobIdDigits = 32;
constexpr Duration kBackoffMax = seconds(30);
constexpr Duration kCheckpointEvery = seconds(5);

std::string KeyOfPod(const Value& pod) {
  return StrCat(kube::NamespaceOf(pod), "/", pod["metadata"]["annotations"]["practice.baton.io/workload"].str());
}

bool Alive(const KindLife& life) { return life.job != nullptr && !IsTerminal(life.job->phase()); }

}  // namespace

KindOperator::KindOperator(kube::Api& api, Commons& commons, std::string cluster, Faults& faults, const KindSpec& spec,
                           KindLives& lives, KindOperatorOptions options)
    : api_(api),
      commons_(commons),
      cluster_(std::move(cluster)),
      faults_(faults),
      spec_(spec),
      lives_(lives),
      options_(options),
      objects_(api, spec.resource),
      pods_(api, Pods(), {.label_selector = StrCat(kKindLabel, "=", ToLower(spec.resource.kind))}),
      events_(api, StrCat("practice-", ToLower(spec.resource.kind))),
      controller_(api.loop(), StrCat("practice-", ToLower(spec.resource.kind)),
                  [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = kWorkers, .queue = {.backoff_max = kBackoffMax}}) {
  objects_.OnChange([this](const Value& before, const Value& now) {
    controller_.Add(kube::Name::Of(now.is_null() ? before : now).Key());
  });
  pods_.AddIndex(std::string(kByWorkload), [](const Value& pod) { return std::vector<std::string>{KeyOfPod(pod)}; });
  pods_.OnChange(
      [this](const Value& before, const Value& now) { controller_.Add(KeyOfPod(now.is_null() ? before : now)); });
  lives_.on_change = [this](const std::string& key) { controller_.Add(key); };
}

KindOperator::~KindOperator() { lives_.on_change = nullptr; }

rt::Task<void> KindOperator::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(objects_.Run());
  scope.Spawn(pods_.Run());
  scope.Spawn(events_.Run());
  co_await objects_.WaitSynced();
  co_await pods_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<Outcome> KindOperator::Reconcile(std::string key) {
  Look look;
  look.key = key;
  look.object = objects_.Get(key);
  if (!look.object.is_null() && spec_.Ignores(look.object)) co_return Outcome::Done();
  co_await api_.loop().Sleep(options_.work + faults_.stall_operator);
  const bool gone = look.object.is_null() || kube::IsDeleting(look.object);
  const std::string uid(gone ? "" : kube::UidOf(look.object));
  KindLife& life = lives_.lives[key];
  if (life.uid != uid)
    life = KindLife{.uid = uid, .kept = look.object["status"]};  // a process of another one is killed
  const Result<void> released = co_await ReleasePods(key, uid, &life);
  if (gone) {
    lives_.lives.erase(key);
    co_return Outcome::Of(released);
  }
  if (!released.ok()) co_return Outcome::Retry(released.error());
  look.workload = {std::string(kube::NamespaceOf(look.object)),
                   StrCat(kube::NameOf(look.object), ".", ToLower(spec_.resource.kind))};
  look.life = &life;
  const Result<void> worked = co_await Work(look);
  if (!worked.ok()) co_return Outcome::Retry(worked.error());
  co_return look.again ? Outcome::WaitFor(*look.again) : Outcome::Done();
}

bool KindOperator::WantsToRun(const Look& look) const {
  if (spec_.progress == ProgressPlace::kArchive) return !IsReplica(look.object);
  return spec_.Replicas(look.object) > 0;
}

rt::Task<Result<void>> KindOperator::Work(Look& look) {
  KindLife& life = *look.life;
  if (spec_.progress == ProgressPlace::kArchive) CO_TRY(co_await AdoptSystem(look));
  if (spec_.completes && !life.completed) life.completed = co_await IsCompleted(look);
  if (life.completed) {
    look.step = KindStep::kCompleted;
    CO_TRY(co_await RemovePods(look, false));
  } else if (WantsToRun(look)) {
    CO_TRY(co_await RunIt(look));
  } else {
    CO_TRY(co_await StopIt(look));
  }
  if (spec_.offsets) CO_TRY(co_await ServeOffsets(look));
  co_return co_await WriteStatus(look);
}

rt::Task<Result<void>> KindOperator::StopIt(Look& look) {
  KindLife& life = *look.life;
  look.step = KindStep::kStopping;
  if (Alive(life)) {
    CO_TRY(co_await WriteStatus(look));
    if (spec_.progress != ProgressPlace::kArchive) CO_TRY(co_await RemovePods(look, false));
    if (life.job != nullptr) co_await EndProcess(look);
  } else if (life.job != nullptr && spec_.progress == ProgressPlace::kArchive) {
    // It ended while no operator looked: the database knows where.
    const std::optional<SnapshotRef> last = life.job->Newest();
    if (life.job->phase() == JobPhase::kFinished && last) Demoted(look, last->url);
  }
  life.job = nullptr;
  if (spec_.progress == ProgressPlace::kArchive) {
    CO_TRY(co_await FitPods(look, spec_.Replicas(look.object)));
    CO_TRY(co_await SetPods(look, ""));
  } else {
    CO_TRY(co_await RemovePods(look, false));
    if (!PodsOf(look.key).empty()) co_return Result<void>();  // their going is an event
  }
  look.step = KindStep::kStopped;
  co_return Result<void>();
}

// However it ends: a process that makes no snapshot in its time is killed.
rt::Task<void> KindOperator::EndProcess(Look& look) {
  KindLife& life = *look.life;
  if (spec_.drains && life.job->phase() == JobPhase::kRunning) {
    const Result<std::string> url = co_await life.job->Snapshot(SnapshotKind::kStopWithSavepoint, StateDir(look));
    if (url.ok() && spec_.progress == ProgressPlace::kArchive) Demoted(look, *url);
    if (!url.ok()) events_.Warning(look.object, "Killed", url.error().message());
  } else {
    co_await api_.loop().Sleep(faults_.Slowed(life.job->config().stop_time));
  }
  if (life.job == nullptr) co_return;
  life.job->on_change = nullptr;
  life.job->End(JobPhase::kFailed, "KILLED", "its pod was stopped");
  life.job = nullptr;
}

rt::Task<Result<void>> KindOperator::RunIt(Look& look) {
  KindLife& life = *look.life;
  look.step = KindStep::kStarting;
  if (spec_.progress == ProgressPlace::kVolume) {
    CO_TRY(co_await EnsureClaims(look));
    if (look.again) co_return Result<void>();
  }
  CO_TRY(co_await RemovePods(look, true));
  CO_TRY(co_await FitPods(look, spec_.Replicas(look.object)));
  std::vector<Value> pods = PodsOf(look.key);
  std::erase_if(pods, [](const Value& pod) { return kube::IsDeleting(pod); });
  if (pods.empty()) co_return Result<void>();
  if (life.job == nullptr && (faults_.fail_image || IsFakeImage(spec_.Image(look.object)))) {
    look.step = KindStep::kWaiting;
    look.waiting = "ImagePullBackOff";
    look.again = options_.image_retry;
    co_return co_await SetPods(look, "ImagePullBackOff");
  }
  const bool here = std::ranges::any_of(pods, [&](const Value& pod) { return kube::UidOf(pod) == life.pod_uid; });
  if (!here) {
    life.pod_uid = kube::UidOf(pods[0]);
    life.starts_at = api_.loop().Now() + faults_.Slowed(options_.pod_start);
    if (life.job != nullptr) life.job->on_change = nullptr;
    life.job = nullptr;  // it was in a pod that is gone
  }
  if (api_.loop().Now() < life.starts_at) {
    look.again = life.starts_at - api_.loop().Now();
    co_return Result<void>();
  }
  if (life.job == nullptr) CO_TRY(co_await StartProcess(look, life.pod_uid));
  if (life.job == nullptr) co_return Result<void>();  // it cannot start, and the look says why
  CO_TRY(co_await SetPods(look, ""));
  co_return co_await Settle(look);
}

rt::Task<Result<void>> KindOperator::StartProcess(Look& look, std::string pod_uid) {
  KindLife& life = *look.life;
  std::string from;
  if (spec_.progress == ProgressPlace::kArchive) {
    Result<std::string> promoted = co_await Promote(look);
    if (!promoted.ok() && promoted.error().kind() == ErrorKind::kInvalid) {
      look.step = KindStep::kFailed;
      life.error = promoted.error().message();
      co_return Result<void>();
    }
    from = CO_TRY(std::move(promoted));
  } else {
    from = CO_TRY(co_await RestoreFrom(look));
  }
  if (life.pod_uid != pod_uid) co_return ConflictError("its pod went meanwhile");
  JobConfig config;
  config.cluster = cluster_;
  config.workload = look.workload;
  for (size_t i = 0; i < kJobIdDigits; ++i) config.job_id += "0123456789abcdef"[api_.loop().random().Below(16)];
  config.epoch = look.object["metadata"]["annotations"][kRowEpoch].str_or("0");
  config.restore_from = std::move(from);
  config.checkpoint_dir = StateDir(look);
  config.savepoint_dir = config.checkpoint_dir;
  config.exactly_once = spec_.exactly_once;
  config.pointers = {Pointer(look)};
  if (spec_.progress == ProgressPlace::kArchive)
    config.pointers.push_back(commons_.storage().SharedPath(StrCat("wal/", look.workload.Key(), "/last")));
  const Wishes wishes(look.object);
  wishes.Fill(config);
  config.checkpoint_every = wishes.Time("checkpoint-interval", kCheckpointEvery);
  life.started = api_.loop().WallNow();
  life.error.clear();
  life.job = std::make_unique<Job>(commons_, std::move(config), faults_);
  life.job->on_change = [lives = &lives_, key = look.key] {
    if (lives->on_change) lives->on_change(key);
  };
  life.job->Start();
  events_.Normal(look.object, "PracticeJob", "This is a practice cluster: in place of its image runs the practice job");
  co_return Result<void>();
}

rt::Task<Result<void>> KindOperator::Settle(Look& look) {
  KindLife& life = *look.life;
  switch (life.job->phase()) {
    case JobPhase::kInitializing:
      co_return Result<void>();
    case JobPhase::kRunning:
      look.step = KindStep::kRunning;
      break;
    default:
      look.step = KindStep::kFailed;
      life.error = life.job->error();
      if (!spec_.restarts) co_return Result<void>();
      life.job->on_change = nullptr;
      life.job = nullptr;
      ++life.restarts;
      life.starts_at = api_.loop().Now() + options_.restart_after;
      look.again = options_.restart_after;
      co_return Result<void>();
  }
  const Duration run_time = Wishes(look.object).Time("run-time", Duration{0});
  if (!spec_.completes || run_time <= Duration{0}) co_return Result<void>();
  const Duration ran = api_.loop().WallNow() - life.started;
  if (ran < run_time) {
    look.again = run_time - ran;
    co_return Result<void>();
  }
  CO_TRY(co_await life.job->Snapshot(SnapshotKind::kStopWithSavepoint, StateDir(look)));
  CO_TRY(co_await MarkCompleted(look));
  life.completed = true;
  look.step = KindStep::kCompleted;
  co_return co_await RemovePods(look, false);
}

// By retrying onto whatever version is there by now, as operators do; of another object nothing is told.
rt::Task<Result<void>> KindOperator::WriteStatus(Look& look) {
  KindLife& life = *look.life;
  if (life.step != look.step || life.since == WallTime{}) {
    life.step = look.step;
    life.since = api_.loop().WallNow();
  }
  const std::vector<Value> pods = PodsOf(look.key);
  const auto terminating = std::ranges::count_if(pods, [](const Value& pod) { return kube::IsDeleting(pod); });
  const auto ready = std::ranges::count_if(pods, [](const Value& pod) {
    return !kube::IsDeleting(pod) && pod["status"]["containerStatuses"][0]["ready"].bool_or(false);
  });
  const auto there = static_cast<int64_t>(pods.size()) - terminating;
  const std::map<std::string, std::string, std::less<>> fill = {
      {"name", std::string(kube::NameOf(look.object))},
      {"generation", look.object["metadata"]["generation"].ToString()},
      {"replicas", StrCat(spec_.Replicas(look.object))},
      {"pods", StrCat(there)},
      {"ready", StrCat(ready)},
      {"unready", StrCat(there - ready)},
      {"terminating", StrCat(terminating)},
      {"pod", pods.empty() ? "" : std::string(kube::NameOf(pods[0]))},
      {"job", life.job == nullptr ? "" : life.job->config().job_id.substr(0, 8)},
      {"started", life.started == WallTime{} ? "" : json::FormatTime(life.started)},
      {"since", json::FormatTime(life.since)},
      {"error", life.error},
      {"waiting", look.waiting}};
  Value status = spec_.Status(look.step, fill);
  if (spec_.progress == ProgressPlace::kArchive) ReportInstances(look, status);
  if (!life.warning.is_null()) status.Edit("conditions").Push(life.warning);
  if (look.object["status"] == status) co_return Result<void>();
  if (std::exchange(faults_.forget_status, false)) status = json::Object();
  Value object = look.object;
  while (true) {
    object.Set("status", status);
    Result<Value> written = co_await api_.UpdateStatus(spec_.resource, object);
    if (written.ok()) {
      objects_.Learn(*written);
      look.object.Set("status", (*written)["status"]);
      co_return Result<void>();
    }
    if (written.error().kind() == ErrorKind::kNotFound) co_return Result<void>();
    if (written.error().kind() != ErrorKind::kConflict) co_return written.error();
    Result<Value> live = co_await api_.Get(spec_.resource, kube::Name::Of(object));
    if (!live.ok() && live.error().kind() == ErrorKind::kNotFound) co_return Result<void>();
    object = CO_TRY(std::move(live));
    if (kube::UidOf(object) != look.life->uid) co_return Result<void>();
  }
}

}  // namespace baton::practice
