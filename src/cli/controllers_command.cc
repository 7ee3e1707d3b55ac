// The controllers on a hub that somebody else serves.
#include "cli/controllers_command.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "cli/client.h"
#include "cli/metrics_server.h"
#include "cli/signals.h"
#include "cli/stack.h"
#include "federation/connect.h"
#include "federation/late_admission.h"
#include "kube/election.h"
#include "kube/polite_api.h"
#include "rt/scope.h"
#include "rt/when.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "controllers";
constexpr Duration kReleaseTime = seconds(5);

constexpr const char* kHelp =
    "Usage: baton controllers [--controllers LIST] [--leader-elect] [--install-crds]\n"
    "\n"
    "Runs the controllers against any Kubernetes API server as the hub. With --leader-elect several of these may run: "
    "one\n"
    "acts, the others wait. SIGTERM stops it cleanly and gives the lease back.\n"
    "\n"
    "Examples:\n"
    "  baton controllers --kubeconfig hub.yaml --install-crds\n"
    "  baton controllers --kubeconfig hub.yaml --leader-elect --leader-elect-namespace baton-system\n"
    "  baton crds | kubectl apply --server-side -f -        # the same as --install-crds, by hand\n"
    "\n"
    "  --controllers LIST            * (all, the default); federation: everything but moves; rollout: moves alone, "
    "beside\n"
    "                                a Karmada that places the workloads: nothing of its is written but by a move\n"
    "                                (StatefulMigrationController is another name of rollout)\n"
    "  --feature-gates LIST          StatefulMigration=true (the default) or =false: no moves, as federation alone\n"
    "  --leader-elect                one of several acts\n"
    "  --leader-elect-namespace NS   of the Lease baton-controllers; default kube-system\n"
    "  --install-crds                first make the hub know our kinds\n"
    "  --max-moves-out N             moves that leave one cluster at a time; default 5, by cluster with the "
    "annotation\n"
    "                                rollout.karmada.io/max-moves-out\n"
    "  --max-moves-in N              moves that enter one cluster at a time; default 5, or "
    "rollout.karmada.io/max-moves-in\n"
    "  --metrics-bind-address ADDR   /metrics, /healthz and /readyz over plain HTTP, as 127.0.0.1:8080; default: off\n"
    "  --log LEVEL                   debug, info, warn or error; default info\n";

struct Settings {
  bool federation = true;
  bool rollout = true;
  bool elect = false;
  bool install = false;
  std::string lease_namespace;
  rollout::EvacuateOptions limits;
  std::optional<net::Endpoint> metrics;
};

// What outlives a term of office.
struct Office {
  explicit Office(MetricRegistry& registry)
      : metrics(registry), leads(registry.AddGauge("baton_leader", "1: this one acts.")) {}
  rollout::RolloutMetrics metrics;
  Gauge leads;
  bool leading = false;
};

// As Karmada's: NAME=true,NAME=false. There is one.
Result<bool> MovesAllowed(const std::string& gates) {
  bool allowed = true;
  for (const std::string_view gate : Split(gates, ',')) {
    if (gate.empty()) continue;
    const size_t equals = gate.find('=');
    const std::string_view name = gate.substr(0, equals);
    const std::string value = equals == std::string_view::npos ? "" : ToLower(gate.substr(equals + 1));
    if (name != "StatefulMigration")
      return InvalidError(StrCat("--feature-gates: '", name, "' is not known. There is: StatefulMigration"));
    if (value != "true" && value != "false")
      return InvalidError(
          StrCat("--feature-gates: '", gate, "' says neither true nor false, as ", name, "=false does"));
    allowed = value == "true";
  }
  return allowed;
}

Result<Settings> ReadSettings(const Flags& flags) {
  Settings settings;
  settings.elect = flags.Has("--leader-elect");
  settings.install = flags.Has("--install-crds");
  settings.lease_namespace = flags.Get("--leader-elect-namespace", "kube-system");
  if (flags.Has("--leader-elect-namespace") && !settings.elect)
    return InvalidError("--leader-elect-namespace is for --leader-elect");
  settings.limits.moves_out =
      static_cast<int>(TRY(flags.GetInt("--max-moves-out", rollout::kMovesOutDefault, 0, 1000)));
  settings.limits.moves_in = static_cast<int>(TRY(flags.GetInt("--max-moves-in", rollout::kMovesInDefault, 0, 1000)));
  if (flags.Has("--metrics-bind-address"))
    settings.metrics = TRY(net::ParseEndpoint(flags.Get("--metrics-bind-address")));
  bool all = false;
  bool federation = false;
  bool rollout = false;
  const std::string list = flags.Get("--controllers", "*");
  for (const std::string_view group : Split(list, ',')) {
    if (group == "*") {
      all = true;
    } else if (group == "federation") {
      federation = true;
    } else if (group == "rollout" || group == "StatefulMigrationController") {
      rollout = true;
    } else {
      return InvalidError(StrCat("--controllers: '", group,
                                 "' is not known. There are: * (all), federation, rollout; several with commas"));
    }
  }
  const bool moves = TRY(MovesAllowed(flags.Get("--feature-gates")));
  settings.federation = all || federation;
  settings.rollout = (all || rollout) && moves;
  if (!settings.federation && !settings.rollout)
    return InvalidError("--feature-gates: without StatefulMigration there is nothing to run of --controllers=rollout");
  return settings;
}

