// `baton demo`: a whole migration on practice clusters, shown as it happens, judged at the end.
#include "cli/demo_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/follow.h"
#include "cli/signals.h"
#include "cli/stack.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "practice/judge.h"
#include "rollout/records.h"
#include "rt/real_loop.h"
#include "rt/when.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr const char* kName = "demo";
constexpr Duration kStopTime = seconds(10);
constexpr Duration kMoveTime = minutes(2);
constexpr int kOperatorSpeed = 20;

constexpr const char* kHelp =
    "Usage: baton demo [--keep DIR]\n"
    "\n"
    "Starts a hub and three practice clusters in this process, runs a streaming job at 3,000 records a second, and\n"
    "moves it while records flow: to the second cluster, then to the third, whose image fails, and back, and once\n"
    "more to the third. Ends by itself in under a minute, with the count of records: exit code 1 when one is lost or\n"
    "doubled. On a terminal the moves are shown alive, in a pipe in plain lines.\n"
    "\n"
    "  --keep DIR   keep what the jobs wrote there (default: a temporary directory, removed at the end)\n";

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: streaming, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [practice-1, practice-2, practice-3]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: default
  annotations: {practice.baton.io/rate: "3000"}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 1 s
  jobManager: {resource: {memory: 1024m, cpu: 1}}
  taskManager: {resource: {memory: 1024m, cpu: 1}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 2, upgradeMode: savepoint, state: running}
)";

class Demo {
 public:
  Demo(rt::RealLoop& loop, Stack& stack) : loop_(loop), stack_(stack), begun_(loop.Now()) {}

  rt::Task<Result<bool>> Run() {
    Say("a hub and three practice clusters are up; kubectl works on them:");
    Say(StrCat("  export KUBECONFIG=", stack_.kubeconfig_path()));
    CO_TRY(co_await Apply(federation::kPropagationPolicies, kPolicy));
    CO_TRY(co_await Apply(practice::FlinkDeployments(), kJob));
    Say("applied a policy (one of three clusters) and a FlinkDeployment that processes 3,000 records a second");
    CO_TRY(co_await UntilRuns());
    CO_TRY(co_await Move("to-practice-2", "practice-2", "Succeeded"));
    Say("now a move that cannot work: images cannot be pulled in practice-3");
    CO_TRY(stack_.practice("practice-3").faults().Set("fail-image"));
    CO_TRY(co_await Move("to-broken-3", "practice-3", "RolledBack"));
    Say("the image is there again; the same move once more");
    CO_TRY(stack_.practice("practice-3").faults().Set("fail-image=off"));
    CO_TRY(co_await Move("to-practice-3", "practice-3", "Succeeded"));
    co_await loop_.Sleep(seconds(3));
    co_return co_await Verdict();
  }

 private:
  void Say(const std::string& line) {
    const auto tenths = (loop_.Now() - begun_) / milliseconds(100);
    std::printf("%3lld.%lld s  %s\n", static_cast<long long>(tenths / 10), static_cast<long long>(tenths % 10),
                line.c_str());
    std::fflush(stdout);
  }

  rt::Task<Result<void>> Apply(kube::Resource resource, std::string_view yaml) {
    Value object = CO_TRY(json::ParseYaml(yaml));
    CO_TRY(co_await stack_.hub().Apply(std::move(resource), std::move(object), {.field_manager = "demo"}));
    co_return Result<void>();
  }

