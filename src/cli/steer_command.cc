// Changes of a migration's spec, each on the version that was looked at.
#include "cli/steer_command.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/follow.h"
#include "json/rfc3339.h"
#include "rollout/next.h"
#include "rollout/records.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr int kTriesMax = 10;  // of an update that others got ahead of

constexpr const char* kAbortHelp =
    "Usage: baton abort NAME [--wait] [--timeout 10m]\n"
    "\n"
    "Takes the move NAME back. Before the handoff the source simply runs on; after it the target is stopped first, "
    "its\n"
    "state is captured, and the source goes on from there. Once the target has proven itself, the way back is `baton "
    "undo`.\n"
    "\n"
    "Examples:\n"
    "  baton abort orders-to-member2-1\n"
    "  baton abort orders-to-member2-1 -n prod --wait\n"
    "  baton get migrations -A        # their names\n"
    "\n"
    "With --wait the exit code is 3 when it was taken back, and 0 when it had succeeded first.\n"
    "\n"
    "  --wait                 until it has ended, showing how it goes\n"
    "  --timeout 10m          of --wait\n";

constexpr const char* kPauseHelp =
    "Usage: baton pause NAME\n"
    "\n"
    "The move NAME begins no stop until `baton resume`: it prepares everything and waits, with the workload running "
    "where\n"
    "it is. A stop that was ordered already is carried through.\n"
    "\n"
    "Examples:\n"
    "  baton pause orders-to-member2-1\n"
    "  baton pause orders-to-member2-1 -n prod\n"
    "  baton resume orders-to-member2-1\n"
    "\n";

constexpr const char* kResumeHelp =
    "Usage: baton resume NAME\n"
    "\n"
    "Lets a paused move go on.\n"
    "\n"
    "Examples:\n"
    "  baton resume orders-to-member2-1\n"
    "  baton resume orders-to-member2-1 -n prod\n"
    "  baton get migrations -A -o wide        # what each waits for\n"
    "\n";

constexpr const char* kApproveHelp =
    "Usage: baton approve NAME [--by WHO] [--all]\n"
    "\n"
    "Approves the next step that the move NAME needs an approval of (`baton migrate --approve-before`). Who approved, "
    "and\n"
    "when, stays on record in spec.approvedBy.\n"
    "\n"
    "Examples:\n"
    "  baton approve orders-to-member2-1\n"
    "  baton approve orders-to-member2-1 -n prod --all --by ada@example.com\n"
    "  baton get migrations -A -o wide        # what each waits for\n"
    "\n"
    "  --by WHO               default: the user of this machine's session\n"
    "  --all                  every step at once\n";

constexpr const char* kAttestHelp =
    "Usage: baton attest NAME [--cluster CLUSTER] --by WHO --reason TEXT --state-ref REF [--rewind] [--yes]\n"
    "\n"
    "For a cluster that does not answer and will not: WHO states that it has stopped the workload for good, and REF "
    "is\n"
    "the state that the other cluster starts from. With the source lost the move goes on; with the target lost, after\n"
    "it was granted, it goes back. With the source lost while the move was being aborted it goes forward again.\n"
    "This waives the proofs that Baton makes otherwise: it prints which, and does nothing without --yes. As long as\n"
    "the cluster answers, its proof counts. An attestation stays in the receipt for ever.\n"
    "\n"
    "Examples:\n"
    "  baton attest orders-to-member2-1 --by ada@example.com --reason 'site lost, power is off' \\\n"
    "      --state-ref s3://state/checkpoints/4f1c/chk-88\n"
    "  baton attest orders-to-member2-1 -n prod --by ada --reason 'nodes are wiped' --state-ref s3://s/chk-1 --yes\n"
    "  baton attest orders-to-member2-1 --cluster member2 --by ada --reason 'rack burnt' --state-ref s3://s/chk-9 "
    "--yes\n"
    "  baton history flinkdeployment/orders        # who attested what\n"
    "\n"
    "  --cluster CLUSTER      the source (the default) or the target of the move\n"
    "  --by WHO               a person\n"
    "  --reason TEXT          how they know\n"
    "  --state-ref REF        the state to start from: records after it are processed again or lost. The newest that "
    "the\n"
    "                         cluster left; what its status showed while it ran is the one that it began from\n"
    "  --rewind               REF may be the one that the source began from (it never made another)\n"
    "  --yes                  do it\n";

