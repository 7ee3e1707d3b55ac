// From the three entries that a context stands for to a ClusterAccess. Only kubeconfig.cc uses this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/kubeconfig.h"

namespace baton::kube {

// "path: users[2].user.token: why"
Error FieldError(const KubeconfigEntry& entry, std::string_view field, std::string_view why,
                 ErrorKind kind = ErrorKind::kInvalid);

// "https://host:6443/path" with its port and without a '/' at the end; query and fragment are dropped, as kubectl does.
Result<std::string> NormalServer(std::string_view server);

class AccessBuilder {
 public:
  // `user` may be null. All must outlive this.
  AccessBuilder(const KubeconfigEntry& context, const KubeconfigEntry& cluster, const KubeconfigEntry* user)
      : context_(context), cluster_(cluster), user_(user) {}

  Result<std::vector<Kubeconfig::FileReference>> Files() const;
  Result<ClusterAccess> Build(const std::vector<Kubeconfig::ReferencedFile>& read);

 private:
  using Read = std::vector<Kubeconfig::ReferencedFile>;

  Result<void> FillServer();
  Result<void> FillTrust(const Read& read);
  Result<void> FillCredentials(const Read& read);
  Result<void> FillToken(const Read& read);
  Result<void> FillCertificate(const Read& read);
  Result<void> FillExec();
  Result<void> FillImpersonation();
  void Warn(const KubeconfigEntry& entry, std::string_view field, std::string_view why);

  const KubeconfigEntry& context_;
  const KubeconfigEntry& cluster_;
  const KubeconfigEntry* user_;
  ClusterAccess access_;
};

}  // namespace baton::kube
