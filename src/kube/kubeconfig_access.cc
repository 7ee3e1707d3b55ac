#include "kube/kubeconfig_access.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "json/names.h"
#include "kube/kubeconfig_path.h"
#include "net/transport.h"

namespace baton::kube {
namespace {

using FileReference = Kubeconfig::FileReference;
using ReferencedFile = Kubeconfig::ReferencedFile;

constexpr std::string_view kCertificateBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

std::string Where(const KubeconfigEntry& entry, std::string_view field) {
  return StrCat(entry.path.empty() ? "kubeconfig" : entry.path, ": ", entry.field, ".", field);
}

// Text that becomes a header's value.
bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// What `field` and `field`-data say: bytes, which win, or a file, or neither.
struct Material {
  std::string bytes;
  std::string file;
  bool empty() const { return bytes.empty() && file.empty(); }
};

Result<Material> MaterialOf(const KubeconfigEntry& entry, std::string_view field) {
  const std::string data_field = StrCat(field, "-data");
  Material material = {.bytes = TRY(Base64Decode(entry.value[data_field].str()).Context(Where(entry, data_field))),
                       .file = ""};
  const std::string_view file = entry.value[field].str();
  if (!material.bytes.empty() || file.empty()) return material;
  material.file = TRY(ResolvePath(entry.path, file).Context(Where(entry, field)));
  return material;
}

Result<std::string> TextOf(const KubeconfigEntry& entry, std::string_view field, const std::string& file,
                           const std::vector<ReferencedFile>& read) {
  const auto found = std::ranges::find(read, file, &ReferencedFile::path);
  if (found != read.end()) return found->text;
  return FieldError(entry, field, StrCat(Quote(file), " was not read"));
}

// The PEM text. Text without any is an error: to a TLS library it would be "none", that is other trust than was meant.
Result<std::string> PemOf(const KubeconfigEntry& entry, std::string_view field, std::string_view begin,
                          const std::vector<ReferencedFile>& read) {
  Material material = TRY(MaterialOf(entry, field));
  if (material.empty()) return std::string();
  const bool embedded = material.file.empty();
  std::string text = embedded ? std::move(material.bytes) : TRY(TextOf(entry, field, material.file, read));
  if (text.find(begin) != std::string::npos) return text;
  const std::string no_pem = StrCat("no PEM block (", begin, "...)");
  if (embedded) return FieldError(entry, StrCat(field, "-data"), no_pem);
  return FieldError(entry, field, StrCat(no_pem, " in ", Quote(material.file)));
}

bool IsHttps(std::string_view server) { return server.starts_with(kHttps); }

}  // namespace

Error FieldError(const KubeconfigEntry& entry, std::string_view field, std::string_view why, ErrorKind kind) {
  return {kind, StrCat(Where(entry, field), ": ", why)};
}

Result<std::string> NormalServer(std::string_view server) {
  const size_t colon = server.find("://");
  const std::string scheme = colon == std::string_view::npos ? "" : StrCat(ToLower(server.substr(0, colon)), "://");
  if (scheme != kHttps && scheme != kHttp) return InvalidError("a server begins with https:// (or http://)");
  std::string_view rest = server.substr(scheme.size());
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  if (authority.find('@') != std::string_view::npos) return InvalidError("a server has no user in it: see username");
  const bool path_ok = std::ranges::all_of(path, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!path_ok) return InvalidError("its path has a character that must be escaped");

  const size_t bracket = authority.rfind(']');
  const size_t port_colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const bool has_port = port_colon != std::string_view::npos;
  const net::Endpoint endpoint =
      TRY(net::ParseEndpoint(has_port ? std::string(authority) : StrCat(authority, scheme == kHttps ? ":443" : ":80")));
  if (endpoint.host.empty() || endpoint.port == 0) return InvalidError("a server has a host, and a port above 0");
  return StrCat(scheme, endpoint.ToString(), path);
}

void AccessBuilder::Warn(const KubeconfigEntry& entry, std::string_view field, std::string_view why) {
  access_.warnings.push_back(StrCat(Where(entry, field), ": ", why));
}

Result<std::vector<FileReference>> AccessBuilder::Files() const {
  std::vector<FileReference> files;
  const std::string server = TRY(NormalServer(cluster_.value["server"].str()).Context(Where(cluster_, "server")));
  if (!IsHttps(server)) return files;
  const auto add = [&files](const KubeconfigEntry& entry, std::string_view field, std::string path) {
    if (!path.empty()) files.push_back({.path = std::move(path), .field = Where(entry, field)});
  };
  add(cluster_, "certificate-authority", TRY(MaterialOf(cluster_, "certificate-authority")).file);
  if (user_ == nullptr) return files;
  const Material certificate = TRY(MaterialOf(*user_, "client-certificate"));
  add(*user_, "client-certificate", certificate.file);
  if (!certificate.empty()) add(*user_, "client-key", TRY(MaterialOf(*user_, "client-key")).file);
  const std::string_view token_file = user_->value["tokenFile"].str();
  if (!token_file.empty() && user_->value["token"].str().empty()) {
    add(*user_, "tokenFile", TRY(ResolvePath(user_->path, token_file).Context(Where(*user_, "tokenFile"))));
  }
  return files;
}

Result<ClusterAccess> AccessBuilder::Build(const Read& read) {
  access_.context = context_.name;
  access_.cluster = cluster_.name;
  access_.user = user_ == nullptr ? "" : user_->name;
  access_.ns = context_.value["namespace"].str();
  if (!access_.ns.empty() && !json::IsDns1123Label(access_.ns)) {
    return FieldError(context_, "namespace", StrCat(Quote(access_.ns), " cannot be the name of a namespace"));
  }
  TRY(FillServer());
  if (user_ != nullptr) TRY(FillImpersonation());
  if (IsHttps(access_.server)) {
    TRY(FillTrust(read));
    if (user_ != nullptr) TRY(FillCredentials(read));
  } else {
    Warn(cluster_, "server", "plain http: nothing is encrypted, and no credentials are sent");
  }
  return std::move(access_);
}

Result<void> AccessBuilder::FillServer() {
  const std::string_view server = cluster_.value["server"].str();
  if (server.empty()) return FieldError(cluster_, "server", "the cluster needs one");
  access_.server = TRY(NormalServer(server).Context(Where(cluster_, "server")));
  if (server.find_first_of("?#") != std::string_view::npos) Warn(cluster_, "server", "query and fragment are ignored");
  access_.disable_compression = cluster_.value["disable-compression"].bool_or(false);

  access_.proxy_url = cluster_.value["proxy-url"].str();
  if (access_.proxy_url.empty()) return {};
  // The text is not shown: it may hold a password.
  std::string_view rest = access_.proxy_url;
  const size_t colon = rest.find("://");
  const std::string scheme = ToLower(rest.substr(0, colon == std::string_view::npos ? 0 : colon));
  if (scheme == "https" || scheme == "socks5") {
    return FieldError(cluster_, "proxy-url", StrCat("Baton uses http:// proxies only, no ", scheme, "://"),
                      ErrorKind::kUnsupported);
  }
  if (scheme != "http") return FieldError(cluster_, "proxy-url", "a proxy begins with http://");
  rest.remove_prefix(kHttp.size());
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (rest.substr(rest.rfind('@') + 1).empty() || HasControl(rest)) {
    return FieldError(cluster_, "proxy-url", "no host");
  }
  return {};
}

Result<void> AccessBuilder::FillTrust(const Read& read) {
  access_.tls_server_name = cluster_.value["tls-server-name"].str();
  access_.insecure_skip_tls_verify = cluster_.value["insecure-skip-tls-verify"].bool_or(false);
  const Material ca = TRY(MaterialOf(cluster_, "certificate-authority"));
  if (access_.insecure_skip_tls_verify) {
    if (!ca.empty()) {
      return FieldError(cluster_, "insecure-skip-tls-verify", "a certificate authority may not be given with it");
    }
    Warn(cluster_, "insecure-skip-tls-verify", "the server is not verified: anybody between can read and change all");
    return {};
  }
  if (!ca.bytes.empty() && !cluster_.value["certificate-authority"].str().empty()) {
    Warn(cluster_, "certificate-authority", "ignored: certificate-authority-data wins");
  }
  access_.ca_pem = TRY(PemOf(cluster_, "certificate-authority", kCertificateBegin, read));
  access_.ca_file = ca.file;
  return {};
}

Result<void> AccessBuilder::FillCredentials(const Read& read) {
  const json::Value& user = user_->value;
  if (!user["auth-provider"].is_null()) {
    const std::string_view name = user["auth-provider"]["name"].str();
    return FieldError(*user_, "auth-provider", StrCat(Quote(name), " is not supported: use an exec plugin (user.exec)"),
                      ErrorKind::kUnsupported);
  }
  TRY(FillToken(read));
  TRY(FillCertificate(read));
  access_.username = user["username"].str();
  access_.password = user["password"].str();
  const bool basic = !access_.username.empty() || !access_.password.empty();
  const bool token = !access_.token.empty() || !access_.token_file.empty();
  if (basic && token) return FieldError(*user_, "username", "a token may not be given with username and password");
  if (access_.username.empty() && basic) Warn(*user_, "password", "ignored: there is no username");
  if (access_.username.empty()) access_.password.clear();
  TRY(FillExec());
  if (access_.exec && (token || !access_.username.empty() || !access_.certificate_pem.empty())) {
    access_.exec.reset();
    Warn(*user_, "exec", "ignored: the token, certificate or username of the same user wins");
  }
  return {};
}

// The file wins while it can be read (client-go reads it again every minute), so a token beside it is a fallback, and
// only without one must the file be there now.
Result<void> AccessBuilder::FillToken(const Read& read) {
  access_.token = user_->value["token"].str();
  if (HasControl(access_.token)) return FieldError(*user_, "token", "it has a control character or line break in it");
  const std::string_view file = user_->value["tokenFile"].str();
  if (file.empty()) return {};
  access_.token_file = TRY(ResolvePath(user_->path, file).Context(Where(*user_, "tokenFile")));
  if (!access_.token.empty()) {
    Warn(*user_, "token", "used only while tokenFile cannot be read");
    return {};
  }
  access_.token = Trim(TRY(TextOf(*user_, "tokenFile", access_.token_file, read)));
  if (access_.token.empty()) return FieldError(*user_, "tokenFile", StrCat(Quote(access_.token_file), " is empty"));
  if (HasControl(access_.token)) {
    return FieldError(*user_, "tokenFile", StrCat(Quote(access_.token_file), " has more than a token in it"));
  }
  return {};
}

Result<void> AccessBuilder::FillCertificate(const Read& read) {
  const Material certificate = TRY(MaterialOf(*user_, "client-certificate"));
  const Material key = TRY(MaterialOf(*user_, "client-key"));
  if (certificate.empty()) {
    if (!key.empty()) Warn(*user_, "client-key", "ignored: there is no client-certificate");
    return {};
  }
  if (key.empty()) return FieldError(*user_, "client-key", "client-certificate needs a client-key or client-key-data");
  for (const std::string_view field : {"client-certificate", "client-key"}) {
    if (user_->value[field].str().empty()) continue;
    const Material& material = field == "client-key" ? key : certificate;
    if (!material.bytes.empty()) Warn(*user_, field, StrCat("ignored: ", field, "-data wins"));
  }
  access_.certificate_pem = TRY(PemOf(*user_, "client-certificate", kCertificateBegin, read));
  access_.key_pem = TRY(PemOf(*user_, "client-key", kPemBegin, read));
  access_.certificate_file = certificate.file;
  access_.key_file = key.file;
  return {};
}

Result<void> AccessBuilder::FillExec() {
  const json::Value& value = user_->value["exec"];
  if (value.is_null()) return {};
  ExecCredentials exec;
  exec.api_version = value["apiVersion"].str();
  const bool beta = exec.api_version == "client.authentication.k8s.io/v1beta1";
  if (!beta && exec.api_version != "client.authentication.k8s.io/v1") {
    return FieldError(*user_, "exec.apiVersion",
                      StrCat(Quote(exec.api_version), " is not known: client.authentication.k8s.io/v1 or /v1beta1"));
  }
  exec.command = value["command"].str();
  if (exec.command.empty()) return FieldError(*user_, "exec.command", "the program is missing");
  if (exec.command.find('/') != std::string::npos) {
    exec.command = TRY(ResolvePath(user_->path, exec.command).Context(Where(*user_, "exec.command")));
  }
  for (const json::Value& argument : value["args"].items()) exec.arguments.emplace_back(argument.str());
  for (size_t i = 0; i < value["env"].size(); ++i) {
    const json::Value& variable = value["env"][i];
    const std::string_view name = variable["name"].str();
    if (name.empty() || name.find('=') != std::string_view::npos) {
      return FieldError(*user_, StrCat("exec.env[", i, "].name"), "it is the name of a variable, without '='");
    }
    exec.environment.emplace_back(name, variable["value"].str());
  }
  exec.interactive_mode = value["interactiveMode"].str();
  if (exec.interactive_mode.empty() && beta) exec.interactive_mode = "IfAvailable";
  if (exec.interactive_mode != "Never" && exec.interactive_mode != "IfAvailable" && exec.interactive_mode != "Always") {
    return FieldError(*user_, "exec.interactiveMode", "it is Never, IfAvailable or Always");
  }
  exec.install_hint = value["installHint"].str();
  exec.provide_cluster_info = value["provideClusterInfo"].bool_or(false);
  for (const json::Value& extension : cluster_.value["extensions"].items()) {
    if (extension["name"].str() == kExecExtension) exec.cluster_config = extension["extension"];
  }
  access_.exec = std::move(exec);
  return {};
}

Result<void> AccessBuilder::FillImpersonation() {
  const json::Value& user = user_->value;
  access_.impersonate_user = user["as"].str();
  access_.impersonate_uid = user["as-uid"].str();
  for (const json::Value& group : user["as-groups"].items()) access_.impersonate_groups.emplace_back(group.str());
  for (const json::Member& extra : user["as-user-extra"].members()) {
    std::vector<std::string> values;
    for (const json::Value& value : extra.value().items()) values.emplace_back(value.str());
    access_.impersonate_extra.emplace_back(extra.key(), std::move(values));
  }
  const bool more =
      !access_.impersonate_uid.empty() || !access_.impersonate_groups.empty() || !access_.impersonate_extra.empty();
  if (more && access_.impersonate_user.empty()) {
    return FieldError(*user_, "as", "as-uid, as-groups and as-user-extra need the user to act as");
  }
  if (HasControl(access_.impersonate_user)) return FieldError(*user_, "as", "it has a control character in it");
  if (HasControl(access_.impersonate_uid)) return FieldError(*user_, "as-uid", "it has a control character in it");
  if (std::ranges::any_of(access_.impersonate_groups, HasControl)) {
    return FieldError(*user_, "as-groups", "a group has a control character in it");
  }
  for (const auto& [key, values] : access_.impersonate_extra) {
    if (HasControl(key) || std::ranges::any_of(values, HasControl)) {
      return FieldError(*user_, "as-user-extra", "there is a control character in it");
    }
  }
  return {};
}

}  // namespace baton::kube