  // The template's status comes back from the member: a watch of the hub tells.
  rt::Task<Result<void>> UntilRuns() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
    const auto runs = [this]() -> rt::Task<Result<void>> {
      std::unique_ptr<kube::Watch> watch = CO_TRY(co_await stack_.hub().OpenWatch(
          {.resource = practice::FlinkDeployments(), .ns = "default"}, rt::Deadline::After(loop_, kMoveTime)));
      while (true) {
        for (const kube::Change& change : CO_TRY(co_await watch->Next())) {
          if (change.object["status"]["jobStatus"]["state"].str() == "RUNNING") co_return Result<void>();
        }
      }
    };
    CO_TRY(co_await rt::WithDeadline(rt::Deadline::After(loop_, kMoveTime), "the job to run", runs()));
    Say("the job is RUNNING in practice-1");
    co_return Result<void>();
  }

  rt::Task<Result<void>> Move(std::string name, std::string target, std::string_view expected) {
    Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
    migration.Edit("metadata").Set("name", name);
    migration.Edit("metadata").Set("namespace", "default");
    migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", "flink.apache.org/v1beta1"},
                                                                   {"kind", "FlinkDeployment"},
                                                                   {"name", "orders"}})},
                                        {"target", target},
                                        {"stabilizationSeconds", 2}}));
    Say(StrCat("move flinkdeployment/orders to ", target));
    CO_TRY(co_await stack_.hub().Create(rollout::kMigrations, migration));
    std::string phase;
    if (::isatty(STDOUT_FILENO) == 1) {  // as `baton migrate --wait` shows it, the last line alive
      CO_TRY(co_await Follow(loop_, stack_.hub(), {"default", name}, kMoveTime));
      const Value now = CO_TRY(co_await stack_.hub().Get(rollout::kMigrations, {"default", name}));
      co_return Ended(now["status"]["phase"].str(), expected);
    }
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
    const auto ended = [&]() -> rt::Task<Result<void>> {
      std::unique_ptr<kube::Watch> watch = CO_TRY(co_await stack_.hub().OpenWatch(
          {.resource = rollout::kMigrations, .ns = "default", .field_selector = StrCat("metadata.name=", name)},
          rt::Deadline::After(loop_, kMoveTime)));
      while (true) {
        for (const kube::Change& change : CO_TRY(co_await watch->Next())) {
          const Value& status = change.object["status"];
          if (status["phase"].str() != phase) {
            phase = status["phase"].str();
            Say(StrCat("  ", phase, std::string(phase.size() < 12 ? 12 - phase.size() : 1, ' '), "writer ",
                       status["writer"].str_or("-"), ": ", status["message"].str()));
          }
          const auto known = rollout::PhaseFromName(phase);
          if (known && rollout::IsEnd(*known)) co_return Result<void>();
        }
      }
    };
    CO_TRY(co_await rt::WithDeadline(rt::Deadline::After(loop_, kMoveTime), StrCat("the move to ", target), ended()));
    co_return Ended(phase, expected);
  }

  static Result<void> Ended(std::string_view phase, std::string_view expected) {
    if (phase == expected) return {};
    return InternalError(StrCat("the move ended in ", phase, ", not in ", expected));
  }

  rt::Task<Result<bool>> Verdict() {
    const practice::JudgeReport report = CO_TRY(co_await practice::Judge(stack_.files(), "", "default", "orders"));
    std::printf("\nThe judge, who reads only what went in and what came out:\n\n%s\n", report.Text().c_str());
    std::printf(report.clean() ? "lost 0, duplicated 0, overlapping writers 0\n" : "NOT CLEAN\n");
    co_return report.clean();
  }

  rt::RealLoop& loop_;
  Stack& stack_;
  MonotonicTime begun_;
};

rt::Task<Result<bool>> Show(rt::RealLoop& loop, std::string directory, rt::Event& stop) {
  StackOptions options;
  options.data_dir = std::move(directory);
  options.ephemeral = true;
  options.practice_clusters = {"practice-1", "practice-2", "practice-3"};
  options.operator_speed = kOperatorSpeed;
  std::unique_ptr<Stack> stack = CO_TRY(co_await Stack::Start(loop, std::move(options)));
  Demo demo(loop, *stack);
  const auto stopped = [](rt::Event& event) -> rt::Task<Result<bool>> {
    co_await event.Wait();
    co_return CancelledError("stopped");
  };
  std::vector<rt::Task<Result<bool>>> either;
  either.push_back(demo.Run());
  either.push_back(stopped(stop));
  rt::AnyResult<Result<bool>> clean = co_await rt::WhenAny(std::move(either));
  co_await stack->Stop(rt::Deadline::After(loop, kStopTime));
  co_return std::move(clean.value);
}

}  // namespace

int DemoCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Flags flags({{"--keep", "DIR"}});
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed.ok()) return UsageError(kName, parsed.error());
  ::umask(S_IRWXG | S_IRWXO);
  std::string directory = flags.Get("--keep");
  const bool temporary = directory.empty();
  if (temporary) {
    Result<std::string> made = MakeTemporaryDirectory("baton-demo");
    if (!made.ok()) return Failure(kName, made.error());
    directory = *std::move(made);
  }
  StopSignals signals;
  rt::RealLoop loop;
  rt::Event stop;
  signals.Deliver(loop, stop);
  const Result<bool> clean = loop.Run(Show(loop, directory, stop));
  std::error_code ignored;
  if (temporary) std::filesystem::remove_all(directory, ignored);
  if (!clean.ok()) return Failure(kName, clean.error());
  return *clean ? 0 : kFailed;
}

}  // namespace baton::cli
