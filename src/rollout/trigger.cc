// From an annotation to a StatefulMigration.
#include "rollout/trigger.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "rollout/ask.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr Duration kWriterComes = seconds(1);  // a workload gets its Writer when it is first placed
constexpr std::string_view kTriggeredAnnotation = "rollout.karmada.io/triggered";  // on a migration: by which wish

std::string_view WishOf(const Value& object) { return object["metadata"]["annotations"][kTriggerAnnotation].str(); }

std::string_view MarkOf(const Value& migration) {
  return migration["metadata"]["annotations"][kTriggeredAnnotation].str();
}

bool Ended(const Value& migration) {
  const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
  return phase && IsEnd(*phase);
}

// The mark of the wish with that number.
std::string MarkFor(const Value& writer, int64_t number) { return StrCat(kube::UidOf(writer), "/", number); }

// The number in a mark of that Writer's; 0: it is none.
int64_t NumberIn(std::string_view mark, const Value& writer) {
  const std::string before = StrCat(kube::UidOf(writer), "/");
  return mark.starts_with(before) ? std::strtol(std::string(mark.substr(before.size())).c_str(), nullptr, 10) : 0;
}

federation::TemplateKey KeyOf(const Value& workload, std::string_view ns) {
  return {.api_version = std::string(workload["apiVersion"].str()),
          .kind = std::string(workload["kind"].str()),
          .ns = std::string(ns),
          .name = std::string(workload["name"].str())};
}

}  // namespace

Trigger::Trigger(federation::Hub& hub, Engine& engine, ProfileSet& profiles)
    : hub_(hub),
      engine_(engine),
      profiles_(profiles),
      controller_(hub.loop(), "trigger", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub.options().log}) {
  hub_.OnTemplate([this](const Value& before, const Value& now) {
    if (now.is_null() || profiles_.ForKind(kube::ApiVersionOf(now), kube::KindOf(now)) == nullptr) return;
    const federation::TemplateKey key = federation::TemplateKey::Of(now);
    const bool wished = !before["metadata"]["annotations"][kTriggerAnnotation].is_null() ||
                        !now["metadata"]["annotations"][kTriggerAnnotation].is_null();
    // Of one that is seen for the first time nobody knows whether it had the annotation before.
    if (wished || (before.is_null() && HasWish(key))) controller_.Add(key.ToString());
  });
  engine_.writers().OnChange([this](const Value&, const Value& now) {
    if (!now["spec"]["trigger"].str().empty()) LookInto(KeyOf(now["spec"]["workload"], kube::NamespaceOf(now)));
  });
  engine_.migrations().OnChange([this](const Value&, const Value& now) {
    if (!MarkOf(now).empty() && !Ended(now)) LookInto(KeyOf(now["spec"]["workload"], kube::NamespaceOf(now)));
  });
}

rt::Task<void> Trigger::Run() {
  co_await engine_.migrations().WaitSynced();
  co_await controller_.Run();
}

// Something of a wish is there: is the annotation?
void Trigger::LookInto(const federation::TemplateKey& key) {
  const Value& object = hub_.Template(key);
  if (!object.is_null() && WishOf(object).empty()) controller_.Add(key.ToString());
}

// By our copies.
bool Trigger::HasWish(const federation::TemplateKey& key) const {
  const std::string writer = StrCat(key.ns, "/", WriterName(key.kind, key.name));
  return !engine_.writers().Get(writer)["spec"]["trigger"].str().empty() ||
         std::ranges::any_of(MovesOf(key), [](const Value& move) { return !MarkOf(move).empty() && !Ended(move); });
}

std::vector<Value> Trigger::MovesOf(const federation::TemplateKey& key) const {
  std::vector<Value> moves;
  for (const std::string& move : engine_.MovesOf(key.kind, key.ns, key.name))
    moves.push_back(engine_.migrations().Get(move));
  return moves;
}

rt::Task<kube::Outcome> Trigger::Reconcile(std::string text) {
  const federation::TemplateKey key = federation::TemplateKey::FromString(text);
  const Value object = hub_.Template(key);
  if (object.is_null() || kube::IsDeleting(object)) co_return kube::Outcome::Done();
  const std::string target(WishOf(object));
  const kube::Name name{std::string(kube::NamespaceOf(object)), WriterName(kube::KindOf(object), kube::NameOf(object))};
  Result<Value> writer = co_await hub_.api().Get(kWriters, name);
  if (!writer.ok()) {
    if (writer.error().kind() == ErrorKind::kNotFound)
      co_return target.empty() ? kube::Outcome::Done() : kube::Outcome::WaitFor(kWriterComes);
    co_return kube::Outcome::Retry(writer.error());
  }
  if (target.empty()) co_return kube::Outcome::Of(co_await TakeBack(key, *std::move(writer)));
  const std::string consumed((*writer)["spec"]["trigger"].str());
  if (GUARD_STANDS("handoff.a_wish_counts_once") && target == consumed) co_return kube::Outcome::Done();
  co_return kube::Outcome::Of(co_await Start(object, *writer, target));
}

rt::Task<Result<void>> Trigger::Consume(Value writer, std::string value) {
  if (value.empty()) {
    writer.Edit("spec").Erase("trigger");
  } else {
    writer.Edit("spec").Set("trigger", value);
    writer.Edit("spec").Set("triggers", writer["spec"]["triggers"].int_or(0) + 1);
  }
  const Result<Value> written = co_await hub_.api().Update(kWriters, writer);
  if (!written.ok()) co_return written.error();
  co_return Result<void>();
}

