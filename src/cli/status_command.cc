// One page about all managed workloads, or about one.
#include "cli/status_command.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/receipts.h"
#include "json/rfc3339.h"
#include "rollout/records.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr const char* kHelp =
    "Usage: baton status [KIND/NAME] [-A] [-o json|yaml|wide]\n"
    "\n"
    "Where each managed workload runs, its epoch (it grows with every change of who may run), what moves, what is "
    "blocked\n"
    "and who must act.\n"
    "\n"
    "Examples:\n"
    "  baton status -A\n"
    "  baton status flinkdeployment/orders -n prod\n"
    "  baton status -o json\n"
    "\n"
    "  -A, --all-namespaces   in all namespaces\n"
    "  -o, --output FORMAT    json, yaml, or wide: with the message\n";

bool IsBlocked(const Value& migration) {
  return std::ranges::any_of(migration["status"]["conditions"].items(), [](const Value& one) {
    return one["type"].str() == "Blocked" && one["status"].str() == "True";
  });
}

// The move under way, as the Writer names it; null: none.
Value MoveOf(const Value& writer, const std::vector<Value>& migrations) {
  const Value& claim = writer["spec"]["claim"];
  if (!claim.is_object()) return {};
  const auto found = std::ranges::find_if(
      migrations, [&](const Value& one) { return kube::UidOf(one) == claim["migrationUID"].str(); });
  return found == migrations.end() ? Value() : *found;
}

Value Entry(const Value& writer, const Value& move) {
  const Value& spec = writer["spec"];
  Value entry = json::Object({{"namespace", kube::NamespaceOf(writer)},
                              {"workload", spec["workload"]},
                              {"cluster", spec["holder"]["cluster"]},
                              {"epoch", spec["seq"].int_or(0)}});
  if (!move.is_null()) {
    entry.Set("move", json::Object({{"name", kube::NameOf(move)},
                                    {"target", move["spec"]["target"]},
                                    {"phase", move["status"]["phase"]},
                                    {"step", move["status"]["step"]},
                                    {"message", move["status"]["message"]},
                                    {"waitingFor", move["status"]["waitingFor"]},
                                    {"blocked", IsBlocked(move)}}));
  }
  return entry;
}

std::string StateOf(const Value& writer, const Value& move, WallTime now) {
  if (!writer["spec"]["claim"].is_object()) return "in place";
  if (move.is_null())
    return StrCat("BLOCKED: migration ", writer["spec"]["claim"]["migration"].str(), " has it, and is gone");
  const std::string step = StrCat(move["status"]["phase"].str_or("Pending"), " ", move["status"]["step"].str(), " for ",
                                  Short(now - rollout::PhaseSince(move, now)));
  return StrCat(IsBlocked(move) ? "BLOCKED: " : "", "moving to ", move["spec"]["target"].str(), ", ", step);
}

void PrintNeeds(const Value& move) {
  const std::string name(kube::NameOf(move));
  const std::string ns(kube::NamespaceOf(move));
  if (IsBlocked(move)) {
    std::printf("a person is needed for %s (-n %s): %s\n", name.c_str(), ns.c_str(),
                std::string(move["status"]["message"].str()).c_str());
  } else if (!move["status"]["waitingFor"].str().empty()) {
    std::printf("%s (-n %s) waits for %s\n", name.c_str(), ns.c_str(),
                std::string(move["status"]["waitingFor"].str()).c_str());
  }
}

