// From a new revision to a move.
#include "rollout/upgrade.h"

#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/pointer.h"
#include "rollout/ask.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kTurn = seconds(5);      // until the limits are looked at again
constexpr Duration kNowhere = seconds(60);  // until other clusters are looked at again

// Without what may differ. A pointer that leads nowhere takes nothing away.
Value Stripped(Value data, const std::vector<std::string>& pass_through) {
  Value& metadata = data.Edit("metadata");
  metadata.Erase("labels");
  metadata.Erase("annotations");
  for (const std::string& text : pass_through) {
    const size_t last = text.rfind('/');
    Value* at = &data;
    bool there = true;
    for (const std::string_view word : Split(std::string_view(text).substr(0, last), '/')) {
      if (word.empty()) continue;
      there = there && at->is_object() && at->Has(word);
      if (there) at = &at->Edit(word);
    }
    if (there && at->is_object()) at->Erase(text.substr(last + 1));
  }
  return data;
}

}  // namespace

bool PassesThrough(const Value& from, const Value& to, const std::vector<std::string>& pass_through) {
  return Stripped(from, pass_through) == Stripped(to, pass_through);
}

Upgrade::Upgrade(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options)
    : hub_(federation.hub()),
      federation_(federation),
      engine_(engine),
      profiles_(profiles),
      options_(options),
      controller_(hub_.loop(), "upgrade", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 1, .log = hub_.options().log}) {
  // Render keeps a template's new revision before it looks at the clusters, and marks the binding as it does.
  hub_.OnBinding([this](const Value&, const Value& now) {
    if (!now.is_null() && !federation::ClustersWithRelease(now).empty()) controller_.Add(kube::Name::Of(now).Key());
  });
  hub_.OnTemplate([this](const Value&, const Value& now) {
    if (now.is_null() || profiles_.Managing(now) == nullptr) return;
    const std::string key = federation::TemplateKey::Of(now).BindingKey();
    if (!federation::ClustersWithRelease(hub_.Binding(key)).empty()) controller_.Add(key);
  });
  engine_.migrations().OnChange([this](const Value& before, const Value& now) {
    if (now.is_null() || before["status"]["phase"] == now["status"]["phase"]) return;
    const Value& workload = now["spec"]["workload"];
    const std::string key =
        StrCat(kube::NamespaceOf(now), "/", WriterName(workload["kind"].str(), workload["name"].str()));
    if (!federation::ClustersWithRelease(hub_.Binding(key)).empty()) controller_.Add(key);
  });
}

rt::Task<void> Upgrade::Run() {
  co_await hub_.WaitSynced();
  co_await engine_.migrations().WaitSynced();
  co_await controller_.Run();
}

rt::Task<kube::Outcome> Upgrade::Reconcile(std::string key) {
  const Value binding = hub_.Binding(key);
  const auto clusters = binding["spec"]["clusters"].items();
  if (binding.is_null() || kube::IsDeleting(binding) || clusters.size() != 1) co_return kube::Outcome::Done();
  const std::string from(clusters[0]["name"].str());
  const Value object = hub_.Template(federation::TemplateKey::OfReference(binding["spec"]["resource"]));
  const std::shared_ptr<const interpret::Profile> profile = object.is_null() ? nullptr : profiles_.Managing(object);
  if (profile == nullptr) co_return kube::Outcome::Done();
  const Value newest = federation_.revisions().Newest(binding, object);
  const Value released = federation_.revisions().Released(binding, from);
  if (newest.is_null()) co_return kube::Outcome::WaitFor(kTurn);  // render keeps it; nothing wakes us when it has
  if (released.is_null() || kube::NameOf(newest) == kube::NameOf(released)) co_return kube::Outcome::Done();
  // While a move is under way the clusters keep what they have.
  const bool moves = binding["spec"]["suspension"]["scheduling"].bool_or(false);
  if (!moves && PassesThrough(released["data"], newest["data"], profile->pass_through())) {
    co_return kube::Outcome::Of(
        co_await federation::ReleaseRevision(hub_.api(), key, from, std::string(kube::NameOf(newest))));
  }
  const Result<std::string> target = federation_.schedule().Elsewhere(key, binding, {from});
  if (!target.ok()) {
    hub_.events().Warning(object, "UpgradeWaits",
                          StrCat("the new revision starts in another cluster, and ", target.error().message()));
    co_return kube::Outcome::WaitFor(kNowhere);
  }
  const std::string generation = StrCat(object["metadata"]["generation"].int_or(0));
  const Result<Asked> asked = co_await AskForMove(hub_, engine_.migrations(),
                                                  {.binding = binding,
                                                   .from = from,
                                                   .to = *target,
                                                   .annotation = kUpgradeMark,
                                                   .mark = StrCat(kube::NameOf(newest), "@", generation),
                                                   .name = StrCat(kube::NameOf(object), "-upgrade-", generation)},
                                                  LimitsOf(hub_.clusters(), options_));
  if (!asked.ok()) co_return kube::Outcome::Retry(asked.error());
  if (*asked == Asked::kBegun)
    hub_.events().Normal(object, "UpgradeBegun",
                         StrCat("its new revision starts in ", *target, "; ", from, " keeps the old one"));
  if (*asked == Asked::kFailedBefore)
    hub_.events().Warning(object, "UpgradeFailed",
                          StrCat(from, " keeps the revision before; it is tried again when the template changes"));
  const bool later = *asked == Asked::kNoRoom || *asked == Asked::kRefusedLately;
  co_return later ? kube::Outcome::WaitFor(kTurn) : kube::Outcome::Done();
}

}  // namespace baton::rollout
