// `baton up`: the whole control plane in one process.
#include "cli/up_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/pid_lock.h"
#include "cli/signals.h"
#include "cli/stack.h"
#include "rt/real_loop.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "up";
constexpr Duration kStopTime = seconds(20);
constexpr int kPracticeMax = 20;

constexpr const char* kHelp =
    "Usage: baton up [--data-dir DIR] [--listen HOST:PORT] [--practice-clusters N|NAME,NAME...] [--ephemeral]\n"
    "\n"
    "The whole control plane in this process: an embedded hub (kubectl works on it), all controllers, and practice\n"
    "clusters to learn with, each with an API server of its own. A restart goes on where it was. Ctrl-C or\n"
    "`baton down` stops it.\n"
    "\n"
    "  --data-dir DIR            default ./baton-data; DIR/kubeconfig has a context for each cluster\n"
    "  --listen HOST:PORT        of the hub; default 127.0.0.1:0, which picks a port\n"
    "  --practice-clusters N     how many, or their names; default none\n"
    "  --practice-speed N        practice operators look N times as often as real ones; default 10\n"
    "  --practice-flink VERSION  of Flink's operator, whose behaviour they have: 1.10 to 1.16; default 1.15\n"
    "  --ephemeral               keep the API servers in memory: nothing survives\n"
    "  --log LEVEL               debug, info, warn or error; default info, into DIR/baton.log\n"
    "\n"
    "Examples:\n"
    "  baton up --practice-clusters 3\n"
    "  baton up --data-dir /var/lib/baton --listen 0.0.0.0:6443\n"
    "  KUBECONFIG=baton-data/kubeconfig kubectl get clusters\n";

Result<std::vector<std::string>> PracticeNames(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    const int count = text.size() > 3 ? kPracticeMax + 1 : std::stoi(text);
    if (count > kPracticeMax) return InvalidError(StrCat("--practice-clusters: at most ", kPracticeMax));
    for (int i = 1; i <= count; ++i) names.push_back(StrCat("practice-", i));
    return names;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (comma != 0) names.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return names;
}

struct Settings {
  StackOptions stack;
  std::string log_filter;
};

Result<Settings> ReadSettings(std::span<const std::string_view> arguments) {
  Flags flags({{"--data-dir", "DIR"},
               {"--listen", "HOST:PORT"},
               {"--practice-clusters", "N"},
               {"--practice-speed", "N"},
               {"--practice-flink", "VERSION"},
               {"--ephemeral"},
               {"--log", "LEVEL"}});
  TRY(flags.Parse(arguments));
  Settings settings;
  settings.stack.data_dir = Absolute(flags.Get("--data-dir", "baton-data"));
  settings.stack.ephemeral = flags.Has("--ephemeral");
  settings.stack.listen = TRY(net::ParseEndpoint(flags.Get("--listen", "127.0.0.1:0")));
  settings.stack.practice_clusters = TRY(PracticeNames(flags.Get("--practice-clusters")));
  const std::string speed = flags.Get("--practice-speed", "10");
  if (speed.empty() || speed.size() > 3 || speed.find_first_not_of("0123456789") != std::string::npos || speed == "0") {
    return InvalidError("--practice-speed: a number from 1 to 999");
  }
  settings.stack.operator_speed = std::stoi(speed);
  settings.stack.practice.flink.version =
      TRY(practice::ParseOperatorVersion(flags.Get("--practice-flink", "1.15")).Context("--practice-flink"));
  settings.log_filter = flags.Get("--log", "info");
  return settings;
}

void PrintSummary(const Stack& stack, const StackOptions& options) {
  std::printf("hub         https://%s\n", stack.endpoint().ToString().c_str());
  for (const std::string& name : options.practice_clusters) {
    std::printf("%-11s https://%s (a practice cluster)\n", name.c_str(),
                stack.practice_endpoint(name).ToString().c_str());
  }
  std::printf("kubeconfig  %s\n\nTry:\n  export KUBECONFIG=%s\n  kubectl get clusters\n  baton get migrations -A\n",
              stack.kubeconfig_path().c_str(), stack.kubeconfig_path().c_str());
  std::fflush(stdout);
}

rt::Task<Result<void>> Serve(rt::RealLoop& loop, StackOptions options, rt::Event& stop) {
  std::unique_ptr<Stack> stack = CO_TRY(co_await Stack::Start(loop, options));
  PrintSummary(*stack, options);
  options.log->Info("up", {{"hub", stack->endpoint().ToString()}, {"practice", Join(options.practice_clusters, ",")}});
  co_await stop.Wait();
  std::printf("stopping\n");
  options.log->Info("stopping", {});
  co_await stack->Stop(rt::Deadline::After(loop, kStopTime));
  options.log->Info("stopped", {});
  co_return Result<void>();
}

}  // namespace

int UpCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Result<Settings> settings = ReadSettings(arguments);
  if (!settings.ok()) return UsageError(kName, settings.error());
  Result<LogFilter> filter = ParseLogFilter(settings->log_filter);
  if (!filter.ok()) return UsageError(kName, filter.error());
  ::umask(S_IRWXG | S_IRWXO);
  const Result<void> made = MakeDirectories(settings->stack.data_dir);
  if (!made.ok()) return Failure(kName, made.error());
  const Result<std::unique_ptr<PidLock>> lock = PidLock::Take(settings->stack.data_dir);
  if (!lock.ok()) return Failure(kName, lock.error());
  const std::string log_path = StrCat(settings->stack.data_dir, "/baton.log");
  std::FILE* log_file = std::fopen(log_path.c_str(), "ae");
  if (log_file == nullptr) return Failure(kName, InvalidError(StrCat("'", log_path, "' cannot be written")));
  StopSignals signals;
  rt::RealLoop loop;
  FdSink sink(::fileno(log_file));
  Log log(sink, [&loop] { return loop.WallNow(); }, {.filter = *std::move(filter)});
  const Logger logger = log.For("controllers");
  settings->stack.log = &logger;
  rt::Event stop;
  signals.Deliver(loop, stop);
  const Result<void> served = loop.Run(Serve(loop, settings->stack, stop));
  std::fclose(log_file);
  if (!served.ok()) return Failure(kName, served.error());
  return 0;
}

}  // namespace baton::cli
