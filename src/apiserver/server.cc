// Starting and stopping the server.
#include "apiserver/server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "apiserver/authentication.h"
#include "apiserver/front.h"
#include "apiserver/pki.h"
#include "apiserver/webhooks.h"
#include "base/strings.h"
#include "net/server.h"
#include "rt/scope.h"
#include "store/rocks_engine.h"

namespace baton::apiserver {

namespace {

constexpr Duration kRenewalCheckEvery = hours(1);

// One JSON line an event, appended to a file of the audit log.
class AuditFile {
 public:
  static Result<std::unique_ptr<AuditFile>> Open(const std::string& path) {
    constexpr mode_t kMode = 0600;
    const int fd =
        path == "-" ? ::dup(STDOUT_FILENO) : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
    if (fd < 0) return InvalidError(StrCat("the audit log '", path, "' cannot be opened: ", std::strerror(errno)));
    return std::unique_ptr<AuditFile>(new AuditFile(fd));
  }
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;
  ~AuditFile() { ::close(fd_); }

  void Write(const json::Value& event) const {
    const std::string line = event.ToString() + "\n";
    // A log that cannot be written does not stop the server; the file's reader sees the gap in audit ids.
    [[maybe_unused]] const ssize_t written = ::write(fd_, line.data(), line.size());
  }

 private:
  explicit AuditFile(int fd) : fd_(fd) {}
  int fd_;
};

Result<void> MakeDataDirectory(const std::string& path) {
  constexpr mode_t kMode = 0700;
  if (::mkdir(path.c_str(), kMode) == 0 || errno == EEXIST) return {};
  return InvalidError(StrCat("the data directory '", path, "' cannot be made: ", std::strerror(errno)));
}

}  // namespace

struct ApiServer::Impl {
  Impl(rt::RealLoop& loop, ApiServerOptions given) : loop(loop), options(std::move(given)), scope(loop) {}

  rt::RealLoop& loop;
  ApiServerOptions options;
  MetricRegistry metrics;
  std::unique_ptr<rt::Files> files;  // null when ephemeral
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Backend> backend;
  Pki pki;
  std::shared_ptr<net::TlsServerContext> tls;
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<AuditFile> audit;
  std::unique_ptr<Front> front;
  std::unique_ptr<net::Listener> listener;
  std::unique_ptr<net::HttpServer> http;
  rt::Scope scope;  // last, so that it goes first

  rt::Task<Result<void>> OpenStore();
  rt::Task<void> Serve() {
    const Result<void> served = co_await http->Serve(loop, *listener, [this] { return tls; });
    (void)served;  // it ends when Stop() closes it
  }
  rt::Task<void> RenewCertificate();
};

rt::Task<Result<void>> ApiServer::Impl::OpenStore() {
  std::unique_ptr<store::Engine> engine;
  if (options.ephemeral) {
    engine = store::MakeMemoryEngine();
  } else {
    CO_TRY(MakeDataDirectory(options.data_dir));
    files = rt::MakeRealFiles(loop, options.data_dir);
    engine = store::MakeRocksEngine(loop, {.directory = options.data_dir});
  }
  store = CO_TRY(co_await store::Store::Open(loop, std::move(engine)));
  co_return Result<void>();
}

// Connections made after a renewal see the new certificate.
rt::Task<void> ApiServer::Impl::RenewCertificate() {
  while (true) {
    co_await loop.Sleep(kRenewalCheckEvery);
    const Result<net::CertificateInfo> info = net::ReadCertificate(pki.server.certificate_pem);
    if (info.ok() && net::RenewalTime(*info) > loop.WallNow()) continue;
    Result<net::KeyPair> renewed = IssueServerCertificate(loop, pki.authority, {options.listen.host});
    if (!renewed.ok()) continue;
    pki.server = *std::move(renewed);
    Result<std::shared_ptr<net::TlsServerContext>> context = MakeServerTls(pki);
    if (context.ok()) tls = *std::move(context);
  }
}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiServer::~ApiServer() = default;

rt::Task<Result<std::unique_ptr<ApiServer>>> ApiServer::Start(rt::RealLoop& loop, ApiServerOptions options) {
  auto impl = std::make_unique<Impl>(loop, std::move(options));
  StaticTokens tokens = CO_TRY(StaticTokens::Parse(impl->options.static_tokens));
  // The port first: when it is taken, nothing has been touched.
  impl->listener = CO_TRY(net::Listen(loop, impl->options.listen));
  if (!impl->options.audit_log.empty()) impl->audit = CO_TRY(AuditFile::Open(impl->options.audit_log));
  CO_TRY(co_await impl->OpenStore());
  impl->pki = CO_TRY(co_await OpenPki(loop, impl->files.get(), {impl->options.listen.host}));
  impl->tls = CO_TRY(MakeServerTls(impl->pki));
  impl->backend = CO_TRY(co_await Backend::Start(loop, *impl->store, MakeWebhookCaller(loop)));
  Core& core = impl->backend->core();
  impl->authenticator =
      std::make_unique<Authenticator>(core, Authenticator::Options{.static_tokens = std::move(tokens),
                                                                   .signer = impl->pki.signer.get(),
                                                                   .anonymous = impl->options.anonymous});
  Front::Parts parts{.core = core,
                     .authenticator = *impl->authenticator,
                     .authorizer = impl->backend->authorizer(),
                     .metrics = impl->metrics};
  if (impl->audit != nullptr) {
    parts.audit = [file = impl->audit.get()](const json::Value& event) { file->Write(event); };
  }
  impl->front = std::make_unique<Front>(std::move(parts));
  net::ServerOptions http;
  http.error_page = Front::ErrorPage;
  impl->http = std::make_unique<net::HttpServer>(loop, impl->front->AsHandler(), http);
  impl->scope.Spawn(impl->Serve());
  impl->scope.Spawn(impl->RenewCertificate());
  co_return std::unique_ptr<ApiServer>(new ApiServer(std::move(impl)));
}

net::Endpoint ApiServer::endpoint() const { return impl_->listener->endpoint(); }

std::string ApiServer::Kubeconfig() const {
  return AdminKubeconfig(impl_->pki, StrCat("https://", endpoint().ToString()), impl_->options.context_name);
}

MetricRegistry& ApiServer::metrics() { return impl_->metrics; }
Backend& ApiServer::backend() { return *impl_->backend; }

rt::Task<void> ApiServer::Stop(rt::Deadline deadline) {
  co_await impl_->http->Shutdown(deadline);
  impl_->scope.CancelAll();
  impl_->http.reset();
  impl_->front.reset();
  impl_->backend.reset();
  co_await impl_->store->Close();
}

}  // namespace baton::apiserver
