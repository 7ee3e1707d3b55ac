// Noticing them, and putting them on hold.
#include "rollout/strays.h"

#include <memory>
#include <vector>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/late_copy.h"
#include "rollout/preflight.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {

namespace keys = api::karmada;

constexpr Duration kSettles = seconds(1);    // a binding that names the cluster may be on its way to us
constexpr Duration kIsRemoved = seconds(5);  // what is held may be about to go
constexpr Duration kStays = minutes(1);      // and is told when it has stayed
constexpr Duration kMoveEnds = seconds(10);  // a safety net: the end of a move is no event of the object
constexpr Duration kKindAgain = minutes(5);  // a safety net: a kind that the member does not serve yet
constexpr char kSeparator = '|';

}  // namespace

std::string Strays::Place::Key() const { return StrCat(cluster, "|", api_version, "|", kind, "|", ns, "|", name); }

Strays::Place Strays::Place::FromKey(std::string_view key) {
  std::vector<std::string_view> parts = Split(key, kSeparator);
  parts.resize(5);
  return {.cluster = std::string(parts[0]),
          .api_version = std::string(parts[1]),
          .kind = std::string(parts[2]),
          .ns = std::string(parts[3]),
          .name = std::string(parts[4])};
}

Strays::Strays(federation::Federation& federation, ProfileSet& profiles)
    : hub_(federation.hub()),
      profiles_(profiles),
      controller_(hub_.loop(), "strays", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub_.options().log}) {
  hub_.OnTemplate([this](const Value&, const Value& now) {
    if (!now.is_null()) Manages(now);
  });
  hub_.members().OnUpdate([this](const std::string& cluster) { WatchIn(cluster); });
  hub_.OnMemberObject([this](const std::string& cluster, const Value& before, const Value& now) {
    Seen(cluster, now.is_null() ? before : now, now.is_null());
  });
}

rt::Task<void> Strays::Run() {
  co_await hub_.WaitSynced();
  co_await controller_.Run();
}

void Strays::Manages(const Value& workload) {
  std::pair<std::string, std::string> kind{kube::ApiVersionOf(workload), kube::KindOf(workload)};
  if (kinds_.contains(kind) || profiles_.Managing(workload) == nullptr) return;
  kinds_.insert(std::move(kind));
  for (const std::string& cluster : hub_.members().Names()) WatchIn(cluster);
}

void Strays::WatchIn(const std::string& cluster) {
  for (const auto& [api_version, kind] : kinds_)
    controller_.Add(Place{.cluster = cluster, .api_version = api_version, .kind = kind, .ns = "", .name = ""}.Key());
}

// By our copies: whether somebody should look.
void Strays::Seen(const std::string& cluster, const Value& object, bool gone) {
  const auto profile = profiles_.ForKind(kube::ApiVersionOf(object), kube::KindOf(object));
  if (profile == nullptr || profile->EpochOf(object) <= 0) return;
  const Place place{.cluster = cluster,
                    .api_version = std::string(kube::ApiVersionOf(object)),
                    .kind = std::string(kube::KindOf(object)),
                    .ns = std::string(kube::NamespaceOf(object)),
                    .name = std::string(kube::NameOf(object))};
  const bool going = gone || kube::IsDeleting(object);
  const bool held = !going && profile->IsHeld(object);
  if (going || held) told_.erase(place.Key());  // should it run again, that is told again
  if (!held) {
    held_copies_.erase(place.Key());
    held_since_.erase(place.Key());
  }
  if (going || Binds(place)) return;
  controller_.AddAfter(place.Key(), held ? kIsRemoved : kSettles);
}

bool Strays::Binds(const Place& place) const {
  const Value& binding = hub_.Binding(StrCat(place.ns, "/", api::karmada::BindingName(place.kind, place.name)));
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    if (cluster["name"].str() == place.cluster) return true;
  }
  return false;
}

rt::Task<kube::Outcome> Strays::Reconcile(std::string key) {
  const Place place = Place::FromKey(key);
  const std::shared_ptr<federation::Member> member = hub_.members().Find(place.cluster);
  if (member == nullptr || !member->closed().empty()) co_return kube::Outcome::Done();
  const kube::GroupVersion version = kube::ParseApiVersion(place.api_version);
  const Result<kube::Resource> resource = co_await member->mapper().ForKind(version.group, version.version, place.kind);
  if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) co_return kube::Outcome::WaitFor(kKindAgain);
  if (!resource.ok()) co_return kube::Outcome::Retry(resource.error());
  if (place.name.empty()) {
    member->Watch(*resource);
    co_return kube::Outcome::Done();
  }
  const Result<bool> in_a_move = co_await HoldStray(place, *member, *resource);
  if (!in_a_move.ok()) co_return kube::Outcome::Retry(in_a_move.error());
  co_return *in_a_move ? kube::Outcome::WaitFor(kMoveEnds) : kube::Outcome::Done();
}