// The name and the mark follow from the wish, which is counted in the Writer: a second try of the same wish finds the
// move that the first one made, whatever became of it since, and a new wish gets a new move.
rt::Task<Result<void>> Trigger::Start(const Value& object, const Value& writer, std::string target) {
  const bool last = GUARD_STANDS("handoff.a_wish_is_consumed_last");
  if (!last) CO_TRY(co_await Consume(writer, target));
  const int64_t number = writer["spec"]["triggers"].int_or(0) + 1;
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  Value& metadata = migration.Edit("metadata");
  metadata.Set("name", StrCat(kube::NameOf(object), "-to-", target, "-t", number));
  metadata.Set("namespace", kube::NamespaceOf(object));
  metadata.Set("annotations", json::Object({{kTriggeredAnnotation, MarkFor(writer, number)}}));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", kube::ApiVersionOf(object)},
                                                                 {"kind", kube::KindOf(object)},
                                                                 {"name", kube::NameOf(object)}})},
                                      {"target", target}}));
  const Result<bool> made =
      co_await MakeOnce(hub_, engine_.migrations(), std::move(migration), std::string(kTriggeredAnnotation));
  if (made.ok() && *made) SOMETIMES("rollout.wish_was_granted_before");
  // A value that can name no cluster is said once, and not tried again.
  const bool refused = !made.ok() && made.error().kind() == ErrorKind::kInvalid;
  if (refused) hub_.events().Warning(object, "MigrationRefused", made.error().message());
  if (!made.ok() && !refused) co_return made.error();
  if (!last) co_return Result<void>();
  co_return co_await Consume(writer, target);
}

// Which moves that is: rollout/trigger.h. What was read before the template is older than the absence of the wish.
rt::Task<Result<void>> Trigger::TakeBack(federation::TemplateKey key, Value writer) {
  const Result<kube::Resource> resource = co_await hub_.ResourceOf(key.api_version, key.kind);
  if (!resource.ok()) co_return resource.error();
  // Our copy may be older than the wish, which another leader has acted on.
  const Result<Value> live = co_await hub_.api().Get(*resource, {key.ns, key.name});
  if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return live.error();
  if (!live.ok() || !WishOf(*live).empty()) co_return Result<void>();

  const std::vector<Value> moves = MovesOf(key);
  int64_t number = writer["spec"]["triggers"].int_or(0);
  for (const Value& move : moves) number = std::max(number, NumberIn(MarkOf(move), writer));
  if (number > writer["spec"]["triggers"].int_or(0)) {
    // A leader made its move and died before it counted the wish. The next wish is another one, with a move of its own.
    writer.Edit("spec").Set("triggers", number);
    writer = CO_TRY(co_await hub_.api().Update(kWriters, writer));
  }
  const Writer read = ReadWriter(writer);
  const std::string consumed(writer["spec"]["trigger"].str());
  const bool goes_on = read.claim && read.claim->intent == Intent::kForward;
  const bool granted = read.claim && read.holder.cluster == read.claim->target.cluster;
  Value rejected;  // the wish's own
  Value under_way;
  for (const Value& move : moves) {
    const bool claimed = read.claim && read.claim->migration_uid == kube::UidOf(move);
    const int64_t wish = NumberIn(MarkOf(move), writer);
    if (claimed) under_way = move;
    if (wish == number && move["status"]["phase"].str() == PhaseName(Phase::kRejected)) rejected = move;
    const bool over = Ended(move) || read.ended_uid == kube::UidOf(move);
    if (wish == 0 || over || (claimed && (granted || !goes_on))) continue;
    CO_TRY(co_await Abort(kube::Name::Of(move), std::string(kube::UidOf(move))));
  }
  // RFC 3339 in UTC sorts as time does.
  const bool shared =
      !rejected.is_null() && !under_way.is_null() && read.claim->target.cluster == consumed &&
      under_way["metadata"]["creationTimestamp"].str() <= rejected["metadata"]["creationTimestamp"].str();
  if (shared && goes_on && !granted)
    CO_TRY(co_await Abort(kube::Name::Of(under_way), std::string(kube::UidOf(under_way))));
  if (consumed.empty()) co_return Result<void>();
  co_return co_await Consume(std::move(writer), "");
}

rt::Task<Result<void>> Trigger::Abort(kube::Name migration, std::string uid) {
  const Result<Value> live = co_await hub_.api().Get(kMigrations, migration);
  if (!live.ok()) co_return live.error().kind() == ErrorKind::kNotFound ? Result<void>() : Result<void>(live.error());
  if (kube::UidOf(*live) != uid || Ended(*live) || (*live)["spec"]["abort"].bool_or(false)) co_return Result<void>();
  const Result<Value> asked = co_await hub_.api().Patch(
      kMigrations, migration, kube::PatchType::kMerge,
      json::Object({{"metadata", json::Object({{"uid", uid}})}, {"spec", json::Object({{"abort", true}})}}));
  if (!asked.ok() && asked.error().kind() != ErrorKind::kNotFound) co_return asked.error();
  co_return Result<void>();
}

}  // namespace baton::rollout
