// TLS on a socket with OpenSSL: contexts, handshakes, and the encrypted ByteStream.
#include "net/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>

#include "base/strings.h"
#include "net/openssl_util.h"
#include "net/socket_bio.h"
#include "net/tcp_stream.h"
#include "net/transport.h"

namespace baton::net {

class TlsServerContext {
 public:
  SslContext context;
  std::string alpn_wire;  // length-prefixed names, in order of preference
};

class TlsClientContext {
 public:
  SslContext context;
  std::string server_name;
  bool verify = true;
};

namespace {

// TLS 1.2 with forward secrecy and authenticated encryption only (what HTTP/2 demands); TLS 1.3 has nothing else.
constexpr const char* kServerCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
// In TLS 1.3 the server's order: AES-128 first, as kube-apiserver has it, for it is the cheapest of the three.
constexpr const char* kServerSuites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

constexpr size_t kRecordBytes = size_t{16} << 10;  // of plain text, at most

Result<std::string> AlpnWire(const std::vector<std::string>& names) {
  constexpr size_t kNameBytesMax = 255;
  std::string wire;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > kNameBytesMax) return InvalidError(StrCat("'", name, "' is no ALPN name"));
    wire += static_cast<char>(name.size());
    wire += name;
  }
  return wire;
}

Result<SslContext> NewContext(const SSL_METHOD* method) {
  SslContext context(SSL_CTX_new(method));
  if (context == nullptr) return OpenSslError("making a TLS context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);  // TLS 1.3 sends two otherwise, whatever SSL_OP_NO_TICKET says
  SSL_CTX_set_read_ahead(context.get(), 1);   // a record in one system call, not in two
  // RELEASE_BUFFERS gives an idle connection's 34 KiB back. NO_AUTO_CHAIN: see BuildChain.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  return context;
}

Result<void> UseCertificate(SSL_CTX* context, std::string_view certificate_pem, std::string_view key_pem) {
  std::vector<X509Pointer> chain = TRY(ReadPemCertificates(certificate_pem));
  if (chain.empty()) return InvalidError("no certificate in the PEM text");
  if (SSL_CTX_use_certificate(context, chain[0].get()) != 1) return OpenSslError("using the certificate");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return OpenSslError("using the certificate chain");
  }
  const KeyPointer key = TRY(ReadPemKey(key_pem));
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) return OpenSslError("using the private key");
  if (SSL_CTX_check_private_key(context) != 1)
    return InvalidError("the private key does not belong to the certificate");
  return {};
}

Result<void> TrustCertificates(SSL_CTX* context, std::string_view ca_pem) {
  const std::vector<X509Pointer> authorities = TRY(ReadPemCertificates(ca_pem));
  if (authorities.empty()) return InvalidError("no CA certificate in the PEM text");
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const X509Pointer& authority : authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) return OpenSslError("trusting a CA certificate");
    SSL_CTX_add_client_CA(context, authority.get());
  }
  return {};
}

// What is sent with a certificate that came alone: its issuers, as far as we know them. OpenSSL would look for them in
// every handshake, and check all signatures, which was more than a quarter of its work.
void BuildChain(SSL_CTX* context) {
  STACK_OF(X509)* chain = nullptr;
  if (SSL_CTX_get0_certificate(context) == nullptr ||
      SSL_CTX_get0_chain_certs(context, static_cast<void*>(&chain)) != 1 || sk_X509_num(chain) > 0) {
    return;
  }
  (void)SSL_CTX_build_cert_chain(context, SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR | SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
  ERR_clear_error();
}

int SelectAlpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
               unsigned int offered_length, void* argument) {
  const std::string& ours = static_cast<TlsServerContext*>(argument)->alpn_wire;
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_length, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned int>(ours.size()), offered,
                            offered_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;  // go on without: HTTP/1.1
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

bool IsIpAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> buffer;
  return inet_pton(AF_INET, text.c_str(), buffer.data()) == 1 || inet_pton(AF_INET6, text.c_str(), buffer.data()) == 1;
}