// Changes the spec by compare-and-swap: what `change` says is decided on what is there.
rt::Task<Result<Value>> Change(Client& client, std::string name, std::function<Result<void>(Value& migration)> change) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<Value> migration = co_await client.api().Get(rollout::kMigrations, {client.ns(), name});
    if (!migration.ok() && migration.error().kind() == ErrorKind::kNotFound) {
      co_return NotFoundError(StrCat("there is no migration '", name, "' in namespace ", client.ns(),
                                     ": `baton get migrations -A` lists them"));
    }
    if (!migration.ok()) co_return migration;
    Value next = *migration;
    CO_TRY(change(next));
    if (next == *migration) co_return next;
    Result<Value> written = co_await client.api().Update(rollout::kMigrations, next);
    if (written.ok() || written.error().kind() != ErrorKind::kConflict) co_return written;
  }
  co_return ConflictError(StrCat("migration '", name, "' changes all the time: try again"));
}

Result<void> NotEnded(const Value& migration) {
  if (!EndCode(migration)) return {};
  const bool succeeded = migration["status"]["phase"].str() == "Succeeded";
  const Value& workload = migration["spec"]["workload"];
  return ConflictError(StrCat("migration '", kube::NameOf(migration),
                              "' has ended: ", migration["status"]["message"].str(),
                              succeeded ? StrCat("; to move it back: baton undo ", ToLower(workload["kind"].str()), "/",
                                                 workload["name"].str(), " -n ", kube::NamespaceOf(migration))
                                        : ""));
}

Result<void> CheckName(const Flags& flags) {
  TRY(flags.Only("a migration's name"));
  TRY(flags.GetDuration("--timeout", kFollowTimeout));
  return {};
}

rt::Task<Result<int>> Abort(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string name = flags.positional()[0];
  const Value now = CO_TRY(co_await Change(client, name, [](Value& migration) -> Result<void> {
    TRY(NotEnded(migration));
    migration.Edit("spec").Set("abort", true);
    return {};
  }));
  if (flags.Has("--wait")) {
    const Duration timeout = CO_TRY(flags.GetDuration("--timeout", kFollowTimeout));
    co_return co_await Follow(loop, client.api(), kube::Name::Of(now), timeout);
  }
  std::printf("statefulmigration/%s is taken back (it was in %s)\n", name.c_str(),
              std::string(now["status"]["phase"].str_or("Pending")).c_str());
  co_return 0;
}

rt::Task<Result<int>> SetPaused(Client& client, const Flags& flags, bool paused) {
  const std::string name = flags.positional()[0];
  CO_TRY(co_await Change(client, name, [paused](Value& migration) -> Result<void> {
    TRY(NotEnded(migration));
    if (paused) {
      migration.Edit("spec").Set("paused", true);
    } else {
      migration.Edit("spec").Erase("paused");
    }
    return {};
  }));
  std::printf("statefulmigration/%s %s\n", name.c_str(), paused ? "is paused" : "goes on");
  co_return 0;
}

// Who sits here, as the system knows them.
std::string SessionUser() {
  const char* user = std::getenv("USER");
  if (user != nullptr && *user != '\0') return user;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? StrCat("uid ", ::geteuid()) : entry->pw_name;
}

bool Contains(const Value& list, const Value& item) {
  return std::ranges::any_of(list.items(), [&](const Value& one) { return one == item; });
}

// The first gate that is not approved yet, or all of them; who and when stay on record.
rt::Task<Result<int>> Approve(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string name = flags.positional()[0];
  const std::string by = flags.Get("--by", SessionUser());
  std::string approved;
  CO_TRY(co_await Change(client, name, [&](Value& migration) -> Result<void> {
    TRY(NotEnded(migration));
    approved.clear();
    const Value gates = migration["spec"]["approvals"];
    if (gates.empty()) return InvalidError("it waits for no approval: its spec.approvals is empty");
    Value& spec = migration.Edit("spec");
    for (const Value& gate : gates.items()) {
      if (Contains(spec["approved"], gate)) continue;
      spec.Edit("approved").Push(gate);
      spec.Edit("approvedBy")
          .Push(json::Object({{"gate", gate}, {"by", by}, {"at", json::FormatTime(loop.WallNow())}}));
      approved += StrCat(approved.empty() ? "" : ", ", gate.str());
      if (!flags.Has("--all")) break;
    }
    if (approved.empty()) return InvalidError("all that it asks for is approved already");
    return {};
  }));
  std::printf("statefulmigration/%s: %s approved by %s\n", name.c_str(), approved.c_str(), by.c_str());
  co_return 0;
}

// What a person's word for a silent cluster stands in for.
void PrintWaived(const Flags& flags, const Value& migration, const std::string& lost, const std::string& other) {
  std::printf(
      "%s states: cluster %s has stopped %s for good (%s).\n"
      "If %s does not answer, this takes the place of\n"
      "  - the proof that %s stopped: should it still run, there are two writers until it is stopped;\n"
      "  - the captured state: %s starts from %s, and what was processed after that\n"
      "    is processed again, or lost.\n",
      flags.Get("--by").c_str(), lost.c_str(), KindSlashName(migration["spec"]["workload"]).c_str(),
      flags.Get("--reason").c_str(), lost.c_str(), lost.c_str(), other.c_str(), flags.Get("--state-ref").c_str());
}

