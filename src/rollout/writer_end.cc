// What of a workload is left, and the end of its Writer.
#include "rollout/writer_end.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/karmada_keys.h"
#include "base/guard.h"
#include "base/strings.h"
#include "federation/render.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "rollout/gate.h"
#include "rollout/preflight.h"
#include "rollout/records.h"
#include "rt/when.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kGoesByItself = minutes(1);  // what is being deleted takes a while: nobody need be told
constexpr Duration kPodsGo = seconds(2);        // a safety net: what a workload made goes without an event of its own
constexpr Duration kStays = seconds(30);        // the same when a person was told

std::string WorkloadOf(const Value& writer) {
  const Value& workload = writer["spec"]["workload"];
  return StrCat(workload["kind"].str(), " ", workload["name"].str());
}

// A Deployment's pods name the ReplicaSet between, which is named after it.
bool IsMadeBy(const Value& object, std::string_view kind, std::string_view name) {
  return std::ranges::any_of(object["metadata"]["ownerReferences"].items(), [&](const Value& owner) {
    const std::string_view its = owner["name"].str();
    return (owner["kind"].str() == kind && its == name) ||
           (owner["kind"].str() == "ReplicaSet" && its.substr(0, its.rfind('-')) == name);
  });
}

// What a workload that is gone has made and left there, of the kinds that its profile names; "": nothing. Its own
// selector is gone with it: where that would say which, its name as their owner does.
rt::Task<Result<std::string>> MadeAndLeft(federation::Member& member, const interpret::Profile& profile, std::string ns,
                                          std::string name) {
  for (const interpret::Related& related : profile.related()) {
    if (related.keep) continue;
    const kube::GroupVersion version = kube::ParseApiVersion(related.api_version);
    const Result<kube::Resource> resource =
        co_await member.mapper().ForKind(version.group, version.version, related.kind);
    if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) continue;
    if (!resource.ok()) co_return resource.error();
    const std::string of = resource->namespaced ? ns : std::string();
    if (!related.name.empty()) {
      const std::string named = interpret::WithName(related.name, name);
      if (!CO_TRY(co_await GetOrNull(member.api(), *resource, {of, named})).is_null())
        co_return StrCat(related.kind, " ", named);
      continue;
    }
    const bool by_owner = !related.selector.empty();
    const std::string selector = by_owner ? std::string() : interpret::SelectorFor(related, name, Value());
    const kube::Listed listed =
        CO_TRY(co_await member.api().ListAll(*resource, {.ns = of, .label_selector = selector}));
    for (const Value& one : listed.items) {
      if (!by_owner || IsMadeBy(one, profile.kind().kind, name)) co_return StrCat(related.kind, " ", kube::NameOf(one));
    }
  }
  co_return std::string();
}

rt::Task<Result<std::string>> LookThere(const Value& writer, NamedCluster cluster, federation::Member& member,
                                        const interpret::Profile& profile) {
  const Value home = CO_TRY(co_await member.api().Get(federation::kNamespaces, {"", "kube-system"}));
  if (!cluster.id.empty() && kube::UidOf(home) != cluster.id)
    co_return UnavailableError(federation::AnotherCluster(cluster.name, cluster.id, kube::UidOf(home)));
  const Value& workload = writer["spec"]["workload"];
  const std::string ns(kube::NamespaceOf(writer));
  const std::string name(workload["name"].str());
  const kube::GroupVersion version = kube::ParseApiVersion(workload["apiVersion"].str());
  Result<kube::Resource> resource =
      co_await member.mapper().ForKind(version.group, version.version, std::string(workload["kind"].str()));
  if (!resource.ok() && resource.error().kind() != ErrorKind::kNotFound) co_return resource.error();
  const Value object = resource.ok() ? CO_TRY(co_await GetOrNull(member.api(), *resource, {ns, name})) : Value();
  // Somebody's own of that name, or let go and its number taken away: it is none of ours.
  const bool marked = object["metadata"]["labels"][api::karmada::kManaged].str() == api::karmada::kTrue;
  if (!object.is_null() && profile.EpochOf(object) <= 0 && !marked) co_return std::string();
  if (!object.is_null()) {
    co_return StrCat(WorkloadOf(writer), " is in ", cluster.name,
                     kube::IsDeleting(object) ? ", being deleted: look at what keeps it there"
                                              : ": delete it there; or, if it is to go on by itself, remove its number "
                                                "(docs/ROLLOUT.md, 'The end of a Writer')");
  }
  const std::string made = CO_TRY(co_await MadeAndLeft(member, profile, ns, name));
  if (made.empty()) co_return std::string();
  co_return StrCat(made, " of ", WorkloadOf(writer), " is still in ", cluster.name, ": look at what keeps it there");
}

}  // namespace

