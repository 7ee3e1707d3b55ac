// For tests of kubeconfigs only: an access as text, and material to reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/kubeconfig.h"

namespace baton::kube {

inline constexpr std::string_view kPem = "-----BEGIN CERTIFICATE-----\nZm9v\n-----END CERTIFICATE-----\n";
inline constexpr std::string_view kPemBase64 =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tClptOXYKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

// All but the warnings, which name files. Fields that are absent are left out.
inline std::string Describe(const ClusterAccess& a) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) StrAppend(text, text.empty() ? "" : " ", name, "=", value);
  };
  add("context", a.context);
  add("cluster", a.cluster);
  add("user", a.user);
  add("ns", a.ns);
  add("server", a.server);
  add("tls", a.tls_server_name);
  add("proxy", a.proxy_url);
  add("ca", a.ca_pem);
  add("insecure", a.insecure_skip_tls_verify ? "true" : "");
  add("uncompressed", a.disable_compression ? "true" : "");
  add("cert", a.certificate_pem);
  add("key", a.key_pem);
  add("token", a.token);
  add("tokenFile", a.token_file);
  add("username", a.username);
  add("password", a.password);
  if (a.exec) {
    add("exec",
        StrCat(a.exec->api_version, ",", a.exec->command, ",", a.exec->interactive_mode, ",",
               a.exec->provide_cluster_info, ",", a.exec->install_hint, ",", a.exec->cluster_config.ToString()));
    for (const std::string& argument : a.exec->arguments) add("arg", StrCat("'", argument, "'"));
    for (const auto& [name, value] : a.exec->environment) add("env", StrCat(name, "=", value));
  }
  add("as", a.impersonate_user);
  add("as-uid", a.impersonate_uid);
  for (const std::string& group : a.impersonate_groups) add("as-group", group);
  for (const auto& [key, values] : a.impersonate_extra) {
    for (const std::string& value : values) add("as-extra", StrCat(key, ":", value));
  }
  return text;
}

// The access with every referenced file there; a PEM text and its path are what each holds.
inline Result<ClusterAccess> AccessWithFiles(const Kubeconfig& config, std::string_view context) {
  std::vector<Kubeconfig::ReferencedFile> read;
  for (const Kubeconfig::FileReference& file : TRY(config.FilesOf(context))) {
    const bool token = file.field.ends_with("tokenFile");
    read.push_back({.path = file.path, .text = token ? StrCat("<", file.path, ">\n") : StrCat(kPem, file.path)});
  }
  return config.Access(context, read);
}

// Errors without the place, which differs between a merged file and its parts.
inline std::string DescribeContext(const Kubeconfig& config, std::string_view context) {
  const Result<ClusterAccess> access = AccessWithFiles(config, context);
  if (access.ok()) return Describe(*access);
  const std::string& message = access.error().message();
  return StrCat("error: ", message.substr(message.rfind("]") + 1));
}

}  // namespace baton::kube
