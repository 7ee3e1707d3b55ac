// The record of past handoffs.
#include "cli/history_command.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "api/karmada_names.h"
#include "base/strings.h"
#include "cli/client.h"
#include "cli/receipts.h"
#include "federation/resources.h"
#include "rollout/records.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr const char* kHistoryHelp =
    "Usage: baton history KIND/NAME [-o json|yaml|wide]\n"
    "\n"
    "Every handoff of a workload that is on record: when, from where to where, with what state, on what proof, and\n"
    "whether the record is as it was written.\n"
    "\n"
    "Examples:\n"
    "  baton history flinkdeployment/orders\n"
    "  baton history flinkdep/orders -n prod -o wide\n"
    "  baton history flinkdep/orders -o json\n"
    "\n"
    "  -o, --output FORMAT    json, yaml, or wide: with hashes\n";

constexpr const char* kVerifyHelp =
    "Usage: baton verify [KIND/NAME] [-A]\n"
    "\n"
    "Computes the chain of receipts of each managed workload again, finds what was changed, taken out or put in "
    "another\n"
    "order, and compares who may write with where the hub sees the workload. Says since when there were never two "
    "writers\n"
    "by Baton, or exactly where it cannot say so. Exit code 1 when something is wrong.\n"
    "\n"
    "Examples:\n"
    "  baton verify -A\n"
    "  baton verify flinkdeployment/orders\n"
    "  baton verify -n prod && echo clean\n"
    "\n"
    "  -A, --all-namespaces   in all namespaces\n";

rt::Task<Result<Value>> WriterOf(Client& client, const std::string& text) {
  const WorkloadArgument workload = CO_TRY(co_await FindWorkload(client.api(), text));
  Value writer = CO_TRY(co_await GetOrNull(client.api(), rollout::kWriters,
                                           {client.ns(), rollout::WriterName(workload.kind, workload.name)}));
  if (writer.is_null()) {
    co_return NotFoundError(StrCat(workload.ToString(), " has no Writer in namespace ", client.ns(),
                                   ": it is not managed, or was never placed. `baton status` lists those that are"));
  }
  co_return writer;
}

std::string Or(std::string_view text, std::string_view fallback) { return std::string(text.empty() ? fallback : text); }

std::vector<std::string> HistoryRow(const CheckedReceipt& checked, bool wide) {
  const Value& receipt = checked.receipt;
  std::string how(receipt["how"].str());
  if (!receipt["attestedBy"].str().empty())
    StrAppend(how, " by ", receipt["attestedBy"].str(), ": ", receipt["reason"].str());
  std::string record = "ok";
  if (!checked.problems.empty()) record = StrCat("WRONG: ", checked.problems.front());
  std::vector<std::string> row = {Or(receipt["time"].str().substr(0, 19), "-"),
                                  StrCat(receipt["seq"].int_or(0)),
                                  std::string(receipt["from"].str()),
                                  std::string(receipt["to"].str()),
                                  Or(how, "-"),
                                  record,
                                  Or(receipt["state"].str(), "-")};
  if (wide) {
    row.emplace_back(receipt["hash"].str());
    row.emplace_back(receipt["migrationUID"].str());
  }
  return row;
}

rt::Task<Result<int>> History(rt::RealLoop& /*loop*/, Client& client, const Flags& flags) {
  const Value writer = CO_TRY(co_await WriterOf(client, flags.positional()[0]));
  const CheckedChain chain = CheckReceipts(writer);
  const std::string output = flags.Get("--output");
  if (output == "json" || output == "yaml") {
    Value list = json::Object({{"workload", writer["spec"]["workload"]}, {"receipts", json::Array()}});
    for (const CheckedReceipt& one : chain.receipts) {
      Value entry = one.receipt;
      entry.Set("hashOK", one.problems.empty());
      list.Edit("receipts").Push(entry);
    }
    std::fputs(CO_TRY(Formatted(list, output)).c_str(), stdout);
    co_return 0;
  }
  if (chain.receipts.empty()) {
    std::printf("%s was never moved: it is in %s since it was placed\n", flags.positional()[0].c_str(),
                std::string(writer["spec"]["holder"]["cluster"].str()).c_str());
    co_return 0;
  }
  const bool wide = output == "wide";
  std::vector<std::vector<std::string>> rows = {{"WHEN", "EPOCH", "FROM", "TO", "HOW", "RECORD", "STATE"}};
  if (wide) rows[0].insert(rows[0].end(), {"HASH", "MIGRATION"});
  for (const CheckedReceipt& one : chain.receipts) rows.push_back(HistoryRow(one, wide));
  std::fputs(Columns(rows).c_str(), stdout);
  if (!chain.complete) std::printf("(older ones are not kept)\n");
  for (const std::string& problem : chain.problems) std::printf("WRONG: %s\n", problem.c_str());
  co_return 0;
}

// ---- verify ----