rt::Task<Result<std::string>> StillIn(kube::Api& hub, federation::Members& members, Value writer, NamedCluster cluster,
                                      std::shared_ptr<const interpret::Profile> profile) {
  const Value object = CO_TRY(co_await GetOrNull(hub, federation::kClusters, {"", cluster.name}));
  // It has left, or another one has its name since: nobody can be asked.
  const std::string_view joined = object["spec"]["id"].str();
  if (object.is_null() || (!cluster.id.empty() && !joined.empty() && joined != cluster.id)) co_return std::string();
  const bool vouched = object["metadata"]["annotations"][kNothingRunsAnnotation].str() == "true";
  const auto silent = [&](std::string_view why) {
    if (vouched) return std::string();
    return StrCat(cluster.name, " does not answer (", why, "), and ", WorkloadOf(writer),
                  " may be there: bring it back; or, when you know that nothing of this hub's runs there: kubectl "
                  "annotate cluster ",
                  cluster.name, " ", kNothingRunsAnnotation, "=true; or give it up: `baton unjoin ", cluster.name,
                  " --force`");
  };
  const std::shared_ptr<federation::Member> member = members.Find(cluster.name);
  if (member == nullptr) co_return silent(members.WhyNot(cluster.name));
  const Result<std::string> seen = co_await rt::WithDeadline(
      rt::Deadline::After(hub.loop(), kSightTimeout), "its answer", LookThere(writer, cluster, *member, *profile));
  co_return seen.ok() ? *seen : silent(seen.error().message());
}

std::vector<NamedCluster> ClustersNamedBy(const Value& writer) {
  const Value& spec = writer["spec"];
  std::set<NamedCluster> named;
  const auto add = [&](std::string_view name, std::string_view id) {
    if (!name.empty()) named.insert({.name = std::string(name), .id = std::string(id)});
  };
  add(spec["holder"]["cluster"].str(), spec["holder"]["clusterID"].str());
  Value receipts = spec["receipts"];
  receipts.Push(spec["receipt"]);
  for (const Value& receipt : receipts.items()) {
    add(receipt["from"].str(), receipt["fromID"].str());
    add(receipt["to"].str(), receipt["toID"].str());
  }
  return {named.begin(), named.end()};
}

WriterEnd::WriterEnd(federation::Federation& federation, Engine& engine, ProfileSet& profiles)
    : hub_(federation.hub()),
      engine_(engine),
      profiles_(profiles),
      controller_(hub_.loop(), "writer-end", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub_.options().log}) {
  engine_.writers().OnChange([this](const Value& before, const Value& now) {
    if (now.is_null()) told_.erase(std::string(kube::UidOf(before)));
    if (kube::IsDeleting(now)) controller_.Add(kube::Name::Of(now).Key());
  });
  const auto of = [](const Value& object) {
    return StrCat(kube::NamespaceOf(object), "/", WriterName(kube::KindOf(object), kube::NameOf(object)));
  };
  hub_.OnTemplate([this, of](const Value& before, const Value& now) {
    if (now.is_null()) Look(of(before));
  });
  hub_.OnBinding([this](const Value& before, const Value& now) {
    if (now.is_null()) Look(kube::Name::Of(before).Key());  // a Writer is named as its binding
  });
  hub_.OnMemberObject([this, of](const std::string&, const Value& before, const Value& now) {
    if (now.is_null()) Look(of(before));
  });
}

void WriterEnd::Look(const std::string& key) {
  if (kube::IsDeleting(engine_.writers().Get(key))) controller_.Add(key);
}

rt::Task<void> WriterEnd::Run() {
  co_await hub_.WaitSynced();
  co_await engine_.writers().WaitSynced();
  co_await controller_.Run();
}

rt::Task<kube::Outcome> WriterEnd::Reconcile(std::string key) {
  Result<Value> writer = co_await GetOrNull(hub_.api(), kWriters, kube::Name::FromKey(key));
  if (!writer.ok()) co_return kube::Outcome::Retry(writer.error());
  if (!kube::IsDeleting(*writer)) co_return kube::Outcome::Done();
  const Result<std::string> way = co_await InTheWay(*writer);
  if (!way.ok()) co_return kube::Outcome::Retry(way.error());
  if (way->empty()) co_return kube::Outcome::Of(co_await LetGo(*std::move(writer)));
  const Result<WallTime> since = json::ParseTime((*writer)["metadata"]["deletionTimestamp"].str());
  if (since.ok() && hub_.loop().WallNow() - *since < kGoesByItself) co_return kube::Outcome::WaitFor(kPodsGo);
  co_await Tell(*writer, *way);
  co_return kube::Outcome::WaitFor(kStays);
}

