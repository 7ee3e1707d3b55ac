// TLS contexts: what a server shows and demands, what a client trusts. Made once, shared by all connections,
// replaceable while running (rotation): connections made later use the new one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/stream.h"
#include "rt/loop.h"

namespace baton::net {

enum class ClientCertificates : uint8_t {
  kIgnore,    // not asked for
  kOptional,  // asked for and verified when given (Kubernetes: tokens are an alternative)
  kRequired,
};

struct TlsServerOptions {
  std::string certificate_pem;  // chain, leaf first
  std::string key_pem;
  std::string client_ca_pem;  // who may sign client certificates
  ClientCertificates client_certificates = ClientCertificates::kIgnore;
  std::vector<std::string> alpn = {"h2", "http/1.1"};  // in order of preference
};

struct TlsClientOptions {
  std::string ca_pem;           // empty: the system's store
  std::string certificate_pem;  // client certificate, may be empty
  std::string key_pem;
  std::string server_name;  // verified against the certificate, and sent as SNI; an IP address is verified as one
  bool insecure_skip_verify = false;
  std::vector<std::string> alpn = {"h2", "http/1.1"};
};

// TLS 1.2 and later. Opaque: OpenSSL stays in the .cc.
class TlsServerContext;
class TlsClientContext;
Result<std::shared_ptr<TlsServerContext>> MakeTlsServerContext(const TlsServerOptions& options);
Result<std::shared_ptr<TlsClientContext>> MakeTlsClientContext(const TlsClientOptions& options);

}  // namespace baton::net
