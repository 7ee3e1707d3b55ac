// Certificates: ECDSA P-256, signed by a CA of our own.
#include "net/certificates.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "base/strings.h"
#include "net/openssl_util.h"

namespace baton::net {
namespace {

constexpr long kX509Version3 = 2;  // counted from zero
constexpr size_t kSerialBytes = 16;

std::string BioText(BIO* bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(length)};
}

Result<KeyPair> ToPem(X509* certificate, EVP_PKEY* key) {
  const BioPointer certificate_bio(BIO_new(BIO_s_mem()));
  const BioPointer key_bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_bio.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return OpenSslError("writing PEM");
  }
  return KeyPair{BioText(certificate_bio.get()), BioText(key_bio.get())};
}

std::time_t Seconds(WallTime time) {
  return static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

// X.520's bound for a CN and an O. Go's would take more; OpenSSL and others would then refuse the certificate.
constexpr size_t kNameCharactersMax = 64;

Result<void> AddName(X509_NAME* name, const char* field, const std::string& value) {
  ERR_clear_error();
  if (X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                 static_cast<int>(value.size()), -1, 0) == 1) {
    return {};
  }
  ERR_clear_error();
  if (value.size() > kNameCharactersMax) {
    return TooLargeError(StrCat("a certificate's ", field, " of ", value.size(), " bytes: the limit is ",
                                kNameCharactersMax, " characters"));
  }
  return InvalidError(
      StrCat("a certificate's ", field, " is 1 to ", kNameCharactersMax, " characters of UTF-8, not ", Quote(value)));
}

Result<void> AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return OpenSslError(StrCat("certificate extension ", OBJ_nid2sn(nid), "=", value));
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return {};
}

// A certificate with everything but extensions and signature.
Result<X509Pointer> Blank(const CertificateRequest& request, EVP_PKEY* key, rt::Random& random) {
  if (request.not_after <= request.not_before) return InvalidError("a certificate ends after it begins");
  X509Pointer certificate(X509_new());
  X509_set_version(certificate.get(), kX509Version3);
  std::array<std::byte, kSerialBytes> serial;
  random.Fill(serial);
  serial[0] &= std::byte{0x7f};  // positive
  BIGNUM* number = BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()), kSerialBytes, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  const std::time_t not_before = Seconds(request.not_before);
  const std::time_t not_after = Seconds(request.not_after);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), not_before);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), not_after);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organization : request.organizations) TRY(AddName(subject, "O", organization));
  if (!request.common_name.empty()) TRY(AddName(subject, "CN", request.common_name));
  if (X509_set_pubkey(certificate.get(), key) != 1) return OpenSslError("putting the key into a certificate");
  return certificate;
}

using GeneralNames = std::unique_ptr<GENERAL_NAMES, OpenSslFree<GENERAL_NAMES_free>>;

Result<void> AddAlternativeName(GENERAL_NAMES* names, int type, ASN1_STRING* value) {
  GENERAL_NAME* name = value == nullptr ? nullptr : GENERAL_NAME_new();
  if (name == nullptr || sk_GENERAL_NAME_push(names, name) == 0) {
    GENERAL_NAME_free(name);
    ASN1_STRING_free(value);
    return OpenSslError("putting a name into a certificate");
  }
  GENERAL_NAME_set0_value(name, type, value);
  return {};
}

bool IsDnsName(std::string_view name) {
  constexpr size_t kBytesMax = 253;
  if (name.starts_with("*.")) name.remove_prefix(2);
  return !name.empty() && name.size() <= kBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

// Built by hand and not from a "DNS:a,DNS:b" text, in which a name with a comma would be two.
Result<GeneralNames> AlternativeNames(const CertificateRequest& request) {
  GeneralNames names(GENERAL_NAMES_new());
  for (const std::string& dns : request.dns_names) {
    if (!IsDnsName(dns)) return InvalidError(StrCat(Quote(dns), " is not a DNS name for a certificate"));
    ASN1_STRING* value = ASN1_STRING_type_new(V_ASN1_IA5STRING);
    if (value != nullptr) ASN1_STRING_set(value, dns.data(), static_cast<int>(dns.size()));
    TRY(AddAlternativeName(names.get(), GEN_DNS, value));
  }
  for (const std::string& ip : request.ip_addresses) {
    ASN1_STRING* value = a2i_IPADDRESS(ip.c_str());
    ERR_clear_error();
    if (value == nullptr) return InvalidError(StrCat(Quote(ip), " is not an IP address for a certificate"));
    TRY(AddAlternativeName(names.get(), GEN_IPADD, value));
  }
  return names;
}

Result<WallTime> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return InvalidError("a certificate with an unreadable time");
  const auto day = std::chrono::sys_days(std::chrono::year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday);
  return WallTime(day.time_since_epoch() + hours(parts.tm_hour) + minutes(parts.tm_min) + seconds(parts.tm_sec));
}

