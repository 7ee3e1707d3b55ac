// Pki: the keys and certificates of one server: its CA, the certificate it shows, the admin's, and the key that signs
// service-account tokens. Made at the first start, kept below the data directory (0600), renewed before they expire.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/tokens.h"
#include "base/result.h"
#include "net/certificates.h"
#include "net/tls.h"
#include "rt/files.h"
#include "rt/loop.h"

namespace baton::apiserver {

inline constexpr Duration kAuthorityLife = hours(24) * 3650;
inline constexpr Duration kCertificateLife = hours(24) * 365;
inline constexpr std::string_view kAdminUser = "kubernetes-admin";

struct Pki {
  net::KeyPair authority;
  net::KeyPair server;
  net::KeyPair admin;
  std::unique_ptr<TokenSigner> signer;
};

// Reads pki/ below the root of `files` and makes what is missing or due for renewal; all new and nowhere kept when
// `files` is null. `names` and `addresses` are what clients call the server.
rt::Task<Result<Pki>> OpenPki(rt::Loop& loop, rt::Files* files, std::vector<std::string> addresses);

// The server's certificate anew, for a running server whose old one grows old.
Result<net::KeyPair> IssueServerCertificate(rt::Loop& loop, const net::KeyPair& authority,
                                            const std::vector<std::string>& addresses);

Result<std::shared_ptr<net::TlsServerContext>> MakeServerTls(const Pki& pki);

// A kubeconfig for the admin: CA, certificate and key inside.
std::string AdminKubeconfig(const Pki& pki, std::string_view server_url, std::string_view name);

}  // namespace baton::apiserver
