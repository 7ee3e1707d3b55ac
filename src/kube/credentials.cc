// Credentials that change: files and credential programs.
#include "kube/credentials.h"

#include <utility>

#include "base/base64.h"
#include "base/strings.h"
#include "json/parse.h"
#include "json/rfc3339.h"
#include "kube/program.h"
#include "net/certificates.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

using json::Value;

constexpr std::string_view kExecInfoVariable = "KUBERNETES_EXEC_INFO";

// As HTTP's Authorization header.
std::string Authorization(const ClusterAccess& access, std::string_view token) {
  if (!token.empty()) return StrCat("Bearer ", token);
  if (!access.username.empty()) {
    return StrCat("Basic ", Base64Encode(StrCat(access.username, ":", access.password)));
  }
  return {};
}

rt::Task<Result<std::string>> ReadText(rt::Files& files, std::string path) {
  const std::unique_ptr<rt::File> file = CO_TRY(co_await files.Open(CO_TRY(PathInFiles(path)), rt::OpenMode::kRead));
  co_return co_await file->ReadAt(0, kReferencedFileBytesMax);
}

rt::Task<Result<std::string>> ReadToken(rt::Files& files, std::string path) {
  const std::string text = CO_TRY(co_await ReadText(files, path));
  const std::string_view token = Trim(text);
  if (token.empty()) co_return InvalidError(StrCat(path, " is empty"));
  co_return std::string(token);
}

bool Same(const Credential& a, const Credential& b) {
  return a.authorization == b.authorization && a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem &&
         a.ca_pem == b.ca_pem;
}

// Sets or replaces NAME=...
void SetVariable(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string start = StrCat(name, "=");
  std::erase_if(environment, [&](const std::string& one) { return one.starts_with(start); });
  environment.push_back(StrCat(start, value));
}

std::string HowItEnded(const ProgramResult& result) {
  std::string text =
      result.signal != 0 ? StrCat("was ended by signal ", result.signal) : StrCat("exited with ", result.exit_code);
  const std::string_view errors = Trim(result.errors);
  if (!errors.empty()) StrAppend(text, ": ", errors);
  return text;
}

}  // namespace

Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version) {
  // Its text is never shown, nor what the parser says of it: it holds secrets.
  const Result<Value> parsed = json::Parse(text);
  if (!parsed.ok() || !parsed->is_object()) return InvalidError("its output is no JSON object");
  const Value& answer = *parsed;
  if (answer["kind"].str() != "ExecCredential") return InvalidError("its output is no ExecCredential");
  if (answer["apiVersion"].str() != api_version) {
    return InvalidError(StrCat("its output is of version ", Quote(answer["apiVersion"].str()),
                               ", the kubeconfig asks for ", Quote(api_version)));
  }
  const Value& status = answer["status"];
  if (!status.is_object()) return InvalidError("its output has no status");
  ExecCredential credential;
  credential.token = status["token"].str();
  credential.certificate_pem = status["clientCertificateData"].str();
  credential.key_pem = status["clientKeyData"].str();
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return InvalidError("its output has a client certificate without its key, or the other way round");
  }
  if (credential.token.empty() && credential.key_pem.empty()) {
    return InvalidError("its output has neither a token nor a client certificate");
  }
  const Value& expires = status["expirationTimestamp"];
  if (!expires.is_null()) {
    Result<WallTime> time = json::ParseTime(expires.str());
    // A time beyond what can be told is as good as never.
    if (time.ok()) {
      credential.expires = *time;
    } else if (time.error().kind() != ErrorKind::kTooLarge) {
      return InvalidError("its output has an expirationTimestamp that is no time");
    }
  }
  return credential;
}

std::string ExecInfo(const ClusterAccess& access) {
  const ExecCredentials& exec = *access.exec;
  Value spec = json::Object({{"interactive", false}});
  if (exec.provide_cluster_info) {
    Value cluster = json::Object({{"server", access.server}});
    if (!access.tls_server_name.empty()) cluster.Set("tls-server-name", access.tls_server_name);
    if (access.insecure_skip_tls_verify) cluster.Set("insecure-skip-tls-verify", true);
    if (!access.ca_pem.empty()) cluster.Set("certificate-authority-data", Base64Encode(access.ca_pem));
    if (!access.proxy_url.empty()) cluster.Set("proxy-url", access.proxy_url);
    if (access.disable_compression) cluster.Set("disable-compression", true);
    if (!exec.cluster_config.is_null()) cluster.Set("config", exec.cluster_config);
    spec.Set("cluster", std::move(cluster));
  }
  return json::Object({{"kind", "ExecCredential"}, {"apiVersion", exec.api_version}, {"spec", std::move(spec)}})
      .ToString();
}

Credentials::Credentials(rt::Loop& loop, const ClusterAccess& access, Options options)
    : loop_(loop), access_(access), options_(std::move(options)) {
  Change({.authorization = Authorization(access_, access_.token),
          .certificate_pem = access_.certificate_pem,
          .key_pem = access_.key_pem,
          .ca_pem = access_.ca_pem});
}

Result<void> Credentials::Check() const {
  if (!access_.token_file.empty() && options_.files == nullptr) {
    return InvalidError(StrCat("the token file ", access_.token_file, " cannot be read here"));
  }
  if (!access_.exec) return {};
  if (access_.exec->interactive_mode == "Always") {
    return UnsupportedError(StrCat("the credential program ", Quote(access_.exec->command),
                                   " must ask a person (interactiveMode: Always), and here is none"));
  }
  return {};
}

