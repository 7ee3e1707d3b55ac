// Plans, printed.
#include "cli/plan_command.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/follow.h"
#include "cli/migrate_command.h"
#include "federation/connect.h"
#include "rollout/plan.h"

namespace baton::cli {
namespace {

using json::Value;
using rollout::Check;
using rollout::ClusterPlan;
using rollout::MovePlan;
using rollout::PlannedStep;

constexpr size_t kChangesShown = 12;  // of one write; -o json has them all
constexpr size_t kValueShown = 80;    // characters of a value that is set

constexpr const char* kHelp =
    "Usage: baton plan migrate KIND/NAME [--to CLUSTER] [OPTIONS]\n"
    "       baton plan drain CLUSTER [--max N] [-o json]\n"
    "\n"
    "Says what a move or a drain would do, and does nothing of it: every check on hub, source and target with what "
    "came\n"
    "of it, what would be written where and in which order, and how long nobody would write, from moves that have "
    "ended.\n"
    "The checks and the order are those of the controllers. The clusters are asked directly, by the Secrets that the "
    "hub\n"
    "has for them; nothing is written to hub or clusters but for a dry run of the create in the target.\n"
    "\n"
    "Examples:\n"
    "  baton plan migrate flinkdeployment/orders -n prod --to member2\n"
    "  baton plan drain member1 --max 2\n"
    "  baton plan drain member1 -o json | jq '.moves[] | select(.ok | not)'\n"
    "\n"
    "Exit code: 0 when all checks pass, 4 when one refuses, 1 an error, 2 a wrong command line.\n"
    "\n"
    "  --to CLUSTER           migrate: where to; default: where the policy's placement sends it\n"
    "  --max N                drain: moves at a time; default: as the cluster's annotation says, else 5\n"
    "  -o FORMAT              json or yaml\n"
    "  --stabilization 10s, --on-failure WHAT, --approve-before STEP, --not-before TIME, --capture-fallback WHAT\n"
    "                         migrate: as in `baton migrate`\n";

// ---- printing
// ----------------------------------------------------------------------------------------------------------

std::string Cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  return text + "...";
}

std::string ChangeText(const Value& change) {
  const std::string_view op = change["op"].str();
  if (op == "remove") return StrCat(change["path"].str(), " goes");
  if (op == "move") return StrCat(change["path"].str(), " from ", change["from"].str());
  return StrCat(change["path"].str(), " = ", Cut(change["value"].ToString(), kValueShown));
}

void PrintChecks(const std::vector<Check>& checks, bool only_refused) {
  std::vector<std::vector<std::string>> rows;
  for (const Check& check : checks) {
    const bool ok = check.problem.empty();
    if (ok && only_refused) continue;
    rows.push_back({StrCat("  ", ok ? "ok" : "REFUSED"), std::string(rollout::SideName(check.side)),
                    ok ? check.what : check.problem});
  }
  std::fputs(Columns(rows).c_str(), stdout);
}

void PrintSteps(const std::vector<PlannedStep>& steps) {
  std::vector<std::vector<std::string>> rows;
  int number = 0;
  for (const PlannedStep& step : steps) {
    if (step.verb != "wait") {
      rows.push_back({StrCat(++number < 10 ? "   " : "  ", number, ". ", rollout::PhaseName(step.phase)), step.where,
                      step.verb, step.object, step.why});
    }
  }
  // Columns are of the writes; waits and changes go between them in lines of their own.
  const std::string table = Columns(rows);
  const std::vector<std::string_view> lines = Split(table, '\n');
  size_t line = 0;
  for (const PlannedStep& step : steps) {
    if (step.verb == "wait") {
      std::printf("      waits for %s\n", step.why.c_str());
      continue;
    }
    std::printf("%s\n", std::string(lines[line++]).c_str());
    size_t shown = 0;
    for (const Value& change : step.changes.items()) {
      if (++shown > kChangesShown) break;
      std::printf("        %s\n", ChangeText(change).c_str());
    }
    if (step.changes.size() > kChangesShown)
      std::printf("        and %zu more changes (-o json)\n", step.changes.size() - kChangesShown);
  }
}

std::string Named(const MovePlan& plan) { return StrCat(ToLower(plan.kind), "/", plan.name, " -n ", plan.ns); }

int PrintMove(const MovePlan& plan) {
  const std::vector<std::string> problems = plan.Problems();
  std::printf("Moving %s from %s to %s%s%s\n\nChecks:\n", Named(plan).c_str(),
              plan.source.empty() ? "?" : plan.source.c_str(), plan.target.empty() ? "?" : plan.target.c_str(),
              plan.guarantee.empty() ? "" : ", guarantee ", plan.guarantee.c_str());
  PrintChecks(plan.checks, false);
  for (const std::string& wait : plan.waits) std::printf("  WAITS     for %s\n", wait.c_str());
  if (!problems.empty()) {
    std::printf("\nIt would be rejected: %zu of %zu checks refuse it. Nothing was written.\n", problems.size(),
                plan.checks.size());
    return kMoveRejected;
  }
  std::printf("\nWhat is written, in this order, when nothing goes wrong:\n");
  PrintSteps(plan.steps);
  std::printf(
      "  Members get theirs through Works of the hub. Until the target is verified the way back is open.\n\n"
      "Expected: %s\nNothing was written. To do it: baton migrate %s --to %s\n",
      plan.forecast.Text().c_str(), Named(plan).c_str(), plan.target.c_str());
  return 0;
}

std::string ItemName(const std::string& key) {
  const auto words = Split(key, '/');
  return StrCat(ToLower(words[0]), "/", words[2], " -n ", words[1]);
}

void PrintItem(const ClusterPlan::Item& item, int number) {
  std::string line = StrCat(ItemName(item.key), ": ");
  if (item.under_way) {
    StrAppend(line, "is under way already: ", item.message);
  } else if (item.round == 0) {
    StrAppend(line, "REFUSED: ", item.message);
  } else {
    StrAppend(line, "create StatefulMigration: to ", item.to, ", ", item.plan->forecast.Text());
  }
  std::printf("%4d. %s\n", number, line.c_str());
  if (!item.plan) return;
  PrintChecks(item.plan->checks, true);
  for (const std::string& wait : item.plan->waits) std::printf("  WAITS     for %s\n", wait.c_str());
}

int PrintDrain(const ClusterPlan& plan) {
  const std::string& cluster = plan.cluster;
  if (!plan.why_not.empty()) {
    std::printf("%s\n", plan.why_not.c_str());
    return kMoveRejected;
  }
  const auto begin = std::ranges::count_if(plan.items, [](const auto& item) { return item.round > 0; });
  std::printf("Draining %s moves %d of %zu managed workloads, in %d rounds.\n\nWhat is written, in this order:\n",
              cluster.c_str(), static_cast<int>(begin), plan.items.size(), plan.rounds);
  std::printf("   1. hub: create or update ClusterEvacuation %s\n   2. hub: update Cluster %s: taint %s:NoExecute\n",
              cluster.c_str(), cluster.c_str(), std::string(rollout::kDrainTaint).c_str());
  int number = 2;
  for (int round = 0; round <= plan.rounds; ++round) {
    const auto in_round = [round](const ClusterPlan::Item& item) { return item.round == round; };
    if (std::ranges::none_of(plan.items, in_round)) continue;
    if (round > 0) std::printf("  Round %d:\n", round);
    if (round == 0) std::printf("  Not begun by this drain:\n");
    for (const ClusterPlan::Item& item : plan.items) {
      if (item.round == round) PrintItem(item, ++number);
    }
  }
  std::printf("  A move's turn comes as soon as there is room; rounds are as if all took the same time.\n");
  if (plan.unmanaged > 0) {
    std::printf("  %zu workloads are not managed: the scheduler deletes them here and creates them elsewhere.\n",
                plan.unmanaged);
  }
  std::string expected = "no history of all of these kinds: how long it takes is not known";
  if (begin == 0) expected = "nothing is moved";
  if (plan.expected) expected = StrCat("all of it in about ", rollout::Spoken(*plan.expected));
  std::printf("\nExpected: %s\n", expected.c_str());
  std::printf("Nothing was written. A single move in detail: baton plan migrate KIND/NAME -n NS --to CLUSTER\n");
  if (plan.Refused()) {
    std::printf("The drain would begin, and not end: see what is refused above.\n");
    return kMoveRejected;
  }
  std::printf("To do it: baton drain %s\n", cluster.c_str());
  return 0;
}

// ---- asking
// ------------------------------------------------------------------------------------------------------------

int PrintAs(const Flags& flags, const Value& value, bool refused) {
  const Result<std::string> text = Formatted(value, flags.Get("--output"));
  if (!text.ok() || std::fputs(text->c_str(), stdout) < 0) return kFailed;
  return refused ? kMoveRejected : 0;
}

rt::Task<Result<int>> PlanMigrate(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const WorkloadArgument workload = CO_TRY(co_await FindWorkload(client.api(), flags.positional()[0]));
  rollout::Planner planner(client.api(), federation::ConnectOverHttps(loop),
                           federation::PostOverHttps(loop, client.api()));
  CO_TRY(co_await planner.Start());
  const std::string target = flags.Get("--to");
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  migration.Edit("metadata").Set("name", StrCat(workload.name, "-to-", target.empty() ? "..." : target));
  migration.Edit("metadata").Set("namespace", client.ns());
  migration.Set("spec", MoveSpecOf(workload, target, flags));
  const MovePlan plan = CO_TRY(co_await planner.PlanMove(std::move(migration)));
  if (flags.Has("--output")) co_return PrintAs(flags, plan.Json(), !plan.Problems().empty());
  co_return PrintMove(plan);
}

rt::Task<Result<int>> PlanDrain(rt::RealLoop& loop, Client& client, const Flags& flags) {
  rollout::Planner planner(client.api(), federation::ConnectOverHttps(loop),
                           federation::PostOverHttps(loop, client.api()));
  CO_TRY(co_await planner.Start());
  const int64_t most = CO_TRY(flags.GetInt("--max", 0, 0, 1000));
  const ClusterPlan plan = CO_TRY(co_await planner.PlanDrain(flags.positional()[0], static_cast<int>(most)));
  if (flags.Has("--output")) co_return PrintAs(flags, plan.Json(), plan.Refused());
  co_return PrintDrain(plan);
}

Result<void> CheckOutput(const Flags& flags) {
  const std::string output = flags.Get("--output", "json");
  if (output != "json" && output != "yaml") return InvalidError(StrCat("-o ", output, " is not known: json or yaml"));
  return {};
}

}  // namespace

int PlanCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(StrCat(kHelp, kClientHelp).c_str(), stdout) >= 0 ? 0 : kFailed;
  const std::string_view what = arguments.empty() ? std::string_view() : arguments[0];
  const Flag output{"--output", "FORMAT", "-o"};
  if (what == "migrate") {
    const auto check = [](const Flags& flags) -> Result<void> {
      TRY(CheckMoveFlags(flags));
      return CheckOutput(flags);
    };
    return RunClientCommand({.name = "plan",
                             .help = kHelp,
                             .flags = {{"--to", "CLUSTER"},
                                       {"--stabilization", "10s"},
                                       {"--on-failure", "WHAT"},
                                       {"--approve-before", "STEP"},
                                       {"--not-before", "TIME"},
                                       {"--capture-fallback", "WHAT"},
                                       output},
                             .positionals = 1},
                            arguments.subspan(1), PlanMigrate, check);
  }
  if (what == "drain") {
    const auto check = [](const Flags& flags) -> Result<void> {
      TRY(flags.Only("a cluster's name"));
      TRY(flags.GetInt("--max", 0, 0, 1000));
      return CheckOutput(flags);
    };
    return RunClientCommand({.name = "plan", .help = kHelp, .flags = {{"--max", "N"}, output}, .positionals = 1},
                            arguments.subspan(1), PlanDrain, check);
  }
  return UsageError("plan", InvalidError(what.empty() ? std::string("of what? migrate or drain")
                                                      : StrCat("'", what, "' cannot be planned: migrate or drain")));
}

}  // namespace baton::cli