// The error in OpenSSL's queue: kUnauthorized when the peer did not accept our certificate (in TLS 1.3 a client learns
// it when it first reads), else kUnavailable.
Error TlsError(std::string_view what) {
  const unsigned long code = ERR_peek_error();
  bool unauthorized = false;
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    switch (ERR_GET_REASON(code)) {
      case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        unauthorized = true;
        break;
      default:
        break;
    }
  }
  const Error error = OpenSslError(what);
  return unauthorized ? Error(ErrorKind::kUnauthorized, error.message()) : error;
}

// Takes the socket's mark back, however a write ends.
class MoreFollows {
 public:
  explicit MoreFollows(Socket& socket) : socket_(socket) {}
  MoreFollows(const MoreFollows&) = delete;
  MoreFollows& operator=(const MoreFollows&) = delete;
  ~MoreFollows() { socket_.more_follows = false; }

 private:
  Socket& socket_;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(std::shared_ptr<Socket> socket, SslPointer ssl, std::string peer)
      : socket_(std::move(socket)), ssl_(std::move(ssl)), peer_(std::move(peer)) {}
  ~TlsStream() override { socket_->Close(); }

  // Accepts or connects, as the SSL was set to.
  rt::Task<Result<void>> Handshake() {
    while (true) {
      ERR_clear_error();
      const int done = SSL_do_handshake(ssl_.get());
      if (done == 1) break;
      Result<Socket::Direction> wanted = WhatToWaitFor(done, "TLS handshake with");
      if (!wanted.ok()) co_return HandshakeError(std::move(wanted).error());
      co_await socket_->Ready(*wanted);
    }
    const unsigned char* name = nullptr;
    unsigned int length = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &length);
    alpn_.assign(reinterpret_cast<const char*>(name), length);
    const X509Pointer certificate(SSL_get1_peer_certificate(ssl_.get()));
    if (certificate != nullptr && SSL_get_verify_result(ssl_.get()) == X509_V_OK) {
      const CertificateNames names = NamesOf(certificate.get());
      identity_ = {true, names.common_name, names.organizations, names.dns_names};
    }
    co_return Result<void>();
  }

  // After a failed handshake: OpenSSL has sent an alert that says why; closing on bytes that were not read would reset
  // the connection and take the alert with it. So those are read away, as long as the caller lets us.
  rt::Task<void> LetTheAlertArrive() {
    constexpr size_t kBytesMax = size_t{64} << 10;
    shutdown(socket_->fd(), SHUT_WR);
    for (size_t total = 0; total < kBytesMax;) {
      std::array<char, 2048> ignored;
      const ssize_t got = socket_->Receive(ignored.data(), ignored.size());
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) co_return;
      if (got > 0) {
        total += static_cast<size_t>(got);
      } else {
        co_await socket_->Ready(Socket::Direction::kRead);
      }
    }
  }

  rt::Task<Result<size_t>> Read(std::span<char> buffer) override {
    while (true) {
      ERR_clear_error();
      size_t got = 0;
      const int done = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &got);
      if (done == 1) co_return got;
      if (SSL_get_error(ssl_.get(), done) == SSL_ERROR_ZERO_RETURN) co_return size_t{0};
      co_await socket_->Ready(CO_TRY(WhatToWaitFor(done, "reading from")));
    }
  }

  rt::Task<Result<void>> Write(std::string_view bytes) override {
    while (true) {
      Socket::Direction wanted = Socket::Direction::kWrite;
      bytes.remove_prefix(CO_TRY(WriteNow(bytes, wanted)));
      if (bytes.empty()) co_return Result<void>();
      co_await socket_->Ready(wanted);
    }
  }

  Result<size_t> TryWrite(std::string_view bytes) override {
    Socket::Direction ignored;
    return WriteNow(bytes, ignored);
  }

  rt::Task<Result<void>> CloseWrite() override {
    while (true) {
      ERR_clear_error();
      const int done = SSL_shutdown(ssl_.get());
      if (done >= 0) break;  // our close_notify is out; the peer's may follow
      co_await socket_->Ready(CO_TRY(WhatToWaitFor(done, "closing to")));
    }
    shutdown(socket_->fd(), SHUT_WR);
    co_return Result<void>();
  }

  std::string peer_address() const override { return peer_; }
  std::string_view alpn() const override { return alpn_; }
  const PeerIdentity& peer_identity() const override { return identity_; }

 private:
  // Until the socket takes no more; then `wanted` is what to wait for.
  // Each call of OpenSSL sends one record; all but the last say that more is coming, so that the kernel makes large
  // segments of them and wakes the peer less often.
  Result<size_t> WriteNow(std::string_view bytes, Socket::Direction& wanted) {
    size_t written = 0;
    const MoreFollows more(*socket_);
    while (written < bytes.size()) {
      ERR_clear_error();
      size_t sent = 0;
      socket_->more_follows = bytes.size() - written > kRecordBytes;
      const int done = SSL_write_ex(ssl_.get(), bytes.data() + written, bytes.size() - written, &sent);
      if (done == 1) {
        written += sent;
        continue;
      }
      wanted = TRY(WhatToWaitFor(done, "writing to"));
      break;
    }
    return written;
  }

  // What OpenSSL waits for, or why there is nothing to wait for. Right after the call that returned `returned`.
  Result<Socket::Direction> WhatToWaitFor(int returned, std::string_view what) {
    const int system_error = errno;
    switch (SSL_get_error(ssl_.get(), returned)) {
      case SSL_ERROR_WANT_READ:
        return Socket::Direction::kRead;
      case SSL_ERROR_WANT_WRITE:
        return Socket::Direction::kWrite;
      case SSL_ERROR_SYSCALL:
        if (system_error != 0) return SocketError(StrCat(what, " ", peer_), system_error);
        return UnavailableError(StrCat(what, " ", peer_, ": the connection was cut"));
      case SSL_ERROR_ZERO_RETURN:
        return UnavailableError(StrCat(what, " ", peer_, ": the peer closed"));
      default:
        return TlsError(StrCat(what, " ", peer_));
    }
  }

  // A handshake that failed because we did not accept the peer's certificate says why not.
  Error HandshakeError(Error error) {
    const long verify = SSL_get_verify_result(ssl_.get());
    if (verify == X509_V_OK || (SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) == 0) return error;
    return {ErrorKind::kUnauthorized, StrCat("TLS handshake with ", peer_,
                                             ": certificate not accepted: ", X509_verify_cert_error_string(verify))};
  }

  std::shared_ptr<Socket> socket_;
  SslPointer ssl_;
  std::string peer_;
  std::string alpn_;
  PeerIdentity identity_;
};

