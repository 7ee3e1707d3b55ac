// From a wish of the scheduler to a move.
#include "rollout/relocate.h"

#include <set>
#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/ask.h"
#include "rollout/preflight.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kTurn = seconds(5);  // until the limits are looked at again
constexpr size_t kMarkDigits = 12;

// The clusters of the binding that the wish leaves; null: it wants another one, or has them all.
Value LeftBy(const Value& binding, std::string_view wish) {
  std::set<std::string_view> wanted;
  for (const std::string_view name : Split(wish, ',')) wanted.insert(name.substr(name.find_first_not_of(' ')));
  Value left = json::Array();
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    if (wanted.contains(cluster["name"].str())) left.Push(cluster);
  }
  const bool fewer = left.size() == wanted.size() && left.size() < binding["spec"]["clusters"].size();
  return fewer ? left : Value();
}

}  // namespace

Relocate::Relocate(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options)
    : hub_(federation.hub()),
      federation_(federation),
      engine_(engine),
      profiles_(profiles),
      options_(options),
      controller_(hub_.loop(), "relocate", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 1, .log = hub_.options().log}) {
  hub_.OnBinding([this](const Value& before, const Value& now) {
    const std::string key = kube::Name::Of(now.is_null() ? before : now).Key();
    if (now.is_null()) {
      wishes_.erase(key);
      return;
    }
    const bool wanted = federation::FindCondition(now["status"], "MigrationWanted")["status"].str() == "True";
    if (wanted || wishes_.contains(key)) controller_.Add(key);
  });
  // What was wished for while another move was under way is asked for when that has ended.
  engine_.migrations().OnChange([this](const Value& before, const Value& now) {
    if (!now.is_null() && before["status"]["phase"] == now["status"]["phase"]) return;
    const Value& migration = now.is_null() ? before : now;
    const Value& workload = migration["spec"]["workload"];
    const std::string key =
        StrCat(kube::NamespaceOf(migration), "/", WriterName(workload["kind"].str(), workload["name"].str()));
    if (wishes_.contains(key)) controller_.Add(key);
  });
}

rt::Task<void> Relocate::Run() {
  co_await hub_.WaitSynced();
  co_await engine_.migrations().WaitSynced();
  co_await controller_.Run();
}

// Only where no Writer says that one of them is the writer: with one, the gate holds the others, and a person is told.
rt::Task<kube::Outcome> Relocate::Shrink(std::string key, std::string wish) {
  const kube::Name name = kube::Name::FromKey(key);
  const Result<Value> binding = co_await GetOrNull(hub_.api(), federation::kResourceBindings, name);
  if (!binding.ok()) co_return kube::Outcome::Retry(binding.error());
  const Value left = LeftBy(*binding, wish);
  const Result<Value> writer = co_await GetOrNull(hub_.api(), kWriters, name);  // it is named as its binding
  if (!writer.ok()) co_return kube::Outcome::Retry(writer.error());
  const bool suspended = (*binding)["spec"]["suspension"]["scheduling"].bool_or(false);
  if (left.is_null() || !writer->is_null() || suspended || kube::IsDeleting(*binding)) co_return kube::Outcome::Done();
  Value next = *binding;
  next.Edit("spec").Set("clusters", left);
  const Result<Value> written = co_await hub_.api().Update(federation::kResourceBindings, next);
  if (!written.ok()) co_return kube::Outcome::Retry(written.error());
  hub_.Learn(federation::kResourceBindings, *written);
  hub_.events().Normal(*written, "CopyRemoved",
                       StrCat("its policy had put it on several clusters, and wants it in ", wish, " only"));
  co_return kube::Outcome::Done();
}

rt::Task<kube::Outcome> Relocate::Reconcile(std::string key) {
  const Value binding = hub_.Binding(key);
  const std::string target = federation_.schedule().Wish(key);
  const bool fewer = !target.empty() && !LeftBy(binding, target).is_null();
  const auto clusters = binding["spec"]["clusters"].items();
  // Several writers are its owner's wish, and not a move.
  const bool movable = !target.empty() && target.find(',') == std::string::npos && clusters.size() == 1;
  const std::string from(movable ? clusters[0]["name"].str() : "");
  // Of a binding that a move has in hand, or a person has paused, the scheduler says nothing: what it wished for counts
  // anew, from its beginning, when it may decide again.
  const bool suspended = binding["spec"]["suspension"]["scheduling"].bool_or(false);
  if (binding.is_null() || kube::IsDeleting(binding) || suspended || (!movable && !fewer) || from == target) {
    wishes_.erase(key);
    co_return kube::Outcome::Done();
  }
  const Value& object = hub_.Template(federation::TemplateKey::OfReference(binding["spec"]["resource"]));
  if (object.is_null() || profiles_.Managing(object) == nullptr || WantsEmpty(hub_.clusters().Get(from)))
    co_return kube::Outcome::Done();
  const std::string mark =
      Sha256Hex(StrCat(kube::UidOf(binding), "|", from, "|", target, "|", binding["spec"]["placement"].ToString(), "|",
                       binding["spec"]["rescheduleTriggeredAt"].str(), "|",
                       federation_.revisions().PolicyOf(binding)["metadata"]["generation"].ToString()))
          .substr(0, kMarkDigits);
  const MonotonicTime now = hub_.loop().Now();
  Wish& wish = wishes_[key];
  if (wish.mark != mark) wish = {.mark = mark, .since = now};
  if (now < wish.since + kWishSettles) co_return kube::Outcome::WaitFor(wish.since + kWishSettles - now);
  if (fewer) co_return co_await Shrink(key, target);

  const Result<Asked> asked = co_await AskForMove(hub_, engine_.migrations(),
                                                  {.binding = binding,
                                                   .from = from,
                                                   .to = target,
                                                   .annotation = kWishMark,
                                                   .mark = mark,
                                                   .name = StrCat(kube::NameOf(object), "-wish-", mark)},
                                                  LimitsOf(hub_.clusters(), options_));
  if (!asked.ok()) co_return kube::Outcome::Retry(asked.error());
  if (*asked == Asked::kBegun) {
    hub_.events().Normal(binding, "MigrationBegun",
                         StrCat("its placement wants it in ", target, ": it is moved there"));
  }
  const bool later = *asked == Asked::kNoRoom || *asked == Asked::kRefusedLately;
  co_return later ? kube::Outcome::WaitFor(kTurn) : kube::Outcome::Done();
}

}  // namespace baton::rollout
