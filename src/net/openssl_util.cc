// OpenSSL's errors, PEM reading, and the names in a certificate.
#include "net/openssl_util.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>

#include "base/strings.h"

namespace baton::net {
namespace {

std::string TextOf(const ASN1_STRING* string) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, string);
  if (length < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<size_t>(length));
  OPENSSL_free(utf8);
  return text;
}

std::vector<std::string> SubjectEntries(const X509* certificate, int nid) {
  std::vector<std::string> found;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, nid, at)) {
    found.push_back(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  return found;
}

std::string IpText(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(address) != 16) return {};
  inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

BioPointer ReadOnlyBio(std::string_view text) {
  return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

Error OpenSslError(std::string_view what) {
  std::string reasons;
  while (const unsigned long code = ERR_get_error()) {
    const char* reason = ERR_reason_error_string(code);
    if (!reasons.empty()) reasons += "; ";
    reasons += reason != nullptr ? reason : "unknown OpenSSL error";
  }
  return UnavailableError(StrCat(what, ": ", reasons.empty() ? "the connection was cut" : reasons));
}

Result<std::vector<X509Pointer>> ReadPemCertificates(std::string_view pem) {
  constexpr size_t kPemBytesMax = size_t{4} << 20;
  if (pem.size() > kPemBytesMax)
    return TooLargeError(StrCat("a PEM text of ", pem.size(), " bytes: the limit is ", kPemBytesMax));
  ERR_clear_error();
  const BioPointer bio = ReadOnlyBio(pem);
  std::vector<X509Pointer> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    certificates.emplace_back(certificate);
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (error != 0 && ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return InvalidError(StrCat("certificate ", certificates.size() + 1,
                               " of the PEM text is broken: ", ERR_reason_error_string(error)));
  }
  return certificates;
}

Result<KeyPointer> ReadPemKey(std::string_view pem) {
  ERR_clear_error();
  const BioPointer bio = ReadOnlyBio(pem);
  // A key with a passphrase is refused, not asked for.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  KeyPointer key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr)
    return InvalidError("no readable private key in the PEM text (a key with a passphrase is not accepted)");
  return key;
}

CertificateNames NamesOf(const X509* certificate) {
  CertificateNames names;
  const std::vector<std::string> common_names = SubjectEntries(certificate, NID_commonName);
  if (!common_names.empty()) names.common_name = common_names.back();  // as Go
  names.organizations = SubjectEntries(certificate, NID_organizationName);
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    if (name->type == GEN_DNS) names.dns_names.push_back(TextOf(name->d.dNSName));
    if (name->type == GEN_IPADD) names.ip_addresses.push_back(IpText(name->d.iPAddress));
  }
  GENERAL_NAMES_free(alternatives);
  return names;
}

}  // namespace baton::net
