// The look that leads to the grant, made by our copies of the hub while the hub is asked whether they hold.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "api/karmada_names.h"
#include "base/strings.h"
#include "rollout/engine.h"
#include "rollout/question.h"

namespace baton::rollout {

using json::Value;

// Nobody writes from when the source has stopped until the target starts. So when our copies say that the stop may be
// proven, the members are asked for the proof at once, and not only when the hub has told again what the copies say:
// migration, Writer and template are read meanwhile (StillHolds), binding and override are not. Whatever that look
// says, it counts for the grant alone: that is a compare-and-swap on the Writer, and rests on the Writer and the
// members.
rt::Task<std::optional<Engine::Look>> Engine::LookAhead(Value migration) {
  Result<MigrationSpec> spec = ReadMigration(migration, hub_.loop().WallNow());
  if (!options_.own_hub || !spec.ok() || spec->migration.phase != Phase::kQuiescing) co_return std::nullopt;
  Look known;
  known.object = migration;
  known.spec = *std::move(spec);
  const std::string ns(kube::NamespaceOf(migration));
  known.writer_object = writers_.Get(StrCat(ns, "/", WriterName(known.spec.kind, known.spec.workload)));
  known.writer = ReadWriter(known.writer_object);
  known.profile = profiles_.ForKind(known.spec.api_version, known.spec.kind);
  const std::optional<Claim>& claim = known.writer.claim;
  const bool stops = claim && claim->migration_uid == known.spec.migration.uid && known.writer.stop &&
                     claim->intent == Intent::kForward && known.writer.holder.cluster == claim->source.cluster;
  // What is made beside a workload while it stops is made by who has read the Writer.
  if (!stops || known.profile == nullptr || known.profile->HasBeside()) co_return std::nullopt;
  if (!co_await SeemsStopped(known)) co_return std::nullopt;
  const std::string binding = api::karmada::BindingName(known.spec.kind, known.spec.workload);
  HubCopies copies{.binding = hub_.Binding(StrCat(ns, "/", binding)),
                   .override_policy = hub_.overrides().Get(StrCat(ns, "/", OverrideName(known.spec.migration.uid))),
                   .workload = std::nullopt};
  Result<Look> look = co_await Observe(migration, known.writer_object, std::move(copies));
  co_return look.ok() ? std::optional(*std::move(look)) : std::nullopt;
}

rt::Task<bool> Engine::SeemsStopped(const Look& look) {
  const std::shared_ptr<federation::Member> member = hub_.members().Find(look.writer.claim->source.cluster);
  if (member == nullptr) co_return false;
  const kube::GroupVersion version = kube::ParseApiVersion(look.spec.api_version);
  const Result<kube::Resource> resource =
      co_await member->mapper().ForKind(version.group, version.version, look.spec.kind);
  const kube::Informer* told = resource.ok() ? member->Find(*resource) : nullptr;
  if (told == nullptr) co_return false;
  const Value& object = told->Get(StrCat(kube::NamespaceOf(look.object), "/", look.spec.workload));
  if (object.is_null()) co_return false;
  const Value alone = json::Object({{"remains", json::Array()}, {"kept", json::Array()}});
  const Result<interpret::Judgement> judged =
      look.profile->Judge(object, alone, QuestionFor(look.writer_object, look.writer, *look.profile, false));
  co_return judged.ok() && judged->stop_proven && !judged->capture.empty();
}

// A look by copies counts when the hub, asked since it began, has the same of both: they were so before anything was
// looked at, as if they had been read first.
std::optional<Engine::Look> Engine::StillHolds(std::optional<Look> ahead, const Value& object, const Value& writer) {
  const auto same = [](const Value& copy, const Value& live) {
    return !live.is_null() && kube::UidOf(copy) == kube::UidOf(live) && kube::VersionOf(copy) == kube::VersionOf(live);
  };
  if (!ahead || !same(ahead->object, object) || !same(ahead->writer_object, writer)) return std::nullopt;
  ahead->object = object;  // a copy lacks what nobody but the server reads
  ahead->writer_object = writer;
  return ahead;
}

bool Engine::IsGrant(const Decision& decision, const Look& look) {
  const auto* swap = std::get_if<SwapWriter>(&decision.effect);
  const std::optional<Claim>& claim = look.writer.claim;
  return swap != nullptr && claim && look.writer.holder.cluster == claim->source.cluster &&
         swap->writer.holder.cluster == claim->target.cluster;
}

}  // namespace baton::rollout
