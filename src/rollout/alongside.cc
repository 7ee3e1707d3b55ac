// Writers for what another federation placed.
#include "rollout/alongside.h"

#include <utility>

#include "api/karmada_keys.h"
#include "base/guard.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "interpret/retain_fence.h"
#include "rollout/records.h"
#include "rt/scope.h"

namespace baton::rollout {
namespace {

constexpr Duration kLookLater = seconds(10);  // a safety net: the binding's next change wakes it sooner

}  // namespace

Alongside::Alongside(federation::Federation& federation, Gate& gate, ProfileSet& profiles, const Logger* log)
    : federation_(federation),
      hub_(federation.hub()),
      gate_(gate),
      profiles_(profiles),
      doors_(hub_),
      controller_(hub_.loop(), "alongside", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = log}) {
  hub_.OnBinding([this](const json::Value& before, const json::Value& now) {
    if (now.is_null()) return;
    const json::Value& resource = now["spec"]["resource"];
    if (profiles_.ForKind(resource["apiVersion"].str(), resource["kind"].str()) == nullptr) return;
    const bool same = !before.is_null() && before["spec"] == now["spec"] && before["status"] == now["status"];
    if (!same) controller_.Add(kube::Name::Of(now).Key());
  });
}

rt::Task<void> Alongside::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(federation_.RunCopies());
  co_await hub_.WaitSynced();
  scope.Spawn(doors_.Run());
  scope.Spawn(controller_.Run());
  co_await scope.Join();
}

// There, and as this version of ours makes it. A kind that the federation or a user has a retention for already keeps
// that: two cannot be, and the moves of that kind have one fence less.
rt::Task<Result<void>> Alongside::Fence(const interpret::Profile& profile, const json::Value& binding) {
  const std::optional<json::Value> fence = interpret::RetainFence(profile);
  if (!fence || unfenced_.contains(profile.name())) co_return Result<void>();
  if (!GUARD_STANDS("rollout.fence_on_a_foreign_hub")) co_return Result<void>();
  const std::string name = interpret::RetainFenceName(profile);
  const json::Value there = hub_.customizations().Get(name);
  if (there["spec"] == (*fence)["spec"]) co_return Result<void>();
  Result<json::Value> written = json::Value();
  if (!there.is_null()) {
    json::Value next = there;
    next.Set("spec", (*fence)["spec"]);
    written = co_await hub_.api().Update(federation::kCustomizations, next);
  } else if (hub_.interpreter().Has(profile.kind(), interpret::Operation::kRetain)) {
    written = Error(ErrorKind::kForbidden, "it has a retention of its own");
  } else {
    written = co_await hub_.api().Create(federation::kCustomizations, *fence);
  }
  if (written.ok() || written.error().kind() == ErrorKind::kAlreadyExists) co_return Result<void>();
  const ErrorKind why = written.error().kind();
  if (why != ErrorKind::kForbidden && why != ErrorKind::kInvalid && why != ErrorKind::kNotFound)
    co_return written.error();
  unfenced_.insert(profile.name());
  hub_.events().Warning(
      binding, "NotFenced",
      StrCat("moves of ", profile.kind().kind, " have one fence less on this hub: its customization ", name,
             " cannot be made: ", written.error().message(), " (docs/ROLLOUT.md, 'Beside another federation')"));
  co_return Result<void>();
}

rt::Task<kube::Outcome> Alongside::Reconcile(std::string key) {
  const json::Value binding = hub_.Binding(key);
  if (binding.is_null() || kube::IsDeleting(binding)) co_return kube::Outcome::Done();
  const federation::TemplateKey of = federation::TemplateKey::OfReference(binding["spec"]["resource"]);
  const bool watched = co_await hub_.WatchTemplates(of.api_version, of.kind);
  const json::Value object = hub_.Template(of);
  if (object.is_null()) {
    const bool known = watched && hub_.TemplatesKnown(of.api_version, of.kind);
    co_return known ? kube::Outcome::Done() : kube::Outcome::WaitFor(kLookLater);
  }
  const std::shared_ptr<const interpret::Profile> profile = profiles_.Managing(object);
  if (profile == nullptr || binding["spec"]["clusters"].size() != 1) co_return kube::Outcome::Done();
  const Result<void> fenced = co_await Fence(*profile, binding);
  if (!fenced.ok()) co_return kube::Outcome::Retry(fenced.error());
  const kube::Name writer{of.ns, WriterName(of.kind, of.name)};
  const Result<json::Value> there = co_await hub_.api().Get(kWriters, writer);
  if (there.ok()) co_return kube::Outcome::Done();
  if (there.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(there.error());
  const std::string cluster(binding["spec"]["clusters"][0]["name"].str());
  const std::shared_ptr<federation::Member> member = hub_.members().Find(cluster);
  if (member == nullptr) co_return kube::Outcome::WaitFor(kLookLater);
  Result<kube::Resource> resource = co_await member->mapper().ForObject(object);
  if (!resource.ok()) co_return kube::Outcome::Retry(resource.error());
  const Result<json::Value> observed = co_await member->api().Get(*resource, kube::Name::Of(object));
  if (!observed.ok() && observed.error().kind() == ErrorKind::kNotFound) co_return kube::Outcome::WaitFor(kLookLater);
  if (!observed.ok()) co_return kube::Outcome::Retry(observed.error());
  json::Value manifest = object;
  manifest.Edit("metadata").Edit("annotations").Set(api::karmada::kTemplateUid, kube::UidOf(object));
  const Result<federation::Admitted> admitted = co_await gate_.Admit(cluster, std::move(manifest), *observed);
  if (!admitted.ok()) co_return kube::Outcome::Retry(admitted.error());
  co_return kube::Outcome::Done();
}

}  // namespace baton::rollout
