// Commands for practice clusters.
#include "cli/practice_command.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/files.h"
#include "cli/operators_command.h"
#include "json/rfc3339.h"
#include "practice/cluster.h"
#include "practice/flink_operator.h"
#include "practice/judge.h"
#include "rt/files.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr const char* kName = "practice";

constexpr const char* kHelp =
    "Usage: baton practice check [--data-dir DIR | --kubeconfig DIR/kubeconfig] [-o json]\n"
    "       baton practice fault CLUSTER FAULT [--workload NAME] [--data-dir DIR] [-n NAMESPACE]\n"
    "       baton practice operators [--kubeconfig FILE] [--context NAME,NAME...] [--data-dir DIR]\n"
    "\n"
    "For practice clusters (`baton up --practice-clusters N`).\n"
    "\n"
    "check counts what went into every practice job and what came out: lost, doubled, out of order, two writers at "
    "one\n"
    "time. Exit code 1 when something is wrong. It may be run while jobs run.\n"
    "\n"
    "fault makes something go wrong in one cluster; NAME=off takes it away again:\n"
    "  fail-next-savepoint    the next savepoint fails\n"
    "  fail-image             images cannot be pulled\n"
    "  partition              the hub cannot reach the cluster; what runs there goes on\n"
    "  slow[=FACTOR]          starting, stopping and savepoints take that many times as long; 5 unless told\n"
    "  stall-operator=SECONDS the operator acts on what it read that long ago\n"
    "  forget-status          the operator's next status is lost\n"
    "  kill-operator[=SECONDS]  the operator is away for that long; 10 unless told\n"
    "  restart-jobmanager, fail-job   happen to --workload NAME, a FlinkDeployment\n"
    "\n"
    "operators runs the practice operators and their jobs against API servers that somebody else serves\n"
    "(`baton practice operators --help`).\n"
    "\n"
    "Examples:\n"
    "  baton practice check\n"
    "  baton practice fault practice-3 fail-image\n"
    "  baton practice fault practice-2 partition\n"
    "  baton practice fault practice-1 restart-jobmanager --workload orders\n"
    "\n"
    "  --data-dir DIR         of `baton up`; default ./baton-data\n"
    "  --context NAME         of the cluster in DIR/kubeconfig; default CLUSTER\n"
    "  --kubeconfig FILE      default DIR/kubeconfig\n"
    "  -n, --namespace NAME   of --workload; default default\n";

// A kubeconfig of `baton up` lies in its directory.
std::string DataDirectory(const Flags& flags) {
  if (flags.Has("--data-dir") || !flags.Has("--kubeconfig")) return Absolute(flags.Get("--data-dir", "baton-data"));
  return std::filesystem::path(Absolute(flags.Get("--kubeconfig"))).parent_path().string();
}

int Check(const Flags& flags) {
  const std::string storage = StrCat(DataDirectory(flags), "/practice-storage");
  if (!std::filesystem::is_directory(storage)) {
    return Failure("practice check",
                   NotFoundError(StrCat("'", storage, "' is not there: --data-dir names the directory of `baton up`")));
  }
  rt::RealLoop loop;
  const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, storage);
  const Result<std::vector<practice::JudgeReport>> reports = loop.Run(practice::JudgeAll(*files, ""));
  if (!reports.ok()) return Failure("practice check", reports.error());
  bool clean = true;
  Value list = json::Array();
  for (const practice::JudgeReport& report : *reports) {
    clean = clean && report.clean();
    list.Push(report.Json());
    if (!flags.Has("--output")) std::printf("%s\n", report.Text().c_str());
  }
  if (flags.Has("--output")) {
    const Value document = json::Object({{"clean", clean}, {"workloads", list}});
    const Result<std::string> text = Formatted(document, flags.Get("--output"));
    if (!text.ok()) return UsageError(kName, text.error());
    std::fputs(text->c_str(), stdout);
    return clean ? 0 : kFailed;
  }
  if (reports->empty()) std::printf("no practice job has written anything\n");
  std::printf(clean ? "clean: %zu workloads\n" : "NOT CLEAN: %zu workloads\n", reports->size());
  return clean ? 0 : kFailed;
}

bool IsOfAWorkload(std::string_view fault) { return fault == "restart-jobmanager" || fault == "fail-job"; }

// An annotation must change to be seen, so the time goes with it.
rt::Task<Result<void>> OnWorkload(Client& client, const Flags& flags, const std::string& fault) {
  const std::string value = StrCat(fault, "=", json::FormatMicroTime(client.api().loop().WallNow()));
  const Value patch =
      json::Object({{"metadata", json::Object({{"annotations", json::Object({{"practice.baton.io/fault", value}})}})}});
  CO_TRY(co_await client.api().Patch(practice::FlinkDeployments(), {client.ns(), flags.Get("--workload")},
                                     kube::PatchType::kMerge, patch));
  co_return Result<void>();
}

int Fault(std::span<const std::string_view> arguments, const Flags& given) {
  const std::string cluster = given.positional()[1];
  const std::string fault = given.positional()[2];
  if (IsOfAWorkload(fault) != given.Has("--workload"))
    return UsageError(kName,
                      InvalidError(IsOfAWorkload(fault) ? StrCat(fault, " needs --workload NAME")
                                                        : StrCat(fault, " is of the whole cluster: no --workload")));
  if (!IsOfAWorkload(fault)) {
    const Result<void> known = practice::CheckClusterFault(fault);
    if (!known.ok()) return UsageError(kName, known.error());
  }
  // The cluster's own context, where none is named.
  const std::string kubeconfig = StrCat(Absolute(given.Get("--data-dir", "baton-data")), "/kubeconfig");
  std::vector<std::string_view> with(arguments.begin(), arguments.end());
  if (!given.Has("--context")) with.insert(with.end(), {"--context", cluster});
  if (!given.Has("--kubeconfig")) with.insert(with.end(), {"--kubeconfig", kubeconfig});
  Flags flags(ClientFlags({{"--data-dir", "DIR"}, {"--workload", "NAME"}, {"--output", "FORMAT", "-o"}}), 3);
  const Result<void> parsed = flags.Parse(with);
  if (!parsed.ok()) return UsageError(kName, parsed.error());
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): RunClient runs it to its end
  return RunClient("practice fault", flags, [&](rt::RealLoop&, Client& client) -> rt::Task<Result<int>> {
    if (IsOfAWorkload(fault)) {
      CO_TRY(co_await OnWorkload(client, flags, fault));
    } else {
      CO_TRY(co_await practice::SetClusterFault(client.api(), fault));
    }
    std::printf("%s: %s\n", cluster.c_str(), fault.c_str());
    co_return 0;
  });
}

}  // namespace

int PracticeCommand(std::span<const std::string_view> arguments) {
  if (!arguments.empty() && arguments[0] == "operators") return PracticeOperatorsCommand(arguments.subspan(1));
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags(ClientFlags({{"--data-dir", "DIR"}, {"--workload", "NAME"}, {"--output", "FORMAT", "-o"}}), 3);
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed.ok()) return UsageError(kName, parsed.error());
  const std::vector<std::string>& words = flags.positional();
  if (words.size() == 1 && words[0] == "check") return Check(flags);
  if (words.size() == 3 && words[0] == "fault") return Fault(arguments, flags);
  return UsageError(kName, InvalidError("say `check`, `fault CLUSTER FAULT`, or `operators`"));
}

}  // namespace baton::cli
