// Practice clusters whose API servers are others' processes: a PracticeCluster each, with one storage for all of them.
#include "cli/operators_command.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cli/client.h"
#include "cli/files.h"
#include "cli/signals.h"
#include "kube/polite_api.h"
#include "practice/cluster.h"
#include "practice/commons.h"
#include "practice/storage.h"
#include "rt/files.h"
#include "rt/scope.h"
#include "store/directory_lock.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "practice operators";

constexpr const char* kHelp =
    "Usage: baton practice operators [--kubeconfig FILE] [--context NAME,NAME...] [--data-dir DIR] [--speed N]\n"
    "                                [--flink VERSION] [--kinds]\n"
    "\n"
    "Runs a practice operator and its jobs (which really process records) in every named cluster, against any\n"
    "Kubernetes API server: what `baton up --practice-clusters N` does on its own ones. It makes Flink's kinds there\n"
    "where they are missing, and two Nodes. All clusters whose jobs move between each other must be in one such\n"
    "process: they share its directory. For bare API servers and test clusters: a cluster that has a real Flink\n"
    "operator or runs Deployments by itself would do everything twice. Ctrl-C stops it; jobs go on from their last\n"
    "checkpoint when it starts again.\n"
    "\n"
    "Examples:\n"
    "  baton practice operators --kubeconfig members.yaml --context member1,member2 --data-dir practice\n"
    "  baton practice check --data-dir practice\n"
    "\n"
    "  --context NAME,...     of the kubeconfig, each the cluster's name here, too; default the current one\n"
    "  --kubeconfig FILE      default $KUBECONFIG, then ~/.kube/config\n"
    "  --data-dir DIR         what jobs read and write; default ./baton-data\n"
    "  --speed N              look N times as often as a real operator; default 10\n"
    "  --flink VERSION        of Flink's operator, whose behaviour it has: 1.10 to 1.16; default 1.15\n"
    "  --kinds                play Deployments, StatefulSets, Jobs and the operators of others, too (`baton up` "
    "does)\n";

struct Settings {
  std::string storage;
  std::vector<std::string> contexts;  // "" is the current one
  int speed = 1;
  practice::OperatorVersion flink{};
  bool kinds = false;
};

Result<Settings> ReadSettings(const Flags& flags) {
  Settings settings;
  settings.storage = StrCat(Absolute(flags.Get("--data-dir", "baton-data")), "/practice-storage");
  const std::string contexts = flags.Get("--context");
  for (const std::string_view context : Split(contexts, ',')) {
    if (context.empty() && flags.Has("--context")) return InvalidError("--context: a name is empty");
    settings.contexts.emplace_back(context);
  }
  const std::string speed = flags.Get("--speed", "10");
  if (speed.empty() || speed.size() > 3 || speed.find_first_not_of("0123456789") != std::string::npos || speed == "0")
    return InvalidError("--speed: a number from 1 to 999");
  settings.speed = std::stoi(speed);
  settings.flink = TRY(practice::ParseOperatorVersion(flags.Get("--flink", "1.15")).Context("--flink"));
  settings.kinds = flags.Has("--kinds");
  return settings;
}

// One cluster of another's: the way to it, and what runs in it.
struct Practised {
  explicit Practised(Client opened) : client(std::move(opened)), api(client.api(), {}) {}

  Client client;
  kube::PoliteApi api;
  std::unique_ptr<practice::PracticeCluster> cluster;
};

rt::Task<Result<void>> Serve(rt::RealLoop& loop, const Flags& flags, Settings settings, rt::Event& stop) {
  CO_TRY(MakeDirectories(settings.storage));
  // Two processes that append to one source would number its records twice.
  const store::DirectoryLock lock = CO_TRY(store::DirectoryLock::Take(settings.storage));
  const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, settings.storage);
  const practice::Storage storage(*files);
  practice::Commons commons(loop, storage);
  std::vector<std::unique_ptr<Practised>> all;
  for (const std::string& context : settings.contexts) {
    all.push_back(std::make_unique<Practised>(CO_TRY(co_await Client::Open(loop, flags, context))));
    Practised& one = *all.back();
    CO_TRY(settings.kinds ? co_await practice::InstallPracticeKinds(one.api)
                          : co_await practice::InstallFlinkKinds(one.api));
    practice::PracticeClusterOptions options;
    options.flink.version = settings.flink;
    options.flink = options.flink.Faster(settings.speed);
    options.kinds = settings.kinds;
    one.cluster = std::make_unique<practice::PracticeCluster>(one.api, commons, one.client.context(), options);
  }
  rt::Scope scope(loop);
  for (const auto& one : all) scope.Spawn(one->cluster->Run());
  std::printf("running\n");
  std::fflush(stdout);
  co_await stop.Wait();
  co_return Result<void>();
}

}  // namespace

int PracticeOperatorsCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--kubeconfig", "FILE"},
               {"--context", "NAME"},
               {"--data-dir", "DIR"},
               {"--speed", "N"},
               {"--flink", "VERSION"},
               {"--kinds"}});
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  Result<Settings> settings = ReadSettings(flags);
  if (!settings.ok()) return UsageError(kName, settings.error());
  StopSignals signals;
  rt::RealLoop loop;
  rt::Event stop;
  signals.Deliver(loop, stop);
  const Result<void> served = loop.Run(Serve(loop, flags, *std::move(settings), stop));
  return served.ok() ? 0 : Failure(kName, served.error());
}

}  // namespace baton::cli
