// Internal to net: OpenSSL's objects as owned values, its errors as Errors, and PEM reading.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::net {

template <auto kFree>
struct OpenSslFree {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using SslContext = std::unique_ptr<SSL_CTX, OpenSslFree<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, OpenSslFree<SSL_free>>;
using X509Pointer = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpenSslFree<EVP_PKEY_free>>;
using BioPointer = std::unique_ptr<BIO, OpenSslFree<BIO_free>>;

// "<what>: <OpenSSL's reason>", kInvalid or kUnavailable; empties OpenSSL's error queue.
Error OpenSslError(std::string_view what);

// Every certificate in the text; none is not an error, a broken one is.
Result<std::vector<X509Pointer>> ReadPemCertificates(std::string_view pem);
Result<KeyPointer> ReadPemKey(std::string_view pem);

struct CertificateNames {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
};
CertificateNames NamesOf(const X509* certificate);

}  // namespace baton::net
