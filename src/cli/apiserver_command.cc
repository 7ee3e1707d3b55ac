// The command line of the API server.
#include "cli/apiserver_command.h"

#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <utility>

#include "apiserver/server.h"
#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/signals.h"
#include "rt/files.h"
#include "rt/real_loop.h"

namespace baton::cli {

namespace {

constexpr const char* kName = "apiserver";
constexpr Duration kStopTime = seconds(20);

constexpr const char* kHelp =
    "Usage: baton apiserver (--data-dir DIR | --ephemeral) [--listen HOST:PORT] [--kubeconfig-out FILE]\n"
    "\n"
    "A Kubernetes API server on an embedded store, in this process. The first start makes a CA, certificates and an\n"
    "admin kubeconfig; then `kubectl --kubeconfig FILE` works. SIGTERM stops it cleanly.\n"
    "\n"
    "  --data-dir DIR          where everything is kept (0700); made when it is missing\n"
    "  --ephemeral             keep everything in memory instead: nothing survives\n"
    "  --listen HOST:PORT      default 127.0.0.1:6443; port 0 picks one\n"
    "  --kubeconfig-out FILE   write the admin's kubeconfig there (0600); default DIR/admin.kubeconfig\n"
    "  --context NAME          the kubeconfig's context; default baton\n"
    "  --token-auth-file FILE  bearer tokens: lines of token,user,uid,\"group1,group2\"\n"
    "  --audit-log FILE        one JSON line a request; - is standard output\n"
    "  --anonymous             let requests in that say not who they are, as system:anonymous\n";

struct Settings {
  apiserver::ApiServerOptions server;
  std::string kubeconfig_out;
};

Result<Settings> ReadSettings(std::span<const std::string_view> arguments) {
  Flags flags({{"--data-dir", "DIR"},
               {"--ephemeral"},
               {"--listen", "HOST:PORT"},
               {"--kubeconfig-out", "FILE"},
               {"--context", "NAME"},
               {"--token-auth-file", "FILE"},
               {"--audit-log", "FILE"},
               {"--anonymous"}});
  TRY(flags.Parse(arguments));
  Settings settings;
  settings.server.ephemeral = flags.Has("--ephemeral");
  settings.server.data_dir = flags.Get("--data-dir");
  if (settings.server.ephemeral == flags.Has("--data-dir")) {
    return InvalidError("say either --data-dir DIR or --ephemeral");
  }
  settings.server.listen = TRY(net::ParseEndpoint(flags.Get("--listen", "127.0.0.1:6443")));
  settings.server.context_name = flags.Get("--context", "baton");
  settings.server.audit_log = flags.Get("--audit-log");
  settings.server.anonymous = flags.Has("--anonymous");
  if (flags.Has("--token-auth-file")) settings.server.static_tokens = TRY(ReadTextFile(flags.Get("--token-auth-file")));
  settings.kubeconfig_out = flags.Get("--kubeconfig-out");
  if (settings.kubeconfig_out.empty() && !settings.server.ephemeral) {
    settings.kubeconfig_out = StrCat(settings.server.data_dir, "/admin.kubeconfig");
  }
  return settings;
}

rt::Task<Result<void>> Serve(rt::RealLoop& loop, Settings settings, rt::Event& stop) {
  std::unique_ptr<apiserver::ApiServer> server = CO_TRY(co_await apiserver::ApiServer::Start(loop, settings.server));
  for (const apiserver::Mended& one : server->backend().mended()) {
    std::fprintf(stderr, "baton apiserver: mended %s, which could not be read: %s\n", one.key.c_str(),
                 one.what.c_str());
  }
  Result<void> written;
  if (!settings.kubeconfig_out.empty()) written = WriteSecretFile(settings.kubeconfig_out, server->Kubeconfig());
  if (written.ok()) {
    std::printf("serving https://%s\n", server->endpoint().ToString().c_str());
    if (!settings.kubeconfig_out.empty()) std::printf("kubeconfig %s\n", settings.kubeconfig_out.c_str());
    std::fflush(stdout);
    co_await stop.Wait();
  }
  co_await server->Stop(rt::Deadline::After(loop, kStopTime));
  co_return written;
}

}  // namespace

int ApiServerCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  Result<Settings> settings = ReadSettings(arguments);
  if (!settings.ok()) return UsageError(kName, settings.error());
  ::umask(S_IRWXG | S_IRWXO);  // whatever is written here is the server's alone: secrets, keys, data
  StopSignals signals;
  rt::RealLoop loop;
  rt::Event stop;
  signals.Deliver(loop, stop);
  const Result<void> served = loop.Run(Serve(loop, *std::move(settings), stop));
  if (!served.ok()) return Failure(kName, served.error());
  return 0;
}

}  // namespace baton::cli