void Credentials::Change(Credential credential) {
  credential.generation = current_ == nullptr ? 1 : current_->generation + 1;
  current_ = std::make_shared<const Credential>(std::move(credential));
}

bool Credentials::HasFiles() const {
  return options_.files != nullptr && !(access_.token_file.empty() && access_.ca_file.empty() &&
                                        access_.certificate_file.empty() && access_.key_file.empty());
}

bool Credentials::ProgramFresh() const {
  return !access_.exec || (!wanted_anew_ && !(expires_ && loop_.WallNow() >= *expires_));
}

bool Credentials::FilesFresh() const {
  return !HasFiles() || (last_look_ && loop_.Now() - *last_look_ < kFilesCheckEvery);
}

std::shared_ptr<const Credential> Credentials::Ready() { return Fresh() ? current_ : nullptr; }

rt::Task<Result<std::shared_ptr<const Credential>>> Credentials::Get(rt::Deadline deadline) {
  if (!Fresh()) CO_TRY(co_await rt::WithDeadline(deadline, "credentials", Renew()));
  co_return current_;
}

rt::Task<Result<bool>> Credentials::Refused(std::shared_ptr<const Credential> used, rt::Deadline deadline) {
  if (!renewable()) co_return false;
  if (current_->generation == used->generation) {
    // A program that gives what is refused is not asked again and again.
    if (access_.exec && !(last_refused_ && loop_.Now() - *last_refused_ < kExecPause)) {
      last_refused_ = loop_.Now();
      wanted_anew_ = true;
    }
    LookAgain();
    CO_TRY(co_await rt::WithDeadline(deadline, "credentials", Renew()));
  }
  co_return current_->generation != used->generation;
}

rt::Task<Result<void>> Credentials::Renew() {
  const rt::Mutex::Guard guard = co_await renewing_.Lock();
  // Another call may have done it meanwhile.
  if (!FilesFresh()) co_await ReadFiles();
  co_return ProgramFresh() ? Result<void>() : co_await RunExec();
}

rt::Task<void> Credentials::ReadFiles() {
  Credential next = *current_;
  if (!access_.token_file.empty()) {
    const Result<std::string> token = co_await ReadToken(*options_.files, access_.token_file);
    if (token.ok()) next.authorization = Authorization(access_, *token);
  }
  if (!access_.ca_file.empty()) {
    Result<std::string> ca = co_await ReadText(*options_.files, access_.ca_file);
    if (ca.ok() && *ca != next.ca_pem && net::ReadCertificate(*ca).ok()) next.ca_pem = *std::move(ca);
  }
  if (!access_.certificate_file.empty() || !access_.key_file.empty()) co_await ReadCertificateFiles(next);
  last_look_ = loop_.Now();
  if (!Same(next, *current_)) Change(std::move(next));
}

rt::Task<void> Credentials::ReadCertificateFiles(Credential& next) {
  std::string certificate = next.certificate_pem;
  std::string key = next.key_pem;
  for (const auto& [path, text] :
       {std::pair(&access_.certificate_file, &certificate), std::pair(&access_.key_file, &key)}) {
    if (path->empty()) continue;
    Result<std::string> read = co_await ReadText(*options_.files, *path);
    if (!read.ok()) co_return;
    *text = *std::move(read);
  }
  if (certificate == next.certificate_pem && key == next.key_pem) co_return;
  if (!net::VerifyKeyMatches(certificate, key).ok()) co_return;
  next.certificate_pem = std::move(certificate);
  next.key_pem = std::move(key);
}

rt::Task<Result<void>> Credentials::RunExec() {
  if (last_failure_ && last_run_ && loop_.Now() - *last_run_ < kExecPause) co_return *last_failure_;
  Result<ExecCredential> got = co_await AskProgram();
  last_run_ = loop_.Now();
  if (!got.ok()) {
    const std::string& hint = access_.exec->install_hint;
    last_failure_ = Error(got.error().kind(),
                          StrCat("no credentials, so nothing was sent: the program ", Quote(access_.exec->command),
                                 ": ", got.error().message(), hint.empty() ? "" : "\n", hint));
    co_return *last_failure_;
  }
  last_failure_.reset();
  wanted_anew_ = false;
  expires_ = got->expires;
  Credential next{.authorization = Authorization(access_, got->token),
                  .certificate_pem = std::move(got->certificate_pem),
                  .key_pem = std::move(got->key_pem),
                  .ca_pem = current_->ca_pem};
  if (!Same(next, *current_)) Change(std::move(next));
  co_return Result<void>();
}

rt::Task<Result<ExecCredential>> Credentials::AskProgram() const {
  const ExecCredentials& exec = *access_.exec;
  ProgramCall call;
  call.path = CO_TRY(FindProgram(exec.command, options_.environment));
  call.arguments = exec.arguments;
  call.environment = options_.environment;
  for (const auto& [name, value] : exec.environment) SetVariable(call.environment, name, value);
  SetVariable(call.environment, kExecInfoVariable, ExecInfo(access_));
  const ProgramResult result =
      CO_TRY(co_await RunProgram(loop_, std::move(call), rt::Deadline::After(loop_, kExecTimeout)));
  if (result.exit_code != 0) co_return Error(ErrorKind::kUnauthorized, HowItEnded(result));
  Result<ExecCredential> parsed = ParseExecCredential(result.output, exec.api_version);
  if (!parsed.ok()) co_return Error(ErrorKind::kUnauthorized, parsed.error().message());
  co_return parsed;
}

}  // namespace baton::kube