rt::Task<Result<void>> WriterEnd::LetGo(Value writer) {
  Value rest = json::Array();
  for (const Value& one : writer["metadata"]["finalizers"].items()) {
    if (one.str() != kFinalizer) rest.Push(one);
  }
  if (rest.size() == writer["metadata"]["finalizers"].size()) co_return Result<void>();  // others keep it
  writer.Edit("metadata").Set("finalizers", rest);
  const Result<Value> written = co_await hub_.api().Update(kWriters, writer);  // of the version that was looked at
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  co_return Result<void>();
}

rt::Task<void> WriterEnd::Tell(const Value& writer, std::string why) {
  std::string& last = told_[std::string(kube::UidOf(writer))];
  if (last == why) co_return;
  last = why;
  const std::string message = StrCat("Writer ", kube::NameOf(writer), " is being deleted, and stays: ", why);
  hub_.events().Warning(writer, kWriterStaysEvent, message);
  const Result<Value> ns =
      co_await hub_.api().Get(federation::kNamespaces, {"", std::string(kube::NamespaceOf(writer))});
  if (ns.ok() && kube::IsDeleting(*ns)) hub_.events().Warning(*ns, kWriterStaysEvent, message);
}

// The Writer was read before all of it: what is found is at least as new.
rt::Task<Result<std::string>> WriterEnd::InTheWay(const Value& writer) {
  const std::string hub = CO_TRY(co_await OnTheHub(writer));
  if (!hub.empty()) co_return hub;
  if (!GUARD_STANDS("handoff.writer_outlives_its_workload")) co_return std::string();
  const Value& workload = writer["spec"]["workload"];
  const auto profile = profiles_.ForKind(workload["apiVersion"].str(), workload["kind"].str());
  if (profile == nullptr) {
    co_return StrCat("no MigrationProfile says what belongs to a ", workload["kind"].str(),
                     ", so nobody can see whether it is gone: apply it again (`kubectl get migrationprofiles`)");
  }
  std::vector<rt::Task<Result<std::string>>> looks;
  for (const NamedCluster& cluster : ClustersNamedBy(writer))
    looks.push_back(StillIn(hub_.api(), hub_.members(), writer, cluster, profile));
  std::string all;
  for (const Result<std::string>& one : co_await rt::WhenAll(std::move(looks))) {
    if (!one.ok()) co_return one;
    if (!one->empty()) StrAppend(all, all.empty() ? "" : "; ", *one);
  }
  co_return all;
}

rt::Task<Result<std::string>> WriterEnd::OnTheHub(const Value& object) {
  const Writer writer = ReadWriter(object);
  const Value& workload = object["spec"]["workload"];
  const std::string ns(kube::NamespaceOf(object));
  if (writer.claim) co_return StrCat("StatefulMigration ", writer.claim->migration, " has not ended");
  // Whose end is on record and not told yet would find no record, and never end.
  const kube::Listed migrations = CO_TRY(co_await hub_.api().ListAll(kMigrations, {.ns = ns}));
  for (const Value& migration : migrations.items) {
    const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
    if (kube::UidOf(migration) == writer.ended_uid && !(phase && IsEnd(*phase)))
      co_return StrCat("StatefulMigration ", kube::NameOf(migration), " has not told its end");
  }
  const Result<kube::Resource> resource =
      co_await hub_.ResourceOf(std::string(workload["apiVersion"].str()), std::string(workload["kind"].str()));
  if (!resource.ok() && resource.error().kind() != ErrorKind::kNotFound) co_return resource.error();
  if (resource.ok() &&
      !CO_TRY(co_await GetOrNull(hub_.api(), *resource, {ns, std::string(workload["name"].str())})).is_null()) {
    co_return StrCat(WorkloadOf(object),
                     " is on the hub, and is guarded by it as before. It goes with that: kubectl -n ", ns, " delete ",
                     ToLower(workload["kind"].str()), " ", workload["name"].str());
  }
  const std::string name(kube::NameOf(object));
  if (CO_TRY(co_await GetOrNull(hub_.api(), federation::kResourceBindings, {ns, name})).is_null())
    co_return std::string();
  std::string where;
  hub_.works().ForEach([&](std::string_view, const Value& work) {
    if (federation::BindingOfWork(work) != StrCat(ns, "/", name)) return;
    StrAppend(where, where.empty() ? "" : ", ", federation::ClusterOfWork(work));
  });
  co_return StrCat(WorkloadOf(object), " is still being removed", where.empty() ? "" : " from ", where,
                   ": look at what keeps it there, and at ResourceBinding ", name,
                   "; a cluster that is lost for good is given up by `baton unjoin NAME --force`");
}

}  // namespace baton::rollout
