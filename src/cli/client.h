// What every command that talks to a hub shares: where the hub is, which namespace, and how answers are printed.
//
//   Client client = CO_TRY(co_await Client::Open(loop, flags));
//   co_await client.api().Get(...);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "json/value.h"
#include "kube/remote_api.h"
#include "rt/real_loop.h"

namespace baton::cli {

// --kubeconfig, --context, -n/--namespace; with `more`.
std::vector<Flag> ClientFlags(std::vector<Flag> more = {});

class Client {
 public:
  static rt::Task<Result<Client>> Open(rt::RealLoop& loop, const Flags& flags);

  kube::Api& api() { return *api_; }
  const std::string& ns() const { return ns_; }

 private:
  std::unique_ptr<kube::RemoteApi> api_;
  std::string ns_;
};

// "flinkdeployment/orders", "FlinkDeployment/orders", "flinkdep/orders", "orders" with a kind that is known.
struct WorkloadArgument {
  std::string api_version;
  std::string kind;
  std::string name;
};
rt::Task<Result<WorkloadArgument>> FindWorkload(kube::Api& api, std::string text);

// Runs a command on a loop of its own; prints what went wrong. `run` gives the exit code.
int RunClient(const char* name, const Flags& flags,
              const std::function<rt::Task<Result<int>>(rt::RealLoop& loop, Client& client)>& run);

// Rows with columns aligned as kubectl does.
std::string Columns(const std::vector<std::vector<std::string>>& rows);
// An object as -o asks: json, yaml or name; "" and wide are for tables.
Result<std::string> Formatted(const json::Value& value, std::string_view output);
std::string AgeOf(const json::Value& object, WallTime now);

}  // namespace baton::cli