// What the hub sees of the workload elsewhere than where the Writer says, while no move is under way.
std::vector<std::string> CompareWithHub(const Value& writer, const Value& binding) {
  std::vector<std::string> problems;
  const std::string_view holder = writer["spec"]["holder"]["cluster"].str();
  if (binding.is_null()) return {"its binding is gone: what runs in the clusters is not known here"};
  for (const Value& cluster : binding["spec"]["clusters"].items()) {
    if (cluster["name"].str() != holder)
      problems.push_back(StrCat("the binding places it on ", cluster["name"].str(), ", and the Writer says ", holder));
  }
  if (binding["spec"]["clusters"].empty()) problems.push_back("the binding places it nowhere");
  for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
    if (item["clusterName"].str() != holder && item["applied"].bool_or(false))
      problems.push_back(StrCat("cluster ", item["clusterName"].str(), " reports one too"));
  }
  return problems;
}

struct Verdict {
  std::vector<std::string> wrong;
  std::vector<std::string> said_by_people;  // true as far as a person's word goes
  size_t handoffs = 0;
  std::string since;
};

Verdict Judge(const Value& writer, const Value& binding) {
  Verdict verdict;
  const CheckedChain chain = CheckReceipts(writer);
  verdict.since =
      chain.complete ? writer["metadata"]["creationTimestamp"].str() : chain.receipts.front().receipt["time"].str();
  for (const CheckedReceipt& one : chain.receipts) {
    const std::string which =
        StrCat("receipt of epoch ", one.receipt["seq"].int_or(0), " (", one.receipt["time"].str_or("no time"), ", ",
               one.receipt["from"].str(), " to ", one.receipt["to"].str(), ")");
    for (const std::string& problem : one.problems) verdict.wrong.push_back(StrCat(which, ": ", problem));
    if (one.receipt["how"].str() == "Attested") {
      verdict.said_by_people.push_back(StrCat(which, ": no proof of the stop, ", one.receipt["attestedBy"].str(),
                                              " attested it: ", one.receipt["reason"].str()));
    }
  }
  verdict.handoffs = chain.receipts.size();
  verdict.wrong.insert(verdict.wrong.end(), chain.problems.begin(), chain.problems.end());
  if (!writer["spec"]["claim"].is_object()) {
    for (std::string& problem : CompareWithHub(writer, binding)) verdict.wrong.push_back(std::move(problem));
  }
  return verdict;
}

void Tell(const Value& writer, const Verdict& verdict) {
  std::string text = StrCat(verdict.wrong.empty() ? "ok     " : "WRONG  ", kube::NamespaceOf(writer), " ",
                            KindSlashName(writer["spec"]["workload"]), ": ");
  if (verdict.wrong.empty() && verdict.said_by_people.empty()) {
    StrAppend(text, "never two writers by Baton since ", verdict.since, "; ", verdict.handoffs,
              verdict.handoffs == 1 ? " handoff" : " handoffs", ", each on a proof of the stop; it is in ",
              writer["spec"]["holder"]["cluster"].str());
  } else {
    StrAppend(text, "that there were never two writers cannot be said:");
  }
  for (const std::string& problem : verdict.wrong) StrAppend(text, "\n       ", problem);
  for (const std::string& word : verdict.said_by_people) StrAppend(text, "\n       ", word);
  if (writer["spec"]["claim"].is_object()) {
    StrAppend(text, "\n       migration ", writer["spec"]["claim"]["migration"].str(),
              " is moving it: where it runs is compared when that has ended");
  }
  std::printf("%s\n", text.c_str());
}

rt::Task<Result<int>> Verify(rt::RealLoop& /*loop*/, Client& client, const Flags& flags) {
  std::vector<Value> writers;
  if (!flags.positional().empty()) {
    writers.push_back(CO_TRY(co_await WriterOf(client, flags.positional()[0])));
  } else {
    const std::string ns = flags.Has("--all-namespaces") ? "" : client.ns();
    writers = CO_TRY(co_await client.api().ListAll(rollout::kWriters, {.ns = ns})).items;
  }
  bool clean = true;
  for (const Value& writer : writers) {
    const Value& workload = writer["spec"]["workload"];
    const kube::Name name{std::string(kube::NamespaceOf(writer)),
                          api::karmada::BindingName(workload["kind"].str(), workload["name"].str())};
    const Value binding = CO_TRY(co_await GetOrNull(client.api(), federation::kResourceBindings, name));
    const Verdict verdict = Judge(writer, binding);
    Tell(writer, verdict);
    clean = clean && verdict.wrong.empty();
  }
  if (writers.empty())
    std::printf("no managed workload%s\n", flags.Has("--all-namespaces") ? "" : "; -A looks in all namespaces");
  co_return clean ? 0 : kFailed;
}

}  // namespace

int HistoryCommand(std::span<const std::string_view> arguments) {
  const auto check = [](const Flags& flags) -> Result<void> {
    TRY(flags.Only("KIND/NAME"));
    const std::string output = flags.Get("--output", "wide");
    if (output != "wide" && output != "json" && output != "yaml")
      return InvalidError(StrCat("-o ", output, " is not known: json, yaml or wide"));
    return {};
  };
  return RunClientCommand(
      {.name = "history", .help = kHistoryHelp, .flags = {{"--output", "FORMAT", "-o"}}, .positionals = 1}, arguments,
      History, check);
}

int VerifyCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand(
      {.name = "verify", .help = kVerifyHelp, .flags = {{"--all-namespaces", "", "-A"}}, .positionals = 1}, arguments,
      Verify);
}

}  // namespace baton::cli
