// Asking for a move: a StatefulMigration is made, the controllers do the rest.
#include "cli/migrate_command.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/follow.h"
#include "json/rfc3339.h"
#include "rollout/records.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr int kNamesMax = 100;  // moves of one workload to one cluster in one epoch, each of which came to nothing

constexpr const char* kMigrateHelp =
    "Usage: baton migrate KIND/NAME --to CLUSTER [--wait] [OPTIONS]\n"
    "\n"
    "Moves a workload to another cluster: it is stopped where it runs, its state is proven, and it is started there "
    "from\n"
    "it. Until the new place is proven the way back is open. Makes a StatefulMigration and prints its name; asking "
    "again\n"
    "while it is under way gives the same one.\n"
    "\n"
    "Examples:\n"
    "  baton migrate flinkdeployment/orders --to member2 --wait\n"
    "  baton migrate flinkdep/orders --to member2 -n prod --approve-before Quiesce\n"
    "  baton migrate flinkdep/orders --to member2 --wait --timeout 30m --on-failure Hold\n"
    "\n"
    "Exit codes with --wait: 0 the move succeeded; 3 it was aborted or rolled back, and the source runs; 4 it was\n"
    "rejected before anything was done; 5 at the timeout it waits for a person; 6 at the timeout it is still under "
    "way\n"
    "(it goes on); 1 an error; 2 a wrong command line.\n"
    "\n"
    "  --to CLUSTER           where to\n"
    "  --name NAME            of the StatefulMigration; default <workload>-to-<cluster>-<epoch>\n"
    "  --wait                 until it has ended, showing how it goes\n"
    "  --timeout 10m          of --wait\n"
    "  --stabilization 10s    how long it must be healthy in its new place before it counts as moved\n"
    "  --on-failure WHAT      Rollback (default): go back by itself; Hold: wait for a person\n"
    "  --capture-fallback WHAT\n"
    "                         LastCheckpoint: a job that does not run is moved from its last checkpoint; without this\n"
    "                         it is not moved. Sinks that are not transactional see again what came after it\n"
    "  --approve-before STEP  Quiesce: wait for `baton approve` before the workload is stopped; Cleanup: before the\n"
    "                         way back is closed; Quiesce,Cleanup: both\n"
    "  --not-before TIME      do not stop the workload before, as 2026-11-21T22:00:00Z; everything else is prepared\n"
    "  -o FORMAT              json, yaml or name: print the object so; not with --wait\n";

constexpr const char* kUndoHelp =
    "Usage: baton undo KIND/NAME [--wait] [OPTIONS]\n"
    "\n"
    "Moves a workload back to where it came from, as the newest receipt of its Writer says: a move like any other, "
    "with\n"
    "its own capture, so nothing that was processed since is lost.\n"
    "\n"
    "Examples:\n"
    "  baton undo flinkdeployment/orders --wait\n"
    "  baton undo flinkdep/orders -n prod\n"
    "  baton undo flinkdep/orders --wait --timeout 30m\n"
    "\n"
    "Exit codes are those of `baton migrate`.\n"
    "\n"
    "  --wait, --timeout, --name, --stabilization, --on-failure, --approve-before, -o   as in `baton migrate`\n";

std::vector<Flag> MoveFlags(std::vector<Flag> more = {}) {
  std::vector<Flag> flags = {{"--name", "NAME"},
                             {"--wait"},
                             {"--timeout", "10m"},
                             {"--stabilization", "10s"},
                             {"--on-failure", "WHAT"},
                             {"--approve-before", "STEP"},
                             {"--not-before", "TIME"},
                             {"--output", "FORMAT", "-o"},
                             {"--capture-fallback", "WHAT"}};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

}  // namespace

