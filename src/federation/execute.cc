// Applying Works to members and reflecting what became of them.
#include "federation/execute.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/render.h"
#include "federation/resources.h"
#include "rt/retry.h"

namespace baton::federation {
namespace {

namespace keys = api::karmada;

constexpr Duration kTakeBackFor = minutes(1);  // what came late: a leader that is none any more soon ends
constexpr Duration kMemberRetry = seconds(5);  // a safety net: the member's return wakes us sooner

constexpr std::string_view kAppliedHash = "baton.io/applied";  // on member objects: which render was written last
constexpr size_t kHashDigits = 16;
constexpr size_t kLaneWorkers = 8;  // calls to one member at a time

// How long the news that only a status changed may wait for more of them: a rollout or a job that starts tells several
// in a row, and the hub takes one. Who decides on statuses reads the member, not the hub.
constexpr Duration kReflectAfter = milliseconds(200);

std::string HashOf(const json::Value& manifest) { return Sha256Hex(manifest.ToString()).substr(0, kHashDigits); }

const json::Value& ManifestOf(const json::Value& work) { return work["spec"]["workload"]["manifests"][0]; }

bool Managed(const json::Value& object) { return object["metadata"]["labels"][keys::kManaged].str() == keys::kTrue; }

bool Ready(const json::Value& cluster) {
  return FindCondition(cluster["status"], "Ready")["status"].str_or("True") == "True";
}

bool Replaced(const json::Value& cluster) {
  return FindCondition(cluster["status"], "Ready")["reason"].str() == "ClusterReplaced";
}

// Whether the member's object is as it was but for its status and what its server counts.
bool OnlyStatusChanged(const json::Value& before, const json::Value& now) {
  if (before.is_null() || now.is_null()) return false;
  const auto same_but = [](const json::Value& one, const json::Value& other, auto but) {
    const auto all_in = [&but](const json::Value& these, const json::Value& those) {
      return std::ranges::all_of(these.members(), [&](const json::Member& member) {
        return std::ranges::find(but, member.key()) != but.end() || those[member.key()] == member.value();
      });
    };
    return all_in(one, other) && all_in(other, one);
  };
  constexpr std::array<std::string_view, 2> kParts = {"metadata", "status"};
  constexpr std::array<std::string_view, 3> kCounted = {"generation", "managedFields", "resourceVersion"};
  return same_but(before, now, kParts) && same_but(before["metadata"], now["metadata"], kCounted);
}

// What others put on the member's object stays; what we had put there and no longer want goes.
void MergeMap(json::Value& wanted, const json::Value& observed, std::string_view field, std::string_view managed_list) {
  std::set<std::string, std::less<>> managed;
  std::string_view list = observed["metadata"]["annotations"][managed_list].str();
  while (!list.empty()) {
    const size_t comma = list.find(',');
    managed.emplace(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  for (const json::Member& member : observed["metadata"][field].members()) {
    if (wanted["metadata"][field].Has(member.key()) || managed.contains(member.key())) continue;
    wanted.Edit("metadata").Edit(field).Set(member.key(), member.value());
  }
}

// Fields of the server in an object that is compared with what we would write.
json::Value Comparable(json::Value object) {
  json::Value& metadata = object.Edit("metadata");
  for (const std::string_view field : {"creationTimestamp", "generation", "managedFields", "uid", "selfLink"}) {
    metadata.Erase(field);
  }
  object.Erase("status");
  return object;
}

// Whether every field of `wanted` is in `have` with the same value. What the member defaulted is not a difference.
bool Contains(const json::Value& have, const json::Value& wanted) {
  if (wanted.is_object()) {
    if (!have.is_object()) return wanted.empty() && have.is_null();
    return std::ranges::all_of(
        wanted.members(), [&](const json::Member& member) { return Contains(have[member.key()], member.value()); });
  }
  if (wanted.is_array()) {
    if (have.size() != wanted.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!Contains(have[i], wanted[i])) return false;
    }
    return true;
  }
  return have == wanted;
}

int64_t HubGeneration(const json::Value& object) {
  const std::string text(object["metadata"]["annotations"][keys::kTemplateGeneration].str());
  return text.empty() ? -1 : std::strtoll(text.c_str(), nullptr, 10);
}

// Whether the object was made for this Work, or for another one of the same binding: when the writes of two leaders
// cross, the Work that is there at the end need not be the one that made it. Ids are those of one hub.
bool IsOf(const json::Value& object, const json::Value& manifest) {
  const json::Value& labels = object["metadata"]["labels"];
  const json::Value& wanted = manifest["metadata"]["labels"];
  if (labels[keys::kWorkId] == wanted[keys::kWorkId]) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{keys::kResourceBindingId, keys::kClusterResourceBindingId},
      [&](std::string_view id) { return !labels[id].str().empty() && labels[id] == wanted[id]; });
}

// Rendered from an older generation of the same template than what is there.
bool IsOlderTemplate(const json::Value& manifest, const json::Value& there) {
  const bool same =
      there["metadata"]["annotations"][keys::kTemplateUid] == manifest["metadata"]["annotations"][keys::kTemplateUid];
  return same && HubGeneration(manifest) < HubGeneration(there);
}

}  // namespace

ExecuteController::ExecuteController(Hub& hub) : hub_(hub) {
  hub_.works().AddIndex(std::string(kWorksOfCluster),
                        [](const json::Value& work) { return std::vector<std::string>{ClusterOfWork(work)}; });
  hub_.works().OnChange([this](const json::Value& before, const json::Value& now) {
    if (now.is_null()) return;
    const bool same =
        !before.is_null() && before["spec"] == now["spec"] && kube::IsDeleting(before) == kube::IsDeleting(now);
    if (!same) Add(kube::Name::Of(now).Key());
  });
  hub_.OnMemberObject([this](const std::string&, const json::Value& before, const json::Value& now) {
    const json::Value& annotations = (now.is_null() ? before : now)["metadata"]["annotations"];
    const std::string_view name = annotations[keys::kWorkName].str();
    if (name.empty()) return;
    const std::string key = StrCat(annotations[keys::kWorkNamespace].str(), "/", name);
    if (OnlyStatusChanged(before, now)) {
      LaneOf(key).AddAfter(key, kReflectAfter);
    } else {
      Add(key);
    }
  });
  const auto catch_up = [this](std::string_view cluster) {
    for (const std::string& key : hub_.works().KeysByIndex(kWorksOfCluster, cluster)) {
      Add(key, kube::Priority::kResync);
    }
  };
  hub_.clusters().OnChange([catch_up](const json::Value& before, const json::Value& now) {
    if (before.is_null() || now.is_null()) return;
    // Back: what was missed is done. Another one in its place: every Work says so.
    const bool back = Ready(now) && !Ready(before);
    const bool given_up = kube::IsDeleting(now) && !Ready(now) && (Ready(before) || !kube::IsDeleting(before));
    if (back || given_up || (Replaced(now) && !Replaced(before))) catch_up(kube::NameOf(now));
  });
  hub_.members().OnUpdate([catch_up](const std::string& cluster) { catch_up(cluster); });
  // What was looked at before there was a copy, and has gone since, no watch tells of.
  hub_.members().OnSynced([this](const std::string& cluster, const kube::Informer& copy) {
    for (const std::string& key : hub_.works().KeysByIndex(kWorksOfCluster, cluster)) {
      const json::Value& manifest = ManifestOf(hub_.works().Get(key));
      kube::Name name = kube::Name::Of(manifest);
      if (!copy.resource().namespaced) name.ns.clear();
      const bool of_it = kube::KindOf(manifest) == copy.resource().kind &&
                         kube::ParseApiVersion(kube::ApiVersionOf(manifest)).group == copy.resource().group;
      const bool gone = of_it && copy.Get(name.Key()).is_null();
      if (gone && GUARD_STANDS("federation.gone_before_the_copy")) Add(key, kube::Priority::kResync);
    }
  });
}

kube::Controller& ExecuteController::LaneOf(std::string_view key) {
  const std::string_view ns = key.substr(0, key.find('/'));
  auto lane = lanes_.find(ns);
  if (lane == lanes_.end()) {
    const auto reconcile = [this](std::string work) { return Reconcile(std::move(work)); };
    lane = lanes_
               .emplace(ns, std::make_unique<kube::Controller>(
                                hub_.loop(), "execute", reconcile,
                                kube::ControllerOptions{.workers = kLaneWorkers, .log = hub_.options().log}))
               .first;
    if (running_ != nullptr) running_->Spawn(lane->second->Run());
  }
  return *lane->second;
}

void ExecuteController::Add(std::string_view key, kube::Priority priority) { LaneOf(key).Add(key, priority); }

rt::Task<void> ExecuteController::Run() {
  rt::Scope scope(hub_.loop());
  running_ = &scope;
  const struct Stop {
    rt::Scope*& running;
    ~Stop() { running = nullptr; }
  } stop{running_};
  for (auto& [ns, lane] : lanes_) scope.Spawn(lane->Run());
  rt::Event never;
  co_await never.Wait();
}

bool ExecuteController::idle() const {
  return std::ranges::all_of(lanes_, [](const auto& lane) { return lane.second->idle(); });
}

size_t ExecuteController::waiting(std::string_view cluster) const {
  const auto lane = lanes_.find(keys::ExecutionNamespace(cluster));
  return lane == lanes_.end() ? 0 : lane->second->queue().waiting();
}

rt::Task<Result<kube::Resource>> ExecuteController::ResourceOf(Member& member, const json::Value& manifest) {
  const std::string api_version(kube::ApiVersionOf(manifest));
  const size_t slash = api_version.find('/');
  return member.mapper().ForKind(slash == std::string::npos ? "" : api_version.substr(0, slash),
                                 slash == std::string::npos ? api_version : api_version.substr(slash + 1),
                                 std::string(kube::KindOf(manifest)));
}

rt::Task<Result<json::Value>> ExecuteController::Observe(Member& member, const kube::Resource& resource,
                                                         const kube::Name& name) {
  const kube::Informer* copy = member.Find(resource);
  if (copy != nullptr && !copy->Get(name.Key()).is_null()) co_return copy->Get(name.Key());
  // Not in the copy: it may be there without our label, or not be there.
  Result<json::Value> live = co_await member.api().Get(resource, name);
  if (!live.ok() && live.error().kind() == ErrorKind::kNotFound) co_return json::Value();
  co_return live;
}

// That the member is the cluster that joined. A cluster that lost its data answers with its own id, one that was put in
// its place with another.
rt::Task<Result<void>> ExecuteController::CheckIdentity(Member& member) {
  const std::string joined(hub_.clusters().Get(member.name())["spec"]["id"].str());
  if (joined.empty()) co_return Result<void>();
  const json::Value system = CO_TRY(co_await member.api().Get(kNamespaces, {"", "kube-system"}));
  if (kube::UidOf(system) == joined) co_return Result<void>();
  co_return UnavailableError(AnotherCluster(member.name(), joined, kube::UidOf(system)));
}

rt::Task<Result<json::Value>> ExecuteController::Merged(json::Value desired, json::Value observed) {
  json::Value wanted = desired;
  json::Value& metadata = wanted.Edit("metadata");
  metadata.Set("resourceVersion", kube::VersionOf(observed));
  for (const std::string_view field : {"finalizers", "ownerReferences"}) {
    if (observed["metadata"].Has(field)) metadata.Set(field, observed["metadata"][field]);
  }
  MergeMap(wanted, observed, "labels", keys::kManagedLabels);
  MergeMap(wanted, observed, "annotations", keys::kManagedAnnotations);
  if (hub_.interpretation().Has(desired, interpret::Operation::kRetain)) {
    wanted = CO_TRY(co_await hub_.interpretation().Retain(wanted, observed));
  }
  co_return wanted;
}

rt::Task<Result<json::Value>> ExecuteController::Apply(Member& member, const kube::Resource& resource,
                                                       json::Value manifest, bool was_there, std::string* stray) {
  kube::Name name = kube::Name::Of(manifest);
  if (!resource.namespaced) name.ns.clear();
  json::Value observed = CO_TRY(co_await Observe(member, resource, name));
  int64_t seq = -1;
  if (hub_.gate() != nullptr) {
    Admitted admitted = CO_TRY(co_await hub_.gate()->Admit(member.name(), std::move(manifest), observed));
    manifest = std::move(admitted.manifest);
    seq = admitted.seq;
    *stray = std::move(admitted.stray);
  }
  manifest.Edit("metadata").Edit("annotations").Set(kAppliedHash, HashOf(manifest));
  if (observed.is_null()) {
    if (was_there) CO_TRY(co_await CheckIdentity(member));
    // It may be gone because another leader removed its Work, which our copy does not know yet: then it is not made
    // anew.
    const bool look_live = was_there || seq >= 0;
    if (look_live && !CO_TRY(co_await StillWanted(manifest, true))) co_return WasRemoved(name, member);
    Result<json::Value> created = co_await member.api().Create(resource, manifest);
    if (created.ok()) CO_TRY(co_await TakeBackIfUnwanted(member, resource, *created, look_live));
    co_return created;
  }
  const bool overwrite = manifest["metadata"]["annotations"][keys::kConflictResolution].str() == "overwrite";
  if (!Managed(observed) && !overwrite) {
    co_return AlreadyExistsError(
        StrCat(resource.kind, " ", name.Key(), " already exists in cluster ", member.name(),
               " and is not managed by this hub: it is left alone; conflictResolution: Overwrite takes it over"));
  }
  if (seq >= 0) {
    const int64_t there = hub_.gate()->EpochOf(observed);
    if (!GUARD("federation.epoch_at_member", there <= seq)) {
      SOMETIMES("federation.older_epoch_refused");
      co_return ConflictError(StrCat("cluster ", member.name(), " has epoch ", there, " of ", name.Key(),
                                     ", newer than this render's ", seq, ": not written"));
    }
  }
  if (!GUARD("federation.hub_generation", !IsOlderTemplate(manifest, observed))) {
    co_return ConflictError(
        StrCat("cluster ", member.name(), " has a newer generation of ", name.Key(), ": not written"));
  }
  json::Value wanted = CO_TRY(co_await Merged(manifest, observed));
  // The same render as the last one, and all of it is there: nothing to write. What the member defaulted or others
  // added does not differ; a field that was removed on the hub makes another render.
  const bool same_render =
      observed["metadata"]["annotations"][kAppliedHash] == manifest["metadata"]["annotations"][kAppliedHash];
  if (same_render && Contains(Comparable(observed), Comparable(wanted))) co_return observed;
  const std::string key = StrCat(member.name(), "/", resource.plural, "/", name.Key());
  const std::string hash(manifest["metadata"]["annotations"][kAppliedHash].str());
  if (!same_render && HasJustWritten(key, hash))
    co_return ConflictError(StrCat("somebody else writes ", name.Key(), " in cluster ", member.name(), ", too"));
  Result<json::Value> written = co_await member.api().Update(resource, wanted);
  if (!written.ok() && written.error().kind() == ErrorKind::kConflict && member.Find(resource) != nullptr) {
    // The copy was old. Look live, once; the caller comes again after a second conflict.
    SOMETIMES("federation.copy_was_old");
    Result<json::Value> live = co_await member.api().Get(resource, name);
    if (!live.ok()) co_return live;
    // Made anew meanwhile: what was admitted was admitted for another one.
    if (!GUARD("federation.same_object_at_member", kube::UidOf(*live) == kube::UidOf(observed))) co_return written;
    if (seq >= 0 && !GUARD("federation.epoch_at_member", hub_.gate()->EpochOf(*live) <= seq)) {
      SOMETIMES("federation.older_epoch_refused");
      co_return written;
    }
    if (!GUARD("federation.hub_generation", !IsOlderTemplate(manifest, *live))) co_return written;
    wanted = CO_TRY(co_await Merged(manifest, *live));
    written = co_await member.api().Update(resource, wanted);
  }
  if (written.ok()) Wrote(key, hash);
  co_return written;
}

// Two leaders, one of which is none any more and has not heard of a newer Work yet, would write one object in turns, as
// fast as its cluster could.
bool ExecuteController::HasJustWritten(const std::string& key, const std::string& hash) const {
  const auto at = wrote_.find(key);
  return at != wrote_.end() && at->second.hash == hash && hub_.loop().Now() - at->second.at < kOverwrittenRest;
}

void ExecuteController::Wrote(const std::string& key, std::string hash) {
  const MonotonicTime now = hub_.loop().Now();
  if (wrote_.size() >= kWroteMax)
    std::erase_if(wrote_, [&](const auto& one) { return one.second.at + kOverwrittenRest < now; });
  wrote_[key] = {.hash = std::move(hash), .at = now};
}

Error ExecuteController::WasRemoved(const kube::Name& name, const Member& member) {
  return ConflictError(StrCat("the Work of ", name.Key(), " was removed before it arrived in ", member.name()));
}

// Whether the Work of what was rendered is still there, and not on its way out: as the copy has it, or as the hub says
// now. Whoever removes its last finalizer has looked at the member before, and does not look again.
rt::Task<Result<bool>> ExecuteController::StillWanted(const json::Value& manifest, bool look_live) {
  const json::Value& annotations = manifest["metadata"]["annotations"];
  const kube::Name work{std::string(annotations[keys::kWorkNamespace].str()),
                        std::string(annotations[keys::kWorkName].str())};
  const auto stands = [](const json::Value& object) { return !object.is_null() && !kube::IsDeleting(object); };
  if (!look_live || work.name.empty()) co_return stands(hub_.works().Get(work.Key()));
  const Result<json::Value> live = co_await hub_.api().Get(kWorks, work);
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  co_return live.ok() && stands(*live);
}

// A create that comes late has no version to fail on: it may arrive after its Work was removed everywhere, by a leader
// that is none any more. Nobody else would ever look for what it made, nor would this one come again for a Work that is
// gone: so it is tried here until it is done.
rt::Task<Result<void>> ExecuteController::TakeBackIfUnwanted(Member& member, const kube::Resource& resource,
                                                             const json::Value& created, bool look_live) {
  const rt::Deadline deadline = rt::Deadline::After(hub_.loop(), kTakeBackFor);
  rt::RetryPolicy policy{.what = "the answer whether a late copy may stay"};
  policy.retryable = [](const Error& error) {
    return error.kind() != ErrorKind::kConflict && error.kind() != ErrorKind::kNotFound;
  };
  const bool wanted = CO_TRY(
      co_await rt::Retry(hub_.loop(), policy, deadline, [&](rt::Deadline) { return StillWanted(created, look_live); }));
  if (wanted) co_return Result<void>();
  SOMETIMES("federation.late_create_taken_back");
  kube::Name name = kube::Name::Of(created);
  if (!resource.namespaced) name.ns.clear();
  const kube::DeleteOptions that_one{.uid = std::string(kube::UidOf(created)),
                                     .propagation = kube::Propagation::kBackground};
  const Result<json::Value> gone = co_await rt::Retry(
      hub_.loop(), policy, deadline, [&](rt::Deadline) { return member.api().Delete(resource, name, that_one); });
  const bool done =
      gone.ok() || gone.error().kind() == ErrorKind::kNotFound || gone.error().kind() == ErrorKind::kConflict;
  if (!done) co_return gone.error();
  co_return WasRemoved(name, member);
}

rt::Task<ExecuteController::Reflected> ExecuteController::ReflectedStatus(json::Value work, json::Value object) const {
  const json::Value& manifest = ManifestOf(work);
  const std::string_view api_version = kube::ApiVersionOf(manifest);
  const size_t slash = api_version.find('/');
  json::Value identifier =
      json::Object({{"ordinal", 0},
                    {"resource", ""},
                    {"version", slash == std::string_view::npos ? api_version : api_version.substr(slash + 1)},
                    {"kind", kube::KindOf(manifest)},
                    {"name", kube::NameOf(manifest)}});
  if (slash != std::string_view::npos) identifier.Set("group", api_version.substr(0, slash));
  if (!kube::NamespaceOf(manifest).empty()) identifier.Set("namespace", kube::NamespaceOf(manifest));
  Reflected result;
  json::Value item = json::Object({{"identifier", identifier}});
  const Result<json::Value> reflected = co_await hub_.interpretation().ReflectStatus(object);
  if (reflected.ok() && !reflected->is_null()) item.Set("status", *reflected);
  if (!reflected.ok()) {
    result.failed = reflected.error();
    const json::Value& before = work["status"]["manifestStatuses"][0]["status"];
    if (!before.is_null()) item.Set("status", before);
  }
  std::string_view health = "Healthy";
  if (hub_.interpretation().Has(object, interpret::Operation::kHealth)) {
    const Result<bool> healthy = co_await hub_.interpretation().InterpretHealth(object);
    health = !healthy.ok() ? "Unknown" : (*healthy ? "Healthy" : "Unhealthy");
    if (!healthy.ok()) result.failed = healthy.error();
  }
  item.Set("health", health);
  result.manifest_statuses = json::Array({item});
  co_return result;
}

// An instance that may not write is a matter for a person: on the Work, the binding (aggregate), and as an event.
void ExecuteController::TellStray(const json::Value& work, const std::string& stray, json::Value& status) {
  const bool was = FindCondition(work["status"], kStrayWriter)["status"].str() == "True";
  const WallTime now = hub_.loop().WallNow();
  if (!stray.empty()) {
    SetCondition(status, kStrayWriter, "True", "NotTheRecordedObject", stray, now);
    if (!was) hub_.events().Warning(work, kStrayWriter, stray);
  } else if (was) {
    SetCondition(status, kStrayWriter, "False", "RecordedObject", "the object that is on record is there", now);
  }
}

// Where people look: the Work, and the template that it was rendered from.
void ExecuteController::TellFailure(const json::Value& work, const std::string& message) {
  constexpr std::string_view kReason = "SyncFailed";
  hub_.events().Warning(work, kReason, message);
  const json::Value& manifest = ManifestOf(work);
  const json::Value& object = hub_.Template(TemplateKey::Of(manifest));
  if (object.is_null()) return;
  hub_.events().Warning(object, kReason, StrCat("cluster ", ClusterOfWork(work), ": ", message));
}

rt::Task<Result<void>> ExecuteController::WriteStatus(const json::Value& work, const Applied* applied, bool suspended) {
  json::Value next = work;
  json::Value& status = next.Edit("status");
  const WallTime now = hub_.loop().WallNow();
  std::optional<Error> failed;
  if (suspended) {
    const bool news = FindCondition(work["status"], "Dispatching")["status"].str() != "False";
    SetCondition(status, "Dispatching", "False", "SuspendDispatching", "Work dispatching is in a suspended state.",
                 now);
    if (news) hub_.events().Normal(work, "WorkDispatching", "Work dispatching is in a suspended state.");
  } else if (FindCondition(work["status"], "Dispatching")["status"].str() == "False") {
    SetCondition(status, "Dispatching", "True", "Dispatching", "Work is being dispatched to member clusters.", now);
    hub_.events().Normal(work, "WorkDispatching", "Work is being dispatched to member clusters.");
  }
  if (applied != nullptr) {
    if (applied->ok) {
      SetCondition(status, "Applied", "True", "AppliedSuccessful", "Manifest has been successfully applied", now);
    } else {
      const std::string message = StrCat("Failed to apply all manifests (0/1): ", applied->message);
      if (FindCondition(work["status"], "Applied")["message"].str() != message) TellFailure(work, applied->message);
      SetCondition(status, "Applied", "False", "AppliedFailed", message, now);
    }
    // What failed says nothing of which object is there.
    if (applied->ok) TellStray(work, applied->stray, status);
    if (!applied->object.is_null()) {
      Reflected reflected = co_await ReflectedStatus(work, applied->object);
      failed = std::move(reflected.failed);
      status.Set("manifestStatuses", std::move(reflected.manifest_statuses));
    }
  }
  if (failed) hub_.events().Warning(work, "InterpretFailed", failed->message());
  if (status != work["status"]) {
    const Result<json::Value> written = co_await hub_.api().UpdateStatus(kWorks, next);
    if (!written.ok()) co_return written.error();
    hub_.Learn(kWorks, *written);
  }
  // A webhook may answer next time; a script fails again.
  if (failed && failed->kind() == ErrorKind::kUnavailable) co_return *failed;
  co_return Result<void>();
}

rt::Task<Result<bool>> ExecuteController::RemoveFromMember(Member& member, const json::Value& work, Removal removal) {
  const json::Value& manifest = ManifestOf(work);
  Result<kube::Resource> resource = co_await ResourceOf(member, manifest);
  if (!resource.ok()) {
    if (resource.error().kind() == ErrorKind::kNotFound) co_return true;  // the kind is gone, and its objects with it
    co_return resource.error();
  }
  kube::Name name = kube::Name::Of(manifest);
  if (!resource->namespaced) name.ns.clear();
  CO_TRY(co_await CheckIdentity(member));
  Result<json::Value> live = co_await member.api().Get(*resource, name);
  if (!live.ok()) {
    if (live.error().kind() == ErrorKind::kNotFound) co_return true;
    co_return live.error();
  }
  if (!Managed(*live) || !IsOf(*live, manifest)) co_return true;
  if (work["spec"]["preserveResourcesOnDeletion"].bool_or(false)) {
    // Let go: our marks come off, the object stays.
    json::Value free = *live;
    for (const std::string_view field : {"labels", "annotations"}) {
      const json::Value marks = free["metadata"][field];
      for (const json::Member& mark : marks.members()) {
        const bool ours_too = mark.key().find("karmada.io/") != std::string_view::npos || mark.key() == kAppliedHash;
        if (ours_too) free.Edit("metadata").Edit(field).Erase(mark.key());
      }
    }
    const Result<json::Value> written = co_await member.api().Update(*resource, free);
    if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
    co_return true;
  }
  if (kube::IsDeleting(*live)) co_return false;  // its end is told by the watch
  kube::DeleteOptions options{.uid = std::string(kube::UidOf(*live)), .propagation = kube::Propagation::kBackground};
  if (removal == Removal::kAsked) {
    const std::string why = CO_TRY(co_await hub_.gate()->WhyNotYet(ClusterOfWork(work), *live));
    if (!why.empty()) co_return UnavailableError(why);
    options.resource_version = kube::VersionOf(*live);  // what was judged, and nothing newer
  }
  const Result<json::Value> gone = co_await member.api().Delete(*resource, name, std::move(options));
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  live = co_await member.api().Get(*resource, name);
  co_return !live.ok() && live.error().kind() == ErrorKind::kNotFound;
}

// A writer ends with its template, or by a move, not by whoever deletes a Work: that is made anew (render).
rt::Task<Result<ExecuteController::Removal>> ExecuteController::RemovalOf(std::string cluster, json::Value manifest) {
  if (hub_.gate() == nullptr || !hub_.gate()->Manages(manifest)) co_return Removal::kPlain;
  const std::string uid(manifest["metadata"]["annotations"][keys::kTemplateUid].str());
  const TemplateKey key = TemplateKey::Of(manifest);
  if (!CO_TRY(co_await hub_.TemplateStands(key, uid))) co_return Removal::kPlain;
  if (CO_TRY(co_await hub_.gate()->MayRemove(cluster, manifest))) co_return Removal::kAsked;
  SOMETIMES("federation.writer_outlives_its_work");
  hub_.events().Warning(hub_.Template(key), "WriterKept",
                        StrCat("somebody deleted the Work of ", cluster,
                               ", where the one writer of this workload runs, or is to run: it is not removed, and the "
                               "Work is made anew; delete the template to remove the workload"));
  co_return Removal::kNone;
}

rt::Task<kube::Outcome> ExecuteController::Remove(const std::string& key, const json::Value& work) {
  const std::string cluster = ClusterOfWork(work);
  const json::Value cluster_object = hub_.clusters().Get(cluster);
  // Right after a start: who the members are is not known yet, and will be told.
  if (!hub_.members().Known(cluster) && !cluster_object.is_null()) co_return kube::Outcome::WaitFor(kMemberRetry);
  const std::shared_ptr<Member> member = hub_.members().Find(cluster);
  // A cluster that was unjoined takes nothing any more; its objects stay.
  const bool leaves = cluster_object.is_null() || kube::IsDeleting(cluster_object);
  // One that leaves and does not answer is not waited for, nor the end of what it was told to delete.
  const bool given_up = leaves && !Ready(cluster_object);
  if (member != nullptr && !member->closed().empty()) {
    // What is there is not what we made: nothing of it is touched. The Work waits until it is clear which cluster it
    // is.
    if (!leaves) co_return kube::Outcome::Retry(UnavailableError(member->closed()));
  } else if (member != nullptr && !given_up) {
    const Result<Removal> removal = leaves ? Removal::kPlain : co_await RemovalOf(cluster, ManifestOf(work));
    if (!removal.ok()) co_return kube::Outcome::Retry(removal.error());
    const Result<bool> gone =
        *removal == Removal::kNone ? Result<bool>(true) : co_await RemoveFromMember(*member, work, *removal);
    if (!gone.ok()) co_return kube::Outcome::Retry(gone.error());
    if (gone.ok() && !*gone && !leaves) co_return kube::Outcome::WaitFor(kMemberRetry);
  } else if (!leaves) {
    co_return kube::Outcome::Retry(UnavailableError(hub_.members().WhyNot(cluster)));
  }
  const json::Value current = hub_.works().Get(key);
  if (current.is_null()) co_return kube::Outcome::Done();
  json::Value next = current;
  json::Value rest = json::Array();
  for (const json::Value& one : current["metadata"]["finalizers"].items()) {
    if (one.str() != keys::kExecutionFinalizer) rest.Push(one);
  }
  next.Edit("metadata").Set("finalizers", rest);
  const Result<json::Value> written = co_await hub_.api().Update(kWorks, next);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(written.error());
  co_return kube::Outcome::Done();
}

rt::Task<kube::Outcome> ExecuteController::Reconcile(std::string key) {
  const json::Value work = hub_.works().Get(key);
  if (work.is_null()) co_return kube::Outcome::Done();
  const std::string cluster = ClusterOfWork(work);
  const bool suspended = work["spec"]["suspendDispatching"].bool_or(false);
  if (kube::IsDeleting(work)) {
    // A pause is total: what is not dispatched is not deleted either, unless the cluster is on its way out.
    const json::Value& cluster_object = hub_.clusters().Get(cluster);
    if (suspended && !cluster_object.is_null() && !kube::IsDeleting(cluster_object)) {
      co_return kube::Outcome::Of(co_await WriteStatus(work, nullptr, true));
    }
    co_return co_await Remove(key, work);
  }
  // Right after a start: who the members are is not known yet, and will be told.
  const bool unknown = !hub_.members().Known(cluster) && !hub_.clusters().Get(cluster).is_null();
  if (unknown) co_return kube::Outcome::WaitFor(kMemberRetry);
  const std::shared_ptr<Member> member = hub_.members().Find(cluster);
  const json::Value manifest = ManifestOf(work);
  Applied applied;
  if (suspended && GUARD_STANDS("federation.suspension_is_total")) {
    // Status still comes back.
    if (member != nullptr) {
      Result<kube::Resource> resource = co_await ResourceOf(*member, manifest);
      if (resource.ok()) {
        const kube::Informer* copy = member->Find(*resource);
        if (copy != nullptr) applied.object = copy->Get(kube::Name::Of(manifest).Key());
      }
    }
    applied.ok = FindCondition(work["status"], "Applied")["status"].str() == "True";
    co_return kube::Outcome::Of(co_await WriteStatus(work, applied.ok ? &applied : nullptr, true));
  }
  std::optional<Error> failed;
  if (member == nullptr) {
    failed = UnavailableError(hub_.members().WhyNot(cluster));
  } else if (!member->closed().empty()) {
    failed = UnavailableError(member->closed());
  } else {
    Result<kube::Resource> resource = co_await ResourceOf(*member, manifest);
    if (!resource.ok()) {
      failed = resource.error();
    } else {
      member->Watch(*resource);
      const bool was_there = FindCondition(work["status"], "Applied")["status"].str() == "True";
      Result<json::Value> written = co_await Apply(*member, *resource, manifest, was_there, &applied.stray);
      if (written.ok()) {
        applied.ok = true;
        applied.object = *std::move(written);
      } else {
        failed = written.error();
      }
    }
  }
  if (failed) applied.message = failed->message();
  // A conflict is decided again before anybody is told.
  if (failed && failed->kind() == ErrorKind::kConflict) co_return kube::Outcome::Retry(*failed);
  const json::Value current = hub_.works().Get(key);  // it may have changed while we wrote
  if (current.is_null()) co_return kube::Outcome::Done();
  const Result<void> told = co_await WriteStatus(current, &applied, false);
  if (failed) co_return kube::Outcome::Retry(*failed);
  co_return kube::Outcome::Of(told);
}

}  // namespace baton::federation
