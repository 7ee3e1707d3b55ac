// Finding the hub, and printing.
#include "cli/client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/strings.h"
#include "cli/files.h"
#include "json/print.h"
#include "json/rfc3339.h"
#include "json/yaml.h"
#include "kube/kubeconfig.h"
#include "rt/files.h"

namespace baton::cli {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string> KubeconfigPaths(const Flags& flags) {
  if (flags.Has("--kubeconfig")) return {Absolute(flags.Get("--kubeconfig"))};
  const char* variable = std::getenv("KUBECONFIG");  // NOLINT(concurrency-mt-unsafe) before any thread
  if (variable != nullptr && *variable != '\0') {
    std::vector<std::string> paths;
    std::string_view rest = variable;
    while (!rest.empty()) {
      const size_t colon = rest.find(':');
      if (colon != 0) paths.push_back(Absolute(std::string(rest.substr(0, colon))));
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
    return paths;
  }
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  return {StrCat(home == nullptr ? "" : home, "/.kube/config")};
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe) before any thread
  return value == nullptr ? "" : value;
}

// The named kubeconfig, $KUBECONFIG, ~/.kube/config; where none is named and none is there, what a pod is given.
rt::Task<Result<kube::ClusterAccess>> FindAccess(rt::Files& files, const Flags& flags, std::string context) {
  Result<kube::Kubeconfig> config = co_await kube::LoadKubeconfig(files, KubeconfigPaths(flags));
  const bool named = flags.Has("--kubeconfig") || !Environment("KUBECONFIG").empty() || !context.empty();
  const std::string host = Environment("KUBERNETES_SERVICE_HOST");
  if (!config.ok() && config.error().kind() == ErrorKind::kNotFound && !named && !host.empty()) {
    co_return co_await kube::LoadInClusterAccess(files, host, Environment("KUBERNETES_SERVICE_PORT"));
  }
  co_return co_await kube::LoadAccess(files, CO_TRY(std::move(config)), std::move(context));
}

}  // namespace

std::vector<Flag> ClientFlags(std::vector<Flag> more) {
  std::vector<Flag> flags = {{"--kubeconfig", "FILE"}, {"--context", "NAME"}, {"--namespace", "NAME", "-n"}};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

rt::Task<Result<Client>> Client::Open(rt::RealLoop& loop, const Flags& flags, std::string context) {
  Client client;
  if (context.empty()) context = flags.Get("--context");
  std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, "/");
  kube::ClusterAccess access = CO_TRY(co_await FindAccess(*files, flags, context));
  client.ns_ = flags.Get("--namespace", access.ns.empty() ? "default" : access.ns);
  for (const std::string& warning : access.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  client.context_ = access.context;
  client.api_ = CO_TRY(kube::RemoteApi::Make(loop, std::move(access)));
  co_return client;
}

rt::Task<Result<WorkloadArgument>> FindWorkload(kube::Api& api, std::string text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    co_return InvalidError(StrCat("'", text, "' is not KIND/NAME, for example flinkdeployment/orders"));
  }
  const std::string kind = Lower(text.substr(0, slash));
  const kube::Discovered discovered =
      CO_TRY(co_await api.Discover(rt::Deadline::After(api.loop(), kube::kCallTimeout)));
  const kube::ResourceInfo* found = nullptr;
  for (const kube::ResourceInfo& info : discovered.resources) {
    const bool means = Lower(info.resource.kind) == kind || info.resource.plural == kind ||
                       std::ranges::find(info.short_names, kind) != info.short_names.end();
    if (means && (found == nullptr || info.preferred)) found = &info;
  }
  if (found == nullptr)
    co_return NotFoundError(StrCat("the hub has no kind '", kind, "': `kubectl api-resources` lists them"));
  co_return WorkloadArgument{.resource = found->resource,
                             .api_version = found->resource.ApiVersion(),
                             .kind = found->resource.kind,
                             .name = text.substr(slash + 1)};
}

std::string WorkloadArgument::ToString() const { return StrCat(Lower(kind), "/", name); }

rt::Task<Result<json::Value>> GetOrNull(kube::Api& api, kube::Resource resource, kube::Name name) {
  Result<json::Value> found = co_await api.Get(std::move(resource), std::move(name));
  if (!found.ok() && found.error().kind() == ErrorKind::kNotFound) co_return json::Value();
  co_return found;
}

int RunClientCommand(const ClientCommand& command, std::span<const std::string_view> arguments, const ClientRun& run,
                     const ClientCheck& check) {
  if (AsksForHelp(arguments)) {
    return std::fputs(StrCat(command.help, kClientHelp).c_str(), stdout) >= 0 ? 0 : kFailed;
  }
  Flags flags(ClientFlags(command.flags), command.positionals);
  if (const Result<void> parsed = flags.Parse(arguments); !parsed.ok()) return UsageError(command.name, parsed.error());
  if (check) {
    if (const Result<void> checked = check(flags); !checked.ok()) return UsageError(command.name, checked.error());
  }
  return RunClient(command.name, flags, [&](rt::RealLoop& loop, Client& client) { return run(loop, client, flags); });
}

int RunClient(const char* name, const Flags& flags,
              const std::function<rt::Task<Result<int>>(rt::RealLoop& loop, Client& client)>& run) {
  rt::RealLoop loop;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto whole = [&]() -> rt::Task<Result<int>> {
    Client client = CO_TRY(co_await Client::Open(loop, flags));
    co_return co_await run(loop, client);
  };
  const Result<int> code = loop.Run(whole());
  return code.ok() ? *code : Failure(name, code.error());
}

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 3, ' ');
    }
    text += '\n';
  }
  return text;
}

Result<std::string> Formatted(const json::Value& value, std::string_view output) {
  if (output == "json") return json::PrintPretty(value) + "\n";
  if (output == "yaml") return json::PrintYaml(value);
  if (output == "name") {
    return StrCat(Lower(kube::KindOf(value)), "/", kube::NameOf(value), "\n");
  }
  return InvalidError(StrCat("-o ", output, " is not known: json, yaml, wide or name"));
}

std::string Short(Duration age) {
  const int64_t seconds_old = std::max<int64_t>(0, age / seconds(1));
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 3600;
  constexpr int64_t kDay = 86400;
  if (seconds_old < 2 * kMinute) return StrCat(seconds_old, "s");
  if (seconds_old < 2 * kHour) return StrCat(seconds_old / kMinute, "m");
  if (seconds_old < 2 * kDay) return StrCat(seconds_old / kHour, "h");
  return StrCat(seconds_old / kDay, "d");
}

std::string AgeOf(const json::Value& object, WallTime now) {
  const Result<WallTime> made = json::ParseTime(object["metadata"]["creationTimestamp"].str());
  return made.ok() ? Short(now - *made) : "<unknown>";
}

std::string KindSlashName(const json::Value& reference) {
  return StrCat(reference["kind"].str(), "/", reference["name"].str());
}

}  // namespace baton::cli