Result<void> CheckMoveFlags(const Flags& flags) {
  const std::string workload = TRY(flags.Only("KIND/NAME, what is to be moved,"));
  if (workload.find('/') == std::string::npos) {
    return InvalidError(StrCat("'", workload, "' is not KIND/NAME, for example flinkdeployment/orders"));
  }
  const Duration stable = TRY(flags.GetDuration("--stabilization", seconds(1)));
  if (stable % seconds(1) != Duration::zero() || stable > minutes(24 * 60)) {
    return InvalidError("--stabilization: whole seconds, a day at most");
  }
  const std::string failure = flags.Get("--on-failure", "Rollback");
  if (failure != "Rollback" && failure != "Hold")
    return InvalidError(StrCat("--on-failure: '", failure, "' is neither Rollback nor Hold"));
  const std::string fallback = flags.Get("--capture-fallback", "LastCheckpoint");
  if (fallback != "LastCheckpoint")
    return InvalidError(StrCat("--capture-fallback: '", fallback, "' is not known; LastCheckpoint is"));
  const std::string gate = flags.Get("--approve-before", "Quiesce");
  for (const std::string_view one : Split(gate, ',')) {
    if (one != "Quiesce" && one != "Cleanup")
      return InvalidError(StrCat("--approve-before: '", one, "' is not known; Quiesce and Cleanup are"));
  }
  if (flags.Has("--not-before") && !json::ParseTime(flags.Get("--not-before")).ok())
    return InvalidError(StrCat("--not-before: '", flags.Get("--not-before"), "' is no time, as 2026-11-21T22:00:00Z"));
  return {};
}

namespace {

Result<void> CheckMove(const Flags& flags) {
  TRY(CheckMoveFlags(flags));
  TRY(flags.GetDuration("--timeout", kFollowTimeout));
  const std::string output = flags.Get("--output", "json");
  if (output != "json" && output != "yaml" && output != "name")
    return InvalidError(StrCat("-o ", output, " is not known: json, yaml or name"));
  if (flags.Has("--output") && flags.Has("--wait")) return InvalidError("-o and --wait do not go together");
  return {};
}

}  // namespace

Value MoveSpecOf(const WorkloadArgument& workload, const std::string& target, const Flags& flags) {
  Value spec = json::Object(
      {{"workload",
        json::Object({{"apiVersion", workload.api_version}, {"kind", workload.kind}, {"name", workload.name}})}});
  if (!target.empty()) spec.Set("target", target);
  if (flags.Has("--stabilization"))
    spec.Set("stabilizationSeconds",
             flags.GetDuration("--stabilization", seconds(10)).value_or(seconds(10)) / seconds(1));
  if (flags.Has("--on-failure")) spec.Set("onFailure", flags.Get("--on-failure"));
  if (flags.Has("--capture-fallback")) spec.Set("captureFallback", flags.Get("--capture-fallback"));
  if (flags.Has("--approve-before")) {
    const std::string gates = flags.Get("--approve-before");
    for (const std::string_view gate : Split(gates, ',')) spec.Edit("approvals").Push(StrCat("Before", gate));
  }
  if (flags.Has("--not-before")) spec.Set("notBefore", flags.Get("--not-before"));
  return spec;
}