// The socket out of a plain TCP stream, and a TLS stream around it that has not shaken hands.
Result<std::unique_ptr<TlsStream>> Wrap(std::unique_ptr<ByteStream> tcp, SSL_CTX* context, SSL** raw) {
  auto* stream = dynamic_cast<TcpStream*>(tcp.get());
  if (stream == nullptr) return InvalidError("TLS runs on a TCP connection");
  SslPointer ssl(SSL_new(context));
  if (ssl == nullptr) return OpenSslError("making a TLS connection");
  const std::string peer = stream->peer_address();
  std::shared_ptr<Socket> socket = stream->TakeSocket();
  BIO* bio = NewSocketBio(*socket);
  if (bio == nullptr) return OpenSslError("making a TLS connection");
  SSL_set_bio(ssl.get(), bio, bio);
  *raw = ssl.get();
  return std::make_unique<TlsStream>(std::move(socket), std::move(ssl), peer);
}

}  // namespace

Result<std::shared_ptr<TlsServerContext>> MakeTlsServerContext(const TlsServerOptions& options) {
  auto made = std::make_shared<TlsServerContext>();
  made->context = TRY(NewContext(TLS_server_method()));
  made->alpn_wire = TRY(AlpnWire(options.alpn));
  if (SSL_CTX_set_cipher_list(made->context.get(), kServerCiphers) != 1 ||
      SSL_CTX_set_ciphersuites(made->context.get(), kServerSuites) != 1) {
    return OpenSslError("choosing ciphers");
  }
  TRY(UseCertificate(made->context.get(), options.certificate_pem, options.key_pem));
  if (options.client_certificates != ClientCertificates::kIgnore) {
    TRY(TrustCertificates(made->context.get(), options.client_ca_pem));
    const bool required = options.client_certificates == ClientCertificates::kRequired;
    SSL_CTX_set_verify(made->context.get(), SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       nullptr);
  }
  BuildChain(made->context.get());
  if (!made->alpn_wire.empty()) SSL_CTX_set_alpn_select_cb(made->context.get(), SelectAlpn, made.get());
  return made;
}

