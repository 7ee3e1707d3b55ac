// Kubeconfig: which server, trusted how, as whom. Files are merged as kubectl merges them; certificates may be inside
// or referenced; tokens may be in files that change; credentials may come from a program.
//
//   Kubeconfig config = CO_TRY(co_await LoadKubeconfig(files, {"/home/me/.kube/config"}));
//   ClusterAccess access = TRY(config.Access(""));                 // the current context
//   // access.server "https://10.0.0.1:6443", access.ca_pem, access.certificate_pem, ...
//
// Errors name the file and the field: "/home/me/.kube/config: users[2].user.client-key-data: illegal base64 data".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "rt/files.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr size_t kKubeconfigBytesMax = size_t{8} << 20;
inline constexpr size_t kKubeconfigEntriesMax = 10'000;  // clusters, users and contexts, each

// A program that gives credentials (client.authentication.k8s.io).
struct ExecCredentials {
  std::string api_version;
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  bool provide_cluster_info = false;
};

// Everything a client needs. Empty strings are absent.
struct ClusterAccess {
  std::string context, cluster, user;  // names in the kubeconfig
  std::string ns;                      // the context's namespace
  std::string server;                  // https://host:port[/path]
  std::string tls_server_name;
  std::string proxy_url;
  std::string ca_pem;
  bool insecure_skip_tls_verify = false;
  std::string certificate_pem, key_pem;
  std::string token;
  std::string token_file;  // read again when it changes; wins over token
  std::string username, password;
  std::optional<ExecCredentials> exec;
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
  std::vector<std::string> warnings;  // what a person should be told: an insecure connection, an ignored field
};

class Kubeconfig {
 public:
  // One file's text. Relative paths in it are meant from the directory of `path`.
  static Result<Kubeconfig> Parse(std::string_view text, std::string_view path);

  // As kubectl merges: for each name the first file that has it wins; so does the first current-context.
  void Merge(const Kubeconfig& later);

  const std::string& current_context() const { return current_context_; }
  std::vector<std::string> Contexts() const;  // in their order

  // The context by name; "": the current one. Files that it references are listed by FilesOf and must have been read:
  // `read` gives their text. An unknown context says which there are.
  struct ReferencedFile {
    std::string path;
    std::string text;
  };
  Result<std::vector<std::string>> FilesOf(std::string_view context) const;
  Result<ClusterAccess> Access(std::string_view context, const std::vector<ReferencedFile>& read = {}) const;

 private:
  struct Named {
    std::string name;
    json::Value value;
    std::string path;  // the file it came from
  };
  Result<const Named*> Find(const std::vector<Named>& all, std::string_view what, std::string_view name) const;

  std::string current_context_;
  std::vector<Named> clusters_, users_, contexts_;
};

// Reads and merges the files; those that are not there are skipped when there are several, as kubectl does with
// KUBECONFIG.
rt::Task<Result<Kubeconfig>> LoadKubeconfig(rt::Files& files, std::vector<std::string> paths);
// Reads what the context references, and gives the access.
rt::Task<Result<ClusterAccess>> LoadAccess(rt::Files& files, Kubeconfig config, std::string context);

// Inside a pod: the service account's token file, CA and the server from the environment's two variables.
Result<ClusterAccess> InClusterAccess(std::string_view host, std::string_view port, std::string ca_pem);
inline constexpr std::string_view kServiceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

}  // namespace baton::kube