std::string Identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return StrCat(host.data(), "_", ::getpid());
}

// Until it is dropped.
rt::Task<void> Lead(rt::RealLoop& loop, kube::Api& hub, int64_t fence, std::function<void(int64_t)> outranked,
                    const Settings& settings, Office& office, const Logger& log) {
  log.Info("leading", {{"fence", fence}, {"federation", settings.federation}, {"rollout", settings.rollout}});
  office.leading = true;
  office.leads.Set(1);
  const struct Leaves {
    Office& office;
    ~Leaves() {
      office.leading = false;
      office.leads.Set(0);
    }
  } leaves{office};
  ControlPlane control(hub, federation::ConnectOverHttps(loop), federation::PostOverHttps(loop, hub),
                       [fence] { return fence; }, &log,
                       {.own_hub = settings.federation,
                        .metrics = &office.metrics,
                        .limits = settings.limits,
                        .outranked = std::move(outranked)});
  federation::LateAdmission late(hub, &log);
  rt::Scope scope(loop);
  if (!settings.federation) {
    control.RunAlongside();
  } else if (settings.rollout) {
    control.Run();
  } else {
    control.scope.Spawn(control.federation.Run());
  }
  if (settings.federation) scope.Spawn(late.Run());
  rt::Event never;
  co_await never.Wait();
}

rt::Task<void> Stopped(rt::Event& stop) { co_await stop.Wait(); }

rt::Task<Result<void>> Serve(rt::RealLoop& loop, const Flags& flags, Settings settings, rt::Event& stop,
                             const Logger& log) {
  Client client = CO_TRY(co_await Client::Open(loop, flags));
  // Beside another federation its kinds are its own.
  if (settings.install)
    CO_TRY(co_await federation::InstallCrds(client.api(), settings.federation ? "" : "rollout.karmada.io"));
  kube::PoliteApi hub(client.api(), {.cluster = "hub"});
  MetricRegistry registry;
  Office office(registry);
  std::unique_ptr<MetricsServer> metrics;
  if (settings.metrics) {
    metrics = CO_TRY(MetricsServer::Start(loop, *settings.metrics, registry, [&office] { return office.leading; }));
    log.Info("metrics", {{"port", metrics->endpoint().port}});
  }
  std::printf("running\n");
  std::fflush(stdout);
  std::vector<rt::Task<void>> either;
  either.push_back(Stopped(stop));
  kube::Election election(client.api(), {.ns = settings.lease_namespace,
                                         .name = "baton-controllers",
                                         .identity = StrCat(Identity(), "_", loop.random().Next())});
  if (settings.elect) {
    // A first leader has made no transition, and 0 is what nobody has written.
    either.push_back(election.Run([&](int64_t transitions) {
      const auto outranked = [&election](int64_t fence) { election.RaiseFence(fence - 1); };
      return Lead(loop, hub, transitions + 1, outranked, settings, office, log);
    }));
  } else {
    either.push_back(Lead(loop, hub, 1, nullptr, settings, office, log));
  }
  co_await rt::WhenAny(std::move(either));
  log.Info("stopping", {});
  if (!settings.elect) co_return Result<void>();
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto release = [&]() -> rt::Task<Result<void>> {
    co_await election.Release();
    co_return Result<void>();
  };
  // When this fails the others wait until the lease has run out.
  [[maybe_unused]] const Result<void> released =
      co_await rt::WithDeadline(rt::Deadline::After(loop, kReleaseTime), "giving the lease back", release());
  co_return Result<void>();
}

}  // namespace

int ControllersCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(StrCat(kHelp, kClientHelp).c_str(), stdout) >= 0 ? 0 : kFailed;
  Flags flags(ClientFlags({{"--controllers", "LIST"},
                           {"--feature-gates", "LIST"},
                           {"--leader-elect"},
                           {"--leader-elect-namespace", "NS"},
                           {"--install-crds"},
                           {"--max-moves-out", "N"},
                           {"--max-moves-in", "N"},
                           {"--metrics-bind-address", "ADDR"},
                           {"--log", "LEVEL"}}));
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(kName, parsed.error());
  Result<Settings> settings = ReadSettings(flags);
  if (!settings.ok()) return UsageError(kName, settings.error());
  Result<LogFilter> filter = ParseLogFilter(flags.Get("--log", "info"));
  if (!filter.ok()) return UsageError(kName, filter.error());
  StopSignals signals;
  rt::RealLoop loop;
  FdSink sink(STDERR_FILENO);
  Log log(sink, [&loop] { return loop.WallNow(); }, {.filter = *std::move(filter)});
  const Logger logger = log.For("controllers");
  rt::Event stop;
  signals.Deliver(loop, stop);
  const Result<void> served = loop.Run(Serve(loop, flags, *settings, stop, logger));
  return served.ok() ? 0 : Failure(kName, served.error());
}

}  // namespace baton::cli
