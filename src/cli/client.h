// What every command that talks to a hub shares: where the hub is, which namespace, and how answers are printed.
//
//   Client client = CO_TRY(co_await Client::Open(loop, flags));
//   co_await client.api().Get(...);
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "json/value.h"
#include "kube/remote_api.h"
#include "rt/real_loop.h"

namespace baton::cli {

// --kubeconfig, --context, --namespace (-n); with `more`.
std::vector<Flag> ClientFlags(std::vector<Flag> more = {});

class Client {
 public:
  // `context` goes before the flag of that name.
  static rt::Task<Result<Client>> Open(rt::RealLoop& loop, const Flags& flags, std::string context = {});

  kube::Api& api() { return *api_; }
  const std::string& ns() const { return ns_; }
  const std::string& context() const { return context_; }  // of the kubeconfig

 private:
  std::unique_ptr<kube::RemoteApi> api_;
  std::string ns_;
  std::string context_;
};

// "flinkdeployment/orders", "FlinkDeployment/orders", "flinkdep/orders", "orders" with a kind that is known.
struct WorkloadArgument {
  kube::Resource resource;
  std::string api_version;
  std::string kind;
  std::string name;
  std::string ToString() const;  // "flinkdeployment/orders"
};
rt::Task<Result<WorkloadArgument>> FindWorkload(kube::Api& api, std::string text);

// Runs a command on a loop of its own; prints what went wrong. `run` gives the exit code.
int RunClient(const char* name, const Flags& flags,
              const std::function<rt::Task<Result<int>>(rt::RealLoop& loop, Client& client)>& run);

// One command of a client: `-h`, its flags, and what it does with the hub.
//
//   int AbortCommand(std::span<const std::string_view> arguments) {
//     return RunClientCommand({.name = "abort", .help = kHelp, .positionals = 1}, arguments, Abort);
//   }
struct ClientCommand {
  const char* name;
  const char* help;
  std::vector<Flag> flags = {};
  size_t positionals = 0;
};
using ClientRun = std::function<rt::Task<Result<int>>(rt::RealLoop& loop, Client& client, const Flags& flags)>;
// kInvalid errors that come before the hub is asked are usage errors: `check` finds them.
using ClientCheck = std::function<Result<void>(const Flags& flags)>;
int RunClientCommand(const ClientCommand& command, std::span<const std::string_view> arguments, const ClientRun& run,
                     const ClientCheck& check = {});
inline constexpr const char* kClientHelp =
    "  --kubeconfig FILE      the hub's; default $KUBECONFIG, then ~/.kube/config\n"
    "  --context NAME         of the kubeconfig; default its current one\n"
    "  -n, --namespace NAME   default the context's\n";

// Null when there is none.
rt::Task<Result<json::Value>> GetOrNull(kube::Api& api, kube::Resource resource, kube::Name name);

// Rows with columns aligned as kubectl does.
std::string Columns(const std::vector<std::vector<std::string>>& rows);
// An object as -o asks: json, yaml or name; "" and wide are for tables.
Result<std::string> Formatted(const json::Value& value, std::string_view output);
std::string AgeOf(const json::Value& object, WallTime now);
std::string Short(Duration age);                          // "12s", "4m", "3h", "2d"
std::string KindSlashName(const json::Value& reference);  // "FlinkDeployment/orders" of {kind, name}

}  // namespace baton::cli
