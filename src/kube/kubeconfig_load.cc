// Kubeconfigs from files, and access from inside a pod.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "kube/kubeconfig.h"
#include "net/transport.h"

namespace baton::kube {
namespace {

// Never more than the limit is read, whatever the path names.
rt::Task<Result<std::string>> ReadLimited(rt::Files& files, std::string path, size_t limit) {
  const std::unique_ptr<rt::File> file = CO_TRY(co_await files.Open(CO_TRY(PathInFiles(path)), rt::OpenMode::kRead));
  std::string text = CO_TRY(co_await file->ReadAt(0, limit + 1));
  if (text.size() > limit) co_return TooLargeError(StrCat("more than the ", limit, " bytes that are read"));
  co_return text;
}

}  // namespace

rt::Task<Result<Kubeconfig>> LoadKubeconfig(rt::Files& files, std::vector<std::string> paths) {
  std::vector<std::string> wanted;
  for (std::string& path : paths) {
    if (!path.empty() && std::ranges::find(wanted, path) == wanted.end()) wanted.push_back(std::move(path));
  }
  if (wanted.empty()) co_return InvalidError("no kubeconfig file is named");

  std::optional<Kubeconfig> merged;
  for (const std::string& path : wanted) {
    const Result<std::string> text = co_await ReadLimited(files, path, kKubeconfigBytesMax);
    if (!text.ok() && text.error().kind() == ErrorKind::kNotFound && wanted.size() > 1) continue;
    if (!text.ok()) co_return text.error().Context(StrCat("kubeconfig ", path));
    Kubeconfig config = CO_TRY(Kubeconfig::Parse(*text, path));
    if (merged) {
      merged->Merge(config);
    } else {
      merged = std::move(config);
    }
  }
  if (!merged) co_return NotFoundError(StrCat("none of the kubeconfig files is there: ", Join(wanted, ", ")));
  co_return *std::move(merged);
}

rt::Task<Result<ClusterAccess>> LoadAccess(rt::Files& files, Kubeconfig config, std::string context) {
  const std::vector<Kubeconfig::FileReference> references = CO_TRY(config.FilesOf(context));
  std::vector<Kubeconfig::ReferencedFile> read;
  for (const Kubeconfig::FileReference& reference : references) {
    Result<std::string> text = co_await ReadLimited(files, reference.path, kReferencedFileBytesMax);
    if (!text.ok()) co_return text.error().Context(StrCat(reference.field, ": ", reference.path));
    read.push_back({.path = reference.path, .text = *std::move(text)});
  }
  co_return config.Access(context, read);
}

Result<ClusterAccess> InClusterAccess(std::string_view host, std::string_view port, std::string ca_pem) {
  if (host.empty() || port.empty()) {
    return NotFoundError("this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set");
  }
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  const std::string authority = bare_ipv6 ? StrCat("[", host, "]:", port) : StrCat(host, ":", port);
  const net::Endpoint endpoint =
      TRY(net::ParseEndpoint(authority).Context("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"));
  if (endpoint.port == 0) return InvalidError("KUBERNETES_SERVICE_PORT: 0 is no port");
  if (ca_pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return InvalidError(StrCat(kServiceAccountDirectory, "/ca.crt: no certificate in it"));
  }
  ClusterAccess access;
  access.server = StrCat("https://", endpoint.ToString());
  access.ca_pem = std::move(ca_pem);
  access.ca_file = StrCat(kServiceAccountDirectory, "/ca.crt");
  access.token_file = StrCat(kServiceAccountDirectory, "/token");
  return access;
}

rt::Task<Result<ClusterAccess>> LoadInClusterAccess(rt::Files& files, std::string host, std::string port) {
  const std::string authority = StrCat(kServiceAccountDirectory, "/ca.crt");
  Result<std::string> ca = co_await ReadLimited(files, authority, kReferencedFileBytesMax);
  if (!ca.ok()) co_return ca.error().Context(StrCat("in a pod, and no kubeconfig: ", authority));
  ClusterAccess access = CO_TRY(InClusterAccess(host, port, *std::move(ca)));
  const Result<std::string> ns =
      co_await ReadLimited(files, StrCat(kServiceAccountDirectory, "/namespace"), kReferencedFileBytesMax);
  if (ns.ok()) access.ns = Trim(*ns);  // a token may be mounted without it
  co_return access;
}

}  // namespace baton::kube
