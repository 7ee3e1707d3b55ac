// The program's entry: finds the command and runs it. Thin on purpose; everything testable lives in modules.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "cli/adopt_command.h"
#include "cli/apiserver_command.h"
#include "cli/backup_command.h"
#include "cli/completion_command.h"
#include "cli/controllers_command.h"
#include "cli/crds_command.h"
#include "cli/demo_command.h"
#include "cli/down_command.h"
#include "cli/drain_command.h"
#include "cli/get_command.h"
#include "cli/history_command.h"
#include "cli/interpret_command.h"
#include "cli/join_command.h"
#include "cli/migrate_command.h"
#include "cli/plan_command.h"
#include "cli/practice_command.h"
#include "cli/profile_command.h"
#include "cli/simulate_command.h"
#include "cli/status_command.h"
#include "cli/steer_command.h"
#include "cli/up_command.h"

namespace {

constexpr int kUsageError = 2;  // exit code for a command line that makes no sense

struct Command {
  const char* name;
  const char* summary;
  int (*run)(std::span<const std::string_view> arguments);
};

int Version(std::span<const std::string_view> arguments) {
  if (!arguments.empty()) {
    std::fprintf(stderr, "baton version: takes no argument, and there is '%s'.\n", std::string(arguments[0]).c_str());
    return kUsageError;
  }
  std::printf("baton %s (%s, %s)\n", BATON_VERSION, BATON_BUILD_TYPE, BATON_COMPILER);
  return 0;
}

constexpr std::array kCommands = {
    Command{"abort", "take a move back", baton::cli::AbortCommand},
    Command{"adopt", "take over what runs in one cluster already, and give it back", baton::cli::AdoptCommand},
    Command{"apiserver", "a Kubernetes API server on an embedded store", baton::cli::ApiServerCommand},
    Command{"approve", "approve what a move waits for", baton::cli::ApproveCommand},
    Command{"attest", "state that a silent source is stopped for good", baton::cli::AttestCommand},
    Command{"backup", "write everything a store holds to a file", baton::cli::BackupCommand},
    Command{"completion", "what bash and zsh need to complete the rest", baton::cli::CompletionCommand},
    Command{"controllers", "the controllers, on any hub", baton::cli::ControllersCommand},
    Command{"crds", "print the CustomResourceDefinitions that a hub needs", baton::cli::CrdsCommand},
    Command{"demo", "a whole migration on practice clusters, judged at the end", baton::cli::DemoCommand},
    Command{"down", "stop what `baton up` started", baton::cli::DownCommand},
    Command{"drain", "move everything out of a cluster", baton::cli::DrainCommand},
    Command{"get", "migrations, writers and clusters as tables", baton::cli::GetCommand},
    Command{"history", "the handoffs of a workload, on record", baton::cli::HistoryCommand},
    Command{"interpret", "what an interpreter says about an object; tries a customization",
            baton::cli::InterpretCommand},
    Command{"join", "make a cluster a member", baton::cli::JoinCommand},
    Command{"migrate", "move a workload to another cluster", baton::cli::MigrateCommand},
    Command{"pause", "hold a move before it stops the workload", baton::cli::PauseCommand},
    Command{"plan", "what a move or a drain would do, without doing it", baton::cli::PlanCommand},
    Command{"practice", "count what practice jobs did; make things go wrong", baton::cli::PracticeCommand},
    Command{"profile", "how kinds are moved; tries a profile without a cluster", baton::cli::ProfileCommand},
    Command{"restore", "make a store from a backup", baton::cli::RestoreCommand},
    Command{"resume", "let a paused move go on", baton::cli::ResumeCommand},
    Command{"simulate", "random moves with faults in a simulated world, from seeds", baton::cli::SimulateCommand},
    Command{"status", "where workloads run, what moves, who must act", baton::cli::StatusCommand},
    Command{"uncordon", "let a drained cluster take workloads again", baton::cli::UncordonCommand},
    Command{"undo", "move a workload back to where it came from", baton::cli::UndoCommand},
    Command{"undrain", "the same, and bring home what was moved away", baton::cli::UndrainCommand},
    Command{"unjoin", "let a member leave", baton::cli::UnjoinCommand},
    Command{"up", "the whole control plane in this process", baton::cli::UpCommand},
    Command{"verify", "check the record of handoffs", baton::cli::VerifyCommand},
    Command{"version", "which build this is", Version},
};

void PrintHelp(std::FILE* out) {
  std::fputs(
      "Baton moves running stateful workloads between Kubernetes clusters: no record lost, never two writers.\n"
      "\n"
      "Usage: baton COMMAND [ARGUMENTS]\n"
      "\n"
      "Commands:\n",
      out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-11s %s\n", command.name, command.summary);
  }
  std::fprintf(out, "  %-11s %s\n", "help", "this text (also --help, -h)");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return kUsageError;
  }
  const std::string_view name = argv[1];
  if (name == "help" || name == "--help" || name == "-h") {
    PrintHelp(stdout);
    return 0;
  }
  const auto* command = std::ranges::find_if(kCommands, [name](const Command& known) { return name == known.name; });
  if (command == kCommands.end()) {
    std::fprintf(stderr, "baton: unknown command '%s'. `baton --help` lists the commands.\n", argv[1]);
    return kUsageError;
  }
  constexpr size_t kMaxArguments = 256;
  std::array<std::string_view, kMaxArguments> arguments;
  const size_t count = std::min(static_cast<size_t>(argc - 2), kMaxArguments);
  std::copy_n(argv + 2, count, arguments.begin());
  return command->run(std::span(arguments).first(count));
}