rt::Task<Result<int>> Attest(rt::RealLoop& /*loop*/, Client& client, const Flags& flags) {
  const std::string name = flags.positional()[0];
  const std::string named = flags.Get("--cluster");
  Value wanted = json::Object(
      {{"by", flags.Get("--by")}, {"reason", flags.Get("--reason")}, {"stateRef", flags.Get("--state-ref")}});
  if (!named.empty()) wanted.Set("cluster", named);
  if (flags.Has("--rewind")) wanted.Set("rewind", true);
  const bool sure = flags.Has("--yes");
  bool names_state = false;  // of a source that was stopped and left none: nothing else is said with it
  const Value now = CO_TRY(co_await Change(client, name, [&](Value& migration) -> Result<void> {
    TRY(NotEnded(migration));
    const std::string_view from = migration["status"]["source"].str();
    const std::string_view to = migration["spec"]["target"].str();
    if (!named.empty() && named != from && named != to)
      return InvalidError(StrCat("cluster ", named, " has no part in this move: it goes from ", from, " to ", to));
    // Of a source that was lost while the move went back: a word of this abort, so that it goes forward again.
    const bool aborting = migration["status"]["phase"].str() == "Aborting" && (named.empty() || named == from);
    names_state = aborting && migration["status"]["waitingFor"].str().starts_with(rollout::kStateToGoOnFrom);
    if (aborting && !names_state && migration["spec"]["abort"].bool_or(false)) {
      return ConflictError(
          StrCat("it was aborted on request, so it would not go on: take that back first (kubectl "
                 "patch statefulmigration ",
                 name, " --type=merge -p '{\"spec\":{\"abort\":false}}'), or wait for ", from));
    }
    wanted.Erase("abortedAttempt");
    if (aborting) wanted.Set("abortedAttempt", migration["status"]["attempt"].int_or(1));
    if (sure) migration.Edit("spec").Set("attestation", wanted);
    return {};
  }));
  std::string lost(now["status"]["source"].str_or("the source"));
  std::string other(now["spec"]["target"].str());
  if (!named.empty() && named == other) std::swap(lost, other);
  if (names_state) {
    std::printf(
        "%s states: %s goes on from %s in cluster %s (%s).\n"
        "What it processed after that is processed again, or lost.\n",
        flags.Get("--by").c_str(), KindSlashName(now["spec"]["workload"]).c_str(), flags.Get("--state-ref").c_str(),
        lost.c_str(), flags.Get("--reason").c_str());
  } else {
    PrintWaived(flags, now, lost, other);
  }
  if (!sure) {
    std::printf("Nothing is done yet: say --yes.\n");
    co_return kFailed;
  }
  if (now["spec"]["attestation"] != wanted) {
    co_return UnsupportedError(
        "the hub did not keep the attestation: its CustomResourceDefinitions are of an older "
        "Baton: `baton crds | kubectl apply --server-side -f -`");
  }
  std::printf("It is on record with statefulmigration/%s, and will be in the receipt.\n", name.c_str());
  co_return 0;
}

}  // namespace

int AbortCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "abort", .help = kAbortHelp, .flags = {{"--wait"}, {"--timeout", "10m"}}, .positionals = 1}, arguments,
      Abort, CheckName);
}

int PauseCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "pause", .help = kPauseHelp, .positionals = 1}, arguments,
      [](rt::RealLoop&, Client& client, const Flags& flags) { return SetPaused(client, flags, true); }, CheckName);
}

int ResumeCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "resume", .help = kResumeHelp, .positionals = 1}, arguments,
      [](rt::RealLoop&, Client& client, const Flags& flags) { return SetPaused(client, flags, false); }, CheckName);
}

int ApproveCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "approve", .help = kApproveHelp, .flags = {{"--by", "WHO"}, {"--all"}}, .positionals = 1}, arguments,
      Approve, CheckName);
}

int AttestCommand(std::span<const std::string_view> arguments) {
  const auto check = [](const Flags& flags) -> Result<void> {
    TRY(CheckName(flags));
    for (const std::string_view needed : {"--by", "--reason", "--state-ref"}) TRY(flags.Required(needed));
    return {};
  };
  return RunClientCommand({.name = "attest",
                           .help = kAttestHelp,
                           .flags = {{"--cluster", "CLUSTER"},
                                     {"--by", "WHO"},
                                     {"--reason", "TEXT"},
                                     {"--state-ref", "REF"},
                                     {"--rewind"},
                                     {"--yes"}},
                           .positionals = 1},
                          arguments, Attest, check);
}

}  // namespace baton::cli
