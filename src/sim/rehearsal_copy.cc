// Putting a copy of a fleet into a world, until all of it runs.
#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/records.h"
#include "sim/rehearsal_stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

const kube::Resource* PolicyKind(const Value& object) {
  static const std::vector<kube::Resource> kKinds = {federation::kPropagationPolicies,
                                                     federation::kClusterPropagationPolicies,
                                                     federation::kOverridePolicies,
                                                     federation::kClusterOverridePolicies,
                                                     federation::kClusterTaintPolicies,
                                                     federation::kCustomizations,
                                                     rollout::kProfiles};
  const auto at = std::ranges::find_if(kKinds, [&](const kube::Resource& one) {
    return one.kind == kube::KindOf(object) && one.ApiVersion() == kube::ApiVersionOf(object);
  });
  return at == kKinds.end() ? nullptr : &*at;
}

}  // namespace

rt::Task<void> RehearsalStage::Create(kube::Resource resource, Value object) {
  const std::string told = StrCat(kube::KindOf(object), " ", kube::Name::Of(object).Key());
  const Result<Value> made = co_await world_.hub().Create(std::move(resource), std::move(object));
  if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists)
    result_.refused.push_back(StrCat(told, ": ", made.error().message()));
}

rt::Task<void> RehearsalStage::Namespaces() {
  std::set<std::string> all;
  for (const Value& object : fleet_.objects) all.emplace(kube::NamespaceOf(object));
  for (const FleetWorkload& workload : fleet_.workloads) all.emplace(kube::NamespaceOf(workload.object));
  for (const std::string& ns : all) {
    if (ns.empty()) continue;
    co_await Create(
        federation::kNamespaces,
        json::Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", ns}})}}));
  }
}

// Each binding is there before the controllers are: they find everything placed, as after a restart.
rt::Task<void> RehearsalStage::Put() {
  co_await Namespaces();
  for (const Value& object : fleet_.objects) {
    if (const kube::Resource* resource = PolicyKind(object)) co_await Create(*resource, object);
  }
  for (const FleetWorkload& workload : fleet_.workloads) {
    const Result<Value> made = co_await world_.hub().Create(ResourceOf(workload), workload.object);
    if (!made.ok()) {
      result_.unsettled[workload.Name()] = made.error().message();
      continue;
    }
    Value binding = workload.binding;
    binding.Edit("spec").Edit("resource").Set("uid", kube::UidOf(*made));
    binding.Edit("spec").Edit("resource").Erase("resourceVersion");
    const Value status = binding["status"];
    binding.Erase("status");
    Result<Value> bound = co_await world_.hub().Create(federation::kResourceBindings, binding);
    if (!bound.ok()) {
      result_.unsettled[workload.Name()] = StrCat("its binding: ", bound.error().message());
      continue;
    }
    if (!status.is_null()) {
      bound->Set("status", status);
      [[maybe_unused]] const Result<Value> told =
          co_await world_.hub().UpdateStatus(federation::kResourceBindings, *bound);
    }
    workloads_.push_back(&workload);
  }
}

rt::Task<void> RehearsalStage::Settle() {
  const auto settled = [this](const FleetWorkload* one) { return Runs(one->cluster, *one); };
  co_await world_.Until([&]() -> rt::Task<bool> { co_return std::ranges::all_of(workloads_, settled); },
                        kRehearsalSettles);
  for (const FleetWorkload* one : workloads_) {
    if (settled(one)) continue;
    const Value there = co_await world_.OnMember(one->cluster, ResourceOf(*one), one->Key());
    const Value binding = co_await BindingOf(*one);
    result_.unsettled[one->Name()] = StrCat(
        "it does not run in ", one->cluster, "; its status there: ", there["status"].ToString().substr(0, kStatusShown),
        ", on the hub: ", binding["status"]["conditions"].ToString().substr(0, kStatusShown));
  }
  std::erase_if(workloads_, [&](const FleetWorkload* one) { return !settled(one); });
  co_await world_.loop().Sleep(seconds(10));  // a few checkpoints
}

rt::Task<Value> RehearsalStage::BindingOf(const FleetWorkload& workload) {
  return world_.OnHub(federation::kResourceBindings, kube::Name::Of(workload.binding).Key());
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