// Gives whether it is to be looked at again: it is part of a move now, or may yet go.
rt::Task<Result<bool>> Strays::HoldStray(const Place& place, federation::Member& member, kube::Resource resource) {
  const Value object = CO_TRY(co_await GetOrNull(member.api(), resource, {place.ns, place.name}));
  const auto profile = profiles_.ForKind(place.api_version, place.kind);
  const int64_t epoch = profile == nullptr || object.is_null() ? -1 : profile->EpochOf(object);
  if (epoch <= 0 || kube::IsDeleting(object)) co_return false;
  // After the object: what the Writer says is at least as new.
  const Value record = CO_TRY(co_await GetOrNull(hub_.api(), kWriters, {place.ns, WriterName(place.kind, place.name)}));
  const Value& workload =
      hub_.Template({.api_version = place.api_version, .kind = place.kind, .ns = place.ns, .name = place.name});
  if (record.is_null() || workload.is_null() || profiles_.Managing(workload) == nullptr || Binds(place))
    co_return false;
  const Writer writer = ReadWriter(record);
  if (writer.holder.cluster == place.cluster) co_return false;
  if (writer.claim && (writer.claim->source.cluster == place.cluster || writer.claim->target.cluster == place.cluster))
    co_return true;
  if (profile->IsHeld(object)) {
    if (CO_TRY(co_await RemoveIfItNeverRan(place, member, resource, object, record))) co_return false;
    const MonotonicTime since = held_since_.try_emplace(place.Key(), hub_.loop().Now()).first->second;
    if (hub_.loop().Now() - since < kStays) co_return true;
    TellHeldCopy(place, record, epoch);
    co_return false;
  }
  SOMETIMES("rollout.stray_found");
  const bool hold = epoch <= writer.seq && GUARD_STANDS("handoff.strays_are_held");
  if (hold) {
    const Value held =
        CO_TRY(profile->Held(object, {.seq = epoch, .cluster = place.cluster, .peer = writer.holder.cluster}));
    CO_TRY(co_await member.api().Update(resource, held));  // carries the version that was looked at
  }
  TellStray(place, record, epoch, hold);
  co_return false;
}

rt::Task<Result<bool>> Strays::RemoveIfItNeverRan(const Place& place, federation::Member& member,
                                                  kube::Resource resource, Value object, Value writer) {
  const auto profile = profiles_.ForKind(place.api_version, place.kind);
  if (!NeverRan(*profile, object, writer["spec"]["seq"].int_or(-1))) co_return false;
  const Value& annotations = object["metadata"]["annotations"];
  const kube::Name work{std::string(annotations[keys::kWorkNamespace].str()),
                        std::string(annotations[keys::kWorkName].str())};
  if (work.name.empty() || !CO_TRY(co_await GetOrNull(hub_.api(), federation::kWorks, work)).is_null()) co_return false;
  SOMETIMES("rollout.late_copy_removed");
  const Result<Value> gone = co_await member.api().Delete(resource, {place.ns, place.name},
                                                          {.uid = std::string(kube::UidOf(object)),
                                                           .resource_version = std::string(kube::VersionOf(object)),
                                                           .propagation = kube::Propagation::kBackground});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  const std::string message =
      StrCat(place.kind, " ", place.name, " was removed from ", place.cluster, " (number ", profile->EpochOf(object),
             "): it was made on hold by a write that came late, and never ran there; ",
             writer["spec"]["holder"]["cluster"].str(), " is the writer");
  hub_.events().Normal(writer, kLateCopyEvent, message);
  co_return true;
}

void Strays::TellStray(const Place& place, const Value& writer, int64_t epoch, bool held) {
  if (!told_.insert(place.Key()).second) return;
  Warn(place, writer, kStrayWriterEvent,
       StrCat(place.kind, " ", place.name, " ran in ", place.cluster, " with number ", epoch, ", and ",
              writer["spec"]["holder"]["cluster"].str(), " is the writer (number ", writer["spec"]["seq"].int_or(0),
              "). ",
              held ? StrCat(place.cluster,
                            " was restored from a backup, or somebody made it: it is held there now. Look at what "
                            "it wrote, then delete it in ",
                            place.cluster, ".")
                   : std::string("The hub knows less than that cluster: docs/ROLLOUT.md, 'The record is gone'. "
                                 "Nothing was done.")));
}

void Strays::TellHeldCopy(const Place& place, const Value& writer, int64_t epoch) {
  if (!held_copies_.insert(place.Key()).second) return;
  SOMETIMES("rollout.held_copy_found");
  Warn(place, writer, kHeldCopyEvent,
       StrCat(place.kind, " ", place.name, " is on hold in ", place.cluster, " (number ", epoch,
              "), and no move of this hub is about it; ", writer["spec"]["holder"]["cluster"].str(),
              " is the writer (number ", writer["spec"]["seq"].int_or(0),
              "). A move left it that the hub has forgotten, as when it is restored from a backup: when you have seen "
              "that the writer has its state, delete it in ",
              place.cluster, ". Until then nothing can be moved there."));
}

void Strays::Warn(const Place& place, const Value& writer, std::string_view reason, const std::string& message) {
  hub_.events().Warning(writer, reason, message);
  const Value& workload =
      hub_.Template({.api_version = place.api_version, .kind = place.kind, .ns = place.ns, .name = place.name});
  if (!workload.is_null()) hub_.events().Warning(workload, reason, message);
}

}  // namespace baton::rollout
