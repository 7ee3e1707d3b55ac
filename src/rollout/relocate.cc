// From a wish of the scheduler to a move.
#include "rollout/relocate.h"

#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kTurn = seconds(5);  // until the limits are looked at again
constexpr size_t kMarkDigits = 12;

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
}

rt::Task<void> Relocate::Run() {
  co_await hub_.WaitSynced();
  co_await engine_.migrations().WaitSynced();
  co_await controller_.Run();
}

rt::Task<kube::Outcome> Relocate::Reconcile(std::string key) {
  const Value binding = hub_.Binding(key);
  const std::string target = federation_.schedule().Wish(key);
  const auto clusters = binding["spec"]["clusters"].items();
  // Several writers are its owner's wish, and not a move.
  const bool movable = !target.empty() && target.find(',') == std::string::npos && clusters.size() == 1;
  const std::string from(movable ? clusters[0]["name"].str() : "");
  if (binding.is_null() || kube::IsDeleting(binding) || !movable || from == target) {
    wishes_.erase(key);
    co_return kube::Outcome::Done();
  }
  const Value& object = hub_.Template(federation::TemplateKey::OfReference(binding["spec"]["resource"]));
  if (object.is_null() || profiles_.Managing(object) == nullptr || WantsEmpty(hub_.clusters().Get(from)))
    co_return kube::Outcome::Done();
  const std::string mark =
      Sha256Hex(StrCat(kube::UidOf(binding), "|", from, "|", target, "|", binding["spec"]["placement"].ToString(), "|",
                       binding["spec"]["rescheduleTriggeredAt"].str()))
          .substr(0, kMarkDigits);
  const MonotonicTime now = hub_.loop().Now();
  Wish& wish = wishes_[key];
  if (wish.mark != mark) wish = {.mark = mark, .since = now};
  if (now < wish.since + kWishSettles) co_return kube::Outcome::WaitFor(wish.since + kWishSettles - now);

  int before = 0;
  bool failed = false;
  bool moving = false;
  int out = 0;
  int in = 0;
  const Value& reference = binding["spec"]["resource"];
  engine_.migrations().ForEach([&](std::string_view, const Value& migration) {
    const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
    const bool ended = phase && IsEnd(*phase);
    const Value& workload = migration["spec"]["workload"];
    const bool same = workload["name"] == reference["name"] && workload["kind"] == reference["kind"] &&
                      kube::NamespaceOf(migration) == kube::NamespaceOf(binding);
    if (same && !ended) moving = true;
    if (!ended && migration["status"]["source"].str_or(std::string(migration["spec"]["source"].str())) == from) ++out;
    if (!ended && migration["spec"]["target"].str() == target) ++in;
    if (migration["metadata"]["annotations"][kWishMark].str() != mark) return;
    ++before;
    failed = failed || (ended && phase != Phase::kSucceeded);
  });
  if (moving || failed) co_return kube::Outcome::Done();  // its end, or another wish, wakes us
  const MoveLimits limits = LimitsOf(hub_.clusters(), options_);
  if (out >= limits.Out(from) || in >= limits.In(target)) co_return kube::Outcome::WaitFor(kTurn);
  co_return kube::Outcome::Of(co_await Start(binding, target, mark, before + 1));
}

rt::Task<Result<void>> Relocate::Start(const Value& binding, const std::string& target, const std::string& mark,
                                       int number) {
  const Value& reference = binding["spec"]["resource"];
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  Value& metadata = migration.Edit("metadata");
  metadata.Set("name", StrCat(reference["name"].str(), "-wish-", mark, "-", number));
  metadata.Set("namespace", kube::NamespaceOf(binding));
  metadata.Set("annotations", json::Object({{kWishMark, mark}}));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", reference["apiVersion"]},
                                                                 {"kind", reference["kind"]},
                                                                 {"name", reference["name"]}})},
                                      {"target", target}}));
  const Result<Value> made = co_await hub_.api().Create(kMigrations, migration);
  if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  if (made.ok()) {
    engine_.migrations().Learn(*made);
    hub_.events().Normal(binding, "MigrationBegun",
                         StrCat("its placement wants it in ", target, ": StatefulMigration ", kube::NameOf(migration)));
  }
  co_return Result<void>();
}

}  // namespace baton::rollout
