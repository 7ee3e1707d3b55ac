// What a profile wants beside a workload in its cluster: made before it is needed, removed at the end of the move.
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/engine.h"

namespace baton::rollout {
namespace {

using json::Value;

constexpr std::string_view kFieldManager = "baton-profile";

// Of the workload itself only annotations, and only of the very object that was looked at.
rt::Task<Result<void>> Annotate(kube::Api& api, kube::Resource resource, const Value& object, const Value& wanted) {
  const Value patch = json::Object(
      {{"metadata", json::Object({{"uid", kube::UidOf(object)}, {"annotations", wanted["metadata"]["annotations"]}})}});
  const Result<Value> written =
      co_await api.Patch(std::move(resource), kube::Name::Of(object), kube::PatchType::kMerge, patch);
  if (!written.ok()) co_return written.error();
  co_return Result<void>();
}

}  // namespace

rt::Task<Result<void>> Engine::MakeBeside(federation::Member& member, const Look& look, const Value& object,
                                          const Value& related, const interpret::Question& question) {
  for (Value wanted : CO_TRY(look.profile->Beside(object, related, question))) {
    const kube::Resource resource = CO_TRY(co_await member.mapper().ForObject(wanted));
    const bool itself = kube::ApiVersionOf(wanted) == kube::ApiVersionOf(object) &&
                        kube::KindOf(wanted) == kube::KindOf(object) && kube::NameOf(wanted) == kube::NameOf(object);
    if (itself) {
      CO_TRY(co_await Annotate(member.api(), resource, object, wanted));
      continue;
    }
    Value& metadata = wanted.Edit("metadata");
    if (resource.namespaced) metadata.Set("namespace", kube::NamespaceOf(object));
    if (wanted["remove"].bool_or(false)) {
      const Result<Value> gone =
          co_await member.api().Delete(resource, kube::Name::Of(wanted), {.uid = std::string(kube::UidOf(wanted))});
      if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
      continue;
    }
    if (metadata["annotations"][interpret::kBesideKeep].str() != "true")
      metadata.Edit("labels").Set(interpret::kBesideLabel, look.spec.migration.uid);
    CO_TRY(co_await member.api().Apply(resource, std::move(wanted),
                                       {.field_manager = std::string(kFieldManager), .force = true}));
  }
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::RemoveBeside(const Look& look) {
  if (look.profile == nullptr || !look.profile->HasBeside()) co_return Result<void>();
  for (const std::string_view cluster :
       {look.object["status"]["source"].str(), look.object["status"]["target"].str()}) {
    const Result<void> gone = co_await RemoveBesideFrom(std::string(cluster), look);
    if (!gone.ok() && MustBeClean(look, cluster)) co_return gone;
  }
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::RemoveBesideFrom(std::string cluster, const Look& look) {
  const std::shared_ptr<federation::Member> member = CO_TRY(co_await MemberToClean(cluster));
  if (member == nullptr) co_return Result<void>();
  const std::string selector = StrCat(interpret::kBesideLabel, "=", look.spec.migration.uid);
  for (const interpret::Related& related : look.profile->related()) {
    if (!related.keep) continue;
    const kube::GroupVersion version = kube::ParseApiVersion(related.api_version);
    const Result<kube::Resource> resource =
        co_await member->mapper().ForKind(version.group, version.version, related.kind);
    if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) continue;
    if (!resource.ok()) co_return resource.error();
    const std::string ns(resource->namespaced ? kube::NamespaceOf(look.object) : "");
    const kube::Listed listed =
        CO_TRY(co_await member->api().ListAll(*resource, {.ns = ns, .label_selector = selector}));
    for (const Value& one : listed.items) {
      const Result<Value> gone =
          co_await member->api().Delete(*resource, kube::Name::Of(one), {.uid = std::string(kube::UidOf(one))});
      if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
    }
  }
  co_return Result<void>();
}

}  // namespace baton::rollout
