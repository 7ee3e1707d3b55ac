// A member joins: its kubeconfig, with everything embedded, becomes a Secret of the hub, and a Cluster names it.
#include "cli/join_command.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "api/karmada_keys.h"
#include "base/base64.h"
#include "base/strings.h"
#include "cli/client.h"
#include "cli/files.h"
#include "federation/clusters.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "kube/kubeconfig.h"
#include "rollout/records.h"
#include "rt/files.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr Duration kLeaveTime = minutes(2);
constexpr Duration kLookAgain = milliseconds(300);
constexpr size_t kClusterNameMax = 48;  // Karmada's: it becomes part of other names

constexpr const char* kJoinHelp =
    "Usage: baton join NAME --cluster-kubeconfig FILE [--cluster-context NAME] [--dry-run]\n"
    "\n"
    "Makes a cluster a member of the hub under NAME. Checked first: it answers, it is not a member under another "
    "name,\n"
    "and its user may do what is needed there. Files that its kubeconfig names are embedded; a program that gives\n"
    "credentials cannot be (the hub cannot run it): use a service account's token or a certificate. Joining again "
    "under\n"
    "the same name renews the credentials.\n"
    "\n"
    "Examples:\n"
    "  baton join member1 --cluster-kubeconfig ~/.kube/config --cluster-context kind-member1\n"
    "  baton join member1 --cluster-kubeconfig member1.yaml --dry-run\n"
    "  baton get clusters\n"
    "\n"
    "  --cluster-kubeconfig FILE   of the new member\n"
    "  --cluster-context NAME      in it; default its current one\n"
    "  --dry-run                   check only\n";

constexpr const char* kUnjoinHelp =
    "Usage: baton unjoin NAME [--dry-run] [--force]\n"
    "\n"
    "The member leaves: what the hub had placed there is removed from it, then its record. Refused while a managed\n"
    "workload has its place there, or moves to or from it: move those away first.\n"
    "\n"
    "Examples:\n"
    "  baton unjoin member1 --dry-run\n"
    "  baton unjoin member1\n"
    "  baton get writers -A        # what is where\n"
    "\n"
    "  --dry-run                   say what is in the way, and do nothing\n"
    "  --force                     also when managed workloads are there: they are stopped and their state there is "
    "lost\n"
    "                              to Baton\n";

// ---- the member ----