Result<X509Pointer> First(std::string_view pem) {
  std::vector<X509Pointer> certificates = TRY(ReadPemCertificates(pem));
  if (certificates.empty()) return InvalidError("no certificate in the PEM text");
  return std::move(certificates.front());
}

Result<KeyPointer> NewKey() {
  KeyPointer key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslError("making a key");
  return key;
}

}  // namespace

Result<KeyPair> MakeCertificateAuthority(std::string common_name, WallTime not_before, WallTime not_after,
                                         rt::Random& random) {
  const KeyPointer key = TRY(NewKey());
  const CertificateRequest request{
      .common_name = std::move(common_name), .not_before = not_before, .not_after = not_after};
  const X509Pointer certificate = TRY(Blank(request, key.get(), random));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  TRY(AddExtension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE"));
  TRY(AddExtension(certificate.get(), certificate.get(), NID_key_usage,
                   "critical,digitalSignature,keyCertSign,cRLSign"));
  TRY(AddExtension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash"));
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return OpenSslError("signing a CA certificate");
  return ToPem(certificate.get(), key.get());
}

Result<KeyPair> IssueCertificate(const KeyPair& authority, const CertificateRequest& request, rt::Random& random) {
  const X509Pointer issuer = TRY(First(authority.certificate_pem));
  const KeyPointer issuer_key = TRY(ReadPemKey(authority.key_pem));
  const KeyPointer key = TRY(NewKey());
  const X509Pointer certificate = TRY(Blank(request, key.get(), random));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  TRY(AddExtension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY(AddExtension(certificate.get(), issuer.get(), NID_key_usage, "critical,digitalSignature"));
  TRY(AddExtension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid"));
  std::vector<std::string> usages;
  if (request.server) usages.emplace_back("serverAuth");
  if (request.client) usages.emplace_back("clientAuth");
  if (!usages.empty()) TRY(AddExtension(certificate.get(), issuer.get(), NID_ext_key_usage, Join(usages, ",")));
  const GeneralNames names = TRY(AlternativeNames(request));
  if (sk_GENERAL_NAME_num(names.get()) > 0 &&
      X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, names.get(), /*crit=*/0, X509V3_ADD_DEFAULT) != 1) {
    return OpenSslError("putting the names into a certificate");
  }
  if (X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) == 0) return OpenSslError("signing a certificate");
  return ToPem(certificate.get(), key.get());
}

Result<CertificateInfo> ReadCertificate(std::string_view pem) {
  const X509Pointer certificate = TRY(First(pem));
  const CertificateNames names = NamesOf(certificate.get());
  CertificateInfo info;
  info.subject_common_name = names.common_name;
  info.organizations = names.organizations;
  info.dns_names = names.dns_names;
  info.ip_addresses = names.ip_addresses;
  info.not_before = TRY(TimeOf(X509_get0_notBefore(certificate.get())));
  info.not_after = TRY(TimeOf(X509_get0_notAfter(certificate.get())));
  info.is_authority = X509_check_ca(certificate.get()) == 1;
  return info;
}

Result<void> VerifyIssuedBy(std::string_view certificate_pem, std::string_view authority_pem, WallTime now) {
  const X509Pointer certificate = TRY(First(certificate_pem));
  const X509Pointer authority = TRY(First(authority_pem));
  const std::unique_ptr<X509_STORE, OpenSslFree<X509_STORE_free>> store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), authority.get());
  const std::unique_ptr<X509_STORE_CTX, OpenSslFree<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), certificate.get(), nullptr);
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context.get()), Seconds(now));
  if (X509_verify_cert(context.get()) == 1) return {};
  const int why = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  return InvalidError(StrCat("certificate not accepted: ", X509_verify_cert_error_string(why)));
}

Result<void> VerifyKeyMatches(std::string_view certificate_pem, std::string_view key_pem) {
  const X509Pointer certificate = TRY(First(certificate_pem));
  const KeyPointer key = TRY(ReadPemKey(key_pem));
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!matches) return InvalidError("the private key does not belong to the certificate");
  return {};
}

WallTime RenewalTime(const CertificateInfo& info) {
  const Duration life = info.not_after - info.not_before;
  return info.not_before + life / 3 * 2;
}

}  // namespace baton::net
