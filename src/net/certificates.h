// Certificates made in process: a CA, server and client certificates (ECDSA P-256), and when to renew them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "rt/random.h"

namespace baton::net {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;  // PKCS#8; a secret
};

struct CertificateRequest {
  std::string common_name;                 // a client's user name
  std::vector<std::string> organizations;  // a client's groups
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  bool server = false;  // extended key usage serverAuth
  bool client = false;  // clientAuth
  WallTime not_before;
  WallTime not_after;
};

Result<KeyPair> MakeCertificateAuthority(std::string common_name, WallTime not_before, WallTime not_after,
                                         rt::Random& random);
Result<KeyPair> IssueCertificate(const KeyPair& authority, const CertificateRequest& request, rt::Random& random);

struct CertificateInfo {
  std::string subject_common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  WallTime not_before;
  WallTime not_after;
  bool is_authority = false;
};
Result<CertificateInfo> ReadCertificate(std::string_view pem);  // the first one in the text
Result<void> VerifyIssuedBy(std::string_view certificate_pem, std::string_view authority_pem, WallTime now);
Result<void> VerifyKeyMatches(std::string_view certificate_pem, std::string_view key_pem);

// When to make a new one: two thirds through its life, so that two attempts can fail.
WallTime RenewalTime(const CertificateInfo& info);

}  // namespace baton::net
