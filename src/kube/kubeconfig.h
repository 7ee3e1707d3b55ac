// Kubeconfig: which server, trusted how, as whom. Files are merged as kubectl merges them; certificates may be inside
// or referenced; tokens may be in files that change; credentials may come from a program.
//
//   Kubeconfig config = CO_TRY(co_await LoadKubeconfig(files, {"/home/me/.kube/config"}));
//   ClusterAccess access = CO_TRY(co_await LoadAccess(files, config, ""));      // the current context
//   // access.server "https://10.0.0.1:6443", access.ca_pem, access.certificate_pem, ...
//
// The rules are those of client-go's clientcmd: unknown fields are ignored, wrong types are errors in the whole file,
// relative paths are meant from the directory of the file they stand in, embedded *-data wins over a file.
// Where Baton is stricter, because guessing here means talking to the wrong server: a server needs its scheme, a
// context its cluster, and a CA or certificate file that holds no PEM is an error and never "none"; a name given twice,
// several documents in one file, and a context's namespace that can be none are errors.
//
// A kubeconfig from somebody else can name any file of ours (FilesOf) and any program (ClusterAccess::exec): who takes
// one over the network must refuse both.
//
// Errors name the file and the field: "/home/me/.kube/config: users[2].user.client-key-data: illegal base64 data". They
// never hold a secret.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "rt/files.h"
#include "rt/task.h"

namespace baton::kube {

inline constexpr size_t kKubeconfigBytesMax = size_t{8} << 20;
inline constexpr size_t kKubeconfigEntriesMax = 10'000;             // clusters, users and contexts, each, in one file
inline constexpr size_t kReferencedFileBytesMax = size_t{1} << 20;  // a CA bundle, a certificate, a key, a token
inline constexpr size_t kContextsShownMax = 20;                     // in an error that says which there are

// A program that gives credentials (client.authentication.k8s.io/v1 or v1beta1).
struct ExecCredentials {
  std::string api_version;
  std::string command;  // a bare name is looked up in PATH; a path was resolved from the kubeconfig's directory
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  bool provide_cluster_info = false;
  json::Value cluster_config;    // the cluster's extension for the program, null when there is none
  std::string interactive_mode;  // "Never", "IfAvailable" or "Always"
  std::string install_hint;
};

// Everything a client needs. Empty strings are absent.
struct ClusterAccess {
  std::string context, cluster, user;  // names in the kubeconfig; no user: anonymous
  std::string ns;                      // the context's namespace
  std::string server;                  // http(s)://host:port[/path], always with its port, no '/' at the end
  std::string tls_server_name;
  std::string proxy_url;
  std::string ca_pem;   // empty: the system's
  std::string ca_file;  // where that is from, to be read again when it changes; "": it stood in the kubeconfig
  bool insecure_skip_tls_verify = false;
  bool disable_compression = false;
  std::string certificate_pem, key_pem;    // both or none
  std::string certificate_file, key_file;  // where they are from, as with ca_file
  std::string token;                       // from the kubeconfig, else what token_file held when it was read
  std::string token_file;                  // read again when it changes; wins over token for as long as it can be read
  std::string username, password;
  std::optional<ExecCredentials> exec;  // only when there is no token, certificate or username, as those win
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  std::vector<std::string> warnings;  // what a person should be told: an insecure connection, an ignored field
};

// One cluster, user or context of one file.
struct KubeconfigEntry {
  std::string name;
  json::Value value;
  std::string path;   // the file it came from; "": none
  std::string field;  // "users[2].user"
};

class Kubeconfig {
 public:
  // One file's text, YAML or JSON; an empty one is an empty kubeconfig. Relative paths in it are meant from the
  // directory of `path`. "" is for text that is in no file: relative paths in it are errors when they are used.
  static Result<Kubeconfig> Parse(std::string_view text, std::string_view path);

  // As kubectl merges: for each name the first file that has it wins, whole; so does the first current-context that is
  // not empty.
  void Merge(const Kubeconfig& later);

  const std::string& current_context() const { return current_context_; }
  std::vector<std::string> Contexts() const;  // in their order

  // The context by name; "": the current one. Files that it references are listed by FilesOf and must have been read:
  // `read` gives their text. An unknown context says which there are.
  struct FileReference {
    std::string path;   // absolute when the kubeconfig's path is
    std::string field;  // what names it: "/home/me/.kube/config: clusters[0].cluster.certificate-authority"
    friend bool operator==(const FileReference&, const FileReference&) = default;
  };
  struct ReferencedFile {
    std::string path;
    std::string text;
  };
  Result<std::vector<FileReference>> FilesOf(std::string_view context) const;
  Result<ClusterAccess> Access(std::string_view context, const std::vector<ReferencedFile>& read = {}) const;

 private:
  struct Chosen {
    const KubeconfigEntry* context;
    const KubeconfigEntry* cluster;
    const KubeconfigEntry* user;  // null: anonymous
  };
  Result<Chosen> Choose(std::string_view context) const;
  Error NoContext(std::string_view why) const;

  std::vector<std::string> paths_;  // all that were merged
  std::string current_context_;
  std::vector<KubeconfigEntry> clusters_, users_, contexts_;
};

// Paths in `files`, which know none from the root, are these without their first '/': the root of `files` stands for
// "/", and a relative path is meant from it too (the command line makes its paths absolute first). "." and ".." are
// taken out of the text, links are not looked at. An error: a path that leads out, or is the root.
Result<std::string> PathInFiles(std::string_view path);

// Reads and merges the files. Empty paths are skipped; files that are not there too when there are several, as kubectl
// does with KUBECONFIG, but not all of them.
rt::Task<Result<Kubeconfig>> LoadKubeconfig(rt::Files& files, std::vector<std::string> paths);
// Reads what the context references, and gives the access.
rt::Task<Result<ClusterAccess>> LoadAccess(rt::Files& files, Kubeconfig config, std::string context);

// Inside a pod: the service account's token file, CA (the text of ca.crt beside it) and the server from the
// environment's two variables, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. kNotFound when these are empty.
Result<ClusterAccess> InClusterAccess(std::string_view host, std::string_view port, std::string ca_pem);
inline constexpr std::string_view kServiceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";
// The same, with ca.crt and the pod's namespace read from that directory.
rt::Task<Result<ClusterAccess>> LoadInClusterAccess(rt::Files& files, std::string host, std::string port);

}  // namespace baton::kube
