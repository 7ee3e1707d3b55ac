// Keeping revisions on the hub.
#include "federation/revisions.h"

#include <algorithm>
#include <utility>

#include "api/karmada_keys.h"
#include "base/strings.h"
#include "federation/claim.h"
#include "federation/resources.h"

namespace baton::federation {
namespace {

constexpr std::string_view kByBinding = "binding";
const json::Value kNone;

std::string NamespaceOfRevisions(const json::Value& binding) {
  const std::string_view ns = kube::NamespaceOf(binding);
  return std::string(ns.empty() ? api::karmada::kSystemNamespace : ns);
}

bool Contains(const std::vector<std::string>& list, std::string_view one) {
  return std::ranges::find(list, one) != list.end();
}

}  // namespace

const json::Value& Revisions::Plan::For(const std::string& cluster) const {
  const auto found = at.find(cluster);
  return found == at.end() ? newest : found->second;
}

Revisions::Revisions(Hub& hub)
    : hub_(hub), informer_(hub.api(), kControllerRevisions, {.label_selector = std::string(kRevisionOf)}) {
  informer_.AddIndex(std::string(kByBinding), [](const json::Value& revision) {
    return std::vector<std::string>{std::string(revision["metadata"]["annotations"][kRevisionBinding].str())};
  });
  informer_.OnChange([this](const json::Value& before, const json::Value& now) {
    const json::Value& revision = now.is_null() ? before : now;
    if (on_change_) on_change_(std::string(revision["metadata"]["annotations"][kRevisionBinding].str()));
  });
}

const json::Value& Revisions::PolicyOf(const json::Value& binding) const {
  const std::optional<Claim> claim = ClaimOf(binding);
  if (!claim) return kNone;
  return claim->policy.cluster_scoped()
             ? hub_.cluster_policies().Get(claim->policy.name)
             : hub_.policies().Get(StrCat(claim->policy.policy_namespace, "/", claim->policy.name));
}

const json::Value& Revisions::Find(const json::Value& binding, std::string_view name) const {
  return informer_.Get(StrCat(NamespaceOfRevisions(binding), "/", name));
}

std::vector<json::Value> Revisions::Of(const json::Value& binding) const {
  return informer_.ByIndex(kByBinding, kube::Name::Of(binding).Key());
}

rt::Task<Result<json::Value>> Revisions::Keep(const json::Value& binding, const json::Value& object) {
  int64_t last = 0;
  for (const json::Value& one : Of(binding)) last = std::max(last, one["revision"].int_or(0));
  const json::Value wanted = CO_TRY(MakeRevision(hub_.interpreter(), object, binding, last + 1));
  const json::Value& there = Find(binding, kube::NameOf(wanted));
  if (!there.is_null() && !kube::IsDeleting(there)) co_return there;
  Result<json::Value> made = co_await hub_.api().Create(kControllerRevisions, wanted);
  if (!made.ok() && made.error().kind() == ErrorKind::kAlreadyExists) {
    made = co_await hub_.api().Get(kControllerRevisions, kube::Name::Of(wanted));
  }
  if (made.ok()) informer_.Learn(*made);
  co_return made;
}

rt::Task<Result<void>> Revisions::Forget(const json::Value& binding, std::string_view newest, bool all) {
  std::vector<std::string> names = Superseded(Of(binding), binding, newest);
  if (all) {
    names.clear();
    for (const json::Value& one : Of(binding)) names.emplace_back(kube::NameOf(one));
  }
  for (const std::string& name : names) {
    const Result<json::Value> gone =
        co_await hub_.api().Delete(kControllerRevisions, {NamespaceOfRevisions(binding), name});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  co_return Result<void>();
}

rt::Task<Result<json::Value>> Revisions::Write(const std::string& key, const json::Value& before, json::Value binding) {
  if (binding == before) co_return binding;
  Result<json::Value> written = co_await hub_.api().Update(BindingResource(key), binding);
  if (written.ok()) hub_.Learn(BindingResource(key), *written);
  co_return written;
}

rt::Task<Result<Revisions::Plan>> Revisions::Prepare(const std::string& key, json::Value binding,
                                                     const json::Value& object, const std::vector<std::string>& targets,
                                                     const std::vector<std::string>& occupied) {
  Plan plan;
  plan.newest = object;
  const std::vector<std::string> recorded = ClustersWithRelease(binding);
  json::Value next = binding;
  if (!KeepsRevisions(object, PolicyOf(binding))) {
    for (const std::string& cluster : recorded) next = WithoutRelease(std::move(next), cluster);
    if (!recorded.empty()) CO_TRY(co_await Forget(binding, "", true));
    plan.binding = CO_TRY(co_await Write(key, binding, std::move(next)));
    co_return plan;
  }
  const json::Value newest = CO_TRY(co_await Keep(binding, object));
  for (const std::string& cluster : recorded) {
    if (!Contains(targets, cluster) && !Contains(occupied, cluster)) next = WithoutRelease(std::move(next), cluster);
  }
  for (const std::string& cluster : targets) {
    if (!ReleasedTo(next, cluster)) next = WithRelease(std::move(next), cluster, newest);
  }
  // The record first: what a cluster got is known before it gets it.
  plan.binding = CO_TRY(co_await Write(key, binding, std::move(next)));
  for (const std::string& cluster : targets) {
    const std::optional<Release> release = ReleasedTo(plan.binding, cluster);
    const json::Value revision = release ? Find(plan.binding, release->revision) : kNone;
    if (revision.is_null()) {
      plan.unknown[cluster] = StrCat("ControllerRevision ", release ? release->revision : "",
                                     ", which is released there, is gone: what runs there is left as it is until "
                                     "another one is released");
      continue;
    }
    plan.at[cluster] = CO_TRY(TemplateAt(hub_.interpreter(), object, revision, release->generation));
  }
  CO_TRY(co_await Forget(plan.binding, kube::NameOf(newest), false));
  co_return plan;
}

bool Revisions::Keeps(const json::Value& binding, const json::Value& object) const {
  return KeepsRevisions(object, PolicyOf(binding));
}

const json::Value& Revisions::Newest(const json::Value& binding, const json::Value& object) const {
  if (!KeepsRevisions(object, PolicyOf(binding))) return kNone;
  const Result<json::Value> wanted = MakeRevision(hub_.interpreter(), object, binding, 0);
  return wanted.ok() ? Find(binding, kube::NameOf(*wanted)) : kNone;
}

const json::Value& Revisions::Released(const json::Value& binding, std::string_view cluster) const {
  const std::optional<Release> release = ReleasedTo(binding, cluster);
  return release ? Find(binding, release->revision) : kNone;
}

Result<json::Value> Revisions::TemplateIn(const json::Value& binding, const json::Value& object,
                                          std::string_view cluster) const {
  const std::optional<Release> release = ReleasedTo(binding, cluster);
  if (!release || !KeepsRevisions(object, PolicyOf(binding))) return object;
  const json::Value& revision = Find(binding, release->revision);
  if (revision.is_null())
    return UnavailableError(
        StrCat("ControllerRevision ", release->revision, ", which runs in ", cluster, ", is not there"));
  return TemplateAt(hub_.interpreter(), object, revision, release->generation);
}

std::vector<json::Value> Revisions::ReleasedTemplates(const json::Value& binding, const json::Value& object,
                                                      bool& complete) const {
  std::vector<json::Value> templates;
  for (const std::string& cluster : ClustersWithRelease(binding)) {
    const std::optional<Release> release = ReleasedTo(binding, cluster);
    const json::Value& revision = release ? Find(binding, release->revision) : kNone;
    Result<json::Value> at = InvalidError("not known");
    if (!revision.is_null()) at = TemplateAt(hub_.interpreter(), object, revision, release->generation);
    complete = complete && at.ok();
    if (at.ok()) templates.push_back(*std::move(at));
  }
  return templates;
}

rt::Task<Result<void>> ReleaseRevision(kube::Api& hub, std::string binding_key, std::string cluster,
                                       std::string revision) {
  const kube::Name name = kube::Name::FromKey(binding_key);
  const json::Value binding = CO_TRY(co_await hub.Get(BindingResource(binding_key), name));
  const json::Value released =
      CO_TRY(co_await hub.Get(kControllerRevisions, {NamespaceOfRevisions(binding), revision}));
  if (released["metadata"]["annotations"][kRevisionBinding].str() != binding_key) {
    co_return InvalidError(StrCat("ControllerRevision ", revision, " is not one of binding ", binding_key));
  }
  const json::Value next = WithRelease(binding, cluster, released);
  if (next == binding) co_return Result<void>();
  CO_TRY(co_await hub.Update(BindingResource(binding_key), next));
  co_return Result<void>();
}

}  // namespace baton::federation