namespace {

bool SameWish(const Value& there, const Value& wanted) {
  return there["spec"]["workload"]["kind"] == wanted["spec"]["workload"]["kind"] &&
         there["spec"]["workload"]["name"] == wanted["spec"]["workload"]["name"] &&
         there["spec"]["target"] == wanted["spec"]["target"];
}

// The one that has the workload now, when that is the same wish; else null.
rt::Task<Result<Value>> UnderWay(kube::Api& api, const Value& wanted, const Value& writer) {
  const std::optional<rollout::Claim> claim = rollout::ReadWriter(writer).claim;
  if (!claim) co_return Value();
  const kube::Name name{std::string(kube::NamespaceOf(wanted)), claim->migration};
  Value there = CO_TRY(co_await GetOrNull(api, rollout::kMigrations, name));
  if (there.is_null() || EndCode(there) || !SameWish(there, wanted)) co_return Value();
  co_return there;
}

// The one that is under way with the same wish, or a new one. A name that an ended move has is not taken again.
rt::Task<Result<Value>> Make(kube::Api& api, Value migration, bool named) {
  const std::string base(kube::NameOf(migration));
  for (int number = 1; number <= kNamesMax; ++number) {
    if (number > 1) migration.Edit("metadata").Set("name", StrCat(base, "-", number));
    Result<Value> made = co_await api.Create(rollout::kMigrations, migration);
    if (made.ok() || made.error().kind() != ErrorKind::kAlreadyExists || named) co_return made;
    Value there = CO_TRY(co_await GetOrNull(api, rollout::kMigrations, kube::Name::Of(migration)));
    if (there.is_null() || EndCode(there)) continue;
    if (SameWish(there, migration)) co_return there;
  }
  co_return AlreadyExistsError(StrCat("there are ", kNamesMax, " migrations named ", base, "-...: choose a --name"));
}

rt::Task<Result<int>> Move(rt::RealLoop& loop, Client& client, const Flags& flags, const WorkloadArgument& workload,
                           const std::string& target, const Value& writer) {
  const int64_t seq = writer["spec"]["seq"].int_or(0);
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  migration.Edit("metadata").Set("name", flags.Get("--name", StrCat(workload.name, "-to-", target, "-", seq)));
  migration.Edit("metadata").Set("namespace", client.ns());
  migration.Set("spec", MoveSpecOf(workload, target, flags));
  // Who asks a moment later than another finds the Writer claimed, and the number in the name grown with it.
  const bool named = flags.Has("--name");
  Value made = named || writer.is_null() ? Value() : CO_TRY(co_await UnderWay(client.api(), migration, writer));
  if (made.is_null()) made = CO_TRY(co_await Make(client.api(), migration, named));
  if (flags.Has("--wait")) {
    const Duration timeout = CO_TRY(flags.GetDuration("--timeout", kFollowTimeout));
    co_return co_await Follow(loop, client.api(), kube::Name::Of(made), timeout);
  }
  if (flags.Has("--output")) {
    const std::string text = CO_TRY(Formatted(made, flags.Get("--output")));
    co_return std::fputs(text.c_str(), stdout) >= 0 ? 0 : kFailed;
  }
  const std::string name(kube::NameOf(made));
  std::printf("statefulmigration/%s: %s to %s\n", name.c_str(), workload.ToString().c_str(), target.c_str());
  std::printf("  how it goes:  baton get migrations %s -n %s -w\n  take it back: baton abort %s -n %s\n", name.c_str(),
              client.ns().c_str(), name.c_str(), client.ns().c_str());
  co_return 0;
}

rt::Task<Result<int>> Migrate(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const WorkloadArgument workload = CO_TRY(co_await FindWorkload(client.api(), flags.positional()[0]));
  const kube::Name writer_name{client.ns(), rollout::WriterName(workload.kind, workload.name)};
  const Value writer = CO_TRY(co_await GetOrNull(client.api(), rollout::kWriters, writer_name));
  co_return co_await Move(loop, client, flags, workload, flags.Get("--to"), writer);
}

// Where the workload ran before the newest move that was not taken back; "" when there is none on record.
std::string CameFrom(const Value& writer) {
  std::vector<Value> receipts(writer["spec"]["receipts"].items().begin(), writer["spec"]["receipts"].items().end());
  if (writer["spec"]["receipt"].is_object()) receipts.push_back(writer["spec"]["receipt"]);
  while (!receipts.empty()) {
    const Value newest = receipts.back();
    receipts.pop_back();
    // A move that was rolled back has two receipts, there and back.
    if (!receipts.empty() && receipts.back()["migrationUID"] == newest["migrationUID"]) {
      receipts.pop_back();
      continue;
    }
    return std::string(newest["from"].str());
  }
  return {};
}

rt::Task<Result<int>> Undo(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const WorkloadArgument workload = CO_TRY(co_await FindWorkload(client.api(), flags.positional()[0]));
  const kube::Name writer_name{client.ns(), rollout::WriterName(workload.kind, workload.name)};
  const Value writer = CO_TRY(co_await GetOrNull(client.api(), rollout::kWriters, writer_name));
  if (writer.is_null())
    co_return NotFoundError(StrCat(workload.ToString(), " has no Writer in namespace ", client.ns(),
                                   ": it is not managed, or was never placed. `baton status` lists those that are"));
  const rollout::Writer read = rollout::ReadWriter(writer);
  if (read.claim)
    co_return ConflictError(StrCat("migration ", read.claim->migration, " is moving it: `baton abort ",
                                   read.claim->migration, " -n ", client.ns(), "` takes that one back"));
  const std::string back = CameFrom(writer);
  if (back.empty()) {
    co_return NotFoundError(StrCat(workload.ToString(), " was not moved: it runs in ", read.holder.cluster,
                                   ", and no receipt says that it ran elsewhere before"));
  }
  co_return co_await Move(loop, client, flags, workload, back, writer);
}

}  // namespace

int MigrateCommand(std::span<const std::string_view> arguments) {
  const auto check = [](const Flags& flags) -> Result<void> {
    TRY(CheckMove(flags));
    TRY(flags.Required("--to"));
    return {};
  };
  return RunClientCommand(
      {.name = "migrate", .help = kMigrateHelp, .flags = MoveFlags({{"--to", "CLUSTER"}}), .positionals = 1}, arguments,
      Migrate, check);
}

int UndoCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand({.name = "undo", .help = kUndoHelp, .flags = MoveFlags(), .positionals = 1}, arguments, Undo,
                          CheckMove);
}

}  // namespace baton::cli
