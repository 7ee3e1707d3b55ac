// From an annotation to a StatefulMigration.
#include "rollout/trigger.h"

#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

namespace {
constexpr Duration kWriterComes = seconds(1);  // a workload gets its Writer when it is first placed
constexpr int kNamesMax = 20;                  // tries to find a name that is free
constexpr std::string_view kTriggeredAnnotation = "rollout.karmada.io/triggered";  // on a migration: by which wish

}  // namespace

Trigger::Trigger(federation::Hub& hub, ProfileSet& profiles)
    : hub_(hub),
      profiles_(profiles),
      controller_(hub.loop(), "trigger", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 2, .log = hub.options().log}) {
  hub_.OnTemplate([this](const Value& before, const Value& now) {
    if (now.is_null() || profiles_.ForKind(kube::ApiVersionOf(now), kube::KindOf(now)) == nullptr) return;
    const Value& was = before["metadata"]["annotations"][kTriggerAnnotation];
    const Value& is = now["metadata"]["annotations"][kTriggerAnnotation];
    if (was.is_null() && is.is_null()) return;
    controller_.Add(federation::TemplateKey::Of(now).ToString());
  });
}

rt::Task<kube::Outcome> Trigger::Reconcile(std::string key) {
  const Value object = hub_.Template(federation::TemplateKey::FromString(key));
  if (object.is_null() || kube::IsDeleting(object)) co_return kube::Outcome::Done();
  const std::string target(object["metadata"]["annotations"][kTriggerAnnotation].str());
  const kube::Name name{std::string(kube::NamespaceOf(object)), WriterName(kube::KindOf(object), kube::NameOf(object))};
  Result<Value> writer = co_await hub_.api().Get(kWriters, name);
  if (!writer.ok()) {
    if (writer.error().kind() == ErrorKind::kNotFound)
      co_return target.empty() ? kube::Outcome::Done() : kube::Outcome::WaitFor(kWriterComes);
    co_return kube::Outcome::Retry(writer.error());
  }
  const std::string consumed((*writer)["spec"]["trigger"].str());
  if (GUARD_STANDS("handoff.a_wish_counts_once") && target == consumed) co_return kube::Outcome::Done();
  if (target.empty()) co_return kube::Outcome::Of(co_await Abort(object, *writer));
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
  const std::string mark = StrCat(kube::UidOf(writer), "/", number);
  const std::string name = StrCat(kube::NameOf(object), "-to-", target, "-t", number);
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  migration.Edit("metadata").Set("namespace", kube::NamespaceOf(object));
  migration.Edit("metadata").Set("annotations", json::Object({{kTriggeredAnnotation, mark}}));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", kube::ApiVersionOf(object)},
                                                                 {"kind", kube::KindOf(object)},
                                                                 {"name", kube::NameOf(object)}})},
                                      {"target", target}}));
  for (int tries = 1; tries <= kNamesMax; ++tries) {
    migration.Edit("metadata").Set("name", tries == 1 ? name : StrCat(name, "-", tries));
    const Result<Value> made = co_await hub_.api().Create(kMigrations, migration);
    if (made.ok()) break;
    if (made.error().kind() == ErrorKind::kInvalid) {
      // A value that can name no cluster is said once, and not tried again.
      hub_.events().Warning(object, "MigrationRefused", made.error().message());
      break;
    }
    if (made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
    // Somebody else's (of an earlier workload of that name, or a person's), or ours from before a crash.
    const Result<Value> there = co_await hub_.api().Get(kMigrations, kube::Name::Of(migration));
    if (!there.ok()) co_return there.error();
    if ((*there)["metadata"]["annotations"][kTriggeredAnnotation].str() == mark) {
      SOMETIMES("rollout.wish_was_granted_before");
      break;
    }
    if (tries == kNamesMax) co_return made.error();
  }
  if (!last) co_return Result<void>();
  co_return co_await Consume(writer, target);
}

rt::Task<Result<void>> Trigger::Abort(const Value& /*object*/, const Value& writer) {
  const Writer read = ReadWriter(writer);
  const bool granted = read.claim && read.holder.cluster == read.claim->target.cluster;
  if (read.claim && !granted) {
    const Result<Value> asked =
        co_await hub_.api().Patch(kMigrations, {std::string(kube::NamespaceOf(writer)), read.claim->migration},
                                  kube::PatchType::kMerge, json::Object({{"spec", json::Object({{"abort", true}})}}));
    if (!asked.ok() && asked.error().kind() != ErrorKind::kNotFound) co_return asked.error();
  }
  co_return co_await Consume(writer, "");
}

}  // namespace baton::rollout