void PrintOne(const Value& writer, const Value& move, WallTime now) {
  const Value& spec = writer["spec"];
  const std::string workload = StrCat(ToLower(spec["workload"]["kind"].str()), "/", spec["workload"]["name"].str());
  std::vector<std::vector<std::string>> rows = {
      {"workload", StrCat(KindSlashName(spec["workload"]), " in namespace ", kube::NamespaceOf(writer))},
      {"may write", std::string(spec["holder"]["cluster"].str())},
      {"epoch", StrCat(spec["seq"].int_or(0))},
      {"state", StateOf(writer, move, now)}};
  if (!move.is_null()) {
    rows.push_back({"message", std::string(move["status"]["message"].str())});
    rows.push_back({"take back", StrCat("baton abort ", kube::NameOf(move), " -n ", kube::NamespaceOf(move))});
  }
  const CheckedChain chain = CheckReceipts(writer);
  if (!chain.receipts.empty()) {
    const Value& newest = chain.receipts.back().receipt;
    rows.push_back({"last handoff", StrCat(newest["from"].str(), " to ", newest["to"].str(), " at ",
                                           newest["time"].str(), " (", newest["how"].str(), ")")});
    rows.push_back({"its state", std::string(newest["state"].str())});
    rows.push_back({"record", chain.ok() ? StrCat("ok, ", chain.receipts.size(), " on record")
                                         : StrCat("WRONG: `baton verify ", workload, "` says where")});
    if (move.is_null())
      rows.push_back({"move back", StrCat("baton undo ", workload, " -n ", kube::NamespaceOf(writer))});
  }
  std::fputs(Columns(rows).c_str(), stdout);
}

rt::Task<Result<int>> Status(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const bool all = flags.Has("--all-namespaces");
  const std::string ns = all ? "" : client.ns();
  std::vector<Value> writers = CO_TRY(co_await client.api().ListAll(rollout::kWriters, {.ns = ns})).items;
  const std::vector<Value> migrations = CO_TRY(co_await client.api().ListAll(rollout::kMigrations, {.ns = ns})).items;
  const bool one = !flags.positional().empty();
  if (one) {
    const WorkloadArgument workload = CO_TRY(co_await FindWorkload(client.api(), flags.positional()[0]));
    std::erase_if(writers, [&](const Value& writer) {
      return writer["spec"]["workload"]["kind"].str() != workload.kind ||
             writer["spec"]["workload"]["name"].str() != workload.name;
    });
    if (writers.empty()) {
      co_return NotFoundError(StrCat(workload.ToString(), " has no Writer in ",
                                     all ? "any namespace" : StrCat("namespace ", ns),
                                     ": it is not managed, or was never placed"));
    }
  }
  const std::string output = flags.Get("--output");
  if (output == "json" || output == "yaml") {
    Value list = json::Object({{"workloads", json::Array()}});
    for (const Value& writer : writers) list.Edit("workloads").Push(Entry(writer, MoveOf(writer, migrations)));
    std::fputs(CO_TRY(Formatted(list, output)).c_str(), stdout);
    co_return 0;
  }
  const WallTime now = loop.WallNow();
  if (one && writers.size() == 1) {
    PrintOne(writers[0], MoveOf(writers[0], migrations), now);
    co_return 0;
  }
  if (writers.empty()) {
    std::printf("no managed workload%s\n", all ? "" : StrCat(" in namespace ", ns, "; -A looks in all").c_str());
    co_return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "WORKLOAD", "CLUSTER", "EPOCH", "STATE"}};
  if (output == "wide") rows[0].push_back("MESSAGE");
  std::vector<Value> moves;
  for (const Value& writer : writers) {
    const Value move = MoveOf(writer, migrations);
    if (!move.is_null()) moves.push_back(move);
    rows.push_back({std::string(kube::NamespaceOf(writer)), KindSlashName(writer["spec"]["workload"]),
                    std::string(writer["spec"]["holder"]["cluster"].str()), StrCat(writer["spec"]["seq"].int_or(0)),
                    StateOf(writer, move, now)});
    if (output == "wide") rows.back().emplace_back(move["status"]["message"].str_or("-"));
  }
  std::fputs(Columns(rows).c_str(), stdout);
  for (const Value& move : moves) PrintNeeds(move);
  co_return 0;
}

}  // namespace

int StatusCommand(std::span<const std::string_view> arguments) {
  const auto check = [](const Flags& flags) -> Result<void> {
    const std::string output = flags.Get("--output", "wide");
    if (output != "wide" && output != "json" && output != "yaml")
      return InvalidError(StrCat("-o ", output, " is not known: json, yaml or wide"));
    return {};
  };
  return RunClientCommand({.name = "status",
                           .help = kHelp,
                           .flags = {{"--all-namespaces", "", "-A"}, {"--output", "FORMAT", "-o"}},
                           .positionals = 1},
                          arguments, Status, check);
}

}  // namespace baton::cli