rt::Task<Result<kube::ClusterAccess>> MemberAccess(rt::RealLoop& loop, const Flags& flags) {
  const std::unique_ptr<rt::Files> files = rt::MakeRealFiles(loop, "/");
  std::vector<std::string> paths = {Absolute(flags.Get("--cluster-kubeconfig"))};
  kube::Kubeconfig config = CO_TRY(co_await kube::LoadKubeconfig(*files, std::move(paths)));
  kube::ClusterAccess access =
      CO_TRY(co_await kube::LoadAccess(*files, std::move(config), flags.Get("--cluster-context")));
  if (access.exec) {
    co_return UnsupportedError(StrCat("user '", access.user, "' gets its credentials from the program '",
                                      access.exec->command,
                                      "', which the hub cannot run: make a service account in that cluster and use its "
                                      "token, or a client certificate"));
  }
  if (!access.token_file.empty()) {
    std::fprintf(
        stderr,
        "warning: the token of '%s' is taken as it is now; when it is renewed, join again, or use one that lasts\n",
        access.token_file.c_str());
  }
  for (const std::string& warning : access.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  co_return access;
}

// One context, nothing outside of it.
std::string Embedded(const std::string& name, const kube::ClusterAccess& access) {
  Value cluster = json::Object({{"server", access.server}});
  if (!access.ca_pem.empty()) cluster.Set("certificate-authority-data", Base64Encode(access.ca_pem));
  if (!access.tls_server_name.empty()) cluster.Set("tls-server-name", access.tls_server_name);
  if (!access.proxy_url.empty()) cluster.Set("proxy-url", access.proxy_url);
  if (access.insecure_skip_tls_verify) cluster.Set("insecure-skip-tls-verify", true);
  Value user = json::Object();
  if (!access.certificate_pem.empty()) {
    user.Set("client-certificate-data", Base64Encode(access.certificate_pem));
    user.Set("client-key-data", Base64Encode(access.key_pem));
  }
  if (!access.token.empty()) user.Set("token", access.token);
  if (!access.username.empty()) {
    user.Set("username", access.username);
    user.Set("password", access.password);
  }
  if (!access.impersonate_user.empty()) user.Set("as", access.impersonate_user);
  if (!access.impersonate_uid.empty()) user.Set("as-uid", access.impersonate_uid);
  for (const std::string& group : access.impersonate_groups) user.Edit("as-groups").Push(group);
  const auto named = [&](std::string_view field, Value value) {
    return json::Array({json::Object({{"name", name}, {field, std::move(value)}})});
  };
  return json::PrintYaml(
      json::Object({{"apiVersion", "v1"},
                    {"kind", "Config"},
                    {"current-context", name},
                    {"clusters", named("cluster", cluster)},
                    {"users", named("user", user)},
                    {"contexts", named("context", json::Object({{"cluster", name}, {"user", name}}))}}));
}

rt::Task<Result<bool>> May(kube::Api& member, std::string verb, std::string group, std::string resource) {
  static const kube::Resource kReviews{.group = "authorization.k8s.io",
                                       .version = "v1",
                                       .plural = "selfsubjectaccessreviews",
                                       .kind = "SelfSubjectAccessReview",
                                       .namespaced = false};
  const Value review = json::Object(
      {{"apiVersion", "authorization.k8s.io/v1"},
       {"kind", "SelfSubjectAccessReview"},
       {"spec", json::Object({{"resourceAttributes",
                               json::Object({{"verb", verb}, {"group", group}, {"resource", resource}})}})}});
  const Value answer = CO_TRY(co_await member.Create(kReviews, review));
  co_return answer["status"]["allowed"].bool_or(false);
}

rt::Task<Result<void>> CheckRights(kube::Api& member) {
  if (CO_TRY(co_await May(member, "*", "*", "*"))) co_return Result<void>();
  std::string missing;
  for (const std::string_view verb : {"get", "list", "watch", "create", "update", "patch", "delete"}) {
    for (const auto& [group, resource] : {std::pair<std::string_view, std::string_view>{"", "namespaces"},
                                          {"", "pods"},
                                          {"apps", "deployments"},
                                          {"flink.apache.org", "flinkdeployments"}}) {
      if (resource == "pods" && verb != "get" && verb != "list" && verb != "watch") continue;
      if (CO_TRY(co_await May(member, std::string(verb), std::string(group), std::string(resource)))) continue;
      StrAppend(missing, missing.empty() ? "" : ", ", verb, " ", resource);
    }
  }
  if (missing.empty()) co_return Result<void>();
  co_return InvalidError(StrCat("its user may not do what is needed there: ", missing));
}

// ---- join ----

Result<void> CheckNames(const std::vector<Value>& clusters, const std::string& name, const std::string& id) {
  for (const Value& cluster : clusters) {
    const bool same_name = kube::NameOf(cluster) == name;
    const std::string_view known = cluster["spec"]["id"].str();
    if (!same_name && !id.empty() && known == id) {
      return AlreadyExistsError(StrCat("this cluster is a member already, as '", kube::NameOf(cluster),
                                       "' (kube-system has the same uid): `baton unjoin ", kube::NameOf(cluster),
                                       "` first"));
    }
    if (same_name && !known.empty() && known != id) {
      return AlreadyExistsError(StrCat("'", name, "' is another cluster (id ", known, ", and this one is ", id,
                                       "): choose another name, or `baton unjoin ", name, "` first"));
    }
    if (same_name && kube::IsDeleting(cluster))
      return ConflictError(StrCat("'", name, "' is still leaving: wait until it is gone"));
  }
  return {};
}

rt::Task<Result<void>> Write(kube::Api& hub, const std::string& name, const kube::ClusterAccess& access) {
  const std::string ns(api::karmada::kClusterNamespace);
  const Value namespace_object =
      json::Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object({{"name", ns}})}});
  const Result<Value> made = co_await hub.Create(federation::kNamespaces, namespace_object);
  if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
  const Value secret = json::Object({{"apiVersion", "v1"},
                                     {"kind", "Secret"},
                                     {"metadata", json::Object({{"name", name}, {"namespace", ns}})},
                                     {"data", json::Object({{"kubeconfig", Base64Encode(Embedded(name, access))}})}});
  CO_TRY(co_await hub.Apply(federation::kSecrets, secret, {.force = true}));
  const Value cluster =
      json::Object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                    {"kind", "Cluster"},
                    {"metadata", json::Object({{"name", name}})},
                    {"spec", json::Object({{"syncMode", "Push"},
                                           {"apiEndpoint", access.server},
                                           {"secretRef", json::Object({{"namespace", ns}, {"name", name}})}})}});
  CO_TRY(co_await hub.Apply(federation::kClusters, cluster, {.force = true}));
  co_return Result<void>();
}

rt::Task<Result<int>> Join(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string name = flags.positional()[0];
  const kube::ClusterAccess access =
      CO_TRY((co_await MemberAccess(loop, flags)).Context("the new member's kubeconfig"));
  const std::unique_ptr<kube::RemoteApi> member = CO_TRY(kube::RemoteApi::Make(loop, access));
  const Result<Value> home = co_await member->Get(federation::kNamespaces, {"", "kube-system"});
  if (!home.ok()) co_return home.error().Context(StrCat("cluster ", access.server));
  const std::string id(kube::UidOf(*home));
  CO_TRY((co_await CheckRights(*member)).Context(StrCat("cluster ", access.server)));
  const kube::Listed clusters = CO_TRY(co_await client.api().ListAll(federation::kClusters));
  CO_TRY(CheckNames(clusters.items, name, id));
  if (flags.Has("--dry-run")) {
    std::printf("%s (%s, id %s) can join; nothing is done (--dry-run)\n", name.c_str(), access.server.c_str(),
                id.c_str());
    co_return 0;
  }
  CO_TRY(co_await Write(client.api(), name, access));
  std::printf("cluster/%s joined (%s, id %s)\n", name.c_str(), access.server.c_str(), id.c_str());
  co_return 0;
}