Result<std::shared_ptr<TlsClientContext>> MakeTlsClientContext(const TlsClientOptions& options) {
  auto made = std::make_shared<TlsClientContext>();
  made->context = TRY(NewContext(TLS_client_method()));
  made->server_name = options.server_name;
  made->verify = !options.insecure_skip_verify;
  SSL_CTX* context = made->context.get();
  if (made->verify) {
    if (options.ca_pem.empty()) {
      if (SSL_CTX_set_default_verify_paths(context) != 1) return OpenSslError("loading the system's CAs");
    } else {
      TRY(TrustCertificates(context, options.ca_pem));
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (!options.certificate_pem.empty()) TRY(UseCertificate(context, options.certificate_pem, options.key_pem));
  BuildChain(context);
  const std::string alpn = TRY(AlpnWire(options.alpn));
  if (!alpn.empty() && SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(alpn.data()),
                                               static_cast<unsigned int>(alpn.size())) != 0) {
    return OpenSslError("offering protocols");
  }
  return made;
}

rt::Task<Result<std::unique_ptr<ByteStream>>> AcceptTls(rt::RealLoop& /*loop*/, std::unique_ptr<ByteStream> tcp,
                                                        std::shared_ptr<TlsServerContext> context) {
  if (context == nullptr) co_return InvalidError("a TLS connection needs a context");
  SSL* ssl = nullptr;
  std::unique_ptr<TlsStream> stream = CO_TRY(Wrap(std::move(tcp), context->context.get(), &ssl));
  SSL_set_accept_state(ssl);
  const Result<void> shaken = co_await stream->Handshake();
  if (!shaken.ok()) {
    co_await stream->LetTheAlertArrive();
    co_return shaken.error();
  }
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

rt::Task<Result<std::unique_ptr<ByteStream>>> ConnectTls(rt::RealLoop& /*loop*/, std::unique_ptr<ByteStream> tcp,
                                                         std::shared_ptr<TlsClientContext> context) {
  if (context == nullptr) co_return InvalidError("a TLS connection needs a context");
  SSL* ssl = nullptr;
  std::unique_ptr<TlsStream> stream = CO_TRY(Wrap(std::move(tcp), context->context.get(), &ssl));
  SSL_set_connect_state(ssl);
  // Names are in the SANs, as Go sees it; the CN is not looked at.
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const std::string& name = context->server_name;
  if (IsIpAddress(name)) {
    if (context->verify && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) != 1) {
      co_return OpenSslError("verifying an IP address");
    }
  } else if (!name.empty()) {
    SSL_set_tlsext_host_name(ssl, name.c_str());
    if (context->verify && SSL_set1_host(ssl, name.c_str()) != 1) co_return OpenSslError("verifying a host name");
  } else if (context->verify) {
    co_return InvalidError("a verified TLS connection needs the server's name");
  }
  CO_TRY(co_await stream->Handshake());
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace baton::net