Result<void> CheckJoin(const Flags& flags) {
  const std::string name = TRY(flags.Only("the cluster's name"));
  TRY(flags.Required("--cluster-kubeconfig"));
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!plain || name.front() == '-' || name.back() == '-' || name.size() > kClusterNameMax) {
    return InvalidError(
        StrCat("'", name, "' is no name of a cluster: lower-case letters, digits and '-', at most ", kClusterNameMax));
  }
  return {};
}

// ---- unjoin ----

// The managed workloads that have to do with the cluster, each with how.
std::vector<std::string> InTheWay(const std::vector<Value>& writers, const std::string& name) {
  std::vector<std::string> found;
  for (const Value& writer : writers) {
    const rollout::Writer read = rollout::ReadWriter(writer);
    const std::string workload =
        StrCat(KindSlashName(writer["spec"]["workload"]), " (-n ", kube::NamespaceOf(writer), ")");
    if (read.holder.cluster == name) {
      found.push_back(StrCat(workload, " has its place there"));
    } else if (read.claim && (read.claim->source.cluster == name || read.claim->target.cluster == name)) {
      found.push_back(StrCat(workload, " is being moved by ", read.claim->migration));
    }
  }
  return found;
}

rt::Task<Result<int>> Unjoin(rt::RealLoop& loop, Client& client, const Flags& flags) {
  const std::string name = flags.positional()[0];
  const Value cluster = CO_TRY(co_await GetOrNull(client.api(), federation::kClusters, {"", name}));
  if (cluster.is_null())
    co_return NotFoundError(StrCat("there is no cluster '", name, "': `baton get clusters` lists them"));
  const kube::Listed writers = CO_TRY(co_await client.api().ListAll(rollout::kWriters));
  const std::vector<std::string> way = InTheWay(writers.items, name);
  for (const std::string& one : way) std::printf("%s\n", one.c_str());
  if (!way.empty() && !flags.Has("--force")) {
    co_return ConflictError(StrCat(way.size(), " managed workloads have to do with '", name,
                                   "': move them away first (baton migrate KIND/NAME --to CLUSTER), or --force"));
  }
  if (flags.Has("--dry-run")) {
    std::printf("%s can leave; nothing is done (--dry-run)\n", name.c_str());
    co_return 0;
  }
  if (flags.Has("--force")) {
    const Value mark = json::Object(
        {{"metadata", json::Object({{"annotations", json::Object({{federation::kLeaveByForce, "true"}})}})}});
    CO_TRY(co_await client.api().Patch(federation::kClusters, {"", name}, kube::PatchType::kMerge, mark, {}));
  }
  CO_TRY(co_await client.api().Delete(federation::kClusters, {"", name}, {.uid = std::string(kube::UidOf(cluster))}));
  const rt::Deadline deadline = rt::Deadline::After(loop, kLeaveTime);
  while (!CO_TRY(co_await GetOrNull(client.api(), federation::kClusters, {"", name})).is_null()) {
    if (deadline.Passed(loop)) {
      co_return DeadlineExceededError(
          StrCat("'", name,
                 "' is leaving, and not gone yet: what is there must be removed first, for which it must answer. "
                 "`kubectl get works -n karmada-es-",
                 name, "` shows what is left"));
    }
    co_await loop.Sleep(kLookAgain);
  }
  // Last: until here the hub needed the way there.
  const Value& secret = cluster["spec"]["secretRef"];
  if (!secret["name"].str().empty()) {
    const Result<Value> gone = co_await client.api().Delete(
        federation::kSecrets, {std::string(secret["namespace"].str()), std::string(secret["name"].str())});
    if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  }
  std::printf("cluster/%s left\n", name.c_str());
  co_return 0;
}

}  // namespace

int JoinCommand(std::span<const std::string_view> arguments) {
  return RunClientCommand({.name = "join",
                           .help = kJoinHelp,
                           .flags = {{"--cluster-kubeconfig", "FILE"}, {"--cluster-context", "NAME"}, {"--dry-run"}},
                           .positionals = 1},
                          arguments, Join, CheckJoin);
}

int UnjoinCommand(std::span<const std::string_view> arguments) {
  const auto check = [](const Flags& flags) -> Result<void> {
    TRY(flags.Only("the cluster's name"));
    return {};
  };
  return RunClientCommand(
      {.name = "unjoin", .help = kUnjoinHelp, .flags = {{"--dry-run"}, {"--force"}}, .positionals = 1}, arguments,
      Unjoin, check);
}

}  // namespace baton::cli
